// MATLAB 5 files: described, and every array of numbers in them read. MATLAB 7.3 files are left out, because the HDF5
// library reads those.
#include "io/matlab/mat.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cgmca;
  const std::string path = fuzz::file_of(data, size);
  try {
    if (io::mat_kind(path) != io::MatKind::mat5) return 0;
    const ReadOptions options{.columns = size % 2 == 1, .complex = ComplexAs::stack};
    for (const ArrayInfo& array : io::describe_mat(path).arrays) {
      try {
        const auto source = io::open_mat(path, array.name, options);
        const Matrix X = source->next(std::numeric_limits<Index>::max());
        fuzz::check(X.rows() == source->features() && X.cols() == source->samples());
      } catch (const Error&) {
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
