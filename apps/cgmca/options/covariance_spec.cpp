#include "options/covariance_spec.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "input/domains.hpp"
#include "shell/session.hpp"
#include "support/suggest.hpp"

namespace cgmca::cli {
namespace {

struct Spec {
  std::string kind, value;
  Index number = 0;  // of the kinds that take one
};

constexpr const char* kForms =
    "identity, identity:K, correlation:K, likelihood1, likelihood2, data1:T (or the number of another domain), "
    "file:PATH, factor:PATH or sd:PATH";

// 3 of "data3"; 0 where the kind is another.
Index data_domain(const std::string& kind) {
  if (!kind.starts_with("data")) return 0;
  Index which = 0;
  const char* end = kind.data() + kind.size();
  const auto [stop, problem] = std::from_chars(kind.data() + 4, end, which);
  return problem == std::errc() && stop == end ? which : 0;
}

Spec split(const std::string& text) {
  const auto colon = text.find(':');
  Spec spec{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  const std::vector<std::string> kinds = {"identity", "correlation", "likelihood1", "likelihood2", "data1",
                                          "data2",    "file",        "factor",      "sd"};
  if (data_domain(spec.kind) < 1 && std::find(kinds.begin(), kinds.end(), spec.kind) == kinds.end()) {
    throw UsageError(
        fmt::format("there is no covariance '{}'{}: give {}", text, did_you_mean(spec.kind, kinds), kForms));
  }
  if (text == "identity" || text == "likelihood1" || text == "likelihood2") return spec;
  if (spec.kind.starts_with("likelihood")) {
    throw UsageError(fmt::format("the covariance {} uses all directions and takes no number", spec.kind));
  }
  if (spec.value.empty()) throw UsageError(fmt::format("the covariance '{}' needs a value after the ':'", text));
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
  if (const Index which = data_domain(spec.kind); which > 0) {
    return Covariance::data(static_cast<Domain>(which), spec.number);
  }
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
  std::vector<std::string> texts = each;
  texts.push_back(all);
  for (const std::string& text : texts) {
    if (!text.empty()) split(text);
  }
  if (!all.empty() && std::any_of(each.begin(), each.end(), [](const auto& text) { return !text.empty(); })) {
    throw UsageError("--cov prescribes all covariances; give either it or --cov1, --cov2 and so on");
  }
}

void CovarianceSpecs::check(Index domains) const {
  check();
  check_numbered("cov", each, domains);
  std::vector<std::string> texts(each.begin(), each.begin() + std::min<Index>(domains, std::ssize(each)));
  const auto absent = std::find(texts.begin(), texts.end(), "");
  if (all.empty() && given() && absent != texts.end()) {
    const auto present = std::find_if(texts.begin(), texts.end(), [](const auto& text) { return !text.empty(); });
    throw UsageError(fmt::format("--cov{} is given without --cov{}; give one for each domain, or --cov for all",
                                 present - texts.begin() + 1, absent - texts.begin() + 1));
  }
  texts.push_back(all);
  for (const std::string& text : texts) {
    const Index which = text.empty() ? 0 : data_domain(split(text).kind);
    if (which > domains) throw UsageError(fmt::format("the covariance '{}': there are {} domains", text, domains));
  }
}

std::vector<Covariance> CovarianceSpecs::parse(Index domains) const {
  check(domains);
  std::vector<Covariance> result;
  if (all.empty() && given()) {
    for (Index i = 0; i < domains; ++i) result.push_back(parse_one(each[static_cast<std::size_t>(i)]));
    return result;
  }
  return std::vector<Covariance>(static_cast<std::size_t>(domains), parse_one(all.empty() ? "identity" : all));
}

}  // namespace cgmca::cli
