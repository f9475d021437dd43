// The bytes of a file, read in order: as they are, or decompressed by zlib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/file.hpp"

namespace cgmca::io {

class Bytes {
 public:
  Bytes() = default;
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  virtual ~Bytes() = default;

  // The next `count` bytes; fewer only at the end.
  virtual std::size_t read(void* to, std::size_t count) = 0;
  // Skips `count` bytes, or fewer at the end; returns how many were skipped.
  virtual std::uint64_t skip(std::uint64_t count);
  // How many bytes are left, if that is certain and not just stated by the file.
  virtual std::optional<std::uint64_t> remaining() const { return std::nullopt; }
  // Goes to a position, counted from the first byte. Only if remaining() is known.
  virtual void seek(std::uint64_t) {}
};

// A file's bytes as they are.
class FileBytes : public Bytes {
 public:
  explicit FileBytes(std::shared_ptr<const File> file);

  std::size_t read(void* to, std::size_t count) override;
  std::uint64_t skip(std::uint64_t count) override;
  std::optional<std::uint64_t> remaining() const override { return file_->size() - position_; }
  void seek(std::uint64_t place) override { position_ = place; }

 private:
  std::shared_ptr<const File> file_;
  std::uint64_t position_ = 0;
};

// The bytes of a file, or of what is compressed in it by gzip, as its first bytes show.
std::unique_ptr<Bytes> contents_of(std::shared_ptr<const File> file);

// The contents of a gzip file. gzip stores their length and checksum, which are verified.
std::unique_ptr<Bytes> gunzip(std::shared_ptr<const File> file);

// Text from a file, as messages quote it: long text is cut, and bytes that are not printable UTF-8
// are escaped.
std::string quoted(std::string_view text);

}  // namespace cgmca::io
