#include <cgmca/error.hpp>
#include <cgmca/translate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/linalg/backend.hpp"
#include "core/linalg/device.hpp"
#include "core/linalg/one_sample.hpp"
#include "core/use/translate_errors.hpp"
#include "core/use/translate_lsqr.hpp"
#include "core/use/translate_nuisance.hpp"
#include "core/use/translate_scores.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::ABC;
using linalg::Array;

void check_common(const Model& model, const MatrixView& Z) {
  if (Z.rows() == model.common_dimension) return;
  throw WrongDimension(fmt::format("the common space of this model has {} dimensions, the points given have {}",
                                   model.common_dimension, Z.rows()));
}

// From a domain's own canonical scores t back to its features: x - mean = R t.
Matrix reconstruction(const DomainMap& map, Method method) {
  if (method == Method::mahalanobis) return map.loadings.leftCols(map.scores());  // P                  (21)
  return linalg::left_inverse(map.weights.transpose()).transpose();               // T⁺; A⁺ = T⁺ M⁺     (20)
}

// For two domains: x - mean = P diag(σ) t, with t the other's canonical scores that are correlated. (22)
Matrix regression(const Model& model, const DomainMap& from, const DomainMap& to) {
  const Index m = std::min({from.scores(), to.loadings.cols(), model.certificate.singular_B.size()});
  return to.loadings.leftCols(m) * model.certificate.singular_B.head(m).asDiagonal();
}

// Cov(x, t) = Θ Tᵀ of a domain's own scores, of which Θ̃ Tᵀ are the loadings.                                     (24)
Matrix own_covariance(const Model& model, Domain domain, Index scores) {
  const DomainMap& map = model.domain(domain);
  const Regularized& covariance = model.certificate.constrained[domain];
  return (map.loadings.leftCols(scores) - covariance.ridge * map.weights.topRows(scores).transpose()) / covariance.data;
}

void check_domains(const Model& model, const std::vector<Domain>& from, Domain to, Method method) {
  if (from.empty())
    throw InvalidInput(
        fmt::format("a translation to domain {} from no domain; name at least one to translate from", number(to)));
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to)
      throw InvalidInput(fmt::format("a translation from domain {} to itself; name two different domains", number(to)));
    if (std::find(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(i), from[i]) !=
        from.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw InvalidInput(fmt::format("a translation from domain {} twice; name it once", number(from[i])));
    }
    model.domain(from[i]);  // throws where it is missing
  }
  model.domain(to);
  if (from.size() > 1 && method != Method::lmmse) {
    throw InvalidInput(
        fmt::format("{} translates from one domain; from {} together only lmmse does", name(method), from.size()));
  }
}

// From the scores t_J of the domains `from` together: x - mean = w t_J with w = Cov(x, t_J) K⁺.                   (40)
void join_scores(Translation& result, const Model& model, const DomainMap& target, Domain to) {
  const std::vector<Domain>& J = result.from;
  Index height = 0;
  for (const Domain j : J) height += model.domain(j).scores();
  Matrix cross(target.features(), height);
  result.right = Matrix::Zero(height, result.mean_from.size());
  Index row = 0, column = 0;
  for (const Domain j : J) {
    const Matrix& T = model.domain(j).weights;
    cross.middleCols(row, T.rows()) = model.cross_loadings(to, j);
    result.right.block(row, column, T.rows(), T.cols()) = T;
    row += T.rows();
    column += T.cols();
  }
  const Matrix K = joint_covariance(model, J);
  result.left = divided_by(K, cross.transpose()).transpose();
  set_errors(result, model, to, cross, K);
}

// Samples that have the same domains, stacked domain above domain, and their translation.
struct Group {
  Translation map;
  Matrix X;
  std::vector<Index> columns;
};

