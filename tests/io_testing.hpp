// What the tests of src/io/ share: a folder of their own, messages, and whole matrices.
#pragma once

#include <gtest/gtest.h>
#include <cgmca/error.hpp>

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "io/source.hpp"
#include "testing.hpp"

namespace cgmca {

class FolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "cgmca-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator(folder), {}); }

  std::filesystem::path folder;
};

using testing::fixture;

inline std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void put_bytes(const std::string& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// The message of the E that `work` throws.
template <class E, class Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another type of exception: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

inline void expect_says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
  }
}

// Everything a source holds, in blocks of `block` samples.
inline Matrix drain(BlockReader::Source& source, Index block) {
  Matrix X(source.features(), 0);
  for (Matrix part = source.next(block); part.cols() > 0; part = source.next(block)) {
    EXPECT_LE(part.cols(), block);
    Matrix longer(X.rows(), X.cols() + part.cols());
    longer << X, part;
    X = std::move(longer);
  }
  return X;
}

inline Matrix read_all(io::Opener open, const std::string& path, const std::string& member = "",
                       const ReadOptions& options = {}) {
  return drain(*open(path, member, options), 1'000'000);
}

inline Matrix random_matrix(Index rows, Index columns, unsigned seed = 1) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  Matrix X(rows, columns);
  for (double& x : X.reshaped()) x = normal(generator);
  return X;
}

// X(f, s) = 100 s + f: tells at sight which sample and feature a number came from.
inline Matrix ramp(Index features, Index samples) {
  Matrix X(features, samples);
  for (Index s = 0; s < samples; ++s)
    for (Index f = 0; f < features; ++f) X(f, s) = 100.0 * static_cast<double>(s) + static_cast<double>(f);
  return X;
}

// A disk that is full after `bytes`: writing beyond fails with an error instead of a signal.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit limit_{};
  void (*handler_)(int);
};

// No more memory than `bytes` beyond what is in use. (Sanitizers need more than any limit.)
class LittleMemory {
 public:
#ifdef __SANITIZE_ADDRESS__
  explicit LittleMemory(rlim_t) {}
#else
  explicit LittleMemory(rlim_t bytes) {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    ::getrlimit(RLIMIT_AS, &limit_);
    const rlimit little{pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_AS, &little);
  }
  ~LittleMemory() { ::setrlimit(RLIMIT_AS, &limit_); }
#endif
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;

 private:
  rlimit limit_{};
};

}  // namespace cgmca
