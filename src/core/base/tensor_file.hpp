// Safetensors files: an 8-byte length, a JSON header, raw little-endian arrays.
//
//   { "__metadata__": { "checksum": "…", "format": "cgmca-…", "version": "1", … every scalar, as text … },
//     "name": { "dtype": "F64", "shape": [rows, columns], "data_offsets": [begin, end] }, … }
//
// Arrays are in row-major order, so that other programs see the shape a reader of the mathematics expects. They are
// written as F64; F32 is read too. Hand-written because the format's own library is in Rust, and Debian has none for
// C++. The reader does not trust the file: it checks every size against the file's before it allocates, and its memory
// for the header stays below some ten times the header's own size, which is at most the file's.
//
// The checksum is the CRC-32 of the whole file with its own eight digits as zeros, and the header begins with it. So
// every flipped bit is noticed. It protects against damage, not against people: they can compute it anew.
#pragma once

#include <cgmca/types.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/tensor_header.hpp"
#include "support/choice.hpp"
#include "support/file.hpp"

namespace cgmca {

class TensorWriter {
 public:
  explicit TensorWriter(const std::string& format, Index version = 1);

  void set(const std::string& key, const std::string& text);
  void set(const std::string& key, Index value);
  void set(const std::string& key, double value);
  void add(const std::string& name, const MatrixView& matrix);
  void add_vector(const std::string& name, const VectorView& vector);

  void save(const std::string& path) const;  // atomically
  std::string bytes() const;                 // what save would write

 private:
  std::string sealed_header() const;  // with its length before it, and the checksum of all inside

  struct Tensor {
    std::string name;
    std::vector<Index> shape;
    Matrix transposed;  // column-major storage of the transpose is row-major storage of the matrix
  };
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<Tensor> tensors_;
};

// The versions of a format that are read.
struct FormatVersions {
  FormatVersions(Index only = 1) : oldest(only), newest(only) {}  // NOLINT: a number is one version
  FormatVersions(Index oldest_, Index newest_, Index sealed_) : oldest(oldest_), newest(newest_), sealed(sealed_) {}
  Index oldest, newest;
  Index sealed = 2;  // files of this version and newer ones have a checksum; others may have one
};

class TensorReader {
 public:
  // Throws IoError (cannot be read) or FormatError (no safetensors file, another format or version,
  // broken).
  TensorReader(const std::string& path, const std::string& format, FormatVersions versions = {});
  // The same from memory, which must outlive the reader.
  TensorReader(std::string_view bytes, const std::string& format, FormatVersions versions = {});

  bool has_text(const std::string& key) const { return header_.metadata.contains(key); }
  const std::string& text(const std::string& key) const;
  Index integer(const std::string& key, Index least) const;
  // The same for the number of items that have metadata of their own. It cannot exceed the number of metadata entries.
  Index count(const std::string& key, Index least) const;
  double real(const std::string& key) const;
  bool has(const std::string& name) const { return header_.tensors.contains(name); }
  Index length(const std::string& name) const;  // of one dimension; fails of any other
  Matrix matrix(const std::string& name, Index rows,
                Index columns) const;  // of just this shape, all finite
  Vector vector(const std::string& name, Index size) const;

  // The option whose name the metadata has under this key.
  template <class Options>
  auto choice(const std::string& key, const Options& options) const {
    if (const auto found = find_choice(text(key), options)) return *found;
    fail("unknown " + key + " '" + text(key) + "'");
  }

  [[noreturn]] void fail(const std::string& what) const;  // FormatError naming the file

 private:
  void open(std::uint64_t file_size, const std::string& format, FormatVersions versions);
  bool check_seal(const std::string& header, std::uint64_t file_size) const;  // false: there is none
  void check_format(const std::string& format, const FormatVersions& versions, bool sealed) const;
  void read_at(std::uint64_t offset, void* into, std::uint64_t count) const;
  const TensorEntry& find(const std::string& name, const std::vector<Index>& shape) const;
  void read_numbers(const TensorEntry& tensor, Index first, Index count, double* into) const;

  std::string path_;
  std::optional<File> file_;  // none: bytes_ is the file
  std::string_view bytes_;
  std::uint64_t data_begin_ = 0;
  TensorHeader header_;
};

}  // namespace cgmca
