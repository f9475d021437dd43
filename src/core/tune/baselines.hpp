// What a user has without us, scored by the same folds.
#pragma once

#include <cgmca/folds.hpp>
#include <cgmca/tune.hpp>
#include <vector>

#include "held_out.hpp"

namespace cgmca {

class Baselines {
 public:
  Baselines(const Folds& folds, const TuneOptions& options);
  void add(const HeldOut& held, const Directions& training, Index repeat, Index fold);

  // [training set]; NaN where a criterion has none.
  std::vector<Errors> unmapped;     // samples of domain 2 stand for those of domain 1 as they are
  std::vector<Errors> target_only;  // the matched samples of the target domain and nothing of the other

 private:
  const Folds& folds_;
  const TuneOptions& options_;
  bool comparable_;  // both domains have as many features
};

}  // namespace cgmca
