#include "io/array/zip_archive.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace cgmca::io {

// A File for libzip to read. No exception may pass through libzip, so it is kept until libzip
// returns.
class ZipSource {
 public:
  explicit ZipSource(const std::string& path) : file_(path) { zip_error_init(&error_); }
  ~ZipSource() { zip_error_fini(&error_); }
  ZipSource(const ZipSource&) = delete;
  ZipSource& operator=(const ZipSource&) = delete;

  const File& file() const { return file_; }
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  // From now on, first_place() is the first position to which libzip seeks.
  void watch() { first_place_.reset(); }
  std::optional<std::uint64_t> first_place() const { return first_place_; }

  static zip_int64_t callback(void* self, void* data, zip_uint64_t count, zip_source_cmd_t command) {
    return static_cast<ZipSource*>(self)->answer(data, count, command);
  }

 private:
  zip_int64_t answer(void* data, zip_uint64_t count, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_OPEN:
        place_ = 0;
        return 0;
      case ZIP_SOURCE_READ:
        return read(data, count);
      case ZIP_SOURCE_SEEK:
        return seek(data, count);
      case ZIP_SOURCE_TELL:
        return static_cast<zip_int64_t>(place_);
      case ZIP_SOURCE_STAT: {
        auto& status = *static_cast<zip_stat_t*>(data);
        zip_stat_init(&status);
        status.valid = ZIP_STAT_SIZE;
        status.size = file_.size();
        return sizeof status;
      }
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error_, data, count);
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                              ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
                                              ZIP_SOURCE_ACCEPT_EMPTY, -1);
      case ZIP_SOURCE_ACCEPT_EMPTY:  // 0: an empty file is not an archive
      case ZIP_SOURCE_CLOSE:
      case ZIP_SOURCE_FREE:
        return 0;
      default:
        zip_error_set(&error_, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
  }

  zip_int64_t read(void* to, zip_uint64_t count) {
    count = std::min(count, file_.size() - place_);
    try {
      file_.read_at(place_, to, count);
    } catch (...) {
      failure_ = std::current_exception();
      zip_error_set(&error_, ZIP_ER_READ, 0);
      return -1;
    }
    place_ += count;
    return static_cast<zip_int64_t>(count);
  }

  zip_int64_t seek(void* data, zip_uint64_t count) {
    if (const auto* wanted = ZIP_SOURCE_GET_ARGS(zip_source_args_seek_t, data, count, &error_);
        wanted != nullptr && wanted->whence == SEEK_SET && !first_place_) {
      first_place_ = static_cast<std::uint64_t>(wanted->offset);
    }
    const auto place = zip_source_seek_compute_offset(place_, file_.size(), data, count, &error_);
    if (place < 0) return -1;
    place_ = static_cast<std::uint64_t>(place);
    return 0;
  }

  File file_;
  std::uint64_t place_ = 0;
  std::optional<std::uint64_t> first_place_;
  zip_error_t error_{};
  std::exception_ptr failure_;
};

struct DiscardZip {
  void operator()(zip_t* zip) const { zip_discard(zip); }
};

class Archive {
 public:
  explicit Archive(const std::string& path) : source_(path) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const source = zip_source_function_create(&ZipSource::callback, &source_, &error);
    if (source != nullptr) zip_.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
    const std::string reason = zip_error_strerror(&error);
    const int code = zip_error_code_zip(&error);
    zip_error_fini(&error);
    if (!zip_ && source != nullptr) zip_source_free(source);
    source_.rethrow();
    if (code == ZIP_ER_MEMORY) throw IoError(fmt::format("no memory for the directory of '{}'", path));
    if (!zip_ && code == ZIP_ER_NOZIP)
      throw FormatError(fmt::format(
          "'{}' is not an NPZ archive, or a truncated one: its {} bytes hold no ZIP directory", path, file().size()));
    if (!zip_) corrupt(reason);
    read_directory();
  }

  const std::vector<Entry>& entries() const { return entries_; }
  const File& file() const { return source_.file(); }
  ZipSource& source() { return source_; }
  zip_t* get() { return zip_.get(); }

  [[noreturn]] void corrupt(const std::string& how) const {
    throw FormatError(fmt::format("'{}' is a corrupt or truncated NPZ archive: {}", file().path(), how));
  }

 private:
  void read_directory() {
    const zip_int64_t count = zip_get_num_entries(zip_.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      zip_stat_t status;
      const auto index = static_cast<zip_uint64_t>(i);
      const char* const name = zip_get_name(zip_.get(), index, ZIP_FL_ENC_RAW);
      if (name == nullptr || zip_stat_index(zip_.get(), index, 0, &status) != 0)
        corrupt(fmt::format("no entry {} in its directory", i));
      if (std::string_view(name).ends_with('/')) continue;
      entries_.push_back({name, index, status.size, status.comp_size, status.crc, status.comp_method,
                          status.encryption_method != ZIP_EM_NONE});
    }
  }

  ZipSource source_;
  std::unique_ptr<zip_t, DiscardZip> zip_;
  std::vector<Entry> entries_;
};

namespace {

// The contents of a member.
class MemberBytes : public Bytes {
 public:
  MemberBytes(std::shared_ptr<Archive> archive, Entry entry, std::string name, bool share)
      : archive_(std::move(archive)), entry_(std::move(entry)), name_(std::move(name)) {
    if (entry_.encrypted) fail("is encrypted; save it without a password");
    if (entry_.method != ZIP_CM_STORE && entry_.method != ZIP_CM_DEFLATE)
      fail(fmt::format("is compressed by method {}; only stored (0) and deflated (8) members can be read",
                       entry_.method));
    const File& file = archive_->file();
    if (entry_.compressed > file.size())
      fail(fmt::format("is truncated: it promises {} bytes, but the file ends at {}", entry_.compressed, file.size()));
    archive_->source().watch();
    member_.reset(zip_fopen_index(archive_->get(), entry_.index, 0));
    archive_->source().rethrow();
    check_header();
    if (!member_) archive_->corrupt(zip_strerror(archive_->get()));
    if (entry_.method == ZIP_CM_STORE) share ? trust() : verify();
  }

