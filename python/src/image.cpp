// Image filters and measures, over (n, h·w) arrays.
#include <cgmca/error.hpp>
#include <cgmca/image.hpp>

#include <fmt/format.h>

#include "arrays.hpp"
#include "bindings.hpp"

namespace cgmca::python {
namespace {

template <class Filter>
py::array filtered(const py::object& rows, Filter filter) {
  const Samples images(rows, "images");
  return map_blocks(images, images.features(), block_samples(images.features()), filter);
}

template <class Measure>
py::array measured(const py::object& rows, const py::object& references, Measure measure) {
  const Samples one(rows, "images"), two(references, "references");
  if (one.count() != two.count()) {
    throw InvalidInput(
        fmt::format("{} images and {} references; give one reference for each image", one.count(), two.count()));
  }
  py::array_t<double> result(one.count());
  Eigen::Map<Vector> values(result.mutable_data(), one.count());
  for_pair_blocks(one, two, block_samples(one.features() + two.features()),
                  [&](Index first, const auto& X, const auto& Y) { values.segment(first, X.cols()) = measure(X, Y); });
  return result;
}

}  // namespace

void bind_image(py::module_& module) {
  const auto images = py::arg("images"), references = py::arg("references"), height = py::arg("height"),
             width = py::arg("width");
  module.def(
      "wiener2",
      [](const py::object& rows, Index h, Index w) {
        return filtered(rows, [=](const auto& X) { return wiener2(X, {h, w}); });
      },
      images, height, width);
  module.def(
      "medfilt2",
      [](const py::object& rows, Index h, Index w) {
        return filtered(rows, [=](const auto& X) { return medfilt2(X, {h, w}); });
      },
      images, height, width);
  module.def(
      "mat2gray", [](const py::object& rows) { return filtered(rows, [](const auto& X) { return mat2gray(X); }); },
      images);
  module.def(
      "ssim",
      [](const py::object& rows, const py::object& other, Index h, Index w) {
        return measured(rows, other, [=](const auto& X, const auto& Y) { return ssim(X, Y, {h, w}); });
      },
      images, references, height, width);
  module.def(
      "psnr",
      [](const py::object& rows, const py::object& other) {
        return measured(rows, other, [](const auto& X, const auto& Y) { return psnr(X, Y); });
      },
      images, references);
}

}  // namespace cgmca::python
