#include "array_source.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace cgmca::io {
namespace {

constexpr Index chunk_bytes = 1 << 16;

// Where the elements of a sample lie.
struct Order : Layout {
  Order(const ArrayHeader& header, bool columns);

  // A sample's features lie together (else a feature's samples do).
  bool by_sample = true;
  // Axes of the features from the one varying fastest in the file; only where X has them the other
  // way round.
  std::vector<Index> fortran_axes;

  // The row of X that holds the file's f-th feature: row-major order of the features' axes.
  Index row(Index f) const {
    if (fortran_axes.empty()) return f;
    Index row = 0, stride = features;
    for (const Index length : fortran_axes) {
      stride /= length;
      row += f % length * stride;
      f /= length;
    }
    return row;
  }
};

Order::Order(const ArrayHeader& header, bool columns)
    : Layout(header.shape, columns, fmt::format("'{}'", header.name)) {
  Index size = 0;
  if (__builtin_mul_overflow(samples, features, &size) ||
      size > std::numeric_limits<Index>::max() / Index{sizeof(double)})
    throw FormatError(
        fmt::format("'{}' claims {} numbers, more than any memory holds", header.name, text(header.shape)));
  // With one sample or one feature both ways of lying are the same.
  by_sample = header.fortran_order == columns || samples <= 1 || features == 1;
  if (!header.fortran_order || header.shape.size() < 3) return;
  for (std::size_t axis = 0; axis < header.shape.size(); ++axis)
    if (axis != sample_axis) fortran_axes.push_back(static_cast<Index>(header.shape[axis]));
}

// What all arrays need: bytes that must be there.
class Elements {
 public:
  Elements(const ArrayHeader& header, std::unique_ptr<Bytes> bytes, Index count)
      : header_(header), bytes_(std::move(bytes)), promised_(size_of(count)) {
    const auto left = bytes_->remaining();
    if (left && *left < promised_) truncated(*left);
    if (left && header_.ends && *left > promised_) too_long(fmt::format("{}", *left));
  }

  const Element& element() const { return header_.element; }
  bool promises_hold() const { return bytes_->remaining().has_value(); }

  void read(void* to, Index count) {
    const std::uint64_t wanted = size_of(count), got = bytes_->read(to, wanted);
    done_ += got;
    if (got < wanted) truncated(done_);
  }
  void skip(Index count) {
    const std::uint64_t wanted = size_of(count), got = bytes_->skip(wanted);
    done_ += got;
    if (got < wanted) truncated(done_);
  }
  void seek(Index first) { bytes_->seek(header_.begin + size_of(first)); }

  // After the last element: lets a compressed stream verify its checksum.
  void finish() {
    if (promises_hold()) return;
    constexpr auto all = std::numeric_limits<std::uint64_t>::max();
    if (bytes_->skip(header_.ends ? 1 : all) > 0 && header_.ends) too_long("more");
  }

 private:
  std::uint64_t size_of(Index count) const {
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(header_.element.size);
  }
  [[noreturn]] void truncated(std::uint64_t there) const {
    throw FormatError(
        fmt::format("'{}' is truncated: its shape, {}, promises {} elements of {} bytes = {} bytes, but {} are "
                    "there",
                    header_.name, text(header_.shape), promised_ / static_cast<std::uint64_t>(header_.element.size),
                    header_.element.size, promised_, there));
  }
  [[noreturn]] void too_long(const std::string& there) const {
    throw FormatError(fmt::format("'{}' is too long: its shape, {}, promises {} bytes, but {} are there", header_.name,
                                  text(header_.shape), promised_, there));
  }

  ArrayHeader header_;
  std::unique_ptr<Bytes> bytes_;
  std::uint64_t promised_, done_ = 0;
};

// Samples lie one after the other.
class BySample : public BlockReader::Source {
 public:
  BySample(Elements elements, Order order) : elements_(std::move(elements)), order_(std::move(order)) {
    if (order_.samples == 0) elements_.finish();
  }

  Index features() const override { return order_.features; }
  std::optional<Index> samples() const override { return order_.samples; }

  bool single() const override { return fits_single(elements_.element()); }
  Matrix next(Index max_samples) override { return take<double>(max_samples); }
  Eigen::MatrixXf next_single(Index max_samples) override { return take<float>(max_samples); }

  void skip(Index count) override {
    elements_.skip(count * order_.features);
    advance(count);
  }

 private:
  template <class Scalar>
  Dense<Scalar> take(Index max_samples) {
    const Index count = std::min(max_samples, order_.samples - position_);
    const Index total = count * order_.features;
    // A flat row, since that is what Eigen can grow in place; where the header's promise is all
    // there is, memory grows only as the elements really arrive.
    Dense<Scalar> X(1, elements_.promises_hold() ? total : std::min(total, chunk_bytes));
    for (Index done = 0; done < total;) {
      if (done == X.cols()) X.conservativeResize(1, std::min(total, 2 * done));
      done = fill(X, done);
    }
    X.resize(order_.features, count);  // the same elements, now in columns
    advance(count);
    return X;
  }

