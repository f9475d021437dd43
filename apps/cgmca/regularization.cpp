#include "regularization.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "mapped.hpp"
#include "pairs.hpp"

namespace cgmca::cli {
namespace {

// One value for both domains or two.
std::array<std::string, 2> both_domains(const std::string& option, const std::string& text) {
  const auto parts = split_list(text);
  if (parts.size() == 1) return {parts[0], parts[0]};
  if (parts.size() == 2) return {parts[0], parts[1]};
  throw UsageError(fmt::format("{} takes one value for both domains or two as in A,B, not '{}'", option, text));
}

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

Ridge parse_ridge(const std::string& text) {
  if (text == "auto") return Ridge::oas();
  const auto value = parse_number(text);
  if (value && *value >= 0) return *value;
  throw UsageError(
      fmt::format("a ridge is a number from 0 up, in units of a feature's mean variance, or auto; not '{}'", text));
}

void add_extra_options(CLI::App& command, ExtraSources& extra) {
  for (auto i : {0U, 1U}) {
    command
        .add_option(
            fmt::format("--extra{}", i + 1), extra.paths[i],
            fmt::format("More samples of domain {}, without partners: they better its mean and covariance", i + 1))
        ->option_text("FILE");
  }
}

ExtraSamples read_extra(const Session& session, const ExtraSources& sources, const std::vector<DomainInfo>& domains) {
  ExtraSamples extra;
  for (auto i : {0U, 1U}) {
    if (sources.paths[i].empty()) continue;
    SampleReader reader(sources.paths[i], sources.input);
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
  for (Domain domain : kDomains) {
    const std::string& path = sources.paths[slot(domain)];
    if (path.empty()) continue;
    SampleReader reader = open_samples(session, path, sources.input, model, model_path, domain);
    for_complete_samples(session, "extra samples read", reader, sources.input.missing,
                         [&](const Matrix& X) { verifier.add_extra(domain, X); });
  }
}

std::vector<const Summary*> pointers(const ExtraSamples& extra) {
  return {extra[0] ? &*extra[0] : nullptr, extra[1] ? &*extra[1] : nullptr};
}

void add_regularization_options(CLI::App& command, RegularizationSpecs& specs) {
  command
      .add_option("--max-rank", specs.max_rank,
                  "Only the R leading principal directions of each domain (R1,R2 for different ones)")
      ->option_text("R");
  command
      .add_option("--ridge", specs.ridge,
                  "Whiten with the covariance plus L times a feature's mean variance, or shrunk automatically "
                  "(L1,L2 for different ones); default: 0")
      ->option_text("L|auto");
}

void RegularizationSpecs::apply_to(Regularization& options) const {
  if (!max_rank.empty()) {
    const auto parts = both_domains("--max-rank", max_rank);
    options.max_rank = {parse_count("--max-rank", parts[0], 1), parse_count("--max-rank", parts[1], 1)};
  }
  if (!ridge.empty()) {
    const auto parts = both_domains("--ridge", ridge);
    options.ridge = {parse_ridge(parts[0]), parse_ridge(parts[1])};
  }
}

}  // namespace cgmca::cli
