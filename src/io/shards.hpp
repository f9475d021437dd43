// A domain in several files, one after the other: a pattern, or a list in a text file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/source.hpp"

namespace cgmca::io {

// The sources that a pattern (shards/a-*.npy, shards/a-*.npz:x) or a list (@files.txt) stands for; nothing if it is the
// name of one source. A pattern has *, ? or [ in it, and no file is called so; its files are in natural order. A list
// has one source a line, in the order of the lines, relative to its own folder; blank lines and those that begin with #
// are skipped. Throws IoError if a pattern fits no file, or a list cannot be read; FormatError if it is empty.
std::optional<std::vector<std::string>> shards_of(const std::string& source);

// The samples of all sources in their order. They must have the same features. One is open at a time.
using OpenOne = std::function<std::unique_ptr<BlockReader::Source>(const std::string& source)>;
std::unique_ptr<BlockReader::Source> open_shards(std::vector<std::string> sources, const OpenOne& open);

// describe_file() of several files as of one: the array of the first, with the samples of all. Throws InvalidInput if
// they hold several arrays each.
FileInfo describe_shards(const std::string& pattern, const std::vector<std::string>& files);

}  // namespace cgmca::io
