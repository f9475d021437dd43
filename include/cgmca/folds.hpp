// Samples dealt to folds for cross-validation, in one pass.
//
// Every fold is a summary, so a training set is a merge of the others, and a held-out score comes from a summary too.
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

// How samples are dealt.
struct FoldOptions {
  Index folds = 5;
  // Other random folds of the same samples, each in the memory of a summary of all; 0: see repeats().
  Index repeats = 0;
  std::uint64_t seed = 1;
  Accumulate accumulate = Accumulate::automatic;
  bool operator==(const FoldOptions&) const = default;
};

// Summaries of random parts of the samples: of every `folds` successive samples each goes to another fold.
class Folds {
 public:
  explicit Folds(std::vector<DomainInfo> domains, const FoldOptions& options = {});  // throws InvalidInput

  void add(const MatchedSamples& X);  // throws as Summary::add does
  void add(const SampleView& X1, const SampleView& X2) { add(MatchedSamples{X1, X2}); }
  // The same with weights, each dealt with its sample: the copies that a weight stands for are in one fold. Those of
  // weight 0 are left out, and not counted by samples() and fold_of.
  void add(const MatchedSamples& X, const VectorView& weights);
  void add(const SampleView& X1, const SampleView& X2, const VectorView& weights) {
    add(MatchedSamples{X1, X2}, weights);
  }

  // The samples of both, each in the fold it was dealt to; those of `other` count as added after ours. Throws
  // InvalidInput where the options differ, and as Summary::merge does; then nothing has changed.
  void merge(const Folds& other);

  const FoldOptions& options() const { return options_; }
  // As asked for; else 10 for up to 100 samples, 1000/n for more, 1 from 1000 on, and never so many that they would
  // take more than 1 GiB: few samples are dealt unluckily more often, and cost less. It falls while samples are added.
  Index repeats() const { return static_cast<Index>(parts_.size()); }
  Index samples() const;                                                           // of a weight above 0
  double total_weight() const;                                                     // the sum of the weights
  Index domains() const { return parts_[0][0].domains(); }                         // m
  Index dimension(Domain domain) const { return parts_[0][0].dimension(domain); }  // d_i
  Index fold_of(Index repeat, Index sample) const;                                 // in the order they were added
  const Summary& held_out(Index repeat, Index fold) const;                         // the samples of one fold
  Summary training(Index repeat, Index fold) const;                                // all other folds, merged
  Summary all() const;                                                             // the summary of all samples

  // As those of Summary.
  void save(const std::string& path) const;
  static Folds load(const std::string& path);
  std::string to_bytes() const;
  static Folds from_bytes(std::string_view bytes);

 private:
  Index repeats_needed(Index samples) const;
  void keep_repeats_for(Index samples);
  void deal(const MatchedSamples& X, const Vector& weights);  // no weights: 1 each
  TensorWriter pack() const;
  static Folds unpack(const TensorReader& file);

  FoldOptions options_;
  std::vector<Index> dealt_;                 // samples dealt together, from the first deal on: one entry a merged set
  std::vector<std::vector<Summary>> parts_;  // [repeat][fold]
};

}  // namespace cgmca
#pragma GCC visibility pop
