// A new domain in a frozen space.                                                          docs/method.md section 11
#include <cgmca/error.hpp>
#include <cgmca/extend.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/fit/align.hpp"
#include "core/fit/prescribed.hpp"
#include "core/linalg/linalg.hpp"
#include "core/model/regularization.hpp"
#include "core/use/extend_relation.hpp"
#include "core/use/translate_scores.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::ABt;
using linalg::Array;
using linalg::AtB;
using linalg::download;

void check_names(const Model& model, const Summary& matched, const std::vector<Domain>& known) {
  for (std::size_t j = 0; j < known.size(); ++j) {
    const DomainMap& map = model.domain(known[j]);
    const DomainInfo& given = matched.domain(domain_at(j));
    if (given.features != map.features()) {
      throw WrongDimension(fmt::format("domain {} of the model has {} features, the samples matched with it have {}",
                                       number(known[j]), map.features(), given.features));
    }
    if (!order_of(map.feature_names, given.feature_names).empty()) {
      throw InvalidInput(
          fmt::format("the features of domain {} are in another order than in the model", number(known[j])));
    }
  }
  const std::string& name = matched.domain(static_cast<Domain>(known.size() + 1)).name;
  for (const auto& map : model.domains) {
    if (name.empty() || !map || map->name != name) continue;
    throw InvalidInput(fmt::format("the model already has a domain '{}'; give the new one another name", name));
  }
}

void check(const Model& model, const Summary& matched, const std::vector<Domain>& known, const AddOptions& options) {
  if (model.nuisance) {
    throw InvalidInput("a domain cannot be added to a fit with a nuisance; fit all domains with it at once");
  }
  if (known.empty()) throw InvalidInput("a new domain must be matched with at least one domain of the model");
  for (std::size_t j = 0; j < known.size(); ++j) {
    if (std::find(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(j), known[j]) !=
        known.begin() + static_cast<std::ptrdiff_t>(j)) {
      throw InvalidInput(fmt::format("domain {} is matched twice; name it once", number(known[j])));
    }
  }
  for (const Domain domain : all_domains(model.count())) model.domain(domain);  // throws where one is missing
  if (matched.domains() != std::ssize(known) + 1) {
    throw InvalidInput(fmt::format("the summary has {} domains; it must have the {} matched and, last, the new one",
                                   matched.domains(), known.size()));
  }
  if (!options.weights.empty() && options.weights.size() != known.size()) {
    throw InvalidInput(
        fmt::format("{} weights for {} matched domains; give one for each", options.weights.size(), known.size()));
  }
  for (const double weight : options.weights) {
    if (!(weight > 0 && std::isfinite(weight))) {
      throw InvalidInput(fmt::format("the weight {} of a matched domain; it must be above 0", weight));
    }
  }
  if (model.settings.towards != Towards::zero) {
    throw InvalidInput(
        "the model's translations are shrunk towards identity, which is for two domains alone; a domain "
        "can be added to a fit without that");
  }
  check(Regularization{options.max_rank, options.ridge}, 1);
  check_names(model, matched, known);
}

// C = F Fᵀ
struct Prescribed {
  Matrix F;
  std::string description, kind;
  Index number;
};

Prescribed prescribed(const Model& model, const std::vector<Domain>& known, const AddOptions& options) {
  if (!options.covariance) {
    return {model.domain(known.front()).mixing, model.covariances[known.front()], "matrix", 0};
  }
  const Covariance& asked = *options.covariance;
  const Index k = model.common_dimension;
  Prescribed result{{}, asked.description(), asked.name(), asked.number()};
  if (asked.kind() == Covariance::Kind::identity) {
    const Index rows = asked.number() > 0 ? asked.number() : k;
    result.F = Matrix::Identity(rows, rows);
  } else if (asked.kind() == Covariance::Kind::entries) {
    result.F = asked.U() * asked.s().asDiagonal();
  } else {
    throw InvalidInput(
        fmt::format("{} cannot be prescribed for a domain that is added; give the identity or a matrix, or none for "
                    "that of the domain it is matched with",
                    asked.description()));
  }
  if (result.F.rows() == k) return result;
  throw CommonDimension(fmt::format("{} is {}×{}, but the common space of this model has {} dimensions",
                                    asked.description(), result.F.rows(), result.F.rows(), k));
}

// A = M T with M = F U and T = V_cᵀ W of G = U Σ Vᵀ.
struct AddedMap {
  Matrix M, T, loadings;
  Matrix V;  // T = Vᵀ W, r'×c
  Vector singular_G;
  bool unique = true;
};

