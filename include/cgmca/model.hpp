// Model: m affine maps into one common space, with a certificate of how far they are from what was asked for and from
// the best possible.
//
// Example:
//   const Model model = fit(X1, X2, C, C);
//   const Matrix Z1 = apply(model, Domain::one, X1);    // k×n
//   const Matrix A1 = model.domain(Domain::one).matrix();  // Z1 = A1 X1 + b1
//   const Vector b1 = model.domain(Domain::one).offset();
//   for (const std::string& text : model.warnings()) std::cerr << text << "\n";
//   model.save("model.cgmca");
//   const Model same = Model::load("model.cgmca");
//
// Threads: several threads may apply, read and save one model at once; a thread that changes it must be alone.
#pragma once

#include <cgmca/device.hpp>
#include <cgmca/domain.hpp>
#include <cgmca/regularization.hpp>
#include <cgmca/types.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

class TensorReader;
class TensorWriter;

// One domain's map g(x) = A (x - mean), kept in the factors A = M T from which everything else
// follows. Numbers in parentheses are equations of docs/method.md.
struct DomainMap {
  Vector mean;      // d
  Matrix weights;   // T: c×d   canonical scores t = T (x - mean) of identity covariance       (11)
  Matrix mixing;    // M: k×c   their place in the common space, z = M t; M Mᵀ = C             (12)
  Matrix loadings;  // P: d×q   covariance of the features with the first q canonical scores   (16)
  Vector variance;  // d        of each feature
  Vector scale;     // D: d     what the features were divided by for the fit; empty if they were not              (62)
  // For more than two domains: covariance of the features with the scores of domain j, d×c_j; empty for its own, and
  // for a domain that is absent. Two domains have loadings · diag(singular_B). See Model::cross_loadings.         (40)
  ByDomain<Matrix> cross_loadings;
  Vector held_out_error;  // d   s of (30): the error of translations to this domain, cross-fitted; empty if it was not
  std::string name;       // of the domain; empty if there is none
  std::vector<std::string> feature_names;  // d, or none

  Index features() const { return mean.size(); }   // d
  Index scores() const { return weights.rows(); }  // c
  Matrix matrix() const;               // A = M T, k×d                                                      (13)
  Vector offset() const;               // b = -A mean: g(x) = A x + b
  Matrix scaled_weights() const;       // T D, which acts on (x - mean) / D
  Vector covariance_spectrum() const;  // the c nonzero eigenvalues of C = M Mᵀ, descending

  void check_features(Domain domain, Index given) const;  // throws WrongDimension unless there are as many
};

// One ascent of the search that fits more than two domains.                              docs/method.md section 8
struct Start {
  std::string kind;             // spectral, tree, random, reflection, relaxation
  double value = 0;             // f at its end                                                                   (37)
  Index sweeps = 0;             // how many it took
  bool converged = false;       // false: a limit was reached first
  double f_below_best = 0;      // (f_best - f) / |f_best|
  double distance_to_best = 0;  // from its point to the best one: the same answer if this is below about 1e-6

  bool operator==(const Start&) const = default;
};

// What the fit attained, and what no fit can surpass. Both are computed from the finished maps. Residuals must be at
// rounding level, and so must the distance of objective from bound where the optimum is certified.
struct Certificate {
  // An empty certificate of so many domains.
  explicit Certificate(Index domains = 2);

  ByDomain<double> constraint_residuals;  // ‖A_i Θ̃_i A_iᵀ - C_i‖_F / ‖C_i‖_F                                  (15)
  ByDomain<Regularized> constrained;  // Θ̃_i, the covariance of domain i in it, at its scale               (24)
  Matrix edge_weights;                // w: m×m, the graph; [[0, 1], [1, 0]] for two domains
  double objective = 0;  // (n-1)/n Σ_{i<j} w_ij ‖A_i S_i - A_j S_j‖_F², or (26) with a ridge            (1) (36)
  double bound = 0;      // no maps go below it: (n-1)/n (tr C1 + tr C2 - 2 Σ σ_j(A) σ_j(B))             (14) (38)
  double covariance_trace = 0;  // (n-1)/n Σ_i deg_i tr C_i, deg_i = Σ_j w_ij: the scale of both
  bool certified = true;        // the maps are proven to be the best: bound is objective, to rounding
  double gap = 0;               // (f_bound - f) / |f|: by how much f (37) may fall short of the best; 0 in closed form
  // The kind of proof: "closed form" (two domains), "identity", "commuting", "dense", "ADMM", "pairwise only".
  std::string proof = "closed form";
  std::vector<Start> starts;   // of the search for more than two domains
  Index sweeps = 0;            // of all starts together
  bool stopped_early = false;  // a limit on sweeps, seconds or trials ended the search
  Vector singular_A;           // σ(A) of the prescribed covariances; for two domains                              (7)
  Vector singular_B;           // σ(B): the canonical correlations; for two domains                                (8)
                               // (unused ones have an error of eps/σ; they are absent if few of more than 1,200
                               // directions were needed)
  // The distance of the covariances used from a sketch of the samples summed beside them, relative to the sizes of
  // the features; absent where a summary of cgmca 0.2 has none. (61)
  std::optional<double> samples_residual;
  ByDomain<Index> ranks;             // r_i of the data
  ByDomain<Index> covariance_ranks;  // c_i of the prescribed covariances
  double min_gap = 0;  // min (σ_j - σ_{j+1})/σ_1 over the canonical correlations used; for more domains see (39)
  ByDomain<double> tolerances;  // rank rule: σ_j(S_i) > tolerance · σ_1(S_i)
  std::string route;            // what ran: summary form, how each domain was whitened, how B was factorized, such as
                                // "qr: gesdd, geqrf; B gesdd"
};

