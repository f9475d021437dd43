// Summary: all that a fit needs to know of n matched samples of m domains, computed in one pass and in memory that does
// not grow with n. For m = 2 the samples are pairs, for m = 1 samples without partners.
//
// With X = [X_1; …; X_m] (p×n, p = d_1 + … + d_m), mean and centred samples Xc = X - mean 1ᵀ, it holds n, the mean and
//   rows   the samples themselves, while n <= 2p (compressing would save less than half)
//   qr     Xc Xcᵀ = Pᵀ G P: P (p×p), triangular within each domain, whitens the first samples, so that G is well
//          conditioned whatever the data are: as accurate as R of a QR factorization     docs/method.md (17) (27)
//   gram   G = Xc Xcᵀ itself: less arithmetic, but it squares the condition number
// Two summaries merge into that of the union, so data can come in blocks of any size, from several machines, or be
// continued next week. Blocks are regrouped inside, so the same samples in the same order give the same bits however
// they were cut. Everything is relative to one of the samples, so large means cost no accuracy.
//
// Samples may have weights. A sample of weight 2 is the same as the sample twice, and one of weight 0 is left out.
// Weights are counts, not precisions, and need not be whole: n of every formula is their sum, total_weight().
//
// A sample that is added alone waits as a row. The work is done when 2p samples have come, and then for each 4,096
// samples at once (a sample that follows such a call of add costs no more than its copy): a pause of 0.9 s at p = 1,568
// on one core. compress() does the work for those that wait when it suits the caller.
//
// Example:
//   Summary summary({d1, d2});
//   for (Index first = 0; first + 100 <= n; first += 100) {
//     summary.add(X1.middleCols(first, 100), X2.middleCols(first, 100));  // d1×m and d2×m, double or float
//   }
//   const Model model = fit(summary, C, C);
//
// Threads: several threads may read one summary at once; a thread that changes it must be alone.
#pragma once

#include <array>
#include <cgmca/device.hpp>
#include <cgmca/domain.hpp>
#include <cgmca/samples.hpp>
#include <cgmca/types.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// The rule by which samples are summed up.
enum class Accumulate {
  automatic,  // gram while the measured conditioning proves it safe, otherwise qr
  qr,         // as accurate as a QR factorization
  gram,       // sums of products: less arithmetic, but it squares the condition number
};
// The present form of a summary, as above.
enum class SummaryForm { rows, qr, gram };

// All choices of Accumulate.
inline constexpr std::array kAccumulates = {Accumulate::automatic, Accumulate::qr, Accumulate::gram};
// All forms of a summary.
inline constexpr std::array kSummaryForms = {SummaryForm::rows, SummaryForm::qr, SummaryForm::gram};
const char* name(Accumulate accumulate);  // "auto", "qr", "gram"
const char* name(SummaryForm form);       // "rows", "qr", "gram"

// Whether samples that are in both of two summaries may be counted twice.
enum class Repeats { refuse, allow };

// How many samples to read at a time, if their numbers should take about so many bytes: whole blocks of a summary if that
// is as many, because these are added without a copy.
Index block_samples(Index features, Index bytes);

// All that a fit needs to know of matched samples of m >= 1 domains.
class Summary {
 public:
  // An empty summary of domains given by their numbers of features alone, {d1, d2}, or with names. `device` is where
  // samples are summed up, and where a fit of this summary is computed unless told otherwise. Throws InvalidInput,
  // DeviceError.
  explicit Summary(std::vector<DomainInfo> domains, Accumulate accumulate = Accumulate::automatic,
                   Device device = Device::cpu);
  ~Summary();
  Summary(const Summary& other);
  Summary& operator=(const Summary& other);
  Summary(Summary&& other) noexcept;
  Summary& operator=(Summary&& other) noexcept;

  // Adds n matched samples, one matrix for each domain, d_i×n. Throws WrongDimension, UnequalSamples or NotFinite, and
  // then adds nothing.
  void add(const MatchedSamples& X);
  // The same for two domains.   X1: d1×n, X2: d2×n
  void add(const SampleView& X1, const SampleView& X2) { add(MatchedSamples{X1, X2}); }
  // The same for one domain.   X: d×n
  void add(const SampleView& X) { add(MatchedSamples(1, X)); }
  // The same with n weights: each sample counts as often as its weight says. A sample of weight 0 is not looked at.
  // Throws UnequalSamples if there is not one weight for each sample, InvalidInput if a weight is negative, NaN,
  // infinite or above 1e100.
  void add(const MatchedSamples& X, const VectorView& weights);

  // Says, before the first samples, how many will come in all. Samples are compressed when there are 2p; if up to 4p are
  // expected, all of them are compressed together, which makes a fit faster. The last bits of the result depend on this
  // number. Fewer or more samples may come. 0: the number is not known.
  void expect(Index samples);

  // Throws what add would throw, and adds nothing. `first` is the number of the first sample in messages.
  void check(const MatchedSamples& X, Index first) const;
  // The same for samples with weights.
  void check(const MatchedSamples& X, const VectorView& weights, Index first) const;

  // Makes this the summary of both sets of samples. Features of the same names in another order are put into this
  // summary's order. Throws WrongDimension, or InvalidInput if names differ or if both hold the same input (inputs(),
  // unless repeats are allowed), and then changes nothing.
  void merge(const Summary& other, Repeats repeats = Repeats::refuse);

  // Compresses the samples that wait as rows, up to 6,142 of them, so that there is less to send to another process, or
  // so that a program that adds single samples chooses the moment of the work. The next add that compresses by itself is
  // then at least 1,024 samples away. Samples that are added later are grouped otherwise than without this, so the last
  // bits of the result may differ. A summary of the form rows stays as it is.
  void compress();

  // Where the samples came from, as far as the caller has noted it, so that merging the same input twice is refused.
  // The first word of each text identifies the input, and the rest is its name for people:
  // "1:3488:9ae16a3b2f90404f a.npy". Files and merges keep these texts. A summary without any can be merged with every
  // other.
  const std::vector<std::string>& inputs() const;
  // Notes an input, as a text of that form. Throws InvalidInput if it has no first word.
  void note_input(const std::string& input);

  Index samples() const;        // the number of samples of a weight above 0
  double total_weight() const;  // n of the formulas: the sum of the weights, samples() if there are none
  Index domains() const;        // m
  const DomainInfo& domain(Domain domain) const;  // size and names; throws MissingDomain
  Index dimension(Domain domain) const { return this->domain(domain).features; }  // d_i
  Vector mean(Domain domain) const;                                               // d_i; throws TooFewSamples
  SummaryForm form() const;                                                       // what it holds now
  Accumulate accumulate() const;    // how it sums up, as the constructor was told
  Device device() const;            // cpu or cuda
  Summary on(Device device) const;  // a copy there

  // Writes one safetensors file, atomically. `note` is any text of the caller, kept with the summary. A summary that
  // was saved and loaded continues as if it had never left memory, to the bit. Throws IoError.
  void save(const std::string& path, const std::string& note = {}) const;
  // Reads such a file, and its note. Throws FormatError or IoError.
  static Summary load(const std::string& path, std::string* note = nullptr);
  // The same bytes without a file, to send to another process.
  std::string to_bytes() const;
  // The summary of such bytes. Throws FormatError.
  static Summary from_bytes(std::string_view bytes);

  // What it holds, for the stages of a fit; not for users.
  struct State;
  // A summary of this state.
  explicit Summary(std::unique_ptr<State> state);
  // The state.
  const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace cgmca
#pragma GCC visibility pop
