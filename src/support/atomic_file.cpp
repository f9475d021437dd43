#include "support/atomic_file.hpp"

#include <cgmca/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <string_view>
#include <utility>

#include "support/file.hpp"

namespace cgmca {
namespace {

// Follows symbolic links, so that the file a link points to is replaced or made, and not the link.
std::string resolve(std::filesystem::path path) {
  std::error_code error;
  constexpr int most_links = 40;  // as in Linux
  for (int links = 0; std::filesystem::is_symlink(path, error); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error || links == most_links) break;
    path = path.parent_path() / next;
  }
  const auto real = std::filesystem::canonical(path, error);
  return error ? path.string() : real.string();
}

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

// ".NAME." of the file NAME; six letters follow. The name of a file may have 255 bytes.
std::string start_of_temporary(const std::string& target) {
  constexpr std::size_t most = 255 - 8;
  return fmt::format(".{}.", std::filesystem::path(target).filename().string().substr(0, most));
}

std::string random_letters(std::size_t count) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> any(0, letters.size() - 1);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += letters[any(random)];
  return text;
}

// A new file beside the target, with the permissions the target has or would get: the kernel applies the umask, which
// the process could only ask for by changing it under the feet of its other threads.
int open_beside(const std::string& target, std::string& name) {
  const std::string start = fmt::format("{}/{}", folder_of(target), start_of_temporary(target));
  int descriptor = -1;
  constexpr int most_attempts = 100;  // each finds the name taken with probability 62^-6 per file there
  for (int attempt = 0; attempt < most_attempts && descriptor < 0; ++attempt) {
    name = start + random_letters(6);
    descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  if (descriptor < 0) {
    name.clear();
    return -1;
  }
  struct stat existing {};
  const bool exists = ::stat(target.c_str(), &existing) == 0;
  if (exists && ::fchmod(descriptor, existing.st_mode & 07777) != 0) { /* some file systems know no permissions */
  }
  return descriptor;
}

// Makes a rename durable. Not every file system can sync a folder; the file itself is synced
// already.
void sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

[[noreturn]] void fail_at(const std::string& target, const char* doing) {
  throw IoError(fmt::format("cannot {} '{}': {}", doing, target, std::strerror(errno)));
}

}  // namespace

AtomicFile::AtomicFile(const std::string& target) : target_(resolve(target)) {
  struct stat existing {};
  const bool there = exists(target_) && ::stat(target_.c_str(), &existing) == 0;
  if (there && S_ISDIR(existing.st_mode)) {
    errno = EISDIR;
    fail("write");
  }
  if (there && !S_ISREG(existing.st_mode)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    descriptor_ = open_beside(target_, temporary_);
  }
  if (descriptor_ < 0) fail("create");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* bytes, std::size_t count) {
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    next += written;
    count -= static_cast<std::size_t>(written);
    written_ += static_cast<std::uint64_t>(written);
  }
  keep_disk_busy();
}

// Lets the disk write while the caller works, and waits for what it should have written by now. Otherwise the system
// keeps gigabytes in memory, and commit() waits for all of them.
void AtomicFile::keep_disk_busy() {
#ifdef __linux__
  constexpr std::uint64_t apart = 32 << 20;
  if (temporary_.empty() || written_ - started_ < apart) return;
  const auto place = static_cast<off64_t>(started_);
  if (started_ >= apart) {
    ::sync_file_range(descriptor_, place - static_cast<off64_t>(apart), apart,
                      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  }
  ::sync_file_range(descriptor_, place, static_cast<off64_t>(written_ - started_), SYNC_FILE_RANGE_WRITE);
  started_ = written_;
#endif
}

void AtomicFile::write_at(std::uint64_t place, const void* bytes, std::size_t count) {
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::pwrite(descriptor_, next, count, static_cast<off_t>(place));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    next += written;
    place += static_cast<std::uint64_t>(written);
    count -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::read_at(std::uint64_t place, void* to, std::size_t count) const {
  char* next = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, next, count, static_cast<off_t>(place));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) fail("read");
    next += got;
    place += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
}

void AtomicFile::commit() {
  if (!temporary_.empty() && ::fsync(descriptor_) != 0) fail("write");
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write");
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("replace");
  temporary_.clear();
  sync_folder(folder_of(target_));
}

void AtomicFile::fail(const char* doing) const { fail_at(target_, doing); }

void write_atomically(const std::string& target, const std::function<void(const std::string& path)>& produce) {
  const std::string resolved = resolve(target);
  std::string temporary;
  const int descriptor = open_beside(resolved, temporary);
  if (descriptor < 0) fail_at(resolved, "create");
  const auto give_up = [&] {
    ::close(descriptor);
    ::unlink(temporary.c_str());
  };
  try {
    produce(temporary);
  } catch (...) {
    give_up();
    throw;
  }
  if (::fsync(descriptor) != 0 || ::rename(temporary.c_str(), resolved.c_str()) != 0) {
    const int reason = errno;
    give_up();
    errno = reason;
    fail_at(resolved, "write");
  }
  ::close(descriptor);
  sync_folder(folder_of(resolved));
}

void remove_leftovers(const std::string& target) {
  const std::string start = start_of_temporary(target);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(target), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(start) && name.size() == start.size() + 6) std::filesystem::remove(entry.path(), ignored);
  }
}

void copy_file(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, error);
  if (error) throw IoError(fmt::format("cannot copy '{}' to a file beside it: {}", from, error.message()));
}

}  // namespace cgmca
