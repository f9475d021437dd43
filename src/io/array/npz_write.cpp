// NPZ archives, by libzip. Members are stored uncompressed, so that they can be read in any order.
//
// libzip writes to its own temporary file and renames it to the path that it is given. That path is
// the temporary file of write_atomically(). To add a member, the archive is first copied there;
// libzip then copies the members that are not replaced byte by byte.
#include <cgmca/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zip.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/array/npy.hpp"
#include "io/array/zip_archive.hpp"
#include "io/numbers.hpp"
#include "io/source.hpp"
#include "support/atomic_file.hpp"

namespace cgmca::io {
void check_npz_name(const std::string& member) {
  const std::string name = bare(member);
  const bool bad = name.empty() || name.front() == '/' || name.back() == '/' || name.find('\0') != std::string::npos;
  if (bad) throw InvalidInput(fmt::format("'{}' cannot name a member of a .npz file; use a name such as X", name));
}

namespace {

// The bytes of an NPY file in memory. Those of X are not copied, so X must live until the archive
// is closed.
class Fragments {
 public:
  void add_copy(const void* bytes, std::size_t count) {
    copies_.push_back(std::make_unique<std::string>(static_cast<const char*>(bytes), count));
    add(copies_.back()->data(), count);
  }
  void add(const void* bytes, std::size_t count) {
    // libzip takes a pointer to non-const, but does not change the bytes.
    fragments_.push_back({static_cast<zip_uint8_t*>(const_cast<void*>(bytes)), count});
  }
  zip_source_t* source(zip_t* zip) const {
    return zip_source_buffer_fragment(zip, fragments_.data(), fragments_.size(), 0);
  }

 private:
  std::vector<std::unique_ptr<std::string>> copies_;
  std::vector<zip_buffer_fragment_t> fragments_;
};

class ZipWriter {
 public:
  ZipWriter(const std::string& path, std::string target, int flags) : path_(path), target_(std::move(target)) {
    int code = 0;
    zip_.reset(zip_open(path.c_str(), flags, &code));
    if (zip_) return;
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    throw IoError(fmt::format("cannot write '{}': {}", target_, reason));
  }

  // Adds a member, and replaces one of the same name, with or without ".npy".
  void put(const std::string& name, const Fragments& contents) { put(name, contents.source(zip_.get())); }
  void put_file(const std::string& name, const std::string& npy) {
    put(name, zip_source_file(zip_.get(), npy.c_str(), 0, -1));
  }

 private:
  void put(const std::string& name, zip_source_t* source) {
    check(source != nullptr);
    const std::string full = name + std::string(kNpy);
    const zip_int64_t without = zip_name_locate(zip_.get(), name.c_str(), ZIP_FL_ENC_UTF_8);
    if (without >= 0) check(zip_delete(zip_.get(), static_cast<zip_uint64_t>(without)) == 0);
    const zip_int64_t index = zip_file_add(zip_.get(), full.c_str(), source, ZIP_FL_OVERWRITE | ZIP_FL_ENC_UTF_8);
    if (index < 0) zip_source_free(source);
    check(index >= 0);
    const auto place = static_cast<zip_uint64_t>(index);
    constexpr zip_uint16_t first_of_1980 = 1 << 5 | 1;  // as NumPy; a fixed date gives the same bytes
    check(zip_set_file_compression(zip_.get(), place, ZIP_CM_STORE, 0) == 0);
    check(zip_file_set_dostime(zip_.get(), place, 0, first_of_1980, 0) == 0);
  }

 public:
  void remove(const std::string& name) {
    for (const std::string& any : {name, name + std::string(kNpy)}) {
      const zip_int64_t index = zip_name_locate(zip_.get(), any.c_str(), ZIP_FL_ENC_UTF_8);
      if (index >= 0) check(zip_delete(zip_.get(), static_cast<zip_uint64_t>(index)) == 0);
    }
  }

  // written(part) while the members are copied.
  void close(const std::function<void(double part)>& written = {}) {
    if (written) {
      zip_register_progress_callback_with_state(
          zip_.get(), 0.01,
          [](zip_t*, double part, void* call) { (*static_cast<const std::function<void(double)>*>(call))(part); },
          nullptr, const_cast<std::function<void(double)>*>(&written));
    }
    check(zip_close(zip_.get()) == 0);
    static_cast<void>(zip_.release());
    const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
    if (descriptor >= 0) ::close(descriptor);
    if (!synced) throw IoError(fmt::format("cannot write '{}' to the disk", target_));
  }

 private:
  void check(bool good) const {
    if (!good) throw IoError(fmt::format("cannot write '{}': {}", target_, zip_strerror(zip_.get())));
  }

  std::string path_, target_;
  std::unique_ptr<zip_t, decltype([](zip_t* zip) { zip_discard(zip); })> zip_;
};

void put_names(ZipWriter& zip, const std::string& member, const Names& names, const Fragments& texts) {
  if (names.empty())
    zip.remove(member + "_features");  // the names of an array that is replaced
  else
    zip.put(member + "_features", texts);
}

void put_all(const std::string& temporary, const std::string& path, int flags, const std::string& member,
             const MatrixView& X, const Names& names) {
  Fragments array, texts;
  const auto bytes_of_x = [&](const void* bytes) {
    return X.size() > 0 && bytes >= X.data() && bytes < X.data() + X.outerStride() * X.cols();
  };
  put_npy(X, [&](const void* bytes, std::size_t count) {
    bytes_of_x(bytes) ? array.add(bytes, count) : array.add_copy(bytes, count);
  });
  put_npy(names, [&](const void* bytes, std::size_t count) { texts.add_copy(bytes, count); });
  ZipWriter zip(temporary, path, flags);
  zip.put(member, array);
  put_names(zip, member, names, texts);
  zip.close();
}

}  // namespace

void write_npz(const std::string& path, const std::string& member, const MatrixView& X, const Names& names) {
  check_npz_name(member);
  write_atomically(path, [&](const std::string& temporary) {
    put_all(temporary, path, ZIP_CREATE | ZIP_TRUNCATE, bare(member), X, names);
  });
}

void add_to_npz(const std::string& path, const std::string& member, const MatrixView& X, const Names& names) {
  check_npz_name(member);
  open_archive(path);  // reports what is wrong with it, if anything
  write_atomically(path, [&](const std::string& temporary) {
    copy_file(path, temporary);
    put_all(temporary, path, 0, bare(member), X, names);
  });
}

void write_npz(const Product& product, const std::string& npy) {
  check_npz_name(product.member);
  if (product.add) open_archive(product.target);
  write_atomically(product.target, [&](const std::string& temporary) {
    if (product.add) copy_file(product.target, temporary);
    Fragments texts;
    put_npy(product.names, [&](const void* bytes, std::size_t count) { texts.add_copy(bytes, count); });
    ZipWriter zip(temporary, product.target, product.add ? 0 : ZIP_CREATE | ZIP_TRUNCATE);
    zip.put_file(bare(product.member), npy);
    put_names(zip, bare(product.member), product.names, texts);
    const auto n = static_cast<double>(product.X.samples());
    const auto written = [&](double part) { product.written(static_cast<Index>(part * n)); };
    product.written ? zip.close(written) : zip.close();
    if (product.written) product.written(product.X.samples());
  });
}

}  // namespace cgmca::io
