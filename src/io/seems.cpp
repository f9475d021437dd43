// Says from the first bytes what a file that cannot be read seems to be, and what would work.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <optional>
#include <string_view>

#include "io/bytes.hpp"
#include "io/describe.hpp"

namespace cgmca::io {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::string_view magic, what;
};

constexpr auto pandas = "export it as text: pandas.read_excel(...).to_csv(...), or save it as CSV in the spreadsheet"sv;

constexpr std::array<Kind, 33> kinds = {{
    {"%PDF"sv, "a PDF document"sv},
    {"\x89PNG\r\n\x1a\n"sv, "one PNG image; give a folder of PNG images, each of which is a sample"sv},
    {"\xff\xd8\xff"sv, "a JPEG image; convert it to PNG, and give the folder of the images"sv},
    {"II*\0"sv, "a TIFF image; convert it to PNG, and give the folder of the images"sv},
    {"MM\0*"sv, "a TIFF image; convert it to PNG, and give the folder of the images"sv},
    {"GIF8"sv, "a GIF image; convert it to PNG, and give the folder of the images"sv},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "an old Office document, such as an Excel workbook (.xls)"sv},
    {"PAR1"sv,
     "a Parquet table; the Python package reads it where pyarrow is installed, else save it by "
     "pandas.read_parquet(...).to_csv(...)"sv},
    {"ARROW1"sv,
     "an Arrow (Feather) table; in Python, cgmca reads it where pyarrow is installed, else save it by "
     "pandas.read_feather(...).to_csv(...)"sv},
    {"FEA1"sv, "a Feather table; save it by pandas.read_feather(...).to_csv(...)"sv},
    {"\x80\x02"sv, "a Python pickle; save its array by numpy.save"sv},
    {"\x80\x03"sv, "a Python pickle; save its array by numpy.save"sv},
    {"\x80\x04"sv, "a Python pickle; save its array by numpy.save"sv},
    {"\x80\x05"sv, "a Python pickle; save its array by numpy.save"sv},
    {"RDX2\n"sv, "R data (.RData); save its table by write.csv(x, row.names = FALSE)"sv},
    {"RDX3\n"sv, "R data (.RData); save its table by write.csv(x, row.names = FALSE)"sv},
    {"X\n\0\0\0"sv, "an R object (.rds); save it by write.csv(x, row.names = FALSE)"sv},
    {"# Created by Octave"sv, "text of Octave; save it again with save -v7, and name it .mat"sv},
    {"Octave-1-"sv, "data of Octave; save them again with save -v7, and name the file .mat"sv},
    {"SQLite format 3\0"sv, "an SQLite database; export the table as CSV"sv},
    {"\x7f"
     "ELF"sv,
     "a program or library (ELF)"sv},
    {"BZh"sv, "compressed by bzip2; unpack it first"sv},
    {"\xfd"
     "7zXZ\0"sv,
     "compressed by xz; unpack it first"sv},
    {"\x28\xb5\x2f\xfd"sv, "compressed by zstd; unpack it first"sv},
    {"7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive; unpack it first"sv},
    {"RIFF"sv, "a RIFF file, such as WAV sound"sv},
    {"CDF\x01"sv, "a netCDF 3 file; convert it to netCDF 4, which is HDF5, and name it .h5"sv},
    {"CDF\x02"sv, "a netCDF 3 file; convert it to netCDF 4, which is HDF5, and name it .h5"sv},
    {"SIMPLE  ="sv, "a FITS file; save its array by numpy.save"sv},
    {"<!DOCTYPE"sv, "a web page (HTML)"sv},
    {"<html"sv, "a web page (HTML)"sv},
    {"<?xml"sv, "an XML document"sv},
    {"\xff\xd9"sv, "the end of a JPEG image"sv},
}};

constexpr auto gzip_of_data = "compressed by gzip; unpack it first (gunzip)"sv;
constexpr auto unknown_kind = "binary, of a kind that is not known"sv;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string of_zip(std::string_view start) {
  if (contains(start, "xl/")) return fmt::format("an Excel workbook (.xlsx); {}", pandas);
  if (contains(start, "word/")) return "a Word document (.docx)";
  if (contains(start, "opendocument.spreadsheet")) return fmt::format("an OpenDocument spreadsheet (.ods); {}", pandas);
  return "a ZIP archive; unpack it, or name it .npz where its members are NumPy arrays";
}

