// Where each domain's features are among all p, one domain above the other.
#pragma once

#include <cgmca/types.hpp>
#include <vector>

namespace cgmca {

struct Layout {
  std::vector<Index> starts;  // m + 1 of them; the last is p

  explicit Layout(const std::vector<Index>& features) : starts{0} {
    for (const Index d : features) starts.push_back(starts.back() + d);
  }
  Index domains() const { return std::ssize(starts) - 1; }
  Index size() const { return starts.back(); }
  Index start(Index i) const { return starts[i]; }
  Index features(Index i) const { return start(i + 1) - start(i); }
  Index domain_of(Index feature) const {
    Index i = 0;
    while (feature >= start(i + 1)) ++i;
    return i;
  }
};

}  // namespace cgmca
