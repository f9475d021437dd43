// Any bytes at all, called a PNG image: decoded, or refused by an error of cgmca's own.
//
// Every chunk ends in a checksum, at which a mutation would end nearly always: the mutator sets
// most of them right again. The seeds in corpus/png/ are one image of each kind.
#include "fuzz.hpp"

#include <zlib.h>

#include "io/image/png.hpp"

namespace {

// 8 bytes of signature; then chunks of length (big-endian), type, data, checksum of type and data.
void repair_checksums(std::uint8_t* data, std::size_t size) {
  for (std::size_t at = 8; size >= 12 && at <= size - 12;) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | data[at + i];
    if (length > size - at - 12) return;
    const auto crc = crc32(0, data + at + 4, static_cast<uInt>(length + 4));
    for (std::size_t i = 0; i < 4; ++i) {
      data[at + 8 + length + i] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
    }
    at += 12 + length;
  }
}

// Deflate may honestly make 34 million 1-bit pixels of 4 KiB, each a double in the end: what claims
// more than a million, and no more than that, would spend the time on memory alone.
bool is_large(const std::uint8_t* data, std::size_t size) {
  if (size < 24) return false;
  std::uint64_t width = 0, height = 0;
  for (std::size_t i = 0; i < 4; ++i) width = width << 8 | data[16 + i];
  for (std::size_t i = 0; i < 4; ++i) height = height << 8 | data[20 + i];
  return width * height > 1'000'000 && width * height < 100'000'000;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 16 != 0) repair_checksums(data, size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cgmca::fuzz::check;
  if (is_large(data, size)) return 0;
  try {
    const cgmca::io::Image image = cgmca::io::decode_png(cgmca::fuzz::file_of(data, size));
    check(image.values.size() == image.kind.features() && image.values.minCoeff() >= 0 &&
          image.values.maxCoeff() <= (image.kind.bits == 16 ? 65535 : 255));
  } catch (const cgmca::Error&) {
  }
  return 0;
}
