// wiener2, medfilt2, mat2gray, ssim, psnr: by hand, against their definitions, and against Octave and scikit-image.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "testing.hpp"

namespace cgmca {
namespace {

Vector image(std::initializer_list<double> pixels) {
  Vector x(std::ssize(pixels));
  std::copy(pixels.begin(), pixels.end(), x.begin());
  return x;
}

TEST(Image, TheMedianOfOneToNineIsMatlabsExample) {
  const Vector found = medfilt2(image({1, 2, 3, 4, 5, 6, 7, 8, 9}), {3, 3});
  EXPECT_EQ(found, image({0, 2, 0, 2, 5, 3, 0, 5, 0}));
}

// ones(5): μ = 4/9 in a corner, 6/9 on an edge, 1 inside; v = μ - μ² = 20/81, 18/81, 0.
// ν = (4·20 + 12·18)/(81·25) = 296/2025. Corner: gain 1 - ν/v = 1 - 0.592 = 0.408, y = 4/9 + 0.408·5/9 = 0.6711…
// Edge: gain 1 - ν/v = 1 - 0.65777… = 0.34222…, y = 6/9 + 0.34222…·3/9. Inside: v < ν, y = μ = 1.
TEST(Image, WienerOfOnesIsSmoothedAtTheZeroBorder) {
  const Matrix y = wiener2(Vector::Ones(25), {5, 5}).reshaped(5, 5);
  const double nu = 296.0 / 2025;
  EXPECT_NEAR(y(0, 0), 4.0 / 9 + (1 - nu * 81 / 20) * 5 / 9, 1e-15);
  EXPECT_NEAR(y(0, 2), 6.0 / 9 + (1 - nu * 81 / 18) * 3 / 9, 1e-15);
  EXPECT_NEAR(y(2, 2), 1, 1e-15);
  EXPECT_EQ(y, y.transpose());
}

// v = ν = 0 everywhere: 0/0 in the formula, and the mean by definition.
TEST(Image, WienerOfABlackImageIsBlack) { EXPECT_EQ(wiener2(Vector::Zero(12), {3, 4}), Vector::Zero(12)); }

TEST(Image, GrayScalingOfAConstantImageClips) {
  Matrix x(2, 4);
  x << 3, -2, 0.4, 1,  //
      3, -2, 0.4, 5;
  Matrix expected(2, 4);
  expected << 1, 0, 0.4, 0,  //
      1, 0, 0.4, 1;
  EXPECT_EQ(mat2gray(x), expected);
}

// Without variance the second factor is C2/C2 = 1 and the first is the same everywhere.
TEST(Image, SsimOfConstantImagesIsTheLuminanceTerm) {
  const double a = 0.3, b = 0.8, c1 = 1e-4;
  const double found = ssim(Vector::Constant(70, a), Vector::Constant(70, b), {7, 10})(0);
  EXPECT_NEAR(found, (2 * a * b + c1) / (a * a + b * b + c1), 1e-12);
}

TEST(Image, AnImageIsLikeItself) {
  testing::Random random(1);
  const Matrix x = random.matrix(17 * 11, 5);
  EXPECT_LE((ssim(x, x, {17, 11}).array() - 1).abs().maxCoeff(), 1e-14);
  EXPECT_EQ(psnr(x, x)(4), std::numeric_limits<double>::infinity());
}

TEST(Image, AnErrorOfATenthEverywhereIsTwentyDecibels) {
  EXPECT_NEAR(psnr(Vector::Constant(9, 0.6), Vector::Constant(9, 0.5))(0), 20, 1e-12);
}

// The definitions of image.hpp, one pixel at a time.
struct Naive {
  ImageSize size;
  double at(const Vector& x, Index i, Index j) const {
    return i < 0 || j < 0 || i >= size.height || j >= size.width ? 0 : x(i * size.width + j);
  }
  std::vector<double> neighbourhood(const Vector& x, Index p) const {
    std::vector<double> values;
    for (Index i = -1; i <= 1; ++i) {
      for (Index j = -1; j <= 1; ++j) values.push_back(at(x, p / size.width + i, p % size.width + j));
    }
    return values;
  }
  Vector median(const Vector& x) const {
    return Vector::NullaryExpr(x.size(), [&](Index p) {
      std::vector<double> values = neighbourhood(x, p);
      std::sort(values.begin(), values.end());
      return values[4];
    });
  }
  Vector wiener(const Vector& x) const {
    Vector mean(x.size()), variance(x.size());
    for (Index p = 0; p < x.size(); ++p) {
      const std::vector<double> values = neighbourhood(x, p);
      const Eigen::Map<const Vector> v(values.data(), 9);
      mean(p) = v.mean();
      variance(p) = v.squaredNorm() / 9 - mean(p) * mean(p);
    }
    const double noise = variance.mean();
    return mean.array() + (variance.array() - noise).max(0) / variance.array().max(noise) * (x - mean).array();
  }
  double ssim(const Vector& x, const Vector& y) const {
    double total = 0;
    for (Index i = 0; i < size.height; ++i) {
      for (Index j = 0; j < size.width; ++j) {
        double w = 0, mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
        for (Index di = -5; di <= 5; ++di) {
          for (Index dj = -5; dj <= 5; ++dj) {
            const double g = std::exp(-static_cast<double>(di * di + dj * dj) / (2 * 1.5 * 1.5));
            const Index r = std::clamp<Index>(i + di, 0, size.height - 1);
            const Index c = std::clamp<Index>(j + dj, 0, size.width - 1);
            const double a = at(x, r, c), b = at(y, r, c);
            w += g, mx += g * a, my += g * b, xx += g * a * a, yy += g * b * b, xy += g * a * b;
          }
        }
        mx /= w, my /= w, xx /= w, yy /= w, xy /= w;
        total += (2 * mx * my + 1e-4) * (2 * (xy - mx * my) + 9e-4) /
                 ((mx * mx + my * my + 1e-4) * (xx - mx * mx + yy - my * my + 9e-4));
      }
    }
    return total / static_cast<double>(x.size());
  }
};

TEST(Image, EveryShapeAndNumberOfImagesFollowsTheDefinition) {
  testing::Random random(2);
  for (const ImageSize size : {ImageSize{1, 1}, {1, 7}, {5, 1}, {3, 40}, {28, 28}, {12, 5}}) {
    const Naive naive{size};
    for (const Index n : {1, 7, 8, 9}) {
      const Matrix x = random.matrix(size.height * size.width, n), y = random.matrix(size.height * size.width, n);
      const Matrix median = medfilt2(x, size), wiener = wiener2(x, size);
      const Vector similarity = ssim(x, y, size);
      for (Index j = 0; j < n; ++j) {
        EXPECT_EQ(median.col(j), naive.median(x.col(j)));
        EXPECT_LE((wiener.col(j) - naive.wiener(x.col(j))).norm(), 1e-13 * x.col(j).norm());
        EXPECT_NEAR(similarity(j), naive.ssim(x.col(j), y.col(j)), 1e-10);  // rounding over C2
      }
    }
  }
}

TEST(Image, NeitherNeighboursNorThreadsChangeABit) {
  testing::Random random(3);
  const ImageSize size{28, 28};
  const Matrix x = random.matrix(784, 1000), y = random.matrix(784, 1000);
  const int before = threads();
  set_threads(1);
  const Matrix wiener = wiener2(x, size), median = medfilt2(x, size);
  const Vector similarity = ssim(x, y, size);
  set_threads(3);
  EXPECT_EQ(wiener2(x, size), wiener);
  EXPECT_EQ(medfilt2(x, size), median);
  EXPECT_EQ(ssim(x, y, size), similarity);
  for (const Index j : {0, 501, 999}) {
    EXPECT_EQ(wiener2(x.col(j), size), wiener.col(j));
    EXPECT_EQ(medfilt2(x.col(j), size), median.col(j));
    EXPECT_EQ(ssim(x.col(j), y.col(j), size)(0), similarity(j));
  }
  set_threads(std::max(before, 1));
}

TEST(Image, AWrongShapeIsNamed) {
  const Matrix x = Matrix::Zero(12, 2);
  EXPECT_THROW(wiener2(x, {3, 5}), WrongDimension);
  EXPECT_THROW(medfilt2(x, {-3, -4}), WrongDimension);
  EXPECT_THROW(ssim(x, Matrix::Zero(12, 3), {3, 4}), WrongDimension);
  EXPECT_THROW(psnr(x, Matrix::Zero(11, 2)), WrongDimension);
  EXPECT_EQ(wiener2(Matrix::Zero(12, 0), {3, 4}).cols(), 0);
  EXPECT_EQ(ssim(Matrix::Zero(12, 0), Matrix::Zero(12, 0), {3, 4}).size(), 0);
}

// Files of tests/fixtures/image/make_image.py; tests/interop/check_image.py makes fresh ones and names their folder.
TEST(Image, OctaveAndScikitImageAgree) {
  const char* fresh = std::getenv("CGMCA_IMAGE_FIXTURES");  // NOLINT(concurrency-mt-unsafe)
  const std::string folder = fresh != nullptr ? fresh : testing::fixture("image");
  for (const ImageSize size : {ImageSize{28, 28}, {9, 14}}) {
    const std::string prefix = folder + "/" + std::to_string(size.height) + "x" + std::to_string(size.width) + ".";
    const auto fixture = [&](const char* name) { return read(prefix + name + ".npy"); };
    const Matrix x = fixture("images"), y = fixture("references");
    ASSERT_EQ(x.rows(), size.height * size.width);
    EXPECT_LE(testing::relative(wiener2(x, size), fixture("wiener2")), 1e-14);
    EXPECT_EQ(medfilt2(x, size), fixture("medfilt2"));
    EXPECT_LE(testing::relative(mat2gray(x), fixture("mat2gray")), 1e-15);
    EXPECT_LE((ssim(x, y, size) - fixture("ssim").reshaped()).cwiseAbs().maxCoeff(), 1e-13);
    const Vector decibels = fixture("psnr").reshaped(), found = psnr(x, y);
    for (Index j = 0; j < found.size(); ++j) EXPECT_DOUBLE_EQ(found(j), decibels(j));
  }
}

}  // namespace
}  // namespace cgmca
