// Arrays that lie in a file element after element: NPY, members of NPZ, IDX.
//
// An array a of shape (s0, …, sk) becomes a matrix X, features × samples, as in NumPy:
//
//   samples are rows      X = a.reshape(s0, -1).T     n = s0, d = s1 ⋯ sk
//   samples are columns   X = a.reshape(-1, sk)       n = sk, d = s0 ⋯ s(k-1)
#pragma once

#include <cgmca/io.hpp>
#include <memory>
#include <string>

#include "bytes.hpp"
#include "common.hpp"
#include "elements.hpp"
#include "source.hpp"

namespace cgmca::io {

struct ArrayHeader {
  std::string name;  // what messages call it
  Element element;
  Shape shape;
  bool fortran_order = false;  // the first axis varies fastest, instead of the last
  std::uint64_t begin = 0;     // place of the first element, where `bytes` stands
  bool ends = false;           // nothing may follow the elements
};

// Throws FormatError where the shape overflows, has no features, or promises more than there is.
// Streams unless the bytes are compressed and X has the elements in another order.
std::unique_ptr<BlockReader::Source> array_source(const ArrayHeader& header, std::unique_ptr<Bytes> bytes,
                                                  const ReadOptions& options);

}  // namespace cgmca::io
