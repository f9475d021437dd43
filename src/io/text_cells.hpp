// The cells of a record of text, and the numbers in them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cgmca::io {

// The fields of a record, one after the other.
class Fields {
 public:
  Fields(std::string_view record, char separator) : rest_(record), separator_(separator) {
    if (rest_.ends_with('\r')) rest_.remove_suffix(1);
  }

  // The next field: without blanks around it, and where it is quoted without its quotes (a doubled
  // quote within it stays so: no number has any).
  std::optional<std::string_view> next();
  // The next field where it is a number with a decimal point and nothing else; otherwise the field is still to come.
  bool take_number(double& value);

 private:
  std::string_view rest_;
  char separator_;
  bool done_ = false;
};

// A field as text: doubled quotes are one, and Latin-1 becomes UTF-8.
std::string text_of(std::string_view field);

enum class Cell { number, out_of_range, no_number };

// Numbers as C++ writes them whatever the locale, nan and inf included, and a sign + allowed. What is too small for a
// double is zero.
Cell parse(std::string_view field, double& value);
// The same with a decimal comma in place of the decimal point.
Cell parse_with_comma(std::string_view field, double& value);

// Empty, NA, N/A, #N/A, NaN, null or none, in either case.
bool is_missing(std::string_view field);
// 1,234,567 or 1.234,5 or 1'234.5 or 1 234 (with any space): digits in groups of three.
bool has_thousands(std::string_view field);
// Neither a number in any of these ways nor missing: what makes a line a header.
bool is_text(std::string_view field);

}  // namespace cgmca::io
