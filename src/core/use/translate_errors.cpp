#include "core/use/translate_errors.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <cmath>

#include "core/base/distributions.hpp"
#include "core/linalg/linalg.hpp"
#include "core/linalg/one_sample.hpp"
#include "core/use/translate_scores.hpp"

namespace cgmca {

using linalg::AB;

// With G = T Θ Tᵀ = (I - β T Tᵀ)/α of Θ̃ = α Θ + β I:                              (29)
//   e_f² = Θ_ff - 2 ‖w_f‖² + w_f G w_fᵀ,   ν = n - 1 - tr(2 G - G²),   s_f² = e_f² (n-1)/ν
ErrorBars error_bars(const Model& model, Domain from, Domain to, const Matrix& w) {
  const DomainMap& target = model.domain(to);
  const Regularized& around = model.certificate.constrained[slot(to)];
  const double n = model.total_weight;
  ErrorBars bars;
  bars.samples = model.samples;
  bars.total_weight = n;
  bars.G = sample_covariance(model, {from}).topLeftCorner(w.cols(), w.cols());
  if (target.held_out_error.size() > 0) {
    bars.scale = target.held_out_error;
    bars.degrees = n - 1;
    bars.calibrated = true;
    return bars;
  }
  bars.degrees = n - 1 - 2 * bars.G.trace() + bars.G.squaredNorm();
  if (!(bars.degrees > 0.5)) return bars;  // of a plain fit it is a whole number
  const Vector variance = (target.variance.array() - around.ridge) / around.data;
  const Vector missed = variance - 2 * w.rowwise().squaredNorm() + AB(w, bars.G).cwiseProduct(w).rowwise().sum();
  bars.scale = (missed.cwiseMax(0) * ((n - 1) / bars.degrees)).cwiseSqrt();
  return bars;
}

// With G = Cov(t_J) among the n matched samples, which is K but for ridges,                                        (42)
//   e_f² = Θ_ff - 2 w_f·Cov(x_f, t_J) + w_f G w_fᵀ,   ν = n - 1 - tr(2 K⁺G - (K⁺G)²),   h = 1/n + tᵀ K⁺GK⁺ t/(n-1)
ErrorBars error_bars(const Model& model, const std::vector<Domain>& J, Domain to, const Matrix& w, const Matrix& cross,
                     const Matrix& K) {
  const DomainMap& target = model.domain(to);
  const double n = model.total_weight;
  const Matrix G = sample_covariance(model, J);
  const Matrix KG = divided_by(K, G);
  ErrorBars bars;
  bars.samples = model.samples;
  bars.total_weight = n;
  bars.G = divided_by(K, KG.transpose());
  if (target.held_out_error.size() > 0 && static_cast<Index>(J.size()) + 1 == model.count()) {
    bars.scale = target.held_out_error;
    bars.degrees = n - 1;
    bars.calibrated = true;
    return bars;
  }
  bars.degrees = n - 1 - 2 * KG.trace() + KG.cwiseProduct(KG.transpose()).sum();
  if (!(bars.degrees > 0.5)) return bars;
  const Regularized& around = model.certificate.constrained[slot(to)];
  const Vector variance = (target.variance.array() - around.ridge) / around.data;
  const Vector missed = variance - 2 * w.cwiseProduct(cross).rowwise().sum() + AB(w, G).cwiseProduct(w).rowwise().sum();
  bars.scale = (missed.cwiseMax(0) * ((n - 1) / bars.degrees)).cwiseSqrt();
  return bars;
}

void Translation::check_errors() const {
  if (errors.samples == 0) throw InvalidInput("only the method lmmse has standard errors and intervals");
  if (errors.scale.size() == 0) {
    throw InvalidInput(fmt::format(
        "no error bars: {} matched samples are too few for the {} directions used. Prescribe a covariance of "
        "lower rank, limit max_rank, or calibrate the model when it is fitted",
        errors.samples, right.rows()));
  }
}

Vector Translation::spread_of(const MatrixView& X) const {
  check_errors();
  check_source(X);
  const double n = errors.total_weight;
  const Matrix t = AB(right, X.colwise() - mean_from), Gt = AB(errors.G, t);
  return (1 + 1 / n + t.cwiseProduct(Gt).colwise().sum().transpose().array() / (n - 1)).sqrt();
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
  const double n = errors.total_weight, spread = std::sqrt(1 + 1 / n + t.dot(Gt) / (n - 1));
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
