#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "io/source.hpp"

namespace cgmca::io {
namespace {

template <class Stored>
class InMemory : public BlockReader::Source {
 public:
  explicit InMemory(Dense<Stored> X) : X_(std::move(X)), features_(X_.rows()), samples_(X_.cols()) {}
  Index features() const override { return features_; }
  std::optional<Index> samples() const override { return samples_; }
  bool streams() const override { return false; }
  bool single() const override { return std::is_same_v<Stored, float>; }
  Matrix next(Index max_samples) override { return take<double>(max_samples); }
  Eigen::MatrixXf next_single(Index max_samples) override { return take<float>(max_samples); }
  void skip(Index count) override { position_ += count; }

 private:
  template <class Scalar>
  Dense<Scalar> take(Index max_samples) {
    const Index count = std::min(max_samples, samples_ - position_);
    position_ += count;
    if (count == 0) return Dense<Scalar>(features_, 0);
    if (count < samples_) return X_.middleCols(position_ - count, count).template cast<Scalar>();
    Dense<Stored> whole = std::move(X_);
    if constexpr (std::is_same_v<Stored, Scalar>)
      return whole;
    else
      return whole.template cast<Scalar>();
  }

  Dense<Stored> X_;  // empty after it was returned as a whole, because it is moved then
  Index features_, samples_, position_ = 0;
};

}  // namespace

std::unique_ptr<BlockReader::Source> in_memory(Matrix X) { return std::make_unique<InMemory<double>>(std::move(X)); }
std::unique_ptr<BlockReader::Source> in_memory(Eigen::MatrixXf X) {
  return std::make_unique<InMemory<float>>(std::move(X));
}

}  // namespace cgmca::io
