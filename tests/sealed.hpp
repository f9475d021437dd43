// Files that were changed on purpose, with the checksum that belongs to them.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "support/crc32.hpp"

namespace cgmca::testing {

// `bytes` of a model, a summary or folds with its checksum computed anew. Bytes without one stay as they are.
inline std::string sealed(std::string bytes) {
  constexpr std::string_view start = R"({"__metadata__":{"checksum":")", zeros = "00000000";
  constexpr std::size_t place = 8 + start.size();
  if (bytes.size() < place + zeros.size() || bytes.compare(8, start.size(), start) != 0) return bytes;
  bytes.replace(place, zeros.size(), zeros);
  Crc32 checksum;
  checksum.add(bytes.data(), bytes.size());
  return bytes.replace(place, zeros.size(), checksum.text());
}

}  // namespace cgmca::testing
