#include "files.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "session.hpp"
#include "support/atomic_file.hpp"
#include "support/file.hpp"

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

// A cell of a text file.
std::string cell(const std::string& text, char separator) {
  if (text.find_first_of(std::string("\"\n\r") + separator) == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// The numbers as write() has them, and before each line the sample's key.
void write_with_ids(const Output& output) {
  const fs::path path(output.target);
  const std::string beside =
      (path.parent_path() / fmt::format(".{}.{}{}", path.stem().string(), ::getpid(), path.extension().string()))
          .string();
  std::string text;
  try {
    write(beside, output.X, output.options);
    const File file(beside);
    text.resize(file.size());
    file.read_at(0, text.data(), text.size());
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
  ::unlink(beside.c_str());
  const char separator = extension_of(output.target) == ".tsv" ? '\t' : ',';
  std::string lines;
  std::size_t begin = 0;
  if (!output.options.feature_names.empty()) lines = cell(output.id_name, separator) + separator;
  const auto take_line = [&] {
    const std::size_t end = text.find('\n', begin);
    lines += text.substr(begin, end + 1 - begin);
    begin = end + 1;
  };
  // A header may be of several lines, where a name is: the samples are the last ones.
  auto header = std::count(text.begin(), text.end(), '\n') - static_cast<std::ptrdiff_t>(output.ids.size());
  for (; header > 0; --header) take_line();
  for (const std::string& id : output.ids) {
    lines += cell(id, separator) + separator;
    take_line();
  }
  AtomicFile file(output.target);
  file.write(lines.data(), lines.size());
  file.commit();
}

void write_one(const Output& output) {
  if (!output.ids.empty() && is_text(output.target)) return write_with_ids(output);
  write(output.target, output.X, output.options);
}

}  // namespace

void check_target(const std::string& target, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs) {
  const std::string file = file_of(target);
  std::error_code ignored;
  for (const std::string& input : inputs) {
    if (input.empty() || !replaces_input(target, input)) continue;
    throw UsageError(fmt::format("the output '{}' is also an input; choose another name", target));
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
  if (outputs.size() == 1) return write_one(outputs.front());
  Backup backup(outputs.front().target);
  write_one(outputs.front());
  try {
    write_all({outputs.begin() + 1, outputs.end()});
  } catch (...) {
    backup.restore();
    throw;
  }
}

}  // namespace cgmca::cli
