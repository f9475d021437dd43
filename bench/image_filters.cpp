// wiener2, medfilt2 and ssim over many 28×28 images, timed: bench_image_filters IMAGES.npy REFERENCES.npy SSIM.npy
#include <cgmca/cgmca.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const cgmca::ImageSize size{28, 28};
  const cgmca::Matrix images = cgmca::read(argv[1]), references = cgmca::read(argv[2]);
  double best = std::numeric_limits<double>::infinity();
  cgmca::Vector similarity;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    similarity = ssim(medfilt2(wiener2(images, size), size), references, size);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  cgmca::write(argv[3], similarity.transpose());
  fmt::print("{}\n", best);
  return 0;
}
