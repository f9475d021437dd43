// Where text is read from: a file, plain or compressed by gzip, or standard input.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "io/bytes.hpp"

namespace cgmca::io {

class TextInput {
 public:
  explicit TextInput(std::string path) : path_(std::move(path)) {}
  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;
  virtual ~TextInput() = default;

  const std::string& path() const { return path_; }         // for messages
  virtual std::unique_ptr<Bytes> bytes() const = 0;         // from the first one on
  virtual bool repeats() const { return true; }             // whether any part can be read again
  virtual void forget(std::uint64_t /* offset */) const {}  // nothing before it will be read again

 private:
  std::string path_;
};

// "-" is standard input. What has been read of it is kept until it is forgotten; reading that again throws
// InvalidInput.
std::shared_ptr<const TextInput> text_input(const std::string& path);

}  // namespace cgmca::io
