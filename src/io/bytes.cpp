#include "bytes.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

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

std::size_t FileBytes::read(void* to, std::size_t count) {
  count = std::min<std::uint64_t>(count, file_->size() - position_);
  file_->read_at(position_, to, count);
  position_ += count;
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
    // Output space is left, so that zlib lacks input.
    if (stream_.avail_out > 0 && stream_.avail_in == 0 && position_ == file_->size())
      throw FormatError(
          fmt::format("'{}' is truncated: its compressed data stop after {} bytes of contents", file_->path(), size_));
  }

  // A gzip file may consist of several; what else follows is padding, which gzip ignores too.
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

std::unique_ptr<Bytes> gunzip(std::shared_ptr<const File> file) { return std::make_unique<Gunzipped>(std::move(file)); }

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) {
    if (c >= ' ' && c != '\x7f')
      result += c;
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result + (text.size() > longest ? "…'" : "'");
}

}  // namespace cgmca::io
