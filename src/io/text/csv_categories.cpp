// Text files whose columns of texts are categories: an indicator feature NAME=VALUE for each value.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/source.hpp"
#include "io/text/csv_dialect.hpp"
#include "io/text/text_cells.hpp"
#include "io/text/text_records.hpp"

namespace cgmca::io {
namespace {

class Categories : public BlockReader::Source {
 public:
  Categories(const std::string& path, const ReadOptions& options)
      : path_(path),
        records_(text_input(path)),
        dialect_(dialect_of(path, records_, divided_by_tabs(path), options.id.empty() ? "none" : options.id)) {
    if (!records_.repeats()) {
      throw InvalidInput("standard input cannot be read twice, which categories need; save it to a file");
    }
    if (dialect_.header) records_.next();
    start_ = block_ = records_.position();
    find_values();
    if (!options.expected.empty()) take(options.expected);
    lay_out();
  }

  std::vector<std::string> feature_names() const override { return names_; }
  const std::vector<std::string>& ids() const override { return ids_; }
  bool is_text() const override { return true; }
  std::vector<std::string> notes() const override { return dialect_.notes; }
  Index features() const override { return features_; }
  std::optional<Index> samples() const override { return samples_; }

  Matrix next(Index max_samples) override {
    block_ = records_.position();
    first_ = position_;
    ids_.clear();
    const Index count = std::min(max_samples, samples_ - position_);
    Matrix X = Matrix::Zero(features_, count);
    for (Index j = 0; j < count; ++j) {
      convert(*records_.next(), X, j);
      ++position_;
    }
    return X;
  }

  void skip(Index count) override {
    for (Index j = 0; j < count; ++j, ++position_) {
      if (!records_.next()) throw InvalidInput(fmt::format("'{}' has no {} samples to skip", path_, count));
    }
  }

  std::string place(Index sample, Index feature, bool) const override {
    const bool earlier = sample < first_;
    Records records = records_.again(earlier ? start_ : block_);
    for (Index i = earlier ? 0 : first_; i <= sample; ++i) records.next();
    Index column = 0;
    while (column + 1 < std::ssize(columns_) && columns_[static_cast<std::size_t>(column + 1)].first <= feature)
      ++column;
    return fmt::format("line {}, {}", records.line(), columns_[static_cast<std::size_t>(column)].name);
  }

 private:
  struct Column {
    std::string name;
    bool text = false, used = true;         // used: not the column of IDs
    std::map<std::string, Index> values{};  // of texts: the place of each
    Index first = 0;                        // its first feature
  };

  void find_values() {
    for (Index column = 0; column < dialect_.columns; ++column) {
      Column one{dialect_.header ? dialect_.names[static_cast<std::size_t>(column)] : fmt::format("{}", column + 1)};
      one.used = column != dialect_.id;
      columns_.push_back(std::move(one));
    }
    std::vector<std::set<std::string>> found(columns_.size());
    constexpr std::size_t most = 1000;  // more are no categories, but names of samples
    while (const auto record = records_.next()) {
      Fields fields(*record, dialect_.separator);
      std::size_t column = 0;
      for (; const auto field = fields.next(); ++column) {
        if (column >= columns_.size()) {
          if (!field->empty()) fail_ragged();
          continue;
        }
        double ignored = 0;
        columns_[column].text = columns_[column].text || (!is_missing(*field) && !number(*field, ignored));
        if (is_missing(*field) || found[column].size() > most) continue;
        found[column].insert(text_of(*field));
      }
      if (column < columns_.size()) fail_ragged();
      ++samples_;
    }
    records_ = records_.again(start_);
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      Column& one = columns_[column];
      if (!one.used || !one.text) continue;
      if (found[column].size() > most) {
        throw InvalidInput(fmt::format("'{}': the texts of column '{}' have more than {} values; categories have fewer",
                                       path_, one.name, most));
      }
      for (const std::string& value : found[column]) one.values.emplace(value, std::ssize(one.values));
    }
  }

  // The values that a fit had, "NAME=VALUE".
  void take(const std::vector<std::string>& expected) {
    for (Column& one : columns_) {
      const std::string begin = one.name + "=";
      std::map<std::string, Index> values;
      for (const std::string& name : expected) {
        if (name.starts_with(begin)) values.emplace(name.substr(begin.size()), std::ssize(values));
      }
      if (values.empty()) continue;
      for (const auto& [value, place] : one.values) {
        if (values.contains(value)) continue;
        throw InvalidInput(fmt::format("'{}': '{}' of column '{}' is not among the {} values of the fit", path_, value,
                                       one.name, values.size()));
      }
      one.text = true;
      one.values = std::move(values);
    }
  }

  void lay_out() {
    for (Column& one : columns_) {
      one.first = features_;
      if (!one.used) continue;
      if (!one.text) {
        names_.push_back(one.name);
      } else {
        std::vector<std::string> own(one.values.size());
        for (const auto& [value, place] : one.values) own[static_cast<std::size_t>(place)] = one.name + "=" + value;
        names_.insert(names_.end(), own.begin(), own.end());
      }
      features_ = std::ssize(names_);
    }
    const std::set<std::string> different(names_.begin(), names_.end());
    const bool any_text = std::any_of(columns_.begin(), columns_.end(), [](const Column& one) { return one.text; });
    if (different.size() != names_.size() || (!dialect_.header && !any_text)) names_.clear();
    if (features_ == 0) throw InvalidInput(fmt::format("'{}' has no column besides that of the names", path_));
  }

  [[noreturn]] void fail_ragged() const {
    throw FormatError(fmt::format("'{}', line {}: it has not the {} columns of the first line", path_, records_.line(),
                                  dialect_.columns));
  }

  bool number(std::string_view field, double& value) const {
    return parse(field, value) == Cell::number ||
           (dialect_.may_have_commas() && parse_with_comma(field, value) == Cell::number);
  }

  void convert(std::string_view record, Matrix& X, Index j) {
    Fields fields(record, dialect_.separator);
    for (const Column& one : columns_) {
      const auto field = fields.next();
      if (!field) fail_ragged();
      if (!one.used) {
        ids_.push_back(text_of(*field));
      } else if (is_missing(*field)) {
        X.col(j).segment(one.first, one.text ? std::ssize(one.values) : 1).setConstant(std::nan(""));
      } else if (one.text) {
        X(one.first + one.values.at(text_of(*field)), j) = 1;
      } else {
        number(*field, X(one.first, j));
      }
    }
  }

  std::string path_;
  Records records_;
  Dialect dialect_;
  std::vector<Column> columns_;
  std::vector<std::string> names_, ids_;
  Records::Place start_, block_;
  Index features_ = 0, samples_ = 0, position_ = 0, first_ = 0;
};

}  // namespace

std::unique_ptr<BlockReader::Source> open_categories(const std::string& path, const ReadOptions& options) {
  if (options.columns) {
    throw InvalidInput(fmt::format("'{}': columns of texts are categories where samples are rows, not columns", path));
  }
  return std::make_unique<Categories>(path, options);
}

}  // namespace cgmca::io
