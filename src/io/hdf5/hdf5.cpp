// .h5, .hdf5: one dataset of a tree of groups, named by its path.
//
// A dataset is an n-dimensional array in row-major order. If the samples are on the first axis, a
// run of samples is a contiguous slab with the same order as the columns of the features × samples
// matrix, and HDF5 reads it directly into that. If they are on the last axis (`columns`), the slab
// is a row-major features × samples matrix. In both cases HDF5 converts integers and floats of any
// width and byte order to double or float, and decompresses chunk by chunk.
//
// Octave (save -hdf5) keeps a variable x as a group /x with an attribute OCTAVE_NEW_FORMAT, and its
// numbers as /x/value with the axes reversed. Such a dataset is read as Octave shows it and as the
// .mat files have it (mat.cpp): its first axis, which is the last in the file, is the samples. `x`
// then names the dataset too.
#include "io/hdf5/hdf5.hpp"

#include "io/common.hpp"
#include "io/describe.hpp"
#include "io/matlab/sparse.hpp"
#include "io/source.hpp"
#include "support/file.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace cgmca::io {
namespace {

struct Description {
  Shape shape;
  std::string kind;     // "float64", "compound", …
  std::string refusal;  // why it cannot be read as numbers, and what to do; empty if it can
  std::optional<ComplexMembers> complex;
};

std::string number_kind(hid_t type) {
  const auto bits = 8 * H5Tget_size(type);
  if (H5Tget_class(type) == H5T_FLOAT) return fmt::format("float{}", bits);
  return fmt::format("{}int{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
}

Description describe(hid_t dataset) {
  Description found;
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
  found.shape = extent_of(dataset);
  switch (H5Tget_class(type.get())) {
    case H5T_INTEGER:
    case H5T_FLOAT:
      found.kind = number_kind(type.get());
      break;
    case H5T_ENUM:
      found.kind = "enum";
      break;  // h5py's bool, read as integers
    case H5T_COMPOUND:
      found.complex = complex_members(type.get());
      if (found.complex) {
        found.kind = fmt::format("complex{}", 8 * H5Tget_size(type.get()));
      } else {
        found.kind = "compound";
        found.refusal = "is a table of records; store its columns as one numeric array";
      }
      break;
    case H5T_STRING:
      found.kind = "string";
      found.refusal = "holds text, not numbers";
      break;
    default:
      found.kind = "of another type";
      found.refusal = "holds neither integers nor floating-point numbers; convert it to one of them";
  }
  if (found.refusal.empty() && H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
    found.refusal = "is empty: it has a type and no shape";
  }
  return found;
}

struct Listing {
  std::vector<Member> members;
  std::exception_ptr failure;
};

herr_t list_link(hid_t group, const char* name, const H5L_info_t* link, void* data) {
  auto& listing = *static_cast<Listing*>(data);
  try {
    if (link->type != H5L_TYPE_HARD) return 0;
    const Hdf5Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
    if (!object) return -1;  // a disk or a file is damaged; the object is not left out without a word
    if (H5Iget_type(object.get()) != H5I_DATASET) return 0;
    const Description found = describe(object.get());
    const std::string shape = found.shape.empty() ? "single" : text(found.shape);
    listing.members.push_back({std::string("/") + name, fmt::format("{} {}", found.kind, shape),
                               found.refusal.empty() && !found.shape.empty()});
    return 0;
  } catch (...) {
    listing.failure = std::current_exception();
    return -1;
  }
}

std::vector<Member> list_datasets(const Hdf5Session& session, hid_t file, const std::string& path) {
  Listing listing;
  const herr_t status = H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, list_link, &listing);
  if (listing.failure) std::rethrow_exception(listing.failure);
  if (status < 0) {
    throw FormatError(fmt::format("'{}' is a damaged HDF5 file: {}", path, session.reason()));
  }
  return listing.members;
}

Hdf5Handle open_file(const Hdf5Session& session, const std::string& path) {
  const std::uint64_t bytes = File(path).size();
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file) {
    throw FormatError(fmt::format("'{}' ({} bytes) is not a readable HDF5 file: {}", path, bytes, session.reason()));
  }
  return file;
}

