// Numbers as text: one sample per line, fields divided by a separator.
//
// .tsv divides by tabs; otherwise it is whichever of , ; and tab the first line has most of (in
// doubt in that order). The first line is a header where a field of it is neither a number nor
// empty. Lines end in LF or CRLF; those without any character but blanks are passed over. A field
// may stand in double quotes, within which "" is one quote and line ends count as text; blanks
// around a number do not matter. Numbers are written as in C++ whatever the locale, nan and inf
// included. A field that is no number, and a line with more or fewer fields than the first, is an
// error that names line and column, counted from 1.
//
// Hand-written because Debian has no C++ library that streams numbers and names the place of each error.
#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "source.hpp"
#include "support/text.hpp"

namespace cgmca::io {
namespace {

// Records of a text file: lines, save that a line end within quotes does not end one.
class Records {
 public:
  explicit Records(const std::string& path) : path_(path), bytes_(std::make_shared<const File>(path)) {
    fill();
    if (rest().starts_with("\xef\xbb\xbf")) begin_ = 3;  // byte order mark of UTF-8
  }

  // The next record with anything in it, without its line end; none at the end of the file. Valid
  // until the next call.
  std::optional<std::string_view> next() {
    while (auto record = next_line()) {
      if (record->find_first_not_of(" \r") != std::string_view::npos) return record;
    }
    return std::nullopt;
  }
  std::int64_t line() const { return line_; }  // where the last record starts, from 1
  void push_back() {                           // the last record is to come again
    begin_ = record_begin_;
    next_line_ = line_;
  }

 private:
  std::string_view rest() const { return {buffer_.data() + begin_, end_ - begin_}; }

  std::optional<std::string_view> next_line() {
    line_ = next_line_;
    bool in_quotes = false;
    std::size_t scanned = 0;  // from begin_
    for (;;) {
      const std::string_view unseen = rest().substr(scanned);
      const std::size_t newline = unseen.find('\n');
      const std::string_view text = unseen.substr(0, newline);
      in_quotes ^= std::count(text.begin(), text.end(), '"') % 2 == 1;
      scanned += text.size();
      if (newline != std::string_view::npos) {
        ++next_line_;
        if (!in_quotes) return take(scanned, 1);
        ++scanned;
      } else if (!fill()) {
        if (in_quotes)
          throw FormatError(fmt::format("'{}', line {}: a quote is opened and never closed", path_, line_));
        if (rest().empty()) return std::nullopt;
        return take(scanned, 0);
      }
    }
  }

  std::string_view take(std::size_t length, std::size_t line_end) {
    const std::string_view record = rest().substr(0, length);
    record_begin_ = begin_;
    begin_ += length + line_end;
    return record;
  }

  // Makes rest() longer; false at the end of the file.
  bool fill() {
    const std::uint64_t left = *bytes_.remaining();
    if (left == 0) return false;
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
    const std::size_t room = std::min<std::uint64_t>(left, std::max<std::size_t>(end_, 1 << 18));
    if (buffer_.size() < end_ + room) buffer_.resize(end_ + room);
    end_ += bytes_.read(buffer_.data() + end_, room);
    return true;
  }

