// Numbers as text: one sample per line, with a separator between the fields.
//
// - Separator: tab in .tsv files. Otherwise the one of , ; and tab that is most frequent in the
//   first line (if two are equally frequent, the first of this list). But ; or tab is used if only
//   that makes a table of the first lines, as in "1,5;2,7".
// - Header: the first line is one if one of its fields, apart from the ID column, is neither a
//   number nor missing, or if its first field is empty and another is not.
// - A first column without a name in the header has the samples' IDs if it looks like them; see
//   csv_dialect.hpp.
// - Lines end in LF or CRLF; in CR if the file has no LF. Blank lines are skipped. Empty fields
//   after the last column are ignored.
// - Text is UTF-8, or UTF-16 with a byte order mark; names in Latin-1 are converted.
// - A field may be in double quotes. Within them "" is one quote, and line ends are text. Blanks
//   around a field are ignored.
// - Numbers are written as in C++, whatever the locale; nan and inf are numbers. If the separator is
//   ; or tab, the decimal mark may be a comma; the first number with a mark decides for the file.
// - A missing value (an empty field, NA, N/A, #N/A, NaN, null or none, in upper or lower case)
//   becomes NaN. Any other field, and a line with more or fewer fields than the first, is an error
//   that names the line and the column.
//
// Hand-written because Debian has no C++ library that streams numbers and names the place of each
// error.
#include <cgmca/error.hpp>

#include <fmt/format.h>

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

#include "io/bytes.hpp"
#include "io/source.hpp"
#include "io/text/csv_dialect.hpp"
#include "io/text/csv_index.hpp"
#include "io/text/text_cells.hpp"
#include "io/text/text_records.hpp"

namespace cgmca::io {
namespace {

class Csv : public BlockReader::Source {
 public:
  Csv(const std::string& path, bool tabs, const std::string& id)
      : path_(path == "-" ? "standard input" : path),
        records_(text_input(path)),
        dialect_(dialect_of(path, records_, tabs, id)),
        features_(dialect_.columns - (dialect_.id < 0 ? 0 : 1)),
        mark_(dialect_.may_have_commas() ? Mark::unknown : Mark::point) {
    Records from_start = records_.again({});
    from_start.next();
    first_line_ = from_start.line();
    if (dialect_.header) {
      records_.next();
      set_names();
    }
    first_block_ = block_ = {0, records_.position()};
  }

  std::vector<std::string> feature_names() const override { return names_; }
  const std::vector<std::string>& ids() const override { return ids_; }
  bool is_text() const override { return true; }
  std::vector<std::string> notes() const override { return dialect_.notes; }

  Index features() const override { return features_; }
  std::optional<Index> samples() const override {
    if (index_) return index_->rows;
    return ended_ ? std::optional(position_) : std::nullopt;
  }

  Matrix next(Index max_samples) override {
    if (position_ > 0) records_.forget_before(records_.position());  // the first block may be looked at beforehand
    block_ = {position_, records_.position()};
    ids_.clear();
    // X is one flat row here, because Eigen can grow that in place.
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
    const auto* near = index_ ? index_->before(before + count) : nullptr;
    if (near != nullptr && near->row > position_) {
      records_ = records_.again(near->place);
      position_ = near->row;
    }
    while (position_ < before + count)
      if (!next_record())
        throw InvalidInput(fmt::format("cannot skip {} samples of '{}': {} of its {} are left", count, path_,
                                       position_ - before, position_));
  }

  // The index was made without a named ID column, which may change whether the first line is a header.
  void count() override {
    if (index_) return;
    if (!records_.repeats()) {
      if (ended_) return;
      throw InvalidInput("the samples of standard input cannot be counted beforehand; save it to a file");
    }
    if (dialect_.id < 0 || dialect_.found_id) index_ = load_row_index(path_);  // refuses one of another file
    if (!index_ && ended_) return;
    if (!index_) index_ = rows_left();
    mark_ = index_->mark == '.' ? Mark::point : index_->mark == ',' ? Mark::comma : mark_;
    mark_line_ = index_->mark_line;
  }

