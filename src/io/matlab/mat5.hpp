// MATLAB 5 files, which MATLAB writes as -v6 (plain) and -v7 (compressed):
//
//   128 bytes                    text, place of the subsystem, version, "IM" (little-endian) or "MI"
//   8 + length, repeated         element: type (14 plain variable, 15 zlib stream), length, data
//
// A variable consists of parts with the same layout (a zlib stream also holds the tag of 8 bytes):
//
//   8 + 8                        flags: class, complex, logical
//   8 + 4·rank, padded to 8      dimensions
//   8 + name, padded to 8        name                (4 letters or fewer: 8 bytes in all)
//   8 + length, padded to 8      numbers: type, length, data; a second one for imaginary parts
//   for a cell array             a variable without a name for each cell
//   for a struct                 length of a field's name, names, a variable for each field
//   for an object of an old class the name of the class, then as for a struct
//   for a sparse matrix          row of each value, where each column begins, values, imaginary parts
//
// Hand-written because matio 1.5.23 does not notice a truncated file, does not check the checksum
// or the lengths in a compressed variable, does not read logical sparse matrices, and cannot copy a
// variable that it does not understand.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/array/elements.hpp"
#include "io/common.hpp"
#include "support/file.hpp"

namespace cgmca::io {

struct Mat5Tag {
  std::uint32_t type, length;
};
constexpr std::size_t mat5_header_size = 128, mat5_tag_size = 8;

struct Mat5Element {
  std::uint64_t begin;  // where its data begin, after the tag
  Mat5Tag tag;
};

// The header and the elements at the outermost level.
class Mat5Frame {
 public:
  explicit Mat5Frame(const std::string& path);  // throws FormatError if an element exceeds the file

  const File& file() const { return file_; }
  bool big_endian() const { return header_[126] == 'M'; }
  const std::array<unsigned char, mat5_header_size>& header() const { return header_; }
  const std::vector<Mat5Element>& elements() const { return elements_; }
  // Position of the element in which MATLAB keeps objects and function handles; 0 if there is none.
  std::uint64_t subsystem() const;

  // The parts of a variable: all bytes, or about the first 4096. contents() verifies a zlib stream.
  std::vector<unsigned char> contents(const Mat5Element& element) const;
  std::vector<unsigned char> start(const Mat5Element& element) const;

  [[noreturn]] void damaged(const std::string& how) const;

 private:
  void read(std::uint64_t at, void* to, std::size_t count) const;
  std::vector<unsigned char> inflate(const Mat5Element& element, std::size_t most) const;

  File file_;
  std::array<unsigned char, mat5_header_size> header_{};
  std::vector<Mat5Element> elements_;
};

enum class Mat5Class : std::uint32_t {
  cell = 1,
  structure,
  object,
  text,
  sparse,
  float64,
  float32,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  function,
  opaque
};

// A variable: its header, then its parts one by one. The bytes must outlive it.
class Mat5Node {
 public:
  struct Part {
    std::uint32_t type = 0;
    std::span<const unsigned char> data;
  };
  struct Numbers {
    Element element;
    const std::byte* data = nullptr;
    std::uint64_t count = 0;
  };

  Mat5Node(const Mat5Frame& frame, std::span<const unsigned char> bytes);

  Mat5Class kind = Mat5Class::opaque;
  bool complex = false, logical = false;
  Shape shape;
  std::string name;

  std::uint64_t size() const;  // product of the shape
  Part part();                 // the next part
  Numbers numbers();           // the next part, which must be numbers
  Numbers all_numbers();       // the same, and there must be size() of them
  Mat5Node child();            // the next part, which must be a variable
  void pass() { part(); }
  // Whether rows, columns and values follow. Octave 7 labels a sparse logical matrix as full uint8,
  // but stores 32-bit row numbers, which a full one does not have.
  bool is_sparse() const;

  std::vector<std::string> fields();  // names of the fields of a struct or an object, whose variables follow
  std::vector<std::string> texts();   // rows of a char array, or texts of a cell array; otherwise nothing

 private:
  std::uint32_t word(std::span<const unsigned char> bytes, std::size_t at) const;
  std::vector<std::string> rows_of_text();

  const Mat5Frame* frame_;
  std::span<const unsigned char> rest_;
};

}  // namespace cgmca::io
