// NPZ, NumPy's format for several arrays: a ZIP archive whose members are NPY arrays.
//
// A ZIP archive is read from its end (all numbers little-endian):
//
//   end record       "PK\5\6" … entries: u16 @10, directory's size: u32 @12, its place: u32 @16,
//                    comment's length: u16 @20, comment
//   zip64 locator    20 bytes just before it, "PK\6\7" … place of the zip64 end record: u64 @8
//   zip64 end        "PK\6\6" … entries: u64 @32, directory's size: u64 @40, its place: u64 @48
//   directory entry  "PK\1\2" … flags: u16 @8, method: u16 @10, CRC: u32 @16, compressed size: u32
//                    @20, size: u32 @24, lengths of name, extra and comment: u16 @28 @30 @32, place
//                    of the member: u32 @42, name @46, extra, comment
//   member           "PK\3\4" … lengths of name and extra: u16 @26 @28, name @30, extra, contents
//
// A u32 of ffffffff in a directory entry stands for a u64 in the extra field number 1. Methods: 0
// stored, 8 deflated. Stored members are verified before anything of them is handed out, deflated
// ones as they are read.
#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "common.hpp"
#include "npy.hpp"
#include "source.hpp"

namespace cgmca::io {
namespace {

constexpr std::uint64_t u32_escape = 0xffffffff;

struct Entry {
  std::string name;
  std::uint64_t flags = 0, method = 0, crc = 0;
  std::uint64_t compressed = 0, size = 0, place = 0;
};

// Little-endian number of `size` bytes, which the caller knows to be there.
std::uint64_t number(std::string_view bytes, std::size_t offset, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  return value;
}

class Archive {
 public:
  explicit Archive(const std::string& path) : file_(std::make_shared<const File>(path)) {
    read_directory(find_directory());
  }

  const std::vector<Entry>& entries() const { return entries_; }

  std::unique_ptr<Bytes> contents(const Entry& entry, const std::string& name) const {
    if (entry.flags & 1) fail(fmt::format("'{}' is encrypted; save it without a password", name));
    if (entry.method != 0 && entry.method != 8)
      fail(
          fmt::format("'{}' is compressed by method {}; only stored (0) and deflated (8) members "
                      "can be read",
                      name, entry.method));
    const std::string local = part(entry.place, 30, "member");
    if (!local.starts_with("PK\3\4")) corrupt("member", entry.place);
    const std::uint64_t begin = entry.place + 30 + number(local, 26, 2) + number(local, 28, 2);
    if (begin > file_->size() || entry.compressed > file_->size() - begin)
      fail(
          fmt::format("'{}' is truncated: it promises {} bytes from byte {} on, but the file ends "
                      "at {}",
                      name, entry.compressed, begin, file_->size()));
    const std::uint64_t end = begin + entry.compressed;
    const Promise promise{entry.size, static_cast<std::uint32_t>(entry.crc)};
    if (entry.method == 8) return inflate_part(file_, name, begin, end, promise);
    verify_stored(name, begin, end, promise);
    return std::make_unique<FileBytes>(file_, begin, end);
  }

 private:
  struct Range {
    std::uint64_t place, size;
  };

  Range find_directory() const {
    // The end record is the last thing but for a comment of at most 65535 bytes.
    const std::uint64_t tail = std::min<std::uint64_t>(file_->size(), 22 + 65535);
    const std::string text = part(file_->size() - tail, tail, "end");
    auto at = text.rfind("PK\5\6");
    while (at != std::string::npos && at + 22 > text.size())
      at = at == 0 ? std::string::npos : text.rfind("PK\5\6", at - 1);
    if (at == std::string::npos)
      fail(
          fmt::format("'{}' is no NPZ archive, or a truncated one: its {} bytes hold no ZIP "
                      "directory",
                      file_->path(), file_->size()));
    const Range range{number(text, at + 16, 4), number(text, at + 12, 4)};
    const bool zip64 = at >= 20 && text.compare(at - 20, 4, "PK\6\7") == 0;
    if (!zip64) return range;
    const std::uint64_t place = number(text, at - 20 + 8, 8);
    const std::string end64 = part(place, 56, "zip64 end record");
    if (!end64.starts_with("PK\6\6")) corrupt("zip64 end record", place);
    return {number(end64, 48, 8), number(end64, 40, 8)};
  }

