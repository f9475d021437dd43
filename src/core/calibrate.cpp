#include <cgmca/calibrate.hpp>
#include <cgmca/error.hpp>
#include <cgmca/translate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "linalg/linalg.hpp"
#include "summary/moments.hpp"

namespace cgmca {
namespace {

using linalg::AB;

// Held-out samples about a training set's means: for every linear f, Σ_j ‖f(x_1j, x_2j)‖² = ‖f(H_1, H_2)‖_F².
std::array<Matrix, 2> held_out_roots(const Summary& part, const Model& training) {
  const Moments moments = factored_moments(part);
  const double n = static_cast<double>(part.samples());
  const Index most = std::max(moments.S[0].cols(), moments.S[1].cols());
  std::array<Matrix, 2> H;
  for (const Domain domain : kDomains) {
    const auto i = slot(domain);
    const Matrix S = linalg::download(moments.S[i]);
    H[i] = Matrix::Zero(S.rows(), most + 1);
    H[i].leftCols(S.cols()) = std::sqrt(n - 1) * S;
    H[i].col(most) = std::sqrt(n) * (part.mean(domain) - training.domain(domain).mean);
  }
  return H;
}

// Sums over held-out samples: of the squared error of each feature, and of 1 + h.
struct Missed {
  Vector squares;
  double spread = 0;
};

void add_errors(Missed& missed, const Model& training, Domain to, const std::array<Matrix, 2>& H, double count) {
  const Translation lmmse = translation(training, other(to), to);
  const Matrix t = AB(lmmse.right, H[slot(other(to))]);
  const double n = static_cast<double>(training.samples);
  missed.squares += (H[slot(to)] - AB(lmmse.left, t)).rowwise().squaredNorm();
  missed.spread += count * (1 + 1 / n) + t.cwiseProduct(AB(lmmse.errors.G, t)).sum() / (n - 1);
}

void check(const Model& model, const Folds& folds) {
  bool same = folds.domains() == 2 && folds.samples() == model.samples;
  for (const Domain domain : kDomains) same = same && folds.dimension(domain) == model.domain(domain).features();
  if (!same) throw InvalidInput("the folds do not hold the samples that the model was fitted to");
  if (folds.samples() < 2 * folds.options().folds) {
    throw TooFewSamples(fmt::format("{} for {} folds; each fold needs at least 2",
                                    fmt::format("{} matched samples", folds.samples()), folds.options().folds));
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
  for (Index repeat = 0; repeat < dealt.repeats; ++repeat) {
    for (Index fold = 0; fold < dealt.folds; ++fold) {
      const Model training = fit_to_others(folds.training(repeat, fold), c1, c2, options);
      const Summary& part = folds.held_out(repeat, fold);
      const std::array<Matrix, 2> H = held_out_roots(part, training);
      for (const Domain to : kDomains) {
        add_errors(missed[slot(to)], training, to, H, static_cast<double>(part.samples()));
      }
      if (progress) {
        progress(static_cast<double>(repeat * dealt.folds + fold + 1) /
                 static_cast<double>(dealt.repeats * dealt.folds));
      }
    }
  }
  for (const Domain to : kDomains) {
    const Missed& errors = missed[slot(to)];
    model.domains[slot(to)]->held_out_error = (errors.squares / errors.spread).cwiseSqrt();  // (30)
  }
  model.calibration_folds = dealt.folds;
  return model;
}

}  // namespace cgmca
