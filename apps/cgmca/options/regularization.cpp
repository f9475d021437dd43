#include "options/regularization.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>

#include "input/domains.hpp"
#include "input/mapped.hpp"
#include "input/pairs.hpp"
#include "support/choice.hpp"

namespace cgmca::cli {
namespace {

// One value for all domains or one each.
template <class T>
PerDomain<T> per_domain(const std::string& option, const std::string& text, Index domains,
                        const std::function<T(const std::string&)>& parse) {
  std::vector<T> values;
  for (const std::string& part : split_list(text)) values.push_back(parse(part));
  if (values.size() == 1 || std::ssize(values) == domains) return PerDomain<T>(values);
  throw UsageError(fmt::format("{} takes one value for all domains or {} as in {}, not '{}'", option, domains,
                               domains == 2 ? "A,B" : "A,B,C", text));
}

Index parse_max_rank(const std::string& text) { return parse_count("--max-rank", text, 1); }

}  // namespace

std::vector<std::string> split_list(const std::string& text) { return CLI::detail::split(text, ','); }

Index parse_count(const std::string& option, const std::string& text, Index least) {
  Index value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || stop != end || value < least) {
    throw UsageError(fmt::format("{} needs whole numbers of at least {}, not '{}'", option, least, text));
  }
  return value;
}

std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<Towards> parse_towards(const std::string& list) {
  std::vector<Towards> result;
  if (list.empty()) return result;
  for (const std::string& text : split_list(list)) {
    const auto found = find_choice(text, kTowards);
    if (!found) throw UsageError(fmt::format("--towards has no '{}': give zero or identity", text));
    result.push_back(*found);
  }
  return result;
}

Ridge parse_ridge(const std::string& text) {
  if (text == "auto") return Ridge::from_data();
  const auto value = parse_number(text);
  if (value && *value >= 0) return *value;
  throw UsageError(
      fmt::format("a ridge is a number from 0 up, in units of a feature's mean variance, or auto; not '{}'", text));
}

void add_extra_options(CLI::App& command, ExtraSources& extra) {
  add_numbered_options(command, "extra", "FILE", extra.paths, [](std::size_t number) {
    return fmt::format("More samples of domain {}, without partners: they improve its mean and covariance", number);
  });
}

ExtraSamples read_extra(const Session& session, const ExtraSources& sources, const std::vector<DomainInfo>& domains) {
  check_numbered("extra", sources.paths, std::ssize(domains));
  ExtraSamples extra(domains.size());
  for (std::size_t i = 0; i < std::min(domains.size(), sources.paths.size()); ++i) {
    if (sources.paths[i].empty()) continue;
    SampleReader reader(sources.paths[i], sources.input);
    reader.suit(domains[i].features, domains[i].feature_names, fmt::format("domain {}", i + 1));
    tell_notes(session, reader);
    if (reader.features() != domains[i].features) {
      throw WrongDimension(fmt::format("'{}' has {} features, domain {} has {}", sources.paths[i], reader.features(),
                                       i + 1, domains[i].features));
    }
    take_order(session, reader, domains[i].feature_names, fmt::format("domain {}", i + 1));
    extra[i].emplace(std::vector<DomainInfo>{domains[i].features});
    for_complete_samples(session, "extra samples read", reader, sources.input.missing,
                         [&](const Matrix& X) { extra[i]->add(X); });
  }
  return extra;
}

void verify_extra(const Session& session, Verifier& verifier, const ExtraSources& sources, const Model& model,
                  const std::string& model_path) {
  check_numbered("extra", sources.paths, model.count());
  for (std::size_t i = 0; i < sources.paths.size(); ++i) {
    if (sources.paths[i].empty()) continue;
    const auto domain = domain_at(i);
    SampleReader reader = open_samples(session, sources.paths[i], sources.input, model, model_path, domain);
    for_complete_samples(session, "extra samples read", reader, sources.input.missing,
                         [&](const Matrix& X) { verifier.add_extra(domain, X); });
  }
}

std::vector<const Summary*> pointers(const ExtraSamples& extra) {
  std::vector<const Summary*> result;
  for (const auto& summary : extra) result.push_back(summary ? &*summary : nullptr);
  return result;
}

void add_scale_option(CLI::App& command, bool& scale) {
  command.add_flag("--scale", scale,
                   "Divide each feature by its standard deviation first, so that ridges, --max-rank and dataD "
                   "covariances do not depend on units; the maps take samples as they are");
}

void add_regularization_options(CLI::App& command, RegularizationSpecs& specs) {
  command
      .add_option("--max-rank", specs.max_rank,
                  "Only the R leading principal directions of each domain (R1,R2,… for different ones)")
      ->option_text("R");
  command
      .add_option("--ridge", specs.ridge,
                  "Whiten with the covariance plus L times a feature's mean variance; auto: the L of the "
                  "least cross-validation error (L1,L2,… for different ones); default: 0")
      ->option_text("L|auto");
  command
      .add_option("--towards", specs.towards,
                  "What a ridge shrinks translations towards: zero (the mean, the default), or identity (the sample as "
                  "it is but for the means) for two domains of the same features, such as spectra on one grid")
      ->option_text("zero|identity");
}

void RegularizationSpecs::check() const {
  parse_towards(towards);
  for (const auto& part : split_list(max_rank)) {
    if (!max_rank.empty()) parse_max_rank(part);
  }
  for (const auto& part : split_list(ridge)) {
    if (!ridge.empty()) parse_ridge(part);
  }
}

Regularization RegularizationSpecs::parse(Index domains) const {
  Regularization result;
  if (!max_rank.empty()) result.max_rank = per_domain<Index>("--max-rank", max_rank, domains, parse_max_rank);
  if (const auto found = parse_towards(towards); !found.empty()) {
    if (found.size() > 1) throw UsageError("--towards takes one of zero and identity, unless --tune chooses");
    result.towards = found[0];
  }
  if (!ridge.empty()) result.ridge = per_domain<Ridge>("--ridge", ridge, domains, parse_ridge);
  return result;
}

}  // namespace cgmca::cli
