#include "experiments/dataset.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "experiments/sha256.hpp"

namespace cgmca::experiments {
namespace {

constexpr const char* kImages = "train-images-idx3-ubyte";
constexpr const char* kLabels = "train-labels-idx1-ubyte";

// sha256 of the unpacked train images.
constexpr const char* kMnist = "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db";
constexpr const char* kFashion = "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888";

// The file's path, plain or .gz; empty where there is neither.
std::string find(const std::string& folder, const std::string& name) {
  for (const char* extension : {"", ".gz"}) {
    std::string path = fmt::format("{}/{}{}", folder, name, extension);
    if (std::filesystem::exists(path)) return path;
  }
  return {};
}

std::string need(const std::string& folder, const std::string& name) {
  std::string path = find(folder, name);
  if (path.empty()) throw IoError(fmt::format("'{}' holds neither {} nor {}.gz", folder, name, name));
  return path;
}

// Of the file as it is unpacked: 16 bytes of header, then one byte a pixel.
std::string checksum(const Matrix& pixels, ImageSize size) {
  Sha256 hash;
  const auto add_number = [&](Index value) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      const auto byte = static_cast<unsigned char>(value >> shift);
      hash.add(&byte, 1);
    }
  };
  add_number(0x803);
  add_number(pixels.cols());
  add_number(size.height);
  add_number(size.width);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(pixels.rows()));
  for (Index j = 0; j < pixels.cols(); ++j) {
    for (Index i = 0; i < pixels.rows(); ++i) {
      bytes[i] = static_cast<unsigned char>(pixels(i, j));
    }
    hash.add(bytes.data(), bytes.size());
  }
  return hash.hexadecimal();
}

}  // namespace

std::vector<Index> Dataset::of_class(int label) const {
  std::vector<Index> places;
  for (std::size_t j = 0; j < labels.size(); ++j) {
    if (labels[j] == label) places.push_back(static_cast<Index>(j));
  }
  return places;
}

bool has_dataset(const std::string& folder) { return !find(folder, kImages).empty() && !find(folder, kLabels).empty(); }

Dataset load_dataset(const std::string& folder) {
  const std::string image_path = need(folder, kImages), label_path = need(folder, kLabels);
  Dataset data;
  data.images = read(image_path);
  const Matrix labels = read(label_path);
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(data.images.rows()))));
  data.size = {side, side};
  if (side * side != data.images.rows() || data.images.size() == 0 || data.images.minCoeff() < 0 ||
      data.images.maxCoeff() > 255) {
    throw FormatError(fmt::format("'{}' holds {} samples of {} values, not square images of bytes", image_path,
                                  data.images.cols(), data.images.rows()));
  }
  if (labels.rows() != 1 || labels.cols() != data.images.cols()) {
    throw FormatError(fmt::format("'{}' holds {}×{} labels for {} images", label_path, labels.cols(), labels.rows(),
                                  data.images.cols()));
  }
  const std::string sum = checksum(data.images, data.size);
  data.name = sum == kMnist     ? "MNIST"
              : sum == kFashion ? "Fashion-MNIST"
                                : fmt::format("{} (sha256 {}…, not MNIST)", folder, sum.substr(0, 12));
  data.images /= 255;
  data.labels.resize(static_cast<std::size_t>(labels.cols()));
  for (Index j = 0; j < labels.cols(); ++j) data.labels[j] = static_cast<int>(labels(0, j));
  return data;
}

}  // namespace cgmca::experiments
