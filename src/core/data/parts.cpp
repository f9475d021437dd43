#include "core/data/parts.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace cgmca {
namespace {

// Reads a number from the start of `text`, and removes it there.
std::optional<Index> take_number(std::string_view& text) {
  Index value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || value < 1) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Parses "1-3,7/8:way". Returns false for any other word, which is then used unchanged.
bool parse_parts(std::string_view text, Input& input) {
  Index end = 0;
  do {
    const auto first = take_number(text);
    const auto last = first && take(text, '-') ? take_number(text) : first;
    if (!last || *first <= end || *last < *first) return false;
    input.runs.push_back({*first, *last});
    end = *last;
  } while (take(text, ','));
  const auto count = take(text, '/') ? take_number(text) : std::nullopt;
  if (!count || *count < end) return false;
  input.count = *count;
  if (take(text, ':')) {
    input.way = text;
    return !text.empty();
  }
  return text.empty();
}

// "1", "1 to 3", "1 and 3", "1 to 3, 5 and 7"
std::string numbers_text(const Input::Runs& runs) {
  std::string text;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [first, last] = runs[i];
    text += i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ";
    text += first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
  }
  return text;
}

std::string parts_text(const Input::Runs& runs, Index count) {
  const bool one = runs.size() == 1 && runs.front().first == runs.front().second;
  return fmt::format("part{} {} of {}", one ? "" : "s", numbers_text(runs), count);
}

Input::Runs missing_runs(const Input& input) {
  Input::Runs missing;
  Index next = 1;
  for (const auto& [first, last] : input.runs) {
    if (first > next) missing.push_back({next, first - 1});
    next = last + 1;
  }
  if (next <= input.count) missing.push_back({next, input.count});
  return missing;
}

Input::Runs common_runs(const Input& one, const Input& other) {
  Input::Runs both;
  for (const auto& [a, b] : one.runs) {
    for (const auto& [c, d] : other.runs) {
      if (std::max(a, c) <= std::min(b, d)) both.push_back({std::max(a, c), std::min(b, d)});
    }
  }
  return both;
}

// `theirs` is of the same division.
void add_runs(Input& input, const Input& theirs) {
  Input::Runs all = input.runs;
  all.insert(all.end(), theirs.runs.begin(), theirs.runs.end());
  std::sort(all.begin(), all.end());
  input.runs.clear();
  for (const auto& run : all) {
    if (input.runs.empty() || run.first > input.runs.back().second + 1) {
      input.runs.push_back(run);
    } else {
      input.runs.back().second = std::max(input.runs.back().second, run.second);
    }
  }
}

bool same_division(const Input& one, const Input& other) { return one.count == other.count && one.way == other.way; }

std::string why_not_both(const Input& ours, const Input& theirs) {
  if (ours.word != theirs.word) return "";
  if (ours.whole() && theirs.whole()) {
    return fmt::format("both summaries hold the samples of '{}': they would count twice", ours.name);
  }
  if (ours.whole() || theirs.whole()) {
    const Input& part = ours.whole() ? theirs : ours;
    return fmt::format("one summary holds all of '{}' and the other {} of it, which would count twice", ours.name,
                       parts_text(part.runs, part.count));
  }
  if (ours.count != theirs.count) {
    return fmt::format("{} and {} of '{}' overlap; all parts must be of one number of parts",
                       parts_text(ours.runs, ours.count), parts_text(theirs.runs, theirs.count), ours.name);
  }
  if (ours.way != theirs.way) {
    return fmt::format("{} of '{}' was read with other options, or beside other inputs, than {}",
                       parts_text(theirs.runs, theirs.count), ours.name, parts_text(ours.runs, ours.count));
  }
  const Input::Runs both = common_runs(ours, theirs);
  if (both.empty()) return "";
  return fmt::format("both summaries hold {} of '{}', which would count twice", parts_text(both, ours.count),
                     ours.name);
}

}  // namespace

