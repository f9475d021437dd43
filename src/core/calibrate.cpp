#include <Eigen/Cholesky>
#include <cgmca/calibrate.hpp>
#include <cgmca/error.hpp>
#include <cgmca/translate.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "linalg/linalg.hpp"
#include "summary/moments.hpp"
#include "thresholds.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::AtB;

// Sums over held-out samples: e_f V⁻¹ e_fᵀ of each feature's errors, and how many samples.
struct Missed {
  Vector squares;
  double samples = 0;
};

// The errors e of one fold share the error of one fit, so that their covariance is s_f² V,
// V = I + tᵀ G t/(n-1) + 1 1ᵀ/n. The columns of H are the samples times a Q with Q Qᵀ = I, for which Q V_Q⁻¹ Qᵀ = V⁻¹,
// and the last column of Q is 1/√m.
void add_errors(Missed& missed, const Model& training, Domain to, const std::vector<Matrix>& H, double m) {
  const Translation lmmse = translation(training, other(to), to);
  const Matrix t = AB(lmmse.right, H[slot(other(to))]), e = H[slot(to)] - AB(lmmse.left, t);
  const double n = training.total_weight;
  Matrix V = AtB(t, AB(lmmse.errors.G, t)) / (n - 1);
  V.diagonal().array() += 1;
  V.bottomRightCorner(1, 1).array() += m / n;
  const Eigen::LLT<Matrix> factor(V);  // V >= I
  const Matrix scaled = factor.matrixL().solve(Matrix(e.transpose()));
  missed.squares += scaled.colwise().squaredNorm().transpose();
  missed.samples += m;
}

void check(const Model& model, const Folds& folds) {
  const double weight = folds.total_weight();
  bool same = folds.domains() == 2 && folds.samples() == model.samples &&
              std::abs(weight - model.total_weight) <= thresholds::kSameWeight * weight;
  for (const Domain domain : kDomains) same = same && folds.dimension(domain) == model.domain(domain).features();
  if (!same) throw InvalidInput("the folds do not hold the samples that the model was fitted to");
  if (folds.samples() < 2 * folds.options().folds) {
    throw TooFewSamples(fmt::format("{} matched samples for {} folds; each fold needs at least 2", folds.samples(),
                                    folds.options().folds));
  }
}

Model fit_to_others(const Summary& training, const Covariance& c1, const Covariance& c2, const FitOptions& options) {
  try {
    return fit(training, c1, c2, options);
  } catch (const Infeasible& problem) {
    throw InvalidInput(fmt::format("calibration fits to {} of the matched samples at a time, and there: {}",
                                   training.samples(), problem.what()));
  }
}

}  // namespace

Model calibrate(Model model, const Folds& folds, const Covariance& c1, const Covariance& c2, const FitOptions& options,
                const std::function<void(double done)>& progress) {
  check(model, folds);
  const FoldOptions& dealt = folds.options();
  std::array<Missed, 2> missed;
  for (const Domain domain : kDomains) {
    missed[slot(domain)].squares = Vector::Zero(model.domain(domain).features());
  }
  for (Index repeat = 0; repeat < folds.repeats(); ++repeat) {
    for (Index fold = 0; fold < dealt.folds; ++fold) {
      const Model training = fit_to_others(folds.training(repeat, fold), c1, c2, options);
      const Summary& part = folds.held_out(repeat, fold);
      const std::vector<Matrix> H =
          roots_about({training.domain(Domain::one).mean, training.domain(Domain::two).mean}, part);
      for (const Domain to : kDomains) {
        add_errors(missed[slot(to)], training, to, H, part.total_weight());
      }
      if (progress) {
        progress(static_cast<double>(repeat * dealt.folds + fold + 1) /
                 static_cast<double>(folds.repeats() * dealt.folds));
      }
    }
  }
  for (const Domain to : kDomains) {
    const Missed& errors = missed[slot(to)];
    model.domains[slot(to)]->held_out_error = (errors.squares / errors.samples).cwiseSqrt();  // (30)
  }
  model.calibration_folds = dealt.folds;
  return model;
}

}  // namespace cgmca