// Opens a dataset by its name, so that HDF5 follows soft and external links. Two blocks of samples
// may share a chunk. It is decompressed only once if the cache holds all chunks of one step along
// the samples. The cache is made as large as that needs, from 1 MiB (HDF5's default) to 64 MiB.
Hdf5Handle open_dataset(hid_t file, const std::string& name, bool columns) {
  Hdf5Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset) return dataset;
  const Hdf5Handle creation(H5Dget_create_plist(dataset.get()), H5Pclose);
  if (H5Pget_layout(creation.get()) != H5D_CHUNKED) return dataset;

  const Shape shape = describe(dataset.get()).shape;
  const Hdf5Handle type(H5Dget_type(dataset.get()), H5Tclose);
  std::vector<hsize_t> chunk(shape.size());
  if (H5Pget_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()) < 0) return dataset;
  constexpr double most = 64 << 20;
  double bytes = static_cast<double>(H5Tget_size(type.get()));
  const std::size_t sample_axis = columns ? shape.size() - 1 : 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto whole = static_cast<double>(shape[axis]) + static_cast<double>(chunk[axis]);
    bytes *= axis == sample_axis ? static_cast<double>(chunk[axis]) : whole;
  }
  constexpr double hdf5_default = 1 << 20;
  const auto cache = static_cast<std::size_t>(std::clamp(bytes, hdf5_default, most));
  const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  constexpr std::size_t slots = 10007;  // a prime, about a hundred times the usual number of chunks
  H5Pset_chunk_cache(access.get(), slots, cache, H5D_CHUNK_CACHE_W0_DEFAULT);
  dataset = Hdf5Handle();  // HDF5 sets the cache only if no other handle of the dataset is open
  return {H5Dopen2(file, name.c_str(), access.get()), H5Dclose};
}

// Throws if a filter is missing: lzf (of h5py), blosc, zstd and others are plugins.
void check_filters(hid_t dataset, const std::string& where) {
  const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  for (int i = 0; i < H5Pget_nfilters(creation.get()); ++i) {
    std::array<char, 100> name{};
    unsigned flags = 0, settings = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(creation.get(), static_cast<unsigned>(i), &flags, &values, nullptr,
                                               name.size() - 1, name.data(), &settings);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0) {
      throw FormatError(
          fmt::format("{} is compressed by the filter {} ('{}'), which the HDF5 library lacks here; "
                      "store it with gzip",
                      where, filter, name.data()));
    }
  }
}

// The names of the features: from the dataset NAME_features, or from the attribute "features".
std::vector<std::string> stored_names(hid_t file, hid_t dataset, const std::string& name) {
  const Hdf5Handle beside(H5Dopen2(file, (name + std::string(names_suffix)).c_str(), H5P_DEFAULT), H5Dclose);
  return beside ? texts_of_dataset(beside.get()) : features_attribute(dataset);
}

