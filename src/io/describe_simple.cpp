// What text and folders of images hold.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "bytes.hpp"
#include "describe.hpp"
#include "io/png.hpp"
#include "support/file.hpp"

namespace cgmca::io {
namespace {

// The separator that the first line has most of, outside quotes, as the reader of text has it.
std::string separator_in_words(const std::string& path) {
  const File file(path);
  std::string start(std::min<std::uint64_t>(file.size(), 1 << 16), '\0');
  file.read_at(0, start.data(), start.size());
  std::array<std::size_t, 3> counts{};
  constexpr std::string_view candidates = ",;\t";
  bool in_quotes = false;
  for (const char c : start) {
    if (c == '"') in_quotes = !in_quotes;
    if (c == '\n' && !in_quotes && std::max({counts[0], counts[1], counts[2]}) > 0) break;
    if (const auto which = candidates.find(c); which != std::string_view::npos && !in_quotes) ++counts[which];
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  if (*most == 0) return "one column";
  const char separator = candidates[static_cast<std::size_t>(most - counts.begin())];
  return separator == '\t' ? "separated by tabs" : fmt::format("separated by '{}'", separator);
}

ArrayInfo describe_whole(BlockReader::Source& source, std::string type) {
  ArrayInfo info{.name = "",
                 .shape = {},
                 .type = std::move(type),
                 .feature_names = source.feature_names(),
                 .missing = count_missing(source)};
  info.shape = {source.samples().value_or(0), source.features()};
  return info;
}

}  // namespace

FileInfo describe_csv(const std::string& path) {
  const auto source = open_csv(path, "", {});
  FileInfo info{"", {describe_whole(*source, "text")}};
  info.format = fmt::format("CSV, {}", separator_in_words(path));
  return info;
}

FileInfo describe_png_folder(const std::string& path) {
  const auto source = open_png_folder(path, "", {});
  const std::vector<std::string> names = list_images(path);
  const ImageKind kind = png_kind(fmt::format("{}/{}", path, names.front()));
  const auto images = static_cast<Index>(names.size());
  std::vector<Index> shape{images, kind.height, kind.width};
  if (kind.channels > 1) shape.push_back(kind.channels);
  const std::string type = kind.bits == 8 ? "uint8" : "uint16";
  return {fmt::format("folder of {} PNG image{}, {}", images, images == 1 ? "" : "s", text(kind)),
          {{.name = "", .shape = shape, .type = type, .feature_names = {}, .missing = 0}}};
}

}  // namespace cgmca::io
