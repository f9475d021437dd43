#include "io/text/text_records.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "io/text/utf16.hpp"

namespace cgmca::io {

Records::Records(std::shared_ptr<const TextInput> input)
    : input_(std::move(input)),
      is_utf16_(is_utf16(*input_)),
      mark_(has_utf8_mark(*input_) ? 3 : 0),
      bytes_(utf8_of(*input_)) {
  fill();
  const std::size_t carriage_return = rest().find('\r');
  // If the CR is the last byte of the buffer, an LF may follow.
  const bool alone = carriage_return != std::string_view::npos && carriage_return + 1 < rest().size();
  if (alone && rest().find('\n') == std::string_view::npos) line_end_ = '\r';
}

Records::Records(const Records& other, const Place& from)
    : input_(other.input_),
      is_utf16_(other.is_utf16_),
      mark_(other.mark_),
      bytes_(is_utf16_ ? utf8_of(*input_) : input_->bytes()),
      offset_(from.offset),
      next_line_(from.line),
      line_end_(other.line_end_) {
  bytes_->skip(from.offset + (is_utf16_ ? 0 : mark_));
}

std::optional<std::string_view> Records::next() {
  while (auto record = next_line()) {
    if (record->find_first_not_of(" \r") != std::string_view::npos) return record;
  }
  return std::nullopt;
}

std::optional<std::string_view> Records::next_line() {
  line_ = next_line_;
  bool in_quotes = false;
  std::size_t scanned = 0;  // bytes after begin_ that have been searched
  for (;;) {
    const std::string_view unseen = rest().substr(scanned);
    const std::size_t end = unseen.find(line_end_);
    const std::string_view text = unseen.substr(0, end);
    in_quotes ^= std::count(text.begin(), text.end(), '"') % 2 == 1;
    scanned += text.size();
    if (end != std::string_view::npos) {
      ++next_line_;
      if (!in_quotes) return take(scanned, 1);
      ++scanned;
    } else if (!fill()) {
      if (in_quotes)
        throw FormatError(fmt::format("'{}', line {}: a quote is opened and never closed", input_->path(), line_));
      if (rest().empty()) return std::nullopt;
      return take(scanned, 0);
    }
  }
}

std::string_view Records::take(std::size_t length, std::size_t line_end) {
  const std::string_view record = rest().substr(0, length);
  begin_ += length + line_end;
  return record;
}

bool Records::fill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
            buffer_.begin());
  end_ -= begin_;
  offset_ += begin_;
  begin_ = 0;
  const std::uint64_t left = bytes_->remaining().value_or(std::numeric_limits<std::uint64_t>::max());
  const std::size_t room = std::min<std::uint64_t>(left, std::max<std::size_t>(end_, 1 << 18));
  if (buffer_.size() < end_ + room) buffer_.resize(end_ + room);
  const std::size_t got = bytes_->read(buffer_.data() + end_, room);
  end_ += got;
  return got > 0;
}

}  // namespace cgmca::io
