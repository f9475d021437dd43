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
  void check() const;               // that --cov is not given beside --cov1, …; throws UsageError
  void check(Index domains) const;  // and that there is one for each of so many domains, or one for all
  // One for each domain. Reads the files they name. Throws UsageError for a text of another form.
  std::vector<Covariance> parse(Index domains) const;
};
void add_covariance_options(CLI::App& command, CovarianceSpecs& specs);
// What SPEC may be, a line for each kind of the table.
std::string covariance_table();

}  // namespace cgmca::cli
