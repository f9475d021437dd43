#include "covariance_spec.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "session.hpp"
#include "support/suggest.hpp"

namespace cgmca::cli {
namespace {

struct Spec {
  std::string kind, value;
  Index number = 0;  // of the kinds that take one
};

constexpr const char* kForms =
    "identity, identity:K, correlation:K, likelihood1, likelihood2, data1:T, data2:T, file:PATH, factor:PATH or "
    "sd:PATH";

Spec split(const std::string& text) {
  const auto colon = text.find(':');
  Spec spec{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  const std::vector<std::string> kinds = {"identity", "correlation", "likelihood1", "likelihood2", "data1",
                                          "data2",    "file",        "factor",      "sd"};
  if (std::find(kinds.begin(), kinds.end(), spec.kind) == kinds.end()) {
    throw UsageError(fmt::format("no covariance '{}'{}: give {}", text, did_you_mean(spec.kind, kinds), kForms));
  }
  if (text == "identity" || text == "likelihood1" || text == "likelihood2") return spec;
  if (spec.kind.starts_with("likelihood")) {
    throw UsageError(fmt::format("the covariance {} uses all directions and takes no number", spec.kind));
  }
  if (spec.value.empty()) throw UsageError(fmt::format("the covariance '{}' lacks what follows the ':'", text));
  if (spec.kind == "identity" || spec.kind == "correlation" || spec.kind.starts_with("data")) {
    const char* end = spec.value.data() + spec.value.size();
    const auto [stop, problem] = std::from_chars(spec.value.data(), end, spec.number);
    if (problem != std::errc() || stop != end || spec.number < 1) {
      throw UsageError(fmt::format("the covariance '{}' needs a whole number of at least 1 after the ':'", text));
    }
  }
  return spec;
}

// Files hold one row of the covariance or factor a row: what io calls a sample.
Covariance parse_one(const std::string& text) {
  const Spec spec = split(text);
  if (text == "identity") return Covariance::largest_identity();
  if (spec.kind == "identity") return Covariance::identity(spec.number);
  if (spec.kind == "correlation") return Covariance::correlation(spec.number);
  if (spec.kind == "likelihood1") return Covariance::likelihood(Domain::one);
  if (spec.kind == "likelihood2") return Covariance::likelihood(Domain::two);
  if (spec.kind == "data1") return Covariance::data(Domain::one, spec.number);
  if (spec.kind == "data2") return Covariance::data(Domain::two, spec.number);
  const Matrix rows = read(spec.value).transpose();
  try {
    if (spec.kind == "file") return Covariance::matrix(rows);
    if (spec.kind == "factor") return Covariance::factor(rows);
    if (rows.rows() != 1 && rows.cols() != 1) {
      throw InvalidInput(
          fmt::format("standard deviations are one row or one column, this is {}×{}", rows.rows(), rows.cols()));
    }
    return Covariance::diagonal(rows.reshaped());
  } catch (const InvalidInput& problem) {
    throw InvalidInput(fmt::format("'{}': {}", spec.value, problem.what()));
  }
}

}  // namespace

void add_covariance_options(CLI::App& command, CovarianceSpecs& specs) {
  auto* both = command.add_option("--cov", specs.both,
                                  "Covariance that both maps' outputs shall have (below); default: identity");
  auto* first = command.add_option("--cov1", specs.first, "Covariance for domain 1 alone, with --cov2");
  auto* second = command.add_option("--cov2", specs.second, "Covariance for domain 2 alone, with --cov1");
  for (auto* option : {both, first, second}) option->option_text("SPEC");
}

void CovarianceSpecs::check() const {
  if (!both.empty() && !(first.empty() && second.empty())) {
    throw UsageError("--cov prescribes both covariances; give either it or --cov1 and --cov2");
  }
  if (first.empty() != second.empty()) {
    throw UsageError(fmt::format("--cov{} is given without --cov{}; give both, or --cov for the two",
                                 first.empty() ? 2 : 1, first.empty() ? 1 : 2));
  }
  for (const auto& text : {both, first, second}) {
    if (!text.empty()) split(text);
  }
}

std::array<Covariance, 2> CovarianceSpecs::parse() const {
  check();
  if (!first.empty()) return {parse_one(first), parse_one(second)};
  const Covariance shared = parse_one(both.empty() ? "identity" : both);
  return {shared, shared};
}

}  // namespace cgmca::cli
