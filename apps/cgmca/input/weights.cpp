#include "input/weights.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shell/signals.hpp"

namespace cgmca::cli {
namespace {

constexpr Index kBlock = 65536;
constexpr double kLargest = 1e100;  // as Summary::add has it

}  // namespace

WeightReader::WeightReader(const std::string& source, bool columns, bool share)
    : source_(source), reader_(source, {.columns = columns, .share = share}) {
  if (reader_.features() == 1) return;
  row_ = reader_.next(1).reshaped();
  if (reader_.next(1).cols() == 0) return;
  throw InvalidInput(fmt::format("'{}' holds several rows of {} numbers each; weights are one column, or one row",
                                 source, reader_.features()));
}

std::optional<Index> WeightReader::count() const { return row_ ? row_->size() : reader_.samples(); }

std::string WeightReader::place(Index weight) const {
  return row_ ? reader_.place(0, weight) : reader_.place(weight, 0);
}

Vector WeightReader::next(Index count) {
  Vector weights;
  if (row_) {
    weights = row_->segment(position_, std::min(count, row_->size() - position_));
  } else {
    weights = reader_.next(count).reshaped();
  }
  for (Index j = 0; j < weights.size(); ++j) {
    const double w = weights(j);
    if (w >= 0 && w <= kLargest) continue;
    throw InvalidInput(fmt::format(
        "'{}' holds {} at {}; a weight counts how often its pair occurs, and is a number from 0 to {:.0e}", source_,
        std::isnan(w) ? "NaN or an empty cell" : fmt::format("{}", w), place(position_ + j), kLargest));
  }
  position_ += weights.size();
  return weights;
}

Vector WeightReader::all() {
  Vector weights;
  for (Vector more = next(kBlock); more.size() > 0; more = next(kBlock), stop_if_interrupted()) {
    weights.conservativeResize(weights.size() + more.size());
    weights.tail(more.size()) = more;
  }
  return weights;
}

void WeightReader::count_all() {
  if (!row_) reader_.count_samples();
}

void WeightReader::skip(Index count) {
  if (!row_) reader_.skip(count);
  position_ += count;
}

Index WeightReader::count_to_end() {
  while (next(kBlock).size() > 0) stop_if_interrupted();
  return position_;
}

}  // namespace cgmca::cli
