// The text of a file as UTF-8.
#pragma once

#include <memory>

#include "io/bytes.hpp"
#include "io/text/text_input.hpp"

namespace cgmca::io {

// The bytes after the byte order mark, if there is one. Text with the mark of UTF-16, in either
// byte order, is converted to UTF-8; other text is not changed. Reading damaged UTF-16 throws
// FormatError.
std::unique_ptr<Bytes> utf8_of(const TextInput& input);
bool is_utf16(const TextInput& input);
bool has_utf8_mark(const TextInput& input);  // 3 bytes, which utf8_of() skips

}  // namespace cgmca::io
