#include <cgmca/error.hpp>
#include <cgmca/verify.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "linalg.hpp"

namespace cgmca {
namespace {

constexpr std::array kDomains = {Domain::one, Domain::two};

}  // namespace

Verifier::Verifier(Model model) : model_(std::move(model)) {
  const Index k = model_.common_dimension;
  for (Domain domain : kDomains) {
    model_.domain(domain);  // throws where it is missing
    sum_[slot(domain)] = Vector::Zero(k);
    gram_[slot(domain)] = Matrix::Zero(k, k);
  }
}

void Verifier::add(const MatrixView& X1, const MatrixView& X2) {
  if (X1.cols() != X2.cols()) {
    throw UnequalSamples(fmt::format("domain 1 has {} samples and domain 2 has {}; matched pairs need as many of each",
                                     X1.cols(), X2.cols()));
  }
  const std::array<Matrix, 2> Z = {apply(model_, Domain::one, X1), apply(model_, Domain::two, X2)};
  for (auto i : {0U, 1U}) {
    sum_[i] += Z[i].rowwise().sum();
    linalg::add_gram(gram_[i], Z[i]);
  }
  squared_distance_ += (Z[0] - Z[1]).squaredNorm();
  samples_ += X1.cols();
}

Attained Verifier::attained() const {
  if (samples_ < 2) {
    throw TooFewSamples(
        fmt::format("{} matched pair{}; a covariance needs at least 2", samples_, samples_ == 1 ? "" : "s"));
  }
  const double n = static_cast<double>(samples_);
  Attained result;
  result.samples = samples_;
  result.objective = squared_distance_ / n;
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    const Matrix& M = model_.domain(domain).mixing;
    const Matrix C = linalg::ABt(M, M);
    const Vector mean = sum_[i] / n;
    // cov(z) = (Σ z zᵀ - n mean meanᵀ) / (n-1): no cancellation to speak of, as the maps remove the mean.
    const Matrix covariance =
        (Matrix(gram_[i].selfadjointView<Eigen::Upper>()) - n * mean * mean.transpose()) / (n - 1);
    result.constraint_residuals[i] = (covariance - C).norm() / C.norm();
    result.mean_residuals[i] = mean.norm() / std::sqrt(C.trace());
    result.covariance_trace += (n - 1) / n * C.trace();
  }
  return result;
}

Attained verify(const Model& model, const MatrixView& X1, const MatrixView& X2) {
  Verifier verifier(model);
  verifier.add(X1, X2);
  return verifier.attained();
}

}  // namespace cgmca
