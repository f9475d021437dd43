// Views of the caller's matrices, and work that the caller may stop.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <unistd.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "c/inside.hpp"

namespace cgmca::c {
namespace {

template <class View>
View checked(View view, const char* what) {
  if (view.column_stride == 0) view.column_stride = 1;
  if (view.row_stride == 0) view.row_stride = view.columns;
  if (view.rows < 0 || view.columns < 0 || view.row_stride < 0 || view.column_stride < 0) {
    throw InvalidInput(fmt::format("{} of {} rows and {} columns with strides {} and {}: none may be negative", what,
                                   view.rows, view.columns, view.row_stride, view.column_stride));
  }
  if (view.data == nullptr && view.rows > 0 && view.columns > 0) {
    throw InvalidInput(fmt::format("{} of {} rows and {} columns has no data", what, view.rows, view.columns));
  }
  return view;
}

using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
constexpr Index kTile = 64;  // columns and rows at a time, so that both sides of a transposition stay in the cache

// to = from, whose strides may be those of a transpose.
template <class From, class To>
void copy_in_tiles(const From& from, To&& to) {
  using Scalar = typename std::decay_t<To>::Scalar;
  for (Index j = 0; j < from.cols(); j += kTile) {
    for (Index i = 0; i < from.rows(); i += kTile) {
      const Index rows = std::min(kTile, from.rows() - i), columns = std::min(kTile, from.cols() - j);
      to.block(i, j, rows, columns) = from.block(i, j, rows, columns).template cast<Scalar>();
    }
  }
}

template <class Scalar>
std::shared_ptr<const Matrix> copied(const cgmca_view& view) {
  auto own = std::make_shared<Matrix>(view.columns, view.rows);
  copy_in_tiles(
      Eigen::Map<const Eigen::MatrixX<Scalar>, 0, Strides>(static_cast<const Scalar*>(view.data), view.columns,
                                                           view.rows, Strides(view.row_stride, view.column_stride)),
      *own);
  return own;
}

template <class Scalar>
void write_as(const Matrix& columns, const cgmca_buffer& to) {
  copy_in_tiles(columns, Eigen::Map<Eigen::MatrixX<Scalar>, 0, Strides>(static_cast<Scalar*>(to.data), columns.rows(),
                                                                        columns.cols(),
                                                                        Strides(to.row_stride, to.column_stride)));
}

}  // namespace

Columns::Columns(const cgmca_view& given, Hold hold) : map_(nullptr, 0, 0, Eigen::OuterStride<>(0)) {
  const cgmca_view view = checked(given, "a matrix");
  const double* data = static_cast<const double*>(view.data);
  Index stride = view.row_stride;
  if (hold == Hold::copy || view.is_float != 0 || view.column_stride != 1) {
    own_ = view.is_float != 0 ? copied<float>(view) : copied<double>(view);
    data = own_->data();
    stride = view.columns;
  }
  new (&map_)
      Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>(data, view.columns, view.rows, Eigen::OuterStride<>(stride));
}

std::vector<Columns> columns_of(const cgmca_view* X, int domains, Columns::Hold hold) {
  need(X, "X");
  if (domains < 1) throw InvalidInput(fmt::format("samples of {} domains; at least 1 is needed", domains));
  std::vector<Columns> all;
  for (int i = 0; i < domains; ++i) all.emplace_back(X[i], hold);
  return all;
}

MatchedSamples matched(const std::vector<Columns>& X) {
  MatchedSamples samples;
  for (const Columns& one : X) samples.emplace_back(one.map());
  return samples;
}

Vector sample_weights(const double* weights, Index n) {
  return weights == nullptr ? Vector() : Vector(Eigen::Map<const Vector>(weights, n));
}

void write(const Matrix& columns, const cgmca_buffer* given) {
  need(given, "the buffer for a result");
  const cgmca_buffer to = checked(*given, "a buffer");
  if (to.rows != columns.cols() || to.columns != columns.rows()) {
    throw WrongDimension(fmt::format("the result is {}×{}, the buffer for it {}×{}", columns.cols(), columns.rows(),
                                     to.rows, to.columns));
  }
  to.is_float != 0 ? write_as<float>(columns, to) : write_as<double>(columns, to);
}

Domain domain_of(const Model& model, int domain) {
  if (domain >= 1 && domain <= model.count()) return Domain{domain};
  throw MissingDomain(
      fmt::format("there is no domain {} in this model of {}; they count from 1", domain, model.count()));
}

namespace {

struct Left {};  // thrown into work that nobody waits for

// What the calling thread and the worker share.
struct Exchange {
  std::mutex mutex;
  std::condition_variable changed;
  std::exception_ptr problem;
  bool finished = false;
  std::atomic<bool> left = false;
};

std::atomic<int> left_behind = 0;

// Ends the process without the destructors of BLAS, which would take its memory from work that is still going on.
void end_without_destructors(int status, void*) {
  if (left_behind == 0) return;
  std::fflush(nullptr);
  ::_exit(status);
}

void watch_exit() {
#ifdef __GLIBC__
  static const int registered = ::on_exit(end_without_destructors, nullptr);
  static_cast<void>(registered);
#else
  static const int registered = std::atexit([] {
    while (left_behind > 0) std::this_thread::yield();
  });
  static_cast<void>(registered);
#endif
}

void work_aside(const std::function<void(const Report&)>& work, const std::shared_ptr<Exchange>& shared) {
  std::exception_ptr problem;
  try {
    work([&](double) {
      if (shared->left) throw Left{};
    });
  } catch (...) {
    problem = std::current_exception();
  }
  const std::lock_guard lock(shared->mutex);
  shared->problem = problem;
  shared->finished = true;
  if (shared->left) --left_behind;
  shared->changed.notify_one();
}

// Whether the work has finished, after a moment.
bool finished(Exchange& shared) {
  std::unique_lock lock(shared.mutex);
  shared.changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return shared.finished; });
  return shared.finished;
}

}  // namespace

Columns::Hold hold_for(const cgmca_fit_options& given) {
  return given.stop != nullptr ? Columns::Hold::copy : Columns::Hold::view;
}

void run_stoppable(const cgmca_fit_options& given, const std::function<void(const Report&)>& work) {
  if (given.stop == nullptr) return work([](double) {});
  watch_exit();
  const auto shared = std::make_shared<Exchange>();
  std::thread worker([work, shared] { work_aside(work, shared); });
  while (!finished(*shared)) {
    if (given.stop(given.user) == 0) continue;
    const std::lock_guard lock(shared->mutex);
    if (shared->finished) break;
    shared->left = true;
    ++left_behind;
    worker.detach();
    throw Stopped{};
  }
  worker.join();
  if (shared->problem) std::rethrow_exception(shared->problem);
}

}  // namespace cgmca::c
