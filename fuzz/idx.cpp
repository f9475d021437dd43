#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cgmca::fuzz::read_all_ways(cgmca::io::open_idx, data, size);
  return 0;
}
