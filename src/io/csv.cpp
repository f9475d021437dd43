// Numbers as text: one sample per line, fields divided by a separator.
//
// .tsv divides by tabs; otherwise it is whichever of , ; and tab the first line has most of (in doubt
// in that order), or ; or tab where only these make a table of the first lines, as of "1,5;2,7". The
// first line is a header where a field of it is neither a number nor missing; the ID column does not
// count. Lines end in LF, CRLF or, in a file without LF, CR; those without any character but blanks
// are passed over. Empty fields after the last column do not matter. The text is UTF-8, or UTF-16
// with a byte order mark; names in Latin-1 are converted. A field may stand in double quotes, within
// which "" is one quote and line ends count as text; blanks around a field do not matter.
//
// Numbers are written as in C++ whatever the locale, nan and inf included. Where ; or tab divides the
// fields the decimal mark may be a comma: the first number with a mark decides for the whole file.
// Missing (empty, NA, N/A, #N/A, NaN, null or none, in either case) is NaN. Any other field, and a
// line with more or fewer fields than the first, is an error that names line and column.
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
#include "csv_dialect.hpp"
#include "csv_index.hpp"
#include "source.hpp"
#include "text_cells.hpp"
#include "text_records.hpp"

namespace cgmca::io {
namespace {

class Csv : public BlockReader::Source {
 public:
  Csv(const std::string& path, bool tabs, const std::string& id)
      : path_(path),
        records_(std::make_shared<const File>(path)),
        dialect_(dialect_of(path, records_, tabs, id)),
        features_(dialect_.columns - (dialect_.id < 0 ? 0 : 1)),
        mark_(dialect_.may_have_commas() ? Mark::unknown : Mark::point) {
    if (dialect_.header) {
      records_.next();
      set_names();
    }
    first_block_ = block_ = {0, records_.position()};
  }

  std::vector<std::string> feature_names() const override { return names_; }
  const std::vector<std::string>& ids() const override { return ids_; }

  Index features() const override { return features_; }
  std::optional<Index> samples() const override {
    if (index_) return index_->rows;
    return ended_ ? std::optional(position_) : std::nullopt;
  }

  Matrix next(Index max_samples) override {
    block_ = {position_, records_.position()};
    ids_.clear();
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
    const auto* near = index_ ? index_->before(before + count) : nullptr;
    if (near != nullptr && near->row > position_) {
      records_ = records_.again(near->place);
      position_ = near->row;
    }
    while (position_ < before + count)
      if (!next_record())
        throw InvalidInput(
            fmt::format("cannot skip {} samples of '{}': it holds {} and {} are "
                        "passed",
                        count, path_, position_, before));
  }

  // An ID column may change which line is the header, and the index knows of none.
  void count() override {
    if (samples()) return;
    if (dialect_.id < 0) index_ = load_row_index(path_);
    if (!index_) index_ = rows_left();
    mark_ = index_->mark == '.' ? Mark::point : index_->mark == ',' ? Mark::comma : mark_;
    mark_line_ = index_->mark_line;
  }

  // To the end and back again.
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

  // Reads the lines of the sample's block once more: keeping the line of every sample would take memory without bound.
  std::string place(Index sample, Index feature, bool) const override {
    const Block& from = sample < block_.begin ? first_block_ : block_;
    Records records = records_.again(from.position);
    for (Index i = from.begin; i <= sample; ++i)
      if (!records.next()) break;
    const Index column = dialect_.id < 0 || feature < dialect_.id ? feature : feature + 1;
    return fmt::format("line {}, {}", records.line(), column_name(column));
  }

 private:
  struct Block {
    Index begin = 0;  // the sample it begins with
    Records::Place position;
  };
  enum class Mark { unknown, point, comma };  // of decimals

  // Names that cannot tell features apart are none.
  void set_names() {
    std::vector<std::string> names = dialect_.names;
    if (dialect_.id >= 0) names.erase(names.begin() + dialect_.id);
    const std::set<std::string> different(names.begin(), names.end());
    if (different.size() == names.size() && !different.contains("")) names_ = std::move(names);
  }

  std::string column_name(Index column) const {
    if (!dialect_.header || (names_.empty() && column != dialect_.id)) return fmt::format("column {}", column + 1);
    const std::string& name = dialect_.names[static_cast<std::size_t>(column)];
    return name.empty() ? fmt::format("column {}", column + 1) : "column " + quoted(name);
  }

