#include <cgmca/calibrate.hpp>
#include <cgmca/error.hpp>
#include <cgmca/verify.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/thresholds.hpp"
#include "core/fit/assemble.hpp"
#include "core/fit/certify.hpp"
#include "core/fit/multi.hpp"
#include "core/fit/whitened_data.hpp"
#include "core/linalg/linalg.hpp"
#include "core/use/verify_claims.hpp"
#include "core/use/verify_nuisance.hpp"

namespace cgmca {

namespace {

std::vector<DomainInfo> features_of(const Model& model) {
  std::vector<DomainInfo> result;
  for (const Domain i : all_domains(model.count()))
    result.emplace_back(model.domain(i).features());  // throws if absent
  if (model.nuisance) result.push_back(DomainInfo::of_nuisance(model.nuisance->values()));
  return result;
}

}  // namespace

Verifier::Verifier(Model model)
    : model_(model.fitted()),
      matched_(features_of(model_)),
      mapped_(model_.domains.size()),
      products_(Matrix::Zero(model_.count(), model_.count())) {
  for (const Domain i : all_domains(model_.count())) {
    const Matrix& M = model_.domain(i).mixing;
    mapped_[i].range = linalg::thin_qr(M).Q;
    mapped_[i].sum = mapped_[i].matched_sum = Vector::Zero(M.rows());
    mapped_[i].gram = Matrix::Zero(M.cols(), M.cols());
    extra_.emplace_back(std::vector<DomainInfo>{model_.domain(i).features()});
  }
  if (model_.calibration_folds < 2) return;
  const bool known = model_.calibration_repeats > 0, products = model_.certificate.route.starts_with("gram: ");
  folds_.emplace(features_of(model_), FoldOptions{.folds = model_.calibration_folds,
                                                  .repeats = known ? model_.calibration_repeats : 1,
                                                  .seed = known ? model_.calibration_seed : 1,
                                                  .accumulate = products ? Accumulate::gram : Accumulate::automatic});
}

namespace {

// Σ w_s z_s
Vector sum_of(const Matrix& Z, const Vector& weights) {
  return weights.size() == 0 ? Vector(Z.rowwise().sum()) : Vector(Z * weights);
}

// √w_s z_s
Matrix rooted(Matrix Z, const Vector& weights) {
  return weights.size() == 0 ? Z : Matrix(Z * weights.cwiseSqrt().asDiagonal());
}

}  // namespace

Matrix Verifier::add_domain(Domain domain, const MatrixView& X, const Vector& weights) {
  Mapped& mapped = mapped_[domain];
  Matrix Z = apply(model_, domain, X);
  mapped.sum += sum_of(Z, weights);
  linalg::add_gram(mapped.gram, rooted(linalg::AtB(mapped.range, Z), weights));
  mapped.samples += X.cols();
  mapped.weight += weights.size() == 0 ? static_cast<double>(X.cols()) : weights.sum();
  return Z;
}

void Verifier::check(const MatchedSamples& X) const {
  if (std::ssize(X) != matched_.domains()) {
    throw WrongDimension(fmt::format("samples of {} domains; the model has {}{}", X.size(), mapped_.size(),
                                     model_.nuisance ? " and a nuisance, whose values come last" : ""));
  }
  for (std::size_t i = 0; i < X.size(); ++i) {
    if (X[i].cols() != X[0].cols()) {
      throw UnequalSamples(fmt::format("domain 1 has {} samples and domain {} has {}; matched {} need as many of each",
                                       X[0].cols(), i + 1, X[i].cols(), X.size() == 2 ? "pairs" : "samples"));
    }
  }
  for (const Domain i : all_domains(model_.count())) model_.domain(i).check_features(i, X[i].rows());
}

void Verifier::add(const MatchedSamples& X) {
  check(X);
  matched_.add(X);
  if (folds_) folds_->add(X);
  add_mapped(X, {});
}

void Verifier::add(const MatchedSamples& X, const VectorView& weights) {
  check(X);
  matched_.add(X, weights);
  if (folds_) folds_->add(X, weights);
  std::vector<Index> kept;
  for (Index j = 0; j < weights.size(); ++j) {
    if (weights(j) > 0) kept.push_back(j);
  }
  if (std::ssize(kept) == weights.size()) return add_mapped(X, weights);
  std::vector<Matrix> counted;
  for (const SampleView& domain : X) counted.emplace_back((*domain.doubles())(Eigen::all, kept));
  add_mapped({counted.begin(), counted.end()}, weights(kept));
}

void Verifier::add_mapped(const MatchedSamples& X, const Vector& weights) {
  if (model_.nuisance) {  // the maps are of what it leaves, which is known at the end
    samples_ += X[0].cols();
    return;
  }
  std::vector<Matrix> Z;
  for (const Domain i : all_domains(model_.count())) {
    const Matrix mapped = add_domain(i, *X[i].doubles(), weights);
    mapped_[i].matched_sum += sum_of(mapped, weights);
    Z.push_back(rooted(mapped, weights));
  }
  for (Index i = 0; i < std::ssize(Z); ++i) {
    for (Index j = i + 1; j < std::ssize(Z); ++j) {
      products_(i, j) += Z[i].cwiseProduct(Z[j]).sum();
      const double weight = model_.certificate.edge_weights(i, j);
      if (weight > 0) squared_distance_ += weight * (Z[i] - Z[j]).squaredNorm();
    }
  }
  samples_ += X[0].cols();
}

void Verifier::add_extra(Domain domain, const MatrixView& X) {
  model_.domain(domain).check_features(domain, X.rows());
  if (model_.nuisance) throw InvalidInput("extra samples come without the values of the nuisance");
  extra_[domain].add(X);
  add_domain(domain, X, {});
}

// Computes the best possible objective within the model's ranks and with its regularized covariances. For two domains it
// is (14) with σ(A) of F_1ᵀF_2, where M_i is F_i rotated, and σ(B) of the pairs. For more it is the bound (38).
void Verifier::bound_objective(Verification& result) const {
  DataOptions options;
  options.rank_tol = model_.settings.rank_tol;
  options.scale = model_.settings.scale;
  for (const Summary& extra : extra_) options.extra.push_back(&extra);
  const WhitenedData plain = whiten_domains(matched_, options, std::vector<bool>(extra_.size(), true));
  std::vector<Regularized> covariances;
  std::vector<Index> ranks;
  std::vector<Matrix> M, T;
  for (const Domain i : all_domains(model_.count())) {
    const Regularized& claimed = model_.certificate.constrained[i];
    covariances.push_back({claimed.data, claimed.ridge, mapped_[i].samples});
    ranks.push_back(std::min(model_.certificate.ranks[i], plain[i].rank()));
    M.push_back(model_.domain(i).mixing);
    T.push_back(model_.domain(i).scaled_weights());
  }
  const WhitenedData whitened = regularize(plain, covariances, ranks);
  const Matrix& edge_weights = model_.certificate.edge_weights;
  const double n = matched_.total_weight();
  if (extra_.size() == 2) {
    const Vector singular_B = whitened.B().on().thin_svd(whitened.B()).s;
    const Vector singular_A = linalg::thin_svd(linalg::AtB(M[0], M[1])).s;
    result.best_objective = objective_bound(n, result.covariance_trace, singular_A, singular_B, edge_weights(0, 1));
    result.proof = name(multi::Bound::closed_form);
  } else {
    const multi::OptimalityProof proof = multi::prove_maps(whitened, std::move(M), T, edge_weights);
    result.best_objective = result.covariance_trace - (n - 1) / n * proof.bound;
    result.proof = name(proof.how);
  }
  // A difference of the size of rounding counts as 0, because f may be 0 if domains have nothing in common.
  const double f = result.covariance_trace - result.objective, missing = result.objective - result.best_objective;
  const bool none = missing <= thresholds::kObjectiveRounding * result.covariance_trace;
  result.gap = none ? 0 : missing / std::abs(f);
  result.certified = result.gap <= thresholds::kProven;
  result.claims = compare_claims(model_, plain, whitened, result);
  check_held_out(result, claim_noise(model_, plain));
}

// Folds that were merged cannot be dealt again. Other folds measure errors that differ a little: by less than threefold.
void Verifier::check_held_out(Verification& result, double noise) const {
  if (!folds_ || samples_ != model_.samples) return;
  constexpr double other_folds = 3, least = 1e-3;  // in units of a feature, below which an error may be rounding
  auto [covariances, options] = asked_of(model_);
  for (const Summary& extra : extra_) options.extra.push_back(extra.samples() > 0 ? &extra : nullptr);
  std::optional<Model> again;
  try {
    again = calibrate(model_, *folds_, covariances, options);
  } catch (const InvalidInput&) {  // no such errors can have been measured
  }
  for (const Domain domain : all_domains(model_.count())) {
    const Vector& claimed = model_.domain(domain).held_out_error;
    const Vector found = again ? again->domain(domain).held_out_error : Vector();
    double difference = std::numeric_limits<double>::infinity();
    if (claimed.size() == found.size()) {
      const Vector sizes = found + least * model_.domain(domain).variance.cwiseMax(0).cwiseSqrt();
      const Vector apart = (claimed - found).cwiseAbs();
      difference = (sizes.array() > 0).select(apart.cwiseQuotient(sizes), apart).maxCoeff() / noise;
      const bool near = (claimed.array() >= 0).all() && (claimed.array() <= other_folds * sizes.array()).all() &&
                        (found.array() <= other_folds * (claimed + least * sizes).array()).all();
      if (model_.calibration_repeats == 0 && near) difference = 0;
    }
    result.claims.push_back({fmt::format("held-out errors {}", number(domain)), difference});
  }
}

Verification Verifier::verification() const {
  if (samples_ < 2) {
    throw TooFewSamples(fmt::format("{} matched {}{}; a covariance needs at least 2", samples_,
                                    extra_.size() == 2 ? "pair" : "sample", samples_ == 1 ? "" : "s"));
  }
  if (model_.nuisance) {
    Verification result = verify_without_nuisance(model_, matched_);
    check_held_out(result, 1);
    return result;
  }
  const double n = matched_.total_weight();
  const Matrix& edge_weights = model_.certificate.edge_weights;
  Verification result;
  result.samples = samples_;
  result.total_weight = n;
  bool plain = true;
  double own_traces = 0;
  for (const Domain i : all_domains(model_.count())) {
    const Mapped& mapped = mapped_[i];
    const DomainMap& map = model_.domain(i);
    const Regularized& claimed = model_.certificate.constrained[i];
    const double N = mapped.weight, degree = edge_weights.row(index(i)).sum();
    // All in coordinates of the range of M, which holds C = M Mᵀ and every z.
    const Matrix R = linalg::AtB(mapped.range, map.mixing);
    const Matrix C = linalg::ABt(R, R);
    const Vector mean = mapped.sum / N, mean_in_range = linalg::AtB(mapped.range, mean);
    // cov(z) = (Σ z zᵀ - N mean meanᵀ) / (N-1): no cancellation to speak of, as the maps remove the mean.
    Matrix covariance =
        (Matrix(mapped.gram.selfadjointView<Eigen::Upper>()) - N * mean_in_range * mean_in_range.transpose()) / (N - 1);
    if (!claimed.plain()) {
      const Matrix A = linalg::AB(R, map.scaled_weights());
      covariance = claimed.data * covariance + claimed.ridge * linalg::ABt(A, A);
    }
    plain = plain && claimed.plain() && mapped.samples == samples_;
    own_traces += degree * covariance.trace();
    result.all_samples.push_back(mapped.samples);
    result.constraint_residuals.push_back((covariance - C).norm() / C.norm());
    result.mean_residuals.push_back(mean.norm() / std::sqrt(C.trace()));
    result.covariance_trace += degree * (n - 1) / n * C.trace();
  }
  result.objective = plain ? squared_distance_ / n : (n - 1) / n * (own_traces - 2 * cross_trace());
  bound_objective(result);
  return result;
}

// Σ_{i<j} w_ij tr A_i Θ_ij A_jᵀ, centred about the means of the matched samples.
double Verifier::cross_trace() const {
  const double n = matched_.total_weight();
  double sum = 0;
  for (Index i = 0; i < model_.count(); ++i) {
    for (Index j = i + 1; j < model_.count(); ++j) {
      const Vector &one = mapped_[i].matched_sum, &two = mapped_[j].matched_sum;
      sum += model_.certificate.edge_weights(i, j) * ((products_(i, j) - one.dot(two) / n) / (n - 1));
    }
  }
  return sum;
}

Verification verify(const Model& model, const MatchedSamples& X) {
  Verifier verifier(model);
  verifier.add(X);
  return verifier.verification();
}

}  // namespace cgmca