  // Counts the rows to the end of the file and returns to the current one.
  RowIndex rows_left() {
    const Block here{position_, records_.position()};
    RowIndex index;
    do {
      index.note(position_, records_.position());
    } while (next_record());
    index.rows = position_;
    index.mark = mark_ == Mark::comma ? ',' : mark_ == Mark::point ? '.' : '?';
    index.mark_line = mark_line_;
    position_ = here.begin;
    records_ = records_.again(here.position);
    ended_ = false;
    return index;
  }

  // Reads the lines of the block again. Remembering the line of every sample would need memory
  // without bound.
  std::string place(Index sample, Index feature, bool) const override {
    if (sample < block_.begin && !records_.repeats()) return Source::place(sample, feature, false);
    const Block& from = sample < block_.begin ? first_block_ : block_;
    Records records = records_.again(from.position);
    for (Index i = from.begin; i <= sample; ++i)
      if (!records.next()) break;
    const Index column = dialect_.id < 0 || feature < dialect_.id ? feature : feature + 1;
    return fmt::format("line {}, {}", records.line(), column_name(column));
  }

 private:
  struct Block {
    Index begin = 0;  // its first sample
    Records::Place position;
  };
  enum class Mark { unknown, point, comma };  // the decimal mark

  // Names are used only if all are different and none is empty.
  void set_names() {
    std::vector<std::string> names = dialect_.names;
    if (dialect_.id >= 0) names.erase(names.begin() + dialect_.id);
    const std::set<std::string> different(names.begin(), names.end());
    if (different.size() == names.size() && !different.contains("")) names_ = std::move(names);
  }

  std::string column_name(Index column) const {
    if (!dialect_.header || (names_.empty() && column != dialect_.id)) return fmt::format("column {}", column + 1);
    const std::string& name = dialect_.names[column];
    return name.empty() ? fmt::format("column {}", column + 1) : "column " + io::quoted(name);
  }

  std::optional<std::string_view> next_record() {
    const auto record = records_.next();
    record ? ++position_ : ended_ = true;
    if (record && mark_ == Mark::unknown) decide_mark(*record);
    return record;
  }

  // The first number with a point or a comma decides, even in a skipped line. So the result does
  // not depend on the size of the blocks.
  void decide_mark(std::string_view record) {
    if (record.find('.') == std::string_view::npos && record.find(',') == std::string_view::npos) return;
    Fields fields(record, dialect_.separator);
    double ignored = 0;
    for (Index column = 0; const auto field = fields.next(); ++column) {
      if (column == dialect_.id) continue;
      if (field->find('.') != std::string_view::npos && parse(*field, ignored) == Cell::number)
        mark_ = Mark::point;
      else if (field->find(',') != std::string_view::npos && parse_with_comma(*field, ignored) == Cell::number)
        mark_ = Mark::comma;
      if (mark_ == Mark::unknown) continue;
      mark_line_ = records_.line();
      return;
    }
  }

  Index capacity(Index max_samples) const {
    constexpr Index most = std::numeric_limits<Index>::max() / Index{sizeof(double)};
    return max_samples > most / features_ ? most : max_samples * features_;
  }

  void convert(std::string_view record, double* out) {
    Fields fields(record, dialect_.separator);
    Index column = 0, used = 0;  // fields so far; up to the last nonempty one
    for (;; ++column) {
      const bool number = column < dialect_.columns && column != dialect_.id;
      if (number && mark_ != Mark::comma && fields.take_number(*out)) {
        ++out;
        used = column + 1;
        continue;
      }
      const auto field = fields.next();
      if (!field) break;
      if (!field->empty()) used = column + 1;
      if (number) *out++ = value_of(*field, column);
      if (column == dialect_.id) ids_.push_back(id_of(*field));
    }
    if (column < dialect_.columns || used > dialect_.columns)
      fail_ragged(std::max(used, std::min(column, dialect_.columns)));
  }

