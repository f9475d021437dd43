#include "options/tuning.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "input/domains.hpp"
#include "input/mapped.hpp"
#include "shell/progress.hpp"
#include "shell/signals.hpp"
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
      throw InvalidInput(fmt::format("'{}': the label {} is not a whole number", path, value));
    }
    labels.push_back(static_cast<int>(value));
  }
  return labels;
}

// Coefficients of q linear functions of d features.   d×q
Matrix read_coefficients(const std::string& path, Index features, bool columns) {
  const Matrix values = read(path, {.columns = columns});
  if (values.rows() == features) return values;
  if (values.cols() == features && values.rows() == 1) return values.transpose();
  throw WrongDimension(fmt::format("'{}' holds {}×{} coefficients; domain 1 has {} features", path, values.cols(),
                                   values.rows(), features));
}

TuneOptions grid(const TuningSpecs& specs) {
  TuneOptions options;
  for (const auto& text : split_list(specs.families)) {
    if (!text.empty()) options.families.push_back(chosen("--covs", text, kFamilies));
  }
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
  options.towards = parse_towards(specs.towards);
  if (!specs.downstream.empty()) options.criterion = Criterion::downstream;
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
  for (const Index number : numbers) result.push_back(labels[number]);
  return result;
}

// What only two domains have.
void check_many(const TuningSpecs& specs, const TuneOptions& options, Index domains) {
  const auto refuse = [&](const std::string& what, const char* instead) {
    throw UsageError(fmt::format("{} compares two domains; there are {}. {}", what, domains, instead));
  };
  for (const Family family : options.families) {
    if (!has_rank(family)) refuse(fmt::format("--covs {}", name(family)), "Try identity or correlation");
  }
  const Criterion criterion = options.criterion.value_or(Criterion::translation);
  if (criterion != Criterion::distance && criterion != Criterion::translation &&
      criterion != Criterion::classification) {
    refuse(fmt::format("--criterion {}", name(criterion)), "Choose by translation, distance or classification");
  }
  if (!specs.downstream.empty()) refuse("--downstream", "Choose by translation");
  for (const auto& [option, value] : {std::pair("--reference", specs.reference), {"--queries", specs.queries}}) {
    if (!value.empty()) refuse(option, "More have the classes of their matched samples, --labels");
  }
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
      .add_option(
          "--covs", specs.families,
          "Covariances to try: identity, correlation, data1, data2, likelihood1, likelihood2 (the likelihoods for two "
          "domains only). Default: identity; with labels all but likelihood1; with --criterion likelihood or partner "
          "likelihood2")
      ->option_text("LIST");
  command.add_option("--ranks", specs.ranks, "Their ranks; default: 1,2,5,10,… as far as the pairs allow")
      ->option_text("LIST");
  command
      .add_option(
          "--max-ranks", specs.max_ranks,
          "Values of --max-rank, each tried with each ridge; default: no limit, and without a ridge 5,10,20,… too")
      ->option_text("LIST");
  command.add_option("--ridges", specs.ridges, "Values of --ridge; default: 0, 1e-6 … 1000, 1e9 (the mean) and auto")
      ->option_text("LIST");
  command.add_option("--folds", specs.folds.folds, "Parts of the pairs, each held out in turn (default 5)")
      ->check(CLI::Range(2, 1000))
      ->option_text("N");
  command
      .add_option("--repeats", specs.folds.repeats,
                  "How often the pairs are divided into random folds; default: 10 for up to 100 pairs, 1000/pairs for "
                  "more")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  command.add_option("--seed", specs.folds.seed, "Seed of the folds (default 1)")->option_text("N");
  command
      .add_option(
          "--criterion", specs.criterion,
          "What to choose by: translation (error of 2 → 1; for more domains the mean of each from all others; the "
          "default), distance, classification (the default with labels); for two domains also translation-to-2, "
          "likelihood (of the partner), partner (its place among the nearest), downstream")
      ->option_text("NAME");
  command
      .add_option("--downstream", specs.downstream,
                  "Choose by what a linear model of domain 1 makes of the translated samples: its coefficients, one a "
                  "feature, or a row of them for each output")
      ->option_text("FILE");
  command.add_option("--labels", specs.labels, "The classes of the matched samples, whole numbers, for classification")
      ->option_text("FILE");
  command
      .add_option("--reference", specs.reference,
                  "More samples of domain 1, without partners: labelled ones to classify by, or others for partner")
      ->option_text("FILE");
  command.add_option("--reference-labels", specs.reference_labels, "Their classes")->option_text("FILE");
  command
      .add_option("--queries", specs.queries, "More labelled samples of domain 2 to be classified, without partners")
      ->option_text("FILE");
  command.add_option("--query-labels", specs.query_labels, "Their classes")->option_text("FILE");
}

