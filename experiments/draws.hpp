// What experiments that classify share: random draws of matched samples, and figures over them.
#pragma once

#include <cgmca/types.hpp>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace cgmca::experiments {

// Samples that are matched, and the others; both ascending.
struct Draw {
  std::vector<Index> matched, test;
};
Draw draw_matched(Index samples, Index matched, std::uint64_t seed);

// How many samples a share of them is. Throws InvalidInput where fewer than `least` would be matched, or all.
Index matched_count(double fraction, Index samples, Index least);

std::vector<int> at(const std::vector<int>& labels, const std::vector<Index>& places);

// Over the draws. The standard deviation of one draw is 0.
struct Spread {
  double mean = 0, sd = 0;
};
Spread spread(const std::vector<double>& values);
std::string text(const Spread& spread);  // "0.929 ± 0.023"
nlohmann::ordered_json to_json(const Spread& spread);

// Makes the folder of a report. Throws IoError.
void make_folder(const std::string& folder);

}  // namespace cgmca::experiments
