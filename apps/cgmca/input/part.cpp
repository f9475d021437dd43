#include "input/part.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <vector>

#include "input/fingerprint.hpp"

namespace cgmca::cli {
namespace {

// "2/4"
Part parse_part(const std::string& text) {
  const auto number_of = [](const std::string& digits) {
    Index value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, problem] = std::from_chars(digits.data(), end, value);
    return problem == std::errc() && stop == end ? value : 0;
  };
  const auto slash = std::min(text.find('/'), text.size());
  const Part part{number_of(text.substr(0, slash)), number_of(text.substr(std::min(slash + 1, text.size())))};
  if (part.number < 1 || part.number > part.count) {
    throw UsageError(fmt::format("--part {} is not a part: give I/N with I from 1 to N, as 2/4", text));
  }
  return part;
}

}  // namespace

void add_part_option(CLI::App& command, std::optional<Part>& part) {
  command
      .add_option_function<std::string>(
          "--part", [&part](const std::string& text) { part = parse_part(text); },
          "Read only part I of N equal parts of the samples; merge joins the N summaries")
      ->option_text("I/N");
}

void note_inputs(Summary& summary, const PairSources& sources) {
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < sources.paths.size(); ++i) {
    // What standard input holds is not known beforehand.
    if (sources.paths[i] != "-") inputs.push_back(identity(i + 1, sources.paths[i]));
  }
  if (!sources.part) {
    for (const std::string& input : inputs) summary.note_input(input);
    return;
  }
  // Parts belong together where all that decides what a part holds is the same.
  std::string way = fmt::format("{}/{}", sources.input.text(), sources.match);
  for (const std::string& input : inputs) way += "/" + input.substr(0, input.find(' '));
  if (!sources.weights.empty()) way += "/" + identity(0, sources.weights).substr(0, 19);
  for (const std::string& input : inputs) summary.note_input(part_of(input, *sources.part, hash_of(way).substr(0, 8)));
}

}  // namespace cgmca::cli