  // Reads elements into X from the flat place `done` on; returns the place after them.
  template <class Scalar>
  Index fill(Dense<Scalar>& X, Index done) {
    const Element& element = elements_.element();
    const bool same_order = order_.fortran_axes.empty();
    if (same_order && is_native<Scalar>(element)) {
      elements_.read(X.data() + done, X.cols() - done);
      return X.cols();
    }
    const Index count = std::min(chunk_bytes / element.size, X.cols() - done);
    buffer_.resize(static_cast<std::size_t>(count * element.size));
    elements_.read(buffer_.data(), count);
    if (same_order) {
      convert(element, buffer_.data(), count, X.data() + done);
      return done + count;
    }
    // X has its full size here, since array_source() allows another order only where the bytes are
    // certain to be there.
    for (Index i = 0; i < count; ++i) {
      const Index feature = (done + i) % order_.features, first = done + i - feature;
      convert(element, buffer_.data() + i * element.size, 1, X.data() + first + order_.row(feature));
    }
    return done + count;
  }

  void advance(Index count) {
    position_ += count;
    if (count > 0 && position_ == order_.samples) elements_.finish();
  }

  Elements elements_;
  Order order_;
  Index position_ = 0;
  std::vector<std::byte> buffer_;
};

// Features lie one after the other, each with all its samples.
class ByFeature : public BlockReader::Source {
 public:
  ByFeature(Elements elements, Order order) : elements_(std::move(elements)), order_(std::move(order)) {}

  Index features() const override { return order_.features; }
  std::optional<Index> samples() const override { return order_.samples; }

  bool single() const override { return fits_single(elements_.element()); }
  Matrix next(Index max_samples) override { return take<double>(max_samples); }
  Eigen::MatrixXf next_single(Index max_samples) override { return take<float>(max_samples); }
  void skip(Index count) override { position_ += count; }

 private:
  template <class Scalar>
  Dense<Scalar> take(Index max_samples) {
    const Element& element = elements_.element();
    const auto [n, d] = std::pair(order_.samples, order_.features);
    const Index count = std::min(max_samples, n - position_);
    Dense<Scalar> X(d, count);
    if (count == 0) return X;
    // Short features are read several at once, samples before and after the block included.
    const Index group = std::max<Index>(1, chunk_bytes / (n * element.size));
    for (Index f = 0; f < d; f += group) {
      const Index together = std::min(group, d - f), span = (together - 1) * n + count;
      buffer_.resize(static_cast<std::size_t>(span * element.size));
      elements_.seek(f * n + position_);
      elements_.read(buffer_.data(), span);
      for (Index k = 0; k < together; ++k)
        convert(element, buffer_.data() + k * n * element.size, count, X.data() + order_.row(f + k), d);
    }
    position_ += count;
    return X;
  }

  Elements elements_;
  Order order_;
  Index position_ = 0;
  std::vector<std::byte> buffer_;
};

// From a stream that cannot go back, elements in another order than X has them: read whole as the
// matrix they make as they lie, then put in order.
template <class Scalar>
Dense<Scalar> rearranged(const ArrayHeader& header, std::unique_ptr<Bytes> bytes, const Order& order) {
  const auto n = static_cast<std::uint64_t>(order.samples), d = static_cast<std::uint64_t>(order.features);
  ArrayHeader as_it_lies = header;
  as_it_lies.shape = order.by_sample ? Shape{n, d} : Shape{d, n};
  as_it_lies.fortran_order = false;
  const auto source = array_source(as_it_lies, std::move(bytes), {});
  const Dense<Scalar> Y = next_of<Scalar>(*source, std::numeric_limits<Index>::max());
  Dense<Scalar> X(order.features, order.samples);
  for (Index f = 0; f < order.features; ++f) {
    if (order.by_sample)
      X.row(order.row(f)) = Y.row(f);
    else
      X.row(order.row(f)) = Y.col(f).transpose();
  }
  return X;
}

}  // namespace

std::unique_ptr<BlockReader::Source> array_source(const ArrayHeader& header, std::unique_ptr<Bytes> bytes,
                                                  const ReadOptions& options) {
  Order order(header, options.columns);
  const bool in_order = order.by_sample && order.fortran_axes.empty();
  const bool can_seek = bytes->remaining().has_value();
  if (!in_order && !can_seek) {
    if (fits_single(header.element)) return in_memory(rearranged<float>(header, std::move(bytes), order));
    return in_memory(rearranged<double>(header, std::move(bytes), order));
  }
  Elements elements(header, std::move(bytes), order.samples * order.features);
  if (order.by_sample) return std::make_unique<BySample>(std::move(elements), std::move(order));
  return std::make_unique<ByFeature>(std::move(elements), std::move(order));
}

}  // namespace cgmca::io
