// An enum's value from its name: the one of `options` for which name(option) is the text.
#pragma once

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cgmca {

template <class Options>  // std::array or std::initializer_list of an enum
auto find_choice(std::string_view text, const Options& options) -> std::optional<typename Options::value_type> {
  for (const auto option : options) {
    if (text == name(option)) return option;
  }
  return std::nullopt;
}

template <class Options>
std::vector<std::string> names_of(const Options& options) {
  std::vector<std::string> names;
  for (const auto option : options) names.emplace_back(name(option));
  return names;
}

// The same, or InvalidInput: "there is no criterion 'beauty': give one of 'distance', 'translation'".
template <class Options>
auto need_choice(std::string_view text, const Options& options, const char* what) -> typename Options::value_type {
  if (const auto found = find_choice(text, options)) return *found;
  throw InvalidInput(
      fmt::format("there is no {} '{}': give one of '{}'", what, text, fmt::join(names_of(options), "', '")));
}

}  // namespace cgmca
