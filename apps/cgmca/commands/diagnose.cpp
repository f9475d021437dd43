// cgmca diagnose: samples that look mispaired, swapped or unlike the others.
#include <cgmca/diagnose.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "commands/statistics.hpp"
#include "input/domains.hpp"
#include "input/mapped.hpp"
#include "output/describe.hpp"
#include "output/files.hpp"
#include "shell/progress.hpp"
#include "shell/signals.hpp"

namespace cgmca::cli {
namespace {

Json object_of(const Suspect& one) {
  Json object = {{"sample", one.sample + 1},
                 {"suspicion", name(one.suspicion)},
                 {"domain", number(one.domain)},
                 {"p", one.p},
                 {"q", one.q}};
  object["partner"] = one.partner >= 0 ? Json(one.partner + 1) : Json(nullptr);
  return object;
}

// The worst suspicion of each sample as a number: 0 none, else Suspicion + 1.
Vector suspicions(const Diagnosis& found) {
  Vector codes = Vector::Zero(found.pair_p.size());
  for (const Suspect& one : found.suspects) {
    double& code = codes(one.sample);
    const double own = static_cast<double>(one.suspicion) + 1;
    code = code == 0 ? own : std::min(code, own);
  }
  return codes;
}

void write_table(const Session& session, const Diagnosis& found, const std::string& target) {
  std::vector<std::string> columns = {"sample", "suspicion", "pair_p"};
  for (std::size_t i = 1; i <= found.domains.size(); ++i) {
    for (const char* what :
         {"T2", "T2_p", "Q", "Q_p", "distance", "distance_p", "evidence", "evidence_p", "rank", "likeliest"}) {
      columns.push_back(fmt::format("{}_{}", what, i));
    }
  }
  const Index n = found.pair_p.size();
  Matrix rows(std::ssize(columns), n);
  rows.row(0) = Vector::LinSpaced(n, 1, static_cast<double>(n));
  rows.row(1) = suspicions(found);
  rows.row(2) = found.pair_p;
  Index row = 3;
  for (const DomainDiagnosis& one : found.domains) {
    for (const Vector* values : {&one.t_squared, &one.t_squared_p, &one.residual, &one.residual_p, &one.distance,
                                 &one.distance_p, &one.evidence, &one.evidence_p}) {
      rows.row(row++) = *values;
    }
    for (Index k = 0; k < n; ++k) {
      rows(row, k) = static_cast<double>(one.rank[k]);
      rows(row + 1, k) = static_cast<double>(one.likeliest[k] + 1);
    }
    row += 2;
  }
  Outputs outputs;
  WriteOptions options;
  options.feature_names = columns;
  outputs.add(target, rows.rows(), options);
  outputs.write(0, rows, {});
  outputs.commit(session);
}

}  // namespace

void run_diagnose(const Session& session, const DiagnoseArguments& options) {
  std::vector<std::string> inputs = options.pairs.files();
  inputs.push_back(options.model);
  if (!options.output.empty()) check_target(options.output, inputs);
  const Model model = Model::load(options.model);
  check_inputs(options.pairs.paths.size(), model);
  const EndsAtOnce nothing_is_written_yet;
  PairReader reader(options.pairs.of(model, model.nuisance_values() > 0), session);
  reader.check_features(model, options.model);
  Diagnoser diagnoser(model);
  {
    Progress progress(session, reader.noun() + " read", reader.samples());
    for (;;) {
      const PairReader::Block block = reader.next();
      if (block.samples() == 0) break;
      const std::vector<Matrix> X = with_nuisance(block.X, model);
      diagnoser.add({X.begin(), X.end()});
      progress.update(diagnoser.samples());
      stop_if_interrupted();
    }
  }
  DiagnoseOptions how;
  how.false_discovery_rate = options.rate;
  how.progress = [](double) { stop_if_interrupted(); };
  const Diagnosis found = diagnoser.diagnosis(how);
  const Index n = diagnoser.samples();
  std::string text = fmt::format("{} of {} {} look suspicious at a false discovery rate of {}\n", found.suspects.size(),
                                 n, matched_noun(model.count()), options.rate);
  Json list = Json::array();
  for (std::size_t k = 0; k < found.suspects.size(); ++k) {
    const Suspect& one = found.suspects[k];
    list.push_back(object_of(one));
    if (static_cast<Index>(k) >= options.top) continue;
    text += fmt::format("  {:>8}  {:<15} domain {}  q {:<9.2g}{}\n", one.sample + 1, name(one.suspicion),
                        number(one.domain), one.q,
                        one.partner >= 0 ? fmt::format(" likeliest partner: {}", one.partner + 1) : "");
  }
  if (std::ssize(found.suspects) > options.top) {
    text += fmt::format("  and {} more\n", std::ssize(found.suspects) - options.top);
  }
  Json ranks = Json::array();
  for (std::size_t i = 0; i < found.domains.size(); ++i) {
    const auto& all = found.domains[i].rank;
    const auto first = std::count(all.begin(), all.end(), Index{1});
    text += fmt::format("domain {}: the true partner is the likeliest of all for {:.1f} % of the samples\n", i + 1,
                        100.0 * static_cast<double>(first) / static_cast<double>(n));
    ranks.push_back(static_cast<double>(first) / static_cast<double>(n));
  }
  for (const std::string& remark : found.remarks) session.message("note: " + remark);
  std::vector<std::string> written;
  if (!options.output.empty()) {
    write_table(session, found, options.output);
    written.push_back(options.output);
  }
  session.result(
      {{"n", n}, {"fdr", options.rate}, {"suspects", list}, {"first_place", ranks}, {"remarks", found.remarks}}, text,
      written);
}

}  // namespace cgmca::cli
