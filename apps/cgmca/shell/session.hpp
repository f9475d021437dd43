// What every subcommand shares: the options common to all, results to stdout, messages to stderr.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cgmca::cli {

using Json = nlohmann::ordered_json;

// The command line is wrong (exit status 2).
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The command ran, and its answer is no: a model does not fit the data, for instance (exit status 3).
class Refuted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// There is not enough memory, and the message says for what (exit status 1).
class TooLittleMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Ranks;

struct Session {
  bool json = false, quiet = false, verbose = false;
  int threads = 0;                // 0: as many as BLAS takes by itself
  std::string progress = "auto";  // auto, plain, off
  std::function<void()> command;  // the subcommand chosen, run once all options are known
  std::string job;                // "fit -o m": what runs, in lines for the log of many runs
  std::shared_ptr<Ranks> ranks;   // of an MPI job that this process is one of; null: it is alone

  double seconds() const;       // since the program started
  bool leads() const;           // whether this process tells results and progress: alone, or rank 0
  std::string speaker() const;  // "rank 2: " before messages of one of several ranks

  // To stdout, when all is done, if this process leads: the object with --json (with `seconds` added where it has
  // none), else the text, which -q silences. Throws IoError where stdout cannot take it; the error then says which
  // files are `written` all the same.
  void result(Json object, const std::string& text, const std::vector<std::string>& written = {}) const;

  void message(const std::string& text) const;  // to stderr, unless -q
  void detail(const std::string& text) const;   // to stderr, with -v

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What a message of the library says in the words of the command line: max_rank is --max-rank here.
std::string in_options(const std::string& message);

// Writes to stdout and makes sure that it got there. Throws IoError.
void print(const std::string& text);

// Lines of aligned labels and values.
using Rows = std::vector<std::pair<std::string, std::string>>;
std::string table(const Rows& rows);

std::string bytes_text(double bytes);  // "1.5 GB"

}  // namespace cgmca::cli
