#include "io/text/utf16.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace cgmca::io {
namespace {

void append_utf8(std::string& text, std::uint32_t c) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) return add(c);
  if (c < 0x800) {
    add(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      add(0xE0 | c >> 12);
    } else {
      add(0xF0 | c >> 18);
      add(0x80 | (c >> 12 & 0x3F));
    }
    add(0x80 | (c >> 6 & 0x3F));
  }
  add(0x80 | (c & 0x3F));
}

class Utf16 : public Bytes {
 public:
  Utf16(const TextInput& input, bool big_endian)
      : path_(input.path()), bytes_(input.bytes()), high_(big_endian ? 0 : 1) {
    bytes_->skip(2);  // the byte order mark
  }

  std::size_t read(void* to, std::size_t count) override {
    std::size_t done = 0;
    while (done < count && (used_ < text_.size() || refill())) {
      const std::size_t part = std::min(count - done, text_.size() - used_);
      std::copy_n(text_.data() + used_, part, static_cast<char*>(to) + done);
      used_ += part;
      done += part;
    }
    return done;
  }

 private:
  [[noreturn]] void damaged() const {
    throw FormatError(fmt::format("'{}' holds invalid UTF-16; save it as UTF-8", path_));
  }

  // Converts the next piece into text_; false at the end of the file.
  bool refill() {
    std::array<unsigned char, 1 << 14> raw;
    const std::size_t got = bytes_->read(raw.data(), raw.size());
    if (got % 2 != 0 || (got == 0 && surrogate_ != 0)) damaged();
    text_.clear();
    used_ = 0;
    for (std::size_t i = 0; i < got; i += 2) append(std::uint32_t{raw[i + high_]} << 8 | raw[i + 1 - high_]);
    return got > 0;
  }

  // A character above U+FFFF has two units: D800 to DBFF with its upper ten bits, then DC00 to DFFF
  // with the lower ten.
  void append(std::uint32_t unit) {
    const bool second = unit >= 0xDC00 && unit < 0xE000;
    if (second != (surrogate_ != 0)) damaged();
    if (unit >= 0xD800 && unit < 0xDC00) {
      surrogate_ = unit;
    } else if (second) {
      append_utf8(text_, 0x10000 + ((surrogate_ - 0xD800) << 10) + (unit - 0xDC00));
      surrogate_ = 0;
    } else {
      append_utf8(text_, unit);
    }
  }

  std::string path_;
  std::unique_ptr<Bytes> bytes_;
  std::size_t high_;  // which of the two bytes of a unit is the upper one
  std::string text_;
  std::size_t used_ = 0;
  std::uint32_t surrogate_ = 0;  // the first unit of a pair whose second is still to come
};

std::string start_of(const TextInput& input) {
  std::string start(3, '\0');
  start.resize(input.bytes()->read(start.data(), start.size()));
  return start;
}

}  // namespace

bool is_utf16(const TextInput& input) {
  const std::string start = start_of(input);
  return start.starts_with("\xfe\xff") || start.starts_with("\xff\xfe");
}

bool has_utf8_mark(const TextInput& input) { return start_of(input) == "\xef\xbb\xbf"; }

std::unique_ptr<Bytes> utf8_of(const TextInput& input) {
  if (is_utf16(input)) return std::make_unique<Utf16>(input, start_of(input).starts_with("\xfe\xff"));
  auto bytes = input.bytes();
  if (has_utf8_mark(input)) bytes->skip(3);
  return bytes;
}

}  // namespace cgmca::io