void TuningSpecs::check(Index domains) const {
  const TuneOptions options = grid(*this);
  if (domains > 2) check_many(*this, options, domains);
  const bool by_place = criterion == name(Criterion::partner) && labels.empty();  // --reference goes without labels
  if (!by_place && reference.empty() != reference_labels.empty()) {
    throw UsageError("--reference and --reference-labels go together");
  }
  if (by_place && !reference_labels.empty()) throw UsageError("--reference-labels needs --labels of the pairs");
  if (queries.empty() != query_labels.empty()) throw UsageError("--queries and --query-labels go together");
  if (!queries.empty() && labels.empty()) throw UsageError("--queries needs --labels of the pairs");
  if (!reference.empty() && labels.empty() && !by_place) {
    throw UsageError("--reference needs --labels of the pairs, or --criterion partner");
  }
  if (criterion == name(Criterion::downstream) && downstream.empty()) {
    throw UsageError("--criterion downstream needs --downstream FILE, the coefficients of a model of domain 1");
  }
  if (!downstream.empty() && !criterion.empty() && criterion != name(Criterion::downstream)) {
    throw UsageError(fmt::format("--downstream FILE chooses by downstream, not by {}", criterion));
  }
  if (criterion == name(Criterion::classification) && labels.empty()) {
    throw UsageError("--criterion classification needs --labels FILE");
  }
}

void read_folds(const Session& session, PairReader& reader, Folds& folds,
                const std::function<void(const PairReader::Block&)>& use) {
  Progress progress(session, reader.noun() + " read", reader.samples());
  for (;;) {
    const PairReader::Block block = reader.next();
    if (block.samples() == 0) return;
    const MatchedSamples X(block.X.begin(), block.X.end());
    if (block.weights.size() == 0) {
      folds.add(X);
    } else {
      folds.add(X, block.weights);
    }
    if (use) use(block);
    progress.update(reader.position());
    stop_if_interrupted();
  }
}

// Samples of one domain with their classes.
struct Labelled {
  Matrix X;
  std::vector<int> labels;
};

Labelled read_labelled(const Session& session, const std::string& path, const std::string& labels, Index domain,
                       const PairReader& reader, const InputOptions& input) {
  Labelled result;
  if (path.empty()) return result;
  SampleReader samples(path, input);
  const DomainInfo info = reader.domains()[domain - 1];
  samples.suit(info.features, info.feature_names, fmt::format("domain {}", domain));
  tell_notes(session, samples);
  take_order(session, samples, info.feature_names, fmt::format("domain {}", domain));
  for_complete_samples(session, "samples without partners read", samples, Missing::error,
                       [&](const Matrix& X) { result.X = appended(std::move(result.X), X); });
  if (labels.empty()) return result;
  result.labels = read_labels(labels, input.columns);
  if (std::ssize(result.labels) != result.X.cols()) {
    throw UnequalSamples(fmt::format("'{}' holds {} labels for {} samples of '{}'", labels, result.labels.size(),
                                     result.X.cols(), path));
  }
  return result;
}

void append(Labelled& all, const Labelled& more) {
  if (more.labels.empty()) return;
  all.X = appended(std::move(all.X), more.X);
  all.labels.insert(all.labels.end(), more.labels.begin(), more.labels.end());
}

