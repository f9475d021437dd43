// A file that appears whole or not at all.
//
// Bytes go to a temporary file in the target's folder; commit() syncs it and renames it over the
// target. Without commit() the destructor removes it and the target stays as it was. A target that
// exists and is not a regular file (a pipe, a device) is written directly.
#pragma once

#include <cstddef>
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

 private:
  [[noreturn]] void fail(const char* doing) const;

  std::string target_, temporary_;  // temporary_ is empty when the target is written directly
  int descriptor_ = -1;
};

// For libraries that insist on opening the file themselves (HDF5, libzip): `produce` is given the
// path of a temporary file in the target's folder, which is then synced and renamed; if it throws,
// the temporary file is removed.
void write_atomically(const std::string& target, const std::function<void(const std::string& path)>& produce);

// The bytes of one file in place of those of another that exists; throws IoError.
void copy_file(const std::string& from, const std::string& to);

}  // namespace cgmca
