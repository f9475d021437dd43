#include <cgmca/blas_kernels.hpp>
#include <cgmca/error.hpp>
#include <cgmca/threads.hpp>

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/blas_config.hpp"

namespace cgmca {
namespace {

// The names of a wheel's own OpenBLAS have a prefix (cmake/ScipyOpenBLAS.cmake).
#ifndef CGMCA_BLAS_PREFIX
#define CGMCA_BLAS_PREFIX ""
#endif

// The BLAS is chosen at link or even at run time, so its thread controls are looked up by name.
template <class Function>
Function* find(const char* symbol) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, symbol));
}

}  // namespace

namespace {
std::mutex serial_mutex;
int serial_count = 0, threads_before = 0;
thread_local int own_workers = 0;  // 0: as many as are set for BLAS
}  // namespace

SerialBlas::SerialBlas(int workers) : before_(std::exchange(own_workers, workers)) {
  const std::lock_guard lock(serial_mutex);
  if (serial_count++ > 0) return;
  threads_before = threads();
  if (threads_before > 1) set_threads(1);
}

SerialBlas::~SerialBlas() {
  own_workers = before_;
  const std::lock_guard lock(serial_mutex);
  if (--serial_count == 0 && threads_before > 1) set_threads(threads_before);
}

int worker_count() {
  if (own_workers > 0) return own_workers;
  const std::lock_guard lock(serial_mutex);
  const int set = serial_count > 0 ? threads_before : threads();
  return set > 0 ? set : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int threads() {
  for (const char* symbol :
       {CGMCA_BLAS_PREFIX "openblas_get_num_threads", "MKL_Get_Max_Threads", "bli_thread_get_num_threads"}) {
    if (auto* get = find<int()>(symbol)) return get();
  }
  return 0;
}

void set_threads(int count) {
  if (count < 1) throw InvalidInput(fmt::format("{} threads asked for; at least 1 is needed", count));
  for (const char* symbol : {CGMCA_BLAS_PREFIX "openblas_set_num_threads", "MKL_Set_Num_Threads"}) {
    if (auto* set = find<void(int)>(symbol)) return set(count);
  }
  if (auto* set = find<void(long)>("bli_thread_set_num_threads")) set(count);
}

std::string blas_config() {
  if (auto* config = find<char*()>(CGMCA_BLAS_PREFIX "openblas_get_config")) return config();
  if (find<int()>("MKL_Get_Max_Threads") != nullptr) return "Intel MKL";
  if (auto* version = find<const char*()>("bli_info_get_version_str")) return fmt::format("BLIS {}", version());
  return "unknown BLAS";
}

std::string blas_description() {
  const auto slow = slow_kernels();
  if (!slow) return blas_config();
  return fmt::format(
      "{}; its kernels '{}' are several times slower than this processor allows: set "
      "OPENBLAS_CORETYPE={} before the program starts",
      blas_config(), slow->used, slow->faster);
}

}  // namespace cgmca
