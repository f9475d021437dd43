// Any bytes at all, called a PNG image: decoded, or refused by an error of cgmca's own.
//
// Every chunk ends in a checksum, at which a mutation would end nearly always: the mutator sets
// most of them right again. The seeds in corpus/png/ are one image of each kind.
#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "io/png.hpp"

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

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 16 != 0) repair_checksums(data, size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = ::memfd_create("image.png", 0);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const cgmca::io::Image image = cgmca::io::decode_png(fmt::format("/proc/self/fd/{}", file));
    if (image.values.size() != image.kind.features() || image.values.minCoeff() < 0 ||
        image.values.maxCoeff() > (image.kind.bits == 16 ? 65535 : 255)) {
      std::abort();
    }
  } catch (const cgmca::Error&) {
  }
  ::close(file);
  return 0;
}
