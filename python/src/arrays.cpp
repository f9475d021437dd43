#include "arrays.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <memory>

#include "device_array.hpp"

namespace cgmca::python {
namespace {

using Double = py::array_t<double, py::array::c_style>;
using Single = py::array_t<float, py::array::c_style>;

py::array as_array(const py::object& object, const char* name) {
  if (on_gpu(object)) {
    throw py::type_error(fmt::format("{} lies on a GPU; an array in host memory is needed here", name));
  }
  py::array array = py::array::ensure(host_array(object, name));
  if (!array) {
    PyErr_Clear();
    throw py::type_error(fmt::format("{} is not an array of numbers", name));
  }
  const char kind = array.dtype().kind();
  if (std::string_view("biuf").find(kind) == std::string_view::npos) {
    throw py::type_error(fmt::format(
        "{} holds {}; real numbers are needed{}", name, py::str(array.dtype()).cast<std::string>(),
        kind == 'c' ? ". cgmca.real_features(array, 'magnitude'), 'power' or 'stack' makes them of complex ones" : ""));
  }
  return array;
}

void check_two_dimensional(const py::array& array, const char* name, const char* needed) {
  if (array.ndim() == 2) return;
  throw py::value_error(
      fmt::format("{} has {} dimension{}; {} is needed", name, array.ndim(), array.ndim() == 1 ? "" : "s", needed));
}

// A C-contiguous array of doubles: the array itself, or a copy.
Double as_doubles(const py::object& array) {
  auto converted = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!converted) throw py::error_already_set();
  return converted;
}

}  // namespace

Samples::Samples(const py::object& rows, const char* name) : array_(as_array(rows, name)) {
  check_two_dimensional(array_, name, "an array of shape (samples, features)");
  const bool aligned = (array_.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0;
  if (aligned && Double::check_(array_)) data_ = static_cast<const double*>(array_.data());
  if (aligned && Single::check_(array_)) single_ = static_cast<const float*>(array_.data());
}

Eigen::Map<const Matrix> Samples::block(Index first, Index count, py::object& keep) const {
  if (data_ != nullptr) return {data_ + first * features(), features(), count};
  const Double converted = as_doubles(array_[py::slice(first, first + count, 1)]);
  keep = converted;
  return {converted.data(), features(), count};
}

SampleView Samples::view(Index first, Index count, py::object& keep) const {
  if (single_ == nullptr) return block(first, count, keep);
  return Eigen::Map<const Eigen::MatrixXf>(single_ + first * features(), features(), count);
}

py::array_t<double> to_rows(Matrix&& matrix) {
  auto owned = std::make_unique<Matrix>(std::move(matrix));
  const Matrix& kept = *owned;
  const py::capsule owner(owned.get(), [](void* pointer) { delete static_cast<Matrix*>(pointer); });
  owned.release();
  return py::array_t<double>({kept.cols(), kept.rows()}, kept.data(), owner);
}

py::array_t<double> to_array(const Vector& vector) { return py::array_t<double>(vector.size(), vector.data()); }

py::array_t<double> to_matrix(const Matrix& matrix) { return to_rows(matrix.transpose()); }

Matrix from_matrix(const py::object& object, const char* name) {
  const py::array array = as_array(object, name);
  check_two_dimensional(array, name, "a matrix");
  const Double rows = as_doubles(array);
  return Eigen::Map<const Matrix>(rows.data(), rows.shape(1), rows.shape(0)).transpose();
}

std::optional<Vector> weights_from(const py::object& sample_weight, std::optional<Index> count) {
  if (sample_weight.is_none()) return std::nullopt;
  const Double array = as_doubles(sample_weight);
  if (array.ndim() != 1) {
    throw py::value_error(
        fmt::format("sample_weight has {} dimensions; one number for each sample is needed", array.ndim()));
  }
  if (count && array.shape(0) != *count) {
    throw py::value_error(fmt::format("{} weights for {} samples; each needs one", array.shape(0), *count));
  }
  return Eigen::Map<const Vector>(array.data(), array.shape(0));
}

std::vector<Samples> samples_of(const py::sequence& arrays) {
  std::vector<Samples> domains;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    domains.emplace_back(arrays[i], array_name(i, arrays.size()).c_str());
  }
  return domains;
}

void check_matched(const std::vector<Samples>& domains) {
  for (std::size_t i = 1; i < domains.size(); ++i) {
    if (domains[i].count() == domains[0].count()) continue;
    throw UnequalSamples(fmt::format("domain 1 has {} samples and domain {} has {}; matched {} need as many of each",
                                     domains[0].count(), i + 1, domains[i].count(),
                                     domains.size() == 2 ? "pairs" : "samples"));
  }
}

Matched::Matched(const py::sequence& arrays, const py::object& sample_weight) : domains(samples_of(arrays)) {
  if (domains.empty()) throw InvalidInput("samples of every domain are needed");
  check_matched(domains);
  weights = weights_from(sample_weight, domains.front().count());
}

Index features_of(const std::vector<Samples>& domains) {
  Index features = 0;
  for (const Samples& domain : domains) features += domain.features();
  return features;
}

std::string array_name(std::size_t i, std::size_t domains) {
  return domains == 2 ? (i == 0 ? "X" : "y") : fmt::format("X{}", i + 1);
}

}  // namespace cgmca::python
