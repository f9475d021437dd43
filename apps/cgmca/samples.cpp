#include "samples.hpp"

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
#include <utility>

#include "session.hpp"

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
                  maps ? "The column of text files that names samples, by its header or place; CSV outputs keep it"
                       : "Match samples by this column of text files (header or place from 1), not by their order")
      ->option_text("NAME");
  std::vector<std::string> choices = {"error", "drop"};
  if (maps) choices.emplace_back("pass");
  command
      .add_option_function<std::string>(
          "--missing",
          [&options](const std::string& text) {
            options.missing = text == "drop" ? Missing::drop : text == "pass" ? Missing::pass : Missing::error;
          },
          maps ? "Samples with NaN or empty cells: error (the default), drop (leave them out), pass (write NaN; of "
                 "several "
                 "inputs use the others)"
               : "Matched samples with NaN or empty cells in any domain: error (the default) or drop (leave them out)")
      ->check(CLI::IsMember(choices))
      ->option_text(fmt::format("{}", fmt::join(choices, "|")));
}

std::string InputOptions::text() const {
  return fmt::format("columns {}, missing {}, complex {}, id '{}'", columns, static_cast<int>(missing),
                     static_cast<int>(complex), id);
}

Index block_samples(Index features) { return cgmca::block_samples(features, 16'000'000); }

SampleReader::SampleReader(const std::string& source, const InputOptions& options)
    : source_(source), options_(options), reader_(std::in_place, source, options.read()) {
  features_ = reader_->features();
}

SampleReader::SampleReader(const std::string& folder, std::vector<std::string> images)
    : source_(folder), images_(std::move(images)) {
  features_ = read_images(source_, {images_.front()}).rows();
}

std::optional<Index> SampleReader::samples() const {
  if (loaded_) return static_cast<Index>(picked_.size());
  return reader_ ? reader_->samples() : static_cast<Index>(images_.size());
}

std::string SampleReader::shape() const {
  const auto n = samples();
  return fmt::format("'{}' ({} samples × {} features)", source_, n ? fmt::format("{}", *n) : "?", features_);
}

std::vector<std::string> SampleReader::feature_names() const {
  std::vector<std::string> names = reader_ ? reader_->feature_names() : std::vector<std::string>{};
  if (names.empty() || order_.empty()) return names;
  std::vector<std::string> ordered;
  for (const Index place : order_) ordered.push_back(names[static_cast<std::size_t>(place)]);
  return ordered;
}

Index SampleReader::take_order_of(const std::vector<std::string>& names) {
  order_ = order_of(names, reader_ ? reader_->feature_names() : std::vector<std::string>{});
  return moved_by(order_);
}

SampleReader::Block SampleReader::next(Index count) {
  Block block;
  if (loaded_) {
    const auto begin = picked_.begin() + position_;
    const auto end = begin + std::min(count, static_cast<Index>(picked_.size()) - position_);
    block = Matrix((*loaded_)(Eigen::all, std::vector<Index>(begin, end)));
  } else if (!reader_) {
    const auto begin = images_.begin() + position_;
    const auto end = begin + std::min(count, static_cast<Index>(images_.size()) - position_);
    block = begin == end ? Matrix(features_, 0) : read_images(source_, {begin, end});
  } else if (reader_->single()) {
    block = reader_->next_single(count);
  } else {
    block = reader_->next(count);
  }
  if (reader_ && !loaded_) ids_ = reader_->ids();
  position_ += columns_of(block);
  if (!order_.empty()) std::visit([&](auto& X) { X = X(order_, Eigen::all).eval(); }, block);
  return block;
}

void SampleReader::skip(Index count) {
  if (reader_ && !loaded_) reader_->skip(count);
  position_ += count;
}

void SampleReader::count_samples() {
  if (reader_ && !loaded_) reader_->count_samples();
}

std::string SampleReader::place(Index sample, Index feature) const {
  if (!order_.empty()) feature = order_[static_cast<std::size_t>(feature)];
  if (!reader_) return fmt::format("image '{}'", images_[static_cast<std::size_t>(sample)]);
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

Index SampleReader::number(Index sample) const { return loaded_ ? picked_[static_cast<std::size_t>(sample)] : sample; }

void check_standard_input(const std::vector<std::string>& sources) {
  if (std::count(sources.begin(), sources.end(), "-") > 1) {
    throw UsageError("standard input (-) can be one input only; give files for the others");
  }
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

void Gaps::skip(Index samples, Index gaps) {
  seen_ += samples;
  count_ += gaps;
}

void Gaps::begin_at(Index sample) { first_ = seen_ = sample; }

std::string Gaps::text() const {
  return fmt::format("{} of {} {} {} missing values{}{}{}", count_, seen_ - first_, what_, count_ == 1 ? "has" : "have",
                     places_.empty() ? "" : ": ", fmt::join(places_, "; "),
                     count_ > static_cast<Index>(places_.size()) && !places_.empty() ? "; …" : "");
}

void Gaps::fail() const { throw InvalidInput(fmt::format("{}. --missing drop leaves such {} out", text(), what_)); }

}  // namespace cgmca::cli