// The settings of the fit, so that it can be repeated. The graph is in the certificate.
struct FitSettings {
  // Default settings of so many domains.
  explicit FitSettings(Index domains = 2);

  // "identity", "data1", "correlation", …; "matrix" if it was given by its entries: the maps hold C = M Mᵀ
  ByDomain<std::string> covariance;
  ByDomain<Index> components;               // the number after the name, such as 4 of identity:4; 0 if there is none
  ByDomain<Index> max_rank;                 // 0: no limit
  ByDomain<Ridge> ridge;                    // of each domain
  Towards towards = Towards::zero;          // what translations were shrunk towards
  std::optional<double> rank_tol;           // as that of DataOptions
  bool scale = false;                       // likewise
  std::uint64_t seed = 0;                   // as that of MatchingOptions, for more than two domains
  Index random_starts = 0, max_sweeps = 0;  // likewise
  double max_seconds = 0;                   // likewise; 0: no limit
};

// A domain that joined the common space after the fit, and the certificate of its map. See add_domain. (70)-(72)
struct Addition {
  std::vector<Domain> matched;  // the domains that its samples were matched with
  std::vector<double> weights;  // w_j of each of them
  Index samples = 0;            // matched ones, of a weight above 0
  double total_weight = 0;      // n: the sum of their weights
  bool transported = true;      // whether its mean and covariance are those among the samples of the fit
  double objective = 0;         // Σ_j w_j E‖z - z_j‖² of the matched domains j
  double bound = 0;             // no map of this covariance goes below it
  double scale = 0;             // Σ_j w_j (tr C + tr Cov z_j): the size of both
  Vector singular_G;            // σ(G); the bound holds their sum
  bool unique = true;           // whether this is the only map that attains it: σ_c(G) > 0
};

// Samples that had the same domains, of a fit to incomplete ones.
struct Pattern {
  std::vector<Domain> domains;  // those that were there, ascending
  Index samples = 0;            // of a weight above 0
  double total_weight = 0;      // the sum of their weights
};

// What a fit has removed from the domains: x_i = mean_i + Γ_i (z - z̄) + what the maps see. A sample of a known nuisance
// has the q values of z below its own features. (90)-(94)
struct Nuisance {
  Vector mean;                     // z̄: q
  Matrix inverse;                  // Θ_zz⁺: q×q
  ByDomain<Matrix> effects;        // Γ_i: d_i×q; empty for a domain that is absent
  ByDomain<double> explained;      // the part of each domain's variance that it explains
  Index rank = 0;                  // of Θ_zz: the degrees of freedom that it takes
  bool unknown = false;            // whether the maps are blind to it, A_i Γ_i = 0, and new samples come without it
  std::vector<std::string> names;  // q, or none; "batch=A" tells samples whose batch is A

  Index values() const { return mean.size(); }  // q
};

// The result of a fit: one map for each domain, and what is known of them.
struct Model {
  // An empty model of so many domains.
  explicit Model(Index domains = 2);

  FitSettings settings;                        // what the fit was asked for
  Index samples = 0;                           // matched ones, of a weight above 0
  double total_weight = 0;                     // n: the sum of their weights, `samples` if there were none
  Index common_dimension = 0;                  // k
  ByDomain<std::string> covariances;           // what was prescribed, in words
  ByDomain<std::optional<DomainMap>> domains;  // m; some may be absent, see only()
  Index calibration_folds = 0;                 // of held_out_error; 0: not calibrated
  // How often, and with which seed, samples were dealt to these folds; 0 if they were merged, or if it is not known.
  Index calibration_repeats = 0;
  std::uint64_t calibration_seed = 0;
  Certificate certificate;  // what the fit attained, and what no fit can surpass
  // For more than two domains: R_ij in [i][j], i < j, c_i×c_j; empty if one of them is absent. See score_covariance.
  ByDomain<ByDomain<Matrix>> score_covariances;
  std::optional<Nuisance> nuisance;  // what the fit has removed
  std::vector<Pattern> patterns;     // of a fit to incomplete samples; empty where every sample had all domains
  std::vector<Addition> additions;  // of the last domains, those that joined after the fit; the settings of the search,
                                    // the objective and the samples above are the fit's
  Vector
      difference_variance;  // d: of each feature's x_1 - x_2, if translations are shrunk towards identity; else empty

