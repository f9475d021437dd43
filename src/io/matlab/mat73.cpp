// MATLAB 7.3 files: an HDF5 file after 512 bytes, the first 128 of which are a header as in MATLAB
// 5.
//
// Every variable is an object in the root group. A dataset has the axes in reversed order, so that
// MATLAB's column-major array and HDF5's row-major one are the same bytes. Attributes give the
// rest:
//
//   MATLAB_class     "double", "logical", "char", "cell", "struct", …
//   MATLAB_empty     the array holds no numbers: the dataset's content is its size
//   MATLAB_sparse    the rows of a sparse matrix: a group of data, ir (row of each value) and jc
//                    (where each column begins)
//
// Complex numbers are records of {real, imag}. A struct is a group of its fields, and so is an
// object of an old class, whose MATLAB_class is the name of that. An array of
// structs is a group whose fields are references without a class. A cell array is a dataset of
// references.
//
// matio 1.5.23 is not used because it does not recognize a class whose text is padded differently
// from MATLAB's (by h5py, hdf5storage), stops listing at a variable that it does not understand,
// and ignores it when HDF5 cannot read numbers.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "io/hdf5/hdf5.hpp"
#include "io/matlab/mat.hpp"
#include "io/unicode.hpp"

namespace cgmca::io {
namespace {

Shape reversed_shape(hid_t dataset) {
  const Shape extent = extent_of(dataset);
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

// The class of a dataset without MATLAB_class, which was not written by MATLAB.
std::string class_of_type(hid_t type) {
  if (complex_members(type)) return class_of_type(Hdf5Handle(H5Tget_member_type(type, 0), H5Tclose).get());
  const auto bits = 8 * H5Tget_size(type);
  if (H5Tget_class(type) == H5T_FLOAT) return bits == 32 ? "single" : "double";
  if (H5Tget_class(type) == H5T_REFERENCE) return "reference";
  if (H5Tget_class(type) != H5T_INTEGER) return "unknown";
  return fmt::format("{}int{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
}

Hdf5Handle open_dataset(hid_t group, const char* name) {
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0) return {};
  return {H5Dopen2(group, name, H5P_DEFAULT), H5Dclose};
}

// {rows, columns} of a sparse matrix. MATLAB stores the number of rows; jc has columns + 1 entries.
Shape shape_of_sparse(hid_t group) {
  std::uint64_t rows = 0;
  const Hdf5Handle attribute(H5Aopen(group, "MATLAB_sparse", H5P_DEFAULT), H5Aclose), jc = open_dataset(group, "jc");
  if (!attribute || H5Aread(attribute.get(), H5T_NATIVE_UINT64, &rows) < 0 || !jc) return {};
  const Shape places = extent_of(jc.get());
  std::uint64_t count = 1;
  for (const std::uint64_t length : places)
    if (__builtin_mul_overflow(count, length, &count)) return {};
  return count == 0 ? Shape{} : Shape{rows, count - 1};
}

MatVariable describe(hid_t object, const char* name) {
  MatVariable variable;
  variable.name = name;
  variable.matlab_class = text_attribute(object, "MATLAB_class");
  if (H5Iget_type(object) != H5I_DATASET) {
    variable.sparse = H5Aexists(object, "MATLAB_sparse") > 0;
    if (variable.matlab_class.empty()) variable.matlab_class = variable.sparse ? "double" : "struct";
    if (!variable.sparse) {
      if (variable.matlab_class != "struct") variable.matlab_class = "object";
      return variable;
    }
    variable.shape = shape_of_sparse(object);
    const Hdf5Handle data = open_dataset(object, "data");
    variable.complex = data && complex_members(Hdf5Handle(H5Dget_type(data.get()), H5Tclose).get()).has_value();
    return variable;
  }
  const Hdf5Handle type(H5Dget_type(object), H5Tclose);
  variable.complex = complex_members(type.get()).has_value();
  variable.single = fits_single(type.get());
  if (variable.matlab_class.empty()) variable.matlab_class = class_of_type(type.get());
  const bool empty = H5Aexists(object, "MATLAB_empty") > 0;
  variable.shape = empty ? shape_of_empty(object) : reversed_shape(object);
  return variable;
}

struct Mat73Listing {
  std::vector<MatVariable> variables;
  std::exception_ptr failure;  // kept here because no exception may pass through HDF5
};

// A hard link to what cannot be opened is damage. Soft links may lead nowhere.
herr_t list_mat73_link(hid_t group, const char* name, const H5L_info_t* link, void* data) {
  auto& listing = *static_cast<Mat73Listing*>(data);
  try {
    const Hdf5Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
    if (!object) return link->type == H5L_TYPE_HARD ? -1 : 0;
    listing.variables.push_back(describe(object.get(), name));
    return 0;
  } catch (...) {
    listing.failure = std::current_exception();
    return -1;
  }
}

std::string place_of(const MatPath& path) { return fmt::format("/{}", fmt::join(path, "/")); }

class Mat73File final : public MatFile {
 public:
  explicit Mat73File(const std::string& path)
      : path_(path), file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose) {
    if (!file_) damaged();
    list({});
  }

  std::vector<MatVariable> list(const MatPath& path) override {
    Mat73Listing listing;
    const Hdf5Handle group(H5Gopen2(file_.get(), place_of(path).c_str(), H5P_DEFAULT), H5Gclose);
    if (!group || H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, list_mat73_link, &listing) < 0) {
      if (listing.failure) std::rethrow_exception(listing.failure);
      damaged();
    }
    for (const MatVariable& field : listing.variables) {
      if (!path.empty() && field.matlab_class == "reference")
        throw FormatError(refusal_of_struct_array(path.back(), field.shape));
    }
    return std::move(listing.variables);
  }

