// A sketch of the samples that passes through no frame and no factorization: Y = Xc Xcᵀ U.         docs/method.md (60)
//
// U (p×2) holds random signs, each divided by the size of its feature. A fit compares Y with the covariances that it
// used, Θ U: a wrong merge, a wrong BLAS or LAPACK and damaged memory show there. An error in any entry of Θ passes both
// columns with probability 1/4 at most, and a single wrong entry never does.
//
// A feature's row of U is zero until the feature first varies. Its row of Y is zero until then too. So every summary has
// its own U, made from its own samples. When two summaries merge, the other's sketch is transformed to our U by the
// other's own cross-products,
//   Y' = Y + Xc Xcᵀ (U' - U)
// An error in these cross-products therefore stays in Y', where the fit finds it.
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

  // Adds samples, except for those whose numbers are in `except`, which ascends.
  void add(const linalg::Backend& on, const WeightedSamples& samples, const std::vector<Index>& except = {});
  // The other summary's Xc Xcᵀ V for any V of p rows, and roughly the square roots of its diagonal.
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
