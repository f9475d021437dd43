// What several formats of src/io/ share: shapes, and which of a file's arrays is meant.
#pragma once

#include <cgmca/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cgmca::io {

using Shape = std::vector<std::uint64_t>;

std::string text(const Shape& shape);  // "60000×28×28"

// The axes of an array as samples and features. The first axis is that of the samples (the last one
// if `columns`). The others are flattened in row-major order, whatever their order in the file. So
// the same array gives the same matrix in every format.
struct Layout {
  Layout(const Shape& shape, bool columns, const std::string& where);  // `where` is for the message

  Index samples = 0, features = 0;
  std::size_t sample_axis = 0;
};

// An uninitialized features × samples matrix. Throws IoError if memory does not suffice.
template <class Scalar>  // double or float
Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> allocate(Index features, Index samples, const std::string& where);

// What the name of an array has after it where another one of the same file holds the names of its features.
inline constexpr std::string_view names_suffix = "_features";

// "holds complex numbers; …" and what to do, with the options of the command line and of Python.
std::string complex_refusal();

// The names of the features as read: the stored ones; for stacked complex numbers "re NAME" for
// all, then "im NAME" for all. Empty unless each feature has a name and all names differ.
std::vector<std::string> names_as_read(std::vector<std::string> stored, Index features, bool stacked);

struct Member {
  std::string name;
  std::string kind;  // "double 3×4": for the list in a message
  bool numeric;
};

// The index of the member `wanted` of the file `path`; if `wanted` is empty, of the only numeric
// member. Throws a FormatError that lists the members if there is no such one. A member that is
// named, or is the only one, is returned even if it is not numeric, because its format has better
// advice.
std::size_t choose_member(const std::string& path, const std::vector<Member>& members, const std::string& wanted);

}  // namespace cgmca::io
