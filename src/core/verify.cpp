#include <cgmca/error.hpp>
#include <cgmca/verify.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "certify.hpp"
#include "linalg/linalg.hpp"
#include "whitening/factors.hpp"

namespace cgmca {

Verifier::Verifier(Model model)
    : model_(std::move(model)),
      pairs_({model_.domain(Domain::one).features(), model_.domain(Domain::two).features()}),
      extra_{Summary({model_.domain(Domain::one).features()}), Summary({model_.domain(Domain::two).features()})} {
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    const Matrix& M = model_.domain(domain).mixing;  // throws where it is missing
    range_[i] = linalg::thin_qr(M).Q;
    sum_[i] = pair_sum_[i] = Vector::Zero(M.rows());
    gram_[i] = Matrix::Zero(M.cols(), M.cols());
  }
}

namespace {

// Σ w_j z_j
Vector sum_of(const Matrix& Z, const Vector& weights) {
  return weights.size() == 0 ? Vector(Z.rowwise().sum()) : Vector(Z * weights);
}

// √w_j z_j
Matrix rooted(Matrix Z, const Vector& weights) {
  return weights.size() == 0 ? Z : Matrix(Z * weights.cwiseSqrt().asDiagonal());
}

}  // namespace

Matrix Verifier::add_domain(Domain domain, const MatrixView& X, const Vector& weights) {
  const auto i = slot(domain);
  Matrix Z = apply(model_, domain, X);
  sum_[i] += sum_of(Z, weights);
  linalg::add_gram(gram_[i], rooted(linalg::AtB(range_[i], Z), weights));
  all_samples_[i] += X.cols();
  all_weights_[i] += weights.size() == 0 ? static_cast<double>(X.cols()) : weights.sum();
  return Z;
}

void Verifier::check(const MatrixView& X1, const MatrixView& X2) const {
  if (X1.cols() != X2.cols()) {
    throw UnequalSamples(fmt::format("domain 1 has {} samples and domain 2 has {}; matched pairs need as many of each",
                                     X1.cols(), X2.cols()));
  }
  model_.domain(Domain::one).check_features(Domain::one, X1);
  model_.domain(Domain::two).check_features(Domain::two, X2);
}

void Verifier::add(const MatrixView& X1, const MatrixView& X2) {
  check(X1, X2);
  pairs_.add(X1, X2);
  add_mapped(X1, X2, {});
}

void Verifier::add(const MatrixView& X1, const MatrixView& X2, const VectorView& weights) {
  check(X1, X2);
  pairs_.add(X1, X2, weights);
  std::vector<Index> kept;
  for (Index j = 0; j < weights.size(); ++j) {
    if (weights(j) > 0) kept.push_back(j);
  }
  if (static_cast<Index>(kept.size()) == weights.size()) return add_mapped(X1, X2, weights);
  add_mapped(X1(Eigen::all, kept), X2(Eigen::all, kept), weights(kept));
}

void Verifier::add_mapped(const MatrixView& X1, const MatrixView& X2, const Vector& weights) {
  const Matrix Z1 = add_domain(Domain::one, X1, weights), Z2 = add_domain(Domain::two, X2, weights);
  pair_sum_[0] += sum_of(Z1, weights);
  pair_sum_[1] += sum_of(Z2, weights);
  product_ += rooted(Z1, weights).cwiseProduct(rooted(Z2, weights)).sum();
  squared_distance_ += rooted(Z1 - Z2, weights).squaredNorm();
  samples_ += X1.cols();
}

void Verifier::add_extra(Domain domain, const MatrixView& X) {
  model_.domain(domain).check_features(domain, X);
  extra_[slot(domain)].add(X);
  add_domain(domain, X, {});
}

// (14) with σ(A) of F_1ᵀF_2, where M_i is F_i turned, and σ(B) of the pairs, within the model's ranks and with its
// regularized covariances.
double Verifier::best_objective(double covariance_trace) const {
  DataOptions options;
  options.extra = {&extra_[0], &extra_[1]};
  const Factors plain = factorize(pairs_, options, {true, true});
  std::vector<Regularized> covariances;
  std::vector<Index> ranks;
  for (const std::size_t i : {0U, 1U}) {
    const Regularized& claimed = model_.certificate.constrained[i];
    covariances.push_back({claimed.data, claimed.ridge, all_samples_[i]});
    ranks.push_back(std::min(model_.certificate.ranks[i], plain.domains[i].rank()));
  }
  const Factors factors = regularize(plain, covariances, ranks);
  const Vector singular_B = factors.B().on().thin_svd(factors.B()).s;
  const Vector singular_A =
      linalg::thin_svd(linalg::AtB(model_.domain(Domain::one).mixing, model_.domain(Domain::two).mixing)).s;
  return objective_bound(pairs_.total_weight(), covariance_trace, singular_A, singular_B);
}

Attained Verifier::attained() const {
  if (samples_ < 2) {
    throw TooFewSamples(
        fmt::format("{} matched pair{}; a covariance needs at least 2", samples_, samples_ == 1 ? "" : "s"));
  }
  const double n = pairs_.total_weight();
  Attained result;
  result.samples = samples_;
  result.total_weight = n;
  result.all_samples = all_samples_;
  bool plain = true;
  double own_traces = 0;
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    const DomainMap& map = model_.domain(domain);
    const Regularized& claimed = model_.certificate.constrained[i];
    const double N = all_weights_[i];
    // All in coordinates of the range of M, which holds C = M Mᵀ and every z.
    const Matrix R = linalg::AtB(range_[i], map.mixing);
    const Matrix C = linalg::ABt(R, R);
    const Vector mean = sum_[i] / N, mean_in_range = linalg::AtB(range_[i], mean);
    // cov(z) = (Σ z zᵀ - N mean meanᵀ) / (N-1): no cancellation to speak of, as the maps remove the mean.
    Matrix covariance =
        (Matrix(gram_[i].selfadjointView<Eigen::Upper>()) - N * mean_in_range * mean_in_range.transpose()) / (N - 1);
    if (!claimed.plain()) {
      const Matrix A = linalg::AB(R, map.weights);
      covariance = claimed.data * covariance + claimed.ridge * linalg::ABt(A, A);
    }
    plain = plain && claimed.plain() && all_samples_[i] == samples_;
    own_traces += covariance.trace();
    result.constraint_residuals[i] = (covariance - C).norm() / C.norm();
    result.mean_residuals[i] = mean.norm() / std::sqrt(C.trace());
    result.covariance_trace += (n - 1) / n * C.trace();
  }
  // tr A1 Θ12 A2ᵀ, centred about the means of the pairs.
  const double cross = (product_ - pair_sum_[0].dot(pair_sum_[1]) / n) / (n - 1);
  result.objective = plain ? squared_distance_ / n : (n - 1) / n * (own_traces - 2 * cross);
  result.best_objective = best_objective(result.covariance_trace);
  return result;
}

Attained verify(const Model& model, const MatrixView& X1, const MatrixView& X2) {
  Verifier verifier(model);
  verifier.add(X1, X2);
  return verifier.attained();
}

}  // namespace cgmca
