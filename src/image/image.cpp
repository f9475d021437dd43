// Eight images are worked on together, interleaved: entry ((i·stride + j)·8 + lane) is pixel (i, j) of image `lane`. A
// neighbour one pixel to the right is then 8 entries on for all of them, so that every filter is a plain loop over a
// row that compilers turn into vector instructions, whatever the width of the image.
#include <cgmca/error.hpp>
#include <cgmca/image.hpp>
#include <cgmca/parallel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

// The loops are compiled for several generations of x86 and chosen when the program starts. The sanitizers cannot
// start before that choice is made, so they get the plain ones. Products and sums are never contracted
// (CMakeLists.txt), which keeps all of them equal to the bit.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CGMCA_PLAIN_LOOPS
#endif
#endif
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(CGMCA_PLAIN_LOOPS)
#define CGMCA_VECTOR_LOOPS __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define CGMCA_VECTOR_LOOPS
#endif

namespace cgmca {
namespace {

constexpr Index kLanes = 8;
constexpr Index kRadius = 5;  // of the Gaussian: 11 taps

// Weight of the taps at distance 0 … 5, exp(-k²/(2·1.5²)) scaled to a sum of 1 over all eleven.
const std::array<double, kRadius + 1> kGaussian = [] {
  std::array<double, kRadius + 1> weights{};
  double sum = 0;
  for (Index k = 0; k <= kRadius; ++k) {
    weights[k] = std::exp(-static_cast<double>(k * k) / 4.5);
    sum += weights[k] * (k == 0 ? 1 : 2);
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}();

// sum = Σ over 3×3 of p, squares = Σ of p², for one row of `count` entries whose left neighbour is p[-8].
CGMCA_VECTOR_LOOPS void box_row(const double* above, const double* here, const double* below, Index count,
                                double* __restrict sum, double* __restrict squares) {
  for (Index k = 0; k < count; ++k) {
    double s = 0, q = 0;
    for (const double* row : {above, here, below}) {
      for (Index shift = -kLanes; shift <= kLanes; shift += kLanes) {
        const double p = row[k + shift];
        s += p;
        q += p * p;
      }
    }
    sum[k] = s;
    squares[k] = q;
  }
}

// mean ← sum/9, variance ← squares/9 - mean², noise ← Σ of the variances of each lane.
CGMCA_VECTOR_LOOPS void local_moments(Index count, double* __restrict mean, double* __restrict variance,
                                      double* __restrict noise) {
  for (Index k = 0; k < count; ++k) {
    mean[k] /= 9;
    variance[k] = variance[k] / 9 - mean[k] * mean[k];
  }
  for (Index k = 0; k < count; k += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) noise[lane] += variance[k + lane];
  }
}

CGMCA_VECTOR_LOOPS void wiener_row(const double* here, const double* mean, const double* variance, const double* noise,
                                   Index count, double* __restrict out) {
  for (Index k = 0; k < count; k += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) {
      const double m = mean[k + lane], v = variance[k + lane], n = noise[lane];
      const double excess = v - n > 0 ? v - n : 0, whole = v > n ? v : n;
      const double gain = excess / (whole > 0 ? whole : 1);
      out[k + lane] = m + gain * (here[k + lane] - m);
    }
  }
}

inline void order(double& a, double& b) {
  const double low = b < a ? b : a, high = b < a ? a : b;
  a = low;
  b = high;
}

// The median of nine in 19 exchanges (Devillard, after Smith and Paeth).
CGMCA_VECTOR_LOOPS void median_row(const double* above, const double* here, const double* below, Index count,
                                   double* __restrict out) {
  for (Index k = 0; k < count; ++k) {
    double a = above[k - kLanes], b = above[k], c = above[k + kLanes];
    double d = here[k - kLanes], e = here[k], f = here[k + kLanes];
    double g = below[k - kLanes], h = below[k], i = below[k + kLanes];
    order(b, c), order(e, f), order(h, i), order(a, b), order(d, e), order(g, h), order(b, c), order(e, f), order(h, i);
    order(a, d), order(f, i), order(e, h), order(d, g), order(b, e), order(c, f), order(e, h), order(e, c), order(g, e);
    order(e, c);
    out[k] = e;
  }
}

// out = Σ_k w_|k| in(j + k), along a row with kRadius pixels of padding on both sides.
CGMCA_VECTOR_LOOPS void blur_row(const double* in, const double* w, Index count, double* __restrict out) {
  for (Index k = 0; k < count; ++k) {
    double sum = w[0] * in[k];
    for (Index r = 1; r <= kRadius; ++r) sum += w[r] * (in[k - r * kLanes] + in[k + r * kLanes]);
    out[k] = sum;
  }
}

// The same across rows: rows[0 … 10] are the ten neighbours and, in the middle, the row itself.
CGMCA_VECTOR_LOOPS void blur_column(const double* const* rows, const double* w, Index count, double* __restrict out) {
  for (Index k = 0; k < count; ++k) out[k] = w[0] * rows[kRadius][k];
  for (Index r = 1; r <= kRadius; ++r) {
    const double *up = rows[kRadius - r], *down = rows[kRadius + r], weight = w[r];
    for (Index k = 0; k < count; ++k) out[k] += weight * (up[k] + down[k]);
  }
}

CGMCA_VECTOR_LOOPS void products_row(const double* x, const double* y, Index count, double* __restrict xx,
                                     double* __restrict yy, double* __restrict xy) {
  for (Index k = 0; k < count; ++k) {
    xx[k] = x[k] * x[k];
    yy[k] = y[k] * y[k];
    xy[k] = x[k] * y[k];
  }
}

// total += SSIM of every pixel of a row, from its five weighted moments.
CGMCA_VECTOR_LOOPS void ssim_row(const double* mx, const double* my, const double* xx, const double* yy,
                                 const double* xy, Index count, double* __restrict total) {
  constexpr double C1 = 0.01 * 0.01, C2 = 0.03 * 0.03;
  for (Index k = 0; k < count; k += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) {
      const Index p = k + lane;
      const double mxx = mx[p] * mx[p], myy = my[p] * my[p], mxy = mx[p] * my[p];
      total[lane] +=
          ((2 * mxy + C1) * (2 * (xy[p] - mxy) + C2)) / ((mxx + myy + C1) * ((xx[p] - mxx) + (yy[p] - myy) + C2));
    }
  }
}

