// Options that several subcommands share.
#pragma once

#include <cgmca/summary.hpp>
#include <cgmca/types.hpp>
#include <string>

#include "pairs.hpp"
#include "session.hpp"

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

  void check() const;  // throws UsageError
  WriteOptions write(const std::string& variable, std::vector<std::string> feature_names = {}) const;
  std::string id_name() const;  // the header of the keys
};
void add_map_options(CLI::App& command, MapOptions& options);

// By number or name, see parse_domains.
void add_domain_option(CLI::App& command, const std::string& flag, std::string& domain, const std::string& description);

}  // namespace cgmca::cli
