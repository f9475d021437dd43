// A sketch of the samples that passes through no frame and no factorization: Y = Xc Xcᵀ U.         docs/method.md (60)
//
// U (p×2) holds random signs, each divided by the size of its feature. A fit compares Y with the covariances that it
// used, Θ U: a wrong merge, a wrong BLAS or LAPACK and damaged memory show there. An error in any entry of Θ passes both
// columns with probability 1/4 at most, and one that stands alone never.
//
// The row of U of a feature is set when it first varies, and is zero before; its part of Y is zero until then, whatever
// the row is. So every summary has a U of its own, made from its own samples. When two summaries merge, the sketch of
// the other is taken to our U by its own cross-products,
//   Y' = Y + Xc Xcᵀ (U' - U)
// so what these have wrong stays in Y' and is found by the fit.
#pragma once

#include <functional>
#include <vector>

#include "core/summary/first_moments.hpp"

namespace cgmca {

struct Sketch {
  static constexpr Index kColumns = 2;

  bool known = true;  // false: samples are inside that were never sketched, from files of cgmca 0.2
  Vector origin;      // a sample that is not much lighter than any other; the mean is relative to it. Empty if none
  double origin_weight = 1;
  FirstMoments count;  // of the samples inside
  Matrix U, Y;         // p×2
  double noise = 0;    // the largest ‖u∘size‖ with which a merged sketch was computed: Y errs by eps·noise·size

  // Takes in samples, but for those of the ascending numbers `except`.
  void add(const linalg::Backend& on, const WeightedSamples& samples, const std::vector<Index>& except = {});
  // Xc Xcᵀ V of the other's samples, from what is to be merged, for any V of p rows; and about the roots of its diagonal.
  struct Other {
    std::function<Matrix(const Matrix& V)> products;
    std::function<Vector()> sizes;
  };
  void merge(const Sketch& sketch, const Other& other);
  void reorder(const linalg::Indices& places);  // places[f] is where feature f is to come from

 private:
  void set_origin(const linalg::Backend& on, const WeightedSamples& samples);
  void move_origin(const Vector& to, double weight);
  void set_signs(const linalg::Backend& on, const WeightedSamples& samples);
  void join(const FirstMoments& added, const Matrix& products);  // (17)
};

}  // namespace cgmca
