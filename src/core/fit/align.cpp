#include "core/fit/align.hpp"

#include <algorithm>
#include <functional>

#include "core/base/thresholds.hpp"

namespace cgmca {
namespace {

using linalg::Array;
using linalg::Backend;

struct Side {
  Array basis;
  const std::vector<TieRule>* forms;
};

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

// It is diagonal to rounding and descending already, so nothing is to be done.
bool is_ordered(const Array& H, const Vector& merit) {
  if (!std::is_sorted(merit.begin(), merit.end(), std::greater<>())) return false;
  const Array rest = H.on().copy(H);
  H.on().add_diagonal(rest, -merit);
  return H.on().column_largest(rest).maxCoeff() <= thresholds::kDiagonal * merit.cwiseAbs().maxCoeff();
}

void turn(const std::vector<Side>& sides, std::size_t level) {
  if (level == sides.front().forms->size()) return;
  const Backend& on = sides.front().basis.on();
  const Index size = sides.front().basis.cols();
  const Array H = on.zeros(size, size);
  for (const Side& side : sides) on.add(H, (*side.forms)[level](side.basis));
  Vector merits = on.diagonal(H);
  if (!is_ordered(H, merits)) {
    const linalg::ArrayEigen eigen = on.symmetric_eigen(H);
    merits = eigen.values;
    for (const Side& side : sides) on.assign(side.basis, on.AB(side.basis, eigen.Q));
  }
  for_each_run(merits, thresholds::kEqualMerit * merits.cwiseAbs().maxCoeff(), [&](Index begin, Index end) {
    std::vector<Side> part;
    for (const Side& side : sides) part.push_back({side.basis.columns(begin, end - begin), side.forms});
    turn(part, level + 1);
  });
}

}  // namespace

Array by_coordinate(const Array& directions) {
  const Index d = directions.rows();
  const Array weighted = directions.on().copy(directions);
  directions.on().scale_rows(weighted, Vector::LinSpaced(d, 1, 1 / static_cast<double>(d)));
  return linalg::AtB(directions, weighted);
}

Index paired(const Vector& s, double tolerance) {
  return std::count_if(s.begin(), s.end(), [&](double value) { return value > tolerance; });
}

void break_ties(linalg::ArraySvd& svd, double tolerance, const std::vector<TieRule>& left,
                const std::vector<TieRule>& right) {
  const Index pairs = paired(svd.s, tolerance);
  const Index known = std::min({pairs, svd.U.cols(), svd.V.cols()});  // of the others only the values are
  for_each_run(svd.s.head(known), tolerance, [&](Index begin, Index end) {
    turn({{svd.U.columns(begin, end - begin), &left}, {svd.V.columns(begin, end - begin), &right}}, 0);
  });
  if (svd.U.cols() - pairs > 1) turn({{svd.U.right(svd.U.cols() - pairs), &left}}, 0);
  if (svd.V.cols() - pairs > 1) turn({{svd.V.right(svd.V.cols() - pairs), &right}}, 0);
}

void break_ties(const std::vector<Array>& bases, const Vector& merits, double tolerance,
                const std::vector<std::vector<TieRule>>& forms) {
  for_each_run(merits, tolerance, [&](Index begin, Index end) {
    std::vector<Side> sides;
    for (std::size_t i = 0; i < bases.size(); ++i) {
      sides.push_back({bases[i].columns(begin, end - begin), &forms[i]});
    }
    turn(sides, 0);
  });
}

}  // namespace cgmca