  std::size_t read(void* to, std::size_t count) override {
    auto* const out = static_cast<Bytef*>(to);
    std::size_t done = 0;
    while (done < count && !ended_) {
      const zip_int64_t got = zip_fread(member_.get(), out + done, std::min<std::size_t>(count - done, most_at_once));
      archive_->source().rethrow();
      if (got < 0) refuse();
      if (!verified_) take_note(out + done, static_cast<std::size_t>(got));
      ended_ = got == 0;
      done += static_cast<std::size_t>(got);
      position_ += static_cast<std::uint64_t>(got);
    }
    return done;
  }
  std::uint64_t skip(std::uint64_t count) override {
    if (!verified_) return Bytes::skip(count);
    count = std::min(count, entry_.size - position_);
    seek(position_ + count);
    return count;
  }
  std::optional<std::uint64_t> remaining() const override {
    return verified_ ? std::optional(entry_.size - position_) : std::nullopt;
  }
  void seek(std::uint64_t place) override {
    if (entry_.size == 0) return;  // libzip 1.7 crashes if it seeks in an empty member
    if (zip_fseek(member_.get(), static_cast<zip_int64_t>(place), SEEK_SET) != 0) refuse();
    position_ = place;
    ended_ = false;
  }

 private:
  static constexpr std::size_t most_at_once = 1 << 30;  // the length that crc32 takes is a uInt

  void check_header() const {
    const auto place = archive_->source().first_place();
    const File& file = archive_->file();
    if (!place) return;  // libzip reads nothing for an empty member
    std::string signature(4, '\0');
    if (*place <= file.size() - std::min<std::uint64_t>(file.size(), signature.size()))
      file.read_at(*place, signature.data(), signature.size());
    if (signature != "PK\3\4") archive_->corrupt(fmt::format("no member at byte {} of {}", *place, file.size()));
  }

  // Reads all of it, which verifies the checksum, and goes back to the beginning.
  void verify() {
    skip(std::numeric_limits<std::uint64_t>::max());
    verified_ = true;
    seek(0);
  }

  // Assumes that the bytes are those that the directory states.
  void trust() {
    if (entry_.size != entry_.compressed)
      fail(fmt::format("is corrupt: {} bytes stored as {}", entry_.size, entry_.compressed));
    verified_ = true;
  }

  // Adds the next bytes to the checksum and the count, and compares both at the end (count == 0).
  void take_note(const Bytef* bytes, std::size_t count) {
    crc_ = static_cast<std::uint32_t>(::crc32(crc_, bytes, static_cast<uInt>(count)));
    noted_ += count;
    if (noted_ > entry_.size)
      fail(fmt::format(
          "is corrupt: it holds {} bytes or more with checksum {:08x}, but the archive's directory promises "
          "{} bytes with {:08x}",
          noted_, crc_, entry_.size, entry_.crc));
    if (count == 0 && (noted_ != entry_.size || crc_ != entry_.crc)) broken_promise();
  }

  [[noreturn]] void broken_promise() const {
    // If the checksum matches, the data are complete and the stated size is wrong.
    if (noted_ < entry_.size && crc_ != entry_.crc && entry_.method == ZIP_CM_DEFLATE)
      fail(fmt::format("is truncated: its compressed data stop after {} of {} bytes", noted_, entry_.size));
    fail(fmt::format(
        "is corrupt: {} bytes with checksum {:08x}, but the archive's directory promises {} bytes with {:08x}", noted_,
        crc_, entry_.size, entry_.crc));
  }

  // Reports why libzip could not continue.
  [[noreturn]] void refuse() const {
    zip_error_t* const error = zip_file_get_error(member_.get());
    switch (zip_error_code_zip(error)) {
      case ZIP_ER_CRC:
      case ZIP_ER_INCONS:
        broken_promise();
      case ZIP_ER_EOF:
        fail(fmt::format("is truncated: it promises {} bytes, but the file ends at {}", entry_.compressed,
                         archive_->file().size()));
      case ZIP_ER_MEMORY:
        throw IoError(fmt::format("cannot read '{}': no memory for libzip", name_));
      default:
        throw FormatError(fmt::format("'{}': corrupt compressed data after {} bytes of contents: {}", name_, noted_,
                                      zip_error_strerror(error)));
    }
  }
  [[noreturn]] void fail(const std::string& what) const { throw FormatError(fmt::format("'{}' {}", name_, what)); }

  std::shared_ptr<Archive> archive_;
  Entry entry_;
  std::string name_;
  std::unique_ptr<zip_file_t, decltype([](zip_file_t* file) { zip_fclose(file); })> member_;
  std::uint64_t position_ = 0, noted_ = 0;
  std::uint32_t crc_ = 0;
  bool verified_ = false, ended_ = false;
};

}  // namespace

std::shared_ptr<Archive> open_archive(const std::string& path) { return std::make_shared<Archive>(path); }

const std::vector<Entry>& entries_of(const Archive& archive) { return archive.entries(); }

std::unique_ptr<Bytes> open_member(std::shared_ptr<Archive> archive, const Entry& entry, const std::string& name,
                                   bool share) {
  return std::make_unique<MemberBytes>(std::move(archive), entry, name, share);
}

}  // namespace cgmca::io
