// Samples divided into folds for cross-validation, in one pass.
//
// Every fold is a summary. A training set is the merge of the other folds, and a held-out score is computed from a
// summary too.
//
// Example:
//   Folds folds({d1, d2}, {.folds = 5});
//   folds.add(X1, X2);
//   const Model model = fit(folds.training(0, 2), C, C);  // all folds but the third
//   std::cout << folds.held_out(0, 2).samples() << " samples are held out\n";
//
// Threads: several threads may read one set of folds at once; a thread that changes it must be alone.
#pragma once

#include <cgmca/summary.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

class TensorReader;
class TensorWriter;

// Options of dividing samples.
struct FoldOptions {
  Index folds = 5;  // at least 2
  // The number of random divisions of the samples; each takes the memory of a summary of all samples. 0: see
  // repeats().
  Index repeats = 0;
  std::uint64_t seed = 1;                         // of the random folds
  Accumulate accumulate = Accumulate::automatic;  // how each fold sums up
  bool operator==(const FoldOptions&) const = default;
};

// Summaries of random parts of the samples. Of every `folds` successive samples each goes to a different fold.
class Folds {
 public:
  // Empty folds of domains given by their numbers of features alone, {d1, d2}, or with names. Throws InvalidInput.
  explicit Folds(std::vector<DomainInfo> domains, const FoldOptions& options = {});

  // Divides n matched samples among the folds, d_i×n of each domain. Throws as Summary::add does.
  void add(const MatchedSamples& X);
  // The same for two domains.   X1: d1×n, X2: d2×n
  void add(const SampleView& X1, const SampleView& X2) { add(MatchedSamples{X1, X2}); }
  // The same with n weights. All copies that a weight stands for are in one fold. Samples of weight 0 are left out, and
  // not counted by samples() and fold_of.
  void add(const MatchedSamples& X, const VectorView& weights);

  // Adds the samples of `other` after ours. Each fold of `other` goes to a fold of ours as a whole, the fullest to the
  // emptiest, equal ones as the seed and the number of our samples decide: folds never differ by more than one sample,
  // if no samples are added between merges. So the same merges in the same order give the same folds, and merges in
  // another order give others. Throws InvalidInput if the options differ, and as Summary::merge does; then nothing has
  // changed.
  void merge(const Folds& other);

  const FoldOptions& options() const { return options_; }  // as given to the constructor
  // The number of repeats, as given in the options. By default 10 for up to 100 samples, 1000/n for more, 1 from 1000
  // on, and never so many that they would take more than 1 GiB: with few samples the result depends more on how they
  // were divided, and repeats cost less. The number falls while samples are added.
  Index repeats() const { return std::ssize(parts_); }
  Index samples() const;                                    // the number of those of a weight above 0
  double total_weight() const;                              // the sum of the weights
  Index domains() const { return parts_[0][0].domains(); }  // m
  Index dimension(Domain domain) const { return parts_[0][0].dimension(domain); }  // d_i
  Index fold_of(Index repeat, Index sample) const;          // of a sample, in the order of adding
  bool merged() const { return dealt_.size() > 1; }         // whether other sets were merged into this one
  const Summary& held_out(Index repeat, Index fold) const;  // the samples of one fold
  Summary training(Index repeat, Index fold) const;         // all other folds, merged
  Summary all() const;                                      // the summary of all samples

  // Writes one safetensors file, atomically. Throws IoError.
  void save(const std::string& path) const;
  // Reads such a file. Throws FormatError or IoError.
  static Folds load(const std::string& path);
  // The same bytes without a file, to send to another process.
  std::string to_bytes() const;
  // The folds of such bytes. Throws FormatError.
  static Folds from_bytes(std::string_view bytes);

 private:
  Index repeats_needed(Index samples) const;
  void keep_repeats_for(Index samples);
  void deal(const MatchedSamples& X, const Vector& weights);  // no weights: 1 each
  TensorWriter pack() const;
  static Folds unpack(const TensorReader& file);
  void unpack_places(const TensorReader& file);

  FoldOptions options_;
  std::vector<Index> dealt_;  // samples dealt together, from the first deal on: one entry a merged set
  // For each of them, [repeat][fold]: the fold that the samples dealt to this one are in. Empty: the same.
  std::vector<std::vector<std::vector<Index>>> placed_;
  std::vector<std::vector<Summary>> parts_;  // [repeat][fold]
};

}  // namespace cgmca
#pragma GCC visibility pop
