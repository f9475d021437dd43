// --weights FILE: how often each pair counts, read in step with the pairs.
#pragma once

#include <cgmca/io.hpp>
#include <optional>
#include <string>

namespace cgmca::cli {

// One column of numbers, read in blocks, or one row, held in memory.
class WeightReader {
 public:
  // Throws InvalidInput where there are several rows and columns. `share`: only some will be read.
  WeightReader(const std::string& source, bool columns, bool share);

  const std::string& source() const { return source_; }
  std::optional<Index> count() const;  // unknown for text until its end is reached
  // The next ones, fewer only at the end. Throws InvalidInput, with the place, where one is not a number from 0 on.
  Vector next(Index count);
  Vector all();          // from the first on
  Index count_to_end();  // how many there are, read to the end
  void count_all();      // so that count() is known
  void skip(Index count);

 private:
  std::string place(Index weight) const;

  std::string source_;
  BlockReader reader_;
  std::optional<Vector> row_;
  Index position_ = 0;
};

}  // namespace cgmca::cli
