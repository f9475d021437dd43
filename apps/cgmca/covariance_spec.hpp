// --cov, --cov1 and --cov2: the covariances to prescribe, in words.
#pragma once

#include <array>
#include <cgmca/covariance.hpp>
#include <string>

namespace CLI {
class App;
}

namespace cgmca::cli {

struct CovarianceSpecs {
  std::string both, first, second;

  bool given() const { return !both.empty() || !first.empty() || !second.empty(); }
  void check() const;                       // their form, before any data is read; throws UsageError
  std::array<Covariance, 2> parse() const;  // reads the files they name
};
void add_covariance_options(CLI::App& command, CovarianceSpecs& specs);

}  // namespace cgmca::cli
