#include "report/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace cgmca::report {
namespace {

struct Character {
  std::string_view bytes;
  std::size_t columns;
};

// The characters of UTF-8. A byte that is none counts as one.
std::vector<Character> characters(const std::string& text) {
  std::vector<Character> result;
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t claimed = first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : first >= 0xC0U ? 2 : 1;
    std::size_t length = 1;
    while (length < claimed && at + length < text.size() &&
           (static_cast<unsigned char>(text[at + length]) & 0xC0U) == 0x80U) {
      ++length;
    }
    // Three bytes from U+3000 on, and four: nearly all of them are wide.
    result.push_back({std::string_view(text).substr(at, length), first >= 0xE3U && length >= 3 ? 2U : 1U});
    at += length;
  }
  return result;
}

std::size_t columns(const std::vector<Character>& text) {
  std::size_t sum = 0;
  for (const Character& one : text) sum += one.columns;
  return sum;
}

std::string joined(std::vector<Character>::const_iterator first, std::vector<Character>::const_iterator last) {
  std::string text;
  for (; first != last; ++first) text += first->bytes;
  return text;
}

// The part [first, last) of a name that is wider than `width`, and as much of both sides as fits, with "…" where
// something is left out.
std::string window(const std::vector<Character>& name, std::size_t first, std::size_t last, std::size_t width) {
  std::size_t used = 2;  // both "…"
  for (std::size_t k = first; k < last; ++k) used += name[k].columns;
  for (bool grows = true; grows;) {
    grows = false;
    if (first > 0 && used + name[first - 1].columns <= width) used += name[--first].columns, grows = true;
    if (last < name.size() && used + name[last].columns <= width) used += name[last++].columns, grows = true;
  }
  using Offset = std::vector<Character>::difference_type;
  return (first > 0 ? "…" : "") +
         joined(name.begin() + static_cast<Offset>(first), name.begin() + static_cast<Offset>(last)) +
         (last < name.size() ? "…" : "");
}

// Names that differ only where they were cut are shown around the part in which they differ, where that fits.
void show_difference(std::vector<std::string>& labels, const std::vector<std::string>& names,
                     const std::vector<std::size_t>& alike, std::size_t width) {
  std::vector<std::vector<Character>> all;
  all.reserve(alike.size());
  for (const std::size_t k : alike) all.push_back(characters(names[k]));
  const auto same = [](const Character& a, const Character& b) { return a.bytes == b.bytes; };
  std::size_t front = all[0].size(), back = all[0].size();  // characters that all have in common
  for (const auto& one : all) {
    front = std::min(
        front, static_cast<std::size_t>(
                   std::mismatch(all[0].begin(), all[0].end(), one.begin(), one.end(), same).first - all[0].begin()));
    back = std::min(back, static_cast<std::size_t>(
                              std::mismatch(all[0].rbegin(), all[0].rend(), one.rbegin(), one.rend(), same).first -
                              all[0].rbegin()));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t last = std::max(front, all[i].size() - std::min(back, all[i].size()));
    const std::string text = window(all[i], front, last, width);
    if (columns(characters(text)) <= width) labels[alike[i]] = text;
  }
}

}  // namespace

std::string shortened(const std::string& name, std::size_t width) {
  const std::vector<Character> all = characters(name);
  if (columns(all) <= width) return name;
  // The front gets the larger half of what "…" leaves.
  const std::size_t back_room = (width - 1) / 2, front_room = width - 1 - back_room;
  std::string front, back;
  std::size_t used = 0;
  for (std::size_t k = 0; used + all[k].columns <= front_room; ++k) {
    front += all[k].bytes;
    used += all[k].columns;
  }
  used = 0;
  for (std::size_t k = all.size() - 1; used + all[k].columns <= back_room; --k) {
    back.insert(0, all[k].bytes);
    used += all[k].columns;
  }
  return front + "…" + back;
}

std::vector<std::string> short_labels(const std::vector<std::string>& names, std::size_t width) {
  std::vector<std::string> labels;
  labels.reserve(names.size());
  for (const std::string& name : names) labels.push_back(shortened(name, width));
  const auto groups = [&] {  // of different names with one label
    std::map<std::string, std::vector<std::size_t>> by_label;
    for (std::size_t k = 0; k < names.size(); ++k) by_label[labels[k]].push_back(k);
    std::erase_if(by_label, [&](const auto& group) {
      return std::all_of(group.second.begin(), group.second.end(),
                         [&](std::size_t k) { return names[k] == names[group.second.front()]; });
    });
    return by_label;
  };
  for (const auto& group : groups()) show_difference(labels, names, group.second, width);
  for (const auto& group : groups()) {
    for (const std::size_t k : group.second) {
      const std::string place = fmt::format(" ({})", k + 1);
      labels[k] = shortened(names[k], width - std::min(width - 3, place.size())) + place;
    }
  }
  return labels;
}

}  // namespace cgmca::report
