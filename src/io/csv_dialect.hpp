// How the fields of a text file are separated, and what its columns are.
#pragma once

#include <cgmca/types.hpp>

#include <string>
#include <vector>

#include "text_records.hpp"

namespace cgmca::io {

struct Dialect {
  char separator = ',';
  bool header = false;
  Index columns = 0;               // including the ID column
  bool trailing_fields = false;    // the first line has empty fields after its last column
  Index id = -1;                   // place of the ID column, from 0; -1: there is none
  std::vector<std::string> names;  // of all columns, as in the header

  // A comma can be a decimal mark only if another character separates the fields.
  bool may_have_commas() const { return separator != ',' && (columns > 1 || trailing_fields); }
};

// Determined from the first lines. `wanted_id` is the place (from 1) or the name of the ID column;
// empty: there is none. Throws FormatError if the file has no line, or no such column.
Dialect dialect_of(const std::string& path, const Records& records, bool tabs, const std::string& wanted_id);

}  // namespace cgmca::io
