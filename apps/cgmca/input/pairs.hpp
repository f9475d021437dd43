// The inputs of fit, summarize and verify: matched samples of several domains, read in step and in blocks.
#pragma once

#include <cgmca/incomplete.hpp>
#include <cgmca/model.hpp>
#include <cgmca/parts.hpp>
#include <cgmca/summary.hpp>
#include <cgmca/verify.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "input/samples.hpp"
#include "input/weights.hpp"
#include "shell/session.hpp"

namespace CLI {
class App;
}

namespace cgmca::cli {

struct PairSources {
  std::vector<std::string> paths;  // one a domain
  std::vector<std::string> names;  // of the domains, from NAME=FILE; empty where not given
  InputOptions input;
  std::string match;             // "real/synth": pair the images of two folders by name; empty: by order
  std::string nuisance;          // --nuisance; empty: none
  const Model* model = nullptr;  // whose values of the nuisance the file has
  std::string weights;           // --weights; empty: each pair counts once
  std::optional<Part> part;      // only this one of the pairs
  bool may_lack = false;         // samples may lack domains: --missing keep

  std::vector<std::string> files() const;  // all that is read
  bool given() const { return !paths.empty(); }
  Index domains() const { return std::ssize(paths); }
  void check() const;  // throws UsageError where there are fewer than two
  // The same with the values of the nuisance that the model has, where they are needed. Throws as check_nuisance does.
  PairSources of(const Model& model, bool needed) const;
};
// The positionals X, one a domain, what add_input_options adds, --match and --weights.
void add_pair_options(CLI::App& command, PairSources& sources, bool required = true);

// --nuisance, and the last matrix of a block its values.
void add_nuisance_option(CLI::App& command, std::string& nuisance);
// Throws UsageError unless --nuisance is given exactly where it is needed.
void check_nuisance(const std::string& nuisance, const Model& model, bool needed);

class PairReader {
 public:
  // Opens all, and tells the samples without partner (--match, --id). Throws UnequalSamples, with the shapes, where the
  // numbers of samples are known and differ.
  PairReader(const PairSources& sources, const Session& session);

  Index count() const { return std::ssize(inputs_); }  // of domains, a nuisance among them
  Index features(Domain domain) const { return inputs_[domain].features(); }
  std::vector<Index> dimensions() const;     // features of each
  std::vector<DomainInfo> domains() const;   // with the names that were given and those of the files' headers
  std::optional<Index> samples() const;      // that are read
  std::optional<Index> all_samples() const;  // of the inputs, of which a part may be read
  bool streams() const;
  std::string shape(Domain domain) const { return inputs_[domain].shape(); }
  Rows shapes() const;       // {"X1", "'a.npy' (…)"}, …
  std::string noun() const;  // "pairs", "matched samples"

  // Puts the features into the model's order where both have names. Throws WrongDimension or InvalidInput, showing the
  // file and the model, where they do not belong together.
  void check_features(const Model& model, const std::string& model_path);
  // The same for inputs of these domains of the model; further inputs are of other domains.
  void check_features(const Model& model, const std::string& model_path, const std::vector<Domain>& domains);

  struct Block {
    ByDomain<Matrix> X;  // d_i×n, one a domain
    Vector weights;      // above 0; empty: each counts once

    Index samples() const { return X.front().cols(); }
    MatchedSamples views() const { return {X.begin(), X.end()}; }
  };
  Block next();  // of a size that keeps memory small; no columns at the end
  // Hands out the next block as it is stored, in single precision too. False at the end.
  using Take = std::function<void(const MatchedSamples& X, const Vector& weights)>;
  bool hand_next_to(const Take& take);
  Index first_samples() const;  // samples of the first input, once all are read: those without partner too
  Index position() const { return gaps_.seen() - share_.value_or(Share{}).first; }  // pairs read, those left out too
  const std::vector<Index>& numbers() const {
    return numbers_;
  }  // of the pairs handed out last, in the first input, from 0
  // Of a run that was stopped. Left out were pairs with missing values, and those of weight 0.
  void skip(Index pairs, Index left_out = 0);

 private:
  std::vector<SampleReader::Block> read_block();      // no columns at the end
  std::vector<SampleReader::Block> complete_block();  // of what --missing and --weights leave
  Vector weights_of(Index first, Index count);        // of pairs; they are read in order. None without --weights
  void check_all_weighted();                          // at the end
  void check_weights(std::optional<Index> weights, std::optional<Index> pairs) const;
  void match_by_name();  // --match
  void match_by_key();   // --id
  void find_ids();       // without --id: first columns that name the samples
  void compare_names();  // those that were found
  void open_weights();   // --weights
  void take_share();     // --part
  [[noreturn]] void fail_unequal();

  const PairSources sources_;
  const Session& session_;
  ByDomain<SampleReader> inputs_;
  Gaps gaps_;
  std::vector<Index> numbers_;
  std::optional<Index> first_samples_;  // where not all have a partner
  std::optional<WeightReader> weight_reader_;
  std::optional<Vector> all_weights_;  // of the first input's samples, where they are matched by key
  Vector weights_;                     // of the pairs handed out last
  Index without_weight_ = 0;           // pairs of weight 0 so far
  std::optional<Share> share_;         // the pairs that are read; none: all
  bool notes_told_ = false;            // of the inputs
};

// Adds what is left in the reader to the summary, with progress. `after_block(last)` runs between blocks; `last` where
// a signal is about to stop the work (Interrupted).
void accumulate(
    const Session& session, PairReader& reader, Summary& summary,
    const std::function<void(bool)>& after_block = [](bool) {});

// All that is left in the reader, in memory.
struct AllPairs {
  ByDomain<Matrix> X;          // d_i×n, one a domain
  Vector weights;              // empty: each counts once
  std::vector<Index> numbers;  // of the samples in the first input, from 0
};
// All that is left in the reader, where samples may lack domains (--missing keep).
IncompleteSummary read_incomplete(const Session& session, PairReader& reader, Accumulate accumulate);

AllPairs read_all(const Session& session, PairReader& reader);

void add_to(Verifier& verifier, const PairReader::Block& block);

// One input of apply and translate, with the same check.
SampleReader open_samples(const Session& session, const std::string& source, const InputOptions& options,
                          const Model& model, const std::string& model_path, Domain domain);
// Tells the notes of the input.
void tell_notes(const Session& session, const SampleReader& reader);
// The order of the names where both have them, with a note. `whose`: "domain 1 of 'm'".
void take_order(const Session& session, SampleReader& reader, const std::vector<std::string>& names,
                const std::string& whose);
}  // namespace cgmca::cli
