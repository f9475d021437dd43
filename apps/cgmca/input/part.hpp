// --part I/N: one of N processes or jobs, each with its share of the pairs.
#pragma once

#include <cgmca/parts.hpp>
#include <cgmca/summary.hpp>
#include <optional>
#include <string>

#include "input/pairs.hpp"

namespace CLI {
class App;
}

namespace cgmca::cli {

void add_part_option(CLI::App& command, std::optional<Part>& part);

// Notes the files that a summary is made of, or which part of them.
void note_inputs(Summary& summary, const PairSources& sources);

}  // namespace cgmca::cli
