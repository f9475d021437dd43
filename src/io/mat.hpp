// What the two kinds of .mat files share: mat5*.cpp, mat73*.cpp, and mat.cpp that tells them apart.
#pragma once

#include <cgmca/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/common.hpp"
#include "io/sparse.hpp"

namespace cgmca::io {

struct MatVariable {
  std::string name, matlab_class;  // "double", "logical", "cell", "struct", …
  bool complex = false, sparse = false;
  bool single = false;  // a float holds each of its numbers, or of their parts, exactly
  Shape shape;          // as MATLAB's size() tells it
};

using MatPath = std::vector<std::string>;  // {"cfg", "x"}: the field x of the struct cfg

class MatFile {
 public:
  MatFile() = default;
  MatFile(const MatFile&) = delete;
  MatFile& operator=(const MatFile&) = delete;
  virtual ~MatFile() = default;

  // The fields of a struct; the variables of the file where the path is empty. FormatError of an array of structs.
  virtual std::vector<MatVariable> list(const MatPath& path) = 0;

  // A full array with numbers in it, or the imaginary parts of one, as features × samples.
  virtual Matrix read(const MatPath& path, bool imaginary, const Layout& layout, const std::string& where) = 0;
  virtual Eigen::MatrixXf read_single(const MatPath& path, bool imaginary, const Layout& layout,
                                      const std::string& where) = 0;
  virtual Sparse read_sparse(const MatPath& path, const std::string& where) = 0;

  // A cell array of texts, or the rows of a char array without the blanks after them; nothing where it is neither.
  virtual std::vector<std::string> texts(const MatPath& path) = 0;
};

std::unique_ptr<MatFile> open_mat5(const std::string& path);
std::unique_ptr<MatFile> open_mat73(const std::string& path);
enum class MatKind { mat5, mat73 };
MatKind mat_kind(const std::string& path);  // FormatError where it is neither

// "an array of 1×3 structs; …": why its fields cannot be read.
std::string refusal_of_struct_array(const std::string& name, const Shape& shape);

// X as variable `name`, samples as rows, and the names of its features where there are any, as a file of
// its own or, where `add` is true, added to a copy of `target` in which they replace variables of these
// names. `path` is the file to make, `target` what messages call it.
struct MatOutput {
  std::string path, target, name;
  const MatrixView& X;
  const std::vector<std::string>& names;
  bool add = false;
};
void produce_mat5(const MatOutput& output);
void produce_mat73(const MatOutput& output);

// MATLAB 5 files count a variable's bytes, tags included, in a signed 32-bit number.
constexpr std::uint64_t largest_mat5 = (std::uint64_t{1} << 31) - 1024;

// As MATLAB 5, or as MATLAB 7.3 where X takes more than `largest` bytes.
void write_mat(const std::string& path, const std::string& variable, const MatrixView& X, std::uint64_t largest,
               const std::vector<std::string>& names = {});

// From MATLAB's column-major order to ours:
// X(f, s) = data[place(f) + s · stride], where place(f) follows the features in row-major order.
template <class T, class Scalar>
void fill(Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>& X, const T* data, const Shape& shape,
          std::size_t sample_axis) {
  std::vector<Index> strides(shape.size());
  Index stride = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = stride;
    stride *= static_cast<Index>(shape[axis]);
  }
  const Index step = strides[sample_axis];

  std::vector<Index> place(static_cast<std::size_t>(X.rows()), 0);
  Index period = 1;  // features after which this axis has gone through all its values
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (axis == sample_axis) continue;
    const auto extent = static_cast<Index>(shape[axis]);
    for (Index f = 0; f < X.rows(); ++f) {
      place[static_cast<std::size_t>(f)] += f / period % extent * strides[axis];
    }
    period *= extent;
  }

  constexpr Index block = 64;  // samples at a time, so that both sides stay in the cache
  for (Index begin = 0; begin < X.cols(); begin += block) {
    const Index end = std::min(X.cols(), begin + block);
    for (Index f = 0; f < X.rows(); ++f) {
      const T* feature = data + place[static_cast<std::size_t>(f)];
      for (Index s = begin; s < end; ++s) X(f, s) = static_cast<Scalar>(feature[s * step]);
    }
  }
}

}  // namespace cgmca::io