  void read_directory(Range range) {
    const std::string text = part(range.place, range.size, "directory");
    std::size_t at = 0;
    while (at < text.size()) {
      const auto record = std::string_view(text).substr(at);
      if (!record.starts_with("PK\1\2") || record.size() < 46) corrupt("directory", range.place + at);
      const std::size_t name = number(record, 28, 2), extra = number(record, 30, 2), comment = number(record, 32, 2),
                        length = 46 + name + extra + comment;
      if (record.size() < length) corrupt("directory", range.place + at);
      Entry entry;
      entry.name = record.substr(46, name);
      entry.flags = number(record, 8, 2);
      entry.method = number(record, 10, 2);
      entry.crc = number(record, 16, 4);
      entry.compressed = number(record, 20, 4);
      entry.size = number(record, 24, 4);
      entry.place = number(record, 42, 4);
      widen(entry, record.substr(46 + name, extra));
      if (!entry.name.ends_with('/')) entries_.push_back(std::move(entry));
      at += length;
    }
  }

  // Extra fields: number: u16, size: u16, contents. Field 1 holds the u64 of those that are
  // ffffffff, in this order.
  void widen(Entry& entry, std::string_view extra) const {
    while (extra.size() >= 4) {
      const std::uint64_t id = number(extra, 0, 2), size = number(extra, 2, 2);
      std::string_view field = extra.substr(4, size);
      extra.remove_prefix(std::min<std::size_t>(extra.size(), 4 + size));
      if (id != 1) continue;
      for (std::uint64_t* value : {&entry.size, &entry.compressed, &entry.place}) {
        if (*value != u32_escape) continue;
        if (field.size() < 8) return;
        *value = number(field, 0, 8);
        field.remove_prefix(8);
      }
    }
  }

  void verify_stored(const std::string& name, std::uint64_t begin, std::uint64_t end, Promise promise) const {
    std::vector<Bytef> buffer(std::min<std::uint64_t>(end - begin, 1 << 18));
    std::uint32_t crc = 0;
    for (std::uint64_t at = begin; at < end;) {
      const std::size_t count = std::min<std::uint64_t>(end - at, buffer.size());
      file_->read_at(at, buffer.data(), count);
      crc = static_cast<std::uint32_t>(::crc32(crc, buffer.data(), static_cast<uInt>(count)));
      at += count;
    }
    if (crc != promise.crc || end - begin != promise.size) broken_promise(name, end - begin, crc, promise);
  }

  // The bytes [place, place + size) of the file.
  std::string part(std::uint64_t place, std::uint64_t size, const char* what) const {
    if (place > file_->size() || size > file_->size() - place) corrupt(what, place);
    std::string text(size, '\0');
    file_->read_at(place, text.data(), size);
    return text;
  }
  [[noreturn]] void corrupt(const char* what, std::uint64_t place) const {
    fail(fmt::format("'{}' is a corrupt or truncated NPZ archive: no {} at byte {} of {}", file_->path(), what, place,
                     file_->size()));
  }
  [[noreturn]] static void fail(const std::string& message) { throw FormatError(message); }

  std::shared_ptr<const File> file_;
  std::vector<Entry> entries_;
};

constexpr std::string_view extension = ".npy";

std::string bare(const std::string& name) {
  return name.ends_with(extension) ? name.substr(0, name.size() - extension.size()) : name;
}

}  // namespace

std::unique_ptr<BlockReader::Source> open_npz(const std::string& path, const std::string& member,
                                              const ReadOptions& options) {
  const Archive archive(path);
  const auto& entries = archive.entries();
  const auto named_npy = [](const Entry& entry) { return entry.name.ends_with(extension); };
  const bool any_npy = std::any_of(entries.begin(), entries.end(), named_npy);
  std::vector<Member> members;
  members.reserve(entries.size());
  for (const Entry& entry : entries)
    members.push_back({bare(entry.name), fmt::format("{} bytes", entry.size), named_npy(entry) || !any_npy});
  const std::size_t chosen = choose_member(path, members, bare(member));
  const std::string name = fmt::format("{}:{}", path, members[chosen].name);
  return npy_source(name, archive.contents(entries[chosen], name), options);
}

}  // namespace cgmca::io
