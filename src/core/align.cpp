#include "align.hpp"

#include <algorithm>

namespace cgmca {
namespace {

struct Side {
  Eigen::Ref<Matrix> basis;
  const std::vector<Form>* forms;
};

constexpr double kEqualMerit = 1e-8;  // merits this close, relative to the largest, are ordered by the next form

// Calls run(begin, end) for each run of at least two neighbours that differ by at most `tolerance`.
template <class Function>
void for_each_run(const Vector& descending, double tolerance, const Function& run) {
  for (Index begin = 0; begin < descending.size();) {
    Index end = begin + 1;
    while (end < descending.size() && descending(end - 1) - descending(end) <= tolerance) ++end;
    if (end - begin > 1) run(begin, end);
    begin = end;
  }
}

bool is_ordered(const Matrix& H) {
  const Vector merit = H.diagonal();
  return H.isDiagonal(1e-15) && std::is_sorted(merit.begin(), merit.end(), std::greater<>());
}

void turn(const std::vector<Side>& sides, std::size_t level) {
  if (level == sides.front().forms->size()) return;
  const Index size = sides.front().basis.cols();
  Matrix H = Matrix::Zero(size, size);
  for (const Side& side : sides) H += (*side.forms)[level](side.basis);
  Vector merits = H.diagonal();
  if (!is_ordered(H)) {
    auto [values, Q] = linalg::symmetric_eigen(H);
    merits = values;
    for (const Side& side : sides) {
      Eigen::Ref<Matrix> basis = side.basis;
      basis = linalg::AB(Matrix(basis), Q);
    }
  }
  for_each_run(merits, kEqualMerit * merits.cwiseAbs().maxCoeff(), [&](Index begin, Index end) {
    std::vector<Side> part;
    for (const Side& side : sides) {
      Eigen::Ref<Matrix> basis = side.basis;
      part.push_back({basis.middleCols(begin, end - begin), side.forms});
    }
    turn(part, level + 1);
  });
}

}  // namespace

Index paired(const Vector& s, double tolerance) {
  return std::count_if(s.begin(), s.end(), [&](double value) { return value > tolerance; });
}

void break_ties(linalg::Svd& svd, double tolerance, const std::vector<Form>& left, const std::vector<Form>& right) {
  const Index pairs = paired(svd.s, tolerance);
  const Index known = std::min({pairs, svd.U.cols(), svd.V.cols()});  // of the others only the values are
  for_each_run(svd.s.head(known), tolerance, [&](Index begin, Index end) {
    turn({{svd.U.middleCols(begin, end - begin), &left}, {svd.V.middleCols(begin, end - begin), &right}}, 0);
  });
  if (svd.U.cols() - pairs > 1) turn({{svd.U.rightCols(svd.U.cols() - pairs), &left}}, 0);
  if (svd.V.cols() - pairs > 1) turn({{svd.V.rightCols(svd.V.cols() - pairs), &right}}, 0);
}

Vector signs(const MatrixView& columns) {
  Vector result(columns.cols());
  for (Index j = 0; j < columns.cols(); ++j) {
    const double threshold = (1 - 1e-6) * columns.col(j).cwiseAbs().maxCoeff();
    Index i = 0;
    while (std::abs(columns(i, j)) < threshold) ++i;
    result(j) = columns(i, j) < 0 ? -1 : 1;
  }
  return result;
}

}  // namespace cgmca
