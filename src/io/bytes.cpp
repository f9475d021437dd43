#include "io/bytes.hpp"

#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "support/text.hpp"

namespace cgmca::io {

std::uint64_t Bytes::skip(std::uint64_t count) {
  std::vector<std::byte> scratch(std::min<std::uint64_t>(count, 1 << 16));
  std::uint64_t done = 0;
  while (done < count) {
    const std::size_t wanted = std::min<std::uint64_t>(count - done, scratch.size());
    const std::size_t got = read(scratch.data(), wanted);
    done += got;
    if (got < wanted) break;
  }
  return done;
}

FileBytes::FileBytes(std::shared_ptr<const File> file) : file_(std::move(file)) {}

// Divides a large read among threads: if the system has cached the file, reading is copying. Otherwise the disk can read
// the next bytes while the caller works on these.
std::size_t FileBytes::read(void* to, std::size_t count) {
  constexpr std::size_t piece = 1 << 20;
  count = std::min<std::uint64_t>(count, file_->size() - position_);
  const auto read_piece = [&](std::size_t first, std::size_t some) {
    file_->read_at(position_ + first, static_cast<std::byte*>(to) + first, some);
  };
  if (count < 2 * piece) {
    read_piece(0, count);
  } else {
    parallel_for(static_cast<Index>((count + piece - 1) / piece), [&](Index k) {
      const std::size_t first = static_cast<std::size_t>(k) * piece;
      read_piece(first, std::min(piece, count - first));
    });
  }
  position_ += count;
  if (count >= piece) file_->expect(position_, count);
  return count;
}

std::uint64_t FileBytes::skip(std::uint64_t count) {
  count = std::min(count, file_->size() - position_);
  position_ += count;
  return count;
}

namespace {

class Gunzipped : public Bytes {
 public:
  explicit Gunzipped(std::shared_ptr<const File> file)
      : file_(std::move(file)), input_(std::min<std::uint64_t>(file_->size(), 1 << 16)) {
    constexpr int gzip = 15 + 16;  // windowBits
    if (::inflateInit2(&stream_, gzip) != Z_OK) no_memory();
  }
  ~Gunzipped() override { ::inflateEnd(&stream_); }

  std::size_t read(void* to, std::size_t count) override {
    auto* const out = static_cast<Bytef*>(to);
    std::size_t done = 0;
    while (done < count && !ended_) {
      refill();
      const auto room = static_cast<uInt>(std::min<std::size_t>(count - done, std::numeric_limits<uInt>::max()));
      stream_.next_out = out + done;
      stream_.avail_out = room;
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      const uInt made = room - stream_.avail_out;
      done += made;
      size_ += made;
      judge(status);
    }
    return done;
  }

 private:
  void refill() {
    if (stream_.avail_in > 0) return;
    const std::size_t count = std::min<std::uint64_t>(file_->size() - position_, input_.size());
    file_->read_at(position_, input_.data(), count);
    position_ += count;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(count);
  }

  void judge(int status) {
    if (status == Z_STREAM_END) return end_of_stream();
    if (status == Z_MEM_ERROR) no_memory();
    if (status != Z_OK && status != Z_BUF_ERROR)
      throw FormatError(fmt::format("'{}': corrupt compressed data after {} bytes of contents: {}", file_->path(),
                                    size_, stream_.msg ? stream_.msg : "zlib error"));
    // zlib stopped although it has room for output, so it lacks input.
    if (stream_.avail_out > 0 && stream_.avail_in == 0 && position_ == file_->size())
      throw FormatError(
          fmt::format("'{}' is truncated: its compressed data stop after {} bytes of contents", file_->path(), size_));
  }

  // A gzip file may consist of several streams. Anything else that follows is padding, which gzip
  // ignores too.
  void end_of_stream() {
    refill();
    ended_ = stream_.avail_in == 0 || *stream_.next_in != 0x1f;
    if (!ended_) ::inflateReset(&stream_);
  }

  [[noreturn]] void no_memory() const {
    throw IoError(fmt::format("cannot read '{}': no memory for zlib", file_->path()));
  }

  std::shared_ptr<const File> file_;
  std::uint64_t position_ = 0;
  std::vector<Bytef> input_;
  z_stream stream_{};
  std::uint64_t size_ = 0;  // of the contents so far
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Bytes> contents_of(std::shared_ptr<const File> file) {
  std::array<unsigned char, 2> start{};
  if (file->size() >= start.size()) file->read_at(0, start.data(), start.size());
  if (start == std::array<unsigned char, 2>{0x1f, 0x8b}) return gunzip(std::move(file));
  return std::make_unique<FileBytes>(std::move(file));
}

std::unique_ptr<Bytes> gunzip(std::shared_ptr<const File> file) { return std::make_unique<Gunzipped>(std::move(file)); }

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string_view start = text.substr(0, longest);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  // Do not cut within a UTF-8 character, which has at most three bytes after its first.
  while (start.size() < text.size() && start.size() + 3 > longest && (byte(start.size()) & 0xC0) == 0x80)
    start.remove_suffix(1);
  const bool utf8 = as_utf8(start) == start;
  std::string result = "'";
  for (std::size_t i = 0; i < start.size(); ++i) {
    // U+0080 to U+009F are control characters.
    const bool control = (byte(i) == 0xC2 && i + 1 < start.size() && byte(i + 1) < 0xA0) ||
                         (i > 0 && byte(i - 1) == 0xC2 && byte(i) < 0xA0);
    if (byte(i) < 0x80 ? byte(i) >= ' ' && byte(i) != 0x7F : utf8 && !control)
      result += start[i];
    else
      result += fmt::format("\\x{:02x}", byte(i));
  }
  return result + (start.size() < text.size() ? "…'" : "'");
}

}  // namespace cgmca::io
