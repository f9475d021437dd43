// --max-rank, --ridge, --extra1, --extra2 and so on: what helps where matched samples are few.
#pragma once

#include <cgmca/fit.hpp>
#include <cgmca/verify.hpp>
#include <optional>
#include <string>
#include <vector>

#include "input/samples.hpp"
#include "shell/session.hpp"

namespace CLI {
class App;
}

namespace cgmca::cli {

std::vector<Towards> parse_towards(const std::string& list);  // throws UsageError
Ridge parse_ridge(const std::string& text);                   // a number or "auto"; throws UsageError
std::optional<double> parse_number(const std::string& text);
std::vector<std::string> split_list(const std::string& text);                        // "1,2,5"
Index parse_count(const std::string& option, const std::string& text, Index least);  // throws UsageError

// Files of samples without partner, one for each domain, any may be absent.
struct ExtraSources {
  std::vector<std::string> paths;  // by domain, empty where not given
  InputOptions input;
};
void add_extra_options(CLI::App& command, ExtraSources& extra);
using ExtraSamples = std::vector<std::optional<Summary>>;  // one a domain
// Features are put into the order of the domains' names.
ExtraSamples read_extra(const Session& session, const ExtraSources& sources, const std::vector<DomainInfo>& domains);
void verify_extra(const Session& session, Verifier& verifier, const ExtraSources& sources, const Model& model,
                  const std::string& model_path);
std::vector<const Summary*> pointers(const ExtraSamples& extra);

struct RegularizationSpecs {
  std::string max_rank, ridge;  // "50" for all domains or "50,80"

  std::string towards;  // "zero", "identity" or both; empty: the default
  bool given() const { return !max_rank.empty() || !ridge.empty(); }
  void check() const;                         // their form; throws UsageError
  Regularization parse(Index domains) const;  // throws UsageError
};
// --scale: features are divided by their standard deviations.
void add_scale_option(CLI::App& command, bool& scale);
void add_regularization_options(CLI::App& command, RegularizationSpecs& specs);

}  // namespace cgmca::cli
