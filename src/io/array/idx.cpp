// IDX, the format of MNIST; plain or compressed by gzip, which the first bytes show.
//
//   0 0  type  dimensions: one byte each    lengths: u32 each    elements      all big-endian
//
// Types: 08 u8, 09 i8, 0B i16, 0C i32, 0D f32, 0E f64. The last axis varies fastest.
// Hand-written because no library reads it.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "io/array/array_source.hpp"
#include "io/array/elements.hpp"
#include "io/bytes.hpp"
#include "io/describe.hpp"
#include "io/source.hpp"

namespace cgmca::io {
namespace {

std::optional<Element> element_of(unsigned char type) {
  using Kind = Element::Kind;
  switch (type) {
    case 0x08:
      return Element{Kind::unsigned_integer, 1, true};
    case 0x09:
      return Element{Kind::signed_integer, 1, true};
    case 0x0b:
      return Element{Kind::signed_integer, 2, true};
    case 0x0c:
      return Element{Kind::signed_integer, 4, true};
    case 0x0d:
      return Element{Kind::floating, 4, true};
    case 0x0e:
      return Element{Kind::floating, 8, true};
    default:
      return std::nullopt;
  }
}

std::unique_ptr<Bytes> contents(const std::string& path) { return contents_of(std::make_shared<const File>(path)); }

ArrayHeader read_header(const std::string& path, Bytes& bytes) {
  std::array<unsigned char, 4> magic{};
  const std::size_t got = bytes.read(magic.data(), magic.size());
  const auto element = element_of(magic[2]);
  if (got < magic.size() || magic[0] != 0 || magic[1] != 0 || !element)
    throw FormatError(
        fmt::format("'{}' is not an IDX array, plain or compressed by gzip: its first bytes are "
                    "[{:02x}] instead of "
                    "00 00, a type (08, 09, 0b, 0c, 0d or 0e) and the number of dimensions",
                    path, fmt::join(magic.begin(), magic.begin() + got, " ")));

  ArrayHeader header;
  header.name = path;
  header.element = *element;
  for (int axis = 0; axis < magic[3]; ++axis) {
    std::array<unsigned char, 4> length{};
    if (bytes.read(length.data(), length.size()) < length.size())
      throw FormatError(fmt::format("'{}' is truncated: it promises {} dimensions, but has {}", path, magic[3], axis));
    std::uint64_t value = 0;
    for (const unsigned char byte : length) value = value << 8 | byte;
    header.shape.push_back(value);
  }
  header.begin = magic.size() * (1 + header.shape.size());
  header.ends = true;
  return header;
}

}  // namespace

std::unique_ptr<BlockReader::Source> open_idx(const std::string& path, const std::string&, const ReadOptions& options) {
  std::unique_ptr<Bytes> bytes = contents(path);
  const ArrayHeader header = read_header(path, *bytes);
  return array_source(header, std::move(bytes), options);
}

FileInfo describe_idx(const std::string& path) {
  std::unique_ptr<Bytes> bytes = contents(path);
  const bool compressed = !bytes->remaining().has_value();
  const ArrayHeader header = read_header(path, *bytes);
  ArrayInfo info{.name = "",
                 .shape = shape_of(header.shape),
                 .type = name(header.element),
                 .feature_names = {},
                 .missing = std::nullopt};
  if (is_matrix(header.shape)) info.missing = count_missing(*array_source(header, std::move(bytes), {}));
  return {compressed ? "IDX, compressed by gzip" : "IDX", {info}};
}

}  // namespace cgmca::io
