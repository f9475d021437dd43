// Options that several subcommands share.
#pragma once

#include <cgmca/summary.hpp>
#include <cgmca/types.hpp>
#include <optional>
#include <string>

#include "input/pairs.hpp"
#include "output/estimate.hpp"
#include "shell/session.hpp"

namespace cgmca::cli {

void add_output_option(CLI::App& command, std::string& output, const std::string& what, const std::string& description,
                       bool required = true);
void add_accumulate_option(CLI::App& command, Accumulate& accumulate);
void add_device_option(CLI::App& command, Device& device);
// What apply and translate are given, and how their result is written.
struct MapOptions {
  InputOptions input;
  bool columns_out = false;
  Device device = Device::cpu;
  std::optional<bool> single;  // --precision; none: as the inputs
  Limits limits;

  void check() const;  // throws UsageError
  WriteOptions write(const std::string& variable, const std::vector<SampleReader>& readers,
                     std::vector<std::string> feature_names = {}) const;
};
void add_precision_option(CLI::App& command, std::optional<bool>& single);
void add_map_options(CLI::App& command, MapOptions& options);

// By number or name, see parse_domains.
void add_domain_option(CLI::App& command, const std::string& flag, std::string& domain, const std::string& description);

}  // namespace cgmca::cli