  std::string path_;
  FileBytes bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0, record_begin_ = 0;
  std::int64_t line_ = 0, next_line_ = 1;
};

std::string_view trim(std::string_view text) {
  constexpr const char* blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The fields of a record, one after the other.
class Fields {
 public:
  Fields(std::string_view record, char separator) : rest_(record), separator_(separator) {}

  // The next field: without blanks around it, and where it is quoted without its quotes (a doubled
  // quote within it stays so: no number has any).
  std::optional<std::string_view> next() {
    if (done_) return std::nullopt;
    bool in_quotes = false;
    std::size_t end = 0;
    for (; end < rest_.size() && (in_quotes || rest_[end] != separator_); ++end)
      if (rest_[end] == '"') in_quotes = !in_quotes;
    std::string_view field = trim(rest_.substr(0, end));
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
      field = trim(field.substr(1, field.size() - 2));
    done_ = end == rest_.size();
    rest_.remove_prefix(done_ ? end : end + 1);
    return field;
  }

 private:
  std::string_view rest_;
  char separator_;
  bool done_ = false;
};

std::string without_doubled_quotes(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    text += field[i];
    if (field[i] == '"' && field.substr(i + 1).starts_with('"')) ++i;
  }
  return text;
}

enum class Outcome { number, out_of_range, no_number };

Outcome parse(std::string_view field, double& value) {
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  const char* const end = field.data() + field.size();
  const auto result = std::from_chars(field.data(), end, value);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return Outcome::no_number;
  if (result.ec == std::errc()) return Outcome::number;
  // Too small is zero, too large is refused; a long double tells which.
  long double wide = 0;
  if (std::from_chars(field.data(), end, wide).ec != std::errc()) return Outcome::out_of_range;
  value = static_cast<double>(wide);
  return value == 0 ? Outcome::number : Outcome::out_of_range;
}

char separator_of(std::string_view record) {
  constexpr std::string_view candidates = ",;\t";
  std::array<std::size_t, candidates.size()> counts{};
  bool in_quotes = false;
  for (const char c : record) {
    if (c == '"') in_quotes = !in_quotes;
    if (const auto which = candidates.find(c); which != std::string_view::npos && !in_quotes) ++counts[which];
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  return candidates[static_cast<std::size_t>(most - counts.begin())];
}

class Csv : public BlockReader::Source {
 public:
  Csv(const std::string& path, bool tabs) : path_(path), records_(path) {
    const auto first = records_.next();
    if (!first) throw FormatError(fmt::format("'{}' holds no line of numbers", path));
    if (first->starts_with("\xff\xfe") || first->starts_with("\xfe\xff"))
      throw FormatError(fmt::format("'{}' is text in UTF-16; save it as UTF-8", path));
    separator_ = tabs ? '\t' : separator_of(*first);
    first_line_ = records_.line();
    bool header = false;
    Fields fields(*first, separator_);
    double ignored = 0;
    while (const auto field = fields.next()) {
      ++features_;
      header |= !field->empty() && parse(*field, ignored) == Outcome::no_number;
    }
    if (header) {
      read_names(*first);
    } else {
      records_.push_back();
    }
  }

  std::vector<std::string> feature_names() const override { return names_; }

  Index features() const override { return features_; }
  std::optional<Index> samples() const override { return ended_ ? std::optional(position_) : std::nullopt; }

  Matrix next(Index max_samples) override {
    // A flat row, since that is what Eigen can grow in place.
    Matrix X(1, 0);
    Index count = 0;
    for (; count < max_samples; ++count) {
      const auto record = next_record();
      if (!record) break;
      const Index needed = (count + 1) * features_;
      if (needed > X.cols()) X.conservativeResize(1, std::min(capacity(max_samples), std::max(needed, 2 * X.cols())));
      convert(*record, X.data() + count * features_);
    }
    X.conservativeResize(1, count * features_);
    X.resize(features_, count);
    return X;
  }

  void skip(Index count) override {
    const Index before = position_;
    while (position_ < before + count)
      if (!next_record())
        throw InvalidInput(
            fmt::format("cannot skip {} samples of '{}': it holds {} and {} are "
                        "passed",
                        count, path_, position_, before));
  }

 private:
  // Names that cannot tell features apart are none.
  void read_names(std::string_view header) {
    Fields fields(header, separator_);
    std::set<std::string> different;
    while (const auto field = fields.next()) {
      names_.push_back(as_utf8(without_doubled_quotes(*field)));
      if (!names_.back().empty() && different.insert(names_.back()).second) continue;
      names_.clear();
      return;
    }
  }

  std::optional<std::string_view> next_record() {
    const auto record = records_.next();
    record ? ++position_ : ended_ = true;
    return record;
  }

  Index capacity(Index max_samples) const {
    constexpr Index most = std::numeric_limits<Index>::max() / Index{sizeof(double)};
    return max_samples > most / features_ ? most : max_samples * features_;
  }

  void convert(std::string_view record, double* out) const {
    Fields fields(record, separator_);
    Index column = 0;
    while (const auto field = fields.next()) {
      if (++column > features_) continue;
      const auto fail = [&](const std::string& what) {
        throw FormatError(fmt::format("'{}', line {}, column {}: {}", path_, records_.line(), column, what));
      };
      if (field->empty()) fail("the value is missing");
      switch (parse(*field, out[column - 1])) {
        case Outcome::number:
          break;
        case Outcome::out_of_range:
          fail(fmt::format("{} is beyond the range of a double", quoted(*field)));
          break;
        case Outcome::no_number:
          fail(fmt::format("{} is no number", quoted(*field)));
          break;
      }
    }
    if (column != features_)
      throw FormatError(fmt::format("'{}', line {}: it has {} columns, but line {} has {}", path_, records_.line(),
                                    column, first_line_, features_));
  }

  std::string path_;
  Records records_;
  char separator_ = ',';
  std::int64_t first_line_ = 0;
  Index features_ = 0, position_ = 0;
  std::vector<std::string> names_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<BlockReader::Source> open_csv(const std::string& path, const std::string&, const ReadOptions& options) {
  const bool tabs = path.size() >= 4 && ::strcasecmp(path.c_str() + path.size() - 4, ".tsv") == 0;
  auto source = std::make_unique<Csv>(path, tabs);
  if (!options.columns) return source;
  return in_memory(Matrix(source->next(std::numeric_limits<Index>::max()).transpose()));
}

}  // namespace cgmca::io
