#include <cgmca/device_matrix.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/linalg/backend.hpp"
#include "core/linalg/device.hpp"

namespace cgmca {

using linalg::Array;
using linalg::Backend;

// y = left (right (x - x0)) + y0; `right` is empty where one matrix is cheaper to multiply with than two.
struct DeviceMap::Impl {
  const Backend& on;
  Array left, right;
  Vector x0, y0;

  Impl(const Backend& on_, const MatrixView& A, const MatrixView& B, Vector x0_, Vector y0_)
      : on(on_), left(on.upload(A)), right(on.upload(B)), x0(std::move(x0_)), y0(std::move(y0_)) {
    if (A.rows() * B.cols() > A.cols() * (A.rows() + B.cols())) return;
    left = on.AB(left, right);
    right = Array();
  }

  // The map applied to samples first … first + count - 1.
  Array mapped(const SampleView& X, Index first, Index count) const {
    Array Y = on.load({X}, first, count, x0, Vector::Zero(x0.size()));
    if (!right.empty()) Y = on.AB(right, Y);
    Y = on.AB(left, Y);
    on.add_outer(Y, y0, Vector::Ones(count), 1);
    return Y;
  }
};

DeviceMatrix::DeviceMatrix(Array array) : array_(std::make_shared<const Array>(std::move(array))) {}
Index DeviceMatrix::rows() const { return array_->rows(); }
Index DeviceMatrix::cols() const { return array_->cols(); }
double* DeviceMatrix::data() const { return array_->data(); }
Device DeviceMatrix::device() const { return array_->on().remote() ? Device::cuda : Device::cpu; }
Matrix DeviceMatrix::to_host() const { return array_->on().download(*array_); }

Index DeviceMap::rows() const { return impl_->left.rows(); }
Index DeviceMap::cols() const { return impl_->x0.size(); }

DeviceMatrix DeviceMap::operator()(const SampleView& X) const {
  if (X.rows() != cols()) {
    throw WrongDimension(fmt::format("the map takes {} features, the samples given have {}", cols(), X.rows()));
  }
  constexpr Index columns = 8192;  // together, so that nothing else of X's size is needed
  const Backend& on = impl_->on;
  const Index n = X.cols();
  Array Y;
  if (n <= columns) {
    Y = n == 0 ? on.zeros(rows(), 0) : impl_->mapped(X, 0, n);
  } else {
    Y = on.zeros(rows(), n);
    for (Index first = 0; first < n; first += columns) {
      const Index count = std::min(columns, n - first);
      on.assign(Y.columns(first, count), impl_->mapped(X, first, count));
    }
  }
  on.wait();
  return DeviceMatrix(std::move(Y));
}

DeviceMap device_map(const Model& model, Domain domain, Device device) {
  const DomainMap map = model.with_nuisance(domain);
  return DeviceMap(std::make_shared<const DeviceMap::Impl>(backend_of(device), map.mixing, map.weights, map.mean,
                                                           Vector::Zero(map.mixing.rows())));
}

DeviceMap device_map(const Translation& translation, Device device) {
  if (translation.identity) {
    throw InvalidInput("a translation towards identity is not a map of a few scores; call the translation itself");
  }
  return DeviceMap(std::make_shared<const DeviceMap::Impl>(backend_of(device), translation.left, translation.right,
                                                           translation.mean_from, translation.mean_to));
}

DeviceMatrix to_device(const MatrixView& X, Device device) {
  const Backend& on = backend_of(device);
  DeviceMatrix result(on.upload(X));
  on.wait();
  return result;
}

Matrix to_host(const SampleView& X, Device device) { return backend_of(device).fetched(X, 0, X.cols()); }

bool all_finite(const SampleView& X, Device device) {
  return backend_of(device).within(X, std::numeric_limits<double>::max());
}

}  // namespace cgmca
