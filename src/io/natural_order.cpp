#include "io/natural_order.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace cgmca::io {
namespace {

// Negative if a sorts before b, 0 if equal, positive if after. '/' sorts before every other
// character, so that the files of a subfolder stay together.
int natural_order(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto rank = [](char c) { return c == '/' ? 0 : std::tolower(static_cast<unsigned char>(c)); };
  const auto take_number = [&](std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && digit(text[end])) ++end;
    std::string_view number = text.substr(0, end);
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    text.remove_prefix(end);
    return number;
  };
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      const std::string_view m = take_number(a), n = take_number(b);
      if (m.size() != n.size()) return m.size() < n.size() ? -1 : 1;
      if (const int order = m.compare(n); order != 0) return order;
    } else {
      if (const int order = rank(a.front()) - rank(b.front()); order != 0) return order;
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return static_cast<int>(!a.empty()) - static_cast<int>(!b.empty());
}

}  // namespace

bool sorts_before(const std::string& a, const std::string& b) {
  const int order = natural_order(a, b);
  return order != 0 ? order < 0 : a < b;
}

}  // namespace cgmca::io
