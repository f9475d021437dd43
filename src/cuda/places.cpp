// Rows and columns by their places, and what is done number by number.
#include <algorithm>
#include <cmath>

#include "core/base/thresholds.hpp"
#include "cuda/backend.hpp"

namespace cgmca::cuda {
namespace {

using Kernel = Context::Kernel;

// As in kernels.cu.
enum Operation { sum = 0, absolute = 1, square = 2, largest = 3, product_of_both = 4 };

Index count(const Indices& places) { return std::ssize(places); }

// first, first + 1, …: then no list is needed.
bool in_sequence(const Indices& places) {
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (places[i] != places[0] + static_cast<Index>(i)) return false;
  }
  return true;
}

const Index* list(const Memory& memory) { return static_cast<const Index*>(memory.get()); }

}  // namespace

Array Cuda::gather(const Array& A, const Indices& rows, const Indices& columns) const {
  const Lock lock(mutex_);
  if (!rows.empty() && !columns.empty() && in_sequence(rows) && in_sequence(columns)) {
    return copy(A.block(rows[0], columns[0], count(rows), count(columns)));
  }
  Array result = allocate(count(rows), count(columns));
  const Memory from_rows = context_.uploaded(rows), from_columns = context_.uploaded(columns);
  context_.launch_over(Kernel::gather, result.rows(), result.cols(), context_.stream(), result.data(), result.stride(),
                       result.rows(), result.cols(), A.data(), A.stride(), list(from_rows), list(from_columns));
  return result;
}

Array Cuda::gather_rows(const Array& A, const Indices& rows) const {
  const Lock lock(mutex_);
  if (!rows.empty() && in_sequence(rows)) return copy(A.block(rows[0], 0, count(rows), A.cols()));
  Array result = allocate(count(rows), A.cols());
  const Memory from = context_.uploaded(rows);
  const Index* all = nullptr;
  context_.launch_over(Kernel::gather, result.rows(), result.cols(), context_.stream(), result.data(), result.stride(),
                       result.rows(), result.cols(), A.data(), A.stride(), list(from), all);
  return result;
}

Array Cuda::gather_transposed_rows(const Array& A, const Indices& rows) const {
  const Lock lock(mutex_);
  if (!rows.empty() && in_sequence(rows)) return transposed(A.block(rows[0], 0, count(rows), A.cols()));
  return transposed(gather_rows(A, rows));
}

Array Cuda::scatter_rows(const Array& A, const Indices& rows, Index m) const {
  const Lock lock(mutex_);
  if (A.rows() == m && std::is_sorted(rows.begin(), rows.end())) return A;
  Array result = zeros(m, A.cols());
  const Memory to = context_.uploaded(rows);
  const Index* all = nullptr;
  context_.launch_over(Kernel::scatter, A.rows(), A.cols(), context_.stream(), result.data(), result.stride(), A.rows(),
                       A.cols(), A.data(), A.stride(), list(to), all);
  return result;
}

void Cuda::assign_at(const Array& to, const Indices& rows, const Indices& columns, const Array& A) const {
  const Lock lock(mutex_);
  require(A.rows() == count(rows) && A.cols() == count(columns), "a matrix assigned to places of another number");
  const Memory to_rows = context_.uploaded(rows), to_columns = context_.uploaded(columns);
  context_.launch_over(Kernel::scatter, A.rows(), A.cols(), context_.stream(), to.data(), to.stride(), A.rows(),
                       A.cols(), A.data(), A.stride(), list(to_rows), list(to_columns));
}

void Cuda::zero_columns(const Array& A, const Indices& columns) const {
  const Lock lock(mutex_);
  if (columns.empty()) return;
  const Memory named = context_.uploaded(columns);
  context_.launch_over(Kernel::zero_columns, A.rows(), count(columns), context_.stream(), A.data(), A.stride(),
                       A.rows(), count(columns), list(named));
}

void Cuda::scale_by(const Array& A, double by, const Vector* rows, const Vector* columns) const {
  const Lock lock(mutex_);
  const Memory of_rows = rows == nullptr ? nullptr : context_.uploaded(*rows);
  const Memory of_columns = columns == nullptr ? nullptr : context_.uploaded(*columns);
  context_.launch_over(Kernel::scale, A.rows(), A.cols(), context_.stream(), A.data(), A.stride(), A.rows(), A.cols(),
                       by, static_cast<const double*>(numbers(of_rows)),
                       static_cast<const double*>(numbers(of_columns)));
}

void Cuda::scale(const Array& A, double by) const { scale_by(A, by, nullptr, nullptr); }

void Cuda::scale_rows(const Array& A, const Vector& by) const {
  require(A.rows() == by.size(), "rows scaled by factors of another number");
  scale_by(A, 1, &by, nullptr);
}

void Cuda::scale_columns(const Array& A, const Vector& by) const {
  require(A.cols() == by.size(), "columns scaled by factors of another number");
  scale_by(A, 1, nullptr, &by);
}

