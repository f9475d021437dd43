#include "core/select/tune_held_out.hpp"

#include <cgmca/classify.hpp>
#include <cgmca/translate.hpp>

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

Factors reduce(Factors factors) {
  for (WhitenedDomain& domain : factors.domains) {
    const SpectrumWhitening& full = *domain.spectrum();
    const Index r = full.rank();
    domain.variance = full.s.cwiseAbs2();
    domain.mean = Vector::Zero(r);
    domain.scale = {};
    domain.whitening = std::make_shared<SpectrumWhitening>(full.U.on().identity(r, r), full.s, full.scale);
  }
  factors.data.reset();
  return factors;
}

Directions directions_of(const Factors& factors) {
  Directions result;
  for (const WhitenedDomain& domain : factors.domains) {
    result.U.push_back(linalg::download(domain.spectrum()->inward));
    result.mean.push_back(domain.mean);
    result.scale.push_back(domain.scale);
  }
  return result;
}

Matrix Directions::scaled(Matrix X, Domain domain) const {
  const Vector& D = scale[slot(domain)];
  return D.size() == 0 ? X : Matrix(D.cwiseInverse().asDiagonal() * X);
}

HeldOut hold_out(const Summary& part, const Directions& training) {
  HeldOut held;
  held.samples = part.total_weight();
  const std::vector<Matrix> all = roots_about(training.mean, part);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Matrix scaled = training.scaled(all[i], static_cast<Domain>(i + 1));
    held.H.push_back(AtB(training.U[i], scaled));
    held.total.push_back(scaled.squaredNorm());
    held.outside.push_back(std::max(0.0, held.total[i] - held.H[i].squaredNorm()));
  }
  return held;
}

Matrix coordinates(const Directions& training, Domain domain, const Matrix& X) {
  return AtB(training.U[slot(domain)], training.scaled(X.colwise() - training.mean[slot(domain)], domain));
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
    const Index nearer = (distances.array() < distances(partners[static_cast<std::size_t>(q)])).count();
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
  for (const Index place : places) result.push_back(labels[static_cast<std::size_t>(place)]);
  return result;
}

LabelPlaces find_places(const TransferLabels& labels, const PairSamples& pairs) {
  LabelPlaces places;
  if (labels.samples == nullptr) return places;
  places.of_references.assign(static_cast<std::size_t>(labels.samples->cols()), -1);
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
    if (found != first.end()) places.of_references[static_cast<std::size_t>(j)] = found->second;
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
    if (!left_out.contains(places.of_references[static_cast<std::size_t>(j)])) held.references_kept.push_back(j);
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
  held.partnered = coordinates(training, Domain::two, (*pairs.X2)(Eigen::all, held.partners));
}

Errors measure(const Model& model, const HeldOut& held) {
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
  errors[3] = errors[5] = std::numeric_limits<double>::quiet_NaN();
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
