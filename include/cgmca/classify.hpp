// Labels carried from one domain to the other: train on mapped samples of domain 1, classify mapped ones of domain 2.
//
// Example:
//   const Matrix train = apply(model, Domain::one, X1), test = apply(model, Domain::two, X2);
//   const std::vector<int> nearest = nearest_neighbour(train, labels, test);
//   const LinearClassifier classify(train, labels);
//   std::cout << accuracy(nearest, labels) << " " << accuracy(classify(test), labels) << "\n";
//
// Threads: these functions keep no state; they may be called from several threads at once.
#pragma once

#include <cgmca/types.hpp>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// The label of the labelled sample nearest to each query (Euclidean; of several equally near, the first).
// samples: k×m, labels: m, queries: k×n → n. Throws InvalidInput or WrongDimension.
std::vector<int> nearest_neighbour(const MatrixView& samples, const std::vector<int>& labels,
                                   const MatrixView& queries);

// Least squares onto one indicator per class, with a ridge of `ridge` times the mean variance of a feature: the class of
// the largest of W (x - mean) + offset. Singular values up to max(k, m)·eps of the largest count as 0, also without ridge.
class LinearClassifier {
 public:
  // Trains on samples, k×m, with m labels. Throws InvalidInput.
  LinearClassifier(const MatrixView& samples, const std::vector<int>& labels, double ridge = 0.01);
  // The n labels of queries, k×n. Throws WrongDimension.
  std::vector<int> operator()(const MatrixView& queries) const;

 private:
  std::vector<int> classes_;  // ascending
  Vector mean_, offset_;
  Matrix weights_;  // classes × k
};

// The share of equal entries. Throws InvalidInput if the lengths differ or are 0.
double accuracy(const std::vector<int>& found, const std::vector<int>& expected);

}  // namespace cgmca
#pragma GCC visibility pop
