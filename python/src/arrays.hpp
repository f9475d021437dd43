// NumPy arrays as matrices, and work in blocks that lets Python's other threads run and Ctrl-C through.
//
// A C-contiguous float64 array of shape (n, d) *is* a column-major d×n matrix: it is used where it lies, and so is a
// float32 one by a summary. Any other array (integers, a view with strides) is converted block by block, so that it
// never takes twice its memory.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <cgmca/samples.hpp>
#include <cgmca/summary.hpp>
#include <cgmca/types.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace cgmca::python {

namespace py = pybind11;

// Samples of one domain, the rows of an (n, d) array.
class Samples {
 public:
  // Throws ValueError for anything but two dimensions, TypeError for what is not an array of real numbers.
  Samples(const py::object& rows, const char* name);

  Index features() const { return array_.shape(1); }
  Index count() const { return array_.shape(0); }

  // Rows first … first + count - 1 as a d×count matrix; `keep` holds what had to be converted. Needs the GIL.
  Eigen::Map<const Matrix> block(Index first, Index count, py::object& keep) const;
  // The same, where single precision may stay what it is.
  SampleView view(Index first, Index count, py::object& keep) const;

 private:
  py::array array_;
  const double* data_ = nullptr;   // nullptr: blocks are converted
  const float* single_ = nullptr;  // of single precision
};

// The (n, d) array that a d×n matrix is, without a copy.
py::array_t<double> to_rows(Matrix&& matrix);
py::array_t<double> to_array(const Vector& vector);
// The array that shows a matrix as it is written: rows as rows.
py::array_t<double> to_matrix(const Matrix& matrix);
// A two-dimensional array as the matrix it shows.
Matrix from_matrix(const py::object& array, const char* name);

// One number for each of `count` samples; none of None. Throws ValueError for another shape.
std::optional<Vector> weights_from(const py::object& sample_weight, std::optional<Index> count = std::nullopt);

// What messages call the array of domain i + 1.
std::string array_name(std::size_t i, std::size_t domains);
// The arrays of several domains.
std::vector<Samples> samples_of(const py::sequence& arrays);
Index features_of(const std::vector<Samples>& domains);  // all together
// Throws UnequalSamples, with the domain and the numbers.
void check_matched(const std::vector<Samples>& domains);

// As many samples of each domain, with their weights if there are any.
struct Matched {
  std::vector<Samples> domains;
  std::optional<Vector> weights;

  // Throws UnequalSamples, and what weights_from throws.
  Matched(const py::sequence& arrays, const py::object& sample_weight);
};

// Samples to a block: about 32 MB of numbers.
inline Index block_samples(Index features, Index megabytes = 32) {
  return std::clamp<Index>(cgmca::block_samples(features, megabytes * (1 << 20)), 16, 1 << 16);
}

inline void let_signals_through() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// Calls work(first, X) without the GIL for each block of matched samples, with one view for each domain. Ctrl-C comes
// through in between. Views: std::vector<MatrixView>, or MatchedSamples, in which single precision stays what it is.
template <class Views, class Work>
void for_blocks(const std::vector<Samples>& domains, Index per_block, Work work) {
  for (Index first = 0; first < domains.front().count(); first += per_block) {
    const Index count = std::min(per_block, domains.front().count() - first);
    std::vector<py::object> keep(domains.size());
    Views X;
    for (std::size_t i = 0; i < domains.size(); ++i) {
      if constexpr (std::is_same_v<Views, MatchedSamples>) {
        X.push_back(domains[i].view(first, count, keep[i]));
      } else {
        X.push_back(domains[i].block(first, count, keep[i]));
      }
    }
    {
      const py::gil_scoped_release release;
      work(first, X);
    }
    let_signals_through();
  }
}

// Adds samples to a summary, folds or a verifier, block by block.
template <class Sink>
void add_blocks(Sink& sink, const Matched& samples) {
  for_blocks<MatchedSamples>(samples.domains, block_samples(features_of(samples.domains)),
                             [&](Index first, const MatchedSamples& X) {
                               if (!samples.weights) return sink.add(X);
                               sink.add(X, samples.weights->segment(first, X.front().cols()));
                             });
}

// An (n, d) array, and the d×n matrix that it is.
struct Rows {
  py::array_t<double> array;
  Eigen::Map<Matrix> X;

  Rows(Index count, Index features) : array({count, features}), X(array.mutable_data(), features, count) {}
};

// An (n, d) array filled block by block with map(X), d×count.
template <class Map>
py::array_t<double> map_blocks(const Samples& samples, Index features, Index per_block, Map map) {
  Rows result(samples.count(), features);
  for_blocks<std::vector<MatrixView>>({samples}, per_block, [&](Index first, const std::vector<MatrixView>& X) {
    result.X.middleCols(first, X[0].cols()) = map(X[0]);
  });
  return result.array;
}

}  // namespace cgmca::python
