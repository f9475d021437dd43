// Samples that are about to be written: a matrix in memory, or a file that holds them one after the other.
#pragma once

#include <cgmca/types.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace cgmca::io {

class Numbers {
 public:
  Numbers(Index features, Index samples, bool single) : features_(features), samples_(samples), single_(single) {}
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  virtual ~Numbers() = default;

  Index features() const { return features_; }
  Index samples() const { return samples_; }
  bool single() const { return single_; }  // floats, else doubles
  std::size_t size() const { return single_ ? sizeof(float) : sizeof(double); }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(features_ * samples_) * size(); }

  // `count` samples from `first` on, one after the other.
  virtual void read(Index first, Index count, void* to) const = 0;

 private:
  Index features_, samples_;
  bool single_;
};

// The columns of X, which must outlive this.
class NumbersInMemory : public Numbers {
 public:
  explicit NumbersInMemory(const MatrixView& X) : Numbers(X.rows(), X.cols(), false), X_(X) {}
  void read(Index first, Index count, void* to) const override {
    Eigen::Map<Matrix>(static_cast<double*>(to), features(), count) = X_.middleCols(first, count);
  }

 private:
  MatrixView X_;
};

// put(place, bytes, count): writes at a place, counted from the first number's.
using PutAt = std::function<void(std::uint64_t place, const void* bytes, std::size_t count)>;
using Written = std::function<void(Index samples)>;  // how many are in place

enum class By { sample, feature };  // what is contiguous in the file
// Puts all numbers in place, block by block. `swap`: each number's bytes in reverse.
void write_numbers(const Numbers& X, By order, const PutAt& put, const Written& written = {}, bool swap = false);

}  // namespace cgmca::io
