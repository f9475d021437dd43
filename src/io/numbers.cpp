#include "io/numbers.hpp"

#include <algorithm>
#include <vector>

namespace cgmca::io {
namespace {

template <class Scalar>
void put_blocks(const Numbers& X, By order, const PutAt& put, const Written& written, bool swap) {
  constexpr Index numbers_at_once = 1 << 19;
  const Index d = X.features(), n = X.samples();
  const Index block = std::max<Index>(1, numbers_at_once / std::max<Index>(1, d));
  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> samples, rows;
  for (Index first = 0; first < n; first += block) {
    const Index count = std::min(block, n - first);
    samples.resize(d, count);
    X.read(first, count, samples.data());
    if (swap) {
      for (Scalar& x : samples.reshaped()) {
        auto* const bytes = reinterpret_cast<unsigned char*>(&x);
        std::reverse(bytes, bytes + sizeof(Scalar));
      }
    }
    const auto bytes_of = [](Index numbers) { return static_cast<std::size_t>(numbers) * sizeof(Scalar); };
    if (order == By::sample) {
      put(bytes_of(first * d), samples.data(), bytes_of(count * d));
    } else {
      rows = samples.transpose();
      if (count == n) {
        put(0, rows.data(), bytes_of(n * d));
      } else {
        for (Index f = 0; f < d; ++f) put(bytes_of(f * n + first), rows.col(f).data(), bytes_of(count));
      }
    }
    if (written) written(first + count);
  }
}

}  // namespace

void write_numbers(const Numbers& X, By order, const PutAt& put, const Written& written, bool swap) {
  (X.single() ? put_blocks<float> : put_blocks<double>)(X, order, put, written, swap);
}

}  // namespace cgmca::io
