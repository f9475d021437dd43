// The two inputs of fit, summarize and verify: matched pairs, read in step and in blocks.
#pragma once

#include <array>
#include <cgmca/io.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session.hpp"

namespace CLI {
class App;
}

namespace cgmca::cli {

struct PairSources {
  std::array<std::string, 2> paths;
  std::array<std::string, 2> names;  // of the domains, from NAME=FILE; empty where not given
  bool columns = false;
  std::string match;  // "real/synth": pair the images of two folders by name; empty: by order

  bool given() const { return !paths[0].empty() || !paths[1].empty(); }
};
// The positionals X1 and X2, --columns and --match.
void add_pair_options(CLI::App& command, PairSources& sources, bool required = true);

class PairReader {
 public:
  // Opens both. Throws UnequalSamples, with both shapes, where the numbers of samples are known and differ.
  explicit PairReader(const PairSources& sources);

  Index features(Domain domain) const { return features_[slot(domain)]; }
  std::vector<DomainInfo> domains() const;  // with the names that were given and those of the files' headers
  std::optional<Index> samples() const;
  bool streams() const;
  std::string shape(Domain domain) const;  // "'a.npy' (100 samples × 784 features)"

  // Throws WrongDimension, showing the file and the model, where they do not belong together.
  void check_features(const Model& model, const std::string& model_path) const;

  // Names without partner in the other folder (--match).
  const std::vector<std::string>& unmatched() const { return unmatched_; }

  struct Block {
    Matrix X1, X2;
  };
  Block next();  // of a size that keeps memory small; no columns at the end
  // Adds the next block as it is stored, in single precision too. How many pairs; 0 at the end.
  Index add_next_to(Summary& summary);
  void skip(Index count);

 private:
  std::optional<Index> samples_of(std::size_t i) const;
  Matrix next_of(std::size_t i, Index count);
  void count_in(Index first, Index second);
  [[noreturn]] void fail_unequal();

  PairSources sources_;
  std::array<std::optional<BlockReader>, 2> readers_;    // unless images are matched by name:
  std::array<std::vector<std::string>, 2> image_names_;  // the files of each folder, in order
  std::vector<std::string> unmatched_;
  std::array<Index, 2> features_{};
  Index position_ = 0;
};

// Adds what is left in the reader to the summary, with progress. `after_block(last)` runs between blocks; `last` where
// a signal is about to stop the work (Interrupted).
void accumulate(const Session& session, PairReader& reader, Summary& summary,
                const std::function<void(bool)>& after_block = {});

// One input of apply and translate, with the same check.
BlockReader open_samples(const std::string& source, const ReadOptions& options, const Model& model,
                         const std::string& model_path, Domain domain);
// Samples for a block of about 16 MB.
Index block_samples(Index features);

}  // namespace cgmca::cli
