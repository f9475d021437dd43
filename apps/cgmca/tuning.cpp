#include "tuning.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "mapped.hpp"
#include "progress.hpp"
#include "signals.hpp"
#include "support/choice.hpp"
#include "support/suggest.hpp"

namespace cgmca::cli {
namespace {

template <class Choices>
auto chosen(const char* option, const std::string& text, const Choices& choices) {
  if (const auto found = find_choice(text, choices)) return *found;
  const auto names = names_of(choices);
  throw UsageError(
      fmt::format("{} has no '{}'{}: give {}", option, text, did_you_mean(text, names), fmt::join(names, ", ")));
}

// One whole number a sample.
std::vector<int> read_labels(const std::string& path, bool columns) {
  const Matrix values = read(path, {.columns = columns});
  if (values.rows() != 1 && values.cols() != 1) {
    throw InvalidInput(
        fmt::format("'{}' holds {}×{} numbers; labels are one a sample", path, values.cols(), values.rows()));
  }
  std::vector<int> labels;
  for (double value : values.reshaped()) {
    if (value != std::floor(value) || std::abs(value) > 1e9) {
      throw InvalidInput(fmt::format("'{}': the label {} is no whole number", path, value));
    }
    labels.push_back(static_cast<int>(value));
  }
  return labels;
}

TuneOptions grid(const TuningSpecs& specs) {
  TuneOptions options;
  if (!specs.families.empty()) options.families.clear();
  for (const auto& text : split_list(specs.families)) {
    if (!text.empty()) options.families.push_back(chosen("--covs", text, kFamilies));
  }
  if (specs.families.empty() && !specs.labels.empty()) options.families.assign(kFamilies.begin(), kFamilies.end());
  if (!specs.ranks.empty()) {
    for (const auto& text : split_list(specs.ranks)) options.ranks.push_back(parse_count("--ranks", text, 1));
  }
  if (!specs.max_ranks.empty()) {
    for (const auto& text : split_list(specs.max_ranks)) {
      options.max_ranks.push_back(text == "all" ? 0 : parse_count("--max-ranks", text, 1));
    }
  }
  if (!specs.ridges.empty()) {
    for (const auto& text : split_list(specs.ridges)) options.ridges.push_back(parse_ridge(text));
  }
  if (!specs.criterion.empty()) options.criterion = chosen("--criterion", specs.criterion, kCriteria);
  return options;
}

Matrix appended(Matrix all, const Matrix& block) {
  all.conservativeResize(block.rows(), all.cols() + block.cols());
  all.rightCols(block.cols()) = block;
  return all;
}

std::vector<int> picked(const std::vector<int>& labels, const std::vector<Index>& numbers) {
  std::vector<int> result;
  for (const Index number : numbers) result.push_back(labels[static_cast<std::size_t>(number)]);
  return result;
}

bool has(const TuneResult& result, Criterion criterion) { return std::isfinite(result.trials[0][criterion].mean); }

}  // namespace

std::string max_rank_text(Index max_rank) { return max_rank == 0 ? "all" : fmt::format("{}", max_rank); }

std::vector<std::size_t> by_merit(const TuneResult& result) {
  std::vector<std::size_t> order(result.trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double first = result.trials[a][result.criterion].mean, second = result.trials[b][result.criterion].mean;
    return std::isnan(first) ? false : std::isnan(second) || first < second;
  });
  return order;
}

