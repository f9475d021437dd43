// The fields of a line of text, and the numbers in them.
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

  // The next field, without blanks around it and without its quotes. Doubled quotes within it stay
  // doubled; see text_of().
  std::optional<std::string_view> next();
  // Takes the next field if it is a plain number with a decimal point; otherwise next() still
  // returns it.
  bool take_number(double& value);

 private:
  std::string_view rest_;
  char separator_;
  bool done_ = false;
};

// A field as text: doubled quotes become one, and Latin-1 becomes UTF-8.
std::string text_of(std::string_view field);

enum class Cell { number, out_of_range, no_number };

// Numbers as in C++, whatever the locale; nan, inf and a leading + are allowed. Numbers too small
// for a double become zero.
Cell parse(std::string_view field, double& value);
// The same with a decimal comma in place of the decimal point.
Cell parse_with_comma(std::string_view field, double& value);

// Empty, or NA, N/A, #N/A, NaN, null or none in upper or lower case.
bool is_missing(std::string_view field);
// 1,234,567 or 1.234,5 or 1'234.5 or 1 234 (with any space): digits in groups of three.
bool has_thousands(std::string_view field);
// Neither missing nor a number in any of these forms. Such a field makes a line a header.
bool is_text(std::string_view field);

}  // namespace cgmca::io
