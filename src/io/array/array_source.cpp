#include "io/array/array_source.hpp"

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
  Order(const ArrayHeader& header, const ReadOptions& options);

  // Rows of X per feature: 2 if complex numbers are stacked (all real parts first), otherwise 1.
  Index parts = 1;
  Index rows() const { return parts * features; }

  // True: the features of one sample are contiguous. False: the samples of one feature are.
  bool by_sample = true;
  // Lengths of the feature axes, the fastest-varying one in the file first. Empty if X has the same
  // order as the file.
  std::vector<Index> fortran_axes;

  // The row of X that holds the f-th feature of the file. X has the feature axes in row-major
  // order.
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

Order::Order(const ArrayHeader& header, const ReadOptions& options)
    : Layout(header.shape, options.columns, fmt::format("'{}'", header.name)) {
  if (header.element.kind == Element::Kind::complex && options.complex == ComplexAs::stack) parts = 2;
  Index size = 0;
  if (__builtin_mul_overflow(samples, features, &size) ||
      size > std::numeric_limits<Index>::max() / Index{2 * sizeof(double)})
    throw FormatError(
        fmt::format("'{}' claims {} numbers, more than any memory holds", header.name, text(header.shape)));
  // With one sample or one feature both orders are the same.
  by_sample = header.fortran_order == options.columns || samples <= 1 || features == 1;
  if (!header.fortran_order || header.shape.size() < 3) return;
  for (std::size_t axis = 0; axis < header.shape.size(); ++axis)
    if (axis != sample_axis) fortran_axes.push_back(static_cast<Index>(header.shape[axis]));
}

// convert(). For stacked complex numbers it also writes the imaginary parts, at out + apart.
template <class Scalar>
void convert_parts(Element element, Index parts, const std::byte* in, Index count, Scalar* out, Index stride,
                   Index apart) {
  convert(element, in, count, out, stride);
  element.part = Element::Part::imaginary;
  if (parts == 2) convert(element, in, count, out + apart, stride);
}

// The elements of an array, read from bytes that must all be there.
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

  // Call it after the last element: a compressed stream then verifies its checksum.
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

// Reads an array in which each sample is contiguous.
class BySample : public BlockReader::Source {
 public:
  BySample(Elements elements, Order order) : elements_(std::move(elements)), order_(std::move(order)) {
    if (order_.samples == 0) elements_.finish();
  }

  Index features() const override { return order_.rows(); }
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
    const Index total = count * order_.rows();
    // X is one flat row here, because Eigen can grow that in place. If only the header says how
    // many elements there are, memory grows as the elements arrive.
    Dense<Scalar> X(1, elements_.promises_hold() ? total : std::min(total, chunk_bytes));
    for (Index done = 0; done < total;) {
      if (done == X.cols()) X.conservativeResize(1, std::min(total, 2 * done));
      done = fill(X, done);
    }
    X.resize(order_.rows(), count);  // the same elements, one column per sample
    if (order_.parts == 2) stack(X);
    advance(count);
    return X;
  }

  // Reads elements into X, starting at the flat position `done`; returns the position after them.
  template <class Scalar>
  Index fill(Dense<Scalar>& X, Index done) {
    const Element& element = elements_.element();
    const bool same_order = order_.fortran_axes.empty();
    if (same_order && is_native<Scalar>(element)) {
      elements_.read(X.data() + done, X.cols() - done);
      return X.cols();
    }
    const Index parts = order_.parts;
    const Index count = std::min(chunk_bytes / element.size, (X.cols() - done) / parts);
    buffer_.resize(static_cast<std::size_t>(count * element.size));
    elements_.read(buffer_.data(), count);
    if (same_order) {
      convert_parts(element, parts, buffer_.data(), count, X.data() + done, parts, 1);
      return done + parts * count;
    }
    // X has its full size here, because array_source() reads in another order only if the number of
    // bytes is known.
    for (Index i = 0; i < count; ++i) {
      const Index place = done / parts + i, feature = place % order_.features;
      Scalar* const out = X.data() + parts * (place - feature + order_.row(feature));
      convert_parts(element, parts, buffer_.data() + i * element.size, 1, out, 1, 1);
    }
    return done + parts * count;
  }

  // Reorders each column from (re, im, re, im, …) to (re, re, …, im, im, …).
  template <class Scalar>
  static void stack(Dense<Scalar>& X) {
    const Index d = X.rows() / 2;
    Eigen::Vector<Scalar, Eigen::Dynamic> pairs(X.rows());
    for (auto sample : X.colwise()) {
      pairs = sample;
      sample.head(d) = pairs(Eigen::seqN(0, d, 2));
      sample.tail(d) = pairs(Eigen::seqN(1, d, 2));
    }
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

// Reads an array in which each feature, with all its samples, is contiguous.
class ByFeature : public BlockReader::Source {
 public:
  ByFeature(Elements elements, Order order) : elements_(std::move(elements)), order_(std::move(order)) {}

  Index features() const override { return order_.rows(); }
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
    Dense<Scalar> X(order_.rows(), count);
    if (count == 0) return X;
    // Several short features are read at once, including their samples outside of the block.
    const Index group = std::max<Index>(1, chunk_bytes / (n * element.size));
    for (Index f = 0; f < d; f += group) {
      const Index together = std::min(group, d - f), span = (together - 1) * n + count;
      buffer_.resize(static_cast<std::size_t>(span * element.size));
      elements_.seek(f * n + position_);
      elements_.read(buffer_.data(), span);
      for (Index k = 0; k < together; ++k)
        convert_parts(element, order_.parts, buffer_.data() + k * n * element.size, count, X.data() + order_.row(f + k),
                      X.rows(), d);
    }
    position_ += count;
    return X;
  }

  Elements elements_;
  Order order_;
  Index position_ = 0;
  std::vector<std::byte> buffer_;
};

