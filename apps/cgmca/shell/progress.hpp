// Progress of long work on stderr: a bar with rate and time left on a terminal; with `--progress plain` a line every
// few seconds, with the time and the job, and one at the end; nothing otherwise.
#pragma once

#include <cgmca/types.hpp>
#include <chrono>
#include <optional>
#include <string>

#include "shell/session.hpp"

namespace cgmca::cli {

class Progress {
 public:
  // `what` for instance "pairs read"; `total` where it is known, of which `done` were done before.
  Progress(const Session& session, std::string what, std::optional<Index> total, Index done = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(Index done);

 private:
  enum class Mode { none, bar, plain };
  using Clock = std::chrono::steady_clock;

  std::string line(Index done) const;

  Mode mode_ = Mode::none;
  std::string job_, what_;
  std::optional<Index> total_;
  Index before_, done_;
  Clock::time_point start_ = Clock::now(), shown_{};  // the first update is shown at once
  bool drawn_ = false, ended_ = false;
};

}  // namespace cgmca::cli
