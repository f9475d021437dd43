#include "support/file.hpp"

#include <cgmca/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cgmca {

bool exists(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) return false;
  throw IoError(fmt::format("cannot look at '{}': {}", path, std::strerror(errno)));
}

File::File(const std::string& path) : path_(path) {
  const auto fail = [&] {
    const int reason = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw IoError(fmt::format("cannot read '{}': {}", path_, std::strerror(reason)));
  };
  // Without O_NONBLOCK, opening a pipe that has no writer would wait for ever.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) fail();
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    const char* why = S_ISDIR(status.st_mode) ? "Is a directory, not a regular file" : "it is not a regular file";
    throw IoError(fmt::format("cannot read '{}': {}", path_, why));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

File::~File() { ::close(descriptor_); }

void File::expect(std::uint64_t offset, std::uint64_t count) const {
  constexpr std::uint64_t piece = 1 << 19;  // Linux takes no more than this at a time on some devices
  for (std::uint64_t end = std::min(offset + count, size_); offset < end; offset += piece) {
    ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(std::min(piece, end - offset)),
                    POSIX_FADV_WILLNEED);
  }
}

void File::read_at(std::uint64_t offset, void* to, std::size_t count) const {
  char* next = static_cast<char*>(to);
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = ::pread(descriptor_, next + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw IoError(fmt::format("cannot read '{}': {}", path_, std::strerror(errno)));
    if (got == 0)
      throw IoError(
          fmt::format("'{}' became shorter while it was read: {} bytes when opened, but only {} of the {} "
                      "expected at byte {}",
                      path_, size_, done, count, offset));
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace cgmca
