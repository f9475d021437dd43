#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "source.hpp"

namespace cgmca::io {
namespace {

class InMemory : public BlockReader::Source {
 public:
  explicit InMemory(Matrix X) : X_(std::move(X)), features_(X_.rows()), samples_(X_.cols()) {}
  Index features() const override { return features_; }
  std::optional<Index> samples() const override { return samples_; }
  bool streams() const override { return false; }
  Matrix next(Index max_samples) override {
    const Index count = std::min(max_samples, samples_ - position_);
    position_ += count;
    if (count == 0) return Matrix(features_, 0);
    if (count == samples_) return std::move(X_);
    return X_.middleCols(position_ - count, count);
  }
  void skip(Index count) override { position_ += count; }

 private:
  Matrix X_;  // moved out once handed out whole
  Index features_, samples_, position_ = 0;
};

}  // namespace

std::unique_ptr<BlockReader::Source> in_memory(Matrix X) { return std::make_unique<InMemory>(std::move(X)); }

}  // namespace cgmca::io
