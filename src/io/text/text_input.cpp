#include "io/text/text_input.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

namespace cgmca::io {
namespace {

class FileText : public TextInput {
 public:
  explicit FileText(const std::string& path) : TextInput(path), file_(std::make_shared<const File>(path)) {}
  std::unique_ptr<Bytes> bytes() const override { return contents_of(file_); }

 private:
  std::shared_ptr<const File> file_;
};

// There is one in a process, however often it is opened.
class StandardInput {
 public:
  static StandardInput& the() {
    static StandardInput input;
    return input;
  }

  // As many of `count` bytes as there are from `place` on.
  std::size_t read_at(std::uint64_t place, void* to, std::size_t count) {
    const std::lock_guard lock(mutex_);
    if (place < begin_)
      throw InvalidInput("standard input can be read only once, from its beginning to its end; save it to a file");
    while (!ended_ && end() < place + count) read_more(place + count - end());
    if (place >= end()) return 0;
    const std::size_t first = static_cast<std::size_t>(place - begin_), some = std::min(count, held_.size() - first);
    std::copy_n(held_.data() + first, some, static_cast<char*>(to));
    return some;
  }

  void forget(std::uint64_t offset) {
    const std::lock_guard lock(mutex_);
    const auto gone = std::min<std::uint64_t>(held_.size(), std::max(offset, begin_) - begin_);
    held_.erase(0, static_cast<std::size_t>(gone));
    begin_ += gone;
  }

 private:
  std::uint64_t end() const { return begin_ + held_.size(); }

  void read_more(std::uint64_t wanted) {
    constexpr std::size_t piece = 1 << 16;
    const std::size_t before = held_.size();
    held_.resize(before + std::max<std::size_t>(piece, static_cast<std::size_t>(wanted)));
    ssize_t got = -1;
    do {
      got = ::read(STDIN_FILENO, held_.data() + before, held_.size() - before);
    } while (got < 0 && errno == EINTR);
    const int reason = errno;
    held_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) throw IoError(fmt::format("cannot read standard input: {}", std::strerror(reason)));
    ended_ = got == 0;
    if (begin_ == 0 && before == 0 && held_.starts_with("\x1f\x8b"))
      throw FormatError("standard input is compressed by gzip; pipe it through zcat");
  }

  std::mutex mutex_;
  std::string held_;
  std::uint64_t begin_ = 0;  // of what is held
  bool ended_ = false;
};

class StandardBytes : public Bytes {
 public:
  std::size_t read(void* to, std::size_t count) override {
    const std::size_t got = StandardInput::the().read_at(position_, to, count);
    position_ += got;
    return got;
  }
  std::uint64_t skip(std::uint64_t count) override {
    position_ += count;
    return count;
  }

 private:
  std::uint64_t position_ = 0;
};

class StandardText : public TextInput {
 public:
  StandardText() : TextInput("standard input") {}
  std::unique_ptr<Bytes> bytes() const override { return std::make_unique<StandardBytes>(); }
  bool repeats() const override { return false; }
  void forget(std::uint64_t offset) const override { StandardInput::the().forget(offset); }
};

}  // namespace

std::shared_ptr<const TextInput> text_input(const std::string& path) {
  if (path == "-") return std::make_shared<StandardText>();
  return std::make_shared<FileText>(path);
}

}  // namespace cgmca::io