void Cuda::add(const Array& A, const Array& B, double weight) const {
  const Lock lock(mutex_);
  require(A.rows() == B.rows() && A.cols() == B.cols(), "matrices of different shapes");
  context_.launch_over(Kernel::add, A.rows(), A.cols(), context_.stream(), A.data(), A.stride(), A.rows(), A.cols(),
                       static_cast<const double*>(B.data()), B.stride(), weight);
}

void Cuda::add_diagonal(const Array& A, const Vector& values) const {
  const Lock lock(mutex_);
  if (values.size() == 0) return;
  const Memory added = context_.uploaded(values);
  const double one = 1;
  check(cublasDaxpy_64(context_.blas(), values.size(), &one, numbers(added), 1, A.data(), A.stride() + 1), "axpy");
}

void Cuda::assign_diagonal(const Array& A, const Vector& values) const {
  const Lock lock(mutex_);
  if (values.size() == 0) return;
  const Memory assigned = context_.uploaded(values);
  context_.launch(Kernel::set_diagonal, dim3(static_cast<unsigned>((values.size() + 255) / 256)), dim3(256),
                  context_.stream(), A.data(), A.stride(), Index{values.size()},
                  static_cast<const double*>(numbers(assigned)), 0.0);
}

Vector Cuda::diagonal(const Array& A) const {
  const Lock lock(mutex_);
  const Index n = std::min(A.rows(), A.cols());
  if (n == 0) return {};
  const Memory values = context_.allocate(sizeof(double) * static_cast<double>(n));
  check(cublasDcopy_64(context_.blas(), n, A.data(), A.stride() + 1, numbers(values), 1), "copy");
  return context_.downloaded(numbers(values), n);
}

// Sums of chunks of columns, then the sum of these.
Vector Cuda::reduced_rows(const Array& A, int operation) const {
  const Lock lock(mutex_);
  const Index m = A.rows(), n = A.cols();
  if (A.empty()) return Vector::Zero(m);
  const Index chunk = std::max<Index>(128, (n + 4095) / 4096), chunks = (n + chunk - 1) / chunk;
  const Array parts = allocate(m, chunks), total = allocate(m, 1);
  const auto across = static_cast<unsigned>((m + 31) / 32);
  context_.launch(Kernel::reduce_rows, dim3(across, static_cast<unsigned>(chunks)), dim3(32, 8), context_.stream(),
                  parts.data(), m, n, chunk, static_cast<const double*>(A.data()), A.stride(), operation);
  context_.launch(Kernel::reduce_rows, dim3(across, 1), dim3(32, 8), context_.stream(), total.data(), m, chunks, chunks,
                  static_cast<const double*>(parts.data()), parts.stride(), static_cast<int>(sum));
  return context_.downloaded(total.data(), m);
}

Vector Cuda::reduced_columns(const Array& A, const Array* B, int operation) const {
  const Lock lock(mutex_);
  const Index n = A.cols();
  if (A.empty()) return Vector::Zero(n);
  const Array result = allocate(n, 1);
  const double* other = B == nullptr ? nullptr : B->data();
  const Index stride = B == nullptr ? 0 : B->stride();
  context_.launch(Kernel::reduce_columns, dim3(static_cast<unsigned>(std::min<Index>(n, 1 << 20))), dim3(256),
                  context_.stream(), result.data(), static_cast<const double*>(A.data()), A.stride(), A.rows(), n,
                  other, stride, operation);
  return context_.downloaded(result.data(), n);
}

Vector Cuda::row_squared_norms(const Array& A) const { return reduced_rows(A, square); }
Vector Cuda::row_sums(const Array& A) const { return reduced_rows(A, sum); }
Vector Cuda::row_absolute_sums(const Array& A) const { return reduced_rows(A, absolute); }
Vector Cuda::column_squared_norms(const Array& A) const { return reduced_columns(A, nullptr, square); }
Vector Cuda::column_largest(const Array& A) const { return reduced_columns(A, nullptr, largest); }

double Cuda::dot(const Array& A, const Array& B) const {
  require(A.rows() == B.rows() && A.cols() == B.cols(), "matrices of different shapes");
  return reduced_columns(A, &B, product_of_both).sum();
}

Vector Cuda::signs_of_columns(const Array& A) const {
  const Lock lock(mutex_);
  const Index n = A.cols();
  if (A.empty()) return Vector::Ones(n);
  const Memory most = context_.uploaded(column_largest(A));
  const Array result = allocate(n, 1);
  context_.launch(Kernel::signs, dim3(static_cast<unsigned>(std::min<Index>(n, 1 << 20))), dim3(256), context_.stream(),
                  result.data(), static_cast<const double*>(A.data()), A.stride(), A.rows(), n,
                  static_cast<const double*>(numbers(most)), 1 - thresholds::kEqualEntry);
  return context_.downloaded(result.data(), n);
}

}  // namespace cgmca::cuda
