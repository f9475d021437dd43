// An NPY array, in its own file or as a member of an NPZ archive.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/array/array_source.hpp"
#include "io/bytes.hpp"
#include "io/source.hpp"

namespace cgmca::io {

struct NpyHeader {
  ArrayHeader array;
  std::string type;         // "float64"; for other types as in the file: "<U5"
  std::string refusal;      // why it cannot be read as numbers, and what to do; empty if it can
  char text = '\0';         // for an array of texts: 'U' (UCS-4) or 'S' (bytes)
  std::size_t letters = 0;  // length of each text; shorter ones are padded with zeros
};
NpyHeader npy_header(const std::string& name, Bytes& bytes);

std::unique_ptr<BlockReader::Source> npy_source(const std::string& name, std::unique_ptr<Bytes> bytes,
                                                const ReadOptions& options);

// The elements of an array of texts, as UTF-8; empty if it is another array, or damaged.
std::vector<std::string> npy_texts(const std::string& name, std::unique_ptr<Bytes> bytes);

// Shape, type and, for real numbers, how many are NaN.
ArrayInfo describe_npy_array(const std::string& name, std::unique_ptr<Bytes> bytes);

// Calls `put` with one piece after the other of an NPY file: of doubles with samples as rows, or of
// texts.
using Put = std::function<void(const void* bytes, std::size_t count)>;
void put_npy(const MatrixView& X, const Put& put);
void put_npy(const std::vector<std::string>& texts, const Put& put);

// What an NPY file of numbers begins with: 128 bytes, so that it can be written again once the number of samples is
// known. `columns`: samples are the columns; they are contiguous all the same, in Fortran order.
constexpr std::size_t npy_start_size = 128;
std::string npy_start(Index features, Index samples, bool single, bool columns);

}  // namespace cgmca::io