  std::optional<std::string_view> next_record() {
    const auto record = records_.next();
    record ? ++position_ : ended_ = true;
    if (record && mark_ == Mark::unknown) decide_mark(*record);
    return record;
  }

  // The first number with a point or a comma decides, skipped or not, so that blocks of any size give the same.
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
    Index column = 0, used = 0;  // fields so far; those up to the last one with anything in it
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
    Records records = records_.again({});
    records.next();
    throw FormatError(fmt::format("'{}', line {}: it has {} columns, but line {} has {}{}", path_, records_.line(),
                                  columns, records.line(), dialect_.columns,
                                  dialect_.trailing_fields ? ", its empty last fields not counted" : ""));
  }

  [[noreturn]] void fail(Index column, const std::string& what) const {
    throw FormatError(fmt::format("'{}', line {}, {}: {}", path_, records_.line(), column_name(column), what));
  }

  std::string id_of(std::string_view field) const {
    if (field.empty()) fail(dialect_.id, "the ID is missing");
    return text_of(field);
  }

  double value_of(std::string_view field, Index column) const {
    double value = 0;
    const Cell cell = mark_ == Mark::comma ? parse_with_comma(field, value) : parse(field, value);
    if (cell == Cell::number) return value;
    if (cell == Cell::out_of_range) fail(column, quoted(field) + " is beyond the range of a double");
    if (!is_missing(field)) fail(column, quoted(field) + why_no_number(field));
    return std::numeric_limits<double>::quiet_NaN();
  }

  std::string why_no_number(std::string_view field) const {
    double ignored = 0;
    const bool point = parse(field, ignored) == Cell::number, comma = parse_with_comma(field, ignored) == Cell::number;
    if (!dialect_.may_have_commas() && comma)
      return " is not a number: decimal commas are read only where semicolons or tabs divide the fields";
    if (point || comma)
      return fmt::format(
          " has a {}, but line {} has a decimal {}; a file has one decimal mark and no thousands separators",
          point ? "point" : "comma", mark_line_, point ? "comma" : "point");
    if (has_thousands(field)) return " is not a number: thousands separators are not read";
    if (dialect_.id < 0 && std::any_of(field.begin(), field.end(), is_letter))
      return " is not a number (a column that names samples must be given as the ID column)";
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
  std::int64_t mark_line_ = 0;
  bool ended_ = false;
  std::optional<RowIndex> index_;
};

// Samples that are the file's columns, read whole. Their places need the lines of the file.
class CsvColumns : public BlockReader::Source {
 public:
  explicit CsvColumns(std::unique_ptr<Csv> file)
      : file_(std::move(file)),
        values_(in_memory(Matrix(file_->next(std::numeric_limits<Index>::max()).transpose()))) {}

  Index features() const override { return values_->features(); }
  std::optional<Index> samples() const override { return values_->samples(); }
  bool streams() const override { return false; }
  Matrix next(Index max_samples) override { return values_->next(max_samples); }
  void skip(Index count) override { values_->skip(count); }
  std::string place(Index sample, Index feature, bool columns) const override {
    return file_->place(feature, sample, columns);
  }

 private:
  std::unique_ptr<Csv> file_;
  std::unique_ptr<BlockReader::Source> values_;
};

bool divided_by_tabs(const std::string& path) {
  return path.size() >= 4 && ::strcasecmp(path.c_str() + path.size() - 4, ".tsv") == 0;
}

}  // namespace

Index write_csv_index(const std::string& path) {
  const RowIndex index = Csv(path, divided_by_tabs(path), "").rows_left();
  save(index, path);
  return index.rows;
}

std::unique_ptr<BlockReader::Source> open_csv(const std::string& path, const std::string&, const ReadOptions& options) {
  if (options.columns && !options.id.empty())
    throw InvalidInput(
        fmt::format("'{}' cannot have an ID column {}: its samples are columns, and IDs need samples as rows", path,
                    quoted(options.id)));
  auto source = std::make_unique<Csv>(path, divided_by_tabs(path), options.id);
  if (!options.columns) return source;
  return std::make_unique<CsvColumns>(std::move(source));
}

}  // namespace cgmca::io
