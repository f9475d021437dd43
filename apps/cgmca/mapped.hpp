// Samples of one input or several, block by block: through a map (apply, translate), or to where they are gathered.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "samples.hpp"
#include "session.hpp"

namespace cgmca::cli {

struct Mapped {
  Matrix Y;                      // `features` × n
  Index missing = 0;             // samples with NaN
  std::vector<std::string> ids;  // of the samples (--id), or none
};
// Calls map(X) for all samples of the readers, which are read in step; X has one matrix for each. Only one block of
// inputs is held at a time. Samples with NaN are an error, left out, or NaN in the result, with a message. If missing
// ones are passed, a sample is mapped if one of several inputs has it; the other inputs then hold NaN. Throws
// UnequalSamples, and InvalidInput if the keys (--id) of a sample differ.
Mapped map_samples(const Session& session, std::vector<SampleReader>& readers, Index features, Missing missing,
                   const std::function<Matrix(const std::vector<Matrix>&)>& map);
// The same for one input.
Mapped map_samples(const Session& session, SampleReader& reader, Index features, Missing missing,
                   const std::function<Matrix(const Matrix&)>& map);

// Calls use(X) for each block of samples without NaN. Others are an error, or left out with a message.
void for_complete_samples(const Session& session, const std::string& what, SampleReader& reader, Missing missing,
                          const std::function<void(const Matrix&)>& use);

}  // namespace cgmca::cli
