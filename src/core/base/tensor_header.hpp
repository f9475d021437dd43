// The JSON header of a safetensors file: its metadata, and where its arrays lie.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cgmca {

struct TensorEntry {
  std::string dtype;
  std::vector<std::uint64_t> shape, offsets;  // offsets: begin and end, from the first byte after the header

  std::uint64_t element_size() const;  // of F64 and F32, the two that are read; 0 of any other
};

// Both functions return what is wrong, or an empty text.
struct TensorHeader {
  std::map<std::string, std::string> metadata;
  std::map<std::string, TensorEntry> tensors;

  std::string parse(const std::string& text);
  // The arrays lie one after the other and fill the data exactly, each as large as its shape says.
  std::string check_layout(std::uint64_t data_size) const;
};

}  // namespace cgmca
