// The MNIST experiment and what it is made of.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "experiments/drawn_digits.hpp"
#include "experiments/mnist.hpp"
#include "experiments/purposes.hpp"
#include "experiments/sha256.hpp"
#include "testing.hpp"

namespace cgmca::experiments {
using namespace random_numbers;

namespace {

// Known answers of the authors' Random123 library.
TEST(Experiments, PhiloxGivesItsAuthorsKnownAnswers) {
  using Four = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Experiments, TheLogarithmIsWithinTwoUlp) {
  testing::Random random(1);
  for (int k = 0; k < 100000; ++k) {
    const double x = std::exp(20 * random.normal()), expected = std::log(x);
    EXPECT_NEAR(natural_logarithm(x), expected, 5e-16 * std::max(1.0, std::abs(expected)));
  }
}

// Φ(Φ⁻¹(p)) = p, with Φ(z) = erfc(-z/√2)/2.
TEST(Experiments, TheNormalQuantileInvertsTheDistribution) {
  for (const double p :
       {0x1p-33, 1e-9, 1e-4, 0.02, 0.0749, 0.0751, 0.3, 0.5, 0.77, 0.9249, 0.9251, 0.999, 1 - 0x1p-33}) {
    const double z = normal_quantile(p), tail = std::min(p, 1 - p);
    EXPECT_NEAR(std::erfc(std::abs(z) / std::sqrt(2)) / 2, tail, 1e-13 * tail) << p;
    EXPECT_EQ(z < 0, p < 0.5);
  }
  EXPECT_EQ(normal_quantile(0.5), 0);
}

// A change of these is a change of every published figure.
TEST(Experiments, TheNumbersOfASeedArePinned) {
  std::array<double, 6> z{};
  fill_normal(1, kNoise, 7, z.data(), z.size());
  const std::array<double, 6> expected{-0.26746497304336952, -0.50519622796372932, 0.11784159638575838,
                                       2.0733188785575063,   0.45462413353183029,  -0.36137880613140277};
  EXPECT_EQ(z, expected);
  EXPECT_EQ(permutation(Stream(1, kSplit, 3), 10), (std::vector<std::uint32_t>{7, 1, 4, 3, 0, 5, 6, 9, 8, 2}));
  Stream stream(1, kDrawing, 0);
  EXPECT_EQ(stream.below(1000), 538U);
}

TEST(Experiments, TheNoiseIsStandardNormal) {
  std::vector<double> z(1000000);
  fill_normal(5, kNoise, 0, z.data(), z.size());
  const Eigen::Map<const Vector> v(z.data(), std::ssize(z));
  EXPECT_NEAR(v.mean(), 0, 4e-3);
  EXPECT_NEAR(v.squaredNorm() / 1e6, 1, 6e-3);
  EXPECT_NEAR(v.array().pow(4).mean(), 3, 0.05);
  EXPECT_NEAR(static_cast<double>((v.array() > 1.959963984540054).count()) / 1e6, 0.025, 7e-4);
}

TEST(Experiments, BoundedIntegersAreUniform) {
  Stream stream(2, kSplit, 0);
  std::array<int, 7> counts{};
  for (int k = 0; k < 70000; ++k) ++counts.at(stream.below(7));
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);  // 4 standard deviations
}

TEST(Experiments, Sha256GivesThePublishedDigests) {
  EXPECT_EQ(Sha256().hexadecimal(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const std::string text = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  Sha256 hash;
  for (const char c : text) hash.add(reinterpret_cast<const unsigned char*>(&c), 1);
  EXPECT_EQ(hash.hexadecimal(), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Experiments, ASplitTakesEachImageOnce) {
  const std::vector<Index> images{4, 8, 15, 16, 23, 42, 99, 100, 101, 102, 103};
  const Split parts = split(images, 3, 1);
  EXPECT_EQ(parts.train.size(), 9U);  // 8.8 rounded
  std::vector<Index> all = parts.train;
  all.insert(all.end(), parts.test.begin(), parts.test.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, images);
}

TEST(Experiments, NoiseDependsOnSeedAndImageAlone) {
  const Dataset data = draw_digits(3, 1);
  const Matrix all = corrupt(data, {0, 1, 2, 3, 4, 5, 6, 7}, Noise::imnoise, 9);
  EXPECT_EQ(corrupt(data, {5}, Noise::imnoise, 9).col(0), all.col(5));
  EXPECT_NE(corrupt(data, {5}, Noise::imnoise, 10).col(0), all.col(5));
  EXPECT_GE(all.minCoeff(), 0);
  EXPECT_LE(all.maxCoeff(), 1);
  const Matrix additive = corrupt(data, {5}, Noise::additive, 9);
  EXPECT_LT(additive.minCoeff(), 0);
  EXPECT_NEAR((additive.col(0) - data.images.col(5)).norm() / std::sqrt(784), 0.1, 0.01);
}

TEST(Experiments, DigitsAreReadAsWritten) {
  EXPECT_EQ(parse_digits("0-9").size(), 10U);
  EXPECT_EQ(parse_digits("3"), (std::vector<int>{3}));
  EXPECT_EQ(parse_digits("7,0,2-4,3"), (std::vector<int>{0, 2, 3, 4, 7}));
  for (const char* bad : {"", "x", "1,", "3-", "5-2", "12", "-1", "1 2", "1--2", ","}) {
    EXPECT_THROW(parse_digits(bad), InvalidInput) << bad;
  }
}

TEST(Experiments, DrawnDigitsRunFromDataToReport) {
  const Dataset data = draw_digits(150, 1);
  EXPECT_EQ(data.of_class(4).size(), 150U);
  MnistOptions options;
  options.digits = {1, 8};
  options.repeat = 2;
  options.figures = true;
  const MnistResult result = run_mnist(data, options);
  const auto json = nlohmann::json::parse(to_json(result));
  for (const char* key : {"digit", "t", "n_train", "n_test", "ranks", "mca", "cgmca", "exact", "lmmse", "noisy"}) {
    EXPECT_TRUE(json["rows"][1].contains(key)) << key;
  }
  EXPECT_EQ(json["rows"][1]["n_train"], 120);
  EXPECT_EQ(json["rows"][0]["runs"].size(), 2U);
  EXPECT_TRUE(json["mean"].contains("lmmse"));
  for (const DigitRow& row : result.rows) {
    EXPECT_LE(row.t, 119);                  // as many directions as the images allow
    EXPECT_LE(row.exact_difference, 1e-9);  // MCA, fitted by itself, and CGMCA: one exact translation
  }
  const testing::TemporaryFolder folder;
  write_report(result, folder / "mnist");
  for (const char* name : {"mnist/report.html", "mnist/classes.png", "mnist/one_image.png"}) {
    EXPECT_GT(std::filesystem::file_size(folder / name), 500U) << name;
  }
  options.digits = {3};
  options.repeat = 0;
  EXPECT_THROW(run_mnist(data, options), InvalidInput);
  EXPECT_THROW(load_dataset(folder.path().string()), IoError);
}

// The experiment takes MCA's maps from CGMCA's fit: same scores, and nothing between them and the common space.
TEST(Experiments, TheScoresOfMcaAreThoseOfCgmca) {
  const Dataset data = draw_digits(400, 1);
  const std::vector<Index> images = data.of_class(8);
  const Matrix clean = data.images(Eigen::all, images), noisy = corrupt(data, images, Noise::imnoise, 1);
  const Covariance identity = Covariance::identity(40), of_data = Covariance::data(Domain::one, 40);
  const Model mca = fit(clean, noisy, identity, identity), cgmca = fit(clean, noisy, of_data, of_data);
  for (const Domain domain : {Domain::one, Domain::two}) {
    EXPECT_LE(testing::relative(mca.domain(domain).weights, cgmca.domain(domain).weights), 1e-12);
    EXPECT_EQ(mca.domain(domain).mixing, Matrix::Identity(40, 40));
  }
}

// One digit of the table: its entries lie in the spread of the reference's five runs.
TEST(Experiments, ARealDigitFallsWithinTheReference) {
  CGMCA_NEEDS_SHARED("data/mnist/train-images-idx3-ubyte.gz");
  const Dataset data = load_dataset(testing::shared("data/mnist"));
  EXPECT_EQ(data.name, "MNIST");
  MnistOptions options;
  options.digits = {6};
  options.figures = true;
  const MnistResult result = run_mnist(data, options);
  const DigitRow& row = result.rows[0];
  const auto oracle = nlohmann::json::parse(std::ifstream(testing::fixture("oracle/mnist_table.json")));
  for (const std::size_t method : {0U, 1U}) {
    Vector reference(5);
    for (std::size_t k = 0; k < 5; ++k) reference(static_cast<Index>(k)) = oracle["imnoise"]["6"][k][method];
    const double sd = std::sqrt((reference.array() - reference.mean()).square().sum() / 4);
    const double found = method == 0 ? row.mean(&Scores::mca) : row.mean(&Scores::cgmca);
    EXPECT_NEAR(found, reference.mean(), 3 * sd * std::sqrt(1 + 0.2));  // one run against five
  }
  EXPECT_GT(row.mean(&Scores::cgmca), row.mean(&Scores::mca));
  EXPECT_GT(row.mean(&Scores::lmmse), row.mean(&Scores::exact));
  EXPECT_GT(row.mean(&Scores::exact), row.mean(&Scores::noisy));
  EXPECT_LE(row.exact_difference, 1e-9);  // MCA, fitted by itself, and CGMCA: one exact translation
}

// LSQR without reorthogonalization turns rounding into visible differences on these maps: one image translated alone,
// among forty (both by products with A) or among all (in the bases of A's SVD). Scores do not notice.
TEST(Experiments, LsqrAmplifiesRoundingButNotTheScore) {
  CGMCA_NEEDS_SHARED("data/mnist/train-images-idx3-ubyte.gz");
  const Dataset data = load_dataset(testing::shared("data/mnist"));
  const Split parts = split(data.of_class(0), 0, 1);
  const Covariance c = Covariance::data(Domain::one, 500);
  const Model model = fit(data.images(Eigen::all, parts.train), corrupt(data, parts.train, Noise::imnoise, 1), c, c);
  const Matrix noisy = corrupt(data, parts.test, Noise::imnoise, 1);
  const auto by_lsqr = [&](const MatrixView& X) { return translate(model, Domain::two, Domain::one, X, Method::lsqr); };
  const Matrix among_all = by_lsqr(noisy).leftCols(200);
  Matrix among_forty(784, 200), alone(784, 200);
  for (Index j = 0; j < 200; j += 40) among_forty.middleCols(j, 40) = by_lsqr(noisy.middleCols(j, 40));
  for (Index j = 0; j < 200; ++j) alone.col(j) = by_lsqr(noisy.col(j));
  std::cout << "alone, among forty: " << testing::relative(alone, among_forty)
            << "; among forty, among all: " << testing::relative(among_forty, among_all) << "\n";
  EXPECT_LE(testing::relative(among_forty, among_all), 0.3);
  const Matrix clean = data.images(Eigen::all, std::vector<Index>(parts.test.begin(), parts.test.begin() + 200));
  const auto score = [&](const Matrix& X) {
    return ssim(mat2gray(medfilt2(wiener2(X, data.size), data.size)), clean, data.size).mean();
  };
  std::cout << "scores " << score(alone) << ", " << score(among_forty) << ", " << score(among_all) << "\n";
  EXPECT_NEAR(score(alone), score(among_all), 0.03 * score(among_all));
}

}  // namespace
}  // namespace cgmca::experiments