Tuning run_tuning(const Session& session, PairReader& reader, const TuningSpecs& specs, const DataOptions& data,
                  const Graph& graph, const InputOptions& input) {
  TuneOptions options = grid(specs);
  options.data = data;
  options.graph = graph;
  const bool classes = !specs.labels.empty();
  std::vector<int> labels;
  if (classes) labels = read_labels(specs.labels, input.columns);
  const Labelled more1 = read_labelled(session, specs.reference, specs.reference_labels, 1, reader, input);
  const Labelled more2 = read_labelled(session, specs.queries, specs.query_labels, 2, reader, input);

  std::vector<Index> numbers;  // of the samples that --missing has left
  Tuning tuning{
      Folds(reader.domains(), specs.folds), {}, std::vector<Matrix>(static_cast<std::size_t>(reader.count())), {}};
  std::vector<Matrix>& X = tuning.X;
  const bool used = options.criterion == Criterion::partner || options.criterion == Criterion::downstream;
  const bool keep = specs.keep || classes || used;
  read_folds(session, reader, tuning.folds, [&](const PairReader::Block& block) {
    numbers.insert(numbers.end(), reader.numbers().begin(), reader.numbers().end());
    if (!keep) return;
    for (std::size_t i = 0; i < X.size(); ++i) X[i] = appended(std::move(X[i]), block.X[i]);
    if (block.weights.size() > 0) {
      tuning.weights.conservativeResize(tuning.weights.size() + block.samples());
      tuning.weights.tail(block.samples()) = block.weights;
    }
  });
  const bool pairs = X.size() == 2;
  if ((classes || used) && pairs) options.pairs = {&X[0], &X[1]};
  if (options.criterion == Criterion::partner && more1.X.size() > 0) options.pairs.more1 = &more1.X;
  if (!specs.downstream.empty()) {
    options.downstream = [B = read_coefficients(specs.downstream, X[0].rows(), input.columns)](const Matrix& samples) {
      return Matrix(B.transpose() * samples);
    };
  }
  Labelled references, queries;
  if (classes) {
    if (std::ssize(labels) != reader.first_samples()) {
      throw UnequalSamples(fmt::format("'{}' holds {} labels for {} {}", specs.labels, labels.size(),
                                       reader.first_samples(), reader.noun()));
    }
    labels = picked(labels, numbers);
  }
  if (classes && pairs) {
    references = {X[0], labels};
    queries = {X[1], labels};
    append(references, more1);
    append(queries, more2);
    options.labels = {&references.X, references.labels, &queries.X, queries.labels};
  } else if (classes) {
    for (const Matrix& one : X) options.matched.samples.push_back(&one);
    options.matched.labels = labels;
  }
  const Index steps = tuning.folds.repeats() * specs.folds.folds;
  Progress progress(session, "training sets tried", steps);
  options.progress = [&](double done) {
    progress.update(static_cast<Index>(std::lround(done * static_cast<double>(steps))));
    stop_if_interrupted();
  };
  tuning.result = tune(tuning.folds, options);
  return tuning;
}

std::vector<std::pair<std::string, Score>> baselines(const TuneResult& result) {
  const auto c = static_cast<std::size_t>(result.criterion);
  std::vector<std::pair<std::string, Score>> found;
  const bool classes = result.criterion == Criterion::classification, many = result.domains > 2;
  if (std::isfinite(result.unmapped[c].mean)) {
    found.emplace_back(many ? "(all features, no map)" : "(no map)", result.unmapped[c]);
  }
  if (std::isfinite(result.offset[c].mean)) found.emplace_back("(moved by the means)", result.offset[c]);
  if (std::isfinite(result.target_only[c].mean)) {
    found.emplace_back(classes ? many ? "(the best domain alone)" : "(matched samples of domain 2 alone)"
                       : many  ? "(nothing known of the other domains)"
                               : "(nothing known of the other domain)",
                       result.target_only[c]);
  }
  return found;
}

std::string rule_text(const TuneResult& result) {
  if (result.criterion != Criterion::classification) return "chosen";
  return fmt::format("of {} that cannot be told from it, the best of the likelihoods first, else the least error of {}",
                     result.alike, name(*result.tie_break));
}

