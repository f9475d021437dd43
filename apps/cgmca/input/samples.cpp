#include "input/samples.hpp"

#include <cgmca/domain.hpp>
#include <cgmca/error.hpp>
#include <cgmca/summary.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <type_traits>
#include <utility>

#include "shell/session.hpp"

namespace cgmca::cli {
namespace {

constexpr std::size_t kPlaces = 3;  // told at most

// The feature of a sample that is NaN; throws on infinity.
std::optional<Index> first_gap(const SampleReader::Block& block, Index column, const SampleReader& input,
                               Index sample) {
  return std::visit(
      [&](const auto& X) -> std::optional<Index> {
        for (Index feature = 0; feature < X.rows(); ++feature) {
          const auto value = X(feature, column);
          if (std::isnan(value)) return feature;
          if (std::isfinite(value)) continue;
          throw InvalidInput(fmt::format("'{}' holds infinity at {}; remove or mend such samples first", input.source(),
                                         input.place(sample, feature)));
        }
        return std::nullopt;
      },
      block);
}

bool all_finite(const SampleReader::Block& block) {
  return std::visit([](const auto& X) { return X.allFinite(); }, block);
}

}  // namespace

void add_input_options(CLI::App& command, InputOptions& options, bool maps) {
  command.add_flag("--columns", options.columns,
                   maps ? "Samples are the file's columns, and the output's"
                        : "Samples are the files' columns, as MATLAB users often store them");
  command
      .add_option_function<std::string>(
          "--complex",
          [&options](const std::string& text) {
            options.complex = text == "magnitude" ? ComplexAs::magnitude
                              : text == "power"   ? ComplexAs::power
                                                  : ComplexAs::stack;
          },
          "Read complex numbers as |x|, as |x|², or as real parts and then imaginary parts, twice the features")
      ->check(CLI::IsMember({"magnitude", "power", "stack"}))
      ->option_text("magnitude|power|stack");
  command
      .add_option("--id", options.id,
                  maps ? "The column of text files that names samples, by its header or place; CSV outputs keep it. "
                         "none: all columns are features, also a first one without a name"
                       : "Match samples by this column of text files (header or place from 1), not by their order. "
                         "none: all columns are features, also a first one that looks like row numbers")
      ->option_text("NAME");
  std::vector<std::string> choices = {"error", "drop"};
  choices.emplace_back(maps ? "pass" : "keep");
  command
      .add_option_function<std::string>(
          "--missing",
          [&options](const std::string& text) {
            options.missing = text == "drop"   ? Missing::drop
                              : text == "pass" ? Missing::pass
                              : text == "keep" ? Missing::keep
                                               : Missing::error;
          },
          maps
              ? "Samples with NaN or empty cells: error (the default), drop (leave them out), pass (write NaN; of "
                "several "
                "inputs use the others)"
              : "Matched samples with NaN or empty cells in any domain: error (the default), drop (leave them out), or "
                "keep (fit, summarize and verify: such a sample lacks that domain)")
      ->check(CLI::IsMember(choices))
      ->option_text(fmt::format("{}", fmt::join(choices, "|")));
}

std::string InputOptions::text() const {
  return fmt::format("columns {}, missing {}, complex {}, id '{}'", columns, static_cast<int>(missing),
                     static_cast<int>(complex), id);
}

InputOptions InputOptions::of_nuisance(const Model* model) const {
  InputOptions result = *this;
  result.categories = !columns;
  if (!names_id()) result.id = "none";
  if (model != nullptr) result.expected = model->nuisance->names;
  return result;
}

Index block_samples(Index features) { return cgmca::block_samples(features, 16'000'000); }

SampleReader::SampleReader(const std::string& source, const InputOptions& options)
    : source_(source), options_(options), reader_(std::in_place, source, options.read()) {
  features_ = reader_->features();
  notes_ = reader_->notes();
}

SampleReader::SampleReader(const std::string& folder, std::vector<std::string> images)
    : source_(folder), images_(std::move(images)) {
  features_ = read_images(source_, {images_.front()}).rows();
}

std::optional<Index> SampleReader::samples() const {
  if (loaded_) return std::ssize(picked_);
  return reader_ ? reader_->samples() : std::ssize(images_);
}

std::string SampleReader::shape() const {
  const auto n = samples();
  return fmt::format("'{}' ({} samples × {} features)", source_, n ? fmt::format("{}", *n) : "?", features_);
}

std::vector<std::string> SampleReader::feature_names() const {
  std::vector<std::string> names = reader_ ? reader_->feature_names() : std::vector<std::string>{};
  if (names.empty() || order_.empty()) return names;
  std::vector<std::string> ordered;
  for (const Index place : order_) ordered.push_back(names[place]);
  return ordered;
}

bool SampleReader::finds_ids() const {
  return options_.id.empty() && !options_.columns && source_ != "-" && reader_ && reader_->is_text();
}

void SampleReader::reopen(const std::string& id) {
  ReadOptions read = options_.read();
  read.id = id;
  reader_.emplace(source_, read);
  features_ = reader_->features();
  held_ = Block();
  held_names_.clear();
}

void SampleReader::take_first_column_for_ids() { reopen("1"); }

void SampleReader::suit(Index features, const std::vector<std::string>& names, const std::string& whose) {
  if (!finds_ids() || features_ == features) return;
  const auto has_names = [&](std::span<const std::string> own) {
    return own.empty() || names.empty() || std::is_permutation(own.begin(), own.end(), names.begin(), names.end());
  };
  if (features_ + 1 == features) {
    ReadOptions options = options_.read();
    options.id = "none";
    const BlockReader all(source_, options);
    if (all.features() != features || !has_names(all.feature_names())) return;
    reopen(options.id);
    notes_ = {
        fmt::format("the first column looks like names of the samples, but is a feature of {}. Fit again without "
                    "it, unless it is one",
                    whose)};
  } else if (features_ == features + 1 && features >= 1) {
    const std::vector<std::string> own = reader_->feature_names();
    const bool by_names = !own.empty() && !names.empty();
    if (by_names ? !has_names(std::span(own).subspan(1)) : !may_be_ids(first_feature(peek(kPeeked)))) return;
    take_first_column_for_ids();
    notes_ = {
        fmt::format("the first column{} is taken for the samples' names: {} has only the other features. --id "
                    "none makes it a feature",
                    own.empty() ? "" : fmt::format(" '{}'", own.front()), whose)};
  }
}

Index SampleReader::take_order_of(const std::vector<std::string>& names) {
  order_ = order_of(names, reader_ ? reader_->feature_names() : std::vector<std::string>{});
  return moved_by(order_);
}

SampleReader::Block SampleReader::next(Index count) {
  Block block;
  if (loaded_) {
    const auto begin = picked_.begin() + position_;
    const auto end = begin + std::min(count, std::ssize(picked_) - position_);
    block = Matrix((*loaded_)(Eigen::all, std::vector<Index>(begin, end)));
  } else if (!reader_) {
    const auto begin = images_.begin() + position_;
    const auto end = begin + std::min(count, std::ssize(images_) - position_);
    block = begin == end ? Matrix(features_, 0) : read_images(source_, {begin, end});
  } else if (columns_of(held_) > 0) {
    block = take_held(count);
  } else {
    block = read(count);
  }
  position_ += columns_of(block);
  if (!order_.empty()) std::visit([&](auto& X) { X = X(order_, Eigen::all).eval(); }, block);
  return block;
}

SampleReader::Block SampleReader::read(Index count) {
  Block block = reader_->single() ? Block(reader_->next_single(count)) : Block(reader_->next(count));
  if (options_.names_id()) ids_ = reader_->ids();
  return block;
}

const SampleReader::Block& SampleReader::peek(Index count) {
  if (reader_ && !loaded_ && position_ == 0 && columns_of(held_) == 0) {
    try {
      held_ = read(std::min(count, block_samples(features_)));
    } catch (const FormatError&) {  // it is told where the row is read, which may be another part's
      if (source_ == "-") throw;
      reopen(options_.id);
    }
    held_names_ = options_.names_id() ? std::vector<std::string>() : reader_->ids();
  }
  return held_;
}

SampleReader::Block SampleReader::take_held(Index count) {
  return std::visit(
      [&](auto& held) -> Block {
        using Held = std::remove_reference_t<decltype(held)>;
        const Index taken = std::min(count, held.cols());
        Held block = held.leftCols(taken);
        held = held.rightCols(held.cols() - taken).eval();
        if (taken == count) return block;
        const Block rest = read(count - taken);
        const auto& more = std::get<Held>(rest);
        block.conservativeResize(Eigen::NoChange, taken + more.cols());
        block.rightCols(more.cols()) = more;
        return block;
      },
      held_);
}

void SampleReader::skip(Index count) {
  if (reader_ && !loaded_) {
    const Index held = std::min(count, columns_of(held_));
    if (held > 0) take_held(held);
    reader_->skip(count - held);
  }
  position_ += count;
}

void SampleReader::count_samples() {
  if (reader_ && !loaded_) reader_->count_samples();
}

std::string SampleReader::place(Index sample, Index feature) const {
  if (!order_.empty()) feature = order_[feature];
  if (!reader_) return fmt::format("image '{}'", images_[sample]);
  return reader_->place(number(sample), feature);
}

std::vector<std::string> SampleReader::load() {
  std::vector<std::string> keys;
  Matrix all(features_, 0);
  for (;;) {
    const Matrix X = reader_->next(block_samples(features_));
    if (X.cols() == 0) break;
    all.conservativeResize(Eigen::NoChange, all.cols() + X.cols());
    all.rightCols(X.cols()) = X;
    keys.insert(keys.end(), reader_->ids().begin(), reader_->ids().end());
  }
  std::set<std::string> seen;
  for (const std::string& key : keys) {
    if (!seen.insert(key).second) {
      throw InvalidInput(fmt::format("'{}': the key '{}' occurs twice; samples cannot be matched by it", source_, key));
    }
  }
  loaded_ = std::move(all);
  return keys;
}

void SampleReader::pick(std::vector<Index> samples) { picked_ = std::move(samples); }

Index SampleReader::number(Index sample) const { return loaded_ ? picked_[sample] : sample; }

void check_standard_input(const std::vector<std::string>& sources) {
  if (std::count(sources.begin(), sources.end(), "-") > 1) {
    throw UsageError("standard input (-) can be one input only; give files for the others");
  }
}

bool may_be_ids(const Vector& numbers) {
  const std::set<double> different(numbers.begin(), numbers.end());
  return std::ssize(different) == numbers.size() &&
         std::all_of(numbers.begin(), numbers.end(), [](double x) { return x >= 0 && x == std::rint(x); });
}

Vector first_feature(const SampleReader::Block& block) {
  return std::visit(
      [](const auto& X) -> Vector { return X.rows() > 0 ? Vector(X.row(0).template cast<double>()) : Vector(); },
      block);
}

Index columns_of(const SampleReader::Block& block) {
  return std::visit([](const auto& X) { return X.cols(); }, block);
}

SampleReader::Block columns_of(const SampleReader::Block& block, const std::vector<Index>& columns) {
  return std::visit([&](const auto& X) -> SampleReader::Block { return X(Eigen::all, columns).eval(); }, block);
}

Matrix in_doubles(SampleReader::Block block) {
  if (auto* wide = std::get_if<Matrix>(&block)) return std::move(*wide);
  return std::get<Eigen::MatrixXf>(block).cast<double>();
}

std::vector<Index> Gaps::complete(const std::vector<SampleReader::Block>& blocks,
                                  const std::vector<SampleReader>& inputs, const Vector& weights) {
  const Index n = columns_of(blocks.front());
  std::vector<Index> columns(static_cast<std::size_t>(n));
  std::iota(columns.begin(), columns.end(), Index{0});
  if (weights.size() > 0) std::erase_if(columns, [&](Index column) { return weights(column) == 0; });
  const std::size_t wanted = columns.size();
  if (!std::all_of(blocks.begin(), blocks.end(), all_finite)) {
    std::erase_if(columns, [&](Index column) {
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto feature = first_gap(blocks[i], column, inputs[i], seen_ + column);
        if (!feature) continue;
        if (places_.size() < kPlaces) {
          places_.push_back(fmt::format("'{}' at {}", inputs[i].source(), inputs[i].place(seen_ + column, *feature)));
        }
        return true;
      }
      return false;
    });
  }
  seen_ += n;
  count_ += static_cast<Index>(wanted - columns.size());
  return columns;
}

