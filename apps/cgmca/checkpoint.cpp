#include "checkpoint.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <vector>

#include "support/file.hpp"

namespace cgmca::cli {
namespace {

namespace fs = std::filesystem;

class Hash {  // FNV-1a, 64 bits: to notice changes, not to withstand forgery
 public:
  void add(const char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) value_ = (value_ ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3U;
  }
  void add(const std::string& text) { add(text.data(), text.size()); }
  std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

struct stat status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    throw IoError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  return status;
}

std::int64_t modified(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

// First and last 64 KiB: most edits that keep size and time of a file show there.
std::string hash_of_ends(const std::string& path) {
  const File file(path);
  Hash hash;
  std::vector<char> part(std::min<std::uint64_t>(file.size(), 65536));
  for (const std::uint64_t place : {std::uint64_t{0}, file.size() - part.size()}) {
    file.read_at(place, part.data(), part.size());
    hash.add(part.data(), part.size());
  }
  return hash.text();
}

// The images that are read of a folder.
Json fingerprint_of_images(const std::string& folder) {
  const std::vector<std::string> names = list_images(folder);
  Hash hash;
  std::int64_t latest = 0, bytes = 0;
  for (const std::string& name : names) {
    const struct stat file = status_of(folder + "/" + name);
    hash.add(fmt::format("{}/{}/{}/", name, file.st_size, modified(file)));
    latest = std::max(latest, modified(file));
    bytes += file.st_size;
  }
  Json object;
  object["files"] = names.size();
  object["bytes"] = bytes;
  object["modified_ns"] = latest;
  object["hash_of_names_sizes_and_times"] = hash.text();
  return object;
}

// What tells a file or folder from another, or from itself after a change. Not its name: a renamed file is the same.
Json fingerprint(const std::string& source) {
  const std::string path = file_of(source);
  const struct stat status = status_of(path);
  if (S_ISDIR(status.st_mode)) return fingerprint_of_images(path);
  Json object;
  object["member"] = source.substr(path.size());
  object["bytes"] = status.st_size;
  object["modified_ns"] = modified(status);
  object["hash_of_ends"] = hash_of_ends(path);
  return object;
}

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
  return fmt::format("{}", fmt::join(lines, "; "));
}

// kill -9 while a checkpoint is written leaves its temporary file, ".NAME.XXXXXX", behind.
void remove_leftovers(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const std::string start = fmt::format(".{}.", fs::path(path).filename().string());
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(start) && name.size() == start.size() + 6) fs::remove(entry.path(), ignored);
  }
}

}  // namespace

void add_checkpoint_options(CLI::App& command, CheckpointOptions& options) {
  command.add_option("--checkpoint", options.path, "Keep the state of the work in FILE; it is removed at the end")
      ->option_text("FILE");
  command.add_option("--every", options.every, "Write the checkpoint every S seconds; default: 60")
      ->check(CLI::NonNegativeNumber)
      ->option_text("S");
  command.add_flag("--resume", options.resume, "Go on from the checkpoint, or start where there is none");
}

void CheckpointOptions::check() const {
  if (path.empty() && (resume || every != CheckpointOptions{}.every)) {
    throw UsageError(fmt::format("{} needs --checkpoint FILE", resume ? "--resume" : "--every"));
  }
  std::error_code ignored;
  if (!path.empty() && !resume && fs::exists(path, ignored)) {
    throw UsageError(fmt::format("there is a checkpoint '{}'; go on from it with --resume, or remove it", path));
  }
}

Checkpoint::Checkpoint(const Session& session, const CheckpointOptions& options, const PairSources& sources,
                       Accumulate accumulate)
    : session_(session), options_(options) {
  if (options_.path.empty()) return;
  Json inputs;
  inputs["X1"] = fingerprint(sources.paths[0]);
  inputs["X2"] = fingerprint(sources.paths[1]);
  inputs["columns"] = sources.columns;
  inputs["match"] = sources.match;
  inputs["accumulate"] = name(accumulate);
  inputs_ = inputs.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (options_.resume) remove_leftovers(options_.path);
}

std::optional<Summary> Checkpoint::resume() const {
  std::error_code ignored;
  if (!options_.resume || !fs::exists(options_.path, ignored)) return std::nullopt;
  std::string note;
  Summary summary = Summary::load(options_.path, &note);
  const Json then = Json::parse(note, nullptr, false);
  if (!then.is_object()) throw FormatError(fmt::format("'{}' is a summary, but no checkpoint", options_.path));
  if (note != inputs_) {
    throw InvalidInput(fmt::format("the checkpoint '{}' is of other inputs or options ({}); remove it to start anew",
                                   options_.path, differences(then, Json::parse(inputs_))));
  }
  session_.message(fmt::format("going on after {} pairs", summary.samples()));
  return summary;
}

void Checkpoint::keep(const Summary& summary, bool last) {
  if (options_.path.empty()) return;
  const auto now = std::chrono::steady_clock::now();
  if (!last && std::chrono::duration<double>(now - written_).count() < options_.every) return;
  summary.save(options_.path, inputs_);
  written_ = std::chrono::steady_clock::now();
  if (last) {
    session_.message(fmt::format("{} pairs are in the checkpoint '{}'; --resume goes on from there", summary.samples(),
                                 options_.path));
  }
}

void Checkpoint::remove() const {
  if (!options_.path.empty()) ::unlink(options_.path.c_str());
}

}  // namespace cgmca::cli
