// Samples that lack whole domains, and the fit to them (docs/method.md section 13).
//
// One summary is kept for each pattern of presence: of the samples that have domains 1 and 2, of those that have 2 alone,
// and so on. Mean and covariance of all features are estimated by EM from these summaries, without another pass over the
// samples, and then the maps are those of any fit.
//
// Example:
//   IncompleteSummary summary({d1, d2});
//   Matrix gaps = X2;
//   gaps.leftCols(100).setConstant(std::nan(""));  // samples that lack domain 2
//   summary.add({X1, gaps});
//   FitOptions options;
//   options.ridge = 0.1;
//   const Model model = fit(summary, {C}, options);
//   for (const Pattern& pattern : model.patterns) std::cout << pattern.samples << " samples\n";
#pragma once

#include <cgmca/covariance.hpp>
#include <cgmca/fit_options.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// All that a fit needs to know of samples some of which lack domains.
class IncompleteSummary {
 public:
  // An empty summary of m >= 2 domains, as that of Summary. Throws InvalidInput.
  explicit IncompleteSummary(std::vector<DomainInfo> domains, Accumulate accumulate = Accumulate::automatic);

  // Adds n samples, d_i×n of each domain. A sample that holds NaN in a domain lacks that domain; one that lacks all is
  // left out. Throws as Summary::add does, and then adds nothing.
  void add(const MatchedSamples& X);
  // The same with n weights.
  void add(const MatchedSamples& X, const VectorView& weights);
  // Adds samples that have just these domains, ascending, from a summary of them. Throws InvalidInput, and as
  // Summary::merge does.
  void add(const std::vector<Domain>& domains, const Summary& samples, Repeats repeats = Repeats::refuse);
  // Makes this the summary of both sets of samples. Throws as Summary::merge does, and then changes nothing.
  void merge(const IncompleteSummary& other, Repeats repeats = Repeats::refuse);

  Index domains() const { return std::ssize(info_); }  // m
  const DomainInfo& domain(Domain domain) const;       // throws MissingDomain
  Index samples() const;                               // of a weight above 0, with any domain
  double total_weight() const;                         // the sum of their weights
  // The samples by the domains they have.
  const std::map<std::vector<Domain>, Summary>& patterns() const { return patterns_; }

  // Writes one safetensors file, atomically, with a note. Throws IoError.
  void save(const std::string& path, const std::string& note = {}) const;
  // Reads such a file, and its note. Throws FormatError or IoError.
  static IncompleteSummary load(const std::string& path, std::string* note = nullptr);
  // The same bytes without a file.
  std::string to_bytes() const;
  // The summary of such bytes. Throws FormatError.
  static IncompleteSummary from_bytes(std::string_view bytes);

 private:
  void add_weighted(const MatchedSamples& X, const Vector* weights);
  Summary& pattern(const std::vector<Domain>& domains);

  ByDomain<DomainInfo> info_;
  Accumulate accumulate_;
  std::map<std::vector<Domain>, Summary> patterns_;
};

// Whether a file begins as those of IncompleteSummary do.
bool holds_incomplete_summary(const std::string& path);

// The result of EM.
struct IncompleteEstimate {
  ByDomain<Vector> means;     // of each domain
  ByDomain<Vector> variance;  // of each feature, the ridge included
  Matrix covariance;          // of all features, domain by domain; empty if features were reduced to their span
  Index steps = 0;
  double change = 0;     // of the last step, relative to the sizes of the features
  double criterion = 0;  // what EM lowers                                                                        (80)
};
// Mean and covariance of all features. Throws TooFewSamples, NoVariance, or InvalidInput where a ridge is needed.
IncompleteEstimate estimate_incomplete(const IncompleteSummary& summary, const PerDomain<Ridge>& ridge = {});

// The fit to incomplete samples. There is one covariance for all domains, or one for each. Ridges enter the estimate, so
// the constraints hold for the covariance as estimated; Model::patterns has the samples. Throws as fit does, and
// InvalidInput where a domain is never seen together with any other, or extra samples are given.
Model fit(const IncompleteSummary& summary, const std::vector<Covariance>& covariances, const FitOptions& options = {});

}  // namespace cgmca
#pragma GCC visibility pop