// 8 bytes with the length of the header, then JSON. In files of cgmca its "format" says what they
// are.
std::string of_safetensors(std::string_view start) {
  const auto key = start.find("\"format\":\""sv);
  const std::string_view value = key == std::string_view::npos ? ""sv : start.substr(key + 10);
  const std::string_view format = value.substr(0, value.find('"'));
  if (contains(format, "summary"))
    return "a summary of cgmca; it is an input of `cgmca merge` and `cgmca fit`, not data";
  if (contains(format, "model"))
    return "a model of cgmca; `cgmca info` describes it, `cgmca export` makes data files of it";
  return "a safetensors file; save its tensors by numpy.savez";
}

std::string of_text(std::string_view start) {
  if (contains(start, "{") && contains(start, "\":")) return "JSON text; save its numbers as CSV";
  const bool digits = std::any_of(start.begin(), start.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits ? "plain text; name it .csv (or .tsv, divided by tabs) where it is a table of numbers"
                : "plain text without numbers";
}

bool looks_like_text(std::string_view start) {
  return std::all_of(start.begin(), start.end(),
                     [](unsigned char c) { return c >= ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f'; });
}

std::optional<std::string> of_magic(std::string_view start) {
  if (start.starts_with("PK\3\4")) return of_zip(start);
  if (start.size() > 10 && start.substr(4, 6) == "\0\0\0\0{\""sv) return of_safetensors(start);
  for (const Kind& kind : kinds)
    if (start.starts_with(kind.magic)) return std::string(kind.what);
  return std::nullopt;
}

// Looks at the first bytes of the contents.
std::string of_gzip(const std::string& path) {
  std::string start(4096, '\0');
  try {
    start.resize(gunzip(std::make_shared<const File>(path))->read(start.data(), start.size()));
  } catch (const FormatError&) {
    return std::string(gzip_of_data);  // damaged; the reader's message says how
  }
  if (start.starts_with("X\n") || start.starts_with("RDX"))
    return of_magic(start).value_or("R data; save it by write.csv(x, row.names = FALSE)");
  if (const auto inside = of_magic(start)) return "compressed by gzip, and in it " + *inside;
  if (looks_like_text(start))
    return "text compressed by gzip; name it .csv.gz (or .tsv.gz) where it is a table of numbers";
  return std::string(gzip_of_data);
}

// The first bytes; for a ZIP archive also the last ones, which have the names of all members.
std::string start_of(const File& file) {
  constexpr std::uint64_t most = 1 << 16;
  std::string start(std::min(file.size(), most), '\0');
  file.read_at(0, start.data(), start.size());
  if (!start.starts_with("PK\3\4")) return start;
  std::string end(start.size(), '\0');
  file.read_at(file.size() - end.size(), end.data(), end.size());
  return start + end;
}

}  // namespace

std::string what_it_seems_to_be(const std::string& path) {
  const File file(path);
  if (file.size() == 0) return "empty";
  const std::string start = start_of(file);
  if (start.starts_with("\x1f\x8b")) return of_gzip(path);
  if (const auto known = of_magic(start)) return *known;
  if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff")) return "text in UTF-16; name it .csv or .tsv";
  return looks_like_text(start) ? of_text(start) : std::string(unknown_kind);
}

std::optional<std::string> foreign_kind(const std::string& path) {
  const File file(path);
  if (file.size() == 0) return "empty";
  const std::string start = start_of(file);
  if (start.starts_with("PK\3\4")) {
    const std::string kind = of_zip(start);
    return kind.starts_with("a ZIP") ? std::nullopt : std::optional(kind);
  }
  if (start.starts_with("\x1f\x8b")) {
    const std::string kind = of_gzip(path);
    return kind == gzip_of_data ? std::nullopt : std::optional(kind);
  }
  // The header of a text table may begin with "PAR1", as Parquet files do.
  if (looks_like_text(start) && std::isalpha(static_cast<unsigned char>(start.front())) != 0) return std::nullopt;
  return of_magic(start);
}

}  // namespace cgmca::io
