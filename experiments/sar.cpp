#include "experiments/sar.hpp"

#include <Eigen/QR>
#include <cgmca/cgmca.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

namespace cgmca::experiments {
namespace {

namespace fs = std::filesystem;

bool holds_both(const fs::path& folder) {
  return fs::is_directory(folder / "real") && fs::is_directory(folder / "synth");
}

fs::path find_layout(const std::string& folder) {
  for (const char* below : {"", "qpm", "png_images/qpm", "SAMPLE_dataset_public/png_images/qpm"}) {
    if (holds_both(fs::path(folder) / below)) return fs::path(folder) / below;
  }
  throw IoError(fmt::format(
      "'{}' holds no SAMPLE data: expected real/CLASS/*.png and synth/CLASS/*.png in it or below png_images/qpm. The "
      "data "
      "set (SAMPLE_dataset_public, Air Force Research Laboratory) is public on GitHub; give the folder of a checkout",
      folder));
}

std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The middle of square images stored row by row.
Matrix centre(const Matrix& images, Index side, Index crop) {
  const Index first = (side - crop) / 2;
  Matrix result(crop * crop, images.cols());
  for (Index i = 0; i < crop; ++i) {
    result.middleRows(i * crop, crop) = images.middleRows((first + i) * side + first, crop);
  }
  return result;
}

struct Classified {
  Accuracy accuracy;
  std::vector<int> nearest;
};

Classified classify(const Matrix& training, const std::vector<int>& labels, const Matrix& test,
                    const std::vector<int>& truth) {
  Classified result;
  result.nearest = nearest_neighbour(training, labels, test);
  result.accuracy = {accuracy(result.nearest, truth), accuracy(LinearClassifier(training, labels)(test), truth)};
  return result;
}

// Truncation and ridge by rules of thumb, before any tuning: a third of the pairs as max_rank.
struct Rules {
  Index max_rank, k;
  explicit Rules(Index pairs) : max_rank(std::max<Index>(4, pairs / 3)), k(std::max<Index>(3, max_rank * 4 / 5)) {}
};

// Fewer ranks where there are more pairs: each costs more, and less depends on the choice.
TuneOptions tuning_grid(Index pairs) {
  TuneOptions options;
  options.families = {Family::likelihood2, Family::identity, Family::correlation, Family::data2};
  options.ranks = pairs < 200 ? std::vector<Index>{10, 20, 30, 40, 60, 100} : std::vector<Index>{20, 40, 60, 100};
  options.ridges = {0.0, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0};
  std::erase_if(options.ranks, [&](Index rank) { return rank >= pairs / 2; });
  return options;
}

// Maps of the matched pairs applied to all synthetic chips (training) and to the test chips. Where the covariance has a
// lower rank than the common space has dimensions (data2:K), all points lie in its range: an orthonormal basis of that
// keeps every distance, in K dimensions instead of thousands.
Classified transfer(const Model& model, const RadarChips& chips, const Matrix& test, const std::vector<int>& truth) {
  const auto mapped = [&](Domain domain, const Matrix& X) -> Matrix {
    const DomainMap& map = model.domain(domain);
    if (map.mixing.rows() == map.scores()) return apply(model, domain, X);
    const Matrix& range = model.domain(Domain::one).mixing;  // that of both, as C1 = C2
    const Matrix Q = range.householderQr().householderQ() * Matrix::Identity(range.rows(), range.cols());
    return (Q.transpose() * map.mixing) * (map.weights * (X.colwise() - map.mean));
  };
  return classify(mapped(Domain::one, chips.synthetic), chips.labels, mapped(Domain::two, test), truth);
}

void count(Matrix& confusion, const std::vector<int>& truth, const std::vector<int>& found) {
  for (std::size_t j = 0; j < truth.size(); ++j) confusion(truth[j], found[j]) += 1;
}

double translation_error(const Model& model, const Matrix& from, const Matrix& to) {
  return (translate(model, Domain::two, Domain::one, from) - to).squaredNorm() /
         (to.colwise() - to.rowwise().mean()).squaredNorm();
}

// Truncated CGMCA with and without the synthetic chips that have no partner.
SarExtra with_extra(const RadarChips& chips, Index matched, Index extra, const SarOptions& options) {
  SarExtra result{matched, extra};
  const int draws = std::min(options.draws, 3);
  for (int k = 0; k < draws; ++k) {
    const Draw draw = draw_matched(chips.synthetic.cols(), matched, options.seed + static_cast<std::uint64_t>(k));
    const Matrix test = chips.measured(Eigen::all, draw.test), truth_chips = chips.synthetic(Eigen::all, draw.test);
    const std::vector<int> truth = at(chips.labels, draw.test);
    Summary summary({chips.synthetic.rows(), chips.measured.rows()});
    summary.add(chips.synthetic(Eigen::all, draw.matched), chips.measured(Eigen::all, draw.matched));
    Summary more({chips.synthetic.rows()});
    more.add(truth_chips.leftCols(std::min(extra, truth_chips.cols())));
    const Rules rules(matched);
    FitOptions fit_options;
    fit_options.max_rank = {rules.max_rank, rules.max_rank};
    const Covariance C = Covariance::data(Domain::two, rules.k);
    for (bool with : {false, true}) {
      fit_options.extra = {with ? &more : nullptr, nullptr};
      const Model model = fit(summary, C, C, fit_options);
      const double share = transfer(model, chips, test, truth).accuracy.nearest / draws;
      const double error = translation_error(model, test, truth_chips) / draws;
      (with ? result.with : result.without) += share;
      (with ? result.with_error : result.without_error) += error;
    }
  }
  return result;
}

}  // namespace

const char* title(SarMethod method) {
  switch (method) {
    case SarMethod::unmapped:
      return "unmapped";
    case SarMethod::measured:
      return "measured only";
    case SarMethod::mca:
      return "MCA";
    case SarMethod::cgmca:
      return "CGMCA";
    case SarMethod::mca_truncated:
      return "MCA, truncated";
    case SarMethod::cgmca_truncated:
      return "CGMCA, truncated";
    case SarMethod::mca_ridge:
      return "MCA, ridge";
    case SarMethod::cgmca_ridge:
      return "CGMCA, ridge";
    case SarMethod::likelihood:
      return "likelihood2";
    case SarMethod::tuned:
      return "tuned";
  }
  return "?";
}

RadarChips load_sample(const std::string& folder, Index crop) {
  const fs::path root = find_layout(folder);
  RadarChips chips;
  chips.name = "SAMPLE";
  chips.classes = folders_in(root / "real");
  std::vector<Matrix> synthetic, measured;
  for (std::size_t label = 0; label < chips.classes.size(); ++label) {
    const std::string real = (root / "real" / chips.classes[label]).string();
    const std::string synth = (root / "synth" / chips.classes[label]).string();
    const ImagePairs pairs = match_images(synth, real, "synth/real");
    std::vector<std::string> first, second;
    for (const auto& [one, two] : pairs.pairs) {
      first.push_back(one);
      second.push_back(two);
    }
    if (first.empty()) throw InvalidInput(fmt::format("'{}' and '{}' hold no matching chips", synth, real));
    synthetic.push_back(read_images(synth, first));
    measured.push_back(read_images(real, second));
    chips.labels.insert(chips.labels.end(), first.size(), static_cast<int>(label));
  }
  const Index pixels = synthetic.front().rows(), n = std::ssize(chips.labels);
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(pixels))));
  if (side * side != pixels) throw InvalidInput(fmt::format("chips of {} pixels are not square", pixels));
  if (crop == 0) crop = side;
  if (crop < 1 || crop > side)
    throw InvalidInput(fmt::format("a crop of {} pixels from chips of {}×{}", crop, side, side));
  chips.size = {crop, crop};
  chips.synthetic.resize(crop * crop, n);
  chips.measured.resize(crop * crop, n);
  Index first = 0;
  for (std::size_t label = 0; label < synthetic.size(); ++label) {
    const Index here = synthetic[label].cols();
    chips.synthetic.middleCols(first, here) = centre(synthetic[label], side, crop) / 255;
    chips.measured.middleCols(first, here) = centre(measured[label], side, crop) / 255;
    first += here;
  }
  return chips;
}

