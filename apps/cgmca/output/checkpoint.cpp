#include "output/checkpoint.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "input/domains.hpp"
#include "input/fingerprint.hpp"
#include "support/atomic_file.hpp"
#include "support/file.hpp"

namespace cgmca::cli {
namespace {

namespace fs = std::filesystem;

// "X1 bytes: 800128 then, 400128 now"
std::string differences(const Json& then, const Json& now) {
  std::vector<std::string> lines;
  const Json before = then.flatten(), after = now.flatten();
  for (const auto& [key, value] : after.items()) {
    const Json old = before.value(key, Json(nullptr));
    if (old == value) continue;
    std::string words = key.substr(1);
    std::replace(words.begin(), words.end(), '/', ' ');
    lines.push_back(fmt::format("{}: {} then, {} now", words, old.dump(), value.dump()));
  }
  if (then.contains("weights") && !now.contains("weights")) lines.emplace_back("there were --weights then");
  if (then.contains("part") && !now.contains("part")) lines.emplace_back("there was a --part then");
  return fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace

void add_checkpoint_options(CLI::App& command, CheckpointOptions& options) {
  command.add_option("--checkpoint", options.path, "Keep the state of the work in FILE; it is removed at the end")
      ->option_text("FILE");
  command.add_option("--every", options.every, "Write the checkpoint every S seconds; default: 60")
      ->check(CLI::NonNegativeNumber)
      ->option_text("S");
  command.add_flag("--resume", options.resume, "Continue from the checkpoint, or start if there is none");
}

void CheckpointOptions::check() const {
  if (path.empty() && (resume || every != CheckpointOptions{}.every)) {
    throw UsageError(fmt::format("{} needs --checkpoint FILE", resume ? "--resume" : "--every"));
  }
  if (!path.empty() && !resume && exists(path)) {
    throw UsageError(
        fmt::format("the checkpoint '{}' exists already; continue from it with --resume, or remove it", path));
  }
}

std::string of_rank(int rank, int count) { return fmt::format(".{}of{}", rank + 1, count); }

void refuse_checkpoints_of_ranks(const std::string& path, int count) {
  if (path.empty()) return;
  const fs::path folder = fs::path(path).parent_path();
  const std::string start = fs::path(path).filename().string() + ".";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const std::string name = entry.path().filename().string();
    int rank = 0, ranks = 0, length = 0;
    if (!name.starts_with(start)) continue;
    if (std::sscanf(name.c_str() + start.size(), "%dof%d%n", &rank, &ranks, &length) != 2) continue;
    if (start.size() + static_cast<std::size_t>(length) != name.size() || ranks == count) continue;
    throw UsageError(
        fmt::format("there is a checkpoint '{}' of a job of {} ranks; continue with as many ranks, or remove it",
                    entry.path().string(), ranks));
  }
}

Checkpoint::Checkpoint(const Session& session, const CheckpointOptions& options, const PairSources& sources,
                       Accumulate accumulate)
    : session_(session), options_(options) {
  if (options_.path.empty()) return;
  Json inputs;
  for (std::size_t i = 0; i < sources.paths.size(); ++i) {
    inputs[fmt::format("X{}", i + 1)] = fingerprint(sources.paths[i]);
  }
  if (!sources.weights.empty()) inputs["weights"] = fingerprint(sources.weights);
  inputs["options"] = sources.input.text();
  inputs["match"] = sources.match;
  inputs["accumulate"] = name(accumulate);
  if (sources.part) inputs["part"] = fmt::format("{}/{}", sources.part->number, sources.part->count);
  // As it will be read back, so that the two compare.
  inputs_ = Json::parse(inputs.dump(-1, ' ', true, Json::error_handler_t::replace));
  if (options_.resume) remove_leftovers(options_.path);
}

std::optional<Checkpoint::Resumed> Checkpoint::resume() const {
  if (!options_.resume || !exists(options_.path)) return std::nullopt;
  std::string note;
  Summary summary = Summary::load(options_.path, &note);
  const Json then = Json::parse(note, nullptr, false);
  if (!then.is_object() || !then.contains("inputs") || !then.contains("read")) {
    throw FormatError(
        fmt::format("'{}' is a summary, but not a checkpoint; give another file to --checkpoint", options_.path));
  }
  if (then["inputs"] != inputs_) {
    throw InvalidInput(fmt::format("the checkpoint '{}' is of other inputs or options ({}); remove it to start again",
                                   options_.path, differences(then["inputs"], inputs_)));
  }
  session_.message(fmt::format("going on after {} {}", then["read"].get<Index>(), matched_noun(summary.domains())));
  return Resumed{std::move(summary), then["read"].get<Index>()};
}

void Checkpoint::keep(const Summary& summary, Index read, bool last) {
  const auto since = std::chrono::steady_clock::now() - written_;
  if (!last && std::chrono::duration<double>(since).count() < options_.every) return;
  if (last) warned_ = false;
  write(summary, read);
  if (options_.path.empty() || !last || warned_) return;
  session_.message(fmt::format("{} {} are in the checkpoint '{}'; --resume goes on from there", read,
                               matched_noun(summary.domains()), options_.path));
}

void Checkpoint::write(const Summary& summary, Index read) {
  if (options_.path.empty()) return;
  try {
    const Json note = {{"inputs", inputs_}, {"read", read}};
    summary.save(options_.path, note.dump(-1, ' ', true, Json::error_handler_t::replace));
  } catch (const IoError& problem) {  // the result is what matters
    if (!warned_) session_.message(fmt::format("warning: no checkpoint now: {}", problem.what()));
    warned_ = true;
  }
  written_ = std::chrono::steady_clock::now();
}

void Checkpoint::remove() const {
  if (!options_.path.empty()) ::unlink(options_.path.c_str());
}

}  // namespace cgmca::cli
