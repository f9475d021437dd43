// Samples as they come: a read-only view of a d×n matrix, one column per sample, of doubles or of floats.
//
// Floats are widened a few columns at a time, so that a block of single precision is never copied whole.
//
// Example:
//   const Eigen::MatrixXf block = X1.leftCols(100).cast<float>();
//   Summary summary({d1, d2});
//   summary.add(block, X2.leftCols(100));  // floats and doubles, a matrix and a part of one
#pragma once

#include <cgmca/types.hpp>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// A read-only view of a matrix of floats.
using SingleView = Eigen::Ref<const Eigen::MatrixXf>;

// A view of d×n samples, made from any matrix of doubles or floats. It must not outlive that matrix. If it was made
// from an expression, it holds the expression's value itself.
class SampleView {
 public:
  // A view of X, d×n.
  template <class Derived>
  SampleView(const Eigen::DenseBase<Derived>& X)  // NOLINT: a matrix is a view of samples
      : view_(std::make_shared<const ViewOf<typename Derived::Scalar>>(X.derived())) {}

  // Calls work(X), where X is the MatrixView or the SingleView.
  template <class Work>
  decltype(auto) visit(const Work& work) const {
    return std::visit([&](const auto& view) -> decltype(auto) { return work(*view); }, view_);
  }

  // The samples as doubles: a view of the caller's matrix, or of a copy of its floats.
  std::shared_ptr<const MatrixView> doubles() const {
    if (const auto* view = std::get_if<std::shared_ptr<const MatrixView>>(&view_)) return *view;
    return std::make_shared<const MatrixView>(std::get<std::shared_ptr<const SingleView>>(view_)->cast<double>());
  }

  // The number of features, d.
  Index rows() const {
    return visit([](const auto& X) { return X.rows(); });
  }
  // The number of samples, n.
  Index cols() const {
    return visit([](const auto& X) { return X.cols(); });
  }

 private:
  template <class Scalar>
  using ViewOf = std::conditional_t<std::is_same_v<Scalar, float>, SingleView, MatrixView>;

  // Shared, because a copy of an Eigen::Ref does not keep what the first one holds.
  std::variant<std::shared_ptr<const MatrixView>, std::shared_ptr<const SingleView>> view_;
};

// Matched samples: one view for each domain, all with the same number of columns. Column j of all belongs together.
using MatchedSamples = ByDomain<SampleView>;

}  // namespace cgmca
#pragma GCC visibility pop
