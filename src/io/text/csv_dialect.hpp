// How the fields of a text file are separated, and what its columns are.
#pragma once

#include <cgmca/types.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "io/text/text_records.hpp"

namespace cgmca::io {

struct Dialect {
  char separator = ',';
  bool header = false;
  Index columns = 0;               // including the ID column
  bool trailing_fields = false;    // the first line has empty fields after its last column
  Index id = -1;                   // place of the ID column, from 0; -1: there is none
  bool found_id = false;           // nobody has named it: it is a first column without a name
  std::vector<std::string> names;  // of all columns, as in the header
  std::vector<std::string> notes;  // BlockReader::notes()

  // A comma can be a decimal mark only if another character separates the fields.
  bool may_have_commas() const { return separator != ',' && (columns > 1 || trailing_fields); }
};

// The `wanted_id` that says that no column names the samples.
inline constexpr std::string_view no_id = "none";

// Determined from the first lines. `wanted_id` is the place (from 1) or the name of the ID column,
// or no_id. If it is empty, a first column without a name is the ID column if its cells in the first
// lines differ and are texts or whole numbers from 0 on: R's write.csv and pandas' to_csv write the names or
// the numbers of rows there. Throws FormatError if the file has no line, or no such column.
Dialect dialect_of(const std::string& path, const Records& records, bool tabs, const std::string& wanted_id);

// Whether the file is one of .tsv, or .tsv.gz.
bool divided_by_tabs(const std::string& path);

}  // namespace cgmca::io
