// An NPY array wherever it lies: a file of its own, or a member of an NPZ archive.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "array_source.hpp"
#include "bytes.hpp"
#include "source.hpp"

namespace cgmca::io {

struct NpyHeader {
  ArrayHeader array;
  std::string type;         // "float64", or as the file has it: "<U5"
  std::string refusal;      // why it is not an array of numbers, and what to do; empty if it is one
  char text = '\0';         // 'U' (UCS-4) or 'S' (bytes) of an array of texts
  std::size_t letters = 0;  // of each text, shorter ones being followed by zeros
};
NpyHeader npy_header(const std::string& name, Bytes& bytes);

std::unique_ptr<BlockReader::Source> npy_source(const std::string& name, std::unique_ptr<Bytes> bytes,
                                                const ReadOptions& options);

// An array of texts, in UTF-8; nothing where it is no such array, or a damaged one.
std::vector<std::string> npy_texts(const std::string& name, std::unique_ptr<Bytes> bytes);

// Shape and type, and of real numbers how many are NaN.
ArrayInfo describe_npy_array(const std::string& name, std::unique_ptr<Bytes> bytes);

// The whole of an NPY file of doubles, samples as rows, and one of texts, in parts: `put` is given one after the other.
using Put = std::function<void(const void* bytes, std::size_t count)>;
void put_npy(const MatrixView& X, const Put& put);
void put_npy(const std::vector<std::string>& texts, const Put& put);

}  // namespace cgmca::io
