#include "input/domains.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "shell/session.hpp"
#include "support/suggest.hpp"

namespace cgmca::cli {
namespace {

Domain domain_called(const std::string& option, const std::string& text, const Model& model) {
  Index which = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, which);
  if (problem == std::errc() && stop == end) {
    if (which >= 1 && which <= model.count()) return static_cast<Domain>(which);
    throw UsageError(fmt::format("{} {}: the model has domains 1 to {}", option, text, model.count()));
  }
  std::vector<std::string> names;
  for (const Domain domain : all_domains(model.count())) {
    const auto& map = model.domains[domain];
    if (!map || map->name.empty()) continue;
    if (map->name == text) return domain;
    names.push_back(map->name);
  }
  throw UsageError(fmt::format("{} names domains by number, 1 to {}{}; there is no '{}'{}", option, model.count(),
                               names.empty() ? "" : fmt::format(", or as {}", fmt::join(names, ", ")), text,
                               did_you_mean(text, names)));
}

}  // namespace

std::string matched_noun(Index domains) { return domains == 2 ? "pairs" : "matched samples"; }

std::string domains_text(const std::vector<Domain>& domains) {
  std::string text = domains.size() == 1 ? "domain " : "domains ";
  for (std::size_t i = 0; i < domains.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == domains.size() ? " and " : ", ", number(domains[i]));
  }
  return text;
}

std::vector<Domain> parse_domains(const std::string& option, const std::string& text, const Model& model) {
  std::vector<Domain> domains;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const Domain domain = domain_called(option, part, model);
    if (std::find(domains.begin(), domains.end(), domain) != domains.end()) {
      throw UsageError(fmt::format("{} names domain {} twice", option, number(domain)));
    }
    domains.push_back(domain);
  }
  return domains;
}

Domain parse_domain(const std::string& option, const std::string& text, const Model& model) {
  const std::vector<Domain> domains = parse_domains(option, text, model);
  if (domains.size() == 1) return domains.front();
  throw UsageError(fmt::format("{} names one domain, not {}", option, domains.size()));
}

void check_inputs(std::size_t inputs, const Model& model, const std::string& otherwise) {
  if (inputs == model.domains.size()) return;
  throw UsageError(fmt::format("the model has {} domains, and {} input{} given{}", model.count(), inputs,
                               inputs == 1 ? " is" : "s are", otherwise));
}

void add_numbered_options(CLI::App& command, const std::string& name, const std::string& option_text,
                          std::vector<std::string>& values,
                          const std::function<std::string(std::size_t number)>& description) {
  constexpr std::size_t shown = 3;
  values.resize(kNumbered);
  for (std::size_t i = 0; i < kNumbered; ++i) {
    auto* option = command.add_option(fmt::format("--{}{}", name, i + 1), values[i], description(i + 1));
    option->option_text(option_text);
    if (i >= shown) option->group("");
  }
}

void check_numbered(const std::string& name, const std::vector<std::string>& values, Index domains) {
  for (std::size_t i = static_cast<std::size_t>(domains); i < values.size(); ++i) {
    if (values[i].empty()) continue;
    throw UsageError(fmt::format("--{}{} is given, but there are {} domains", name, i + 1, domains));
  }
}

}  // namespace cgmca::cli
