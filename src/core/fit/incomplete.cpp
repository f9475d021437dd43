// Samples that lack whole domains, by their patterns.
#include <cgmca/error.hpp>
#include <cgmca/incomplete.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include "core/summary/file.hpp"
#include "core/summary/state.hpp"

namespace cgmca {
namespace {

constexpr const char* kIncompleteFormat = "cgmca-incomplete";

// Whether each sample has this domain: none of its features is NaN.
std::vector<bool> presence(const SampleView& X) {
  std::vector<bool> result(X.cols());
  X.visit([&](const auto& samples) {
    for (Index j = 0; j < samples.cols(); ++j) result[j] = !samples.col(j).hasNaN();
  });
  return result;
}

// These columns as doubles.
Matrix columns_of(const SampleView& X, const std::vector<Index>& columns) {
  Matrix result(X.rows(), std::ssize(columns));
  X.visit([&](const auto& samples) {
    for (Index k = 0; k < result.cols(); ++k) {
      result.col(k) = samples.col(columns[k]).template cast<double>();
    }
  });
  return result;
}

std::string prefix_of(Index pattern) { return fmt::format("pattern{}.", pattern); }

}  // namespace

IncompleteSummary::IncompleteSummary(std::vector<DomainInfo> domains, Accumulate accumulate)
    : info_(std::move(domains)), accumulate_(accumulate) {
  const Summary checked(info_, accumulate);  // throws for bad domains
  if (info_.size() < 2) throw InvalidInput("incomplete samples have at least 2 domains; 1 is given");
}

const DomainInfo& IncompleteSummary::domain(Domain domain) const {
  if (number(domain) < 1 || number(domain) > domains()) {
    throw MissingDomain(fmt::format("a summary of {} domains has no domain {}", domains(), number(domain)));
  }
  return info_[domain];
}

Index IncompleteSummary::samples() const {
  Index sum = 0;
  for (const auto& [domains, summary] : patterns_) sum += summary.samples();
  return sum;
}

double IncompleteSummary::total_weight() const {
  double sum = 0;
  for (const auto& [domains, summary] : patterns_) sum += summary.total_weight();
  return sum;
}

Summary& IncompleteSummary::pattern(const std::vector<Domain>& domains) {
  const auto found = patterns_.find(domains);
  if (found != patterns_.end()) return found->second;
  std::vector<DomainInfo> info;
  for (const Domain domain : domains) info.push_back(info_[domain]);
  return patterns_.emplace(domains, Summary(std::move(info), accumulate_)).first->second;
}

void IncompleteSummary::add(const MatchedSamples& X) { add_weighted(X, nullptr); }

void IncompleteSummary::add(const MatchedSamples& X, const VectorView& weights) {
  const Vector own = weights;
  add_weighted(X, &own);
}

void IncompleteSummary::add_weighted(const MatchedSamples& X, const Vector* weights) {
  if (std::ssize(X) != domains()) {
    throw InvalidInput(
        fmt::format("samples of {} domains for a summary of {}; give a matrix for each domain", X.size(), domains()));
  }
  for (std::size_t i = 1; i < X.size(); ++i) {
    if (X[i].cols() == X[0].cols()) continue;
    throw UnequalSamples(
        fmt::format("domain 1 has {} samples and domain {} has {}; matched samples need as many of "
                    "each. Where one lacks a domain, give NaN",
                    X[0].cols(), i + 1, X[i].cols()));
  }
  if (weights != nullptr && weights->size() != X[0].cols()) {
    throw UnequalSamples(fmt::format("{} weights for {} samples", weights->size(), X[0].cols()));
  }
  std::map<std::vector<Domain>, std::vector<Index>> groups;
  std::vector<std::vector<bool>> present;
  for (const SampleView& domain : X) present.push_back(presence(domain));
  for (Index j = 0; j < X[0].cols(); ++j) {
    std::vector<Domain> domains;
    for (std::size_t i = 0; i < X.size(); ++i) {
      if (present[i][j]) domains.push_back(domain_at(i));
    }
    if (!domains.empty()) groups[domains].push_back(j);
  }
  IncompleteSummary longer = *this;  // so that nothing is added where one group is refused
  for (const auto& [domains, columns] : groups) {
    std::vector<Matrix> own;
    for (const Domain domain : domains) own.push_back(columns_of(X[domain], columns));
    const MatchedSamples samples(own.begin(), own.end());
    Summary& summary = longer.pattern(domains);
    weights == nullptr ? summary.add(samples) : summary.add(samples, Vector((*weights)(columns)));
  }
  *this = std::move(longer);
}

void IncompleteSummary::add(const std::vector<Domain>& domains, const Summary& samples, Repeats repeats) {
  for (std::size_t k = 0; k < domains.size(); ++k) {
    domain(domains[k]);  // throws where there is none
    if (k > 0 && !(domains[k - 1] < domains[k])) throw InvalidInput("the domains of a pattern must ascend");
  }
  if (domains.empty()) throw InvalidInput("a pattern needs at least one domain");
  if (samples.samples() == 0) return;
  IncompleteSummary longer = *this;
  longer.pattern(domains).merge(samples, repeats);
  *this = std::move(longer);
}

void IncompleteSummary::merge(const IncompleteSummary& other, Repeats repeats) {
  if (other.domains() != domains()) {
    throw WrongDimension(
        fmt::format("cannot merge a summary of {} domains with one of {}", domains(), other.domains()));
  }
  IncompleteSummary longer = *this;
  for (std::size_t i = 0; i < info_.size(); ++i) {
    longer.info_[i] = joined(domain_at(i), info_[i], other.info_[i]);
  }
  for (const auto& [domains, summary] : other.patterns_) longer.add(domains, summary, repeats);
  *this = std::move(longer);
}

namespace {

TensorWriter packed(const IncompleteSummary& summary, Accumulate accumulate) {
  TensorWriter file(kIncompleteFormat, kSummaryVersion);
  file.set("patterns", std::ssize(summary.patterns()));
  // The names of the domains are stored as an empty summary of all domains.
  std::vector<DomainInfo> info;
  for (const Domain domain : all_domains(summary.domains())) info.push_back(summary.domain(domain));
  pack(file, "all.", Summary(info, accumulate).state());
  Index pattern = 0;
  for (const auto& [domains, own] : summary.patterns()) {
    std::string text;
    for (const Domain domain : domains) text += fmt::format("{}{}", text.empty() ? "" : "+", number(domain));
    file.set(prefix_of(++pattern) + "domains_seen", text);
    pack(file, prefix_of(pattern), own.state());
  }
  return file;
}

std::vector<Domain> seen_in(const TensorReader& file, const std::string& prefix, Index domains) {
  const std::string& text = file.text(prefix + "domains_seen");
  std::vector<Domain> result;
  Index value = 0;
  for (std::size_t k = 0; k <= text.size(); ++k) {
    if (k < text.size() && text[k] >= '0' && text[k] <= '9' && value < 10000) {
      value = 10 * value + (text[k] - '0');
      continue;
    }
    const bool ends = k == text.size() || text[k] == '+';
    const bool ascends = result.empty() || static_cast<int>(value) > number(result.back());
    if (!ends || value < 1 || value > domains || !ascends) file.fail(fmt::format("'{}' names no domains", text));
    result.push_back(static_cast<Domain>(value));
    value = 0;
  }
  return result;
}

IncompleteSummary unpacked(const TensorReader& file) {
  const Summary all(unpack_summary(file, "all."));
  IncompleteSummary result(all.state().info, all.accumulate());
  const Index patterns = file.count("patterns", 0);
  for (Index pattern = 1; pattern <= patterns; ++pattern) {
    const auto domains = seen_in(file, prefix_of(pattern), result.domains());
    const Summary own(unpack_summary(file, prefix_of(pattern)));
    bool alike = own.domains() == std::ssize(domains) && !result.patterns().contains(domains);
    for (std::size_t i = 0; alike && i < domains.size(); ++i) {
      alike = own.state().info[i].features == result.domain(domains[i]).features;
    }
    if (!alike) file.fail("a pattern has other domains than its samples, or is there twice");
    result.add(domains, own, Repeats::allow);
  }
  return result;
}

}  // namespace

void IncompleteSummary::save(const std::string& path, const std::string& note) const {
  TensorWriter file = packed(*this, accumulate_);
  if (!note.empty()) file.set("note", note);
  file.save(path);
}

std::string IncompleteSummary::to_bytes() const { return packed(*this, accumulate_).bytes(); }

IncompleteSummary IncompleteSummary::load(const std::string& path, std::string* note) {
  const TensorReader file(path, kIncompleteFormat, kSummaryVersions);
  if (note != nullptr) *note = file.has_text("note") ? file.text("note") : "";
  return unpacked(file);
}

IncompleteSummary IncompleteSummary::from_bytes(std::string_view bytes) {
  return unpacked(TensorReader(bytes, kIncompleteFormat, kSummaryVersions));
}

bool holds_incomplete_summary(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(300, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start.find(fmt::format("\"{}\"", kIncompleteFormat)) != std::string::npos;
}

}  // namespace cgmca
