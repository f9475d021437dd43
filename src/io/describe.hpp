// Shared by the implementations of describe_file() for each format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/common.hpp"
#include "io/source.hpp"

namespace cgmca::io {

// Reads the rest of the source and counts the NaN.
Index count_missing(BlockReader::Source& source);

// A file's shape as Index; lengths too large for it become the largest Index.
std::vector<Index> shape_of(const Shape& shape);

// Whether the shape has at least one axis and at least one feature.
bool is_matrix(const Shape& shape);

// What a file that cannot be read is: "a PDF document", "plain text; name it .csv …".
std::string what_it_seems_to_be(const std::string& path);

// The same, but only if the first bytes show that it is in a format that cannot be read, whatever
// its name.
std::optional<std::string> foreign_kind(const std::string& path);

}  // namespace cgmca::io
