// The result of the MNIST experiment as JSON and as a table of plain text.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/mnist.hpp"

namespace cgmca::experiments {
namespace {

using Json = nlohmann::ordered_json;

struct Column {
  const char* name;
  double Scores::*score;
};
constexpr std::array<Column, 5> kSimilarity{{{"mca", &Scores::mca},
                                             {"cgmca", &Scores::cgmca},
                                             {"exact", &Scores::exact},
                                             {"lmmse", &Scores::lmmse},
                                             {"noisy", &Scores::noisy}}};
constexpr std::array<Column, 3> kDecibels{
    {{"exact", &Scores::exact_psnr}, {"lmmse", &Scores::lmmse_psnr}, {"noisy", &Scores::noisy_psnr}}};

Json row_json(const DigitRow& row) {
  Json json{{"digit", row.digit},
            {"t", row.t},
            {"n_train", row.n_train},
            {"n_test", row.n_test},
            {"ranks", {row.ranks[0], row.ranks[1]}}};
  for (const auto& [name, score] : kSimilarity) json[name] = row.mean(score);
  for (const auto& [name, score] : kSimilarity) json["sd"][name] = row.sd(score);
  for (const auto& [name, score] : kDecibels) json["psnr"][name] = row.mean(score);
  for (const Scores& run : row.runs) {
    Json one;
    for (const auto& [name, score] : kSimilarity) one[name] = run.*score;
    json["runs"].push_back(one);
  }
  return json;
}

}  // namespace

std::string to_json(const MnistResult& result) {
  Json json{{"data", result.data},         {"noise", name(result.options.noise)},
            {"seed", result.options.seed}, {"repeat", result.options.repeat},
            {"rows", Json::array()},       {"mean", Json::object()}};
  for (const DigitRow& row : result.rows) json["rows"].push_back(row_json(row));
  for (const auto& [name, score] : kSimilarity) json["mean"][name] = result.mean(score);
  for (const auto& [name, score] : kDecibels) json["mean"]["psnr"][name] = result.mean(score);
  json["seconds"] = result.seconds;
  return json.dump(2);
}

std::string to_text(const MnistResult& result) {
  std::string text = fmt::format("{}, noise {}, seed {}, {} run{}; mean SSIM over the test images\n", result.data,
                                 name(result.options.noise), result.options.seed, result.options.repeat,
                                 result.options.repeat == 1 ? "" : "s (± standard deviation)");
  text += fmt::format("{:>5} {:>4} {:>6} {:>6} {:>15} {:>15} {:>7} {:>7} {:>7}{}\n", "digit", "t", "train", "test",
                      "MCA", "CGMCA", "exact", "lmmse", "noisy", result.is_mnist ? "   paper MCA  CGMCA" : "");
  const auto with_sd = [&](const DigitRow& row, double Scores::*score) {
    return result.options.repeat > 1 ? fmt::format("{:.4f} ± {:.4f}", row.mean(score), row.sd(score))
                                     : fmt::format("{:.4f}", row.mean(score));
  };
  for (const DigitRow& row : result.rows) {
    text += fmt::format("{:>5} {:>4} {:>6} {:>6} {:>15} {:>15} {:>7.4f} {:>7.4f} {:>7.4f}", row.digit, row.t,
                        row.n_train, row.n_test, with_sd(row, &Scores::mca), with_sd(row, &Scores::cgmca),
                        row.mean(&Scores::exact), row.mean(&Scores::lmmse), row.mean(&Scores::noisy));
    if (result.is_mnist) {
      const auto [mca, cgmca] = paper_scores(row.digit);
      text += fmt::format("       {:.4f} {:.4f}", mca, cgmca);
    }
    text += "\n";
  }
  text += fmt::format("{:>5} {:>4} {:>6} {:>6} {:>15.4f} {:>15.4f} {:>7.4f} {:>7.4f} {:>7.4f}\n", "mean", "", "", "",
                      result.mean(&Scores::mca), result.mean(&Scores::cgmca), result.mean(&Scores::exact),
                      result.mean(&Scores::lmmse), result.mean(&Scores::noisy));
  return text;
}

}  // namespace cgmca::experiments
