// An m×n matrix where a back end keeps it.
//
// The mathematics of a stage is written once, in terms of arrays and of what a back end does with them (backend.hpp).
// Copying an Array copies the handle: both then name the same numbers. Only its back end can read an array's address;
// all other code asks the back end to load and to download.
#pragma once

#include <cgmca/types.hpp>
#include <memory>

namespace cgmca::linalg {

class Backend;

class Array {
 public:
  Array() = default;  // 0×0
  // `memory` keeps the numbers alive; column j begins at data + j·stride.
  Array(const Backend& on, std::shared_ptr<void> memory, double* data, Index rows, Index cols, Index stride)
      : on_(&on), memory_(std::move(memory)), data_(data), rows_(rows), cols_(cols), stride_(stride) {}

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index size() const { return rows_ * cols_; }
  bool empty() const { return size() == 0; }
  const Backend& on() const { return *on_; }

  // Parts, which share the numbers.
  Array block(Index i, Index j, Index m, Index n) const {
    return {*on_, memory_, data_ + i + j * stride_, m, n, stride_};
  }
  Array left(Index n) const { return block(0, 0, rows_, n); }
  Array right(Index n) const { return block(0, cols_ - n, rows_, n); }
  Array top(Index m) const { return block(0, 0, m, cols_); }
  Array bottom(Index m) const { return block(rows_ - m, 0, m, cols_); }
  Array columns(Index first, Index n) const { return block(0, first, rows_, n); }

  // For back ends.
  double* data() const { return data_; }
  Index stride() const { return stride_; }
  const std::shared_ptr<void>& memory() const { return memory_; }

 private:
  const Backend* on_ = nullptr;
  std::shared_ptr<void> memory_;
  double* data_ = nullptr;
  Index rows_ = 0, cols_ = 0, stride_ = 1;
};

}  // namespace cgmca::linalg