void add_tuning_options(CLI::App& command, TuningSpecs& specs) {
  command
      .add_option("--covs", specs.families,
                  "Covariances to try: identity, correlation, data1, data2, likelihood1, likelihood2; default: "
                  "identity, with labels all")
      ->option_text("LIST");
  command.add_option("--ranks", specs.ranks, "Their ranks; default: 1,2,5,10,… as far as the pairs allow")
      ->option_text("LIST");
  command.add_option("--max-ranks", specs.max_ranks, "Values of --max-rank; default: 5,10,20,…,all")
      ->option_text("LIST");
  command.add_option("--ridges", specs.ridges, "Values of --ridge; default: 0,0.01,0.1,1,auto")->option_text("LIST");
  command.add_option("--folds", specs.folds.folds, "Parts of the pairs, each held out in turn (default 5)")
      ->check(CLI::Range(2, 1000))
      ->option_text("N");
  command.add_option("--repeats", specs.folds.repeats, "Times with other random folds (default 1)")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  command.add_option("--seed", specs.folds.seed, "Of the folds (default 1)")->option_text("N");
  command
      .add_option("--criterion", specs.criterion,
                  "What to choose by: translation (error of 2 → 1, the default), translation-to-2, distance, "
                  "classification (the default with labels), likelihood (of the partner), partner (how many are nearer "
                  "than it)")
      ->option_text("NAME");
  command.add_option("--labels", specs.labels, "The classes of the pairs, whole numbers, for classification")
      ->option_text("FILE");
  command.add_option("--reference", specs.reference, "Labelled samples of domain 1 to classify by; default: X1 itself")
      ->option_text("FILE");
  command.add_option("--reference-labels", specs.reference_labels, "Their classes")->option_text("FILE");
}

void TuningSpecs::check() const {
  grid(*this);
  if (reference.empty() != reference_labels.empty()) {
    throw UsageError("--reference and --reference-labels go together");
  }
  if (!reference.empty() && labels.empty()) throw UsageError("--reference needs --labels of the pairs");
  if (criterion == name(Criterion::classification) && labels.empty()) {
    throw UsageError("--criterion classification needs --labels FILE");
  }
}

void read_folds(const Session& session, PairReader& reader, Folds& folds,
                const std::function<void(const PairReader::Block&)>& use) {
  Progress progress(session, "pairs read", reader.samples());
  for (;;) {
    const PairReader::Block block = reader.next();
    if (block.X1.cols() == 0) return;
    if (block.weights.size() == 0) {
      folds.add(block.X1, block.X2);
    } else {
      folds.add(block.X1, block.X2, block.weights);
    }
    if (use) use(block);
    progress.update(reader.position());
    stop_if_interrupted();
  }
}

Tuning run_tuning(const Session& session, PairReader& reader, const TuningSpecs& specs, const DataOptions& data,
                  const InputOptions& input) {
  TuneOptions options = grid(specs);
  options.data = data;
  std::vector<int> labels, reference_labels;
  Matrix reference, X1, X2;
  std::vector<Index> numbers;  // of the pairs that --missing has left
  if (!specs.labels.empty()) labels = read_labels(specs.labels, input.columns);
  if (!specs.reference.empty()) {
    SampleReader samples(specs.reference, input);
    take_order(session, samples, reader.domains()[0].feature_names, "domain 1");
    for_complete_samples(session, "reference samples read", samples, Missing::error,
                         [&](const Matrix& X) { reference = appended(std::move(reference), X); });
    reference_labels = read_labels(specs.reference_labels, input.columns);
  }

  const bool partners = options.criterion == Criterion::partner;
  Tuning tuning{Folds(reader.domains(), specs.folds), {}};
  read_folds(session, reader, tuning.folds, [&](const PairReader::Block& block) {
    numbers.insert(numbers.end(), reader.numbers().begin(), reader.numbers().end());
    if (partners || !labels.empty()) X2 = appended(std::move(X2), block.X2);
    if (partners || (!labels.empty() && specs.reference.empty())) X1 = appended(std::move(X1), block.X1);
  });
  if (partners) options.pairs = {&X1, &X2};
  if (!labels.empty()) {
    if (static_cast<Index>(labels.size()) != reader.first_samples()) {
      throw UnequalSamples(
          fmt::format("'{}' holds {} labels for {} pairs", specs.labels, labels.size(), reader.first_samples()));
    }
    labels = picked(labels, numbers);
    if (specs.reference.empty()) {
      options.labels = {&X1, labels, &X2, labels};
    } else {
      options.labels = {&reference, reference_labels, &X2, labels};
    }
  }
  const Index steps = specs.folds.folds * specs.folds.repeats;
  Progress progress(session, "training sets tried", steps);
  options.progress = [&](double done) {
    progress.update(static_cast<Index>(std::lround(done * static_cast<double>(steps))));
    stop_if_interrupted();
  };
  tuning.result = tune(tuning.folds, options);
  return tuning;
}

