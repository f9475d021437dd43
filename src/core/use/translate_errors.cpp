#include "core/use/translate_errors.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/distributions.hpp"
#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"
#include "core/linalg/one_sample.hpp"
#include "core/use/translate_scores.hpp"

namespace cgmca {

using linalg::AB;

namespace {

// The degrees of freedom that the choice of c directions among all r of the sources costs, in addition to those of c given
// ones. A regression of rank c on a target of rank r_1 has c (r_1 + r - c)/r_1 for each feature.                   (66)
double chosen_degrees(const Model& model, const std::vector<Domain>& sources, Domain to, Index samples, Index c) {
  Index r = 0;
  for (const Domain source : sources) r += model.certificate.ranks[source];
  r = std::min(r, samples - 1);
  const Index target = std::max<Index>(1, model.certificate.ranks[to]);
  return static_cast<double>(std::min(c, target) * std::max<Index>(0, r - c)) / static_cast<double>(target);
}

// s_f² = e_f² (n-1)/ν. It is not given if the choice of directions may enlarge the variance of an error by more than
// kChosenDirections.                                                                                          (29) (66)
void set_scale(ErrorBars& bars, const Vector& squared_error, double chosen) {
  const double left = bars.degrees - chosen;
  if (!(left > 0.5)) return;  // of a plain fit both are whole numbers
  const double larger = bars.degrees / left * (1 + chosen / left);
  if (!(larger <= thresholds::kChosenDirections) || squared_error.hasNaN()) return;
  bars.scale = (squared_error.cwiseMax(0) * ((bars.total_weight - 1) / bars.degrees)).cwiseSqrt();
}

// The number of samples that relate these domains: those of the fit that had them all or, if fewer, those with which a
// domain was added.
struct Related {
  Index samples;
  double total_weight, mean_weight;  // n - q with a nuisance of rank q, and n
};
Related related(const Model& model, std::vector<Domain> domains, Domain to) {
  domains.push_back(to);
  std::vector<Domain> fitted;
  for (const Domain domain : domains) {
    if (model.addition(domain) == nullptr) fitted.push_back(domain);
  }
  const Pattern together = model.together(fitted);
  const double rank = model.total_weight - model.free_weight();
  Related result{together.samples, together.total_weight - rank, together.total_weight};
  for (const Domain domain : domains) {
    const Addition* addition = model.addition(domain);
    if (addition == nullptr || addition->total_weight >= result.total_weight) continue;
    result = {addition->samples, addition->total_weight, addition->total_weight};
  }
  return result;
}

// Held-out errors are those of translations from all other domains of the fit together.
bool calibrated_for(const Model& model, const std::vector<Domain>& from, Domain to) {
  const auto added = [&](Domain domain) { return model.addition(domain) != nullptr; };
  return model.domain(to).held_out_error.size() > 0 && !added(to) && std::none_of(from.begin(), from.end(), added) &&
         std::ssize(from) + 1 == model.fitted_count();
}

// Samples, and the scale and degrees of freedom if the model was calibrated for this.
ErrorBars bars_of(const Model& model, const std::vector<Domain>& from, Domain to) {
  const auto [samples, n, mean_weight] = related(model, from, to);
  ErrorBars bars;
  bars.samples = samples;
  bars.total_weight = n;
  bars.mean_weight = mean_weight;
  bars.calibrated = calibrated_for(model, from, to);
  if (!bars.calibrated) return bars;
  bars.scale = model.domain(to).held_out_error;
  bars.degrees = n - 1;
  return bars;
}

// √e², NaN where the variance is not known.
Vector rooted(const Vector& squared) { return (squared.array() < 0).select(0, squared).cwiseSqrt(); }

}  // namespace

// With G = T Θ Tᵀ = (I - β T Tᵀ)/α of Θ̃ = α Θ + β I:                              (29)
//   e_f² = Θ_ff - 2 ‖w_f‖² + w_f G w_fᵀ,   ν = n - 1 - tr(2 G - G²),   s_f² = e_f² (n-1)/ν
void set_errors(Translation& translation, const Model& model, Domain to) {
  const Domain from = translation.from.front();
  const Matrix& w = translation.left;
  const Matrix G = sample_covariance(model, {from}).topLeftCorner(w.cols(), w.cols());
  const Vector variance = translation.identity ? model.difference_variance : model.sample_variance(to);
  const Vector squared = variance - 2 * w.rowwise().squaredNorm() + AB(w, G).cwiseProduct(w).rowwise().sum();
  translation.standard_error = rooted(squared);
  translation.errors = bars_of(model, {from}, to);
  ErrorBars& bars = translation.errors;
  bars.G = G;
  if (bars.calibrated) return;
  bars.degrees = bars.total_weight - 1 - 2 * G.trace() + G.squaredNorm();
  set_scale(bars, squared, chosen_degrees(model, {from}, to, bars.samples, w.cols()));
}

// With G = Cov(t_J) among the n matched samples, which is K but for ridges,                                        (42)
//   e_f² = Θ_ff - 2 w_f·Cov(x_f, t_J) + w_f G w_fᵀ,   ν = n - 1 - tr(2 K⁺G - (K⁺G)²),   h = 1/n + tᵀ K⁺GK⁺ t/(n-1)
void set_errors(Translation& translation, const Model& model, Domain to, const Matrix& cross, const Matrix& K) {
  const std::vector<Domain>& J = translation.from;
  const Matrix& w = translation.left;
  const Matrix G = sample_covariance(model, J);
  const Matrix KG = divided_by(K, G);
  const Vector squared =
      model.sample_variance(to) - 2 * w.cwiseProduct(cross).rowwise().sum() + AB(w, G).cwiseProduct(w).rowwise().sum();
  translation.standard_error = rooted(squared);
  translation.errors = bars_of(model, J, to);
  ErrorBars& bars = translation.errors;
  bars.G = divided_by(K, KG.transpose());
  if (bars.calibrated) return;
  bars.degrees = bars.total_weight - 1 - 2 * KG.trace() + KG.cwiseProduct(KG.transpose()).sum();
  set_scale(bars, squared, chosen_degrees(model, J, to, bars.samples, w.cols()));
}

void Translation::check_errors() const {
  if (errors.G.size() == 0) throw InvalidInput("only the method lmmse has standard errors and intervals");
  if (errors.scale.size() == 0) {
    throw InvalidInput(fmt::format(
        "no error bars: {} matched samples are too few for the {} directions used and the features that they were "
        "chosen "
        "from, so that errors by the formula would be too small. Measure them with the option calibrate when the model "
        "is fitted, prescribe a covariance of lower rank, or limit max_rank",
        errors.samples, right.rows()));
  }
}

Vector Translation::spread_of(const MatrixView& X) const {
  check_errors();
  check_source(X);
  const double n = errors.total_weight;
  const Matrix t = AB(right, X.colwise() - mean_from), Gt = AB(errors.G, t);
  return (1 + 1 / errors.mean_weight + t.cwiseProduct(Gt).colwise().sum().transpose().array() / (n - 1)).sqrt();
}

Matrix Translation::standard_errors(const MatrixView& X) const { return errors.scale * spread_of(X).transpose(); }

namespace {

// e = s √(1 + 1/n + tᵀ G t/(n-1)) of one sample.                                                            (29) (42)
template <class Scalar>
void errors_into(const Translation& map, const Scalar* x, Scalar* e) {
  const ErrorBars& errors = map.errors;
  const Eigen::Map<Vector> t = linalg::product_with(map.right, map.mean_from, x);
  Eigen::Map<Vector> Gt = linalg::scratch(2, t.size());
  Gt.noalias() = errors.G * t;
  const double n = errors.total_weight, spread = std::sqrt(1 + 1 / errors.mean_weight + t.dot(Gt) / (n - 1));
  Eigen::Map<Eigen::Vector<Scalar, Eigen::Dynamic>>(e, errors.scale.size()) =
      (spread * errors.scale).template cast<Scalar>();
}

}  // namespace

void Translation::standard_errors_into(const VectorView& x, Eigen::Ref<Vector> e) const {
  check_errors();
  check_one(x.size(), e.size());
  errors_into(*this, x.data(), e.data());
}

void Translation::standard_errors_into(const Eigen::Ref<const Eigen::VectorXf>& x,
                                       Eigen::Ref<Eigen::VectorXf> e) const {
  check_errors();
  check_one(x.size(), e.size());
  errors_into(*this, x.data(), e.data());
}

Matrix Translation::half_widths(const MatrixView& X, double probability) const {
  if (!(probability > 0 && probability < 1)) {
    throw InvalidInput(fmt::format("an interval of probability {}; give one between 0 and 1", probability));
  }
  const Vector spread = spread_of(X);
  return student_quantile((1 + probability) / 2, errors.degrees) * errors.scale * spread.transpose();
}

}  // namespace cgmca
