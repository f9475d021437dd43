// Diagnostics of matched samples: how far each is from the rest of its domain, and from its partners.
//                                                                                       docs/method.md section 9
//
// With t = T (x - mean) the canonical scores of a sample in one domain, G their covariance in the fit, t_J those of its
// partners in all other domains, and K = Cov(t_J):
//   T²         tᵀ G⁻¹ t                                      far out within the common space
//   Q          Σ_f (x_f - E[x_f | t])² / Θ_ff                 outside of it
//   distance   -2 log p(t | t_J), up to a constant: eᵀ V⁻¹ e, e = t - Cov(t, t_J) K⁻¹ t_J, V = Cov(e)
//   evidence   -2 log p(t | t_J) / p(t): above 0, a stranger would have been the likelier partner
//
// Example:
//   const Diagnosis found = diagnose(model, {X1, X2});
//   for (const Suspect& one : found.suspects) std::cout << one.sample << ": " << one.text() << "\n";
//
// Threads: several diagnoses may run at once, also of one model.
#pragma once

#include <cgmca/model.hpp>
#include <cgmca/samples.hpp>
#include <functional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// One domain of a diagnosis. All have one entry for each sample; p is NaN where a statistic cannot be judged.
struct DomainDiagnosis {
  Vector t_squared, t_squared_p;  // T²
  Vector residual, residual_p;    // Q
  Vector distance, distance_p;    // to the partners
  Vector evidence, evidence_p;    // that they do not belong together
  std::vector<Index> rank;        // of all samples of this domain the own one is the rank-th likeliest partner, from 1
  std::vector<Index> likeliest;   // and this one is the likeliest, from 0
};

// Why a sample is on the list.
enum class Suspicion {
  mispaired,   // its domains do not belong together
  swapped,     // the same, and another mispaired sample has its partner
  far_out,     // T² of a domain
  unlike_fit,  // Q of a domain: it varies in ways that the samples of the fit do not
};
const char* name(Suspicion suspicion);  // "mispaired", "swapped", "far out", "unlike the fit"

// A sample on the list.
struct Suspect {
  Index sample = 0;  // from 0
  Suspicion suspicion = Suspicion::mispaired;
  Domain domain = Domain::one;  // in which it shows most
  double p = 1, q = 1;          // the p value, and the least false discovery rate at which it is on the list
  Index partner = -1;           // the likeliest partner's number from 0, if it is mispaired or swapped

  std::string text() const;  // "mispaired; in domain 1 sample 17 would fit better (q 0.003)"
};

// Options of a diagnosis.
struct DiagnoseOptions {
  double false_discovery_rate = 0.05;              // of each list: that of the pairs, and that of single domains
  std::function<void(double done)> progress = {};  // told the part of the partners compared; may throw to stop
};

// The result for n samples.
struct Diagnosis {
  ByDomain<DomainDiagnosis> domains;  // m
  Vector pair_p;                      // n: that the domains of a sample belong together
  std::vector<Suspect> suspects;      // the surest first
  std::vector<std::string> remarks;   // sentences for people
};

// Diagnoses matched samples that come in blocks. It keeps their scores, not the samples.
class Diagnoser {
 public:
  // Throws MissingDomain.
  explicit Diagnoser(const Model& model);
  // Adds matched samples, one matrix a domain, d_i×n. Throws WrongDimension, UnequalSamples or NotFinite.
  void add(const MatchedSamples& X);
  // The result for the samples added so far. Throws TooFewSamples for fewer than 8, and InvalidInput.
  Diagnosis diagnosis(const DiagnoseOptions& options = {}) const;
  Index samples() const { return samples_; }  // added so far

 private:
  struct Part {         // of a domain
    Matrix regression;  // d×c: E[x | t] = mean + regression · t
    Vector weights;     // 1/Θ_ff, 0 for a feature without variance
    std::vector<Matrix> scores;
    std::vector<Vector> residuals;
  };
  Model model_;
  ByDomain<Part> parts_;
  Index samples_ = 0;
};

// The diagnosis of samples in memory.   X_i: d_i×n. Throws as Diagnoser does.
Diagnosis diagnose(const Model& model, const MatchedSamples& X, const DiagnoseOptions& options = {});

// The statistic that contributions sum to.
enum class Statistic { t_squared, residual, distance };

// The parts that features have in a statistic of a domain, for every sample: one matrix for each domain, d_i×n, that
// together sum to it. Those of T² and Q are of the domain itself, and the others empty. Throws as Diagnoser::add does.
ByDomain<Matrix> contributions(const Model& model, Statistic statistic, Domain domain, const MatchedSamples& X);

// What a fit should say of its pairs in a line each, from the model alone: no correlation is above chance (Wilks at the
// level .05, where its theory holds), or the domains hold the same data.
std::vector<std::string> pairing_notes(const Model& model);

}  // namespace cgmca
#pragma GCC visibility pop
