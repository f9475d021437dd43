#include "support/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace cgmca {
namespace {

// Edits (insert, delete, replace, swap neighbours) that turn a into b.
std::size_t distance(const std::string& a, const std::string& b) {
  const auto same = [&](std::size_t i, std::size_t j) {
    return std::tolower(static_cast<unsigned char>(a[i])) == std::tolower(static_cast<unsigned char>(b[j]));
  };
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (same(i - 1, j - 1) ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1)) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before = std::exchange(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string did_you_mean(const std::string& wrong, const std::vector<std::string>& known) {
  const std::string* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(2, wrong.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const bool extends = wrong.size() >= 3 && candidate.starts_with(wrong);  // cut short
    const std::size_t edits = extends ? 1 : distance(wrong, candidate);
    if (edits < least && edits < std::max(wrong.size(), candidate.size())) {
      least = edits;
      nearest = &candidate;
    }
  }
  return nearest != nullptr ? fmt::format(", did you mean '{}'?", *nearest) : "";
}

}  // namespace cgmca
