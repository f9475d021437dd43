#include "io/text/text_cells.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "support/text.hpp"

namespace cgmca::io {
namespace {

std::string_view trim(std::string_view text) {
  constexpr const char* blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The number of digits at the beginning of the text.
std::size_t leading_digits(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

}  // namespace

std::optional<std::string_view> Fields::next() {
  if (done_) return std::nullopt;
  bool in_quotes = false;
  std::size_t end = 0;
  for (; end < rest_.size() && (in_quotes || rest_[end] != separator_); ++end)
    if (rest_[end] == '"') in_quotes = !in_quotes;
  std::string_view field = trim(rest_.substr(0, end));
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = trim(field.substr(1, field.size() - 2));
  done_ = end == rest_.size();
  rest_.remove_prefix(done_ ? end : end + 1);
  return field;
}

bool Fields::take_number(double& value) {
  const char* const end = rest_.data() + rest_.size();
  const auto [stop, error] = std::from_chars(rest_.data(), end, value);
  if (error != std::errc() || (stop != end && *stop != separator_)) return false;
  done_ = stop == end;
  rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()) + (done_ ? 0 : 1));
  return true;
}

std::string text_of(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    text += field[i];
    if (field[i] == '"' && field.substr(i + 1).starts_with('"')) ++i;
  }
  return as_utf8(text);
}

Cell parse(std::string_view field, double& value) {
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  const char* const end = field.data() + field.size();
  const auto result = std::from_chars(field.data(), end, value);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return Cell::no_number;
  if (result.ec == std::errc()) return Cell::number;
  // Too small becomes zero, too large is refused; a long double shows which it is.
  long double wide = 0;
  if (std::from_chars(field.data(), end, wide).ec != std::errc()) return Cell::out_of_range;
  value = static_cast<double>(wide);
  return value == 0 ? Cell::number : Cell::out_of_range;
}

Cell parse_with_comma(std::string_view field, double& value) {
  if (field.find('.') != std::string_view::npos) return Cell::no_number;
  std::string text(field);
  if (const auto comma = text.find(','); comma != std::string::npos) text[comma] = '.';
  return parse(text, value);
}

bool is_missing(std::string_view field) {
  if (field.empty()) return true;  // its data may be null, which strncasecmp does not accept
  constexpr std::array<std::string_view, 6> words = {"NA", "N/A", "#N/A", "NaN", "null", "none"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return field.size() == word.size() && ::strncasecmp(field.data(), word.data(), word.size()) == 0;
  });
}

bool has_thousands(std::string_view field) {
  // Comma, point, apostrophes and spaces, including the no-break spaces of Latin-1 and UTF-8.
  constexpr std::array<std::string_view, 8> separators = {",", ".",    "'",        "\xe2\x80\x99",
                                                          " ", "\xa0", "\xc2\xa0", "\xe2\x80\xaf"};
  if (field.starts_with('-') || field.starts_with('+')) field.remove_prefix(1);
  if (const std::size_t first = leading_digits(field); first < 1 || first > 3) return false;
  field.remove_prefix(leading_digits(field));
  const auto separator = std::find_if(separators.begin(), separators.end(),
                                      [&](std::string_view candidate) { return field.starts_with(candidate); });
  if (separator == separators.end()) return false;
  do {
    field.remove_prefix(separator->size());
    if (leading_digits(field) != 3) return false;
    field.remove_prefix(3);
  } while (field.starts_with(*separator));
  // After the groups comes the end of the number: ".5", ",5e3" or nothing.
  double ignored = 0;
  const std::string rest = fmt::format("0{}", field);
  return parse(rest, ignored) == Cell::number || parse_with_comma(rest, ignored) == Cell::number;
}

bool is_text(std::string_view field) {
  double ignored = 0;
  return !is_missing(field) && parse(field, ignored) == Cell::no_number &&
         parse_with_comma(field, ignored) == Cell::no_number && !has_thousands(field);
}

}  // namespace cgmca::io
