// Matrices between the host and the device.
//
// Pageable memory, which most matrices of a program are in, is copied by several threads into pinned buffers, from
// which the device fetches it while the next part is copied: plain copies of pageable memory reach an eighth of the
// speed.
#pragma once

#include <array>
#include <cgmca/types.hpp>

#include "cuda/context.hpp"

namespace cgmca::cuda {

// `columns` columns of `height` bytes each, `stride` bytes apart.
struct Bytes {
  void* data;
  std::size_t height, stride;
  Index columns;

  std::size_t size() const { return height * static_cast<std::size_t>(columns); }
};

class Transfer {
 public:
  explicit Transfer(const Context& context) : context_(context) {}

  // The host's memory has been read when this returns; the device's is written in the order of the stream.
  void to_device(const Bytes& device, const Bytes& host, cudaStream_t order);
  // Both done when this returns.
  void to_host(const Bytes& host, const Bytes& device);

 private:
  static constexpr std::size_t kBuffer = std::size_t{32} << 20;
  static constexpr std::size_t kBuffers = 4;

  void prepare();
  Index columns_of(const Bytes& host) const;  // that fit into a buffer

  const Context& context_;
  std::array<void*, kBuffers> pinned_{};
  std::array<cudaEvent_t, kBuffers> free_{};  // when the device has done with a buffer
  std::size_t next_ = 0;
};

enum class Where { pageable, pinned, device };
Where where(const void* data);

}  // namespace cgmca::cuda
