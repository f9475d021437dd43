#include "files.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "session.hpp"

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

// Whether writing the one changes the other. A file's members can be written one by one.
bool same_place(const std::string& one, const std::string& other) {
  const std::string file = file_of(one), other_file = file_of(other);
  const std::string member = one.substr(file.size()), other_member = other.substr(other_file.size());
  if (!member.empty() && !other_member.empty() && member != other_member) return false;
  std::error_code ignored;
  return fs::equivalent(file, other_file, ignored) ||
         fs::absolute(file).lexically_normal() == fs::absolute(other_file).lexically_normal();
}

}  // namespace

void check_target(const std::string& target, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs) {
  const std::string file = file_of(target);
  std::error_code ignored;
  for (const auto& [others, what] : {std::pair(&inputs, "an input"), std::pair(&outputs, "another output")}) {
    for (const std::string& other : *others) {
      if (other.empty() || !same_place(target, other)) continue;
      throw UsageError(fmt::format("the output '{}' is also {}; choose another name", target, what));
    }
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
  if (!fs::is_directory(folder, ignored)) fail("it is no folder");
  if (::access(folder.c_str(), W_OK) != 0) fail(std::strerror(errno));
}

void write_all(const std::vector<std::pair<std::string, Matrix>>& outputs) {
  if (outputs.empty()) return;
  const auto& [target, X] = outputs.front();
  if (outputs.size() == 1) return write(target, X);
  Backup backup(target);
  write(target, X);
  try {
    write_all({outputs.begin() + 1, outputs.end()});
  } catch (...) {
    backup.restore();
    throw;
  }
}

}  // namespace cgmca::cli
