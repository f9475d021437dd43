#include "options/covariance_spec.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "input/domains.hpp"
#include "shell/session.hpp"

namespace cgmca::cli {
namespace {

// Files hold one row of the covariance or factor a row: what io calls a sample.
Covariance parse_one(const std::string& text, Index domains) {
  bool has_form = false;
  const auto read_file = [&](const std::string& path) -> Matrix {
    has_form = true;
    return read(path).transpose();
  };
  try {
    Covariance covariance = Covariance::parse(text, read_file);
    if (number(covariance.domain()) <= domains) return covariance;
  } catch (const InvalidInput& problem) {
    if (has_form) throw;
    throw UsageError(problem.what());
  }
  throw UsageError(fmt::format("the covariance '{}': there are {} domains", text, domains));
}

}  // namespace

std::string covariance_table() {
  std::string text;
  for (const CovarianceKind& kind : covariance_kinds()) text += fmt::format("  {:<13} {}\n", kind.form, kind.meaning);
  return text;
}

void add_covariance_options(CLI::App& command, CovarianceSpecs& specs) {
  command
      .add_option("--cov", specs.all, "Covariance that the outputs of all maps shall have (below); default: identity")
      ->option_text("SPEC");
  add_numbered_options(command, "cov", "SPEC", specs.each, [](std::size_t number) {
    return fmt::format("Covariance for domain {} alone{}", number,
                       number == 1 ? "; the others then need theirs too, --cov2, --cov3, …" : "");
  });
}

bool CovarianceSpecs::given() const {
  return !all.empty() || std::any_of(each.begin(), each.end(), [](const auto& text) { return !text.empty(); });
}

void CovarianceSpecs::check() const {
  if (!all.empty() && std::any_of(each.begin(), each.end(), [](const auto& text) { return !text.empty(); })) {
    throw UsageError("--cov prescribes all covariances; give either it or --cov1, --cov2 and so on");
  }
}

void CovarianceSpecs::check(Index domains) const {
  check();
  check_numbered("cov", each, domains);
  const std::vector<std::string> texts(each.begin(), each.begin() + std::min<Index>(domains, std::ssize(each)));
  const auto absent = std::find(texts.begin(), texts.end(), "");
  if (given() && all.empty() && absent != texts.end()) {
    const auto present = std::find_if(texts.begin(), texts.end(), [](const auto& text) { return !text.empty(); });
    throw UsageError(fmt::format("--cov{} is given without --cov{}; give one for each domain, or --cov for all",
                                 present - texts.begin() + 1, absent - texts.begin() + 1));
  }
}

std::vector<Covariance> CovarianceSpecs::parse(Index domains) const {
  check(domains);
  if (!given() || !all.empty()) {
    return std::vector<Covariance>(static_cast<std::size_t>(domains), parse_one(given() ? all : "identity", domains));
  }
  std::vector<Covariance> result;
  for (Index i = 0; i < domains; ++i) result.push_back(parse_one(each[i], domains));
  return result;
}

}  // namespace cgmca::cli