Json describe(const TuneResult& result) {
  const auto candidate = [](const Candidate& one) {
    return Json{{"cov", one.covariance_name()},
                {"rank", one.rank == 0 ? Json(nullptr) : Json(one.rank)},
                {"max_rank", one.max_rank == 0 ? Json(nullptr) : Json(one.max_rank)},
                {"ridge", one.ridge.automatic ? Json("auto") : Json(one.ridge.value)}};
  };
  Json trials = Json::array();
  for (const Trial& trial : result.trials) {
    Json entry = candidate(trial.candidate);
    for (Criterion criterion : kCriteria) {
      if (!has(result, criterion)) continue;
      entry[name(criterion)] = {{"mean", trial[criterion].mean}, {"se", trial[criterion].standard_error}};
    }
    trials.push_back(std::move(entry));
  }
  return {{"n", result.samples},
          {"folds", result.folds.folds},
          {"repeats", result.folds.repeats},
          {"seed", result.folds.seed},
          {"criterion", name(result.criterion)},
          {"best", candidate(result.trials[result.best].candidate)},
          {"chosen", candidate(result.choice())},
          {"infeasible", result.infeasible.size()},
          {"trials", std::move(trials)}};
}

std::string describe_text(const TuneResult& result) {
  constexpr std::size_t most = 12;
  std::string text = fmt::format(
      "{} pairs, {} folds, {} repeat{}; error of {}, mean ± standard error, the best first\n    {:<18} {:>9} {:>7}   "
      "{}\n",
      result.samples, result.folds.folds, result.folds.repeats, result.folds.repeats == 1 ? "" : "s",
      name(result.criterion), "covariance", "max rank", "ridge", "error");
  const auto line = [&](std::size_t t) {
    const Trial& trial = result.trials[t];
    const Score& score = trial[result.criterion];
    return fmt::format("{}{} {:<18} {:>9} {:>7}   {:.4f} ± {:.4f}\n", t == result.chosen ? " →" : "  ",
                       t == result.best ? "*" : " ", trial.candidate.covariance_name(),
                       max_rank_text(trial.candidate.max_rank), name(trial.candidate.ridge), score.mean,
                       score.standard_error);
  };
  const auto order = by_merit(result);
  bool shown = false;
  for (std::size_t k = 0; k < std::min(most, order.size()); ++k) {
    text += line(order[k]);
    shown = shown || order[k] == result.chosen;
  }
  if (order.size() > most) text += fmt::format("    … {} more (--json, or -o HTML)\n", order.size() - most);
  if (!shown) text += line(result.chosen);
  if (!result.infeasible.empty())
    text += fmt::format("    {} of the grid cannot be fitted to so few pairs\n", result.infeasible.size());
  const Candidate& choice = result.choice();
  text +=
      fmt::format("* best, → simplest within one standard error of it{}: --cov {}{}{}\n",
                  result.criterion == Criterion::classification ? " and of the least translation error" : "",
                  choice.covariance_name(), choice.max_rank > 0 ? fmt::format(" --max-rank {}", choice.max_rank) : "",
                  choice.ridge == Ridge(0) ? "" : fmt::format(" --ridge {}", name(choice.ridge)));
  return text;
}

Json describe(const PermutationTest& test) {
  return {{"permutations", test.permutations},
          {"kind", test.rotations ? "rotations" : "permutations"},
          {"p_values", test.p_values},
          {"significant", test.significant}};
}

std::string describe_text(const PermutationTest& test) {
  std::string text = fmt::format("{} canonical correlation{} beyond chance ({} random {}; p =", test.significant,
                                 test.significant == 1 ? " is" : "s are", test.permutations,
                                 test.rotations ? "rotations" : "permutations");
  constexpr std::size_t most = 8;
  for (std::size_t j = 0; j < std::min(most, test.p_values.size()); ++j)
    text += fmt::format(" {:.3g}", test.p_values[j]);
  if (test.p_values.size() > most) text += fmt::format(" … {:.3g}", test.p_values.back());
  return text + ")\n";
}

}  // namespace cgmca::cli
