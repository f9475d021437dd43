#include "input/fingerprint.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <vector>

#include "support/file.hpp"

namespace cgmca::cli {
namespace {

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

// Pieces all over a file, the whole of a small one: parts of one data set may begin and end alike.
void add_pieces(Hash& hash, const std::string& path) {
  constexpr std::uint64_t pieces = 64, length = 16384;
  const File file(path);
  hash.add(fmt::format("{}/", file.size()));
  const std::uint64_t step = std::max(length, file.size() / pieces);
  std::vector<char> part(length);
  for (std::uint64_t place = 0; place < file.size(); place += step) {
    const auto count = static_cast<std::size_t>(std::min(length, file.size() - place));
    file.read_at(place, part.data(), count);
    hash.add(part.data(), count);
  }
}

}  // namespace

Json fingerprint(const std::string& source) {
  if (source == "-") throw UsageError("standard input cannot be read again, so it goes with no checkpoint");
  if (const auto files = files_of(source); files.size() > 1) {
    Json object;
    for (const std::string& file : files) object.push_back(fingerprint(file));
    return object;
  }
  const std::string path = files_of(source).front();
  const struct stat status = status_of(path);
  if (S_ISDIR(status.st_mode)) return fingerprint_of_images(path);
  Json object;
  object["member"] = source.substr(path.size());
  object["bytes"] = status.st_size;
  object["modified_ns"] = modified(status);
  object["hash_of_ends"] = hash_of_ends(path);
  return object;
}

std::string hash_of(const std::string& text) {
  Hash hash;
  hash.add(text);
  return hash.text();
}

std::string identity(std::size_t domain, const std::string& source) {
  const std::vector<std::string> files = files_of(source);
  Hash hash;
  if (files.size() > 1) {
    for (const std::string& file : files) hash.add(identity(domain, file));
    return fmt::format("X{}:{} {}", domain, hash.text(), std::filesystem::path(source).filename().string());
  }
  const std::string& path = files.front();
  hash.add(source.substr(std::min(path.size(), source.size())) + "/");
  if (S_ISDIR(status_of(path).st_mode)) {
    for (const std::string& name : list_images(path)) {
      hash.add(name + "/");
      add_pieces(hash, path + "/" + name);
    }
  } else {
    add_pieces(hash, path);
  }
  return fmt::format("X{}:{} {}", domain, hash.text(), std::filesystem::path(source).filename().string());
}

}  // namespace cgmca::cli