  Matrix read(const MatPath& path, bool imaginary, const Layout& layout, const std::string& where) override {
    return read_as<double>(path, imaginary, layout, where);
  }
  Eigen::MatrixXf read_single(const MatPath& path, bool imaginary, const Layout& layout,
                              const std::string& where) override {
    return read_as<float>(path, imaginary, layout, where);
  }

  Sparse read_sparse(const MatPath& path, const std::string& where) override {
    const Hdf5Handle group(H5Gopen2(file_.get(), place_of(path).c_str(), H5P_DEFAULT), H5Gclose);
    const Shape shape = group ? shape_of_sparse(group.get()) : Shape{};
    if (shape.size() != 2) throw FormatError(fmt::format("{} is a damaged sparse matrix: it has no size", where));
    Sparse sparse{.rows = shape[0], .columns = shape[1], .row = {}, .column = {}, .real = {}, .imaginary = {}};
    const auto places = [&](const char* name) {
      return read_vector<std::uint64_t>(group.get(), name, Hdf5Handle(H5Tcopy(H5T_NATIVE_UINT64), H5Tclose), where);
    };
    sparse.row = places("ir");
    sparse.column = expand(places("jc"), sparse.row.size(), where);
    const Hdf5Handle data = open_dataset(group.get(), "data");
    const auto complex = data ? complex_members(Hdf5Handle(H5Dget_type(data.get()), H5Tclose).get()) : std::nullopt;
    const auto values = [&](const std::string& member) {
      return read_vector<double>(group.get(), "data", number_type<double>(member), where);
    };
    sparse.real = values(complex ? complex->real : "");
    if (complex) sparse.imaginary = values(complex->imaginary);
    if (sparse.real.size() != sparse.row.size() || sparse.column.size() != sparse.row.size())
      throw FormatError(fmt::format("{} is a damaged sparse matrix: {} values, {} rows and {} columns of them", where,
                                    sparse.real.size(), sparse.row.size(), sparse.column.size()));
    return sparse;
  }

