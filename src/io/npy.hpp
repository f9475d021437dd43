// An NPY array wherever it lies: a file of its own, or a member of an NPZ archive.
#pragma once

#include <memory>
#include <string>

#include "bytes.hpp"
#include "source.hpp"

namespace cgmca::io {

std::unique_ptr<BlockReader::Source> npy_source(const std::string& name, std::unique_ptr<Bytes> bytes,
                                                const ReadOptions& options);

}  // namespace cgmca::io
