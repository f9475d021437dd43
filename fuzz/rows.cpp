// Any bytes at all after the first lines of an index of rows: refused, or an index with which the file is read without
// harm. A wrong index may lead to other rows, never outside of the file.
#include <fmt/format.h>
#include <sys/stat.h>

#include "fuzz.hpp"

namespace cgmca::fuzz {
namespace {

const std::string& text_file() {
  static const std::string path = [] {
    std::string folder = "/tmp/fuzz-rows-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    std::string name = folder + "/a.csv";
    std::string lines = "a,b\n";
    for (int row = 0; row < 50; ++row) lines += fmt::format("{}.5,{}\n", row, 2 * row);
    put(name, lines);
    return name;
  }();
  return path;
}

std::string state_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) std::abort();
  return fmt::format("{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

}  // namespace
}  // namespace cgmca::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cgmca;
  const std::string& path = fuzz::text_file();
  static const std::string state = fuzz::state_of(path);
  fuzz::put(row_index_of(path), fmt::format("cgmca-rows 1\n{}\n", state) + std::string(data, data + size));
  try {
    const auto source = io::open_csv(path, "", {});
    source->count();
    const Index samples = *source->samples();
    fuzz::check(samples >= 0);
    source->skip(samples / 2);
    for (Index read = source->next(7).cols(); read > 0;) read = source->next(7).cols();
  } catch (const Error&) {
  }
  return 0;
}