AddedMap solve_added(const Relation& relation, const WhitenedNew& white, const Prescribed& C, const Matrix& pull) {
  const linalg::Backend& on = linalg::cpu();
  const Whitening& whitening = *relation.x().whitening;
  const linalg::Backend& there = relation.whitened.B().on();
  const Index c = C.F.cols(), r = white.in.cols();
  if (c > r) {
    throw Infeasible(fmt::format("the new domain has rank {}, but the covariance prescribed for it ({}) has rank {}; "
                                 "prescribe one of rank {} at most",
                                 r, C.description, c, r),
                     static_cast<Domain>(relation.whitened.count()), r, c);
  }
  const Array G = on.upload(AB(AtB(C.F, pull), white.in));
  linalg::ArraySvd svd = on.thin_svd(G);
  const double tolerance = thresholds::kTie * static_cast<double>(r) * thresholds::kEpsilon * svd.s(0);
  AddedMap result;
  result.unique = paired(svd.s, tolerance) >= c;
  if (!result.unique) svd = on.full_svd(G);
  const auto coloured = [&](const Array& E) {
    return on.upload(download(whitening.coloured(there.upload(AB(white.out, download(E))))));
  };
  break_ties(svd, tolerance, {[&](const Array& basis) { return by_coordinate(linalg::AB(on.upload(C.F), basis)); }},
             {[&](const Array& basis) {
                const Array spread = coloured(basis);
                return linalg::AtB(spread, spread);
              },
              [&](const Array& basis) { return by_coordinate(coloured(basis)); }});
  result.V = download(svd.V.left(c));
  result.M = AB(C.F, download(svd.U.left(c)));
  Matrix Tt = download(whitening.whitened(there.upload(AB(white.in, result.V))));
  const Vector signs = on.signs_of_columns(on.upload(Tt));
  result.V = result.V * signs.asDiagonal();
  result.M = result.M * signs.asDiagonal();
  result.T = signs.asDiagonal() * Tt.transpose();
  result.loadings = download(coloured(on.upload(result.V)));
  result.singular_G = svd.s;
  return result;
}

// The image b = M y of the new domain's mean, in the range of C.                                                 (70)
Vector aim(const Model& model, const std::vector<Domain>& known, const std::vector<double>& weights,
           const Relation& relation, const Matrix& M) {
  Vector sum = Vector::Zero(M.rows());
  double total = 0;
  for (std::size_t j = 0; j < known.size(); ++j) {
    sum += weights[j] * (model.domain(known[j]).mixing * relation.mean_scores(relation.of(j)));
    total += weights[j];
  }
  return linalg::left_inverse(M) * (sum / total);
}

// Objective, bound and residual of the finished map, which takes the mean to M y.                                 (72)
Addition measured(const Model& model, const std::vector<Domain>& known, const std::vector<double>& weights,
                  const Relation& relation, const WhitenedNew& white, const AddedMap& map, const Vector& y) {
  Addition result;
  const Array I = relation.whitened.B().on().identity(relation.x().rank(), relation.x().rank());
  const Matrix TL = AB(map.T, download(relation.x().whitening->coloured(I)));
  const Matrix attained = ABt(AB(map.M, covariance_of_scores(relation, white, map.T)), map.M);
  const Matrix asked = ABt(map.M, map.M);
  const double n = relation.whitened.total_weight, part = relation.transported ? 1 : (n - 1) / n;
  double together = 0, between = 0;
  for (std::size_t j = 0; j < known.size(); ++j) {
    const Matrix& M_j = model.domain(known[j]).mixing;
    const auto rows = relation.of(j);
    const double spread = (M_j * relation.scores(rows, rows)).cwiseProduct(M_j).sum();
    const Matrix cross = ABt(TL, relation.cross(rows, Eigen::all));  // Cov(t_x, t_j)
    result.scale += part * weights[j] * (asked.trace() + spread);
    result.objective += part * weights[j] * (attained.trace() + spread);
    together += part * weights[j] * (map.M * cross).cwiseProduct(M_j).sum();
    between += weights[j] * (map.M * y - M_j * relation.mean_scores(rows)).squaredNorm();
  }
  result.matched = known;
  result.weights = weights;
  result.samples = relation.whitened.samples;
  result.total_weight = n;
  result.transported = relation.transported;
  result.objective += between - 2 * together;
  result.bound = result.scale + between - 2 * part * map.singular_G.sum();
  result.singular_G = map.singular_G;
  result.unique = map.unique;
  return result;
}

// Settings and certificate of the new domain, as the fit has them for the others.
void describe(Model& model, const Relation& relation, const WhitenedNew& white, const Prescribed& C,
              const AddOptions& options) {
  const DomainMap& map = *model.domains.back();
  const Matrix own = covariance_of_scores(relation, white, map.weights);
  const Matrix asked = ABt(C.F, C.F);
  Certificate& certificate = model.certificate;
  certificate.constraint_residuals.push_back((ABt(AB(map.mixing, own), map.mixing) - asked).norm() / asked.norm());
  certificate.constrained.push_back(white.covariance);
  certificate.ranks.push_back(white.in.cols());
  certificate.covariance_ranks.push_back(C.F.cols());
  certificate.tolerances.push_back(relation.x().tolerance);
  model.covariances.push_back(C.description);
  model.settings.covariance.push_back(C.kind);
  model.settings.components.push_back(C.number);
  model.settings.max_rank.push_back(options.max_rank);
  model.settings.ridge.push_back(options.ridge);
}