// Which part of a complex number is read; if both are (stack), the first one.
Element::Part part_read(ComplexAs complex) {
  if (complex == ComplexAs::magnitude) return Element::Part::magnitude;
  return complex == ComplexAs::power ? Element::Part::power : Element::Part::real;
}

// For a stream that cannot seek, if its elements have another order than X: reads the whole array
// in file order, then reorders it.
template <class Scalar>
Dense<Scalar> rearranged(const ArrayHeader& header, std::unique_ptr<Bytes> bytes, const Order& order,
                         ComplexAs complex) {
  const auto n = static_cast<std::uint64_t>(order.samples), d = static_cast<std::uint64_t>(order.features);
  ArrayHeader as_it_lies = header;
  as_it_lies.shape = order.by_sample ? Shape{n, d} : Shape{d, n};
  as_it_lies.fortran_order = false;
  const auto source = array_source(as_it_lies, std::move(bytes), {.columns = false, .complex = complex});
  const Dense<Scalar> Y = next_of<Scalar>(*source, std::numeric_limits<Index>::max());
  Dense<Scalar> X(order.rows(), order.samples);
  for (Index part = 0; part < order.parts; ++part) {
    for (Index f = 0; f < order.features; ++f) {
      auto row = X.row(part * order.features + order.row(f));
      if (order.by_sample)
        row = Y.row(part * order.features + f);
      else
        row = Y.col(f).segment(part * order.samples, order.samples).transpose();
    }
  }
  return X;
}

std::unique_ptr<BlockReader::Source> source_of(const ArrayHeader& promised, std::unique_ptr<Bytes> bytes,
                                               const ReadOptions& options) {
  ArrayHeader header = promised;
  if (header.element.kind == Element::Kind::complex) {
    if (options.complex == ComplexAs::refuse) throw FormatError(fmt::format("'{}' {}", header.name, complex_refusal()));
    header.element.part = part_read(options.complex);
  }
  Order order(header, options);
  const bool in_order = order.by_sample && order.fortran_axes.empty();
  const bool can_seek = bytes->remaining().has_value();
  if (!in_order && !can_seek) {
    if (fits_single(header.element))
      return in_memory(rearranged<float>(header, std::move(bytes), order, options.complex));
    return in_memory(rearranged<double>(header, std::move(bytes), order, options.complex));
  }
  Elements elements(header, std::move(bytes), order.samples * order.features);
  if (order.by_sample) return std::make_unique<BySample>(std::move(elements), std::move(order));
  return std::make_unique<ByFeature>(std::move(elements), std::move(order));
}

}  // namespace

std::unique_ptr<BlockReader::Source> array_source(const ArrayHeader& header, std::unique_ptr<Bytes> bytes,
                                                  const ReadOptions& options) {
  auto source = source_of(header, std::move(bytes), options);
  using Kind = Element::Kind;
  source->set_integers(header.element.kind != Kind::floating && header.element.kind != Kind::complex);
  return source;
}

}  // namespace cgmca::io