std::vector<Index> Gaps::in_some(const std::vector<SampleReader::Block>& blocks,
                                 const std::vector<SampleReader>& inputs, const Vector& weights) {
  const Index n = columns_of(blocks.front());
  std::vector<Index> columns;
  for (Index column = 0; column < n; ++column) {
    if (weights.size() > 0 && weights(column) == 0) continue;
    std::size_t lacking = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      lacking += first_gap(blocks[i], column, inputs[i], seen_ + column) ? 1 : 0;  // throws for infinity
    }
    count_ += lacking > 0 ? 1 : 0;
    if (lacking < blocks.size()) columns.push_back(column);
  }
  seen_ += n;
  return columns;
}

void Gaps::skip(Index samples, Index gaps) {
  seen_ += samples;
  count_ += gaps;
}

void Gaps::begin_at(Index sample) { first_ = seen_ = sample; }

std::string Gaps::text() const {
  return fmt::format("{} of {} {} {} missing values{}{}{}", count_, seen_ - first_, what_, count_ == 1 ? "has" : "have",
                     places_.empty() ? "" : ": ", fmt::join(places_, "; "),
                     count_ > std::ssize(places_) && !places_.empty() ? "; …" : "");
}

void Gaps::fail() const { throw InvalidInput(fmt::format("{}. --missing drop leaves such {} out", text(), what_)); }

}  // namespace cgmca::cli