  Index count() const { return std::ssize(domains); }  // m
  const DomainMap& domain(Domain domain) const;        // its map; throws MissingDomain
  // The map of samples with the values of a known nuisance below their features; without one it is domain().
  DomainMap with_nuisance(Domain domain) const;
  // X - Γ (Z - z̄) of samples with the values of a known nuisance below them; without one X.   → d×n. Throws
  // WrongDimension.
  Matrix without_nuisance(Domain domain, const MatrixView& X) const;
  // The values of a nuisance that a sample has below its features; 0 without a known one.
  Index nuisance_values() const { return nuisance && !nuisance->unknown ? nuisance->values() : 0; }
  // n less the rank of the nuisance: what degrees of freedom are counted from.
  double free_weight() const { return total_weight - static_cast<double>(nuisance ? nuisance->rank : 0); }
  // Throws WrongDimension if samples of the domain cannot have so many rows.
  void check_features(Domain domain, Index rows) const;
  std::vector<Domain> others(Domain domain) const;  // all domains but this one

  // R_ij = Cov(t_i, t_j), the covariance of two domains' canonical scores, c_i×c_j; I for i = j. Throws
  // MissingDomain. (40)
  Matrix score_covariance(Domain i, Domain j) const;
  // Cov(x_i, t_j), the covariance of a domain's features with another's scores, d_i×c_j. Throws MissingDomain. (40)
  Matrix cross_loadings(Domain i, Domain j) const;
  // Θ_ff, the variance of each feature among all samples, of which DomainMap::variance has Θ̃_ff. It is NaN if the
  // automatic ridge left nothing of Θ.   → d. Throws MissingDomain.                                               (24)
  Vector sample_variance(Domain domain) const;
  // T_i Θ_i T_iᵀ, the covariance of a domain's canonical scores among all samples; I without a ridge. Throws
  // MissingDomain.                                                                                                (24)
  Matrix sample_score_covariance(Domain domain) const;
  // corr(z_ip, z_jp) of each coordinate p of the common space, among the samples fitted; 0 if a covariance has no
  // variance in p.   → k. Throws MissingDomain.
  Vector common_correlations(Domain i, Domain j) const;

  // In words, what the user should know before trusting the model: a saturated or half-saturated fit, correlations
  // above 1, an optimum that is not proven, units that decide what a ridge leaves.
  std::vector<std::string> warnings() const;

  // The model without the other domains' maps, for shipping one side alone. Throws MissingDomain.
  Model only(Domain domain) const;

  // The samples of the fit that had all of these domains, as a pattern; all samples where they were complete.
  Pattern together(std::vector<Domain> domains) const;
  // The number of domains that the fit had.
  Index fitted_count() const { return count() - std::ssize(additions); }
  // The model without the domains that joined after the fit.
  Model fitted() const;
  // The certificate of an added domain; null for a domain of the fit.
  const Addition* addition(Domain domain) const;

  // Writes one safetensors file, atomically, with a note for whoever reads it, as Summary::save does. Throws IoError.
  void save(const std::string& path, const std::string& note = "") const;
  // Reads such a file, and its note, which is empty if there is none. Throws FormatError or IoError.
  static Model load(const std::string& path, std::string* note = nullptr);
  // The same bytes without a file, to send or to embed.
  std::string to_bytes() const;
  // The model of such bytes. Throws FormatError.
  static Model from_bytes(std::string_view bytes);

 private:
  TensorWriter pack() const;
  static Model unpack(const TensorReader& file);
};

// Maps samples of one domain into the common space: Z = A (X - mean 1ᵀ).   X: d×n, Z: k×n. Throws MissingDomain,
// WrongDimension, DeviceError.
Matrix apply(const Model& model, Domain domain, const MatrixView& X, Device device = Device::cpu);

// The same for one sample, into the caller's memory: the way for real time. It is computed in doubles by the calling
// thread alone. Nothing is allocated after a thread's first call, as long as x and z are contiguous and samples do not
// become larger.   x: d, z: k. Throws MissingDomain, WrongDimension.
void apply_into(const Model& model, Domain domain, const VectorView& x, Eigen::Ref<Vector> z);
// The same in floats.
void apply_into(const Model& model, Domain domain, const Eigen::Ref<const Eigen::VectorXf>& x,
                Eigen::Ref<Eigen::VectorXf> z);

// Samples of one of several domains: a view, which must not outlive the matrix it was made from. If it was made from an
// expression, it holds the expression's value itself, and so do its copies.
class DomainSamples {
 public:
  // X: d×n, matched with those of the other domains; a sample that holds NaN counts as absent.
  template <class Derived>
  DomainSamples(Domain whose, const Eigen::MatrixBase<Derived>& X)
      : domain(whose), X_(std::make_shared<const MatrixView>(X.derived())) {}

  // The samples, d×n.
  const MatrixView& X() const { return *X_; }

  Domain domain;  // whose samples they are

 private:
  std::shared_ptr<const MatrixView>
      X_;  // shared, because a copy of an Eigen::Ref does not keep what the first one holds
};

}  // namespace cgmca
#pragma GCC visibility pop
