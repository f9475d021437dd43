#include "core/use/verify_claims.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/fit/assemble.hpp"
#include "core/fit/automatic_ridge.hpp"
#include "core/fit/certify.hpp"
#include "core/fit/prescribed.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::Array;

constexpr double kNever = std::numeric_limits<double>::infinity();

// The difference of two numbers relative to `scale`.
double apart(double claimed, double found, double scale) {
  return claimed == found ? 0 : std::abs(claimed - found) / scale;
}

// The largest difference in any row, in units of that row. A row whose unit is 0 must agree.
double apart(const Matrix& claimed, const Matrix& found, const Vector& units) {
  if (claimed.rows() != found.rows() || claimed.cols() != found.cols()) return kNever;
  double largest = 0;
  for (Index f = 0; f < claimed.rows(); ++f) {
    for (Index k = 0; k < claimed.cols(); ++k) {
      const double one = apart(claimed(f, k), found(f, k), units(f));
      if (!(one <= largest)) largest = std::isnan(one) ? kNever : one;
    }
  }
  return largest;
}

// ‖M Mᵀ - F Fᵀ‖ / ‖F Fᵀ‖, in a basis of their columns: C may have many more rows than directions.
double apart_as_squares(const Matrix& M, const Matrix& F) {
  Matrix both(M.rows(), M.cols() + F.cols());
  both << M, F;
  if (both.rows() > both.cols()) both = linalg::thin_qr(both).R;
  const Matrix own = both.leftCols(M.cols()), expected = both.rightCols(F.cols()), C = linalg::ABt(expected, expected);
  return (linalg::ABt(own, own) - C).norm() / C.norm();
}

// What a fit may have lost by rounding, eps κ(S), or eps κ(S)² where it knew the samples from the Gram form alone, counts
// as kRefusedCertificate at most: differences are divided by 1 + that, in units of it. It is 1 but for ill-conditioned
// samples.
double noise_of(const Model& model, const WhitenedDomain& data) {
  const double power = model.certificate.route.find("gram: ") != std::string::npos ? 2 : 1;
  const double rounding =
      thresholds::gram_rounding(data.features, data.covariance.samples) * std::pow(data.condition, power);
  return 1 + std::min(rounding, 1.0) / thresholds::kRefusedCertificate;
}

class Claims {
 public:
  Claims(const Model& model, const WhitenedData& plain, const WhitenedData& whitened, const Verification& found)
      : model_(model), plain_(plain), whitened_(whitened), found_(found) {
    std::vector<Index> ranks;
    for (std::size_t i = 0; i < model.domains.size(); ++i) {
      const WhitenedDomain& domain = whitened.domains[i];
      scale_.push_back(domain.scale.size() > 0 ? domain.scale : Vector(Vector::Ones(domain.features)));
      const Array I = plain.B().on().identity(domain.rank(), domain.rank());
      L_.push_back(scale_[i].asDiagonal() * linalg::download(domain.whitening->coloured(I)));
      D_.push_back(AB(map(i).weights, L_[i]));  // T_i L_i
      units_.push_back(plain.domains[i].variance.cwiseMax(0).cwiseSqrt().cwiseProduct(scale_[i]));
      noise_.push_back(noise_of(model, plain.domains[i]));
      noise_of_all_ = std::max(noise_of_all_, noise_[i]);
      ranks.push_back(std::min(model.certificate.ranks[i], plain.domains[i].rank()));
    }
    ridges_ = chosen_ridges(plain, PerDomain<Ridge>(model.settings.ridge), ranks);
  }

  std::vector<Claim> all() && {
    for (std::size_t i = 0; i < L_.size(); ++i) of_domain(i);
    for (std::size_t i = 0; i < L_.size(); ++i) {
      for (std::size_t j = i + 1; j < L_.size(); ++j) of_pair(i, j);
    }
    L_.size() == 2 ? of_correlations() : of_shared_directions();
    if (model_.settings.towards == Towards::identity) {
      const Vector found = difference_variance(plain_), units = units_[0].cwiseAbs2() + units_[1].cwiseAbs2();
      add("difference variance", apart(model_.difference_variance, found, units) / noise_of_all_);
    }
    of_certificate();
    return std::move(result_);
  }

 private:
  const DomainMap& map(std::size_t i) const { return model_.domain(domain_at(i)); }
  void add(std::string what, double difference) { result_.push_back({std::move(what), difference}); }
  void add(const char* what, std::size_t i, double difference) { add(fmt::format("{} {}", what, i + 1), difference); }

  // Whether the fit knew the samples from the Gram form alone.
  bool of_products() const { return model_.certificate.route.find("gram: ") != std::string::npos; }

