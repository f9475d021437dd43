// Samples of one input or several, block by block: through a map (apply, translate), or to where they are gathered.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "input/samples.hpp"
#include "output/estimate.hpp"
#include "shell/session.hpp"

namespace cgmca::cli {

// What a map gives of one block: samples as columns, and their keys (--id) or none.
using TakeMapped = std::function<void(const Matrix& Y, const std::vector<std::string>& ids)>;
struct MappedCount {
  Index samples = 0;  // that were handed on
  Index missing = 0;  // samples with NaN
};
// Calls map(X), of so many `features`, for all samples of the readers, which are read in step, and hands on the results
// block by block; X has one matrix for each reader. Only one block is held at a time. Samples with NaN are an error, left
// out, or NaN in the result, with a message. If missing ones are passed, a sample is mapped if one of several inputs has
// it; the other inputs then hold NaN. Throws UnequalSamples, and InvalidInput if the keys (--id) of a sample differ.
MappedCount map_samples(const Session& session, std::vector<SampleReader>& readers, Index features, Missing missing,
                        const std::function<Matrix(const std::vector<Matrix>&)>& map, const TakeMapped& take);

// Opens the values of the nuisance after the other inputs, where samples of this model need them. Throws UsageError
// unless --nuisance is given just there.
void add_nuisance_reader(const Session& session, std::vector<SampleReader>& readers, const std::string& nuisance,
                         const InputOptions& options, const Model& model);
// The blocks of all inputs but the nuisance's, with its values below the features of each.
std::vector<Matrix> with_nuisance(const std::vector<Matrix>& X, const Model& model);

// Samples at a time: those of all inputs, and what is made of them, take about 16 MB.
Index block_samples(const std::vector<SampleReader>& readers, Index features);

// Whether the results are written as floats: as --precision says, or if all inputs hold floats.
bool writes_single(const std::optional<bool>& precision, const std::vector<SampleReader>& readers);

// --dry-run and --mem-limit of commands that map samples: prints shapes, outputs, memory and work, and returns true.
// `outputs` are of `features` each.
bool stop_at_map_estimate(const Session& session, const Limits& limits, const std::vector<SampleReader>& readers,
                          const std::vector<std::string>& outputs, Index features, const WriteOptions& how);

// Throws InvalidInput where the samples handed out last have other keys (--id) in one input than in the first.
void check_same_keys(const std::vector<SampleReader>& inputs);
// c1, c2, …: the header of a text file with points of the common space, if an input has one; else nothing.
std::vector<std::string> names_of_components(const std::string& output, const std::vector<SampleReader>& inputs,
                                             Index k);

// Calls use(X) for each block of samples without NaN. Others are an error, or left out with a message.
void for_complete_samples(const Session& session, const std::string& what, SampleReader& reader, Missing missing,
                          const std::function<void(const Matrix&)>& use);

}  // namespace cgmca::cli
