// The interface of the two kinds of .mat files, mat5*.cpp and mat73*.cpp; mat.cpp chooses between
// them.
#pragma once

#include <cgmca/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/common.hpp"
#include "io/matlab/sparse.hpp"
#include "io/numbers.hpp"

namespace cgmca::io {

struct MatVariable {
  std::string name, matlab_class;  // "double", "logical", "cell", "struct", "object", …
  bool complex = false, sparse = false;
  bool single = false;  // a float represents all of its numbers (or their parts) exactly
  Shape shape;          // size() in MATLAB

  // An object of an old class, such as the dataset of PLS_Toolbox, is a struct with the name of its class.
  bool has_fields() const { return matlab_class == "struct" || matlab_class == "object"; }
};

using MatPath = std::vector<std::string>;  // {"cfg", "x"}: the field x of the struct cfg

class MatFile {
 public:
  MatFile() = default;
  MatFile(const MatFile&) = delete;
  MatFile& operator=(const MatFile&) = delete;
  virtual ~MatFile() = default;

  // The fields of a struct or an object, or the variables of the file if the path is empty. Throws FormatError
  // for an array of structs.
  virtual std::vector<MatVariable> list(const MatPath& path) = 0;

  // A full array that is not empty, or its imaginary parts, as features × samples.
  virtual Matrix read(const MatPath& path, bool imaginary, const Layout& layout, const std::string& where) = 0;
  virtual Eigen::MatrixXf read_single(const MatPath& path, bool imaginary, const Layout& layout,
                                      const std::string& where) = 0;
  virtual Sparse read_sparse(const MatPath& path, const std::string& where) = 0;

  // The texts of a cell array, or the rows of a char array without trailing blanks; otherwise
  // nothing.
  virtual std::vector<std::string> texts(const MatPath& path) = 0;
};

std::unique_ptr<MatFile> open_mat5(const std::string& path);
std::unique_ptr<MatFile> open_mat73(const std::string& path);
enum class MatKind { mat5, mat73 };
MatKind mat_kind(const std::string& path);  // throws FormatError if it is neither

// "an array of 1×3 structs; …": why its fields cannot be read, and what to do.
std::string refusal_of_struct_array(const std::string& name, const Shape& shape);

// Writes X as the variable `name`, samples as rows, and the names of its features, if there are
// any. The file at `path` is made new; messages call it `target`. If `add`, it begins with the
// variables of the file `target`, except those of the same names.
struct MatOutput {
  std::string path, target, name;
  const Numbers& X;
  const std::vector<std::string>& names;
  bool columns = false;  // samples as columns
  bool add = false;
  const Written& written;
};
void produce_mat5(const MatOutput& output);
void produce_mat73(const MatOutput& output);

// MATLAB 5 files store the size of a variable, including tags, as a signed 32-bit number.
constexpr std::uint64_t largest_mat5 = (std::uint64_t{1} << 31) - 1024;

// Writes MATLAB 5, or MATLAB 7.3 if X has more than `largest` bytes.
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
  Index period = 1;  // product of the lengths of the faster axes
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (axis == sample_axis) continue;
    const auto extent = static_cast<Index>(shape[axis]);
    for (Index f = 0; f < X.rows(); ++f) {
      place[f] += f / period % extent * strides[axis];
    }
    period *= extent;
  }

  constexpr Index block = 64;  // samples at a time, so that both sides stay in the cache
  for (Index begin = 0; begin < X.cols(); begin += block) {
    const Index end = std::min(X.cols(), begin + block);
    for (Index f = 0; f < X.rows(); ++f) {
      const T* feature = data + place[f];
      for (Index s = begin; s < end; ++s) X(f, s) = static_cast<Scalar>(feature[s * step]);
    }
  }
}

}  // namespace cgmca::io
