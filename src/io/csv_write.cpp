// .csv, .tsv: a header with the names of the features, if there are any, then one sample per line.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "source.hpp"
#include "support/atomic_file.hpp"
#include "text_cells.hpp"

namespace cgmca::io {
namespace {

// If every name looks like a number or a missing value, the header would be read as a sample.
bool makes_header(const Names& names) {
  return std::any_of(names.begin(), names.end(), [](const std::string& name) { return is_text(name); });
}

// The name, in quotes if it has a separator, a quote, a line end, or blanks at its start or end.
// Quotes within it are doubled.
std::string field(const std::string& name, char separator) {
  const std::string special = std::string("\"\r\n") + separator;
  const bool blanks = name.starts_with(' ') || name.ends_with(' ');
  if (!blanks && name.find_first_of(special) == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

}  // namespace

void write_csv(const std::string& path, const MatrixView& X, char separator, const Names& names) {
  AtomicFile file(path);
  constexpr std::size_t longest_number = 32, full = 1 << 16;
  std::string text;
  const auto flush = [&] {
    file.write(text.data(), text.size());
    text.clear();
  };
  if (makes_header(names)) {
    for (std::size_t i = 0; i < names.size(); ++i)
      text += field(names[i], separator) + (i + 1 < names.size() ? separator : '\n');
  }
  for (Index j = 0; j < X.cols(); ++j) {
    for (Index i = 0; i < X.rows(); ++i) {
      std::array<char, longest_number> number;
      // The shortest text that reads back as the same double.
      const auto end = std::to_chars(number.data(), number.data() + number.size(), X(i, j)).ptr;
      text.append(number.data(), end);
      text += i + 1 < X.rows() ? separator : '\n';
      if (text.size() > full) flush();
    }
  }
  flush();
  file.commit();
}

}  // namespace cgmca::io
