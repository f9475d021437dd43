#include "bytes.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
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

FileBytes::FileBytes(std::shared_ptr<const File> file)
    : file_(std::move(file)), begin_(0), end_(file_->size()), position_(0) {}

FileBytes::FileBytes(std::shared_ptr<const File> file, std::uint64_t begin, std::uint64_t end)
    : file_(std::move(file)), begin_(begin), end_(end), position_(begin) {}

std::size_t FileBytes::read(void* to, std::size_t count) {
  count = std::min<std::uint64_t>(count, end_ - position_);
  file_->read_at(position_, to, count);
  position_ += count;
  return count;
}

std::uint64_t FileBytes::skip(std::uint64_t count) {
  count = std::min(count, end_ - position_);
  position_ += count;
  return count;
}

namespace {

// windowBits of inflateInit2
constexpr int raw_deflate = -15, gzip = 15 + 16;

class Inflated : public Bytes {
 public:
  Inflated(std::shared_ptr<const File> file, std::string name, std::uint64_t begin, std::uint64_t end,
           std::optional<Promise> promise)
      : file_(std::move(file)),
        name_(std::move(name)),
        position_(begin),
        end_(end),
        promise_(promise),
        input_(std::min<std::uint64_t>(end - begin, 1 << 16)) {
    if (::inflateInit2(&stream_, promise ? raw_deflate : gzip) != Z_OK)
      throw IoError(fmt::format("cannot read '{}': no memory for zlib", name_));
  }
  ~Inflated() override { ::inflateEnd(&stream_); }

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
      if (promise_) crc_ = static_cast<std::uint32_t>(::crc32(crc_, out + done, made));
      done += made;
      size_ += made;
      judge(status);
    }
    return done;
  }

 private:
  void refill() {
    if (stream_.avail_in > 0) return;
    const std::size_t count = std::min<std::uint64_t>(end_ - position_, input_.size());
    file_->read_at(position_, input_.data(), count);
    position_ += count;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(count);
  }

  void judge(int status) {
    if (status == Z_STREAM_END) return end_of_stream();
    if (status == Z_MEM_ERROR) throw IoError(fmt::format("cannot read '{}': no memory for zlib", name_));
    if (status != Z_OK && status != Z_BUF_ERROR)
      throw FormatError(fmt::format("'{}': corrupt compressed data after {} bytes of contents: {}", name_, size_,
                                    stream_.msg ? stream_.msg : "zlib error"));
    if (promise_ && size_ > promise_->size)
      throw FormatError(
          fmt::format("'{}' holds more than the {} bytes that the archive's directory "
                      "promises",
                      name_, promise_->size));
    // Output space is left, so that zlib lacks input.
    if (stream_.avail_out > 0 && stream_.avail_in == 0 && position_ == end_)
      throw FormatError(
          fmt::format("'{}' is truncated: its compressed data stop after {} bytes of contents", name_, size_));
  }

  void end_of_stream() {
    if (promise_) {
      ended_ = true;
      if (size_ != promise_->size || crc_ != promise_->crc) broken_promise(name_, size_, crc_, *promise_);
      return;
    }
    // A gzip file may consist of several; what else follows is padding, which gzip ignores too.
    refill();
    ended_ = stream_.avail_in == 0 || *stream_.next_in != 0x1f;
    if (!ended_) ::inflateReset(&stream_);
  }

  std::shared_ptr<const File> file_;
  std::string name_;
  std::uint64_t position_, end_;
  std::optional<Promise> promise_;
  std::vector<Bytef> input_;
  z_stream stream_{};
  std::uint64_t size_ = 0;  // of the contents so far
  std::uint32_t crc_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Bytes> gunzip(std::shared_ptr<const File> file) {
  const std::string name = file->path();
  const std::uint64_t end = file->size();
  return std::make_unique<Inflated>(std::move(file), name, 0, end, std::nullopt);
}

std::unique_ptr<Bytes> inflate_part(std::shared_ptr<const File> file, const std::string& name, std::uint64_t begin,
                                    std::uint64_t end, Promise promise) {
  return std::make_unique<Inflated>(std::move(file), name, begin, end, promise);
}

void broken_promise(const std::string& name, std::uint64_t size, std::uint32_t crc, Promise promise) {
  throw FormatError(
      fmt::format("'{}' is corrupt: {} bytes with checksum {:08x}, but the archive's directory promises {} "
                  "bytes with {:08x}",
                  name, size, crc, promise.size, promise.crc));
}

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
