// Summaries in files.
#pragma once

#include <memory>
#include <string>

#include "core/base/tensor_file.hpp"
#include "core/summary/state.hpp"

namespace cgmca {

// 1 had two domains, and means that were not relative to an origin. 2 has no weights; 3 has them. 4 has a checksum.
inline constexpr Index kSummaryVersion = 4;
inline const FormatVersions kSummaryVersions(2, kSummaryVersion, 4);

// `prefix` sets several summaries of one file apart.
void pack(TensorWriter& file, const std::string& prefix, const Summary::State& state);
std::unique_ptr<Summary::State> unpack_summary(const TensorReader& file, const std::string& prefix);

}  // namespace cgmca
