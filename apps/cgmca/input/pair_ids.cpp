// Which column names the matched samples: the one that --id says, or a first one that looks like it.
#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "input/pairs.hpp"

namespace cgmca::cli {
namespace {

double as_number(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc() && stop == end ? number : std::numeric_limits<double>::quiet_NaN();
}

// The first samples' names that were found, as numbers (NaN where they are none); else their first feature.
Vector first_column(SampleReader& input) {
  const SampleReader::Block& block = input.peek(kPeeked);
  const std::vector<std::string>& names = input.peeked_names();
  if (names.empty()) return first_feature(block);
  Vector numbers(std::ssize(names));
  std::transform(names.begin(), names.end(), numbers.begin(), as_number);
  return numbers;
}

// Whether they are n, n + 1, n + 2, …: numbers of rows, whose first may be 0 in one file and 1 in another.
bool count_up(const std::vector<std::string>& names) {
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (!(as_number(names[j]) == as_number(names.front()) + static_cast<double>(j))) return false;
  }
  return true;
}

std::string first_of(const Vector& numbers) {
  constexpr Index shown = 3;
  return fmt::format("{}, …", fmt::join(numbers.head(std::min(shown, numbers.size())), ", "));
}

bool same_samples(SampleReader& one, SampleReader& other) {
  const Matrix X = in_doubles(one.peek(kPeeked)), Y = in_doubles(other.peek(kPeeked));
  return X.rows() == Y.rows() && X.cols() == Y.cols() && X == Y;
}

}  // namespace

// A first column that is the same in all inputs has a correlation of 1 with itself, whatever the other features hold.
// Whole numbers of text files are taken for the samples' names; others are told. Inputs whose first samples are the
// same in all features are one domain beside itself.
void PairReader::find_ids() {
  constexpr Index fewest = 3;  // of fewer samples all may be equal by chance
  if (!sources_.input.id.empty() || sources_.input.columns) return;
  std::vector<Vector> columns;
  bool same_inputs = true, text = true, named = true;
  for (SampleReader& input : inputs_) {
    columns.push_back(first_column(input));
    const bool has_names = !input.peeked_names().empty();
    named = named && has_names;
    text = text && input.finds_ids() && (has_names || input.features() > 1);
    same_inputs = same_inputs && same_samples(input, inputs_.front());
  }
  if (named) return compare_names();
  const Vector& first = columns.front();
  const std::set<double> different(first.begin(), first.end());
  const bool same = std::all_of(columns.begin(), columns.end(),
                                [&](const Vector& one) { return one.size() == first.size() && one == first; });
  if (!same || same_inputs || first.size() < fewest || std::ssize(different) < first.size()) return;
  if (!text || !may_be_ids(first)) {
    inputs_.front().note(
        fmt::format("the first column ({}) is the same in all inputs. As a feature it has a correlation of 1; leave it "
                    "out if it names the samples",
                    first_of(first)));
    return;
  }
  for (SampleReader& input : inputs_) {
    if (!input.peeked_names().empty()) continue;
    input.take_first_column_for_ids();
    input.note(
        fmt::format("the first column ({}) is the same in all inputs: it is taken for the samples' names, not for a "
                    "feature. --id none makes it a feature, --id 1 matches by it",
                    first_of(first)));
  }
}

void PairReader::compare_names() {
  const std::vector<std::string>& first = inputs_.front().peeked_names();
  for (SampleReader& input : inputs_) {
    const std::vector<std::string>& names = input.peeked_names();
    const auto [one, other] = std::mismatch(first.begin(), first.end(), names.begin(), names.end());
    if (one == first.end() || other == names.end() || (count_up(first) && count_up(names))) continue;
    input.note(
        fmt::format("sample {} is called '{}', but '{}' in '{}'; samples are matched by their order. --id 1 "
                    "matches them by these names",
                    other - names.begin() + 1, *other, *one, inputs_.front().source()));
  }
}

// In the order of the first file, those keys that all files have.
void PairReader::match_by_key() {
  std::vector<std::vector<std::string>> keys;
  std::map<std::string, std::vector<Index>> places;  // of each key, one a file as far as it is there
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    keys.push_back(inputs_[i].load());
    for (std::size_t k = 0; k < keys[i].size(); ++k) {
      std::vector<Index>& place = places[keys[i][k]];
      if (place.size() == i) place.push_back(static_cast<Index>(k));
    }
  }
  const auto matched = [&](const std::string& key) { return places.at(key).size() == inputs_.size(); };
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    std::vector<std::string> alone;
    std::copy_if(keys[i].begin(), keys[i].end(), std::back_inserter(alone),
                 [&](const std::string& key) { return !matched(key); });
    if (alone.size() == keys[i].size()) {
      throw InvalidInput(fmt::format("'{}' has no key (--id {}) that the others have too: {}", inputs_[i].source(),
                                     sources_.input.id, few_of(alone)));
    }
    if (!alone.empty()) {
      session_.message(fmt::format("{} of '{}' {} no partner: {}",
                                   alone.size() == 1 ? "1 sample" : fmt::format("{} samples", alone.size()),
                                   inputs_[i].source(), alone.size() == 1 ? "has" : "have", few_of(alone)));
    }
    std::vector<Index> picked;
    for (const std::string& key : keys[0]) {
      if (matched(key)) picked.push_back(places[key][i]);
    }
    inputs_[i].pick(std::move(picked));
  }
  first_samples_ = std::ssize(keys[0]);
}

}  // namespace cgmca::cli
