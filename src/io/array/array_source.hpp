// Arrays stored as one run of elements: NPY, members of NPZ, IDX.
//
// An array a of shape (s0, …, sk) becomes a matrix X, features × samples, as in NumPy:
//
//   samples are rows      X = a.reshape(s0, -1).T     n = s0, d = s1 ⋯ sk
//   samples are columns   X = a.reshape(-1, sk)       n = sk, d = s0 ⋯ s(k-1)
#pragma once

#include <cgmca/io.hpp>
#include <memory>
#include <string>

#include "io/array/elements.hpp"
#include "io/bytes.hpp"
#include "io/common.hpp"
#include "io/source.hpp"

namespace cgmca::io {

struct ArrayHeader {
  std::string name;  // what messages call it
  Element element;
  Shape shape;
  bool fortran_order = false;  // true: the first axis varies fastest; false: the last one
  std::uint64_t begin = 0;     // position of the first element; `bytes` is there
  bool ends = false;           // true: bytes after the elements are an error
};

// Throws FormatError if the shape overflows, has no features, or needs more bytes than there are.
// The array is read in blocks, unless it is compressed and has another order than X.
std::unique_ptr<BlockReader::Source> array_source(const ArrayHeader& header, std::unique_ptr<Bytes> bytes,
                                                  const ReadOptions& options);

}  // namespace cgmca::io
