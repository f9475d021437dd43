#include "io/matlab/sparse.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <cmath>

#include "io/common.hpp"

namespace cgmca::io {
namespace {

void check_dense_values(const Sparse& sparse, const std::string& where) {
  const double bytes = sizeof(double) * static_cast<double>(sparse.rows) * static_cast<double>(sparse.columns);
  if (bytes <= always_dense + most_dense_per_value * static_cast<double>(sparse.real.size())) return;
  throw FormatError(
      fmt::format("{} is sparse, {}×{}, and stores {} values; as a dense matrix it would have {:.3g} GB, nearly all "
                  "zeros. Store the rows or columns that have values, or store it as a full array",
                  where, sparse.rows, sparse.columns, sparse.real.size(), bytes / 1e9));
}

}  // namespace

void check_dense_size(std::uint64_t rows, std::uint64_t columns, const ReadOptions& options, const std::string& where) {
  const double parts = options.complex == ComplexAs::stack ? 2 : 1;
  const double bytes = parts * sizeof(double) * static_cast<double>(rows) * static_cast<double>(columns);
  if (bytes <= largest_dense) return;
  throw FormatError(
      fmt::format("{} is sparse, {}×{}; as a dense matrix it would have {:.3g} GB, and {:.3g} GB is the most that "
                  "is read of a sparse one. Store the rows or columns that you need, or store it as a full array",
                  where, rows, columns, bytes / 1e9, largest_dense / 1e9));
}

std::vector<std::uint64_t> expand(const std::vector<std::uint64_t>& begins, std::size_t entries,
                                  const std::string& where) {
  std::vector<std::uint64_t> numbers(entries);
  bool good = !begins.empty() && begins.front() == 0 && begins.back() <= entries;
  for (std::size_t i = 0; good && i + 1 < begins.size(); ++i) {
    good = begins[i] <= begins[i + 1] && begins[i + 1] <= entries;
    for (std::uint64_t k = begins[i]; good && k < begins[i + 1]; ++k) numbers[k] = i;
  }
  if (!good) throw FormatError(fmt::format("{} is a damaged sparse matrix: its rows and columns do not fit", where));
  numbers.resize(begins.back());
  return numbers;
}

template <class Scalar>
Dense<Scalar> combined(Dense<Scalar> re, const Dense<Scalar>& im, ComplexAs complex) {
  if (complex == ComplexAs::magnitude) {
    re = re.binaryExpr(im, [](Scalar a, Scalar b) { return std::hypot(a, b); });
  } else if (complex == ComplexAs::power) {
    re = re.cwiseAbs2() + im.cwiseAbs2();
  } else {
    const Index d = re.rows();
    re.conservativeResize(2 * d, Eigen::NoChange);
    re.bottomRows(d) = im;
  }
  return re;
}
template Matrix combined(Matrix, const Matrix&, ComplexAs);
template Eigen::MatrixXf combined(Eigen::MatrixXf, const Eigen::MatrixXf&, ComplexAs);

std::unique_ptr<BlockReader::Source> dense_source(const Sparse& sparse, const ReadOptions& options,
                                                  const std::string& where) {
  check_dense_size(sparse.rows, sparse.columns, options, where);
  check_dense_values(sparse, where);
  const bool complex = !sparse.imaginary.empty();
  if (complex && options.complex == ComplexAs::refuse)
    throw FormatError(fmt::format("{} {}", where, complex_refusal()));
  const Layout layout({sparse.rows, sparse.columns}, options.columns, where);
  const auto scatter = [&](const std::vector<double>& values) {
    Matrix X = allocate<double>(layout.features, layout.samples, where);
    X.setZero();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t row = sparse.row[i], column = sparse.column[i];
      if (row >= sparse.rows || column >= sparse.columns)
        throw FormatError(
            fmt::format("{} is a damaged sparse matrix: it has {}×{} numbers and one at row {}, column {}", where,
                        sparse.rows, sparse.columns, row + 1, column + 1));
      X(static_cast<Index>(options.columns ? row : column), static_cast<Index>(options.columns ? column : row)) +=
          values[i];
    }
    return X;
  };
  Matrix X = scatter(sparse.real);
  if (complex) X = combined<double>(std::move(X), scatter(sparse.imaginary), options.complex);
  return in_memory(std::move(X));
}

}  // namespace cgmca::io
