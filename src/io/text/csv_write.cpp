// .csv, .tsv: a header with the names of the features, if there are any, then one sample per line.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "io/text/csv_write.hpp"
#include "io/text/text_cells.hpp"

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

TextWriter::TextWriter(const std::string& path, char separator) : file_(path), separator_(separator) {}

void TextWriter::header(const Names& names, const std::optional<std::string>& id_name) {
  if (names.empty() || (!id_name && !makes_header(names))) return;
  if (id_name) text_ += field(*id_name, separator_) + separator_;
  for (std::size_t i = 0; i < names.size(); ++i)
    text_ += field(names[i], separator_) + (i + 1 < names.size() ? separator_ : '\n');
}

void TextWriter::add(const MatrixView& X, const std::vector<std::string>& ids, bool single) {
  constexpr std::size_t longest_number = 32, full = 1 << 16;
  for (Index j = 0; j < X.cols(); ++j) {
    if (!ids.empty()) text_ += field(ids[j], separator_) + separator_;
    for (Index i = 0; i < X.rows(); ++i) {
      std::array<char, longest_number> number;
      char* const last = number.data() + number.size();
      // The shortest text that reads back as the same double, or float.
      const auto end = single ? std::to_chars(number.data(), last, static_cast<float>(X(i, j))).ptr
                              : std::to_chars(number.data(), last, X(i, j)).ptr;
      text_.append(number.data(), end);
      text_ += i + 1 < X.rows() ? separator_ : '\n';
      if (text_.size() > full) flush();
    }
  }
}

void TextWriter::flush() {
  file_.write(text_.data(), text_.size());
  text_.clear();
}

void TextWriter::commit() {
  flush();
  file_.commit();
}

void write_csv(const std::string& path, const MatrixView& X, char separator, const Names& names) {
  TextWriter file(path, separator);
  file.header(names);
  file.add(X);
  file.commit();
}

}  // namespace cgmca::io
