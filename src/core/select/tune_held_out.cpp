#include "core/select/tune_held_out.hpp"

#include <cgmca/classify.hpp>
#include <cgmca/error.hpp>
#include <cgmca/translate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"
#include "core/summary/moments.hpp"

namespace cgmca {

using linalg::AB;
using linalg::AtB;

WhitenedData reduce(WhitenedData whitened) {
  for (WhitenedDomain& domain : whitened.domains) {
    const SpectrumWhitening& full = *domain.spectrum();
    const Index r = full.rank();
    domain.variance = full.s.cwiseAbs2();
    domain.mean = Vector::Zero(r);
    domain.scale = {};
    domain.whitening = std::make_shared<SpectrumWhitening>(full.U.on().identity(r, r), full.s, full.scale);
  }
  whitened.source.reset();
  return whitened;
}

Directions directions_of(const WhitenedData& whitened) {
  Directions result;
  for (const WhitenedDomain& domain : whitened.domains) {
    result.U.push_back(linalg::download(domain.spectrum()->inward));
    result.mean.push_back(domain.mean);
    result.scale.push_back(domain.scale);
  }
  return result;
}

Matrix Directions::scaled(Matrix X, Domain domain) const {
  const Vector& D = scale[domain];
  return D.size() == 0 ? X : Matrix(D.cwiseInverse().asDiagonal() * X);
}

HeldOut hold_out(const Summary& part, const Directions& training) {
  HeldOut held;
  held.samples = part.total_weight();
  const ByDomain<Matrix> all = roots_about(training.mean, part);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Matrix scaled = training.scaled(all[i], domain_at(i));
    held.H.push_back(AtB(training.U[i], scaled));
    held.total.push_back(scaled.squaredNorm());
    held.outside.push_back(std::max(0.0, held.total[i] - held.H[i].squaredNorm()));
  }
  held.comparable = all.size() == 2 && all[0].rows() == all[1].rows();
  if (!held.comparable) return held;
  const Matrix R = all[0] - all[1];
  for (std::size_t i = 0; i < 2; ++i) {
    held.apart[i] = training.scaled(R, domain_at(i)).squaredNorm();
    held.R_inside[i] = AtB(training.U[i], R);
  }
  held.overlap = AtB(training.U[0], training.U[1]);
  return held;
}

Downstream downstream_of(const TuneOptions& options) {
  Downstream result;
  if (!options.downstream) return result;
  result.f = options.downstream;
  const Matrix& X1 = *options.pairs.X1;
  result.truth = result.f(X1);
  if (result.truth.cols() != X1.cols() || result.truth.rows() == 0) {
    throw InvalidInput(fmt::format("downstream gives {}×{} numbers for {} samples; it must give one column for each",
                                   result.truth.rows(), result.truth.cols(), X1.cols()));
  }
  if (!result.truth.allFinite()) throw InvalidInput("downstream gives values that are not finite for the pairs");
  const Vector variance =
      (result.truth.colwise() - result.truth.rowwise().mean()).rowwise().squaredNorm() / static_cast<double>(X1.cols());
  const Vector size = result.truth.rowwise().squaredNorm() / static_cast<double>(X1.cols());
  const auto varies = variance.array() > thresholds::kSaturated * thresholds::kSaturated * size.array();
  const auto outputs = static_cast<double>(varies.count());
  if (outputs == 0) throw InvalidInput("downstream gives the same values for all pairs; nothing can be chosen by it");
  result.weights = varies.select(1 / (variance.array() * outputs), 0.0);
  return result;
}

namespace {

// The two terms of x̂ - x_from = (L - Θ_from Tᵀ) t in the training set's coordinates.                             (67)
struct Difference {
  Matrix from_target, from_source;  // L t: r_to×m;   Θ_from Tᵀ t: r_from×m
};

Difference difference(const Model& model, const Translation& lmmse, Domain from, const Matrix& H) {
  const Matrix t = AB(lmmse.right, H);
  const DomainMap& source = model.domain(from);
  const Regularized& covariance = model.certificate.constrained[from];
  const Index m = lmmse.right.rows();
  const Matrix own =
      (source.loadings.leftCols(m) - covariance.ridge * source.weights.topRows(m).transpose()) / covariance.data;
  return {AB(lmmse.left, t), AB(own, t)};
}

// ‖x_to - x̂‖² of the held-out pairs: ‖R - U_to L t + U_from Θ Tᵀ t‖² with R = x_to - x_from.
double missed_towards_identity(const Model& model, const HeldOut& held, const Translation& lmmse, Domain to) {
  const Index i = index(to), j = 1 - i;
  const auto [target, own] = difference(model, lmmse, other(to), held.H[j]);
  const double sign = to == Domain::one ? 1 : -1;
  const Matrix crossed = to == Domain::one ? AB(held.overlap, own) : AtB(held.overlap, own);
  return held.apart[i] +
         2 * sign * (held.R_inside[j].cwiseProduct(own).sum() - held.R_inside[i].cwiseProduct(target).sum()) +
         target.squaredNorm() + own.squaredNorm() - 2 * target.cwiseProduct(crossed).sum();
}

}  // namespace