Input::Input(const std::string& text) {
  const auto space = text.find(' ');
  word = text.substr(0, space);
  name = space == std::string::npos ? word : text.substr(space + 1);
  const auto sign = word.rfind('#');
  if (sign == std::string::npos || sign == 0) return;
  Input parsed = *this;
  if (!parse_parts(std::string_view(word).substr(sign + 1), parsed)) return;
  parsed.word.resize(sign);
  if (space == std::string::npos) parsed.name = parsed.word;
  *this = std::move(parsed);
  if (missing_runs(*this).empty()) runs.clear();
}

std::string Input::text() const {
  std::string parts;
  if (!whole()) {
    for (const auto& [first, last] : runs) {
      parts += fmt::format("{}{}", parts.empty() ? '#' : ',', first);
      if (last > first) parts += fmt::format("-{}", last);
    }
    parts += fmt::format("/{}{}{}", count, way.empty() ? "" : ":", way);
  }
  return word + parts + (name == word ? "" : " " + name);
}

void note(std::vector<std::string>& inputs, const Input& input) {
  for (std::string& text : inputs) {
    Input ours(text);
    if (ours.word != input.word) continue;
    if (ours.whole()) return;
    if (input.whole()) {
      text = input.text();
      return;
    }
    if (!same_division(ours, input)) continue;
    add_runs(ours, input);
    if (missing_runs(ours).empty()) ours.runs.clear();
    text = ours.text();
    return;
  }
  inputs.push_back(input.text());
}

Share share_of(Index n, Part part) {
  if (part.number < 1 || part.number > part.count) {
    throw InvalidInput(fmt::format("part {} of {}: parts are numbered from 1 to their count", part.number, part.count));
  }
  const Index each = n / part.count, longer = n % part.count, before = part.number - 1;
  return {each * before + std::min(before, longer), each + (before < longer ? 1 : 0)};
}

std::string part_of(const std::string& input, Part part, const std::string& way) {
  if (way.find(' ') != std::string::npos) throw InvalidInput(fmt::format("the way '{}' of dividing has a blank", way));
  Input whole(input);
  share_of(0, part);  // throws if there is no such part
  if (part.count == 1) return whole.text();
  whole.runs = {{part.number, part.number}};
  whole.count = part.count;
  whole.way = way;
  return whole.text();
}

std::vector<std::string> missing_parts(const std::vector<std::string>& inputs) {
  std::vector<std::pair<std::string, std::vector<std::string>>> lacking;  // which parts, and of which inputs
  for (const std::string& text : inputs) {
    const Input input(text);
    if (input.whole()) continue;
    const std::string parts = parts_text(missing_runs(input), input.count);
    const auto known =
        std::find_if(lacking.begin(), lacking.end(), [&](const auto& one) { return one.first == parts; });
    auto& names =
        known == lacking.end() ? lacking.emplace_back(parts, std::vector<std::string>{}).second : known->second;
    names.push_back(fmt::format("'{}'", input.name));
  }
  std::vector<std::string> texts;
  for (auto& [parts, names] : lacking) {
    const std::string last = names.size() > 1 ? " and " + names.back() : "";
    if (names.size() > 1) names.pop_back();
    texts.push_back(fmt::format("{} of {}{}", parts, fmt::join(names, ", "), last));
  }
  return texts;
}

std::string division_of(const std::vector<std::string>& inputs) {
  for (const std::string& text : inputs) {
    const Input input(text);
    if (!input.whole()) return fmt::format("{}/{}:{} {}", input.word, input.count, input.way, input.name);
  }
  return "";
}

std::string repeated(const std::vector<std::string>& ours, const std::vector<std::string>& theirs) {
  for (const std::string& one : theirs) {
    for (const std::string& other : ours) {
      if (std::string why = why_not_both(Input(other), Input(one)); !why.empty()) return why;
    }
  }
  return "";
}

std::string input_name(const std::string& text) {
  const Input input(text);
  if (input.whole()) return input.name;
  return fmt::format("{} ({})", input.name, parts_text(input.runs, input.count));
}

}  // namespace cgmca
