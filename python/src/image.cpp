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
  const std::vector<Samples> both = {{rows, "images"}, {references, "references"}};
  if (both[0].count() != both[1].count()) {
    throw InvalidInput(fmt::format("{} images and {} references; give one reference for each image", both[0].count(),
                                   both[1].count()));
  }
  py::array_t<double> result(both[0].count());
  Eigen::Map<Vector> values(result.mutable_data(), both[0].count());
  for_blocks<std::vector<MatrixView>>(
      both, block_samples(features_of(both)),
      [&](Index first, const std::vector<MatrixView>& X) { values.segment(first, X[0].cols()) = measure(X[0], X[1]); });
  return result;
}

}  // namespace

void bind_image(py::module_& module) {
  const auto images = py::arg("images"), references = py::arg("references"), height = py::arg("height"),
             width = py::arg("width");
  const auto filter = [&](const char* name, Matrix (*function)(const MatrixView&, ImageSize)) {
    module.def(
        name,
        [function](const py::object& rows, Index h, Index w) {
          return filtered(rows, [=](const MatrixView& X) { return function(X, {h, w}); });
        },
        images, height, width);
  };
  filter("wiener2", &wiener2);
  filter("medfilt2", &medfilt2);
  module.def(
      "mat2gray",
      [](const py::object& rows) { return filtered(rows, [](const MatrixView& X) { return mat2gray(X); }); }, images);
  module.def(
      "ssim",
      [](const py::object& rows, const py::object& other, Index h, Index w) {
        return measured(rows, other, [=](const MatrixView& X, const MatrixView& Y) { return ssim(X, Y, {h, w}); });
      },
      images, references, height, width);
  module.def(
      "psnr",
      [](const py::object& rows, const py::object& other) {
        return measured(rows, other, [](const MatrixView& X, const MatrixView& Y) { return psnr(X, Y); });
      },
      images, references);
}

}  // namespace cgmca::python