Matrix estimates(const Model& model, const HeldOut& held, Towards towards) {
  const Directions& training = *held.directions;
  const Translation lmmse = translation(model, Domain::two, Domain::one);
  Matrix result;
  if (towards == Towards::zero) {
    result = AB(training.U[0], AB(lmmse.left, AB(lmmse.right, held.partnered)));
    if (const Vector& D = training.scale[0]; D.size() > 0) result = D.asDiagonal() * result;
  } else {
    const auto [target, own] = difference(model, lmmse, Domain::two, held.partnered);
    result = held.X2 + AB(training.U[0], target) - AB(training.U[1], own);
  }
  return result.colwise() + training.mean[0];
}

std::vector<double> downstream_errors(const HeldOut& held, const std::vector<Matrix>& estimates) {
  const Index m = std::ssize(held.partners);
  Matrix all(estimates.front().rows(), m * std::ssize(estimates));
  for (Index k = 0; k < std::ssize(estimates); ++k) all.middleCols(k * m, m) = estimates[k];
  const Downstream& used = *held.downstream;
  const Matrix found = used.f(all), truth = used.truth(Eigen::all, held.partners);
  std::vector<double> errors;
  for (Index k = 0; k < std::ssize(estimates); ++k) {
    const Matrix missed = found.middleCols(k * m, m) - truth;
    errors.push_back(missed.rowwise().squaredNorm().dot(used.weights) / static_cast<double>(m));
  }
  return errors;
}

Matrix coordinates(const Directions& training, Domain domain, const Matrix& X) {
  return AtB(training.U[domain], training.scaled(X.colwise() - training.mean[domain], domain));
}

namespace {

// With scores t_1, t_2 and their correlations σ, -2 log p(x_2 | x_1)/p(x_2) is the mean over the held-out pairs of
//   Σ_j (t_2j - σ_j t_1j)²/(1 - σ_j²) - t_2j² + log(1 - σ_j²)                                                      (32)
double likelihood_error(const Model& model, const HeldOut& held) {
  const DomainMap &one = model.domain(Domain::one), &two = model.domain(Domain::two);
  const Index m = std::min({one.scores(), two.scores(), model.certificate.singular_B.size()});
  const Vector s = model.certificate.singular_B.head(m);
  if (!(s(0) < 1 - thresholds::kSaturated)) return std::numeric_limits<double>::quiet_NaN();
  const Matrix t1 = AB(one.weights.topRows(m), held.H[0]), t2 = AB(two.weights.topRows(m), held.H[1]);
  const Vector left = (1 - s.array()) * (1 + s.array());
  const Vector missed = (t2 - s.asDiagonal() * t1).rowwise().squaredNorm(), all = t2.rowwise().squaredNorm();
  return ((missed.cwiseQuotient(left) - all).sum()) / held.samples + left.array().log().sum();
}

}  // namespace

Split split_of(const Folds& folds, Index repeat, Index fold, Index samples) {
  Split split;
  const Index pairs = folds.samples();
  for (Index j = 0; j < samples; ++j) {
    const Index dealt = j < pairs ? folds.fold_of(repeat, j) : (j + repeat) % folds.options().folds;
    (dealt == fold ? split.held_out : split.training).push_back(j);
  }
  return split;
}

double guessed_partner(Index references) {
  const auto N = static_cast<double>(references);
  return std::lgamma(N + 1) / (N * std::log(N));
}

double partner_error(const Matrix& references, const Matrix& queries, const std::vector<Index>& partners) {
  const Vector sizes = references.colwise().squaredNorm();
  const Matrix products = AtB(references, queries);  // distance² less ‖query‖²: sizes - 2 products
  double sum = 0;
  for (Index q = 0; q < queries.cols(); ++q) {
    const Vector distances = sizes - 2 * products.col(q);
    const Index nearer = (distances.array() < distances(partners[q])).count();
    sum += std::log1p(static_cast<double>(nearer));
  }
  return sum / static_cast<double>(queries.cols()) / std::log(static_cast<double>(references.cols()));
}

