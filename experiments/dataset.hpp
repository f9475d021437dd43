// Labelled grey images: MNIST, Fashion-MNIST or anything else in their format, or digits drawn here.
#pragma once

#include <cgmca/image.hpp>
#include <cgmca/types.hpp>
#include <string>
#include <vector>

namespace cgmca::experiments {

struct Dataset {
  std::string name;  // told by checksum: "MNIST", "Fashion-MNIST"; otherwise the folder and the checksum
  ImageSize size{};  // h×w
  Matrix images;     // (h·w)×n, in [0, 1]
  std::vector<int> labels;
  bool is_mnist() const { return name == "MNIST"; }

  // The images of one class, in the order of the file.
  std::vector<Index> of_class(int label) const;
};

// train-images-idx3-ubyte and train-labels-idx1-ubyte, each plain or .gz, of a folder. Throws IoError where there are
// none, FormatError where they are something else.
Dataset load_dataset(const std::string& folder);

// Whether load_dataset would find both files.
bool has_dataset(const std::string& folder);

}  // namespace cgmca::experiments