Json describe(const TuneResult& result) {
  const auto candidate = [](const Candidate& one) {
    return Json{{"cov", one.covariance_name()},
                {"rank", one.rank == 0 ? Json(nullptr) : Json(one.rank)},
                {"max_rank", one.max_rank == 0 ? Json(nullptr) : Json(one.max_rank)},
                {"ridge", one.ridge.automatic ? Json("auto") : Json(one.ridge.value)},
                {"towards", name(one.towards)}};
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
  const auto baseline = [&](const std::array<Score, kCriteria.size()>& scores) {
    Json entry = Json::object();
    for (const Criterion criterion : kCriteria) {
      const Score& score = scores[static_cast<std::size_t>(criterion)];
      if (std::isfinite(score.mean)) entry[name(criterion)] = {{"mean", score.mean}, {"se", score.standard_error}};
    }
    return entry;
  };
  const auto score = [](const Score& one) {
    return std::isfinite(one.mean) ? Json{{"mean", one.mean}, {"se", one.standard_error}} : Json(nullptr);
  };
  return {{"n", result.samples},
          {"folds", result.folds.folds},
          {"repeats", result.folds.repeats},
          {"seed", result.folds.seed},
          {"criterion", name(result.criterion)},
          {"scale", result.scale},
          {"best", candidate(result.trials[result.best].candidate)},
          {"chosen", candidate(result.choice())},
          {"alike", result.alike},
          {"tie_break", result.tie_break ? Json(name(*result.tie_break)) : Json(nullptr)},
          {"expected", score(result.expected)},
          {"with_half", score(result.with_half)},
          {"baselines",
           {{"no_map", baseline(result.unmapped)},
            {"offset", baseline(result.offset)},
            {"target_only", baseline(result.target_only)}}},
          {"remarks", result.remarks},
          {"recommendation", result.recommendation},
          {"infeasible", result.infeasible.size()},
          {"trials", std::move(trials)}};
}

std::string describe_text(const TuneResult& result) {
  constexpr std::size_t most = 12;
  std::string text = fmt::format(
      "{} {}, {} folds, {} repeat{}; error of {}, mean ± standard error, the best first\n    {:<18} {:>9} {:>7}   "
      "{}\n",
      result.samples, matched_noun(result.domains), result.folds.folds, result.folds.repeats,
      result.folds.repeats == 1 ? "" : "s", name(result.criterion), "covariance", "max rank", "ridge", "error");
  const auto line = [&](std::size_t t) {
    const Trial& trial = result.trials[t];
    const Score& score = trial[result.criterion];
    return fmt::format("{}{} {:<18} {:>9} {:>7}   {:.4f} ± {:.4f}{}\n", t == result.chosen ? " →" : "  ",
                       t == result.best ? "*" : " ", trial.candidate.covariance_name(),
                       max_rank_text(trial.candidate.max_rank), name(trial.candidate.ridge), score.mean,
                       score.standard_error, trial.candidate.towards == Towards::identity ? "  towards identity" : "");
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
    text += fmt::format("    {} of the grid cannot be fitted to so few {}\n", result.infeasible.size(),
                        matched_noun(result.domains));
  for (const auto& [what, scores] : baselines(result)) {
    text += fmt::format("    {:<38}{:.4f} ± {:.4f}\n", what, scores.mean, scores.standard_error);
  }
  const Candidate& choice = result.choice();
  text += fmt::format("* best, → {}: --cov {}{}{}{}\n", rule_text(result), choice.covariance_name(),
                      choice.max_rank > 0 ? fmt::format(" --max-rank {}", choice.max_rank) : "",
                      choice.ridge == Ridge(0) ? "" : fmt::format(" --ridge {}", name(choice.ridge)),
                      choice.towards == Towards::identity ? " --towards identity"
                      : result.scale                      ? " --scale"
                                                          : "");
  text += fmt::format("{}\n", fmt::join(result.recommendation, "\n"));
  for (const std::string& remark : result.remarks) text += fmt::format("note: {}\n", remark);
  return text;
}

Json describe(const PermutationTest& test) {
  return {{"permutations", test.permutations},
          {"kind", test.rotations ? "rotations" : "permutations"},
          {"p_values", test.p_values},
          {"significant", test.significant},
          {"remarks", test.remarks}};
}

std::string describe_text(const PermutationTest& test) {
  std::string text = fmt::format("{} {}{} beyond chance ({} random {}; p =", test.significant,
                                 test.domains == 2 ? "canonical correlation" : "common direction",
                                 test.significant == 1 ? " is" : "s are", test.permutations,
                                 test.rotations ? "rotations" : "permutations");
  constexpr std::size_t most = 8;
  for (std::size_t j = 0; j < std::min(most, test.p_values.size()); ++j)
    text += fmt::format(" {:.3g}", test.p_values[j]);
  if (test.p_values.size() > most) text += fmt::format(" … {:.3g}", test.p_values.back());
  text += ")\n";
  for (const std::string& remark : test.remarks) text += fmt::format("note: {}\n", remark);
  return text;
}

}  // namespace cgmca::cli