Matrix references_of(const PairSamples& pairs) {
  if (pairs.X1 == nullptr) return {};
  const Index n = pairs.X1->cols(), more = pairs.more1 == nullptr ? 0 : pairs.more1->cols();
  Matrix all(pairs.X1->rows(), n + more);
  all.leftCols(n) = *pairs.X1;
  if (more > 0) all.rightCols(more) = *pairs.more1;
  return all;
}

std::vector<int> picked(const std::vector<int>& labels, const std::vector<Index>& places) {
  std::vector<int> result;
  for (const Index place : places) result.push_back(labels[place]);
  return result;
}

LabelPlaces find_places(const TransferLabels& labels, const PairSamples& pairs) {
  LabelPlaces places;
  if (labels.samples == nullptr) return places;
  places.of_references.assign(labels.samples->cols(), -1);
  if (pairs.X1 == nullptr) return places;
  const auto bytes = [](const Matrix& X, Index column) {
    return std::string_view(reinterpret_cast<const char*>(X.col(column).data()),
                            static_cast<std::size_t>(X.rows()) * sizeof(double));
  };
  std::unordered_map<std::string_view, Index> first;  // pair with such a sample
  for (Index j = 0; j < pairs.X1->cols(); ++j) {
    places.of_pairs.push_back(first.emplace(bytes(*pairs.X1, j), j).first->second);
  }
  for (Index j = 0; j < labels.samples->cols(); ++j) {
    const auto found = first.find(bytes(*labels.samples, j));
    if (found != first.end()) places.of_references[j] = found->second;
  }
  return places;
}

void add_labels(HeldOut& held, const TransferLabels& labels, const LabelPlaces& places, const Directions& training,
                const Folds& folds, Index repeat, Index fold) {
  const std::vector<Index> mine = split_of(folds, repeat, fold, labels.queries->cols()).held_out;
  std::unordered_set<Index> left_out;
  for (std::size_t j = 0; j < places.of_pairs.size(); ++j) {
    if (folds.fold_of(repeat, static_cast<Index>(j)) == fold) left_out.insert(places.of_pairs[j]);
  }
  for (Index j = 0; j < labels.samples->cols(); ++j) {
    if (!left_out.contains(places.of_references[j])) held.references_kept.push_back(j);
  }
  held.reference_labels = picked(labels.sample_labels, held.references_kept);
  held.query_labels = picked(labels.query_labels, mine);
  held.labelled = coordinates(training, Domain::one, (*labels.samples)(Eigen::all, held.references_kept));
  held.queries = coordinates(training, Domain::two, (*labels.queries)(Eigen::all, mine));
}

void add_pairs(HeldOut& held, const PairSamples& pairs, const Matrix& references, const Directions& training,
               const Folds& folds, Index repeat, Index fold) {
  held.partners = split_of(folds, repeat, fold, folds.samples()).held_out;
  held.references = coordinates(training, Domain::one, references);
  held.X2 = (*pairs.X2)(Eigen::all, held.partners);
  held.X2.colwise() -= training.mean[1];
  held.partnered = AtB(training.U[1], held.X2);
}

Errors measure(const Model& model, const HeldOut& held, Towards towards) {
  const DomainMap& one = model.domain(Domain::one);
  const DomainMap& two = model.domain(Domain::two);
  const auto translation_error = [&](Domain to) {
    const Index i = index(to);
    const Translation lmmse = translation(model, other(to), to);
    if (towards == Towards::identity) return missed_towards_identity(model, held, lmmse, to) / held.total[i];
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
  errors[3] = errors[5] = errors[6] = std::numeric_limits<double>::quiet_NaN();
  errors[4] = likelihood_error(model, held);
  if (!held.query_labels.empty()) {
    const std::vector<int> found =
        nearest_neighbour(linalg::ABC(one.mixing, one.weights, held.labelled), held.reference_labels,
                          linalg::ABC(two.mixing, two.weights, held.queries));
    errors[3] = 1 - accuracy(found, held.query_labels);
  }
  if (!held.partners.empty()) {
    errors[5] = partner_error(linalg::ABC(one.mixing, one.weights, held.references),
                              linalg::ABC(two.mixing, two.weights, held.partnered), held.partners);
  }
  return errors;
}

}  // namespace cgmca
