#include "core/select/tune_baselines.hpp"

#include <cgmca/classify.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "core/select/tune_multi.hpp"
#include "core/summary/moments.hpp"

namespace cgmca {
Baselines::Baselines(const Folds& folds, const TuneOptions& options, const Matrix& references)
    : folds_(folds),
      options_(options),
      references_(references),
      comparable_(folds.dimension(Domain::one) == folds.dimension(Domain::two)) {}

void Baselines::add_multi(const Directions& training, Index repeat, Index fold) {
  Errors none;
  none.fill(std::numeric_limits<double>::quiet_NaN());
  Errors without_map = none, alone = none;
  error_of(alone, Criterion::translation) = 1;  // the means
  if (!options_.matched.samples.empty()) {
    const MultiWithoutMap plain = classify_without_map(options_.matched, folds_, training, repeat, fold);
    error_of(without_map, Criterion::classification) = plain.stacked;
    singles_.push_back(plain.single);
  }
  unmapped.push_back(without_map);
  offset.push_back(none);
  target_only.push_back(alone);
}

void Baselines::add_downstream(const HeldOut& held, const Directions& training, Errors& without_map, Errors& moved,
                               Errors& alone) const {
  const Matrix X2 = (*options_.pairs.X2)(Eigen::all, held.partners), mean = training.mean[0].replicate(1, X2.cols());
  error_of(alone, Criterion::downstream) = downstream_errors(held, {mean})[0];
  if (!comparable_) return;
  const std::vector<double> errors = downstream_errors(held, {X2, Matrix(held.X2 + mean)});
  error_of(without_map, Criterion::downstream) = errors[0];
  error_of(moved, Criterion::downstream) = errors[1];
}

void Baselines::finish() {
  if (singles_.empty()) return;
  std::vector<double> sums(singles_.front().size());
  for (const std::vector<double>& errors : singles_) {
    std::transform(sums.begin(), sums.end(), errors.begin(), sums.begin(), std::plus<>());
  }
  const auto best = std::min_element(sums.begin(), sums.end()) - sums.begin();
  single = domain_at(best);
  for (std::size_t s = 0; s < singles_.size(); ++s) {
    error_of(target_only[s], Criterion::classification) = singles_[s][best];
  }
}

void Baselines::even_out(std::vector<std::vector<Errors>>& errors) {
  const std::size_t sets = target_only.size();
  std::vector<double> of_all(sets, 0.0);  // relative to the mean over the sets, and over the domains
  for (std::vector<double>& spread : spreads_) {
    const double mean = std::accumulate(spread.begin(), spread.end(), 0.0) / static_cast<double>(sets);
    for (std::size_t s = 0; s < sets; ++s) {
      spread[s] /= mean;
      of_all[s] += spread[s] / static_cast<double>(spreads_.size());
    }
  }
  const bool two = spreads_.size() == 2;
  for (const auto& [criterion, spread] : {std::pair(Criterion::translation, two ? &spreads_[0] : &of_all),
                                          {Criterion::translation_to2, two ? &spreads_[1] : &of_all}}) {
    std::vector<double> factor;
    for (const double one : *spread) factor.push_back(2 * one / (one + 1));
    const double mean = std::accumulate(factor.begin(), factor.end(), 0.0) / static_cast<double>(sets);
    const auto scale = [&, which = criterion](std::vector<Errors>& of) {
      for (std::size_t s = 0; s < of.size(); ++s) error_of(of[s], which) *= factor[s] / mean;
    };
    for (std::vector<Errors>& one : errors) scale(one);
    for (std::vector<Errors>* one : {&unmapped, &offset, &target_only}) scale(*one);
  }
}

void Baselines::add(const HeldOut& held, const Directions& training, Index repeat, Index fold) {
  spreads_.resize(held.total.size());
  for (std::size_t i = 0; i < held.total.size(); ++i) spreads_[i].push_back(held.total[i] / held.samples);
  if (folds_.domains() > 2) return add_multi(training, repeat, fold);
  Errors none;
  none.fill(std::numeric_limits<double>::quiet_NaN());
  Errors without_map = none, moved = none, alone = none;
  error_of(alone, Criterion::translation) = error_of(alone, Criterion::translation_to2) =
      1;                                       // the mean of the target domain
  error_of(alone, Criterion::likelihood) = 0;  // the partner tells nothing
  if (held.references.cols() > 0) error_of(alone, Criterion::partner) = guessed_partner(held.references.cols());
  if (comparable_) {
    const ByDomain<Matrix> H = roots_about({training.mean[0], training.mean[0]}, folds_.held_out(repeat, fold));
    const Matrix apart = H[0] - H[1];  // x_1 - x_2
    const auto relative = [&](Domain to) { return training.scaled(apart, to).squaredNorm() / held.total[to]; };
    error_of(without_map, Criterion::translation) = relative(Domain::one);
    error_of(without_map, Criterion::translation_to2) = relative(Domain::two);
    error_of(moved, Criterion::translation) = held.apart[0] / held.total[0];
    error_of(moved, Criterion::translation_to2) = held.apart[1] / held.total[1];
    if (options_.pairs.X1 != nullptr) {
      error_of(without_map, Criterion::partner) =
          partner_error(training.scaled(references_, Domain::one),
                        training.scaled((*options_.pairs.X2)(Eigen::all, held.partners), Domain::one), held.partners);
    }
  }
  if (held.downstream != nullptr) add_downstream(held, training, without_map, moved, alone);
  if (const TransferLabels& labels = options_.labels; labels.samples != nullptr) {
    const Split split = split_of(folds_, repeat, fold, labels.queries->cols());
    const std::vector<int> truth = picked(labels.query_labels, split.held_out);
    const Matrix asked = (*labels.queries)(Eigen::all, split.held_out);
    if (comparable_) {
      const Matrix references = training.scaled((*labels.samples)(Eigen::all, held.references_kept), Domain::one);
      const std::vector<int> found =
          nearest_neighbour(references, held.reference_labels, training.scaled(asked, Domain::one));
      error_of(without_map, Criterion::classification) = 1 - accuracy(found, truth);
    }
    const Matrix own = training.scaled((*labels.queries)(Eigen::all, split.training), Domain::two);
    const std::vector<int> found =
        nearest_neighbour(own, picked(labels.query_labels, split.training), training.scaled(asked, Domain::two));
    error_of(alone, Criterion::classification) = 1 - accuracy(found, truth);
  }
  unmapped.push_back(without_map);
  offset.push_back(moved);
  target_only.push_back(alone);
}

}  // namespace cgmca