class Hdf5Source final : public BlockReader::Source {
 public:
  Hdf5Source(const std::string& path, const std::string& member, const ReadOptions& options)
      : complex_as_(options.complex) {
    const Hdf5Session session;
    Hdf5Handle file = open_file(session, path);
    std::string name = member.empty() || member.front() == '/' ? member : "/" + member;
    if (name.empty()) {
      const std::vector<Member> members = list_datasets(session, file.get(), path);
      name = members[choose_member(path, members, name)].name;
    }
    if (is_octaves_group(file.get(), name)) name += "/value";
    const bool reversed = is_octaves_value(file.get(), name);
    columns_ = options.columns != reversed;
    Hdf5Handle dataset = open_dataset(file.get(), name, columns_);
    if (!dataset) {
      choose_member(path, list_datasets(session, file.get(), path), name);
      throw FormatError(fmt::format("'{}' in '{}' cannot be opened: {}", name, path, session.reason()));
    }
    where_ = fmt::format("'{}' in '{}'", name, path);
    const Description found = describe(dataset.get());
    if (!found.refusal.empty()) throw FormatError(fmt::format("{} {}", where_, found.refusal));
    if (found.complex && complex_as_ == ComplexAs::refuse)
      throw FormatError(fmt::format("{} {}", where_, complex_refusal()));
    complex_ = found.complex;
    check_filters(dataset.get(), where_);
    const bool stacked = complex_ && complex_as_ == ComplexAs::stack;
    single_ = (!complex_ || stacked) && fits_single(Hdf5Handle(H5Dget_type(dataset.get()), H5Tclose).get());
    set_integers(H5Tget_class(Hdf5Handle(H5Dget_type(dataset.get()), H5Tclose).get()) == H5T_INTEGER);
    const Layout layout(found.shape, columns_, where_);
    shape_.assign(found.shape.begin(), found.shape.end());
    sample_axis_ = layout.sample_axis;
    samples_ = layout.samples;
    features_ = layout.features;
    if (reversed && shape_.size() > 2) {
      std::vector<hsize_t> axes = shape_;
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(sample_axis_));
      order_ = reversed_order(axes);
    }
    set_feature_names(names_as_read(stored_names(file.get(), dataset.get(), name), features(), stacked));
    file_ = std::move(file);
    dataset_ = std::move(dataset);
  }

  ~Hdf5Source() override {
    const Hdf5Session session;
    dataset_.close();
    file_.close();
  }
  Hdf5Source(const Hdf5Source&) = delete;
  Hdf5Source& operator=(const Hdf5Source&) = delete;

  Index features() const override { return complex_ && complex_as_ == ComplexAs::stack ? 2 * features_ : features_; }
  std::optional<Index> samples() const override { return samples_; }
  void skip(Index count) override { position_ += std::min(count, samples_ - position_); }

  bool single() const override { return single_; }
  Matrix next(Index max_samples) override { return take<double>(max_samples); }
  Eigen::MatrixXf next_single(Index max_samples) override { return take<float>(max_samples); }

 private:
  template <class Scalar>
  Dense<Scalar> take(Index max_samples) {
    const Index count = std::min(max_samples, samples_ - position_);
    Dense<Scalar> X = part<Scalar>(count, complex_ ? complex_->real : "");
    if (complex_) X = combined<Scalar>(std::move(X), part<Scalar>(count, complex_->imaginary), complex_as_);
    position_ += count;
    return X;
  }

  // The next samples; for complex numbers the part in the named member.
  template <class Scalar>
  Dense<Scalar> part(Index count, const std::string& member) const {
    Dense<Scalar> X = allocate<Scalar>(features_, count, where_);
    if (X.size() > 0 && columns_) {
      Dense<Scalar> transposed = allocate<Scalar>(count, features_, where_);
      read(transposed.data(), count, member);
      X = transposed.transpose();
    } else if (X.size() > 0) {
      read(X.data(), count, member);
    }
    if (!order_.empty()) X = X(order_, Eigen::all).eval();
    return X;
  }

  template <class Scalar>
  void read(Scalar* numbers, Index count, const std::string& member) const {
    const Hdf5Session session;
    const Hdf5Handle type = number_type<Scalar>(member);
    std::vector<hsize_t> start(shape_.size(), 0), extent = shape_;
    start[sample_axis_] = static_cast<hsize_t>(position_);
    extent[sample_axis_] = static_cast<hsize_t>(count);
    const Hdf5Handle in_file(H5Dget_space(dataset_.get()), H5Sclose);
    const Hdf5Handle in_memory(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose);
    if (H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr) < 0 ||
        H5Dread(dataset_.get(), type.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, numbers) < 0) {
      throw FormatError(fmt::format("{} cannot be read at samples {} to {}: {}", where_, position_,
                                    position_ + count - 1, session.reason()));
    }
  }

  bool columns_ = false, single_ = false;  // columns_: samples are on the last axis of the file
  ComplexAs complex_as_;
  std::optional<ComplexMembers> complex_;
  std::string where_;
  Hdf5Handle file_, dataset_;
  std::vector<hsize_t> shape_;
  std::size_t sample_axis_ = 0;
  std::vector<Index> order_;  // of the features; empty: as they are read
  Index samples_ = 0, features_ = 0, position_ = 0;
};

}  // namespace

std::unique_ptr<BlockReader::Source> open_hdf5(const std::string& path, const std::string& member,
                                               const ReadOptions& options) {
  return std::make_unique<Hdf5Source>(path, member, options);
}

FileInfo describe_hdf5(const std::string& path) {
  FileInfo info{"HDF5", {}};
  std::vector<bool> numeric;
  {
    const Hdf5Session session;
    const Hdf5Handle file = open_file(session, path);
    const std::vector<Member> members = list_datasets(session, file.get(), path);
    const auto is_there = [&](const std::string& name) {
      return std::any_of(members.begin(), members.end(), [&](const Member& member) { return member.name == name; });
    };
    for (const Member& member : members) {
      const std::string& name = member.name;
      if (name.ends_with(names_suffix) && is_there(name.substr(0, name.size() - names_suffix.size()))) continue;
      const Hdf5Handle dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
      const Description found = describe(dataset.get());
      Shape shape = found.shape;
      if (is_octaves_value(file.get(), name)) std::reverse(shape.begin(), shape.end());
      info.arrays.push_back(
          {name, shape_of(shape), found.kind, stored_names(file.get(), dataset.get(), name), std::nullopt});
      numeric.push_back(member.numeric && is_matrix(found.shape) && !found.complex);
    }
  }
  // After the session above has ended, because each source opens its own.
  for (std::size_t i = 0; i < info.arrays.size(); ++i) {
    ArrayInfo& array = info.arrays[i];
    if (!numeric[i]) continue;
    try {
      array.missing = count_missing(*open_hdf5(path, array.name, {}));
    } catch (const FormatError& error) {
      array.type += fmt::format(", which cannot be read: {}", error.what());
    }
  }
  return info;
}

}  // namespace cgmca::io
