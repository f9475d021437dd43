#include "core/fit/assemble.hpp"

#include <fmt/format.h>

#include <utility>

namespace cgmca {

namespace {

// The maps of x / D as maps of x: T D⁻¹; Cov(x, t) = D Cov(x / D, t).                                            (62)
void undo_scale(DomainMap& map, const Vector& D) {
  map.weights *= D.cwiseInverse().asDiagonal();
  map.loadings = D.asDiagonal() * map.loadings;
  map.variance.array() *= D.array().square();
  for (Matrix& cross : map.cross_loadings) {
    if (cross.size() > 0) cross = D.asDiagonal() * cross;
  }
  map.scale = D;
}

}  // namespace

Model assemble(const Solution& solution, const WhitenedData& whitened) {
  Model model(whitened.count());
  model.samples = whitened.samples;
  model.total_weight = whitened.total_weight;
  model.common_dimension = solution.maps[0].M.rows();
  for (std::size_t i = 0; i < solution.maps.size(); ++i) {
    const SolvedMap& map = solution.maps[i];
    const WhitenedDomain& domain = whitened.domains[i];
    DomainMap result;
    result.mean = domain.mean;
    result.weights = linalg::download(map.Tt.on().transposed(map.Tt));
    result.mixing = linalg::download(map.M);
    result.loadings = linalg::download(map.P);
    result.variance = domain.variance;
    for (const linalg::Array& cross : map.cross_loadings) {
      result.cross_loadings.push_back(cross.empty() ? Matrix() : linalg::download(cross));
    }
    if (domain.scale.size() > 0) undo_scale(result, domain.scale);
    model.covariances[i] = map.C.description;
    model.certificate.constrained[i] = domain.covariance;
    model.domains[i] = std::move(result);
  }
  model.score_covariances = solution.score_covariances;
  model.certificate.singular_A = solution.singular_A;
  model.certificate.singular_B = solution.singular_B;
  return model;
}

Asked asked_of(const Model& model) {
  const FitSettings& settings = model.settings;
  Asked asked;
  for (const Domain domain : all_domains(model.count())) {
    const std::string& name = settings.covariance[index(domain)];
    const Index components = settings.components[index(domain)];
    asked.covariances.push_back(name == "matrix" ? Covariance::factor(model.domain(domain).mixing)
                                : components > 0 ? Covariance::parse(fmt::format("{}:{}", name, components))
                                                 : Covariance::parse(name));
  }
  FitOptions& options = asked.options;
  options.rank_tol = settings.rank_tol;
  options.scale = settings.scale;
  options.towards = settings.towards;
  options.nuisance_unknown = model.nuisance && model.nuisance->unknown;
  options.max_rank = PerDomain<Index>(settings.max_rank);
  options.ridge = PerDomain<Ridge>(settings.ridge);
  options.matching.graph = model.certificate.edge_weights;
  if (model.count() == 2) return asked;
  options.matching.seed = settings.seed;
  options.matching.random_starts = settings.random_starts;
  options.matching.max_sweeps = settings.max_sweeps;
  if (settings.max_seconds > 0) options.matching.max_seconds = settings.max_seconds;
  return asked;
}

}  // namespace cgmca
