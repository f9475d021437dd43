// What several formats of src/io/ share: shapes, and which of a file's arrays is meant.
#pragma once

#include <cgmca/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace cgmca::io {

using Shape = std::vector<std::uint64_t>;

std::string text(const Shape& shape);  // "60000×28×28"

// An array's axes as samples and features: the first axis counts samples (the last one if
// `columns`), the others are flattened in row-major order, whatever order the file keeps them in.
// One file array therefore gives one matrix in every format.
struct Layout {
  Layout(const Shape& shape, bool columns, const std::string& where);  // `where` is for the message

  Index samples = 0, features = 0;
  std::size_t sample_axis = 0;
};

// A features × samples matrix to be filled; IoError where memory does not suffice.
template <class Scalar>  // double or float
Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> allocate(Index features, Index samples, const std::string& where);

// "holds complex numbers; …": what to do about them, by the names of the command line and of Python.
std::string complex_refusal();

// The names of the features as read: those stored, "re NAME" and then "im NAME" where complex numbers are stacked.
// None where they are not one a feature, or not all different.
std::vector<std::string> names_as_read(std::vector<std::string> stored, Index features, bool stacked);

struct Member {
  std::string name;
  std::string kind;  // "double 3×4": for the list in a message
  bool numeric;
};

// The index of the member that `path:wanted` means; of the only numeric one where `wanted` is
// empty. Otherwise a FormatError that lists what there is. A member named outright, or the
// only one, is returned whether numeric or not: its format knows the better advice.
std::size_t choose_member(const std::string& path, const std::vector<Member>& members, const std::string& wanted);

}  // namespace cgmca::io
