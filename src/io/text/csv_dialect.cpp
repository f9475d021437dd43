#include "io/text/csv_dialect.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "io/text/text_cells.hpp"
#include "support/suggest.hpp"

namespace cgmca::io {
namespace {

using Lines = std::vector<std::string>;

// The first lines: at most a hundred, and no more once they have 256 KiB.
Lines first_lines(Records records) {
  constexpr std::size_t most_lines = 100, most_bytes = 1 << 18;
  Lines lines;
  for (std::size_t bytes = 0; lines.size() < most_lines && bytes < most_bytes; bytes += lines.back().size()) {
    const auto record = records.next();
    if (!record) break;
    lines.emplace_back(*record);
  }
  return lines;
}

// Calls visit(place, field) for each field, with places from 0, until it returns false.
template <class Visit>
void each_field(std::string_view line, char separator, Visit visit) {
  Fields fields(line, separator);
  Index place = 0;
  for (auto field = fields.next(); field && visit(place, *field); field = fields.next()) ++place;
}

Index count_fields(std::string_view line, char separator) {
  Index count = 0;
  each_field(line, separator, [&](Index, std::string_view) { return ++count, true; });
  return count;
}

// Whether any of the first `columns` fields, except the ID, is text.
bool has_text(std::string_view line, char separator, Index columns, Index id) {
  bool found = false;
  each_field(line, separator, [&](Index place, std::string_view field) {
    found = place < columns && place != id && is_text(field);
    return !found && place < columns;
  });
  return found;
}

// The most frequent of , ; and tab; of equally frequent ones the first in this order.
char most_frequent_separator(std::string_view line) {
  constexpr std::string_view candidates = ",;\t";
  std::array<std::size_t, candidates.size()> counts{};
  bool in_quotes = false;
  for (const char c : line) {
    if (c == '"') in_quotes = !in_quotes;
    if (const auto which = candidates.find(c); which != std::string_view::npos && !in_quotes) ++counts[which];
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  return candidates[most - counts.begin()];
}

// The place, from 1, if the ID column is given as a number; nothing if it is given as a name.
std::optional<Index> place_of(const std::string& wanted) {
  Index place = 0;
  const char* const end = wanted.data() + wanted.size();
  const auto result = std::from_chars(wanted.data(), end, place);
  return result.ptr == end && result.ec == std::errc() ? std::optional(place) : std::nullopt;
}

// The place of the wanted ID column in the first line, from 0; -1 if it has none.
Index find_id(std::string_view first, char separator, Index columns, const std::string& wanted) {
  if (wanted.empty() || wanted == no_id) return -1;
  if (const auto place = place_of(wanted)) return *place >= 1 && *place <= columns ? *place - 1 : -1;
  Index found = -1;
  each_field(first, separator, [&](Index place, std::string_view field) {
    if (text_of(field) == wanted) found = place;
    return found < 0;
  });
  return found;
}

// Whether the separator makes a table of the lines: each has the same number of fields, at least
// two, and all fields below the header are numbers or missing, except the IDs.
bool makes_a_table(const Lines& lines, char separator, const std::string& wanted_id) {
  const Index columns = count_fields(lines[0], separator);
  const Index id = find_id(lines[0], separator, columns, wanted_id);
  if (columns < 2 || (lines.size() == 1 && has_text(lines[0], separator, columns, id))) return false;
  return std::all_of(lines.begin() + 1, lines.end(), [&](const std::string& line) {
    return count_fields(line, separator) == columns && !has_text(line, separator, columns, id);
  });
}

// The most frequent one of the first line, if it makes a table. In "1,5;2,7" commas are most
// frequent, but only the semicolon makes a table.
char separator_of(const Lines& lines, const std::string& wanted_id) {
  const char most = most_frequent_separator(lines[0]);
  if (most != ',' || lines[0].find_first_of(";\t") == std::string::npos) return most;
  for (const char candidate : {',', ';', '\t'})
    if (makes_a_table(lines, candidate, wanted_id)) return candidate;
  return most;
}

// The number of fields of the first line. Last fields that are empty in all of the first lines do
// not count, because some programs end every line with a separator.
Index columns_of(const Lines& lines, char separator) {
  const Index fields = count_fields(lines[0], separator);
  Index used = 0;
  for (const std::string& line : lines) {
    each_field(line, separator, [&](Index place, std::string_view field) {
      if (!field.empty()) used = std::max(used, place + 1);
      return true;
    });
    if (used >= fields) return fields;
  }
  return used;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    list += fmt::format("{}{}", i == 0 ? "" : ", ", io::quoted(names[i]));
  return names.size() > most ? fmt::format("{} and {} more", list, names.size() - most) : list;
}

// Throws unless exactly one column is the wanted one.
void check_id(const std::string& path, const Dialect& dialect, const std::string& wanted) {
  if (place_of(wanted)) {
    if (dialect.id < 0 || dialect.id >= dialect.columns)
      throw FormatError(fmt::format("'{}' has no column {} for the IDs; give a number from 1 to {}, or a name", path,
                                    io::quoted(wanted), dialect.columns));
  } else if (const auto count = std::count(dialect.names.begin(), dialect.names.end(), wanted); count > 1) {
    throw FormatError(fmt::format("'{}' has {} columns named {}; give the number of the one with the IDs, 1 to {}",
                                  path, count, io::quoted(wanted), dialect.columns));
  } else if (count == 0 && !dialect.header) {
    throw FormatError(
        fmt::format("'{}' has no column {} for the IDs, because it has no header; give the column's number, 1 to {}",
                    path, io::quoted(wanted), dialect.columns));
  } else if (count == 0) {
    const std::string near = did_you_mean(wanted, dialect.names);
    throw FormatError(fmt::format("'{}' has no column {} for the IDs{} {}", path, io::quoted(wanted),
                                  near.empty() ? "; its columns are" : near + " Its columns are",
                                  listed(dialect.names)));
  }
  if (dialect.columns < 2)
    throw FormatError(
        fmt::format("'{}' has only the column of the IDs; samples need at least one column of numbers", path));
}

// Whether the numbers beside the ID may be column names: at least two numbers that rise or fall,
// like years or wavelengths. Fewer than five must be whole, because a sample may rise by chance.
bool like_a_scale(std::string_view line, const Dialect& dialect) {
  constexpr Index enough = 5;
  double before = 0, number = 0;
  Index count = 0, rises = 0, falls = 0;
  bool numbers = true, whole = true;
  each_field(line, dialect.separator, [&](Index place, std::string_view field) {
    if (place >= dialect.columns || place == dialect.id) return true;
    numbers = parse(field, number) == Cell::number;
    whole = whole && field.find_first_not_of("0123456789") == std::string_view::npos;
    if (count > 0) rises += number > before, falls += number < before;
    before = number;
    ++count;
    return numbers;
  });
  return numbers && count > 1 && (rises == count - 1 || falls == count - 1) && (whole || count >= enough);
}

std::string_view field_at(std::string_view line, char separator, Index wanted) {
  std::string_view found;
  each_field(line, separator, [&](Index place, std::string_view field) { return found = field, place < wanted; });
  return found;
}

// Whether the first cell is blank and another is not.
bool begins_blank(std::string_view line, const Dialect& dialect) {
  bool blank = false, others = false;
  each_field(line, dialect.separator, [&](Index place, std::string_view field) {
    if (place == 0) blank = field.empty();
    others = others || !field.empty();
    return blank && !others;
  });
  return blank && others;
}

// The first line is a header if it has text beside the ID column; if its first cell is blank, as
// programs write above the names or numbers of rows; or if its cell in the ID column is the wanted
// name, is blank, or is text without digits above IDs that all have some: "id,2019,2020" is a header
// if "p1,…" follows. If "anna,…" follows, it cannot be decided.
bool is_header(const std::string& path, const Lines& lines, const Dialect& dialect, const std::string& wanted_id) {
  if (begins_blank(lines[0], dialect)) return true;
  if (dialect.id >= 0) {
    const auto id_has_digits = [&](const std::string& line) {
      const std::string_view id = field_at(line, dialect.separator, dialect.id);
      return id.find_first_of("0123456789") != std::string_view::npos;
    };
    const std::string_view first = field_at(lines[0], dialect.separator, dialect.id);
    if (first.empty() || !place_of(wanted_id)) return true;
    if (is_text(first) && !id_has_digits(lines[0])) {
      if (lines.size() > 1 && std::all_of(lines.begin() + 1, lines.end(), id_has_digits)) return true;
      if (like_a_scale(lines[0], dialect))
        throw FormatError(fmt::format(
            "'{}': its first line may be a header or a sample; name the ID column by its header, {}, or put "
            "a header with text above the numbers",
            path, io::quoted(first)));
    }
  }
  return has_text(lines[0], dialect.separator, dialect.columns, dialect.id);
}

// A text, or a whole number from 0 on.
bool may_be_an_id(std::string_view field) {
  double number = 0;
  return is_text(field) || (parse(field, number) == Cell::number && number >= 0 && number == std::rint(number));
}

// Whether the first column has no name in the header, and its cells in the first lines are IDs that
// differ.
bool begins_with_ids(const Lines& lines, const Dialect& dialect) {
  if (!dialect.header || dialect.columns < 2 || !begins_blank(lines[0], dialect)) return false;
  std::set<std::string_view> seen;
  return std::all_of(lines.begin() + 1, lines.end(), [&](const std::string& line) {
    const std::string_view id = field_at(line, dialect.separator, 0);
    return may_be_an_id(id) && seen.insert(id).second;
  });
}

// Takes a first column without a name for the IDs if it looks like them, and notes it.
void find_unnamed_id(const Lines& lines, Dialect& dialect) {
  if (begins_with_ids(lines, dialect)) {
    dialect.id = 0;
    dialect.found_id = true;
    std::string cells;
    constexpr std::size_t shown = 3;
    for (std::size_t line = 1; line < lines.size() && line <= shown; ++line)
      cells += text_of(field_at(lines[line], dialect.separator, 0)) + ", ";
    dialect.notes.push_back(
        fmt::format("the first column has no name ({}…): it is taken for the samples' names, not for a feature. "
                    "An ID column 'none' (--id none) makes it a feature",
                    cells));
  } else if (begins_blank(lines[0], dialect) && !has_text(lines[0], dialect.separator, dialect.columns, dialect.id)) {
    dialect.notes.emplace_back(
        "the first line is taken for a header, because its first cell is blank. If it is a sample, write NaN there");
  }
}

}  // namespace

Dialect dialect_of(const std::string& path, const Records& records, bool tabs, const std::string& wanted_id) {
  const Lines lines = first_lines(records.again({}));
  Dialect dialect;
  if (!lines.empty()) {
    if (lines[0].find('\0') != std::string::npos)
      throw FormatError(
          fmt::format("'{}' has zero bytes in its first line: it is not text, or UTF-16 without a byte order "
                      "mark; save it as UTF-8",
                      path));
    dialect.separator = tabs ? '\t' : separator_of(lines, wanted_id);
    dialect.columns = columns_of(lines, dialect.separator);
  }
  if (dialect.columns == 0) throw FormatError(fmt::format("'{}' has no line of numbers", path));

  const std::string_view first = lines[0];
  dialect.trailing_fields = count_fields(first, dialect.separator) > dialect.columns;
  dialect.id = find_id(first, dialect.separator, dialect.columns, wanted_id);
  dialect.header = is_header(path, lines, dialect, wanted_id);
  if (wanted_id.empty()) find_unnamed_id(lines, dialect);
  if (dialect.header)
    each_field(first, dialect.separator, [&](Index place, std::string_view field) {
      if (place < dialect.columns) dialect.names.push_back(text_of(field));
      return true;
    });
  if (!wanted_id.empty() && wanted_id != no_id) check_id(path, dialect, wanted_id);
  return dialect;
}

bool divided_by_tabs(const std::string& path) {
  for (const std::string end : {".tsv", ".tsv.gz"}) {
    if (path.size() >= end.size() && ::strcasecmp(path.c_str() + path.size() - end.size(), end.c_str()) == 0)
      return true;
  }
  return false;
}

}  // namespace cgmca::io
