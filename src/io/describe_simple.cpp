// describe_file() for text and for folders of images.
#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "io/describe.hpp"
#include "io/image/png.hpp"
#include "io/text/csv_dialect.hpp"
#include "io/text/text_records.hpp"
#include "support/file.hpp"

namespace cgmca::io {
namespace {

std::string separator_in_words(const std::string& path) {
  const Dialect dialect = dialect_of(path, Records(text_input(path)), divided_by_tabs(path), "");
  if (dialect.columns == 1 && !dialect.trailing_fields) return "one column";
  return dialect.separator == '\t' ? "separated by tabs" : fmt::format("separated by '{}'", dialect.separator);
}

std::vector<std::string> noted(const std::string& type, std::vector<std::string> notes) {
  notes.insert(notes.begin(), type);
  return notes;
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

// If the first column is not numeric, it is taken as an ID column.
FileInfo describe_csv(const std::string& path) {
  FileInfo info{fmt::format("CSV, {}", separator_in_words(path)), {}};
  try {
    const auto source = open_csv(path, "", {});
    info.arrays = {describe_whole(*source, fmt::format("{}", fmt::join(noted("text", source->notes()), "; ")))};
  } catch (const FormatError&) {
    try {
      info.arrays = {describe_whole(*open_csv(path, "", {.id = "1"}), "text, after a column that names the samples")};
    } catch (const FormatError&) {
    }
    if (info.arrays.empty()) throw;
  }
  return info;
}

FileInfo describe_png_folder(const std::string& path) {
  const auto source = open_png_folder(path, "", {});
  const std::vector<std::string> names = list_images(path);
  const ImageKind kind = png_kind(fmt::format("{}/{}", path, names.front()));
  const auto images = std::ssize(names);
  std::vector<Index> shape{images, kind.height, kind.width};
  if (kind.channels > 1) shape.push_back(kind.channels);
  const std::string type = kind.bits == 8 ? "uint8" : "uint16";
  return {fmt::format("folder of {} PNG image{}, {}", images, images == 1 ? "" : "s", text(kind)),
          {{.name = "", .shape = shape, .type = type, .feature_names = {}, .missing = 0}}};
}

}  // namespace cgmca::io
