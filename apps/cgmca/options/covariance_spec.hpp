// --cov and --cov1 to --covM: the covariances to prescribe, in words.
#pragma once

#include <cgmca/covariance.hpp>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cgmca::cli {

struct CovarianceSpecs {
  std::string all;
  std::vector<std::string> each;  // by domain, empty where not given

  bool given() const;
  void check() const;                                  // their form, before any data is read; throws UsageError
  void check(Index domains) const;                     // and whether they suit so many domains
  std::vector<Covariance> parse(Index domains) const;  // one a domain; reads the files they name
};
void add_covariance_options(CLI::App& command, CovarianceSpecs& specs);
// What SPEC may be, a line for each kind of the table.
std::string covariance_table();

}  // namespace cgmca::cli