  void of_domain(std::size_t i) {
    const Certificate& certificate = model_.certificate;
    const WhitenedDomain &data = plain_.domains[i], &used = whitened_.domains[i];
    // Means are rounded to their own size.
    add("mean", i, apart(map(i).mean, data.mean, units_[i] + 1e-6 * data.mean.cwiseAbs()));
    const Vector variance = used.variance.array() * scale_[i].array().square();
    add("variance", i, apart(map(i).variance, variance, variance));
    if (model_.settings.scale || map(i).scale.size() > 0) add("scale", i, apart(map(i).scale, scale_[i], scale_[i]));
    add("loadings", i,
        apart(map(i).loadings.leftCols(D_[i].rows()), linalg::ABt(L_[i], D_[i]), deviations(i)) / noise_[i]);
    add("constraint residual", i,
        apart(certificate.constraint_residuals[i], found_.constraint_residuals[i], 1) / noise_[i]);
    of_tolerance(i);
    // A forced Gram form may have lost directions that the samples have.
    add("rank", i, certificate.ranks[i] <= data.rank() ? 0 : kNever);
    const Index limit = model_.settings.max_rank[i];
    if (limit > 0) add("limit of the rank", i, certificate.ranks[i] <= limit ? 0 : kNever);
    of_regularization(i);
    of_prescribed(i);
    of_unseen_directions(i);
  }

  // What the rule that was prescribed makes of the data, beside M Mᵀ, and what it is called: entries that are I count as
  // that rule. Other entries were given, and are M Mᵀ.
  void of_prescribed(std::size_t i) {
    const Covariance rule = asked_of(model_).covariances[i];
    if (rule.kind() == Covariance::Kind::entries) return;
    const Matrix& M = map(i).mixing;
    const std::string& words = model_.covariances[i];
    const bool given = words.ends_with(fmt::format(" of rank {}", M.cols())) &&
                       words.find(fmt::format(" {}×", M.rows())) != std::string::npos;
    add("name of the covariance", i, words == rule.description() || given ? 0 : kNever);
    if (rule.kind() == Covariance::Kind::correlation && L_.size() > 2) return;  // of another fit
    try {
      const Vector B = L_.size() == 2 ? linalg::singular_values(linalg::download(whitened_.B())) : Vector();
      const PrescribedCovariance asked = resolve(rule, domain_at(i), whitened_, B);
      const Matrix F = linalg::download(asked.U) * asked.s.asDiagonal();
      // A Gram form takes more small correlations for zero, and a likelihood leaves those out.
      const bool fewer = rule.kind() == Covariance::Kind::likelihood && of_products();
      const Index k = fewer ? std::min(F.rows(), M.rows()) : M.rows();
      const double difference = fewer || F.rows() == k ? apart_as_squares(M.topRows(k), F.topRows(k)) : kNever;
      add("prescribed covariance", i, difference * determined(rule, asked, B) / noise_of_all_);
    } catch (const Error&) {  // the data do not allow it, but for directions that a forced Gram form has lost
      add("prescribed covariance", i, of_products() ? 0 : kNever);
    }
  }

  // How far errors of eps in the data are from showing in C as a whole: of the T leading directions the gap to the next,
  // of 1/(1 - σ²) how far σ is from 1.
  double determined(const Covariance& rule, const PrescribedCovariance& C, const Vector& B) const {
    if (rule.kind() == Covariance::Kind::likelihood) return 1 - B(0) * B(0);
    if (rule.kind() != Covariance::Kind::data) return 1;
    const Vector& s = whitened_[rule.domain()].spectrum()->s;
    const Index T = C.s.size();
    return T < s.size() ? (s(T - 1) * s(T - 1) - s(T) * s(T)) / (s(0) * s(0)) : 1;
  }

  // The rule depends on the form that the summary had: a Gram form's own tolerance is the largest.
  void of_tolerance(std::size_t i) {
    const WhitenedDomain& data = plain_.domains[i];
    const double claimed = model_.certificate.tolerances[i];
    const double of_gram = std::sqrt(thresholds::gram_rounding(data.features, data.covariance.samples));
    const double most = std::max({data.tolerance, of_gram, model_.settings.rank_tol.value_or(0)});
    add("rank tolerance", i, claimed >= 0 && claimed <= most * (1 + thresholds::kEqualInMatching) ? 0 : kNever);
  }

