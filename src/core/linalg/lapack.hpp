// What every call of LAPACK and BLAS needs: their integers, checks, workspaces, and the count of what they cost.
#pragma once

#include <fmt/format.h>
#include <lapacke.h>
#include <atomic>
#include <cgmca/error.hpp>
#include <chrono>
#include <limits>
#include <optional>
#include <vector>

#include "core/linalg/linalg.hpp"

namespace cgmca::linalg {

constexpr double kLargestInt = static_cast<double>(std::numeric_limits<lapack_int>::max());

inline lapack_int narrow(Index size) {
  if (size > std::numeric_limits<lapack_int>::max()) {
    throw InvalidInput(fmt::format("a dimension of {} is beyond this LAPACK's largest, {}", size,
                                   std::numeric_limits<lapack_int>::max()));
  }
  return static_cast<lapack_int>(size);
}

// LAPACK wants a leading dimension of at least 1, even for an empty matrix.
inline lapack_int leading(const auto& A) { return narrow(std::max<Index>(1, A.outerStride())); }

// Callers have checked the data: a shape that does not fit here is our mistake.
inline void require(bool holds, const char* what) {
  if (!holds) throw InternalError(fmt::format("linalg: {}", what));
}

// A negative info is our mistake, never the data's.
inline void check(const char* routine, lapack_int info) {
  if (info < 0) throw InternalError(fmt::format("{}: argument {} is illegal", routine, -info));
  if (info > 0) throw NumericalFailure(fmt::format("{}: failed with info = {}", routine, info));
}

// The workspace a routine asked for, where LAPACK's integers can express it.
inline std::optional<std::vector<double>> workspace(double asked) {
  if (!(asked >= 0) || asked >= kLargestInt) return std::nullopt;
  return std::vector<double>(std::max<std::size_t>(1, static_cast<std::size_t>(asked)));
}

struct Counted {
  std::atomic<double> operations{0}, seconds{0};
};
Counted& counter(Work work);

// Counts the given operations, and the time until it is destroyed.
class Counting {
 public:
  Counting(Work work, double operations) : counter_(counter(work)) {
    counter_.operations.fetch_add(operations, std::memory_order_relaxed);
  }
  ~Counting() {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    counter_.seconds.fetch_add(passed.count(), std::memory_order_relaxed);
  }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

 private:
  Counted& counter_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

inline double real(Index n) { return static_cast<double>(n); }

}  // namespace cgmca::linalg
