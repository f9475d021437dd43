// cgmca bootstrap: how much a fit would differ in other samples.
#include <cgmca/bootstrap.hpp>
#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "commands/report_parts.hpp"
#include "commands/statistics.hpp"
#include "input/domains.hpp"
#include "output/describe.hpp"
#include "output/files.hpp"
#include "shell/progress.hpp"
#include "shell/signals.hpp"

namespace cgmca::cli {
namespace {

std::vector<std::int64_t> read_groups(const std::string& path, bool columns) {
  if (path.empty()) return {};
  ReadOptions how;
  how.columns = columns;
  const Matrix values = read(path, how);
  if (values.rows() != 1 && values.cols() != 1) {
    throw InvalidInput(
        fmt::format("'{}' holds {}×{} numbers; --groups has one a sample", path, values.cols(), values.rows()));
  }
  std::vector<std::int64_t> groups;
  for (const double value : values.reshaped()) {
    if (!(value == std::floor(value)) || std::abs(value) > 9e15)
      throw InvalidInput(fmt::format("'{}': the group {} is not a whole number", path, value));
    groups.push_back(static_cast<std::int64_t>(value));
  }
  return groups;
}

Json columns_of(const Matrix& values) {
  Json all = Json::array();
  for (Index j = 0; j < values.cols(); ++j) {
    Json column = Json::array();
    for (const double value : values.col(j)) column.push_back(number_or_null(value));
    all.push_back(column);
  }
  return all;
}

Json object_of(const Bootstrapped& found) {
  return {{"estimate", columns_of(found.estimate)},
          {"standard_error", columns_of(found.standard_error)},
          {"lower", columns_of(found.lower)},
          {"upper", columns_of(found.upper)},
          {"p", columns_of(found.p)},
          {"q", columns_of(found.q)}};
}

std::string text_of(const Model& model, const Bootstrap& found, const BootstrapArguments& options) {
  const double percent = 100 * options.level;
  std::string text = fmt::format("{} replicas of {} {}, drawn in {} groups{}\n", found.replicas, model.samples,
                                 matched_noun(model.count()), found.groups,
                                 found.failed > 0 ? fmt::format("; {} could not be fitted", found.failed) : "");
  const Bootstrapped& r = found.correlations;
  Index pair = 0;
  for (const Domain i : all_domains(model.count())) {
    for (const Domain j : all_domains(model.count())) {
      if (!(i < j)) continue;
      text += fmt::format("\n{:<11}{:>12}{:>10}{:>20}{:>10}{:>10}\n",
                          model.count() == 2 ? "direction" : fmt::format("{} and {}", number(i), number(j)),
                          "correlation", "error", fmt::format("{:g} % interval", percent), "p", "q");
      for (Index k = 0; k < r.estimate.rows(); ++k) {
        text +=
            fmt::format("{:<11}{:>12.4f}{:>10.4f}{:>10.4f} {:>9.4f}{:>10.2g}{:>10.2g}\n", k + 1, r.estimate(k, pair),
                        r.standard_error(k, pair), r.lower(k, pair), r.upper(k, pair), r.p(k, pair), r.q(k, pair));
      }
      ++pair;
    }
  }
  for (const Domain domain : all_domains(model.count())) {
    const DomainBootstrap& own = found.domains[domain];
    const std::vector<std::string> names = names_of_features(model, domain);
    const Bootstrapped& structure = own.structure;
    std::vector<Index> order(names.size());
    std::iota(order.begin(), order.end(), Index{0});
    const auto size = [&](Index f) {
      const double value = std::abs(structure.estimate(f, 0));
      return std::isnan(value) ? -1 : value;
    };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return size(a) > size(b); });
    text += fmt::format("\n{}, direction 1: correlation with the score\n{:>11}{:>10}{:>20}{:>10}{:>10}  feature\n",
                        domain_title(model, domain), "estimate", "error", fmt::format("{:g} % interval", percent), "q",
                        "selected");
    for (std::size_t k = 0; k < std::min(order.size(), static_cast<std::size_t>(options.top)); ++k) {
      const Index f = order[k];
      text += fmt::format("{:>11.4f}{:>10.4f}{:>10.4f} {:>9.4f}{:>10.2g}{:>10.2f}  {}\n", structure.estimate(f, 0),
                          structure.standard_error(f, 0), structure.lower(f, 0), structure.upper(f, 0),
                          structure.q(f, 0), own.selected(f, 0), names[f]);
    }
  }
  return text;
}

