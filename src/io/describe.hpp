// What describe_file() needs of every format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common.hpp"
#include "source.hpp"

namespace cgmca::io {

// How many of the numbers that are left are NaN.
Index count_missing(BlockReader::Source& source);

// A file's shape; a length beyond an Index becomes the largest one.
std::vector<Index> shape_of(const Shape& shape);

// Whether the shape has at least one axis and, apart from the samples, at least one number.
bool is_matrix(const Shape& shape);

// "a PDF document", "plain text; name it .csv …": of a file that cannot be read.
std::string what_it_seems_to_be(const std::string& path);

// The same where its first bytes leave no doubt that it is in a format that is not read, whatever its name.
std::optional<std::string> foreign_kind(const std::string& path);

}  // namespace cgmca::io
