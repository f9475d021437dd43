// Radar transfer: synthetic chips with labels are plentiful (domain 1), measured ones are scarce (domain 2). From some
// matched pairs, map both into a common space, train a classifier on mapped synthetic chips, classify mapped measured
// ones.
//
//   per draw     `fraction` of the pairs are matched, at random by pair; the other measured chips are the test set
//   unmapped     synthetic chips classify measured ones as they are
//   measured     only the matched measured chips classify the others
//   …            every other method: both classifiers trained on all mapped synthetic chips
//   likelihood2  that covariance, its ridge by the rank of the partners of held-out chips: no label is used
//   tuned        rank, max_rank, ridge and covariance by cross-validation over the matched pairs alone
// Test chips enter nothing but the final score.
#pragma once

#include <cgmca/image.hpp>
#include <cgmca/tune.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/draws.hpp"

namespace cgmca::experiments {

// SAMPLE (Lewis et al. 2019): chips of ten vehicles, synthetic and measured, matched by file name.
struct RadarChips {
  std::string name;
  ImageSize size{};
  Matrix synthetic, measured;  // (h·w)×n in [0, 1]; column j of both is one pair
  std::vector<int> labels;
  std::vector<std::string> classes;
};

// A folder that holds real/CLASS/*.png and synth/CLASS/*.png, itself or below png_images/qpm or qpm; of each chip its
// centre of `crop`×`crop` pixels (0: all of it). Throws IoError where there is no such folder, with advice.
RadarChips load_sample(const std::string& folder, Index crop = 64);

struct SarOptions {
  std::vector<double> fractions = {0.05, 0.10, 0.25, 0.50};
  int draws = 10;
  std::uint64_t seed = 1;  // draw k uses seed + k
  Index folds = 5;
};

// The methods, in the order of the table.
enum class SarMethod {
  unmapped,
  measured,
  mca,
  cgmca,
  mca_truncated,
  cgmca_truncated,
  mca_ridge,
  cgmca_ridge,
  likelihood,
  tuned
};
inline constexpr std::size_t kSarMethods = 10;
const char* title(SarMethod method);

struct Accuracy {
  double nearest = 0, linear = 0;
};

struct SarDraw {
  std::array<Accuracy, kSarMethods> accuracy;
  Candidate tuned;
};

struct SarRow {
  double fraction = 0;
  Index matched = 0, tested = 0;
  std::vector<SarDraw> draws;
  Matrix confusion_unmapped, confusion_tuned;  // classes × classes, sums over the draws; row: truth (nearest neighbour)

  Spread spread(SarMethod method, double Accuracy::*classifier) const;
};

// How many more synthetic chips without partner help (10 % matched, first draws): accuracy of CGMCA as mapped with
// them.
struct SarExtra {
  Index matched = 0, extra = 0;
  double without = 0, with = 0;              // accuracy of the nearest neighbour
  double without_error = 0, with_error = 0;  // of the translation of test chips from 2 to 1, over their variance
};

// A test chip and what becomes of it, with 10 % matched.
struct SarExample {
  std::string name;
  Vector synthetic, measured, translated;  // translated: the measured chip as a synthetic one
};

struct SarResult {
  std::string data;
  ImageSize size{};
  std::vector<std::string> classes;
  Index pairs = 0;
  SarOptions options;
  std::vector<SarRow> rows;
  std::vector<SarExtra> extras;
  std::vector<SarExample> examples;
  double seconds = 0;
};

// `progress` is called after each draw with the part done; it may throw to stop.
SarResult run_sar(const RadarChips& chips, const SarOptions& options,
                  const std::function<void(double done)>& progress = {});

// ../shared/data/SAMPLE_dataset_public or out/data/SAMPLE_dataset_public where one is there, else empty.
std::string default_sample_folder();

std::string to_json(const SarResult& result);
std::string to_text(const SarResult& result);
void write_report(const SarResult& result, const std::string& folder);

}  // namespace cgmca::experiments
