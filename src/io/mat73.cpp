// MATLAB 7.3 files: an HDF5 file after 512 bytes, the first 128 of which are a header like MATLAB
// 5's.
//
// Every variable is an object of the root group. A dataset has MATLAB's axes in reversed order,
// which makes MATLAB's column-major array and HDF5's row-major one the same bytes. Attributes tell
// the rest:
//
//   MATLAB_class     "double", "logical", "char", "cell", "struct", …
//   MATLAB_empty     the array holds no numbers: the dataset's content is its size
//   MATLAB_sparse    a group of data, ir and jc
//
// Complex numbers are records of {real, imag}. Not through matio: its 1.5.23 takes a class whose
// text is padded otherwise than MATLAB pads it (by h5py, hdf5storage) for none, lists no variable
// after one that it does not understand, and passes over numbers that HDF5 fails to read.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <exception>
#include <type_traits>
#include <utility>

#include "io/hdf5.hpp"
#include "io/mat.hpp"

namespace cgmca::io {
namespace {

// A text attribute; empty where there is none.
std::string attribute_of(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(H5Aget_type(attribute.get()), H5Tclose);
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0) return {};
  constexpr std::size_t longest = 1000;
  const std::size_t size = H5Tget_size(type.get());
  if (size > longest || H5Aget_storage_size(attribute.get()) != size) return {};  // several texts
  std::string text(size, '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0) return {};
  text.resize(std::strlen(text.c_str()));
  return text;
}

Shape reversed_shape(hid_t dataset) {
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::vector<hsize_t> extent(static_cast<std::size_t>(std::max(rank, 0)));
  if (rank > 0) H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
  return {extent.rbegin(), extent.rend()};
}

Shape shape_of_empty(hid_t dataset) {
  const Shape length = reversed_shape(dataset);
  constexpr std::uint64_t most_axes = 1000;
  if (length.size() != 1 || length[0] > most_axes) return {};
  std::vector<std::uint64_t> size(length[0]);
  if (H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, size.data()) < 0) return {};
  return size;
}

// A dataset without MATLAB_class was not written by MATLAB; numbers are numbers all the same.
std::string class_of_type(hid_t type) {
  const auto bits = 8 * H5Tget_size(type);
  if (H5Tget_class(type) == H5T_FLOAT) return bits == 32 ? "single" : "double";
  if (H5Tget_class(type) != H5T_INTEGER) return "unknown";
  return fmt::format("{}int{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
}

MatVariable describe(hid_t object, const char* name) {
  MatVariable variable{.name = name,
                       .matlab_class = attribute_of(object, "MATLAB_class"),
                       .complex = false,
                       .single = false,
                       .shape = {}};
  if (H5Iget_type(object) != H5I_DATASET) {
    if (H5Aexists(object, "MATLAB_sparse") > 0) variable.matlab_class = "sparse";
    if (variable.matlab_class.empty()) variable.matlab_class = "struct";
    return variable;
  }
  const Hdf5Handle type(H5Dget_type(object), H5Tclose);
  variable.complex = H5Tget_class(type.get()) == H5T_COMPOUND;
  variable.single = fits_single(type.get());
  if (variable.matlab_class.empty()) variable.matlab_class = class_of_type(type.get());
  const bool empty = H5Aexists(object, "MATLAB_empty") > 0;
  variable.shape = empty ? shape_of_empty(object) : reversed_shape(object);
  return variable;
}

struct Listing {
  std::vector<MatVariable> variables;
  std::exception_ptr failure;  // no exception may cross HDF5's frames
};

herr_t list_link(hid_t group, const char* name, const H5L_info_t*, void* data) {
  auto& listing = *static_cast<Listing*>(data);
  try {
    const Hdf5Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
    if (object) listing.variables.push_back(describe(object.get(), name));
    return 0;
  } catch (...) {
    listing.failure = std::current_exception();
    return -1;
  }
}

class Mat73File final : public MatFile {
 public:
  explicit Mat73File(const std::string& path) : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose) {
    Listing listing;
    if (!file_ || H5Literate(file_.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, list_link, &listing) < 0) {
      if (listing.failure) std::rethrow_exception(listing.failure);
      throw FormatError(fmt::format("'{}' is a damaged .mat file: {}", path, session_.reason()));
    }
    variables_ = std::move(listing.variables);
  }

  const std::vector<MatVariable>& variables() const override { return variables_; }

  Matrix read(std::size_t index, const Layout& layout, const std::string& where) override {
    return read_as<double>(index, layout, where);
  }
  Eigen::MatrixXf read_single(std::size_t index, const Layout& layout, const std::string& where) override {
    return read_as<float>(index, layout, where);
  }

 private:
  template <class Scalar>
  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> read_as(std::size_t index, const Layout& layout,
                                                                const std::string& where) {
    const MatVariable& variable = variables_[index];
    auto X = allocate<Scalar>(layout.features, layout.samples, where);
    const auto stored = [&] {
      const Hdf5Handle dataset(H5Dopen2(file_.get(), variable.name.c_str(), H5P_DEFAULT), H5Dclose);
      const Shape shape = dataset ? reversed_shape(dataset.get()) : Shape{};
      if (dataset && shape != variable.shape) {  // MATLAB_empty, and yet not empty
        throw FormatError(
            fmt::format("{} claims {} numbers where {} numbers are stored", where, text(variable.shape), text(shape)));
      }
      const hid_t type = std::is_same_v<Scalar, float> ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
      auto numbers = allocate<Scalar>(X.size(), 1, where);
      if (!dataset || H5Dread(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) < 0) {
        throw FormatError(fmt::format("{} ({} {}) cannot be read: {}", where, variable.matlab_class,
                                      text(variable.shape), session_.reason()));
      }
      return numbers;
    }();
    fill(X, stored.data(), variable.shape, layout.sample_axis);
    return X;
  }

  const Hdf5Session session_;  // as long as the file is open
  Hdf5Handle file_;
  std::vector<MatVariable> variables_;
};

}  // namespace

std::unique_ptr<MatFile> open_mat73(const std::string& path) { return std::make_unique<Mat73File>(path); }

// MATLAB's samples × features array is a row-major one of features × samples.
void produce_mat73(const std::string& path, const std::string& name, const MatrixView& X, const std::string& target) {
  constexpr std::size_t userblock = 512, text_size = 124;
  const PlacedFile file(path, target);
  std::uint64_t place = lay_out_hdf5(path, file, name, X.rows(), X.cols(), userblock, {"MATLAB_class", "double"});
  std::string header = "MATLAB 7.3 MAT-file, written by cgmca";
  header.resize(text_size, ' ');
  header.append(std::endian::native == std::endian::little ? "\0\2IM" : "\2\0MI", 4);
  file.write(0, header.data(), header.size());
  constexpr Index block = 64;
  for (Index f = 0; f < X.rows(); f += block) {
    const Matrix rows = X.middleRows(f, std::min(block, X.rows() - f)).transpose();
    const auto bytes = static_cast<std::size_t>(rows.size()) * sizeof(double);
    file.write(place, rows.data(), bytes);
    place += bytes;
  }
}

}  // namespace cgmca::io
