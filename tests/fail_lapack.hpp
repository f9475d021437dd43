// LAPACK routines that fail when told to. Include it in one file of a test program: what it defines takes precedence
// over liblapacke's, so that cgmca, linked into the same program, calls these.
//
//   const FailLapack failing("gesdd");      // every dgesdd reports info = 1 while this lives
//   const FailLapack twice("syevd", 2);     // the next two
//   const FailLapack ours("gesvd", 1, -4);  // an illegal fourth argument
//   const WrongLapack wrong("gesdd", 1.001);  // does its work, reports success, and multiplies the values by that
//
// A routine that fails leaves NaN in everything it may write to. Questions for the workspace are answered as always.
#pragma once

#include <dlfcn.h>
#include <lapacke.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

namespace cgmca::testing {

class FailLapack {
 public:
  explicit FailLapack(const char* routine, int times = std::numeric_limits<int>::max(), lapack_int info = 1)
      : routine_(routine) {
    const std::lock_guard lock(mutex());
    failures()[routine_] = {times, info};
  }
  ~FailLapack() {
    const std::lock_guard lock(mutex());
    failures().erase(routine_);
  }
  FailLapack(const FailLapack&) = delete;
  FailLapack& operator=(const FailLapack&) = delete;

  // The info that this call of the routine is to report; 0 where it is to do its work.
  static lapack_int info(const char* routine) {
    const std::lock_guard lock(mutex());
    const auto found = failures().find(routine);
    if (found == failures().end() || found->second.times == 0) return 0;
    --found->second.times;
    return found->second.info;
  }

 private:
  struct Failure {
    int times;
    lapack_int info;
  };
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::map<std::string, Failure>& failures() {
    static std::map<std::string, Failure> all;
    return all;
  }
  std::string routine_;
};

// A routine that reports success with singular values or eigenvalues that are wrong by a factor, NaN for instance.
class WrongLapack {
 public:
  WrongLapack(const char* routine, double factor) : routine_(routine) {
    const std::lock_guard lock(mutex());
    factors()[routine_] = factor;
  }
  ~WrongLapack() {
    const std::lock_guard lock(mutex());
    factors().erase(routine_);
  }
  WrongLapack(const WrongLapack&) = delete;
  WrongLapack& operator=(const WrongLapack&) = delete;

  static lapack_int spoiled(const char* routine, lapack_int info, double* values, lapack_int count) {
    const std::lock_guard lock(mutex());
    const auto found = factors().find(routine);
    if (found == factors().end()) return info;
    std::for_each(values, values + count, [&](double& value) { value *= found->second; });
    return info;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::map<std::string, double>& factors() {
    static std::map<std::string, double> all;
    return all;
  }
  std::string routine_;
};

// liblapacke's own function of this name.
template <class Function>
Function lapacke(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) throw std::runtime_error(std::string("no shared library holds ") + name);
  return reinterpret_cast<Function>(found);
}

inline void spoil(double* A, lapack_int columns, lapack_int leading) {  // A: leading×columns
  std::fill_n(A, static_cast<std::ptrdiff_t>(columns) * leading, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace cgmca::testing

extern "C" {

lapack_int LAPACKE_dgesdd_work(int layout, char job, lapack_int m, lapack_int n, double* A, lapack_int lda, double* s,
                               double* U, lapack_int ldu, double* VT, lapack_int ldvt, double* work, lapack_int lwork,
                               lapack_int* iwork) {
  using namespace cgmca::testing;
  if (const lapack_int info = lwork < 0 ? 0 : FailLapack::info("gesdd"); info != 0) {
    spoil(A, n, lda);
    spoil(s, 1, std::min(m, n));
    spoil(U, job == 'S' ? std::min(m, n) : m, ldu);
    spoil(VT, n, ldvt);
    return info;
  }
  static const auto real = lapacke<decltype(&LAPACKE_dgesdd_work)>("LAPACKE_dgesdd_work");
  const lapack_int info = real(layout, job, m, n, A, lda, s, U, ldu, VT, ldvt, work, lwork, iwork);
  return lwork < 0 ? info : WrongLapack::spoiled("gesdd", info, s, std::min(m, n));
}

lapack_int LAPACKE_dgesvd_work(int layout, char job_u, char job_vt, lapack_int m, lapack_int n, double* A,
                               lapack_int lda, double* s, double* U, lapack_int ldu, double* VT, lapack_int ldvt,
                               double* work, lapack_int lwork) {
  using namespace cgmca::testing;
  if (const lapack_int info = lwork < 0 ? 0 : FailLapack::info("gesvd"); info != 0) {
    spoil(A, n, lda);
    spoil(s, 1, std::min(m, n));
    spoil(U, job_u == 'S' ? std::min(m, n) : m, ldu);
    spoil(VT, n, ldvt);
    return info;
  }
  static const auto real = lapacke<decltype(&LAPACKE_dgesvd_work)>("LAPACKE_dgesvd_work");
  const lapack_int info = real(layout, job_u, job_vt, m, n, A, lda, s, U, ldu, VT, ldvt, work, lwork);
  return lwork < 0 ? info : WrongLapack::spoiled("gesvd", info, s, std::min(m, n));
}

lapack_int LAPACKE_dgesvj_work(int layout, char job_a, char job_u, char job_v, lapack_int m, lapack_int n, double* A,
                               lapack_int lda, double* s, lapack_int mv, double* V, lapack_int ldv, double* work,
                               lapack_int lwork) {
  using namespace cgmca::testing;
  if (const lapack_int info = FailLapack::info("gesvj"); info != 0) {
    spoil(A, n, lda);
    spoil(s, 1, n);
    spoil(V, n, ldv);
    return info;
  }
  static const auto real = lapacke<decltype(&LAPACKE_dgesvj_work)>("LAPACKE_dgesvj_work");
  return real(layout, job_a, job_u, job_v, m, n, A, lda, s, mv, V, ldv, work, lwork);
}

lapack_int LAPACKE_dsyevd_work(int layout, char job, char uplo, lapack_int n, double* A, lapack_int lda, double* values,
                               double* work, lapack_int lwork, lapack_int* iwork, lapack_int liwork) {
  using namespace cgmca::testing;
  if (const lapack_int info = lwork < 0 ? 0 : FailLapack::info("syevd"); info != 0) {
    spoil(A, n, lda);
    spoil(values, 1, n);
    return info;
  }
  static const auto real = lapacke<decltype(&LAPACKE_dsyevd_work)>("LAPACKE_dsyevd_work");
  const lapack_int info = real(layout, job, uplo, n, A, lda, values, work, lwork, iwork, liwork);
  return lwork < 0 ? info : WrongLapack::spoiled("syevd", info, values, n);
}

lapack_int LAPACKE_dsyev_work(int layout, char job, char uplo, lapack_int n, double* A, lapack_int lda, double* values,
                              double* work, lapack_int lwork) {
  using namespace cgmca::testing;
  if (const lapack_int info = lwork < 0 ? 0 : FailLapack::info("syev"); info != 0) {
    spoil(A, n, lda);
    spoil(values, 1, n);
    return info;
  }
  static const auto real = lapacke<decltype(&LAPACKE_dsyev_work)>("LAPACKE_dsyev_work");
  const lapack_int info = real(layout, job, uplo, n, A, lda, values, work, lwork);
  return lwork < 0 ? info : WrongLapack::spoiled("syev", info, values, n);
}

}  // extern "C"
