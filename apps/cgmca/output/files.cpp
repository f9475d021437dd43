#include "output/files.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "shell/progress.hpp"
#include "shell/session.hpp"
#include "shell/signals.hpp"

namespace cgmca::cli {
namespace {

namespace fs = std::filesystem;

// The target's present file under a second name, so that it can be put back.
class Backup {
 public:
  explicit Backup(const std::string& target) : target_(file_of(target)) {
    std::error_code ignored;
    if (!fs::is_regular_file(target_, ignored)) return;
    const fs::path path(target_);
    copy_ = (path.parent_path() / fmt::format(".{}.{}", path.filename().string(), ::getpid())).string();
    fs::create_hard_link(fs::canonical(path), copy_);
  }
  ~Backup() {
    if (!copy_.empty()) ::unlink(copy_.c_str());
  }
  Backup(const Backup&) = delete;
  Backup& operator=(const Backup&) = delete;

  void restore() {
    if (copy_.empty()) {
      ::unlink(target_.c_str());
    } else if (::rename(copy_.c_str(), target_.c_str()) == 0) {
      copy_.clear();
    }
  }

 private:
  std::string target_, copy_;
};

bool same_file(const std::string& one, const std::string& other) {
  const std::string file = file_of(one), other_file = file_of(other);
  std::error_code ignored;
  return fs::equivalent(file, other_file, ignored) ||
         fs::absolute(file).lexically_normal() == fs::absolute(other_file).lexically_normal();
}

std::string member_of(const std::string& target) { return target.substr(file_of(target).size()); }

// Whether writing the target would harm the input: another member of its file can be added.
bool replaces_input(const std::string& target, const std::string& input) {
  const std::string member = member_of(target), other = member_of(input);
  const bool adds = !member.empty() && !other.empty() && member != other;
  return !adds && same_file(target, input);
}

// Several outputs go into one file as long as their members differ.
bool replaces_output(const std::string& target, const std::string& output) {
  return member_of(target) == member_of(output) && same_file(target, output);
}

}  // namespace

void check_target(const std::string& target, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs) {
  const std::string file = file_of(target);
  std::error_code ignored;
  for (const std::string& input : inputs) {
    if (input.empty() || input == "-") continue;
    const std::vector<std::string> files = files_of(input);
    const bool harmed = replaces_input(target, input) ||
                        (files.size() > 1 && std::any_of(files.begin(), files.end(), [&](const std::string& one) {
                           return same_file(target, one);
                         }));
    if (harmed) throw UsageError(fmt::format("the output '{}' is also an input; choose another name", target));
  }
  for (const std::string& output : outputs) {
    if (output.empty() || !replaces_output(target, output)) continue;
    throw UsageError(fmt::format("the output '{}' is also another output; choose another name", target));
  }
  const auto parent = fs::path(file).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  const auto fail = [&](const char* why) { throw IoError(fmt::format("cannot write '{}': {}", target, why)); };
  if (fs::is_directory(file, ignored)) fail("it is a folder");
  if (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored)) return;  // a device or pipe
  if (!fs::is_directory(folder, ignored)) fail(fmt::format("there is no folder '{}'", folder).c_str());
  if (::access(folder.c_str(), W_OK) != 0) fail(fmt::format("folder '{}': {}", folder, std::strerror(errno)).c_str());
}

void check_target_folder(const std::string& target) {
  fs::path folder = fs::absolute(target).lexically_normal();
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  const auto fail = [&](const char* why) {
    throw IoError(fmt::format("cannot write to '{}': '{}': {}", target, folder.string(), why));
  };
  if (!fs::is_directory(folder, ignored)) fail("it is not a folder");
  if (::access(folder.c_str(), W_OK) != 0) fail(std::strerror(errno));
}

std::string extension_of(const std::string& target) {
  std::string extension = fs::path(file_of(target)).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

bool is_text(const std::string& target) { return extension_of(target) == ".csv" || extension_of(target) == ".tsv"; }

void write_all(const std::vector<Output>& outputs) {
  if (outputs.empty()) return;
  const Output& first = outputs.front();
  if (outputs.size() == 1) return write(first.target, first.X, first.options);
  Backup backup(first.target);
  write(first.target, first.X, first.options);
  try {
    write_all({outputs.begin() + 1, outputs.end()});
  } catch (...) {
    backup.restore();
    throw;
  }
}

void Outputs::add(const std::string& target, Index features, const WriteOptions& options) {
  writers_.emplace_back(target, features, options);
  targets_.push_back(target);
}

void Outputs::commit(const Session& session) { commit_from(session, 0); }

void Outputs::commit_from(const Session& session, std::size_t first) {
  std::optional<Backup> backup;
  if (first + 1 < writers_.size()) backup.emplace(targets_[first]);
  {
    BlockWriter& writer = writers_[first];
    Progress progress(session, fmt::format("samples put in place in '{}'", targets_[first]), writer.samples());
    writer.commit([&](Index samples) {
      progress.update(samples);
      stop_if_interrupted();
    });
  }
  if (!backup) return;
  try {
    commit_from(session, first + 1);
  } catch (...) {
    backup->restore();
    throw;
  }
}

}  // namespace cgmca::cli
