#include "held_out.hpp"

#include <cgmca/classify.hpp>
#include <cgmca/translate.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/linalg/linalg.hpp"
#include "core/summary/moments.hpp"

namespace cgmca {

using linalg::AB;
using linalg::AtB;

Factors reduce(Factors factors) {
  for (WhitenedDomain& domain : factors.domains) {
    const SpectrumWhitening& full = *domain.spectrum();
    const Index r = full.rank();
    domain.variance = full.s.cwiseAbs2();
    domain.mean = Vector::Zero(r);
    domain.whitening = std::make_shared<SpectrumWhitening>(full.U.on().identity(r, r), full.s, full.scale);
  }
  factors.data.reset();
  return factors;
}

Directions directions_of(const Factors& factors) {
  Directions result;
  for (const std::size_t i : {0U, 1U}) {
    result.U[i] = linalg::download(factors.domains[i].spectrum()->U);
    result.mean[i] = factors.domains[i].mean;
  }
  return result;
}

HeldOut hold_out(const Summary& part, const Directions& training) {
  const Moments moments = factored_moments(part);
  const double n = static_cast<double>(part.samples());
  HeldOut held;
  held.samples = n;
  const Index m = std::max(moments.S[0].cols(), moments.S[1].cols());
  for (const Domain domain : kDomains) {
    const auto i = slot(domain);
    const Matrix S = linalg::download(moments.S[i]);
    const Matrix& U = training.U[i];
    const Vector step = part.mean(domain) - training.mean[i];
    held.H[i] = Matrix::Zero(U.cols(), m + 1);
    held.H[i].leftCols(S.cols()) = std::sqrt(n - 1) * AtB(U, S);
    held.H[i].col(m) = std::sqrt(n) * AtB(U, step);
    held.total[i] = (n - 1) * S.squaredNorm() + n * step.squaredNorm();
    held.outside[i] = std::max(0.0, held.total[i] - held.H[i].squaredNorm());
  }
  return held;
}

void add_labels(HeldOut& held, const TransferLabels& labels, const Directions& training, const Folds& folds,
                Index repeat, Index fold) {
  const auto coordinates = [&](Domain domain, const Matrix& X) {
    return AtB(training.U[slot(domain)], X.colwise() - training.mean[slot(domain)]);
  };
  std::vector<Index> mine;
  for (Index j = 0; j < folds.samples(); ++j) {
    if (folds.fold_of(repeat, j) != fold) continue;
    mine.push_back(j);
    held.query_labels.push_back(labels.query_labels[static_cast<std::size_t>(j)]);
  }
  held.labelled = coordinates(Domain::one, *labels.samples);
  held.queries = coordinates(Domain::two, (*labels.queries)(Eigen::all, mine));
}

Errors measure(const Model& model, const HeldOut& held, const TransferLabels& labels) {
  const DomainMap& one = model.domain(Domain::one);
  const DomainMap& two = model.domain(Domain::two);
  const auto translation_error = [&](Domain to) {
    const auto i = slot(to);
    const Translation lmmse = translation(model, other(to), to);
    const Matrix missed = held.H[i] - AB(lmmse.left, AB(lmmse.right, held.H[1 - i]));
    return (held.outside[i] + missed.squaredNorm()) / held.total[i];
  };
  const double spread = one.mixing.squaredNorm() + two.mixing.squaredNorm();
  Errors errors{};
  errors[0] = (linalg::ABC(one.mixing, one.weights, held.H[0]) - linalg::ABC(two.mixing, two.weights, held.H[1]))
                  .squaredNorm() /
              held.samples / spread;
  errors[1] = translation_error(Domain::one);
  errors[2] = translation_error(Domain::two);
  errors[3] = std::numeric_limits<double>::quiet_NaN();
  if (labels.samples != nullptr) {
    const std::vector<int> found =
        nearest_neighbour(linalg::ABC(one.mixing, one.weights, held.labelled), labels.sample_labels,
                          linalg::ABC(two.mixing, two.weights, held.queries));
    errors[3] = 1 - accuracy(found, held.query_labels);
  }
  return errors;
}

}  // namespace cgmca
