#include <Eigen/Cholesky>
#include <cgmca/calibrate.hpp>
#include <cgmca/error.hpp>
#include <cgmca/translate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"
#include "core/summary/moments.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::AtB;

// Sums over held-out samples: e_f V⁻¹ e_fᵀ for the errors of each feature, and the number of samples.
struct Missed {
  Vector squares;
  double samples = 0;
};

// The errors e of one fold share the error of one fit, so that their covariance is s_f² V,
// V = I + tᵀ G t/(n-1) + 1 1ᵀ/n. The columns of H are the samples times a Q with Q Qᵀ = I, for which Q V_Q⁻¹ Qᵀ = V⁻¹,
// and the last column of Q is 1/√m.
void add_errors(Missed& missed, const Model& training, Domain to, const ByDomain<Matrix>& H, double m) {
  const Translation lmmse = translation(training, training.others(to), to);
  std::vector<SampleView> from;
  for (const Domain j : lmmse.from) from.emplace_back(H[j]);
  if (lmmse.features_from.size() > from.size()) from.emplace_back(H.back());  // the nuisance
  const Matrix t = AB(lmmse.right, lmmse.stacked(from));
  Matrix e = H[to] - AB(lmmse.left, t);
  if (lmmse.identity) e -= H[lmmse.from.front()];
  const double n = training.free_weight(), mean_weight = training.total_weight;
  Matrix V = AtB(t, AB(lmmse.errors.G, t)) / (n - 1);
  V.diagonal().array() += 1;
  V.bottomRightCorner(1, 1).array() += m / mean_weight;
  const Eigen::LLT<Matrix> factor(V);  // V >= I
  const Matrix scaled = factor.matrixL().solve(Matrix(e.transpose()));
  missed.squares += scaled.colwise().squaredNorm().transpose();
  missed.samples += m;
}

void check(const Model& model, const Folds& folds) {
  const double weight = folds.total_weight();
  bool same = folds.domains() == model.count() + (model.nuisance ? 1 : 0) && folds.samples() == model.samples &&
              std::abs(weight - model.total_weight) <= thresholds::kSameWeight * weight;
  for (const Domain domain : all_domains(model.count())) {
    same = same && folds.dimension(domain) == model.domain(domain).features();
  }
  if (!same)
    throw InvalidInput("the folds hold other samples than those that the model was fitted to; give both the same");
}

Model fit_to_others(const Summary& training, const std::vector<Covariance>& covariances, const FitOptions& options) {
  try {
    return fit(training, covariances, options);
  } catch (const Infeasible& problem) {
    throw InvalidInput(fmt::format("calibration fits to {} of the matched samples at a time, and there: {}",
                                   training.samples(), problem.what()));
  }
}

}  // namespace

Model calibrate(Model model, const Folds& folds, const std::vector<Covariance>& covariances, const FitOptions& options,
                const std::function<void(double done)>& progress) {
  check(model, folds);
  const FoldOptions& dealt = folds.options();
  const Index repeats = std::max<Index>(1, dealt.repeats);  // more only where they were asked for: each costs K fits
  const std::vector<Domain> domains = all_domains(model.count());
  ByDomain<Missed> missed;
  for (const Domain domain : domains) missed.push_back({Vector::Zero(model.domain(domain).features()), 0});
  for (Index repeat = 0; repeat < repeats; ++repeat) {
    for (Index fold = 0; fold < dealt.folds; ++fold) {
      if (folds.held_out(repeat, fold).samples() == 0) continue;
      const Model training = fit_to_others(folds.training(repeat, fold), covariances, options);
      const Summary& part = folds.held_out(repeat, fold);
      std::vector<Vector> means;
      for (const Domain domain : domains) means.push_back(training.domain(domain).mean);
      if (training.nuisance) means.push_back(training.nuisance->mean);
      const ByDomain<Matrix> H = roots_about(means, part);
      for (const Domain to : domains) {
        add_errors(missed[to], training, to, H, part.total_weight());
      }
      if (progress) {
        progress(static_cast<double>(repeat * dealt.folds + fold + 1) / static_cast<double>(repeats * dealt.folds));
      }
    }
  }
  for (const Domain to : domains) {
    const Missed& errors = missed[to];
    model.domains[to]->held_out_error = (errors.squares / errors.samples).cwiseSqrt();  // (30)
  }
  model.calibration_folds = std::min(dealt.folds, folds.samples());
  model.calibration_repeats = folds.merged() ? 0 : repeats;
  model.calibration_seed = folds.merged() ? 0 : dealt.seed;
  return model;
}

Model calibrate(Model model, const Folds& folds, const Covariance& c1, const Covariance& c2, const FitOptions& options,
                const std::function<void(double done)>& progress) {
  return calibrate(std::move(model), folds, {c1, c2}, options, progress);
}

}  // namespace cgmca
