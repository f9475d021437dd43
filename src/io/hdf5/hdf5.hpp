// Wraps the HDF5 library so that it prints nothing, is used by one thread at a time, and leaves
// nothing open.
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

// HDF5 is used only while a session lives. The session holds the process-wide lock, because
// Debian's HDF5 is not thread-safe. It keeps the messages of failing calls, which HDF5 would print
// to stderr.
class Hdf5Session {
 public:
  Hdf5Session();
  ~Hdf5Session();
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

  // The deepest cause of the latest failure: of any call, or of one function (empty if none
  // failed).
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
  bool close() {  // false if the last bytes could not be written
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

// Whether a float represents all numbers of this type exactly (or all parts of complex numbers).
bool fits_single(hid_t type);

// The members of a record that is a complex number: {r, i} from h5py, {real, imag} from MATLAB and
// Octave.
struct ComplexMembers {
  std::string real, imaginary;
};
std::optional<ComplexMembers> complex_members(hid_t type);

// The type in memory: double or float. With `member`: a record of only this member.
template <class Scalar>
Hdf5Handle number_type(const std::string& member = "");

std::vector<std::uint64_t> extent_of(hid_t dataset);

// Whether the object belongs to a variable of Octave, "/x"; whether the dataset holds its numbers,
// "/x/value".
bool is_octaves_group(hid_t file, const std::string& name);
bool is_octaves_value(hid_t file, const std::string& name);
// For features that were flattened in row-major order: where each one is whose axes, in reversed
// order, are flattened in row-major order.
std::vector<Index> reversed_order(const std::vector<hsize_t>& axes);

// A text attribute; empty if there is none.
std::string text_attribute(hid_t object, const char* name);

// The texts of a dataset, or of its attribute "features". Empty if it has none, or more than one
// axis.
std::vector<std::string> texts_of_dataset(hid_t dataset);
std::vector<std::string> features_attribute(hid_t dataset);

// An existing file that is written at given positions. Messages call it `target`.
class PlacedFile {
 public:
  PlacedFile(const std::string& path, std::string target);
  ~PlacedFile();
  PlacedFile(const PlacedFile&) = delete;
  PlacedFile& operator=(const PlacedFile&) = delete;

  const std::string& target() const { return target_; }
  void write(std::uint64_t place, const void* bytes, std::size_t count) const;
  // Throws IoError if the file must not become `size` bytes long (see ulimit -f), or if the disk
  // has no room for the first `start` of them.
  void reserve(std::uint64_t size, std::uint64_t start) const;
  std::uint64_t size() const;

 private:
  [[noreturn]] void fail(int reason) const;

  std::string target_;
  int descriptor_;
};

// Makes an HDF5 file with a dataset of doubles, rows × columns, without writing the numbers.
// Returns the position where they belong, as native doubles (or floats) in row-major order without gaps.
//
// If the disk is full, HDF5 can neither finish nor close the file, and HDF5 1.10 crashes when the
// process exits. So HDF5 only writes the structure, for which room is reserved beforehand. The
// numbers are written without HDF5.
struct Hdf5Layout {
  std::string dataset;
  Index rows, columns;
  const std::vector<std::string>& names;  // written as the dataset `dataset`_features, if there are any
  bool matlab = false;                    // as MATLAB writes it: user block of 512 bytes, attributes, cells
  bool add = false;                       // keep what the file has, except a dataset of this name
  bool single = false;                    // floats instead of doubles
};
std::uint64_t lay_out_hdf5(const std::string& path, const PlacedFile& file, const Hdf5Layout& layout);

}  // namespace cgmca::io
