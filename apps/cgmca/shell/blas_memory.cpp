#include "shell/blas_memory.hpp"

#include <cgmca/model.hpp>
#include <cgmca/threads.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "shell/session.hpp"

namespace cgmca::cli {
namespace {

constexpr std::uint64_t kBuffer = std::uint64_t{128} << 20;  // OpenBLAS's BUFFER_SIZE on 64-bit processors
constexpr std::uint64_t kOther = 16 << 20;                   // for the program itself meanwhile

// How many such buffers the process has: those of OpenBLAS's threads, which it starts when it is loaded. Neighbours are
// one mapping.
std::uint64_t buffers_held() {
  std::ifstream maps("/proc/self/maps");
  std::uint64_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0, end = 0;
    char dash = 0;
    std::string rights;
    std::istringstream fields(line);
    fields >> std::hex >> begin >> dash >> end >> rights;
    if (rights == "rw-p" && line.find('/') == std::string::npos) count += (end - begin) / kBuffer;
  }
  return count;
}

bool can_have(std::uint64_t bytes) {
  void* const trial = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (trial == MAP_FAILED) return false;
  ::munmap(trial, bytes);
  return true;
}

std::string limit_text() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "the system has not as much";
  return fmt::format("ulimit -v allows the process {} in all", bytes_text(static_cast<double>(limit.rlim_cur)));
}

}  // namespace

void ask_for_blas_memory(int started) {
  if (!blas_description().starts_with("OpenBLAS")) return;
  const auto wanted = static_cast<std::uint64_t>(std::max({1, started, threads()}));
  const std::uint64_t held = std::min(wanted, buffers_held());
  if (held < wanted && !can_have((wanted - held) * kBuffer + kOther)) {
    throw TooLittleMemory(fmt::format(
        "OpenBLAS needs {} of addresses for each of its {} threads, of which {} have theirs, and {}. Raise the limit{}",
        bytes_text(static_cast<double>(kBuffer)), wanted, held, limit_text(),
        wanted > 1 ? ", or set OPENBLAS_NUM_THREADS=1" : ""));
  }
  constexpr Index large = 256;  // enough for all threads and their buffers
  DomainMap map;
  map.mixing = map.weights = Matrix::Zero(large, large);
  map.matrix();
}

}  // namespace cgmca::cli
