// The result of the experiment with several views as JSON and as tables of plain text.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/views.hpp"

namespace cgmca::experiments {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ViewsResult& result, const ViewsTrial& trial) {
  Json json{{"views", Json::array()}, {"covariance", fmt::format("identity:{}", trial.fit.components)}};
  Json accuracy{{"mapped", {}}, {"translated", {}}, {"translated_from_one", {}}, {"fused", {}}};
  Json explained, residuals;
  for (std::size_t v = 0; v < trial.fit.views.size(); ++v) {
    const auto i = static_cast<Index>(v);
    const std::string& name = result.names[trial.fit.views[v]];
    json["views"].push_back(name);
    accuracy["mapped"][name] = to_json(trial.of(&ViewsDraw::mapped, i));
    accuracy["translated"][name] = to_json(trial.of(&ViewsDraw::translated, i));
    explained[name] = to_json(trial.of(&ViewsDraw::explained, i));
    residuals[name] = trial.largest_residual(i);
    for (std::size_t from = 0; from < trial.fit.views.size(); ++from) {
      if (from == v) continue;
      accuracy["translated_from_one"][name][result.names[trial.fit.views[from]]] =
          to_json(trial.from_one(i, static_cast<Index>(from)));
    }
  }
  for (std::size_t bits = 1; bits < trial.draws.front().fused.size(); ++bits) {
    accuracy["fused"][result.names_of(trial.fit, bits)] = to_json(trial.fused(bits));
  }
  for (int count = 1; count <= static_cast<int>(trial.fit.views.size()); ++count) {
    accuracy["fused_by_number"].push_back(to_json(trial.fused_of(count)));
  }
  json["accuracy"] = std::move(accuracy);
  json["explained_by_translation"] = std::move(explained);
  json["certified"] = trial.certified();
  json["largest_gap"] = trial.largest_gap();
  json["proofs"] = trial.proofs();
  json["largest_residual"] = std::move(residuals);
  return json;
}

std::string table(const ViewsResult& result, const ViewsRow& row, const ViewsTrial& trial) {
  const auto& views = trial.fit.views;
  std::string text = fmt::format("{}: {} of {} draws proven ({}), largest gap {:.1e}\n", result.title(trial.fit),
                                 trial.certified(), trial.draws.size(), trial.proofs(), trial.largest_gap());
  text += fmt::format("  {:<8} {:>15} {:>15} {:>15} {:>10} {:>10}\n", "view", "alone", "mapped", "translated",
                      "explained", "residual");
  for (std::size_t v = 0; v < views.size(); ++v) {
    const auto i = static_cast<Index>(v);
    text += fmt::format("  {:<8} {:>15} {:>15} {:>15} {:>10.2f} {:>10.1e}\n", result.names[views[v]],
                        experiments::text(row.alone[views[v]]), experiments::text(trial.of(&ViewsDraw::mapped, i)),
                        experiments::text(trial.of(&ViewsDraw::translated, i)), trial.of(&ViewsDraw::explained, i).mean,
                        trial.largest_residual(i));
  }
  text += "  fused, mean over all sets of so many views:";
  for (int count = 1; count <= static_cast<int>(views.size()); ++count) {
    text += fmt::format("{} {}: {:.3f}", count == 1 ? "" : ",", count, trial.fused_of(count).mean);
  }
  return text + "\n";
}

}  // namespace

std::string to_json(const ViewsResult& result) {
  Json json{{"data", result.source},       {"samples", result.samples},     {"classes", result.classes},
            {"seed", result.options.seed}, {"draws", result.options.draws}, {"max_rank", result.options.max_rank},
            {"views", Json::array()},      {"rows", Json::array()}};
  for (std::size_t v = 0; v < result.names.size(); ++v) {
    json["views"].push_back({{"name", result.names[v]}, {"features", result.features[v]}});
  }
  for (const ViewsRow& row : result.rows) {
    Json entry{{"fraction", row.fraction}, {"matched", row.matched}, {"tested", row.tested}};
    for (std::size_t v = 0; v < result.names.size(); ++v) entry["alone"][result.names[v]] = to_json(row.alone[v]);
    entry["side_by_side"] = to_json(row.side_by_side);
    for (const ViewsTrial& trial : row.trials) entry["fits"].push_back(to_json(result, trial));
    json["rows"].push_back(std::move(entry));
  }
  json["seconds"] = result.seconds;
  return json.dump(2);
}

std::string to_text(const ViewsResult& result) {
  std::string text = fmt::format(
      "{}: {} samples, {} classes, {} views, max_rank {}, {} draw{}, seed {}; nearest neighbour, share of test samples "
      "named right, mean ± sd\n",
      result.source, result.samples, result.classes, result.names.size(), result.options.max_rank, result.options.draws,
      result.options.draws == 1 ? "" : "s", result.options.seed);
  for (const ViewsRow& row : result.rows) {
    text += fmt::format("{} matched samples; all views side by side, not mapped: {}\n", row.matched,
                        experiments::text(row.side_by_side));
    for (const ViewsTrial& trial : row.trials) text += table(result, row, trial);
  }
  return text;
}

}  // namespace cgmca::experiments
