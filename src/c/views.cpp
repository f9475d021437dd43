// Views of the caller's matrices, and work that the caller may stop.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "c/inside.hpp"

namespace cgmca::c {
namespace {

template <class View>
View with_strides(View view, const char* what) {
  if (view.column_stride == 0) view.column_stride = 1;
  if (view.row_stride == 0) view.row_stride = view.columns;
  if (view.rows < 0 || view.columns < 0 || view.row_stride < 0 || view.column_stride < 0) {
    throw InvalidInput(fmt::format("{} of {} rows and {} columns with strides {} and {}: none may be negative", what,
                                   view.rows, view.columns, view.row_stride, view.column_stride));
  }
  if (view.data == nullptr && view.rows > 0 && view.columns > 0) {
    throw InvalidInput(fmt::format("{} of {} rows and {} columns has no data", what, view.rows, view.columns));
  }
  return view;
}

using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
constexpr Index kTile = 64;  // columns and rows at a time, so that both sides of a transposition stay in the cache

// to = from, whose strides may be those of a transpose.
template <class From, class To>
void copy_in_tiles(const From& from, To&& to) {
  using Scalar = typename std::decay_t<To>::Scalar;
  for (Index j = 0; j < from.cols(); j += kTile) {
    for (Index i = 0; i < from.rows(); i += kTile) {
      const Index rows = std::min(kTile, from.rows() - i), columns = std::min(kTile, from.cols() - j);
      to.block(i, j, rows, columns) = from.block(i, j, rows, columns).template cast<Scalar>();
    }
  }
}

// A caller's matrix, transposed: its rows become columns.
template <class Scalar>
auto transposed(const cgmca_view& view) {
  return Eigen::Map<const Eigen::MatrixX<Scalar>, 0, Strides>(static_cast<const Scalar*>(view.data), view.columns,
                                                              view.rows, Strides(view.row_stride, view.column_stride));
}
template <class Scalar>
auto transposed(const cgmca_buffer& view) {
  return Eigen::Map<Eigen::MatrixX<Scalar>, 0, Strides>(static_cast<Scalar*>(view.data), view.columns, view.rows,
                                                        Strides(view.row_stride, view.column_stride));
}

template <class To>
void read_into(const cgmca_view& view, To&& to) {
  view.is_float != 0 ? copy_in_tiles(transposed<float>(view), to) : copy_in_tiles(transposed<double>(view), to);
}

template <class View>
bool is_columns(const View& view) {  // whether its rows are contiguous doubles
  return view.is_float == 0 && view.column_stride == 1;
}

// Rows first … first + count - 1.
template <class View>
View rows_of(View view, Index first, Index count) {
  const std::size_t size = view.is_float != 0 ? sizeof(float) : sizeof(double);
  using Byte = std::conditional_t<std::is_same_v<View, cgmca_view>, const char, char>;
  if (view.data != nullptr)
    view.data = static_cast<Byte*>(view.data) + static_cast<std::size_t>(first * view.row_stride) * size;
  view.rows = count;
  return view;
}

}  // namespace

Columns::Columns(const cgmca_view& given, Hold hold) : map_(nullptr, 0, 0, Eigen::OuterStride<>(0)) {
  const cgmca_view view = checked(given);
  const double* data = static_cast<const double*>(view.data);
  Index stride = view.row_stride;
  if (hold == Hold::copy || !is_columns(view)) {
    const auto own = std::make_shared<Matrix>(view.columns, view.rows);
    read_into(view, *own);
    own_ = own;
    data = own_->data();
    stride = view.columns;
  }
  new (&map_)
      Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>(data, view.columns, view.rows, Eigen::OuterStride<>(stride));
}

std::vector<Columns> columns_of(const cgmca_view* X, int domains, Columns::Hold hold) {
  need(X, "X");
  if (domains < 1) throw InvalidInput(fmt::format("samples of {} domains; at least 1 is needed", domains));
  std::vector<Columns> all;
  for (int i = 0; i < domains; ++i) all.emplace_back(X[i], hold);
  return all;
}

MatchedSamples matched(const std::vector<Columns>& X) {
  MatchedSamples samples;
  for (const Columns& one : X) samples.emplace_back(one.map());
  return samples;
}

Vector sample_weights(const double* weights, Index n) {
  return weights == nullptr ? Vector() : Vector(Eigen::Map<const Vector>(weights, n));
}

cgmca_view checked(const cgmca_view& view) { return with_strides(view, "a matrix"); }

cgmca_buffer checked(const cgmca_buffer* given, Index rows, Index columns) {
  need(given, "the buffer for a result");
  const cgmca_buffer to = with_strides(*given, "a buffer");
  if (to.rows == rows && to.columns == columns) return to;
  throw WrongDimension(fmt::format("the result is {}×{}, the buffer for it {}×{}", rows, columns, to.rows, to.columns));
}

void write_to(const cgmca_buffer& to, const Eigen::Ref<const Matrix>& columns) {
  to.is_float != 0 ? copy_in_tiles(columns, transposed<float>(to)) : copy_in_tiles(columns, transposed<double>(to));
}

void write(const Matrix& columns, const cgmca_buffer* to) {
  write_to(checked(to, columns.cols(), columns.rows()), columns);
}

void give(const Matrix& array, int64_t* rows, int64_t* columns, const cgmca_buffer* out) {
  need(rows, "rows"), need(columns, "columns");
  if (out != nullptr) write(array.transpose(), out);
  *rows = array.rows();
  *columns = array.cols();
}

namespace {

double* scratch(std::size_t which, Index size) {
  thread_local std::vector<std::vector<double>> memory(kScratches);
  std::vector<double>& own = memory[which];
  if (own.size() < static_cast<std::size_t>(size)) own.resize(static_cast<std::size_t>(size));
  return own.data();
}

}  // namespace

Tile tile_of(std::size_t which, Index rows, Index columns) {
  return {scratch(which, rows * columns), rows, columns, Eigen::OuterStride<>(std::max<Index>(rows, 1))};
}

ConstTile samples_of(std::size_t which, const cgmca_view& view, Index first, Index count) {
  const cgmca_view part = rows_of(view, first, count);
  if (is_columns(part)) {
    return {static_cast<const double*>(part.data), part.columns, count, Eigen::OuterStride<>(part.row_stride)};
  }
  Tile own = tile_of(which, part.columns, count);
  read_into(part, own);
  return {own.data(), own.rows(), own.cols(), Eigen::OuterStride<>(own.outerStride())};
}

Tile room_in(std::size_t which, const cgmca_buffer& buffer, Index first, Index count) {
  const cgmca_buffer part = rows_of(buffer, first, count);
  if (!is_columns(part)) return tile_of(which, part.columns, count);
  return {static_cast<double*>(part.data), part.columns, count, Eigen::OuterStride<>(part.row_stride)};
}

void hand_over(const Tile& tile, const cgmca_buffer& buffer, Index first) {
  if (!is_columns(buffer)) write_to(rows_of(buffer, first, tile.cols()), tile);
}

Domain domain_of(const Model& model, int domain) {
  if (domain >= 1 && domain <= model.count()) return Domain{domain};
  throw MissingDomain(
      fmt::format("there is no domain {} in this model of {}; they count from 1", domain, model.count()));
}

Columns::Hold hold_for(const cgmca_fit_options& given) {
  return given.stop != nullptr ? Columns::Hold::copy : Columns::Hold::view;
}

void run_stoppable(const cgmca_fit_options& given, const std::function<void(const Report&)>& work) {
  if (given.stop == nullptr) return work([](double) {});
  run_aside(work, [&](const std::deque<double>&) {
    if (given.stop(given.user) != 0) throw Stopped{};
  });
}

}  // namespace cgmca::c