  // Compares the regularization with what the requested ridge gives for the data. Older files have no settings.
  void of_regularization(std::size_t i) {
    const Regularized& claimed = model_.certificate.constrained[i];
    const FitSettings& settings = model_.settings;
    const FitSettings none(model_.count());
    const bool unknown = settings.covariance == none.covariance && settings.ridge == none.ridge;
    if (unknown) return;
    const WhitenedDomain& data = plain_.domains[i];
    if (settings.ridge[i].automatic && claimed.data != 1) return;  // up to version 0.2 it was another shrinkage
    const double mean_variance = data.trace / static_cast<double>(data.features);
    const double expected = ridges_[i] * mean_variance;
    add("regularization", i,
        std::max(apart(claimed.data, 1, 1), apart(claimed.ridge, expected, mean_variance + expected)));
  }

  // Checks T = T L L⁺: T_i is zero in directions in which samples do not vary, which its covariance does not show.
  // Whitening has errors of eps κ.
  void of_unseen_directions(std::size_t i) {
    const WhitenedDomain& used = whitened_.domains[i];
    if (used.rank() == used.features) return;
    if (of_products() && used.rank() < plain_.domains[i].rank()) return;  // it has lost directions that samples show
    const Array E = plain_.B().on().upload(Matrix(D_[i].transpose()));
    const Matrix seen =
        linalg::download(used.whitening->whitened(E)).transpose() * scale_[i].cwiseInverse().asDiagonal();
    // The difference is in units of the features. Features that never vary must have no weight at all.
    Matrix difference = map(i).weights - seen, all = map(i).weights;
    for (Index f = 0; f < used.features; ++f) {
      if (units_[i](f) > 0) {
        difference.col(f) *= units_[i](f);
        all.col(f) *= units_[i](f);
      } else if (map(i).weights.col(f).any()) {
        difference(0, f) = kNever;
      }
    }
    add("weights", i, difference.allFinite() ? difference.norm() / all.norm() / noise_of_weights(i) : kNever);
  }

  // With a ridge the directions are those of Θ in raw units, in which a frame holds features that others determine to
  // kClearlyDetermined of their size: that much of the largest feature is in the smallest direction.
  double noise_of_weights(std::size_t i) const {
    if (whitened_.domains[i].covariance.plain()) return noise_[i];
    const WhitenedDomain& data = plain_.domains[i];
    const double steps = thresholds::gram_rounding(data.features, data.covariance.samples) / thresholds::kEpsilon;
    const double rounding = steps * thresholds::kClearlyDetermined * data.condition;
    return noise_[i] + std::min(rounding, 1.0) / thresholds::kRefusedCertificate;
  }

  // √Θ̃_ff
  Vector deviations(std::size_t i) const {
    return whitened_.domains[i].variance.cwiseMax(0).cwiseSqrt().cwiseProduct(scale_[i]);
  }

  // Cov(x_i, t_j) = L_i B_ij D_jᵀ and R_ij = D_i B_ij D_jᵀ                                                       (40)
  void of_pair(std::size_t i, std::size_t j) {
    const Matrix B = linalg::download(whitened_.cross[i][j]);
    const Matrix BD = linalg::ABt(B, D_[j]), DB = AB(D_[i], B);
    of_cross_loadings(i, j, AB(L_[i], BD));
    of_cross_loadings(j, i, linalg::ABt(L_[j], DB));
    if (L_.size() == 2) return;
    const Matrix R = AB(D_[i], BD);
    add(fmt::format("score covariance {}-{}", i + 1, j + 1),
        apart(model_.score_covariances[i][j], R, Vector::Ones(R.rows())) / std::max(noise_[i], noise_[j]));
  }

  // For two domains these are σ_j P_ij, for as many directions as the other domain's map has.
  void of_cross_loadings(std::size_t i, std::size_t j, const Matrix& found) {
    add(fmt::format("cross-loadings {}-{}", i + 1, j + 1),
        apart(model_.cross_loadings(domain_at(i), domain_at(j)), found, deviations(i)) /
            std::max(noise_[i], noise_[j]));
  }

  void of_correlations() {
    const Certificate& certificate = model_.certificate;
    const Vector B = linalg::singular_values(linalg::download(whitened_.B()));
    const Vector A = linalg::singular_values(linalg::AtB(map(0).mixing, map(1).mixing));
    const Index count = std::min(certificate.singular_B.size(), B.size());
    const auto differ = [](const Vector& claimed, const Vector& found, double scale) {
      return apart(claimed, found, Vector::Constant(found.size(), scale));
    };
    add("canonical correlations", differ(certificate.singular_B.head(count), B.head(count), 1) / noise_of_all_);
    if (certificate.singular_B.size() > B.size()) add("number of correlations", kNever);
    add("singular values of A", differ(certificate.singular_A, A, A(0) > 0 ? A(0) : 1));
    const Index used = std::max(D_[0].rows(), D_[1].rows());
    add("least gap", apart(certificate.min_gap, smallest_gap(B.head(count), used), 1) / noise_of_all_);
  }

