#include "cuda/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace cgmca::cuda {
namespace {

constexpr std::size_t kSmall = std::size_t{4} << 20;  // below it a plain copy is as fast

Bytes columns(const Bytes& all, Index first, Index count) {
  return {static_cast<char*>(all.data) + static_cast<std::size_t>(first) * all.stride, all.height, all.stride, count};
}

void copy_columns(const Bytes& to, const Bytes& from) {
  if (to.height == to.stride && from.height == from.stride) {
    std::memcpy(to.data, from.data, to.size());
    return;
  }
  for (Index j = 0; j < to.columns; ++j) {
    std::memcpy(columns(to, j, 1).data, columns(from, j, 1).data, to.height);
  }
}

// By as many threads as memory can feed.
void copy_side_by_side(const Bytes& to, const Bytes& from) {
  constexpr Index most = 8;
  const Index cores = std::max<Index>(1, static_cast<Index>(std::thread::hardware_concurrency()));
  const Index threads = std::min({most, cores, to.columns});
  if (threads < 2 || to.size() < kSmall) return copy_columns(to, from);
  std::vector<std::jthread> workers;
  for (Index k = 0; k < threads; ++k) {
    const Index first = to.columns * k / threads, end = to.columns * (k + 1) / threads;
    workers.emplace_back([=] { copy_columns(columns(to, first, end - first), columns(from, first, end - first)); });
  }
}

void copy(const Bytes& to, const Bytes& from, cudaMemcpyKind kind, cudaStream_t order) {
  check(cudaMemcpy2DAsync(to.data, to.stride, from.data, from.stride, to.height, static_cast<std::size_t>(to.columns),
                          kind, order),
        "a copy");
}

}  // namespace

Where where(const void* data) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
    cudaGetLastError();
    return Where::pageable;
  }
  if (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged) return Where::device;
  return attributes.type == cudaMemoryTypeHost ? Where::pinned : Where::pageable;
}

void Transfer::prepare() {
  if (pinned_[0] != nullptr) return;
  for (std::size_t k = 0; k < kBuffers; ++k) {
    check(cudaMallocHost(&pinned_[k], kBuffer), "pinned memory");
    check(cudaEventCreateWithFlags(&free_[k], cudaEventDisableTiming), "an event");
  }
}

Index Transfer::columns_of(const Bytes& host) const {
  return std::max<Index>(1, static_cast<Index>(kBuffer / std::max<std::size_t>(1, host.height)));
}

void Transfer::to_device(const Bytes& device, const Bytes& host, cudaStream_t order) {
  if (host.size() == 0) return;
  const Where place = where(host.data);
  if (place != Where::pageable || host.size() < kSmall || host.height > kBuffer) {
    copy(device, host, cudaMemcpyDefault, order);
    if (place != Where::pageable) check(cudaStreamSynchronize(order), "a copy");  // it would read it later
    return;
  }
  prepare();
  const Index step = columns_of(host);
  for (Index first = 0; first < host.columns; first += step) {
    const Index count = std::min(step, host.columns - first);
    const std::size_t k = next_++ % kBuffers;
    const Bytes buffer{pinned_[k], host.height, host.height, count};
    check(cudaEventSynchronize(free_[k]), "a copy");
    copy_side_by_side(buffer, columns(host, first, count));
    copy(columns(device, first, count), buffer, cudaMemcpyHostToDevice, order);
    check(cudaEventRecord(free_[k], order), "an event");
  }
}

void Transfer::to_host(const Bytes& host, const Bytes& device) {
  if (host.size() == 0) return;
  const cudaStream_t order = context_.stream();
  if (where(host.data) != Where::pageable || host.size() < kSmall || host.height > kBuffer) {
    copy(host, device, cudaMemcpyDefault, order);
    return context_.wait();
  }
  prepare();
  const Index step = columns_of(host), parts = (host.columns + step - 1) / step;
  const auto count = [&](Index part) { return std::min(step, host.columns - part * step); };
  const auto buffer = [&](Index part) {
    return Bytes{pinned_[static_cast<std::size_t>(part) % kBuffers], host.height, host.height, count(part)};
  };
  const auto fetch = [&](Index part) {
    copy(buffer(part), columns(device, part * step, count(part)), cudaMemcpyDeviceToHost, order);
    check(cudaEventRecord(free_[static_cast<std::size_t>(part) % kBuffers], order), "an event");
  };
  for (const cudaEvent_t event : free_) check(cudaEventSynchronize(event), "a copy");
  const Index ahead = std::min<Index>(parts, kBuffers);
  for (Index part = 0; part < ahead; ++part) fetch(part);
  for (Index part = 0; part < parts; ++part) {
    check(cudaEventSynchronize(free_[static_cast<std::size_t>(part) % kBuffers]), "a copy");
    copy_side_by_side(columns(host, part * step, count(part)), buffer(part));
    if (part + static_cast<Index>(kBuffers) < parts) fetch(part + static_cast<Index>(kBuffers));
  }
}

}  // namespace cgmca::cuda
