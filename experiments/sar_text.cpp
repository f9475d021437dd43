// The result of the radar experiment as JSON and as tables of plain text.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/sar.hpp"

namespace cgmca::experiments {
namespace {

using Json = nlohmann::ordered_json;

struct Classifier {
  const char* name;
  double Accuracy::*member;
};
constexpr std::array<Classifier, 2> kClassifiers{{{"nearest", &Accuracy::nearest}, {"linear", &Accuracy::linear}}};

Json matrix_json(const Matrix& values) {
  Json rows = Json::array();
  for (Index i = 0; i < values.rows(); ++i) {
    Json row = Json::array();
    for (Index j = 0; j < values.cols(); ++j) row.push_back(values(i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string default_sample_folder() {
  for (const char* folder : {"out/data/SAMPLE_dataset_public", "../shared/data/SAMPLE_dataset_public"}) {
    if (std::filesystem::is_directory(folder)) return folder;
  }
  return {};
}

std::string to_json(const SarResult& result) {
  Json json{
      {"data", result.data},       {"pairs", result.pairs},       {"size", {result.size.height, result.size.width}},
      {"classes", result.classes}, {"seed", result.options.seed}, {"draws", result.options.draws},
      {"rows", Json::array()},     {"extra", Json::array()}};
  for (const SarRow& row : result.rows) {
    Json entry{{"fraction", row.fraction}, {"matched", row.matched}, {"tested", row.tested}};
    for (std::size_t m = 0; m < kSarMethods; ++m) {
      const auto method = static_cast<SarMethod>(m);
      for (const auto& [name, member] : kClassifiers) {
        entry["accuracy"][title(method)][name] = to_json(row.spread(method, member));
      }
    }
    for (const SarDraw& draw : row.draws) entry["tuned"].push_back(draw.tuned.description());
    entry["confusion_unmapped"] = matrix_json(row.confusion_unmapped);
    entry["confusion_tuned"] = matrix_json(row.confusion_tuned);
    json["rows"].push_back(std::move(entry));
  }
  for (const SarExtra& extra : result.extras) {
    json["extra"].push_back({{"matched", extra.matched},
                             {"extra", extra.extra},
                             {"accuracy_without", extra.without},
                             {"accuracy_with", extra.with},
                             {"translation_error_without", extra.without_error},
                             {"translation_error_with", extra.with_error}});
  }
  json["seconds"] = result.seconds;
  return json.dump(2);
}

std::string to_text(const SarResult& result) {
  std::string text = fmt::format(
      "{}: {} pairs of {}×{} pixels, {} classes, {} draw{}, seed {}; share of test chips "
      "classified right, mean ± sd\n",
      result.data, result.pairs, result.size.height, result.size.width, result.classes.size(), result.options.draws,
      result.options.draws == 1 ? "" : "s", result.options.seed);
  for (const auto& [name, member] : kClassifiers) {
    text += fmt::format("{:<18}", member == &Accuracy::nearest ? "nearest neighbour" : "linear");
    for (const SarRow& row : result.rows) {
      text += fmt::format(" {:>15}", fmt::format("{:.0f} % ({})", 100 * row.fraction, row.matched));
    }
    text += "\n";
    for (std::size_t m = 0; m < kSarMethods; ++m) {
      const auto method = static_cast<SarMethod>(m);
      text += fmt::format("{:<18}", title(method));
      for (const SarRow& row : result.rows) {
        text += fmt::format(" {:>15}", experiments::text(row.spread(method, member)));
      }
      text += "\n";
    }
  }
  text += "synthetic chips without partner as extra samples (truncated CGMCA): accuracy, translation error\n";
  for (const SarExtra& extra : result.extras) {
    text += fmt::format("{:>5} pairs: {:.3f} → {:.3f}, {:.3f} → {:.3f}\n", extra.matched, extra.without, extra.with,
                        extra.without_error, extra.with_error);
  }
  return text;
}

}  // namespace cgmca::experiments
