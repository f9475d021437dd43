// Baselines that need no fit, scored on the same folds.
#pragma once

#include <cgmca/folds.hpp>
#include <cgmca/tune.hpp>
#include <vector>

#include "core/select/tune_held_out.hpp"

namespace cgmca {

class Baselines {
 public:
  Baselines(const Folds& folds, const TuneOptions& options, const Matrix& references);
  void add(const HeldOut& held, const Directions& training, Index repeat, Index fold);

  // Once all training sets are in: of more than two domains, the single one that classifies best is chosen.
  void finish();

  // Half of what a fold's translation error is divided by becomes the mean over all folds: a fold that happens to vary
  // little would otherwise outweigh the others. The error of the mean stays 1 on average. `errors` are the grid's.
  void even_out(std::vector<std::vector<Errors>>& errors);

  // [training set]; NaN where a criterion has none.
  std::vector<Errors> unmapped;     // samples of domain 2 stand for those of domain 1 as they are
  std::vector<Errors> offset;       // the same, moved by the difference of the means
  std::vector<Errors> target_only;  // the matched samples of the target domain and nothing of the other
  Domain single = Domain::two;      // the domain whose matched samples alone classify

 private:
  void add_multi(const Directions& training, Index repeat, Index fold);
  void add_downstream(const HeldOut& held, const Directions& training, Errors& without_map, Errors& moved,
                      Errors& alone) const;

  const Folds& folds_;
  const TuneOptions& options_;
  const Matrix& references_;                  // of domain 1, where the pairs are given
  bool comparable_;                           // both domains have as many features
  std::vector<std::vector<double>> spreads_;  // [domain][training set]: squared distance from the mean, per sample
  std::vector<std::vector<double>> singles_;  // [training set][domain]: of classification
};

}  // namespace cgmca
