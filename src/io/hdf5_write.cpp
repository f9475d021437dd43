// .h5, .hdf5: one dataset, written as file and numbers apart (see lay_out_hdf5).
#include "io/hdf5.hpp"

#include "io/source.hpp"
#include "support/atomic_file.hpp"

#include <cgmca/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace cgmca::io {
namespace {

void check_name(const std::string& name) {
  const std::string inside = "/" + name + "/";
  const bool bad = name.empty() || name.find("//") != std::string::npos || name.back() == '/' ||
                   inside.find("/./") != std::string::npos || name.find('\0') != std::string::npos;
  if (bad) {
    throw InvalidInput(fmt::format("'{}' cannot name an HDF5 dataset; use a path such as /group/X", name));
  }
}

}  // namespace

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

std::uint64_t lay_out_hdf5(const std::string& path, const PlacedFile& placed, const std::string& dataset, Index rows,
                           Index columns, std::size_t userblock, const Hdf5Attribute& attribute) {
  const std::array<hsize_t, 2> shape{static_cast<hsize_t>(rows), static_cast<hsize_t>(columns)};
  const std::uint64_t bytes = shape[0] * shape[1] * sizeof(double);
  // A few thousand bytes for short names; a group and its table for each part of a long one.
  const std::uint64_t structure = userblock + (1 << 16) + 1024 * dataset.size();
  placed.reserve(bytes + structure, structure);

  const Hdf5Session session;
  const auto check = [&](bool good) {
    if (good) return;
    throw IoError(fmt::format("cannot write '{}': {}", placed.target(), session.reason()));
  };
  const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_userblock(creation.get(), userblock);
  Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), H5P_DEFAULT), H5Fclose);
  check(static_cast<bool>(file));

  const Hdf5Handle space(H5Screate_simple(2, shape.data(), nullptr), H5Sclose);
  const Hdf5Handle link(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(link.get(), 1);
  H5Pset_char_encoding(link.get(), H5T_CSET_UTF8);
  const Hdf5Handle storage(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(storage.get(), false);  // the same matrix gives the same bytes
  H5Pset_alloc_time(storage.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(storage.get(), H5D_FILL_TIME_NEVER);
  Hdf5Handle made(
      H5Dcreate2(file.get(), dataset.c_str(), H5T_NATIVE_DOUBLE, space.get(), link.get(), storage.get(), H5P_DEFAULT),
      H5Dclose);
  check(static_cast<bool>(made));
  if (!attribute.name.empty()) {
    const Hdf5Handle string(H5Tcopy(H5T_C_S1), H5Tclose), scalar(H5Screate(H5S_SCALAR), H5Sclose);
    H5Tset_size(string.get(), attribute.text.size());
    const Hdf5Handle written(
        H5Acreate2(made.get(), attribute.name.c_str(), string.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(written && H5Awrite(written.get(), string.get(), attribute.text.c_str()) >= 0);
  }
  const haddr_t place = bytes == 0 ? 0 : H5Dget_offset(made.get());
  check(place != HADDR_UNDEF);
  check(made.close() && file.close());
  return place;
}

// A row-major samples × features array is the columns of X one after the other.
void write_hdf5(const std::string& path, const std::string& dataset, const MatrixView& X, const Names&) {
  check_name(dataset);
  write_atomically(path, [&](const std::string& temporary) {
    const PlacedFile file(temporary, path);
    std::uint64_t place = lay_out_hdf5(temporary, file, dataset, X.cols(), X.rows());
    const bool gaps = X.outerStride() != X.rows();
    const Index run = gaps ? 1 : X.cols();  // columns at a time
    const auto bytes = static_cast<std::size_t>(run * X.rows()) * sizeof(double);
    for (Index s = 0; s < X.cols(); s += run, place += bytes) {
      file.write(place, X.col(s).data(), bytes);
    }
  });
}

void add_to_hdf5(const std::string& path, const std::string& dataset, const MatrixView& X, const Names& names) {
  write_hdf5(path, dataset, X, names);
}

}  // namespace cgmca::io
