// The text of a file as UTF-8, whatever byte order mark it begins with.
#pragma once

#include <memory>

#include "bytes.hpp"

namespace cgmca::io {

// The bytes after the mark: as they are after that of UTF-8 or none, converted after that of UTF-16 in either byte
// order. Reading damaged UTF-16 throws FormatError.
std::unique_ptr<Bytes> utf8_of(std::shared_ptr<const File> file);

}  // namespace cgmca::io