Spread SarRow::spread(SarMethod method, double Accuracy::*classifier) const {
  std::vector<double> values;
  for (const SarDraw& draw : draws) values.push_back(draw.accuracy[static_cast<std::size_t>(method)].*classifier);
  return experiments::spread(values);
}

SarResult run_sar(const RadarChips& chips, const SarOptions& options,
                  const std::function<void(double done)>& progress) {
  if (options.draws < 1) throw InvalidInput(fmt::format("{} draws; at least 1 is needed", options.draws));
  const auto start = std::chrono::steady_clock::now();
  const Index pairs = chips.synthetic.cols(), d = chips.synthetic.rows();
  const auto classes = std::ssize(chips.classes);
  SarResult result;
  result.data = chips.name;
  result.size = chips.size;
  result.classes = chips.classes;
  result.pairs = pairs;
  result.options = options;
  // Needs no pairs, and so is the same for every draw.
  const std::vector<int> unmapped_nearest = nearest_neighbour(chips.synthetic, chips.labels, chips.measured);
  const std::vector<int> unmapped_linear = LinearClassifier(chips.synthetic, chips.labels)(chips.measured);
  std::size_t done = 0;
  for (double fraction : options.fractions) {
    SarRow row;
    row.fraction = fraction;
    row.matched = matched_count(fraction, pairs, 2 * options.folds);
    row.tested = pairs - row.matched;
    row.confusion_unmapped = row.confusion_tuned = Matrix::Zero(classes, classes);
    for (int k = 0; k < options.draws; ++k) {
      const Draw draw = draw_matched(pairs, row.matched, options.seed + static_cast<std::uint64_t>(k));
      const Matrix synthetic = chips.synthetic(Eigen::all, draw.matched);
      const Matrix measured = chips.measured(Eigen::all, draw.matched);
      const Matrix test = chips.measured(Eigen::all, draw.test);
      const Matrix unmatched = chips.synthetic(Eigen::all, draw.test);  // synthetic chips are plentiful
      const std::vector<int> labels = at(chips.labels, draw.matched), truth = at(chips.labels, draw.test);
      SarDraw scores;
      const auto score = [&](SarMethod method, const Classified& found) {
        scores.accuracy[static_cast<std::size_t>(method)] = found.accuracy;
        return found.nearest;
      };

      Classified as_they_are;
      as_they_are.nearest = at(unmapped_nearest, draw.test);
      as_they_are.accuracy = {accuracy(as_they_are.nearest, truth), accuracy(at(unmapped_linear, draw.test), truth)};
      count(row.confusion_unmapped, truth, score(SarMethod::unmapped, as_they_are));
      score(SarMethod::measured, classify(measured, labels, test, truth));

      FoldOptions dealt;
      dealt.folds = options.folds;
      dealt.seed = options.seed + static_cast<std::uint64_t>(k);
      Folds folds({d, d}, dealt);
      folds.add(synthetic, measured);
      const PreparedFit prepared(folds.all());
      const auto fitted = [&](const Covariance& C, const Regularization& fit_options) {
        return transfer(prepared.fit(C, C, fit_options), chips, test, truth);
      };
      const Rules rules(row.matched);
      const Index plain = std::min<Index>(100, row.matched - 2);
      Regularization truncated, ridged;
      truncated.max_rank = {rules.max_rank, rules.max_rank};
      ridged.ridge = {1.0, 1.0};
      score(SarMethod::mca, fitted(Covariance::identity(plain), {}));
      score(SarMethod::cgmca, fitted(Covariance::data(Domain::two, plain), {}));
      score(SarMethod::mca_truncated, fitted(Covariance::identity(rules.k), truncated));
      score(SarMethod::cgmca_truncated, fitted(Covariance::data(Domain::two, rules.k), truncated));
      score(SarMethod::mca_ridge, fitted(Covariance::identity(rules.k), ridged));
      score(SarMethod::cgmca_ridge, fitted(Covariance::data(Domain::two, rules.k), ridged));

      TuneOptions grid = tuning_grid(row.matched);
      grid.pairs = {&synthetic, &measured};
      TuneOptions without_labels = grid;
      without_labels.families = {Family::likelihood2};
      without_labels.criterion = Criterion::partner;
      without_labels.pairs.more1 = &unmatched;
      const Regularization unlabelled = tune(folds, without_labels).choice().regularization();
      score(SarMethod::likelihood, fitted(Covariance::likelihood(Domain::two), unlabelled));

      grid.labels = {&chips.synthetic, chips.labels, &measured, labels};
      const TuneResult tuned = tune(folds, grid);
      scores.tuned = tuned.choice();
      const Covariance C = scores.tuned.covariance();
      const Model model = prepared.fit(C, C, scores.tuned.regularization());
      count(row.confusion_tuned, truth, score(SarMethod::tuned, transfer(model, chips, test, truth)));
      row.draws.push_back(scores);

      if (k == 0 && result.examples.empty() && fraction >= 0.1) {
        for (int label = 0; label < static_cast<int>(classes); ++label) {  // the first test chip of each class
          const auto found = std::find(truth.begin(), truth.end(), label);
          if (found == truth.end()) continue;
          const Index place = draw.test[found - truth.begin()];
          result.examples.push_back({chips.classes[label], chips.synthetic.col(place), chips.measured.col(place),
                                     translate(model, Domain::two, Domain::one, chips.measured.col(place))});
        }
      }
      if (progress) {
        progress(static_cast<double>(++done) / static_cast<double>(options.fractions.size()) / options.draws);
      }
    }
    result.rows.push_back(std::move(row));
  }
  for (double fraction : options.fractions) {
    const Index matched = matched_count(fraction, pairs, 2 * options.folds);
    result.extras.push_back(with_extra(chips, matched, pairs - matched, options));
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace cgmca::experiments
