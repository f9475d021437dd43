// Where the rows of a text file begin: one position per megabyte, so that a reader can start near
// any row.
#pragma once

#include <cgmca/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/text/text_records.hpp"

namespace cgmca::io {

struct RowIndex {
  struct Anchor {
    Index row = 0;
    Records::Place place;
  };
  Index rows = 0;
  char mark = '?';             // decimal mark: '.' or ','; '?': no number has one
  std::int64_t mark_line = 0;  // the first line that has it
  std::vector<Anchor> anchors;

  // Adds an anchor for this row, if it is far enough from the last anchor.
  void note(Index row, const Records::Place& place);
  const Anchor* before(Index row) const;  // the last anchor up to this row; null: none
};

// Writes the index as text to PATH.rows, with the size of PATH and the time of its last change.
void save(const RowIndex& index, const std::string& path);
// Nothing if there is no PATH.rows. Throws FormatError if that is damaged, or PATH has changed
// since.
std::optional<RowIndex> load_row_index(const std::string& path);

}  // namespace cgmca::io