std::vector<Group> grouped(const Model& model, const std::vector<DomainSamples>& present, Domain to) {
  std::vector<Group> groups;
  for (const auto& [J, columns] : by_presence(present)) {
    Group group{translation(model, J, to), {}, columns};
    group.X.resize(group.map.mean_from.size(), std::ssize(columns));
    Index row = 0;
    for (const Domain j : J) {
      const auto samples =
          std::find_if(present.begin(), present.end(), [j](const auto& one) { return one.domain == j; });
      const Index own = model.domain(j).features(), more = samples->X().rows() - own;
      const Matrix X = samples->X()(Eigen::all, columns);
      group.X.middleRows(row, own) = X.topRows(own);
      group.X.bottomRows(more) = X.bottomRows(more);  // the nuisance, which all have alike
      row += own;
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

const char* name(Method method) {
  switch (method) {
    case Method::lmmse:
      return "lmmse";
    case Method::exact:
      return "exact";
    case Method::mahalanobis:
      return "mahalanobis";
    case Method::lsqr:
      return "lsqr";
  }
  return "?";
}

Matrix Translation::matrix() const {
  Matrix L = AB(left, right);
  if (identity) L.diagonal().array() += 1;
  return L;
}

void Translation::check_source(const MatrixView& X) const {
  if (X.rows() == mean_from.size()) return;
  const std::string what = from.size() == 1 ? fmt::format("domain {} of this translation has", number(from[0]))
                                            : fmt::format("the {} domains of this translation have", from.size());
  throw WrongDimension(fmt::format("{} {} features, the samples given have {}", what, mean_from.size(), X.rows()));
}

Matrix Translation::operator()(const MatrixView& X, Device device) const {
  check_source(X);
  Matrix result = linalg::affine(backend_of(device), left, right, X, mean_from, mean_to);
  if (identity) result += X.colwise() - mean_from;
  return result;
}

void Translation::check_one(Index given, Index room) const {
  if (given == mean_from.size() && room == mean_to.size()) return;
  throw WrongDimension(fmt::format("this translation is from {} features to {}; the sample has {}, room is for {}",
                                   mean_from.size(), mean_to.size(), given, room));
}

void Translation::translate_into(const VectorView& x, Eigen::Ref<Vector> y) const {
  check_one(x.size(), y.size());
  linalg::affine_into(left, right, mean_from, mean_to, x.data(), y.data());
  if (identity) y += x - mean_from;
}

void Translation::translate_into(const Eigen::Ref<const Eigen::VectorXf>& x, Eigen::Ref<Eigen::VectorXf> y) const {
  check_one(x.size(), y.size());
  linalg::affine_into(left, right, mean_from, mean_to, x.data(), y.data());
  if (identity) y += (x.cast<double>() - mean_from).cast<float>();
}

Matrix Translation::stacked(const std::vector<SampleView>& X) const {
  if (X.size() != features_from.size()) {
    throw WrongDimension(fmt::format("samples of {} domains; the translation is from {}{}", X.size(), from.size(),
                                     features_from.size() > from.size() ? " and the nuisance" : ""));
  }
  const auto which = [&](std::size_t i) {
    return i < from.size() ? fmt::format("domain {}", number(from[i])) : "the nuisance";
  };
  Matrix all(mean_from.size(), X[0].cols());
  Index row = 0;
  for (std::size_t i = 0; i < X.size(); ++i) {
    if (X[i].rows() != features_from[i]) {
      throw WrongDimension(fmt::format("{} of this translation has {} features, the samples given have {}", which(i),
                                       features_from[i], X[i].rows()));
    }
    if (X[i].cols() != X[0].cols()) {
      throw UnequalSamples(fmt::format("{} samples of {}, {} of {}; they must match one to one", X[0].cols(), which(0),
                                       X[i].cols(), which(i)));
    }
    X[i].visit([&](const auto& own) { all.middleRows(row, own.rows()) = own.template cast<double>(); });
    row += X[i].rows();
  }
  return all;
}

Translation translation(const Model& model, const std::vector<Domain>& from, Domain to, Method method) {
  check_domains(model, from, to, method);
  if (method == Method::lsqr) {
    throw InvalidInput(
        "lsqr stops at a different step for each sample, so it is not a fixed linear map; use "
        "translate");
  }
  const DomainMap& target = model.domain(to);
  Translation result;
  result.from = from;
  result.mean_to = target.mean;
  Index features = 0;
  for (const Domain j : from) {
    result.features_from.push_back(model.domain(j).features());
    features += result.features_from.back();
  }
  result.mean_from.resize(features);
  features = 0;
  for (const Domain j : from) {
    const Vector& mean = model.domain(j).mean;
    result.mean_from.segment(features, mean.size()) = mean;
    features += mean.size();
  }
  const DomainMap& source = model.domain(from.front());
  if (method != Method::lmmse) {
    result.left = reconstruction(target, method);
    result.right = ABC(linalg::left_inverse(target.mixing), source.mixing, source.weights);  // M_to⁺ A_from
  } else if (model.count() == 2 && target.cross_loadings.empty()) {
    result.left = regression(model, source, target);
    result.right = source.weights.topRows(result.left.cols());
    result.identity = model.settings.towards == Towards::identity;
    // x = x_from + Cov(x - x_from, t) t: the regression of the difference                                        (67)
    if (result.identity) result.left -= own_covariance(model, from.front(), result.left.cols());
    set_errors(result, model, to);
  } else {
    join_scores(result, model, target, to);
  }
  add_nuisance(result, model, to);
  return result;
}

Translation translation(const Model& model, Domain from, Domain to, Method method) {
  return translation(model, std::vector<Domain>{from}, to, method);
}

Estimate estimate(const Model& model, const std::vector<DomainSamples>& present, Domain to,
                  std::optional<double> probability) {
  if (present.empty())
    throw InvalidInput(
        fmt::format("a translation to domain {} from no domain; name at least one to translate from", number(to)));
  check_present(model, present);
  const Index d = model.domain(to).features(), n = present.front().X().cols();
  Estimate result{Matrix(d, n), Matrix(d, n), Matrix(probability ? d : 0, probability ? n : 0)};
  for (const auto& [map, X, columns] : grouped(model, present, to)) {
    result.X(Eigen::all, columns) = map(X);
    result.standard_errors(Eigen::all, columns) = map.standard_errors(X);
    if (probability) result.half_widths(Eigen::all, columns) = map.half_widths(X, *probability);
  }
  return result;
}

Matrix translate(const Model& model, const std::vector<DomainSamples>& present, Domain to) {
  if (present.empty())
    throw InvalidInput(
        fmt::format("a translation to domain {} from no domain; name at least one to translate from", number(to)));
  check_present(model, present);
  Matrix result(model.domain(to).features(), present.front().X().cols());
  for (const auto& [map, X, columns] : grouped(model, present, to)) result(Eigen::all, columns) = map(X);
  return result;
}

Matrix translate(const Model& model, Domain from, Domain to, const MatrixView& X, Method method,
                 const LsqrOptions& options, Device device) {
  if (method != Method::lsqr) return translation(model, from, to, method)(X, device);
  if (from == to)
    throw InvalidInput(fmt::format("a translation from domain {} to itself; name two different domains", number(from)));
  model.check_features(from, X.rows());
  const auto points = [&](Index first, Index count) { return apply(model, from, X.middleCols(first, count), device); };
  Matrix result = by_lsqr(backend_of(device), model.domain(to), X.cols(), points, options);
  if (const Index q = model.nuisance_values(); q > 0) {
    result += AB(model.nuisance->effects[to], X.bottomRows(q).colwise() - model.nuisance->mean);
  }
  return result;
}

Matrix invert(const Model& model, Domain domain, const MatrixView& Z, Method method, const LsqrOptions& options,
              Device device) {
  const DomainMap& map = model.domain(domain);
  check_common(model, Z);
  if (method == Method::lsqr) {
    return by_lsqr(
        backend_of(device), map, Z.cols(),
        [&](Index first, Index count) -> Matrix { return Z.middleCols(first, count); }, options);
  }
  Matrix left, right;
  if (method == Method::lmmse) {
    if (model.settings.towards == Towards::identity) {
      throw InvalidInput(
          "translations towards identity start from the sample itself, not from its point: use a translation, or "
          "exact, "
          "mahalanobis or lsqr");
    }
    if (model.count() > 2) {
      throw InvalidInput(
          fmt::format("lmmse needs to know which of {} domains a point comes from: use a translation, or "
                      "exact, mahalanobis or lsqr",
                      model.count()));
    }
    const DomainMap& source = model.domain(other(domain));
    left = regression(model, source, map);
    right = linalg::left_inverse(source.mixing).topRows(left.cols());  // t = M⁺ z
  } else {
    left = reconstruction(map, method);
    right = linalg::left_inverse(map.mixing);
  }
  return linalg::affine(backend_of(device), left, right, Z, Vector::Zero(Z.rows()), map.mean);
}

}  // namespace cgmca
