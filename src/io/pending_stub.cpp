// Formats that another branch brings; deleted when it is merged.
#include <cgmca/error.hpp>

#include "source.hpp"

namespace cgmca::io {

#define CGMCA_PENDING(open)                                                              \
  std::unique_ptr<BlockReader::Source> open(const std::string& path, const std::string&, \
                                            const ReadOptions&) {                        \
    throw FormatError("'" + path + "': this format cannot be read yet");                 \
  }
CGMCA_PENDING(open_mat)
CGMCA_PENDING(open_png_folder)

void write_mat(const std::string& path, const std::string&, const MatrixView&) {
  throw FormatError("'" + path + "': this format cannot be written yet");
}

}  // namespace cgmca::io