// Eight interleaved images with `margin` pixels of room on each side.
class Plane {
 public:
  Plane(ImageSize size, Index margin_rows, Index margin_columns)
      : size_(size),
        margin_rows_(margin_rows),
        margin_columns_(margin_columns),
        stride_((size.width + 2 * margin_columns) * kLanes),
        values_(static_cast<std::size_t>(stride_ * (size.height + 2 * margin_rows))) {}

  double* row(Index i) { return values_.data() + (i + margin_rows_) * stride_ + margin_columns_ * kLanes; }
  Index count() const { return size_.width * kLanes; }

  // Columns first, first + 1, … of X; where X ends, the last one again.
  void load(const MatrixView& X, Index first) {
    for (Index lane = 0; lane < kLanes; ++lane) {
      const double* image = X.col(std::min(first + lane, X.cols() - 1)).data();
      for (Index i = 0; i < size_.height; ++i) {
        double* out = row(i) + lane;
        for (Index j = 0; j < size_.width; ++j) out[j * kLanes] = image[i * size_.width + j];
      }
    }
  }
  void store(Matrix& X, Index first) {
    for (Index lane = 0; lane < kLanes && first + lane < X.cols(); ++lane) {
      double* image = X.col(first + lane).data();
      for (Index i = 0; i < size_.height; ++i) {
        const double* in = row(i) + lane;
        for (Index j = 0; j < size_.width; ++j) image[i * size_.width + j] = in[j * kLanes];
      }
    }
  }
  // The outermost pixels of every row repeated into the margin.
  void replicate_sideways() {
    for (Index i = 0; i < size_.height; ++i) {
      double *left = row(i), *right = left + count() - kLanes;
      for (Index r = 1; r <= margin_columns_; ++r) {
        std::copy_n(left, kLanes, left - r * kLanes);
        std::copy_n(right, kLanes, right + r * kLanes);
      }
    }
  }

 private:
  ImageSize size_;
  Index margin_rows_, margin_columns_, stride_;
  std::vector<double> values_;
};

void check(const MatrixView& images, ImageSize size) {
  if (size.height >= 1 && size.width >= 1 && images.rows() == size.height * size.width) return;
  throw WrongDimension(
      fmt::format("images of {}×{} pixels with {} values each", size.height, size.width, images.rows()));
}

void check(const MatrixView& images, const MatrixView& references) {
  if (images.rows() == references.rows() && images.cols() == references.cols()) return;
  throw WrongDimension(fmt::format("{} images of {} pixels compared with {} of {}", images.cols(), images.rows(),
                                   references.cols(), references.rows()));
}

// make_worker() once per thread, its result on every group of eight images of a contiguous share.
template <class MakeWorker>
void for_each_group(Index images, const MakeWorker& make_worker) {
  const Index groups = (images + kLanes - 1) / kLanes;
  // One share a thread, and fewer where there is little to do: a thread costs about as much as 64 images.
  const Index shares = std::clamp<Index>(worker_count(), 1, std::max<Index>(1, groups / 8));
  parallel_for(shares, [&](Index share) {
    auto worker = make_worker();
    for (Index group = groups * share / shares; group < groups * (share + 1) / shares; ++group) worker(group * kLanes);
  });
}

}  // namespace

