// One input of a summary, parsed from its text: a whole input, or some of its parts.
#pragma once

#include <cgmca/parts.hpp>
#include <string>
#include <utility>
#include <vector>

namespace cgmca {

struct Input {
  explicit Input(const std::string& text);
  std::string text() const;

  using Runs = std::vector<std::pair<Index, Index>>;  // first and last part of each run, in order
  std::string word, name;
  Runs runs;  // none: all of it
  Index count = 1;
  std::string way;

  bool whole() const { return runs.empty(); }
};

// Adds an input, or more parts of one.
void note(std::vector<std::string>& inputs, const Input& input);

}  // namespace cgmca
