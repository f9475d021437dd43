// A file that appears whole or not at all.
//
// Bytes go to a temporary file in the target's folder; commit() syncs it and renames it over the
// target. Without commit() the destructor removes it and the target stays as it was. A target that
// exists and is not a regular file (a pipe, a device) is written directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace cgmca {

class AtomicFile {
 public:
  explicit AtomicFile(const std::string& target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t count);  // throws IoError (disk full, …)
  void commit();

  // Whether the target appears whole, so that places of it can be read and written again before commit().
  bool appears_whole() const { return !temporary_.empty(); }
  const std::string& temporary() const { return temporary_; }  // where the bytes are until then
  void write_at(std::uint64_t place, const void* bytes, std::size_t count);
  void read_at(std::uint64_t place, void* to, std::size_t count) const;

 private:
  [[noreturn]] void fail(const char* doing) const;
  void keep_disk_busy();

  std::string target_, temporary_;  // temporary_ is empty when the target is written directly
  int descriptor_ = -1;
  std::uint64_t written_ = 0, started_ = 0;  // bytes; the disk has begun to write so many
};

// For libraries that insist on opening the file themselves (HDF5, libzip): `produce` is given the
// path of a temporary file in the target's folder, which is then synced and renamed; if it throws,
// the temporary file is removed.
void write_atomically(const std::string& target, const std::function<void(const std::string& path)>& produce);

// Removes what a killed process has left of a file that it was writing: ".NAME.XXXXXX" beside it.
void remove_leftovers(const std::string& target);

// The bytes of one file in place of those of another that exists; throws IoError.
void copy_file(const std::string& from, const std::string& to);

}  // namespace cgmca