Matrix wiener2(const MatrixView& images, ImageSize size) {
  check(images, size);
  Matrix result(images.rows(), images.cols());
  for_each_group(images.cols(), [&] {
    return [&, in = Plane(size, 1, 1), mean = Plane(size, 0, 0), variance = Plane(size, 0, 0),
            out = Plane(size, 0, 0)](Index first) mutable {
      const Index count = in.count();
      in.load(images, first);
      std::array<double, kLanes> noise{};
      for (Index i = 0; i < size.height; ++i) {
        box_row(in.row(i - 1), in.row(i), in.row(i + 1), count, mean.row(i), variance.row(i));
        local_moments(count, mean.row(i), variance.row(i), noise.data());
      }
      for (double& value : noise) value /= static_cast<double>(images.rows());
      for (Index i = 0; i < size.height; ++i) {
        wiener_row(in.row(i), mean.row(i), variance.row(i), noise.data(), count, out.row(i));
      }
      out.store(result, first);
    };
  });
  return result;
}

Matrix medfilt2(const MatrixView& images, ImageSize size) {
  check(images, size);
  Matrix result(images.rows(), images.cols());
  for_each_group(images.cols(), [&] {
    return [&, in = Plane(size, 1, 1), out = Plane(size, 0, 0)](Index first) mutable {
      in.load(images, first);
      for (Index i = 0; i < size.height; ++i) {
        median_row(in.row(i - 1), in.row(i), in.row(i + 1), in.count(), out.row(i));
      }
      out.store(result, first);
    };
  });
  return result;
}

Matrix mat2gray(const MatrixView& images) {
  Matrix result(images.rows(), images.cols());
  for (Index j = 0; j < images.cols() && images.rows() > 0; ++j) {
    const double low = images.col(j).minCoeff(), high = images.col(j).maxCoeff();
    if (high > low) {
      result.col(j) = (images.col(j).array() - low) / (high - low);
    } else {
      result.col(j) = images.col(j).cwiseMax(0.0).cwiseMin(1.0);
    }
  }
  return result;
}

Vector ssim(const MatrixView& images, const MatrixView& references, ImageSize size) {
  check(images, size);
  check(images, references);
  Vector result(images.cols());
  for_each_group(images.cols(), [&] {
    struct Moment {  // a plane, blurred sideways, then one row of it blurred both ways
      Plane plane, sideways;
      std::vector<double> row;
    };
    const Moment moment{Plane(size, 0, kRadius), Plane(size, 0, 0),
                        std::vector<double>(static_cast<std::size_t>(size.width * kLanes))};
    return [&, moments = std::array<Moment, 5>{moment, moment, moment, moment, moment}](Index first) mutable {
      auto& [x, y, xx, yy, xy] = moments;
      const Index count = x.plane.count(), margin = kRadius * kLanes;
      x.plane.load(images, first);
      y.plane.load(references, first);
      x.plane.replicate_sideways();
      y.plane.replicate_sideways();
      for (Index i = 0; i < size.height; ++i) {
        products_row(x.plane.row(i) - margin, y.plane.row(i) - margin, count + 2 * margin, xx.plane.row(i) - margin,
                     yy.plane.row(i) - margin, xy.plane.row(i) - margin);
        for (Moment& m : moments) blur_row(m.plane.row(i), kGaussian.data(), count, m.sideways.row(i));
      }
      std::array<double, kLanes> total{};
      for (Index i = 0; i < size.height; ++i) {
        for (Moment& m : moments) {
          std::array<const double*, 2 * kRadius + 1> rows{};
          for (Index r = -kRadius; r <= kRadius; ++r) {
            rows[kRadius + r] = m.sideways.row(std::clamp<Index>(i + r, 0, size.height - 1));
          }
          blur_column(rows.data(), kGaussian.data(), count, m.row.data());
        }
        ssim_row(x.row.data(), y.row.data(), xx.row.data(), yy.row.data(), xy.row.data(), count, total.data());
      }
      for (Index lane = 0; lane < kLanes && first + lane < result.size(); ++lane) {
        result(first + lane) = total[lane] / static_cast<double>(images.rows());
      }
    };
  });
  return result;
}

Vector psnr(const MatrixView& images, const MatrixView& references) {
  check(images, references);
  Vector result(images.cols());
  for (Index j = 0; j < images.cols(); ++j) {
    const double error = (images.col(j) - references.col(j)).squaredNorm() / static_cast<double>(images.rows());
    result(j) = error > 0 ? -10 * std::log10(error) : std::numeric_limits<double>::infinity();
  }
  return result;
}

}  // namespace cgmca
