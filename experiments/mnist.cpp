#include "experiments/mnist.hpp"

#include <Eigen/SVD>
#include <cgmca/cgmca.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <thread>

#include "experiments/purposes.hpp"

namespace cgmca::experiments {
using namespace random_numbers;

namespace {

Matrix clipped(const Matrix& images) { return images.cwiseMax(0).cwiseMin(1); }

Matrix filtered(const Matrix& images, ImageSize size) { return mat2gray(medfilt2(wiener2(images, size), size)); }

double average(const Vector& values) { return values.mean(); }

struct Pairs {
  Matrix clean, noisy;
};

Pairs take(const Dataset& data, const std::vector<Index>& images, const MnistOptions& options, std::uint64_t seed) {
  return {data.images(Eigen::all, images), corrupt(data, images, options.noise, seed)};
}

struct Models {
  Index t;
  Summary summary;  // of the training pairs
  Model mca, cgmca;
};

// The scores t_i = T_i (x - mean) depend on the data alone, so that MCA's maps z = t come with CGMCA's z = M t and need
// no fit of their own. The certificate stays CGMCA's.
Model with_identity(Model model) {
  const Index t = model.domain(Domain::one).scores();
  model.common_dimension = t;
  for (auto& map : model.domains) map->mixing = Matrix::Identity(t, t);
  model.covariances.assign(2, Covariance::identity(t).description());
  return model;
}

Models fit_both(const Pairs& train, Index t) {
  Summary summary({train.clean.rows(), train.noisy.rows()});
  summary.add(train.clean, train.noisy);
  const auto at_rank = [&](Index rank) {
    const Covariance of_data = Covariance::data(Domain::one, rank);
    Model cgmca = fit(summary, of_data, of_data);
    return Models{rank, summary, with_identity(cgmca), std::move(cgmca)};
  };
  try {
    return at_rank(t);
  } catch (const Infeasible& infeasible) {  // small or flat data sets: as much as they allow
    return at_rank(infeasible.data_rank);
  }
}

Matrix by_lsqr(const Model& model, const Matrix& noisy, const LsqrOptions& options = {}) {
  return translate(model, Domain::two, Domain::one, noisy, Method::lsqr, options);
}

Matrix closed_form(const Model& model, const Matrix& noisy, Method method) {
  return translate(model, Domain::two, Domain::one, noisy, method);
}

double condition(const DomainMap& map) {
  const Vector s = Eigen::BDCSVD<Matrix>(map.matrix()).singularValues();
  return s(0) / s(map.scores() - 1);
}

// ‖X_MCA - X_CGMCA‖/‖X_CGMCA‖ of the exact translations. MCA is fitted by itself here, so that the two have nothing in
// common but the data: T_1⁺ T_2 does not depend on the covariance (docs/method.md, section 5).
double exact_difference(const Models& models, const Matrix& noisy, const Matrix& exact_by_cgmca) {
  const Covariance identity = Covariance::identity(models.t);
  const Model mca = fit(models.summary, identity, identity);
  return (closed_form(mca, noisy, Method::exact) - exact_by_cgmca).norm() / exact_by_cgmca.norm();
}

IterationCurve follow_iterations(const Models& models, const Pairs& test, ImageSize size, int digit) {
  IterationCurve curve;
  curve.digit = digit;
  curve.images = std::min<Index>(test.clean.cols(), 40);
  const Matrix clean = test.clean.leftCols(curve.images), noisy = test.noisy.leftCols(curve.images);
  const auto measure = [&](const Matrix& images) { return average(ssim(filtered(images, size), clean, size)); };
  const auto measure_clipped = [&](const Matrix& images) { return average(ssim(clipped(images), clean, size)); };
  for (const Index steps : {1, 2, 4, 7, 10, 15, 20, 30, 50, 80, 120, 200, 320, 500}) {
    const LsqrOptions options{.tolerance = 0, .iterations = steps};
    const Matrix mca = by_lsqr(models.mca, noisy, options), cgmca = by_lsqr(models.cgmca, noisy, options);
    curve.iterations.push_back(steps);
    curve.mca.push_back(measure(mca));
    curve.cgmca.push_back(measure(cgmca));
    curve.mca_clipped.push_back(measure_clipped(mca));
    curve.cgmca_clipped.push_back(measure_clipped(cgmca));
  }
  const Matrix exact = closed_form(models.cgmca, noisy, Method::exact);
  curve.exact = measure(exact);
  curve.exact_clipped = measure_clipped(exact);
  curve.mca_condition = condition(models.mca.domain(Domain::one));
  curve.cgmca_condition = condition(models.cgmca.domain(Domain::one));
  const Vector& variances = models.cgmca.certificate.singular_A;  // σ(A) of C1 = C2 are its eigenvalues
  curve.leading_share = variances.head(std::min<Index>(20, variances.size())).sum() / variances.sum();
  return curve;
}

// One digit, one run. `first` also fills what a row holds of the first run.
void run_digit(const Dataset& data, const MnistOptions& options, int repetition, bool first, DigitRow& row,
               IterationCurve* curve) {
  const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(repetition);
  const Split parts = split(data.of_class(row.digit), row.digit, seed);
  const Models models = fit_both(take(data, parts.train, options, seed), row.t);
  const Pairs test = take(data, parts.test, options, seed);
  const ImageSize size = data.size;

  const Matrix mca = by_lsqr(models.mca, test.noisy), cgmca = by_lsqr(models.cgmca, test.noisy);
  const Matrix mca_filtered = filtered(mca, size), cgmca_filtered = filtered(cgmca, size);
  const Matrix exact = closed_form(models.cgmca, test.noisy, Method::exact);
  const Matrix exact_clipped = clipped(exact), lmmse = clipped(closed_form(models.cgmca, test.noisy, Method::lmmse));
  const auto similarity = [&](const Matrix& images) { return average(ssim(images, test.clean, size)); };
  const auto decibels = [&](const Matrix& images) { return average(psnr(images, test.clean)); };
  row.runs.push_back({similarity(mca_filtered), similarity(cgmca_filtered), similarity(exact_clipped),
                      similarity(lmmse), similarity(test.noisy), decibels(exact_clipped), decibels(lmmse),
                      decibels(test.noisy)});
  if (!first) return;

  row.t = models.t;
  row.n_train = std::ssize(parts.train);
  row.n_test = std::ssize(parts.test);
  for (const std::size_t i : {0U, 1U}) row.ranks[i] = models.cgmca.certificate.ranks[i];
  row.correlations = models.cgmca.certificate.singular_B;
  if (!options.figures) return;
  row.exact_difference = exact_difference(models, test.noisy, exact);
  Index j = 0;
  (test.clean.colwise() - models.cgmca.domain(Domain::one).mean).colwise().squaredNorm().minCoeff(&j);
  row.example = {test.clean.col(j),   test.noisy.col(j),     mca.col(j),           cgmca.col(j),
                 mca_filtered.col(j), cgmca_filtered.col(j), exact_clipped.col(j), lmmse.col(j)};
  if (curve != nullptr) *curve = follow_iterations(models, test, size, row.digit);
}

}  // namespace

const char* name(Noise noise) { return noise == Noise::imnoise ? "imnoise" : "additive"; }

double DigitRow::mean(double Scores::*score) const {
  double sum = 0;
  for (const Scores& run : runs) sum += run.*score;
  return sum / static_cast<double>(runs.size());
}

double DigitRow::sd(double Scores::*score) const {
  if (runs.size() < 2) return 0;
  const double centre = mean(score);
  double sum = 0;
  for (const Scores& run : runs) sum += (run.*score - centre) * (run.*score - centre);
  return std::sqrt(sum / static_cast<double>(runs.size() - 1));
}

double MnistResult::mean(double Scores::*score) const {
  double sum = 0;
  for (const DigitRow& row : rows) sum += row.mean(score);
  return sum / static_cast<double>(rows.size());
}

Index paper_rank(int digit) { return digit >= 3 && digit <= 5 ? 550 : 500; }

std::array<double, 2> paper_scores(int digit) {
  constexpr std::array<double, 10> mca{.0122, .0037, .0125, .0095, .0122, .0113, .0096, .0088, .0099, .0077};
  constexpr std::array<double, 10> cgmca{.1556, .0271, .1293, .1320, .1118, .1413, .1252, .1034, .1055, .0819};
  const auto place = static_cast<std::size_t>(digit);
  return {mca.at(place), cgmca.at(place)};
}

Matrix corrupt(const Dataset& data, const std::vector<Index>& images, Noise noise, std::uint64_t seed) {
  Matrix result(data.images.rows(), std::ssize(images));
  const auto one = [&](std::size_t k) {
    auto out = result.col(static_cast<Index>(k));
    fill_normal(seed, kNoise, static_cast<std::uint32_t>(images[k]), out.data(), static_cast<std::size_t>(out.size()));
    const auto clean = data.images.col(images[k]).array();
    if (noise == Noise::imnoise) {
      out = (clean + std::sqrt(0.1) * out.array()).max(0).min(1);
    } else {
      out = clean + 0.1 * out.array();
    }
  };
  const auto share = [&](std::size_t part, std::size_t parts) {
    for (std::size_t k = part; k < images.size(); k += parts) one(k);
  };
  const std::size_t parts = static_cast<std::size_t>(std::max(1, threads()));
  std::vector<std::jthread> others;
  for (std::size_t part = 1; part < parts; ++part) others.emplace_back(share, part, parts);
  share(0, parts);
  return result;
}

Split split(const std::vector<Index>& images, int digit, std::uint64_t seed) {
  const auto n = static_cast<std::uint32_t>(images.size());
  const std::uint32_t n_train = (8 * n + 5) / 10;
  const std::vector<std::uint32_t> order = permutation(Stream(seed, kSplit, static_cast<std::uint32_t>(digit)), n);
  Split parts;
  for (std::uint32_t k = 0; k < n; ++k) (k < n_train ? parts.train : parts.test).push_back(images[order[k]]);
  return parts;
}

MnistResult run_mnist(const Dataset& data, const MnistOptions& options, const Progress& progress) {
  if (options.repeat < 1) throw InvalidInput(fmt::format("{} repetitions", options.repeat));
  if (options.digits.empty()) throw InvalidInput("no digits chosen");
  const auto start = std::chrono::steady_clock::now();
  MnistResult result;
  result.data = data.name;
  result.is_mnist = data.is_mnist();
  result.size = data.size;
  result.options = options;
  // The paper shows a "3".
  const bool has_three = std::find(options.digits.begin(), options.digits.end(), 3) != options.digits.end();
  const int shown = has_three ? 3 : options.digits.front();
  for (const int digit : options.digits) {
    const std::size_t images = data.of_class(digit).size();
    if (images < 10) {
      throw InvalidInput(
          fmt::format("{} holds {} images of class {}; at least 10 are needed", data.name, images, digit));
    }
    DigitRow row;
    row.digit = digit;
    row.t = paper_rank(digit);
    result.rows.push_back(std::move(row));
  }
  const double steps = static_cast<double>(result.rows.size()) * options.repeat;
  double done = 0;
  std::mutex mutex;
  // Several digits at a time: their SVDs gain little by BLAS's own threads.
  for (int repetition = 0; repetition < options.repeat; ++repetition) {
    parallel_for(std::ssize(result.rows), [&](Index k) {
      DigitRow& row = result.rows[k];
      run_digit(data, options, repetition, repetition == 0, row, row.digit == shown ? &result.curve : nullptr);
      const std::lock_guard lock(mutex);
      if (progress) progress(++done / steps);
    });
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::vector<int> parse_digits(const std::string& text) {
  std::vector<int> digits;
  const auto fail = [&] { throw InvalidInput(fmt::format("digits '{}'; write for instance 0-9 or 1,3,5-7", text)); };
  const auto digit_at = [&](std::size_t place) {
    if (place >= text.size() || text[place] < '0' || text[place] > '9') fail();
    return text[place] - '0';
  };
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const int low = digit_at(at);
    int high = low;
    if (++at < text.size() && text[at] == '-') {
      high = digit_at(at + 1);
      at += 2;
    }
    if (high < low || (at < text.size() && text[at] != ',')) fail();
    for (int digit = low; digit <= high; ++digit) digits.push_back(digit);
  }
  std::sort(digits.begin(), digits.end());
  digits.erase(std::unique(digits.begin(), digits.end()), digits.end());
  return digits;
}

std::string default_data_folder() {
  for (const char* folder : {"out/data/mnist", "../shared/data/mnist", "/usr/share/datasets/fashion-mnist"}) {
    if (has_dataset(folder)) return folder;
  }
  return {};
}

}  // namespace cgmca::experiments
