// cgmca: the command line. Options are read here, work is done by the subcommand chosen, and every error ends in one
// message on stderr, a JSON object with --json, and an exit status (1 internal or numerical, 2 usage, 3 data,
// 4 infeasible, 5 files).
#include <cgmca/blas_kernels.hpp>
#include <cgmca/device.hpp>
#include <cgmca/error.hpp>
#include <cgmca/threads.hpp>

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <new>
#include <string_view>

#include "commands/commands.hpp"
#include "shell/blas_memory.hpp"
#include "shell/help.hpp"
#include "shell/ranks.hpp"
#include "shell/session.hpp"
#include "shell/signals.hpp"
#include "shell/version.hpp"
#include "support/suggest.hpp"
#include "support/text.hpp"

namespace cgmca::cli {
namespace {

// What the arguments ask for before they are parsed, so that errors in them are told in the same way.
bool wants_json(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

enum Status { done = 0, failure = 1, usage = 2, bad_data = 3, infeasible = 4, io_error = 5 };

void add_common_options(CLI::App& app, Session& session) {
  app.add_flag("--json", session.json, "Print the result as one JSON object, and errors as one on stderr");
  app.add_flag("-q,--quiet", session.quiet, "Print nothing but errors and what --json asks for");
  app.add_flag("-v,--verbose", session.verbose, "Print more on stderr");
  app.add_option("--threads", session.threads, "Threads for the linear algebra; default: one for each core")
      ->check(CLI::Range(1, 4096))
      ->option_text("N");
  app.add_option("--progress", session.progress,
                 "auto (a bar on a terminal, the default), plain (a line every 2 s), off")
      ->check(CLI::IsMember({"auto", "plain", "off"}))
      ->option_text("auto|plain|off");
  app.set_version_flag("--version", [] {
    return fmt::format("cgmca {}\n{}\n{} threads\ncuda: {}", kVersion, blas_description(), cgmca::threads(),
                       cuda_device().description);
  });
}

// The subcommand that the arguments name, before they are parsed; null where there is none.
const CLI::App* named_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const auto named = app.get_subcommands([&](const CLI::App* command) { return command->get_name() == argument; });
    if (!named.empty()) return named.front();
  }
  return nullptr;
}

// CLI11 reports a missing argument before an unknown option, so a misspelt one is looked for first.
void check_names(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = named_command(app, arguments);
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    if (!argument.starts_with("--")) continue;
    std::vector<std::string> known;
    for (const CLI::App* part : {&app, command}) {
      if (part == nullptr) continue;
      for (const CLI::Option* option : part->get_options()) {
        for (const auto& name : option->get_lnames()) known.push_back("--" + name);
      }
    }
    const std::string name = argument.substr(0, argument.find('='));
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw UsageError(fmt::format("{} has no option {}{}", command ? "cgmca " + command->get_name() : "cgmca", name,
                                 did_you_mean(name, known)));
  }
}

// What other programs call it.
constexpr std::array<std::pair<const char*, const char*>, 28> kMeanings = {{
    {"train", "fit"},           {"learn", "fit"},         {"match", "fit"},         {"fusion", "fuse"},
    {"predict", "translate"},   {"convert", "translate"}, {"inverse", "translate"}, {"inverse-transform", "translate"},
    {"impute", "translate"},    {"transform", "apply"},   {"map", "apply"},         {"project", "apply"},
    {"encode", "apply"},        {"evaluate", "verify"},   {"check", "verify"},      {"test", "verify"},
    {"score", "verify"},        {"combine", "merge"},     {"join", "merge"},        {"show", "info"},
    {"describe", "info"},       {"inspect", "info"},      {"plot", "report"},       {"save", "export"},
    {"cross-validate", "tune"}, {"add", "extend"},        {"add-domain", "extend"}, {"cv", "tune"},
}};

std::string suggestion(const std::string& wrong, const std::vector<std::string>& known) {
  for (const auto& [word, command] : kMeanings) {
    if (wrong == word) return fmt::format(", that is '{}' here", command);
  }
  return did_you_mean(wrong, known);
}

// The first argument that is neither an option nor its value must be a subcommand.
[[noreturn]] void fail_without_command(const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) known.push_back(command->get_name());
  }
  const auto rest = app.remaining();
  if (rest.empty()) throw UsageError(fmt::format("no command is given; give one of {}", fmt::join(known, ", ")));
  throw UsageError(fmt::format("there is no command '{}'{} ({})", rest.front(), suggestion(rest.front(), known),
                               fmt::join(known, ", ")));
}

// Blocks of samples are freed and allocated again all the time. Without this, glibc gives their memory back each time
// and the system clears it for the next block, which takes a quarter of the time of `summarize`.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