// The covariances of every other domain with the new one, through the scores of those it was matched with:        (73)
//   Cov(t_i, t_x) = K_iJ K⁺ Y,   Cov(x_i, t_x) = Cov(x_i, t_J) K⁺ Y,   Cov(x, t_i) = Cov(x, t_J) K⁺ K_Ji
void relate(Model& model, const Model& before, const std::vector<Domain>& known, const Relation& relation,
            const Matrix& V, const WhitenedNew& white) {
  const auto m = static_cast<std::size_t>(model.count());
  const Matrix K = joint_covariance(before, known);
  const Matrix Y = AB(relation.cross, AB(white.in, V));  // Cov(t_J, t_x)
  const Matrix loadings = download(relation.x().whitening->coloured(
      relation.whitened.B().on().upload(Matrix(relation.cross.transpose()))));  // Cov(x, t_J)
  const Matrix of_scores = divided_by(K, Y), of_features = divided_by(K, loadings.transpose());
  model.score_covariances.resize(m);
  for (auto& row : model.score_covariances) row.resize(m);
  model.domains[m - 1]->cross_loadings.resize(m);
  for (const Domain i : all_domains(before.count())) {
    const DomainMap& map = before.domain(i);
    Matrix K_iJ(map.scores(), K.cols()), L_iJ(map.features(), K.cols());
    for (std::size_t j = 0; j < known.size(); ++j) {
      K_iJ(Eigen::all, relation.of(j)) = before.score_covariance(i, known[j]);
      L_iJ(Eigen::all, relation.of(j)) = before.cross_loadings(i, known[j]);
    }
    ByDomain<Matrix>& cross = model.domains[i]->cross_loadings;
    cross.resize(m);
    for (const Domain l : all_domains(before.count())) {
      if (i != l) cross[l] = before.cross_loadings(i, l);
      if (i < l) model.score_covariances[i][l] = before.score_covariance(i, l);
    }
    const auto place = std::find(known.begin(), known.end(), i) - known.begin();
    const bool is_matched = place < std::ssize(known);
    const auto rows = relation.of(is_matched ? static_cast<std::size_t>(place) : 0);
    model.score_covariances[i][m - 1] = is_matched ? Matrix(Y(rows, Eigen::all)) : AB(K_iJ, of_scores);
    cross[m - 1] = AB(L_iJ, of_scores);
    model.domains[m - 1]->cross_loadings[i] =
        is_matched ? Matrix(loadings(Eigen::all, rows)) : AB(of_features.transpose(), K_iJ.transpose());
  }
}

}  // namespace

Model add_domain(const Model& model, const Summary& matched, const std::vector<Domain>& known,
                 const AddOptions& options) {
  check(model, matched, known, options);
  std::vector<double> weights = options.weights;
  if (weights.empty()) weights.assign(known.size(), 1);

  // 1. Mean and covariances of the new domain among the matched samples, and among the samples of the fit.
  Relation relation = relation_of(model, matched, known, options);
  if (options.transport) transport(relation, model, known);

  // 2. G = Fᵀ (Σ_j w_j Cov(z_j, x)) Wᵀ = U Σ Vᵀ, A = F U Vᵀ W.
  const WhitenedNew white = whitened(relation, options);
  const Prescribed C = prescribed(model, known, options);
  Matrix pull = Matrix::Zero(C.F.rows(), relation.cross.cols());
  for (std::size_t j = 0; j < known.size(); ++j) {
    pull += weights[j] * AB(model.domain(known[j]).mixing, relation.cross(relation.of(j), Eigen::all));
  }
  AddedMap map = solve_added(relation, white, C, pull);
  const Vector y = aim(model, known, weights, relation, map.M);

  // 3. The proof, and the model of all domains.
  Model result = model;
  result.additions.push_back(measured(model, known, weights, relation, white, map, y));
  const DomainInfo& info = matched.domain(static_cast<Domain>(known.size() + 1));
  DomainMap added;
  added.mean = relation.mean - map.loadings * y;
  added.weights = map.T;
  added.mixing = map.M;
  added.loadings = map.loadings;
  added.variance = white.variance;
  added.name = info.name;
  added.feature_names = info.feature_names;
  result.domains.emplace_back(std::move(added));
  relate(result, model, known, relation, map.V, white);
  describe(result, relation, white, C, options);
  return result;
}

}  // namespace cgmca
