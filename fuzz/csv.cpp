#include "fuzz.hpp"

#include <vector>

namespace cgmca::fuzz {
namespace {

struct Named {
  Matrix X;
  std::vector<std::string> ids, places;
};

// With the first column as IDs, in blocks of `block` samples; nothing where it is refused.
std::optional<Named> read_named(const std::string& path, Index block) {
  Named all;
  try {
    const auto source = io::open_csv(path, "", {.id = "1"});
    for (Matrix X = source->next(block); X.cols() > 0; X = source->next(block)) {
      check(source->ids().size() == static_cast<std::size_t>(X.cols()));
      all.ids.insert(all.ids.end(), source->ids().begin(), source->ids().end());
      for (Index s = all.X.cols(); s < all.X.cols() + X.cols() && all.places.size() < 5; ++s)
        all.places.push_back(source->place(s, 0, false));
      all.X.conservativeResize(X.rows(), all.X.cols() + X.cols());
      all.X.rightCols(X.cols()) = X;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return all;
}

}  // namespace
}  // namespace cgmca::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cgmca;
  fuzz::read_all_ways(io::open_csv, data, size);
  const std::string path = fuzz::file_of(data, size);
  const auto whole = fuzz::read_named(path, std::numeric_limits<Index>::max()), blocks = fuzz::read_named(path, 100);
  fuzz::check(whole.has_value() == blocks.has_value());
  if (whole) fuzz::check(whole->ids == blocks->ids && whole->places == blocks->places);
  return 0;
}
