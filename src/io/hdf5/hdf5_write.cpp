// .h5, .hdf5: writes a dataset, first the structure by HDF5, then the numbers (see lay_out_hdf5).
#include "io/hdf5/hdf5.hpp"

#include "io/numbers.hpp"
#include "io/source.hpp"
#include "io/unicode.hpp"
#include "support/atomic_file.hpp"

#include <cgmca/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cgmca::io {

void check_hdf5_name(const std::string& name) {
  const std::string inside = "/" + name + "/";
  const bool bad = name.empty() || name.find("//") != std::string::npos || name.back() == '/' ||
                   inside.find("/./") != std::string::npos || name.find('\0') != std::string::npos;
  if (bad) {
    throw InvalidInput(fmt::format("'{}' cannot name an HDF5 dataset; use a path such as /group/X", name));
  }
}

PlacedFile::PlacedFile(const std::string& path, std::string target)
    : target_(std::move(target)), descriptor_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail(errno);
}

PlacedFile::~PlacedFile() { ::close(descriptor_); }

void PlacedFile::write(std::uint64_t place, const void* bytes, std::size_t count) const {
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::pwrite(descriptor_, next, count, static_cast<off_t>(place));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    next += written;
    place += static_cast<std::uint64_t>(written);
    count -= static_cast<std::size_t>(written);
  }
}

void PlacedFile::reserve(std::uint64_t size, std::uint64_t start) const {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) fail(errno);
  const int reason = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(start));
  if (reason != 0) fail(reason);
}

void PlacedFile::fail(int reason) const {
  throw IoError(fmt::format("cannot write '{}': {}", target_, std::strerror(reason)));
}

std::uint64_t PlacedFile::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail(errno);
  return static_cast<std::uint64_t>(status.st_size);
}