// A line for each feature of all domains: of each direction weight and structure with error, interval, p, q; selection.
void write_table(const Session& session, const Model& model, const Bootstrap& found, const std::string& target) {
  std::vector<std::string> columns = {"domain"};
  const Index c = found.correlations.estimate.rows();
  for (Index j = 1; j <= c; ++j) {
    for (const char* kind : {"weight", "structure"}) {
      for (const char* what : {"", "_error", "_lower", "_upper", "_p", "_q"}) {
        columns.push_back(fmt::format("{}{}{}", kind, j, what));
      }
    }
    columns.push_back(fmt::format("selected{}", j));
  }
  const auto width = std::ssize(columns);
  Outputs outputs;
  WriteOptions options;
  options.feature_names = columns;
  options.id_name = "feature";
  outputs.add(target, width, options);
  for (const Domain domain : all_domains(model.count())) {
    const DomainBootstrap& own = found.domains[domain];
    Matrix rows(width, model.domain(domain).features());
    rows.row(0).setConstant(number(domain));
    Index row = 1;
    for (Index j = 0; j < c; ++j) {
      for (const Bootstrapped* one : {&own.weights, &own.structure}) {
        for (const Matrix* values :
             {&one->estimate, &one->standard_error, &one->lower, &one->upper, &one->p, &one->q}) {
          rows.row(row++) = values->col(j);
        }
      }
      rows.row(row++) = own.selected.col(j);
    }
    outputs.write(0, rows, is_text(target) ? names_of_features(model, domain) : std::vector<std::string>{});
  }
  outputs.commit(session);
}

}  // namespace

void run_bootstrap(const Session& session, const BootstrapArguments& options) {
  std::vector<std::string> inputs = options.pairs.files();
  inputs.push_back(options.model);
  if (!options.output.empty()) check_target(options.output, inputs);
  const Model model = Model::load(options.model);
  check_inputs(options.pairs.paths.size(), model);
  const std::vector<std::int64_t> groups = read_groups(options.groups, options.pairs.input.columns);
  const EndsAtOnce nothing_is_written_yet;
  PairReader reader(options.pairs, session);
  reader.check_features(model, options.model);
  BootstrapSamples samples(reader.domains(), options.seed);
  {
    Progress progress(session, reader.noun() + " read", reader.samples());
    for (;;) {
      const PairReader::Block block = reader.next();
      if (block.samples() == 0) break;
      std::vector<std::int64_t> own;
      for (const Index number : reader.numbers()) {
        if (groups.empty()) break;
        if (number >= std::ssize(groups)) {
          throw UnequalSamples(
              fmt::format("'{}' has {} groups, and there are more samples", options.groups, groups.size()));
        }
        own.push_back(groups[number]);
      }
      samples.add(MatchedSamples(block.X.begin(), block.X.end()), block.weights, own);
      progress.update(samples.samples());
      stop_if_interrupted();
    }
  }
  BootstrapOptions how;
  how.replicas = options.replicas;
  how.seed = options.seed;
  how.level = options.level;
  Bootstrap found;
  {
    Progress progress(session, "replicas", options.replicas);
    how.progress = [&](double done) {
      progress.update(static_cast<Index>(std::lround(done * static_cast<double>(options.replicas))));
      stop_if_interrupted();
    };
    found = bootstrap(samples, model, how);
  }
  Json domains = Json::array();
  for (const DomainBootstrap& own : found.domains) {
    domains.push_back({{"weights", object_of(own.weights)},
                       {"structure", object_of(own.structure)},
                       {"selected", columns_of(own.selected)}});
  }
  std::vector<std::string> written;
  if (!options.output.empty()) {
    write_table(session, model, found, options.output);
    written.push_back(options.output);
  }
  session.result({{"n", samples.samples()},
                  {"groups", found.groups},
                  {"replicas", found.replicas},
                  {"failed", found.failed},
                  {"level", options.level},
                  {"correlations", object_of(found.correlations)},
                  {"domains", domains}},
                 text_of(model, found, options), written);
}

}  // namespace cgmca::cli
