// Where the rows of a text file begin: one place a megabyte, so that a reader can start near any row.
#pragma once

#include <cgmca/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text_records.hpp"

namespace cgmca::io {

struct RowIndex {
  struct Anchor {
    Index row = 0;
    Records::Place place;
  };
  Index rows = 0;
  char mark = '?';             // of decimals: '.', ',', or none seen
  std::int64_t mark_line = 0;  // where it is first seen
  std::vector<Anchor> anchors;

  // Notes where the row begins, if it is far enough from the last one that was noted.
  void note(Index row, const Records::Place& place);
  const Anchor* before(Index row) const;  // the last one that is not after it; null: none
};

// Kept as text in PATH.rows, with the size of PATH and the time of its last change.
void save(const RowIndex& index, const std::string& path);
// None where there is no such file. Throws FormatError where it is of another PATH, or damaged.
std::optional<RowIndex> load_row_index(const std::string& path);

}  // namespace cgmca::io
