// A regular file open for reading, by place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cgmca {

// Whether there is a file or folder of this name. Throws IoError where that cannot be found out: who took a failing
// disk for "no" would write a new file in place of the one that is there.
bool exists(const std::string& path);

// Every failure is an IoError that names the file.
class File {
 public:
  explicit File(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // when it was opened
  // All `count` bytes from `offset` on, which the caller knows to lie within size(); a file that
  // has become shorter since is an IoError with the figures.
  void read_at(std::uint64_t offset, void* to, std::size_t count) const;
  // Asks the system to have these bytes in memory soon, and returns at once.
  void expect(std::uint64_t offset, std::uint64_t count) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace cgmca
