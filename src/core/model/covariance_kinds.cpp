// The table of all covariances, the rules among them, and specs such as "data1:8".
#include <cgmca/covariance.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "support/suggest.hpp"

namespace cgmca {
namespace {

// The whole text as a number of at least 1, if it is one.
std::optional<Index> whole_number(std::string_view text) {
  Index value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || stop != end || value < 1) return std::nullopt;
  return value;
}

Covariance of_deviations(const Matrix& rows) {
  if (rows.rows() == 1 || rows.cols() == 1) return Covariance::diagonal(rows.reshaped());
  throw InvalidInput(
      fmt::format("standard deviations are one row or one column, this is {}×{}", rows.rows(), rows.cols()));
}

// A kind and its domain, by what stands before the ':'.
struct Named {
  const CovarianceKind* kind;
  Domain domain;
};

std::optional<Named> named(const std::string& name) {
  for (const CovarianceKind& kind : covariance_kinds()) {
    if (!kind.of_domain && name == kind.name) return Named{&kind, Domain::one};
    if (!kind.of_domain || !name.starts_with(kind.name)) continue;
    const auto number = whole_number(std::string_view(name).substr(std::string_view(kind.name).size()));
    if (number && *number <= (kind.two_domains ? 2 : std::numeric_limits<int>::max())) {
      return Named{&kind, static_cast<Domain>(*number)};
    }
  }
  return std::nullopt;
}

Named find(const std::string& spec, const std::string& name) {
  if (const auto found = named(name)) return *found;
  std::vector<std::string> known;
  for (const CovarianceKind& kind : covariance_kinds()) {
    for (const char* domain : {"1", "2"}) known.push_back(std::string(kind.name) + (kind.of_domain ? domain : ""));
  }
  throw InvalidInput(
      fmt::format("there is no covariance '{}'{}: give {}", spec, did_you_mean(name, known), covariance_forms()));
}

const CovarianceKind& row_of(Covariance::Kind kind) {
  const auto is_kind = [kind](const CovarianceKind& row) { return row.kind == kind; };
  return *std::find_if(covariance_kinds().begin(), covariance_kinds().end(), is_kind);
}

Covariance of_file(const CovarianceKind& kind, const std::string& spec, const std::string& path,
                   const std::function<Matrix(const std::string&)>& read_file) {
  if (!read_file) throw InvalidInput(fmt::format("the covariance '{}' names a file; give its numbers instead", spec));
  const Matrix rows = read_file(path);
  try {
    return kind.of_numbers(rows);
  } catch (const InvalidInput& problem) {
    throw InvalidInput(fmt::format("'{}': {}", path, problem.what()));
  }
}

}  // namespace

const std::vector<CovarianceKind>& covariance_kinds() {
  using enum CovarianceTakes;
  using enum Covariance::Kind;
  static const std::vector<CovarianceKind> kinds = {
      {identity, "identity", "identity:K", "plain matching component analysis; without K the most that the data allow",
       false, false, perhaps_number, nullptr},
      {data, "data", "data1:T", "best rank-T approximation of domain 1's own covariance; data2:T, … likewise", true,
       false, number, nullptr},
      {principal, "principal", "principal1:T", "the same in T dimensions, along domain 1's principal directions", true,
       false, number, nullptr},
      {correlation, "correlation", "correlation:K", "K directions, each with its correlation as standard deviation",
       false, false, number, nullptr},
      {likelihood, "likelihood", "likelihood2",
       "nearest is likeliest, for queries of domain 2; needs a ridge or more pairs than features", true, true, nothing,
       nullptr},
      {entries, "file", "file:PATH", "a covariance matrix, K×K", false, false, file,
       [](const Matrix& C) { return Covariance::matrix(C); }},
      {entries, "factor", "factor:PATH", "F of a covariance F Fᵀ, K×P", false, false, file,
       [](const Matrix& F) { return Covariance::factor(F); }},
      {entries, "sd", "sd:PATH", "K standard deviations of independent measurements", false, false, file,
       &of_deviations},
  };
  return kinds;
}

std::string covariance_forms() {
  std::vector<const char*> forms;
  for (const CovarianceKind& kind : covariance_kinds()) forms.push_back(kind.form);
  return fmt::format("{} (or the number of another domain)", fmt::join(forms, ", "));
}

Covariance::Covariance(Kind kind, Index number, Domain domain) : kind_(kind), number_(number), domain_(domain) {
  const CovarianceKind& row = row_of(kind);
  if (number < 1 && row.takes == CovarianceTakes::number) {
    throw InvalidInput(fmt::format("the covariance {}:{}: a number of at least 1 is needed", name(), number));
  }
  description_ = row.takes == CovarianceTakes::nothing || number == 0 ? name() : fmt::format("{}:{}", name(), number);
}

Covariance Covariance::identity(Index k) {
  if (k < 1) throw InvalidInput(fmt::format("identity covariance of dimension {}; at least 1 is needed", k));
  return {Kind::identity, k};
}
Covariance Covariance::largest_identity() { return {Kind::identity, 0}; }
Covariance Covariance::data(Domain domain, Index rank) { return {Kind::data, rank, domain}; }
Covariance Covariance::principal(Domain domain, Index rank) { return {Kind::principal, rank, domain}; }
Covariance Covariance::correlation(Index k) { return {Kind::correlation, k}; }
Covariance Covariance::likelihood(Domain query) { return {Kind::likelihood, 0, query}; }

std::string Covariance::name() const {
  if (kind_ == Kind::entries) return "matrix";
  const CovarianceKind& row = row_of(kind_);
  return row.of_domain ? fmt::format("{}{}", row.name, cgmca::number(domain_)) : row.name;
}

Covariance Covariance::parse(const std::string& spec, const std::function<Matrix(const std::string&)>& read_file) {
  const auto colon = spec.find(':');
  const std::string value = colon == std::string::npos ? "" : spec.substr(colon + 1);
  const auto [kind, domain] = find(spec, spec.substr(0, colon));
  const bool bare = colon == std::string::npos;
  if (kind->takes == CovarianceTakes::nothing) {
    if (bare) return {kind->kind, 0, domain};
    throw InvalidInput(fmt::format("the covariance {} uses all directions and takes no number", spec.substr(0, colon)));
  }
  if (bare && kind->takes == CovarianceTakes::perhaps_number) return {kind->kind, 0, domain};
  if (value.empty()) {
    throw InvalidInput(fmt::format("the covariance '{}' needs a value after the ':', as in {}", spec, kind->form));
  }
  if (kind->takes == CovarianceTakes::file) return of_file(*kind, spec, value, read_file);
  if (const auto number = whole_number(value)) return {kind->kind, *number, domain};
  throw InvalidInput(fmt::format("the covariance '{}' needs a whole number of at least 1 after the ':'", spec));
}

}  // namespace cgmca
