#include "core/fit/whitened_data.hpp"

#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/fit/automatic_ridge.hpp"
#include "core/fit/graded.hpp"
#include "core/model/regularization.hpp"
#include "core/summary/compare.hpp"
#include "core/summary/state.hpp"

namespace cgmca {
namespace {

using linalg::Array;
using linalg::Backend;

// All samples of a domain, of weight n (matched) and m (extra), N in all: their mean, and S with S Sᵀ = Θ.
//   (N-1) Θ = (n-1) Θ_matched + E Eᵀ + s sᵀ,   s = sqrt(n m / N) (mean_extra - mean_matched)                       (17)
struct Pooled {
  Vector mean;
  double matched;                              // sqrt((n-1)/(N-1)): the weight of S_matched within S
  Array extra;                                 // [E, s] / sqrt(N-1)
  std::optional<double> samples_residual = 0;  // of the extra samples
};

Pooled pool(const Backend& on, double n, const Vector& mean, const Summary& extra) {
  const double m = extra.total_weight(), N = n + m;
  const Vector step = extra.mean(Domain::one) - mean;
  Pooled pooled{mean + m / N * step, std::sqrt((n - 1) / (N - 1)), on.upload(std::sqrt(n * m / N) * step)};
  if (extra.samples() > 1) {
    const Moments moments = cgmca::moments(extra, SmallWeights::allow);
    pooled.samples_residual = distance_from_samples(extra, moments);
    const Array E = linalg::moved_to(on, moments.S.front());  // E/√freedom
    on.scale(E, std::sqrt(moments.freedom));
    pooled.extra = linalg::beside(E, pooled.extra);
  }
  on.scale(pooled.extra, 1 / std::sqrt(N - 1));
  return pooled;
}

const Summary* extra_of(const DataOptions& options, Domain domain, Index features) {
  const Summary* extra = options.extra.empty() ? nullptr : options.extra[domain];
  if (extra == nullptr || extra->samples() == 0) return nullptr;
  if (extra->domains() != 1) {
    throw InvalidInput(fmt::format("the extra samples of domain {} come from a summary of {} domains; it must have one",
                                   number(domain), extra->domains()));
  }
  if (extra->dimension(Domain::one) != features) {
    throw WrongDimension(fmt::format("domain {} has {} features, its extra samples have {}", number(domain), features,
                                     extra->dimension(Domain::one)));
  }
  return extra;
}

// The input of the whitening of a domain, extra samples included.
struct DomainInput {
  WhiteningRequest request;
  Vector mean;
  double weight;   // of all samples
  Vector scale{};  // empty, or by what the features are divided
};

// Directions smaller than this part of the largest, at unit size, cannot be distinguished from rounding of the sums in G,
// unless P = I was proven to be safe.
double least_of(const Moments& moments, Index i) {
  const Compressed* compressed = moments.compressed.get();
  if (compressed == nullptr || !compressed->frame->identity() || compressed->accumulate == Accumulate::automatic) {
    return 0;
  }
  return std::sqrt(thresholds::gram_rounding(moments.layout.features(i), moments.samples));
}

std::vector<DomainInput> inputs_of(const Summary& summary, const DataOptions& options,
                                   const std::vector<bool>& spectrum, SourceData& data) {
  std::vector<DomainInput> inputs;
  const Moments& moments = data.moments;
  data.samples_residual = distance_from_samples(summary, moments);
  for (Index i = 0; i < std::ssize(spectrum); ++i) {
    const Domain domain = domain_at(i);
    const Index d = summary.dimension(domain);
    Vector mean = moments.mean.segment(moments.layout.start(i), d);
    Index samples = summary.samples();
    double weight = moments.total_weight;
    data.pooled.emplace_back();
    if (const Summary* extra = extra_of(options, domain, d)) {
      const Array& matched = moments.S[i];
      const Pooled all = pool(matched.on(), moments.total_weight, mean, *extra);
      data.pooled[i] = linalg::beside(matched, all.extra);
      matched.on().scale(data.pooled[i].left(matched.cols()), all.matched);
      std::optional<double>& residual = data.samples_residual;  // the larger of both, if both are known
      residual = residual && all.samples_residual ? std::max(residual, all.samples_residual) : std::nullopt;
      mean = all.mean;
      samples += extra->samples();
      weight += extra->total_weight();
    }
    const double tolerance =
        options.rank_tol.value_or(static_cast<double>(std::max(d, samples)) * thresholds::kEpsilon);
    const bool by_spectrum = spectrum[i] || tolerance >= thresholds::kLargestTriangleTolerance;
    inputs.push_back({{domain, samples, std::max(tolerance, least_of(moments, i)), by_spectrum, mean}, mean, weight});
  }
  return inputs;
}

// Divides the features by their standard deviations: S_i becomes D_i⁻¹ S_i.                                        (62)
void scale_features(std::vector<DomainInput>& inputs, SourceData& data) {
  const linalg::Backend& on = data.moments.on();
  for (Index i = 0; i < std::ssize(inputs); ++i) {
    const Array &S = data.moments.S[i], &pooled = data.pooled[i];
    const Vector variance = on.row_squared_norms(pooled.empty() ? S : pooled);
    const bool varies = variance.maxCoeff() >= thresholds::kSmallestVariance;
    inputs[i].scale = varies ? unit_sizes(variance, inputs[i].mean) : Vector(Vector::Ones(variance.size()));
    const Vector inverse = inputs[i].scale.cwiseInverse();
    on.scale_rows(S, inverse);
    if (!pooled.empty()) on.scale_rows(pooled, inverse);
    inputs[i].request.mean = inputs[i].mean.cwiseProduct(inverse);
  }
}

// V_iᵀ X V_j, of ranks r_i and r_j; an empty V is [I; 0].
Array coupled(const Array& V_i, Index r_i, const Array& X, const Array& V_j, Index r_j) {
  if (V_i.empty() && V_j.empty()) return X.block(0, 0, r_i, r_j);
  if (V_i.empty()) return linalg::AB(X.top(r_i), V_j);
  if (V_j.empty()) return linalg::AtB(V_i, X.left(r_j));
  return linalg::AtB(V_i, linalg::AB(X, V_j));
}

// B_ij = V_iᵀ X_ij V_j                                                                                            (8)
void find_cross_matrices(WhitenedData& whitened, const Moments& moments, const std::vector<Array>& V) {
  for (std::size_t i = 0; i < V.size(); ++i) {
    for (std::size_t j = i + 1; j < V.size(); ++j) {
      if (whitened.saturated) {
        whitened.cross[i][j] = V[i].on().identity(V[i].cols(), V[j].cols());  // V_i = V_j
      } else if (!moments.compressed) {
        whitened.cross[i][j] = linalg::AtB(V[i], V[j]);
      } else {
        whitened.cross[i][j] =
            coupled(V[i], whitened.domains[i].rank(), moments.X[i][j], V[j], whitened.domains[j].rank());
      }
    }
  }
}

// Throws before any work is done if there is no room for moments, roots and workspaces.
void require_room(const Summary& summary) {
  const Summary::State& state = summary.state();
  const auto p = static_cast<double>(state.layout.size());
  const auto rows = static_cast<double>(state.rows.count());
  const double numbers = state.nothing_compressed() ? 3 * p * rows + p * p : 3 * p * p + p * rows;
  state.on->require_room(numbers, fmt::format("a fit of {} features", p));
}

void check(const DataOptions& options, std::size_t domains) {
  if (!options.extra.empty() && options.extra.size() != domains) {
    throw InvalidInput(fmt::format("extra samples for {} domains; there are {}", options.extra.size(), domains));
  }
  if (options.rank_tol && !(*options.rank_tol >= 0 && *options.rank_tol < 1)) {
    throw InvalidInput(fmt::format(
        "a rank tolerance of {}; it is a fraction of the largest singular value, from 0 to 1", *options.rank_tol));
  }
}

}  // namespace

std::string WhitenedData::route() const {
  std::vector<std::string> routes;
  for (const WhitenedDomain& domain : domains) routes.push_back(domain.route);
  const Backend& on = source->moments.on();
  return fmt::format("{}{}: {}", on.remote() ? on.name() + " " : "", name(form), fmt::join(routes, ", "));
}

WhitenedData whiten_domains(const Summary& summary, const DataOptions& options, const std::vector<bool>& spectrum) {
  check(options, spectrum.size());
  require_room(summary);
  const auto source = std::make_shared<SourceData>(SourceData{moments(summary), {}});
  std::vector<DomainInput> inputs = inputs_of(summary, options, spectrum, *source);
  if (options.scale) scale_features(inputs, *source);
  const Moments& moments = source->moments;
  const Index m = std::ssize(spectrum);
  WhitenedData whitened;
  whitened.samples = moments.samples;
  whitened.total_weight = moments.total_weight;
  whitened.form = moments.form;
  whitened.domains.resize(m);
  whitened.cross.assign(m, ByDomain<Array>(m));
  whitened.source = source;

  Index largest = moments.S.back().cols();
  for (Index i = 0; i < m; ++i) largest = std::max(largest, moments.layout.features(i));
  std::vector<Array> V(m);
  std::vector<char> saturated(m, 0);  // not bool: threads write neighbours
  for_each_domain(m, largest, [&](Index i) {
    const bool extra = !source->pooled[i].empty();
    WhiteningRequest asked = inputs[i].request;
    asked.spectrum = asked.spectrum || extra;
    WhitenedSamples white =
        whiten(extra ? source->pooled[i] : moments.S[i], asked, !moments.compressed ? &moments.row_weights : nullptr,
               extra || moments.orders.empty() ? linalg::Indices() : moments.orders[i]);
    V[i] = extra ? moments.S[i].on().transposed(white.domain.whitening->white(moments.S[i])) : white.V;
    saturated[i] = white.saturated ? 1 : 0;
    whitened.domains[i] = std::move(white.domain);
  });
  whitened.saturated = std::all_of(saturated.begin(), saturated.end(), [](char one) { return one != 0; });
  for (Index i = 0; i < m; ++i) {
    WhitenedDomain& domain = whitened.domains[i];
    domain.mean = std::move(inputs[i].mean);
    domain.scale = std::move(inputs[i].scale);
    domain.covariance.samples = inputs[i].request.samples;
    domain.total_weight = inputs[i].weight;
  }
  find_cross_matrices(whitened, moments, V);
  if (moments.compressed) {  // the proof reads what these were computed from
    source->moments.S.clear();
    source->moments.X.clear();
  }
  return whitened;
}

WhitenedData regularize(const WhitenedData& whitened, const Regularization& options) {
  check(options, whitened.count());
  std::vector<Index> ranks;
  for (std::size_t i = 0; i < whitened.domains.size(); ++i) {
    const Index limit = options.max_rank[i], rank = whitened.domains[i].rank();
    ranks.push_back(limit > 0 ? std::min(limit, rank) : rank);
  }
  const std::vector<double> ridges = chosen_ridges(whitened, options.ridge, ranks);
  std::vector<Regularized> covariances;
  for (std::size_t i = 0; i < whitened.domains.size(); ++i) {
    const WhitenedDomain& domain = whitened.domains[i];
    const double mean_variance = domain.trace / static_cast<double>(domain.features);
    covariances.push_back({1, ridges[i] * mean_variance, domain.covariance.samples});
  }
  return regularize(whitened, covariances, ranks);
}

WhitenedData regularize(const WhitenedData& whitened, const std::vector<Regularized>& covariances,
                        const std::vector<Index>& ranks) {
  WhitenedData result = whitened;
  std::vector<Vector> shrunk;  // s/scale: what regularization leaves of a direction's correlations
  bool plain = true;
  for (std::size_t i = 0; i < result.domains.size(); ++i) {
    WhitenedDomain& domain = result.domains[i];
    const Regularized& covariance = covariances[i];
    const Index rank = ranks[i];
    shrunk.push_back(Vector::Ones(rank));
    domain.covariance = covariance;
    if (covariance.plain() && rank == domain.rank()) continue;
    plain = false;
    const SpectrumWhitening& full = *domain.spectrum();
    const auto part = full.regularized(rank, covariance.data, covariance.ridge);
    domain.whitening = part;
    if (!covariance.plain()) {
      domain.variance = covariance.data * domain.variance.array() + covariance.ridge;
      shrunk[i] = part->s.cwiseQuotient(part->scale);
    }
  }
  if (plain) return result;
  result.saturated = false;
  for (std::size_t i = 0; i < shrunk.size(); ++i) {
    for (std::size_t j = i + 1; j < shrunk.size(); ++j) {
      const Array part = whitened.cross[i][j].block(0, 0, shrunk[i].size(), shrunk[j].size());
      const Array B = part.on().copy(part);
      part.on().scale_rows(B, shrunk[i]);
      part.on().scale_columns(B, shrunk[j]);
      result.cross[i][j] = B;
    }
  }
  return result;
}

Vector difference_variance(const WhitenedData& plain) {
  const Backend& on = plain.B().on();
  const Array left = plain.domains[0].whitening->coloured(plain.B());
  const Array right = plain.domains[1].whitening->coloured(on.identity(plain.B().cols(), plain.B().cols()));
  const Vector shared = linalg::download(left).cwiseProduct(linalg::download(right)).rowwise().sum();
  return (plain.domains[0].variance + plain.domains[1].variance - 2 * shared).cwiseMax(0);
}

}  // namespace cgmca
