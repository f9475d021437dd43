// Writes a text file of numbers, samples as lines, as they come.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/source.hpp"
#include "support/atomic_file.hpp"

namespace cgmca::io {

class TextWriter {
 public:
  TextWriter(const std::string& path, char separator);

  // The names of the features, first of all; `id_name` is that of the samples' names before them. Names that all
  // look like numbers are left out if there is no such column, because they would be read as a sample.
  void header(const Names& names, const std::optional<std::string>& id_name = {});
  // X: features×n; the samples' names, or none. `single`: numbers are rounded to floats.
  void add(const MatrixView& X, const std::vector<std::string>& ids = {}, bool single = false);
  void commit();

 private:
  void flush();

  AtomicFile file_;
  char separator_;
  std::string text_;
};

}  // namespace cgmca::io
