#include "options/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "input/mapped.hpp"
#include "support/choice.hpp"

namespace cgmca::cli {

void add_output_option(CLI::App& command, std::string& output, const std::string& what, const std::string& description,
                       bool required) {
  command.add_option("-o,--output", output, description)->required(required)->option_text(what);
}

void add_accumulate_option(CLI::App& command, Accumulate& accumulate) {
  const auto choose = [&accumulate](const std::string& text) {
    accumulate = need_choice(text, kAccumulates, "way to accumulate");
  };
  command
      .add_option_function<std::string>("--accumulate", choose,
                                        "How pairs are gathered: qr (accurate), gram (less work, but it squares "
                                        "the condition number), auto (gram only while proven safe; the default)")
      ->check(CLI::IsMember(names_of(kAccumulates)))
      ->option_text(fmt::format("{}", fmt::join(names_of(kAccumulates), "|")));
}

void add_device_option(CLI::App& command, Device& device) {
  const auto choose = [&device](const std::string& text) { device = need_choice(text, kDevices, "device"); };
  command
      .add_option_function<std::string>("--device", choose,
                                        "Where the linear algebra is done: cpu (the default), cuda (an NVIDIA GPU), "
                                        "auto (a GPU if one can be used); cgmca --version shows what was found")
      ->check(CLI::IsMember(names_of(kDevices)))
      ->option_text(fmt::format("{}", fmt::join(names_of(kDevices), "|")));
}

void add_map_options(CLI::App& command, MapOptions& options) {
  add_input_options(command, options.input, true);
  add_device_option(command, options.device);
  command.add_flag("--columns-out", options.columns_out, "Samples are the output's columns, whatever the input has");
  add_precision_option(command, options.single);
  add_limit_options(command, options.limits);
}

void add_precision_option(CLI::App& command, std::optional<bool>& single) {
  command
      .add_option_function<std::string>(
          "--precision", [&single](const std::string& text) { single = text == "single"; },
          "Of the numbers written: single or double; default: single if the inputs hold floating-point numbers of "
          "single precision. All is computed in double precision")
      ->check(CLI::IsMember({"single", "double"}))
      ->option_text("single|double");
}

void MapOptions::check() const {
  if (input.names_id() && (input.columns || columns_out)) {
    throw UsageError("--id names a column of keys, so samples must be rows: leave out --columns and --columns-out");
  }
}

WriteOptions MapOptions::write(const std::string& variable, const std::vector<SampleReader>& readers,
                               std::vector<std::string> feature_names) const {
  const bool place = std::all_of(input.id.begin(), input.id.end(), [](char c) { return c >= '0' && c <= '9'; });
  return {.columns = input.columns || columns_out,
          .feature_names = std::move(feature_names),
          .variable = variable,
          .single = writes_single(single, readers),
          .id_name = place ? "id" : input.id};
}

void add_domain_option(CLI::App& command, const std::string& flag, std::string& domain,
                       const std::string& description) {
  command.add_option(flag, domain, description)->required()->option_text("DOMAIN");
}

}  // namespace cgmca::cli
