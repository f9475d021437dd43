#include "core/summary/choose.hpp"

#include <utility>

#include "core/base/thresholds.hpp"

namespace cgmca {

using thresholds::kSafeGramCondition;

bool GramSafety::diagonal_allows(const Vector& diagonal, const Layout& layout) {
  for (Index i = 0; i < layout.domains(); ++i) {
    const auto part = diagonal.segment(layout.start(i), layout.features(i));
    if (part.maxCoeff() > kSafeGramCondition * part.minCoeff()) return false;
  }
  return true;
}

bool GramSafety::measure(const linalg::Array& G, const Layout& layout) {
  for (Index i = 0; i < layout.domains(); ++i) {
    const Index start = layout.start(i), d = layout.features(i);
    Spectrum& bounds = bounds_[i];
    bounds = G.on().spectrum_bounds(G.block(start, start, d, d), bounds);
    if (!(bounds.largest <= kSafeGramCondition * bounds.smallest)) return false;
  }
  return true;
}

bool GramSafety::carry(const Vector& added_diagonal, const Layout& layout) {
  std::vector<Spectrum> carried = bounds_;
  for (Index i = 0; i < layout.domains(); ++i) {
    Spectrum& bounds = carried[i];
    bounds.largest += added_diagonal.segment(layout.start(i), layout.features(i)).sum();
    if (!(bounds.largest <= kSafeGramCondition * bounds.smallest)) return false;
  }
  bounds_ = std::move(carried);
  return true;
}

bool GramSafety::join(const GramSafety& other, const Vector& s, const Layout& layout) {
  std::vector<Spectrum> joined;
  for (Index i = 0; i < layout.domains(); ++i) {
    const Spectrum &ours = bounds_[i], &theirs = other.bounds_[i];
    if (!(ours.smallest > 0 && theirs.smallest > 0)) return false;  // one of them was not measured
    const double added = s.segment(layout.start(i), layout.features(i)).squaredNorm();
    joined.push_back({ours.largest + theirs.largest + added, ours.smallest + theirs.smallest});
    if (!(joined.back().largest <= kSafeGramCondition * joined.back().smallest)) return false;
  }
  bounds_ = std::move(joined);
  return true;
}

}  // namespace cgmca
