// SHA-256 (FIPS 180-4), to tell data sets by their content.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace cgmca::experiments {

class Sha256 {
 public:
  void add(const unsigned char* bytes, std::size_t count);
  std::string hexadecimal();  // of all that was added; add nothing afterwards

 private:
  void compress(const unsigned char* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> pending_{};
  std::uint64_t length_ = 0;
};

}  // namespace cgmca::experiments
