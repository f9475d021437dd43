// Safetensors files: an 8-byte length, a JSON header, raw little-endian arrays.
//
//   { "__metadata__": { "format": "cgmca-…", "version": "1", … every scalar, as text … },
//     "name": { "dtype": "F64", "shape": [rows, columns], "data_offsets": [begin, end] }, … }
//
// Arrays are in row-major order, so that other programs see the shape a reader of the mathematics
// expects. The reader trusts nothing: it checks every size against the file's before it allocates,
// and its memory for the header stays below the header's own size plus a constant.
#pragma once

#include <array>
#include <cgmca/types.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  std::string header() const;  // with its length before it

  struct Tensor {
    std::string name;
    std::vector<Index> shape;
    Matrix transposed;  // column-major storage of the transpose is row-major storage of the matrix
  };
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<Tensor> tensors_;
};

class TensorReader {
 public:
  // Throws IoError (cannot be read) or FormatError (no safetensors file, another format or version,
  // broken).
  TensorReader(const std::string& path, const std::string& format, Index version = 1);
  // The same from memory, which must outlive the reader.
  TensorReader(std::string_view bytes, const std::string& format, Index version = 1);
  ~TensorReader();
  TensorReader(const TensorReader&) = delete;
  TensorReader& operator=(const TensorReader&) = delete;

  bool has_text(const std::string& key) const { return metadata_.contains(key); }
  const std::string& text(const std::string& key) const;
  Index integer(const std::string& key, Index least) const;
  double real(const std::string& key) const;
  bool has(const std::string& name) const { return tensors_.contains(name); }
  Matrix matrix(const std::string& name, Index rows,
                Index columns) const;  // of just this shape, all finite
  Vector vector(const std::string& name, Index size) const;

  // The one of `options` that is called as the metadata says.
  template <class Enum, std::size_t n>
  Enum choice(const std::string& key, const std::array<Enum, n>& options) const {
    for (Enum option : options) {
      if (text(key) == name(option)) return option;
    }
    fail("unknown " + key + " '" + text(key) + "'");
  }

  [[noreturn]] void fail(const std::string& what) const;  // FormatError naming the file

  struct Tensor {
    std::string dtype;
    std::vector<std::uint64_t> shape, offsets;
  };

 private:
  void open(std::uint64_t file_size, const std::string& format, Index version);
  void read_at(std::uint64_t offset, void* into, std::uint64_t count) const;
  void read_header(std::uint64_t file_size);
  void check_layout(std::uint64_t data_size) const;
  const Tensor& find(const std::string& name) const;

  std::string path_;
  int descriptor_ = -1;  // -1: bytes_ is the file
  std::string_view bytes_;
  std::uint64_t data_begin_ = 0;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace cgmca