  std::vector<std::string> texts(const MatPath& path) override {
    const Hdf5Handle dataset(H5Dopen2(file_.get(), place_of(path).c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset) return {};
    const std::string kind = text_attribute(dataset.get(), "MATLAB_class");
    if (kind == "char") return rows_of_text(dataset.get());
    return kind == "cell" ? texts_of_cell(dataset.get()) : texts_of_dataset(dataset.get());
  }

 private:
  [[noreturn]] void damaged() const {
    throw FormatError(fmt::format("'{}' is a damaged .mat file: {}", path_, session_.reason()));
  }

  // Empty if the dataset does not exist: a sparse matrix of zeros has neither rows nor values.
  template <class T>
  std::vector<T> read_vector(hid_t group, const char* name, const Hdf5Handle& type, const std::string& where) const {
    const Hdf5Handle dataset = open_dataset(group, name);
    if (!dataset) return {};
    const Hdf5Handle space(H5Dget_space(dataset.get()), H5Sclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space.get());
    const auto most = static_cast<std::uint64_t>(H5Dget_storage_size(dataset.get())) * 1100;  // zlib's best is 1:1032
    if (count < 0 || static_cast<std::uint64_t>(count) > most || H5Aexists(dataset.get(), "MATLAB_empty") > 0)
      return {};
    std::vector<T> values(static_cast<std::size_t>(count));
    if (count > 0 && H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
      throw FormatError(fmt::format("{} is a damaged sparse matrix: {}", where, session_.reason()));
    return values;
  }

  std::vector<std::string> rows_of_text(hid_t dataset) const {
    const Shape shape = reversed_shape(dataset);
    constexpr std::uint64_t most = 1 << 24;
    if (shape.size() != 2 || shape[0] == 0 || shape[0] > most || shape[1] > most / shape[0]) return {};
    std::vector<std::uint32_t> letters(shape[0] * shape[1]);
    if (H5Dread(dataset, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, letters.data()) < 0) return {};
    std::vector<std::string> rows;
    for (std::uint64_t row = 0; row < shape[0]; ++row) {
      std::vector<std::uint32_t> line;
      for (std::uint64_t at = row; at < letters.size(); at += shape[0]) line.push_back(letters[at]);
      const std::string text = utf8_of(line);
      rows.push_back(shape[0] == 1 ? text : text.substr(0, text.find_last_not_of(' ') + 1));
    }
    return rows;
  }

  std::vector<std::string> texts_of_cell(hid_t dataset) const {
    const Hdf5Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
    constexpr hssize_t most = 10'000'000;
    const hssize_t count = H5Sget_simple_extent_npoints(space.get());
    if (H5Tget_class(type.get()) != H5T_REFERENCE || count < 1 || count > most) return {};
    std::vector<hobj_ref_t> references(static_cast<std::size_t>(count));
    if (H5Dread(dataset, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references.data()) < 0) return {};
    std::vector<std::string> texts;
    for (const hobj_ref_t& reference : references) {
      const Hdf5Handle cell(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, &reference), H5Oclose);
      if (!cell || H5Iget_type(cell.get()) != H5I_DATASET || text_attribute(cell.get(), "MATLAB_class") != "char")
        return {};
      const std::vector<std::string> rows = rows_of_text(cell.get());
      texts.push_back(rows.size() == 1 ? rows[0] : std::string());
    }
    return texts;
  }

  template <class Scalar>
  Dense<Scalar> read_as(const MatPath& path, bool imaginary, const Layout& layout, const std::string& where) {
    auto X = allocate<Scalar>(layout.features, layout.samples, where);
    const Hdf5Handle dataset(H5Dopen2(file_.get(), place_of(path).c_str(), H5P_DEFAULT), H5Dclose);
    const Shape shape = dataset ? reversed_shape(dataset.get()) : Shape{};
    std::uint64_t stored = 1;
    for (const std::uint64_t length : shape) stored *= length;
    if (dataset && stored != static_cast<std::uint64_t>(X.size())) {  // a wrong MATLAB_empty
      throw FormatError(fmt::format("{} claims {} numbers where {} numbers are stored", where,
                                    text(describe(dataset.get(), "").shape), text(shape)));
    }
    auto numbers = allocate<Scalar>(X.size(), 1, where);
    const auto complex = complex_members(Hdf5Handle(H5Dget_type(dataset.get()), H5Tclose).get());
    const Hdf5Handle type = number_type<Scalar>(!complex ? "" : imaginary ? complex->imaginary : complex->real);
    if (!dataset || H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) < 0) {
      throw FormatError(fmt::format("{} ({}) cannot be read: {}", where, text(shape), session_.reason()));
    }
    fill(X, numbers.data(), shape, layout.sample_axis);
    return X;
  }

  const Hdf5Session session_;  // lives as long as the file is open
  std::string path_;
  Hdf5Handle file_;
};

}  // namespace

std::unique_ptr<MatFile> open_mat73(const std::string& path) { return std::make_unique<Mat73File>(path); }

}  // namespace cgmca::io
