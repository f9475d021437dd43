// cgmca explain: what the common directions explain of every domain's variance, and which features take part.
#include <cgmca/error.hpp>
#include <cgmca/explained.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "commands/report_parts.hpp"
#include "commands/statistics.hpp"
#include "input/domains.hpp"
#include "input/mapped.hpp"
#include "output/describe.hpp"
#include "output/files.hpp"
#include "shell/progress.hpp"
#include "shell/signals.hpp"
#include "support/atomic_file.hpp"

namespace cgmca::cli {
namespace {

constexpr Index kShownDirections = 20;

// Of one domain.
struct Found {
  Explained own;
  std::vector<std::pair<Domain, Explained>> from;  // each other domain
  TranslationR2 r2;                                // from all others together
  Vector importance;
  std::vector<Index> order;  // of the features, by importance
};

ByDomain<TranslationR2> measured(const Session& session, const Model& model, const ExplainOptions& options,
                                 Index& samples) {
  PairReader reader(options.pairs.of(model, model.nuisance_values() > 0), session);
  reader.check_features(model, options.model);
  std::vector<MeasuredR2> r2;
  for (const Domain domain : all_domains(model.count())) r2.emplace_back(model, domain);
  Progress progress(session, reader.noun() + " read", reader.samples());
  for (;;) {
    const PairReader::Block block = reader.next();
    if (block.samples() == 0) break;
    const std::vector<Matrix> X = with_nuisance(block.X, model);
    for (MeasuredR2& of_domain : r2) of_domain.add({X.begin(), X.end()}, block.weights);
    samples += block.samples();
    progress.update(samples);
    stop_if_interrupted();
  }
  if (samples < 2) throw TooFewSamples(fmt::format("{} matched samples; R² needs at least 2", samples));
  ByDomain<TranslationR2> values;
  for (const MeasuredR2& of_domain : r2) values.push_back(of_domain.value());
  return values;
}

Found found_of(const Model& model, Domain domain) {
  Found found;
  found.own = explained(model, domain, domain);
  for (const Domain by : model.others(domain)) found.from.emplace_back(by, explained(model, domain, by));
  found.importance = importance(model, domain);
  found.order.resize(static_cast<std::size_t>(found.importance.size()));
  std::iota(found.order.begin(), found.order.end(), Index{0});
  std::stable_sort(found.order.begin(), found.order.end(),
                   [&](Index a, Index b) { return found.importance(a) > found.importance(b); });
  return found;
}

Json finite_list(const Vector& values) {
  Json array = Json::array();
  for (const double value : values) array.push_back(number_or_null(value));
  return array;
}

Json object_of(const Shares& shares) {
  return {{"alone", finite_list(shares.alone)},
          {"cumulative", finite_list(shares.cumulative)},
          {"total", number_or_null(shares.total())}};
}
Json object_of(const Explained& found) {
  return {{"variance", object_of(found.variance)}, {"standardized", object_of(found.standardized)}};
}

Json object_of(const Found& found, Domain domain) {
  Json from = Json::array();
  for (const auto& [by, shares] : found.from) {
    from.push_back({{"domain", number(by)},
                    {"variance", object_of(shares.variance)},
                    {"standardized", object_of(shares.standardized)}});
  }
  return {{"domain", number(domain)},
          {"own", object_of(found.own)},
          {"from", from},
          {"r2",
           {{"variance", number_or_null(found.r2.variance)},
            {"standardized", number_or_null(found.r2.standardized)},
            {"features", finite_list(found.r2.features)}}},
          {"importance", finite_list(found.importance)}};
}

std::string cell(double share) {
  return std::isfinite(share) ? fmt::format("{:>9.4f}", share) : fmt::format("{:>9}", "-");
}

std::string line_of(const std::string& what, double own, double together, double by_variance, double from,
                    double from_together, double from_by_variance) {
  return fmt::format("  {:<8}", what) + cell(own) + cell(together) + cell(by_variance) + "  " + cell(from) +
         cell(from_together) + cell(from_by_variance) + "\n";
}

std::string shares_text(const Model& model, const Found& found, Domain domain) {
  std::string text;
  for (const auto& [by, from] : found.from) {
    text += fmt::format("\n{}: share carried by its own scores, and explained by those of {}\n",
                        domain_title(model, domain), domain_title(model, by));
    text += fmt::format("  {:<8}{:>9}{:>9}{:>9}  {:>9}{:>9}{:>9}\n", "score", "own", "together", "variance", "other",
                        "together", "variance");
    const Shares &own = found.own.standardized, &cross = from.standardized;
    const Index count = std::min({own.alone.size(), cross.alone.size(), kShownDirections});
    for (Index j = 0; j < count; ++j) {
      text += line_of(fmt::format("{}", j + 1), own.alone(j), own.cumulative(j), found.own.variance.alone(j),
                      cross.alone(j), cross.cumulative(j), from.variance.alone(j));
    }
    text += line_of("all", own.total(), own.total(), found.own.variance.total(), cross.total(), cross.total(),
                    from.variance.total());
  }
  return text;
}

std::string features_text(const Model& model, const Found& found, Domain domain, Index top) {
  const std::vector<std::string> names = names_of_features(model, domain);
  const auto d = static_cast<double>(names.size());
  std::string text = fmt::format("\n{}: the features that matter most\n  {:>10}{:>8}{:>9}  feature\n",
                                 domain_title(model, domain), "importance", "VIP", "R2");
  for (std::size_t k = 0; k < std::min(found.order.size(), static_cast<std::size_t>(top)); ++k) {
    const Index f = found.order[k];
    text += fmt::format("  {:>10.4f}{:>8.2f}{}  {}\n", found.importance(f), std::sqrt(d * found.importance(f)),
                        cell(found.r2.features(f)), names[f]);
  }
  return text;
}

// A line for each feature of all domains: domain, R², importance, and correlations with the scores of every domain.
void write_features(const Session& session, const Model& model, const ByDomain<Found>& all, const std::string& target) {
  std::vector<std::string> columns = {"domain", "r2", "importance"};
  for (const Domain by : all_domains(model.count())) {
    for (Index j = 0; j < model.domain(by).scores(); ++j)
      columns.push_back(fmt::format("score{}_{}", number(by), j + 1));
  }
  const auto width = std::ssize(columns);
  Outputs outputs;
  WriteOptions options;
  options.feature_names = columns;
  options.id_name = "feature";
  outputs.add(target, width, options);
  for (const Domain domain : all_domains(model.count())) {
    const Found& found = all[domain];
    Matrix rows(width, found.importance.size());
    rows.row(0).setConstant(number(domain));
    rows.row(1) = found.r2.features;
    rows.row(2) = found.importance;
    Index row = 3;
    for (const Domain by : all_domains(model.count())) {
      const Matrix correlations = score_correlations(model, domain, by);
      rows.middleRows(row, correlations.cols()) = correlations.transpose();
      row += correlations.cols();
    }
    outputs.write(0, rows, is_text(target) ? names_of_features(model, domain) : std::vector<std::string>{});
  }
  outputs.commit(session);
}

// Two names and a correlation a line, for network tools.
Index write_edges(const Model& model, const std::string& target, double least) {
  AtomicFile file(target);
  std::string text = "from\tto\tcorrelation\n";
  Index count = 0;
  const auto plain = [](std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    return name;
  };
  for (const Domain a : all_domains(model.count())) {
    for (const Domain b : all_domains(model.count())) {
      if (!(a < b)) continue;
      const std::vector<std::string> from = names_of_features(model, a), to = names_of_features(model, b);
      const Matrix shared = shared_correlations(model, a, b);
      for (Index f = 0; f < shared.rows(); ++f) {
        for (Index g = 0; g < shared.cols(); ++g) {
          if (!(std::abs(shared(f, g)) >= least)) continue;
          text += fmt::format("{}\t{}\t{:.6g}\n", plain(from[f]), plain(to[g]), shared(f, g));
          ++count;
        }
      }
    }
  }
  file.write(text.data(), text.size());
  file.commit();
  return count;
}

}  // namespace

std::vector<std::string> names_of_features(const Model& model, Domain domain) {
  const DomainMap& map = model.domain(domain);
  std::vector<std::string> names = map.feature_names;
  for (Index f = std::ssize(names); f < map.features(); ++f) {
    names.push_back(fmt::format("x{}_{}", number(domain), f + 1));
  }
  return names;
}

void run_explain(const Session& session, const ExplainOptions& options) {
  if (!options.pairs.given() && !options.pairs.weights.empty())
    throw UsageError("--weights needs the samples too; give them after the model");
  std::vector<std::string> inputs = {options.model};
  if (options.pairs.given())
    for (const std::string& file : options.pairs.files()) inputs.push_back(file);
  if (!options.output.empty()) check_target(options.output, inputs);
  if (!options.edges.empty()) check_target(options.edges, inputs, {options.output});
  const EndsAtOnce nothing_is_written_yet;
  const Model model = Model::load(options.model);
  if (options.pairs.given()) check_inputs(options.pairs.paths.size(), model, "; give all, or none");
  ByDomain<Found> all;
  for (const Domain domain : all_domains(model.count())) all.push_back(found_of(model, domain));
  Index samples = 0;
  ByDomain<TranslationR2> r2;
  if (options.pairs.given()) r2 = measured(session, model, options, samples);
  Json domains = Json::array();
  std::string text = fmt::format("{} {}; shares of the features at unit variance, and weighted by variance\n",
                                 pairs_text(model.samples, model.total_weight), matched_noun(model.count()));
  for (const Domain domain : all_domains(model.count())) {
    Found& found = all[domain];
    found.r2 = r2.empty() ? translation_r2(model, domain) : r2[domain];
    domains.push_back(object_of(found, domain));
    text += shares_text(model, found, domain);
    text += fmt::format("  R2 from {}, {}: {:.4f} at unit variance, {:.4f} by variance\n",
                        model.count() == 2 ? "the other domain" : "all others together",
                        r2.empty() ? "as the model claims" : fmt::format("measured on {} samples", samples),
                        found.r2.standardized, found.r2.variance);
    text += features_text(model, found, domain, options.top);
  }
  std::vector<std::string> written;
  Json object = {
      {"n", model.total_weight}, {"measured_on", r2.empty() ? Json(nullptr) : Json(samples)}, {"domains", domains}};
  if (!options.output.empty()) {
    write_features(session, model, all, options.output);
    written.push_back(options.output);
  }
  if (!options.edges.empty()) {
    object["edges"] = write_edges(model, options.edges, options.least);
    text += fmt::format("\n{} pairs of features correlated by {} or more in '{}'\n", object["edges"].get<Index>(),
                        options.least, options.edges);
    written.push_back(options.edges);
  }
  session.result(object, text, written);
}

}  // namespace cgmca::cli