// "fit -o m"
std::string job_of(const CLI::App& command) {
  for (const char* name : {"--output", "--out"}) {
    const CLI::Option* output = command.get_option_no_throw(name);
    if (output != nullptr && output->count() > 0) {
      return fmt::format("{} -o {}", command.get_name(), output->as<std::string>());
    }
  }
  return command.get_name();
}

void run(CLI::App& app, Session& session, std::vector<std::string> arguments) {
  check_names(app, arguments);
  std::reverse(arguments.begin(), arguments.end());  // the order CLI11 wants
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    return print(chosen.empty() ? app.help() : chosen.front()->help("cgmca"));
  } catch (const CLI::CallForVersion& version) {
    return print(version.what() + std::string("\n"));
  } catch (const CLI::ParseError& problem) {
    throw UsageError(problem.what());
  }
  if (!session.command) fail_without_command(app);
  if (!app.remaining(true).empty()) {
    throw UsageError(fmt::format("unexpected argument '{}'; see --help", fmt::join(app.remaining(true), " ")));
  }
  const int started = threads();
  if (session.threads > 0) set_threads(session.threads);
  ask_for_blas_memory(started);
  session.job = job_of(*app.get_subcommands().front());
  session.command();
}

struct Failure {
  int status;
  const char* kind;  // of the JSON object
  std::string message;
};

// Called while an exception is handled.
Failure failure_now() {
  try {
    throw;
  } catch (const UsageError& problem) {
    return {usage, "usage", problem.what()};
  } catch (const Interrupted& interrupted) {
    return {128 + interrupted.signal, "interrupted",
            fmt::format("stopped by {}; no output file has changed", interrupted.signal == SIGINT ? "Ctrl-C" : "kill")};
  } catch (const Refuted& verdict) {
    return {bad_data, "refuted", verdict.what()};
  } catch (const InvalidInput& problem) {
    return {bad_data, "data", problem.what()};
  } catch (const FormatError& problem) {
    return {bad_data, "format", problem.what()};
  } catch (const Infeasible& problem) {
    return {infeasible, "infeasible", problem.what()};
  } catch (const IoError& problem) {
    return {io_error, "files", problem.what()};
  } catch (const TooLittleMemory& problem) {
    return {failure, "memory", problem.what()};
  } catch (const std::bad_alloc&) {
    return {failure, "memory", "not enough memory; --dry-run tells how much is needed"};
  } catch (const NumericalFailure& problem) {
    return {failure, "numerical", problem.what()};
  } catch (const DeviceError& problem) {
    return {failure, "device", problem.what()};
  } catch (const std::exception& problem) {  // InternalError, and what should never get here
    return {failure, "internal", fmt::format("internal error, please report it: {}", problem.what())};
  }
}

void tell(const Failure& failed, bool json, const CLI::App* command, const std::string& speaker) {
  const std::string message = speaker + in_options(failed.message);
  if (json) {
    const Json object = {{"error", failed.kind}, {"message", message}, {"status", failed.status}};
    fmt::print(stderr, "{}\n", object.dump(-1, ' ', false, Json::error_handler_t::replace));
    return;
  }
  fmt::print(stderr, "cgmca: {}\n", printable(message));
  if (failed.status != usage) return;
  fmt::print(stderr, "See cgmca {}--help\n", command != nullptr ? command->get_name() + " " : "");
}

}  // namespace
}  // namespace cgmca::cli

int main(int argc, char** argv) {
  using namespace cgmca;
  using namespace cgmca::cli;
  restart_with_faster_kernels(argv);
  keep_freed_memory();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool json = wants_json(arguments);
  watch_signals(json);
  Session session;
  CLI::App app("Maps of matched samples of two domains or more into a common space, with prescribed covariances",
               "cgmca");
  try {
    add_common_options(app, session);
    for (auto* add :
         {add_fit,           add_verify,   add_translate, add_report, add_apply,     add_fuse,       add_extend,
          add_pairs_command, add_info,     add_summarize, add_merge,  add_index,     add_tune,       add_tests,
          add_explain,       add_diagnose, add_bootstrap, add_export, add_reproduce, add_completion, add_man}) {
      add(app, session);
    }
    teach(app);
    run(app, session, arguments);
    return done;
  } catch (const OnAnotherRank&) {
    return done;  // that rank tells, and its status is the job's
  } catch (...) {
    const Failure failed = failure_now();
    tell(failed, json, named_command(app, arguments), session.speaker());
    if (session.ranks && !session.ranks->all_know) session.ranks->abort(failed.status);
    if (std::string_view(failed.kind) == "memory") ::_exit(failed.status);  // a thread of OpenBLAS may never end
    return failed.status;
  }
}