  // Eigenvalues of Σ w_ij (R_ij + R_ijᵀ), where all covariances are multiples of I in the same coordinates.         (39)
  void of_shared_directions() {
    if (model_.settings.covariance[0] == "correlation") return;  // alike by rounding only, where all are 1
    const Matrix& first = map(0).mixing;
    const Index c = first.cols();
    Matrix shared = Matrix::Zero(c, c);
    for (std::size_t i = 0; i < L_.size(); ++i) {
      const Matrix& M = map(i).mixing;
      const Matrix square = linalg::AtB(M, M);
      const double part = M.norm() / first.norm();
      const bool alike =
          M.cols() == c && (M - part * first).norm() <= thresholds::kTieInMatching * M.norm() &&
          (square - square(0, 0) * Matrix::Identity(c, c)).norm() <= thresholds::kTieInMatching * square(0, 0);
      if (!alike) return;
      for (std::size_t j = 0; j < i; ++j) {
        const Matrix& R = model_.score_covariances[j][i];
        const double weight = model_.certificate.edge_weights(static_cast<Index>(i), static_cast<Index>(j));
        if (weight > 0) shared += weight * (R + R.transpose());
      }
    }
    const Vector values = linalg::symmetric_eigenvalues(shared);
    double gap = 1;
    for (Index k = 0; k + 1 < c; ++k) {
      gap = std::min(gap, (values(k) - values(k + 1)) / std::max(values(0), thresholds::kEpsilon));
    }
    add("least gap", apart(model_.certificate.min_gap, gap, 1) / noise_of_all_);
  }

  void of_certificate() {
    const Certificate& certificate = model_.certificate;
    const double scale = found_.covariance_trace, excess = certificate.objective - certificate.bound;
    add("scale of the objective", apart(certificate.covariance_trace, scale, scale));
    add("objective", apart(certificate.objective, found_.objective, scale) / noise_of_all_);
    if (certificate.certified) add("bound", apart(certificate.bound, found_.best_objective, scale) / noise_of_all_);
    // The objective must not be below the proven bound.
    add("least possible objective", std::max(0.0, found_.best_objective - found_.objective) / scale / noise_of_all_);
    add("claimed excess", std::max(0.0, -excess) / scale / noise_of_all_);
    add("sketch of the samples", certificate.samples_residual && !(*certificate.samples_residual >= 0)
                                     ? kNever
                                     : certificate.samples_residual.value_or(0));
    // gap = (objective - bound) / |f|, of the claims themselves.
    const double f = std::abs(certificate.covariance_trace - certificate.objective);
    if (model_.count() > 2 && f > thresholds::kSaturated * scale)
      add("gap", std::abs(certificate.gap * f - excess) / scale);
    if (model_.count() == 2) add("gap", certificate.gap == 0 ? 0 : kNever);
    const bool proven = excess <= thresholds::kProven * std::max(f, thresholds::kSaturated * scale);
    const bool rounding = std::abs(excess) <= thresholds::kProven * scale * noise_of_all_;  // either may be claimed
    add("whether it is proven", certificate.certified == proven || rounding ? 0 : kNever);
    add("proof", same_proof() ? 0 : kNever);
  }

  // Different proofs may give the same bound: the quick tests, ADMM, and the bound by pairs.
  bool same_proof() const {
    const std::string_view claimed = model_.certificate.proof, found = found_.proof;
    if (claimed == found) return true;
    const auto among = [](std::string_view name, const auto& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    const std::array<std::string_view, 4> dual = {"identity", "commuting", "dense", "ADMM"};
    if (claimed == "ADMM" || found == "ADMM") return among(claimed, dual) && among(found, dual);
    const std::array<std::string_view, 5> open = {"identity", "commuting", "dense", "ADMM", "pairwise only"};
    return !model_.certificate.certified && among(claimed, open) && among(found, open);
  }

  const Model& model_;
  const WhitenedData &plain_, &whitened_;
  const Verification& found_;
  std::vector<Matrix> L_, D_;
  std::vector<Vector> units_, scale_;   // √Θ_ff; what the features were divided by
  std::vector<double> noise_, ridges_;  // ridges_: λ of each domain as the fit was asked for it
  double noise_of_all_ = 1;
  std::vector<Claim> result_;
};

}  // namespace

double claim_noise(const Model& model, const WhitenedData& plain) {
  double largest = 1;
  for (const WhitenedDomain& data : plain.domains) largest = std::max(largest, noise_of(model, data));
  return largest;
}

std::vector<Claim> compare_claims(const Model& model, const WhitenedData& plain, const WhitenedData& whitened,
                                  const Verification& found) {
  return Claims(model, plain, whitened, found).all();
}

}  // namespace cgmca
