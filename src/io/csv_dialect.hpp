// How a text file divides its fields, and what its columns are.
#pragma once

#include <cgmca/types.hpp>

#include <string>
#include <vector>

#include "text_records.hpp"

namespace cgmca::io {

struct Dialect {
  char separator = ',';
  bool header = false;
  Index columns = 0;               // of the file, the ID column included
  bool trailing_fields = false;    // the first line has empty fields after its last column
  Index id = -1;                   // the place of the ID column from 0; -1: there is none
  std::vector<std::string> names;  // of the file's columns, as the header has them

  // Decimal commas cannot be told from commas between fields unless something else is seen to divide these.
  bool may_have_commas() const { return separator != ',' && (columns > 1 || trailing_fields); }
};

// Told from the first lines. `wanted_id` is the ID column's place from 1 or its header; empty: there is none.
// FormatError where there is no line, or no such column.
Dialect dialect_of(const std::string& path, const Records& records, bool tabs, const std::string& wanted_id);

}  // namespace cgmca::io
