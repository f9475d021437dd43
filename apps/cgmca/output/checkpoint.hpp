// The state of a long summarize on disk: killed at any moment, it goes on from there.
//
// A checkpoint is a summary file whose note tells the inputs it is of, so that one atomic rename replaces both at once.
// Since a loaded summary continues to the bit, a resumed run ends with the same file as an uninterrupted one.
#pragma once

#include <cgmca/summary.hpp>
#include <chrono>
#include <optional>
#include <string>

#include "input/pairs.hpp"
#include "shell/session.hpp"

namespace cgmca::cli {

struct CheckpointOptions {
  std::string path;   // empty: none
  double every = 60;  // seconds
  bool resume = false;

  void check() const;  // throws UsageError
};
void add_checkpoint_options(CLI::App& command, CheckpointOptions& options);

// What the checkpoint of one of several ranks is called after the path that was given: ".2of4".
std::string of_rank(int rank, int count);
// Throws UsageError where there are checkpoints of another number of ranks: they would be left where they are.
void refuse_checkpoints_of_ranks(const std::string& path, int count);

class Checkpoint {
 public:
  Checkpoint(const Session& session, const CheckpointOptions& options, const PairSources& sources,
             Accumulate accumulate);

  // The summary so far, where one is to be resumed. Throws InvalidInput, with the figures, where the checkpoint is of
  // other inputs or options, or the inputs have changed since.
  struct Resumed {
    Summary summary;
    Index read;  // pairs of the inputs, those left out too
  };
  std::optional<Resumed> resume() const;
  // Between blocks: writes the checkpoint when it is time to, or when this is the last one before a stop. Where it
  // cannot be written, warns once, and the work goes on.
  void keep(const Summary& summary, Index read, bool last);
  void write(const Summary& summary, Index read);  // now; no message but a warning
  void remove() const;                             // once the summary itself is written

 private:
  const Session& session_;
  CheckpointOptions options_;
  Json inputs_;
  bool warned_ = false;
  std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
};

}  // namespace cgmca::cli