  [[noreturn]] void fail_ragged(Index columns) const {
    throw FormatError(fmt::format("'{}', line {}: it has {} columns, but line {} has {}{}", path_, records_.line(),
                                  columns, first_line_, dialect_.columns,
                                  dialect_.trailing_fields ? ", its empty last fields not counted" : ""));
  }

  [[noreturn]] void fail(Index column, const std::string& what) const {
    throw FormatError(fmt::format("'{}', line {}, {}: {}", path_, records_.line(), column_name(column), what));
  }

  std::string id_of(std::string_view field) const {
    if (field.empty() && !dialect_.found_id) fail(dialect_.id, "the ID is missing; every sample needs one");
    return text_of(field);
  }

  double value_of(std::string_view field, Index column) const {
    double value = 0;
    const Cell cell = mark_ == Mark::comma ? parse_with_comma(field, value) : parse(field, value);
    if (cell == Cell::number) return value;
    if (cell == Cell::out_of_range) fail(column, io::quoted(field) + " is too large for a double");
    if (!is_missing(field)) fail(column, io::quoted(field) + why_no_number(field));
    return std::numeric_limits<double>::quiet_NaN();
  }

  std::string why_no_number(std::string_view field) const {
    double ignored = 0;
    const bool point = parse(field, ignored) == Cell::number, comma = parse_with_comma(field, ignored) == Cell::number;
    if (!dialect_.may_have_commas() && comma)
      return " is not a number: decimal commas need semicolons or tabs between the fields";
    if (point || comma)
      return fmt::format(
          " has a {}, but line {} has a decimal {}; a file has one decimal mark and no thousands separators",
          point ? "point" : "comma", mark_line_, point ? "comma" : "point");
    if (has_thousands(field)) return " is not a number: thousands separators are not read";
    if (dialect_.id < 0 && std::any_of(field.begin(), field.end(), is_letter))
      return " is not a number; if its column names the samples, give that as the ID column (--id)";
    return " is not a number";
  }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  std::string path_;
  Records records_;
  Dialect dialect_;
  Index features_, position_ = 0;
  std::vector<std::string> names_, ids_;
  Block first_block_, block_;
  Mark mark_;
  std::int64_t mark_line_ = 0, first_line_ = 0;
  bool ended_ = false;
  std::optional<RowIndex> index_;
};

// For files whose columns are the samples: read whole. place() needs the line numbers.
class CsvColumns : public BlockReader::Source {
 public:
  explicit CsvColumns(std::unique_ptr<Csv> file)
      : file_(std::move(file)),
        values_(in_memory(Matrix(file_->next(std::numeric_limits<Index>::max()).transpose()))) {}

  Index features() const override { return values_->features(); }
  std::optional<Index> samples() const override { return values_->samples(); }
  bool streams() const override { return false; }
  bool is_text() const override { return true; }
  std::vector<std::string> notes() const override { return file_->notes(); }
  Matrix next(Index max_samples) override { return values_->next(max_samples); }
  void skip(Index count) override { values_->skip(count); }
  std::string place(Index sample, Index feature, bool columns) const override {
    return file_->place(feature, sample, columns);
  }

 private:
  std::unique_ptr<Csv> file_;
  std::unique_ptr<BlockReader::Source> values_;
};

}  // namespace

Index write_csv_index(const std::string& path) {
  const RowIndex index = Csv(path, divided_by_tabs(path), "").rows_left();
  save(index, path);
  return index.rows;
}

std::unique_ptr<BlockReader::Source> open_csv(const std::string& path, const std::string&, const ReadOptions& options) {
  if (options.categories) return open_categories(path, options);
  if (options.columns && !options.id.empty() && options.id != no_id)
    throw InvalidInput(
        fmt::format("'{}' cannot have an ID column {}: its samples are columns, and IDs need samples as rows", path,
                    io::quoted(options.id)));
  auto source = std::make_unique<Csv>(path, divided_by_tabs(path), options.id);
  if (!options.columns) return source;
  return std::make_unique<CsvColumns>(std::move(source));
}

}  // namespace cgmca::io
