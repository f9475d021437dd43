// Bytes of a file, read in order: plainly, or through zlib.
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
  // Passes over `count` bytes; returns how many there were.
  virtual std::uint64_t skip(std::uint64_t count);
  // How many are left, where that is certain and not merely claimed.
  virtual std::optional<std::uint64_t> remaining() const { return std::nullopt; }
  // Where remaining() is known: goes to a place counted from the first byte.
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

// The contents of a file compressed by gzip, which carries its own length and checksum.
std::unique_ptr<Bytes> gunzip(std::shared_ptr<const File> file);

// Text from a file as a message may quote it: escaped where neither printable nor UTF-8, cut where long.
std::string quoted(std::string_view text);

}  // namespace cgmca::io
