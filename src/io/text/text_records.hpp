// The records of a text file: lines, except that a line end within quotes does not end a record.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "io/bytes.hpp"
#include "io/text/text_input.hpp"

namespace cgmca::io {

// Lines end in LF or CRLF; in CR if the first lines have no LF.
class Records {
 public:
  struct Place {
    std::uint64_t offset = 0;  // in bytes of UTF-8
    std::int64_t line = 1;     // as in an editor
  };

  explicit Records(std::shared_ptr<const TextInput> input);
  // Reads the same file again, from a place that position() returned.
  Records again(const Place& from) const { return Records(*this, from); }
  // Whether every place can be read again; of standard input only places that have not been forgotten.
  bool repeats() const { return input_->repeats(); }
  void forget_before(const Place& place) const {
    if (!repeats() && !is_utf16_) input_->forget(place.offset);
  }

  // The next record that is not blank, without its line end; nothing at the end of the file. Valid
  // until the next call.
  std::optional<std::string_view> next();
  std::int64_t line() const { return line_; }  // where the last record starts
  Place position() const { return {offset_ + begin_, next_line_}; }

 private:
  Records(const Records& other, const Place& from);

  std::string_view rest() const { return {buffer_.data() + begin_, end_ - begin_}; }
  std::optional<std::string_view> next_line();
  std::string_view take(std::size_t length, std::size_t line_end);
  bool fill();  // makes rest() longer; false at the end of the file

  std::shared_ptr<const TextInput> input_;
  bool is_utf16_;
  std::uint64_t mark_ = 0;  // bytes of the byte order mark of UTF-8, before offset 0
  std::unique_ptr<Bytes> bytes_;
  std::vector<char> buffer_;
  std::uint64_t offset_ = 0;  // of the buffer's first byte
  std::size_t begin_ = 0, end_ = 0;
  std::int64_t line_ = 0, next_line_ = 1;
  char line_end_ = '\n';
};

}  // namespace cgmca::io
