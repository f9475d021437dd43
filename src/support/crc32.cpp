#include "support/crc32.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

namespace cgmca {
namespace {

constexpr std::size_t kTogether = 8;  // bytes a step: one lookup each, independent of one another
using Tables = std::array<std::array<std::uint32_t, 256>, kTogether>;

// tables[k][b]: what byte b, followed by k zero bytes, adds.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    tables[0][b] = crc;
  }
  for (std::size_t k = 1; k < kTogether; ++k) {
    for (std::size_t b = 0; b < 256; ++b) {
      const std::uint32_t before = tables[k - 1][b];
      tables[k][b] = (before >> 8U) ^ tables[0][before & 0xFFU];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();
static_assert(std::endian::native == std::endian::little, "eight bytes are read as one little-endian number");

}  // namespace

void Crc32::add(const void* bytes, std::size_t count) {
  const auto* next = static_cast<const unsigned char*>(bytes);
  std::uint32_t crc = state_;
  for (; count >= kTogether; count -= kTogether, next += kTogether) {
    std::uint64_t word = 0;
    std::memcpy(&word, next, sizeof word);
    word ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < kTogether; ++k) crc ^= kTables[kTogether - 1 - k][(word >> (8 * k)) & 0xFFU];
  }
  for (; count > 0; --count, ++next) crc = (crc >> 8U) ^ kTables[0][(crc ^ *next) & 0xFFU];
  state_ = crc;
}

std::string Crc32::text() const { return fmt::format("{:08x}", value()); }

}  // namespace cgmca