namespace {

// Everything in the file except the numbers.
class Structure {
 public:
  Structure(const std::string& path, const PlacedFile& placed, const Hdf5Layout& layout)
      : layout_(layout), target_(placed.target()) {
    const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    constexpr hsize_t matlab_header = 512;
    H5Pset_userblock(creation.get(), layout.matlab ? matlab_header : 0);
    file_ = layout.add ? Hdf5Handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose)
                       : Hdf5Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), H5P_DEFAULT), H5Fclose);
    if (!file_ && layout.add)
      throw FormatError(fmt::format("'{}' is not an HDF5 file that can be added to: {}", target_, session_.reason()));
    check(static_cast<bool>(file_));
    link_ = Hdf5Handle(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(link_.get(), 1);
    H5Pset_char_encoding(link_.get(), H5T_CSET_UTF8);
  }

  std::uint64_t make() {
    const std::string names = layout_.dataset + "_features";
    remove(layout_.dataset);
    remove(names);
    const std::uint64_t place = make_numbers();
    if (!layout_.names.empty()) layout_.matlab ? make_cell(names) : make_texts(names);
    check(file_.close());
    return place;
  }

 private:
  void check(bool good) const {
    if (!good) throw IoError(fmt::format("cannot write '{}': {}", target_, session_.reason()));
  }

  // Removes the object of this name. Refuses to remove a group of an .h5 file, which may hold much.
  void remove(const std::string& name) const {
    const Hdf5Handle object(H5Oopen(file_.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object) return;
    if (!layout_.matlab && H5Iget_type(object.get()) != H5I_DATASET)
      throw InvalidInput(
          fmt::format("'{}' in '{}' is a group, which an array cannot replace; choose another name", name, target_));
    check(H5Ldelete(file_.get(), name.c_str(), H5P_DEFAULT) >= 0);
  }

  Hdf5Handle make_dataset(const std::string& name, hid_t type, const std::vector<hsize_t>& shape) const {
    const Hdf5Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
    const Hdf5Handle storage(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(storage.get(), false);  // the same matrix gives the same bytes
    H5Pset_alloc_time(storage.get(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(storage.get(), H5D_FILL_TIME_NEVER);
    Hdf5Handle made(H5Dcreate2(file_.get(), name.c_str(), type, space.get(), link_.get(), storage.get(), H5P_DEFAULT),
                    H5Dclose);
    check(static_cast<bool>(made));
    return made;
  }

  void set_class(const Hdf5Handle& object, const std::string& text) const {
    const Hdf5Handle string(H5Tcopy(H5T_C_S1), H5Tclose), scalar(H5Screate(H5S_SCALAR), H5Sclose);
    H5Tset_size(string.get(), text.size());
    const Hdf5Handle written(
        H5Acreate2(object.get(), "MATLAB_class", string.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(written && H5Awrite(written.get(), string.get(), text.c_str()) >= 0);
  }

  std::uint64_t make_numbers() const {
    const std::vector<hsize_t> shape{static_cast<hsize_t>(layout_.rows), static_cast<hsize_t>(layout_.columns)};
    Hdf5Handle made = make_dataset(layout_.dataset, layout_.single ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, shape);
    if (layout_.matlab) set_class(made, layout_.single ? "single" : "double");
    const haddr_t place = shape[0] * shape[1] == 0 ? 0 : H5Dget_offset(made.get());
    check(place != HADDR_UNDEF && made.close());
    return place;
  }

  // Texts of equal length in bytes; shorter ones are padded with zeros.
  void make_texts(const std::string& name) const {
    std::size_t longest = 1;
    for (const std::string& text : layout_.names) longest = std::max(longest, text.size());
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), longest);
    H5Tset_cset(type.get(), H5T_CSET_UTF8);
    H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
    std::string bytes;
    for (const std::string& text : layout_.names) bytes += text + std::string(longest - text.size(), '\0');
    Hdf5Handle made = make_dataset(name, type.get(), {layout_.names.size()});
    check(H5Dwrite(made.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0 && made.close());
  }

  // A row of cells. A cell is a reference to a text, which MATLAB keeps in the group #refs#.
  void make_cell(const std::string& name) const {
    std::vector<hobj_ref_t> references;
    for (std::size_t i = 0; i < layout_.names.size(); ++i) {
      std::vector<std::uint16_t> units = utf16_of(layout_.names[i]);
      if (units.empty()) units.push_back(' ');
      const std::string place = fmt::format("/#refs#/{}_{}", name, i);
      remove(place);
      Hdf5Handle text = make_dataset(place, H5T_NATIVE_UINT16, {units.size(), 1});
      set_class(text, "char");
      const int decode = 2;
      const Hdf5Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
      const Hdf5Handle attribute(
          H5Acreate2(text.get(), "MATLAB_int_decode", H5T_NATIVE_INT, scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
          H5Aclose);
      check(attribute && H5Awrite(attribute.get(), H5T_NATIVE_INT, &decode) >= 0);
      check(H5Dwrite(text.get(), H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, units.data()) >= 0 && text.close());
      hobj_ref_t reference = 0;
      check(H5Rcreate(&reference, file_.get(), place.c_str(), H5R_OBJECT, -1) >= 0);
      references.push_back(reference);
    }
    Hdf5Handle made = make_dataset(name, H5T_STD_REF_OBJ, {references.size(), 1});
    set_class(made, "cell");
    check(H5Dwrite(made.get(), H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references.data()) >= 0 && made.close());
  }

  const Hdf5Session session_;
  const Hdf5Layout& layout_;
  std::string target_;
  Hdf5Handle file_, link_;
};

}  // namespace

std::uint64_t lay_out_hdf5(const std::string& path, const PlacedFile& placed, const Hdf5Layout& layout) {
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(layout.rows * layout.columns) * (layout.single ? sizeof(float) : sizeof(double));
  // An upper bound: a few thousand bytes suffice for a short name; each part of a long path needs a
  // group with its table, and each cell an object.
  std::uint64_t structure = (1 << 16) + 1024 * layout.dataset.size();
  for (const std::string& name : layout.names) structure += 2048 + 8 * name.size();
  const std::uint64_t there = layout.add ? placed.size() : 0;
  placed.reserve(there + bytes + structure, there + structure);
  return Structure(path, placed, layout).make();
}

namespace {

// A row-major samples × features array has one sample after the other; a features × samples one has one feature after
// the other.
void produce_hdf5(const std::string& path, const Product& product) {
  const Numbers& X = product.X;
  const PlacedFile file(path, product.target);
  const std::uint64_t begin = lay_out_hdf5(path, file,
                                           {.dataset = product.member,
                                            .rows = product.columns ? X.features() : X.samples(),
                                            .columns = product.columns ? X.samples() : X.features(),
                                            .names = product.names,
                                            .add = product.add,
                                            .single = X.single()});
  write_numbers(
      X, product.columns ? By::feature : By::sample,
      [&](std::uint64_t place, const void* bytes, std::size_t count) { file.write(begin + place, bytes, count); },
      product.written);
}

}  // namespace

void write_hdf5(const Product& product) {
  check_hdf5_name(product.member);
  write_atomically(product.target, [&](const std::string& temporary) {
    if (product.add) copy_file(product.target, temporary);
    produce_hdf5(temporary, product);
  });
}

void write_hdf5(const std::string& path, const std::string& dataset, const MatrixView& X, const Names& names) {
  write_hdf5({path, dataset, NumbersInMemory(X), names, false, false, {}});
}

void add_to_hdf5(const std::string& path, const std::string& dataset, const MatrixView& X, const Names& names) {
  write_hdf5({path, dataset, NumbersInMemory(X), names, false, true, {}});
}

}  // namespace cgmca::io
