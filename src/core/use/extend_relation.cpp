#include "core/use/extend_relation.hpp"

#include <algorithm>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"
#include "core/model/regularization.hpp"
#include "core/use/translate_scores.hpp"

namespace cgmca {

using linalg::AB;
using linalg::ABt;
using linalg::Array;
using linalg::AtB;
using linalg::download;

Relation relation_of(const Model& model, const Summary& matched, const std::vector<Domain>& known,
                     const AddOptions& options) {
  std::vector<bool> spectrum(known.size(), false);
  spectrum.push_back(true);
  DataOptions data;
  data.rank_tol = options.rank_tol;
  Relation result{{0}, whiten_domains(matched, data, spectrum), {}, {}, {}, {}, {}};
  for (const Domain domain : known) result.rows.push_back(result.rows.back() + model.domain(domain).scores());
  const Index c = result.rows.back(), r = result.x().rank();
  result.mean = result.x().mean;
  result.mean_scores.resize(c);
  result.scores.resize(c, c);
  result.cross.resize(c, r);
  result.own = Matrix::Identity(r, r);
  std::vector<Matrix> TL;  // T_j L_j
  for (std::size_t j = 0; j < known.size(); ++j) {
    const DomainMap& map = model.domain(known[j]);
    const WhitenedDomain& domain = result.whitened.domains[j];
    const Array I = result.whitened.B().on().identity(domain.rank(), domain.rank());
    TL.push_back(AB(map.weights, download(domain.whitening->coloured(I))));
    const auto rows = result.of(j);
    result.mean_scores(rows) = AB(map.weights, domain.mean - map.mean);
    result.cross(rows, Eigen::all) = AB(TL[j], download(result.whitened.cross[j][known.size()]));
    result.scores(rows, rows) = ABt(TL[j], TL[j]);
    for (std::size_t i = 0; i < j; ++i) {
      const auto before = result.of(i);
      const Matrix both = ABt(AB(TL[i], download(result.whitened.cross[i][j])), TL[j]);
      result.scores(before, rows) = both;
      result.scores(rows, before) = both.transpose();
    }
  }
  return result;
}

void transport(Relation& relation, const Model& model, const std::vector<Domain>& known) {
  const Matrix gamma = sample_covariance(model, known);
  const Matrix Rt = divided_by(relation.scores, relation.cross);  // Rᵀ in whitened coordinates, c_J×r
  const Vector moved = AtB(Rt, relation.mean_scores);
  relation.mean -= download(relation.x().whitening->coloured(relation.whitened.B().on().upload(moved))).col(0);
  const Matrix change = AB(gamma - relation.scores, Rt);
  relation.cross += change;
  relation.own += AtB(Rt, change);
  relation.own = 0.5 * (relation.own + relation.own.transpose()).eval();
  relation.mean_scores.setZero();
  relation.scores = gamma;
  relation.transported = true;
}

WhitenedNew whitened(const Relation& relation, const AddOptions& options) {
  const WhitenedDomain& x = relation.x();
  const SpectrumWhitening& spectrum = *x.spectrum();
  const auto coloured = [&](const Matrix& E) { return spectrum.coloured(relation.whitened.B().on().upload(E)); };
  const auto [shares, Q] = linalg::symmetric_eigen(relation.own);
  const Index kept = (shares.array() > thresholds::kObjectiveRounding * shares(0)).count();
  const Vector root = shares.head(kept).cwiseSqrt();
  WhitenedNew result;
  result.in = Q.leftCols(kept) * root.cwiseInverse().asDiagonal();
  result.out = Q.leftCols(kept) * root.asDiagonal();
  result.variance = spectrum.U.on().row_squared_norms(coloured(result.out));
  result.covariance.samples = x.covariance.samples;
  if (options.ridge == Ridge(0) && (options.max_rank == 0 || options.max_rank >= kept)) return result;
  // diag(s) H diag(s) has the spectrum of Θ.
  const auto [values, V] = linalg::symmetric_eigen(spectrum.s.asDiagonal() * relation.own * spectrum.s.asDiagonal());
  const Vector positive = values.cwiseMax(0);
  const double trace = positive.sum();
  result.covariance = regularized(options.ridge, trace, positive.squaredNorm() / (trace * trace), x.features,
                                  x.covariance.samples, x.total_weight);
  const Index rank = options.max_rank > 0 ? std::min(options.max_rank, kept) : kept;
  const Vector scale = (result.covariance.data * positive.head(rank).array() + result.covariance.ridge).sqrt();
  result.in = spectrum.s.asDiagonal() * V.leftCols(rank) * scale.cwiseInverse().asDiagonal();
  result.out = spectrum.s.cwiseInverse().asDiagonal() * V.leftCols(rank) * scale.asDiagonal();
  result.variance = result.covariance.data * result.variance.array() + result.covariance.ridge;
  return result;
}

Matrix covariance_of_scores(const Relation& relation, const WhitenedNew& white, const Matrix& T) {
  const Array I = relation.whitened.B().on().identity(relation.x().rank(), relation.x().rank());
  const Matrix TL = AB(T, download(relation.x().whitening->coloured(I)));
  return white.covariance.data * ABt(AB(TL, relation.own), TL) + white.covariance.ridge * ABt(T, T);
}

}  // namespace cgmca
