// The HDF5 library as this one may use it: silent, one thread at a time, nothing left open.
#pragma once

#include <cgmca/types.hpp>

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cgmca::io {

// Every use of HDF5 happens while a session lives. It holds the one lock of the
// process (Debian's HDF5 is not thread-safe) and, in place of HDF5's printing to stderr, keeps what
// HDF5 says of each failing call.
class Hdf5Session {
 public:
  Hdf5Session();
  ~Hdf5Session();
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

  // The deepest cause of the latest failure; of the latest failure of one function, empty if none.
  std::string reason() const;
  std::string reason(const std::string& function) const;

 private:
  static herr_t record(hid_t stack, void* session);

  struct Failure {
    std::string function, cause;
  };
  std::unique_lock<std::mutex> lock_;
  H5E_auto2_t previous_ = nullptr;
  void* previous_data_ = nullptr;
  std::vector<Failure> failures_;
};

// An HDF5 identifier, closed by its own function.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Handle() { close(); }

  explicit operator bool() const { return id_ >= 0; }
  hid_t get() const { return id_; }
  bool close() {  // false where the last bytes could not be written
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

// Whether a float holds every number of this type exactly, or the parts of every complex number.
bool fits_single(hid_t type);

// The members of a record that is a complex number: {r, i} by h5py, {real, imag} by MATLAB and Octave.
struct ComplexMembers {
  std::string real, imaginary;
};
std::optional<ComplexMembers> complex_members(hid_t type);

// The type in memory to read numbers as, double or float; of records the named member alone.
template <class Scalar>
Hdf5Handle number_type(const std::string& member = "");

std::vector<std::uint64_t> extent_of(hid_t dataset);

// A text attribute; empty where there is none.
std::string text_attribute(hid_t object, const char* name);

// The texts of a dataset, of one axis at most; of the attribute "features" of it. Nothing where there are none.
std::vector<std::string> texts_of_dataset(hid_t dataset);
std::vector<std::string> features_attribute(hid_t dataset);

// An existing file, written by place. `target` is what messages call it.
class PlacedFile {
 public:
  PlacedFile(const std::string& path, std::string target);
  ~PlacedFile();
  PlacedFile(const PlacedFile&) = delete;
  PlacedFile& operator=(const PlacedFile&) = delete;

  const std::string& target() const { return target_; }
  void write(std::uint64_t place, const void* bytes, std::size_t count) const;
  // Throws IoError where the file could not become `size` bytes long (see ulimit -f), or the disk
  // has no room for the first `start` of them.
  void reserve(std::uint64_t size, std::uint64_t start) const;
  std::uint64_t size() const;

 private:
  [[noreturn]] void fail(int reason) const;

  std::string target_;
  int descriptor_;
};

// Makes the file an HDF5 file with a dataset of doubles, rows × columns, all of it but the numbers.
// Returns their place, where they belong as native doubles, row-major without a gap.
//
// An HDF5 file that meets a full disk can be neither finished nor closed, and HDF5 1.10 then
// crashes as the process exits. So HDF5 only lays the file out, the little it writes being reserved
// beforehand, and the numbers are written without it.
struct Hdf5Layout {
  std::string dataset;
  Index rows, columns;
  const std::vector<std::string>& names;  // kept beside it as `dataset`_features, unless there are none
  bool matlab = false;                    // with a user block of 512 bytes, MATLAB's attributes and its cells
  bool add = false;                       // to the file as it is, in place of a dataset of this name
};
std::uint64_t lay_out_hdf5(const std::string& path, const PlacedFile& file, const Hdf5Layout& layout);

}  // namespace cgmca::io
