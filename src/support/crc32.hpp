// CRC-32 of ISO 3309, as zlib.crc32 and PNG have it: notices every flipped bit and every run of up to 32 damaged bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cgmca {

class Crc32 {
 public:
  void add(const void* bytes, std::size_t count);
  std::uint32_t value() const { return ~state_; }
  std::string text() const;  // 8 hexadecimal digits

 private:
  std::uint32_t state_ = 0xFFFFFFFFU;
};

}  // namespace cgmca
