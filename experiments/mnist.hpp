// The paper's experiment: images corrupted by noise (domain 2) translated back to clean ones (domain 1), digit by
// digit.
//
//   per digit   split 80/20, corrupt, fit CGMCA (C1 = C2 = data1:t) and MCA (C1 = C2 = identity:t) on the 80 %
//   mca, cgmca  20 LSQR steps, wiener2, medfilt2, mat2gray, SSIM against the clean image: the paper's table
//   exact       mean + A1⁺ A2 (x - mean), clipped to [0, 1], not filtered: the same for MCA and CGMCA
//   lmmse       the best linear estimate, likewise
//   noisy       the corrupted image itself
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/dataset.hpp"

namespace cgmca::experiments {

enum class Noise {
  imnoise,   // clip(x + √0.1 z, 0, 1): MATLAB's imnoise(x, 'gaussian', 0, 0.1), which the paper's table matches
  additive,  // x + 0.1 z: the paper's wording
};
const char* name(Noise noise);

struct MnistOptions {
  Noise noise = Noise::imnoise;
  std::uint64_t seed = 1;  // of the noise and the splits; repetition k uses seed + k
  int repeat = 1;
  std::vector<int> digits = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  bool figures = false;  // also collect what only the report shows: examples, and SSIM along the LSQR iterations
};

// Means over the test images of one run.
struct Scores {
  double mca = 0, cgmca = 0, exact = 0, lmmse = 0, noisy = 0;  // SSIM
  double exact_psnr = 0, lmmse_psnr = 0, noisy_psnr = 0;       // dB
};

// A test image on its way, each 784 pixels: the one nearest to the mean of the training images.
struct Example {
  Vector clean, noisy, mca, cgmca, mca_filtered, cgmca_filtered, exact, lmmse;
};

struct DigitRow {
  int digit = 0;
  Index t = 0;  // the paper's, or the rank of the data where that is less
  Index n_train = 0, n_test = 0;
  std::array<Index, 2> ranks{};  // of the two domains, first run
  std::vector<Scores> runs;      // one per repetition
  Vector correlations;           // canonical, first run
  // Where figures are asked for:
  Example example;
  double exact_difference = 0;  // ‖X_MCA - X_CGMCA‖/‖X_CGMCA‖ of the exact translations of separate fits, first run

  double mean(double Scores::*score) const;
  double sd(double Scores::*score) const;  // of the runs; 0 for a single one
};

// Mean SSIM of one digit's first test images after 1, 2, … LSQR steps.
struct IterationCurve {
  int digit = 0;
  Index images = 0;
  std::vector<Index> iterations;
  std::vector<double> mca, cgmca;                  // as in the table
  std::vector<double> mca_clipped, cgmca_clipped;  // clipped to [0, 1] and not filtered
  double exact = 0, exact_clipped = 0;             // where both arrive
  double mca_condition = 0, cgmca_condition = 0;   // σ_1/σ_t of A1
  double leading_share = 0;                        // of CGMCA's common space: variance along its first 20 directions
};

struct MnistResult {
  std::string data;
  bool is_mnist = false;
  ImageSize size{};
  MnistOptions options;
  std::vector<DigitRow> rows;
  IterationCurve curve;
  double seconds = 0;  // without reading the data

  double mean(double Scores::*score) const;  // over the digits
};

// t of the paper's table for a digit; 500 for other labels.
Index paper_rank(int digit);
// The paper's mean SSIM of a digit from 0 to 9: MCA, CGMCA.
std::array<double, 2> paper_scores(int digit);

// Clean images and what the noise makes of them; image j's noise depends on the seed and j alone.
Matrix corrupt(const Dataset& data, const std::vector<Index>& images, Noise noise, std::uint64_t seed);

// 80 % of the images (rounded) for training, in random order, and the others.
struct Split {
  std::vector<Index> train, test;
};
Split split(const std::vector<Index>& images, int digit, std::uint64_t seed);

// Called after each digit of each run, with the part done, by one thread at a time; may throw to stop.
using Progress = std::function<void(double done)>;

// Throws InvalidInput where a digit has fewer than 10 images or repeat < 1.
MnistResult run_mnist(const Dataset& data, const MnistOptions& options, const Progress& progress = {});

// "0-9", "3", "0,2,5-7". Throws InvalidInput.
std::vector<int> parse_digits(const std::string& text);

// The first folder of out/data/mnist, ../shared/data/mnist and Debian's Fashion-MNIST that holds a data set, else
// empty.
std::string default_data_folder();

// One object, keys as in the documentation of the command line.
std::string to_json(const MnistResult& result);
// The table as plain text.
std::string to_text(const MnistResult& result);
// report.html and the montages as PNG files; makes the folder. Needs a result with figures.
void write_report(const MnistResult& result, const std::string& folder);

}  // namespace cgmca::experiments
