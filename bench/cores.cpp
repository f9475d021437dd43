// The core's half of bench/cores: one fit, timed for each number of threads. Needs no files of other formats.
//
//   bench_cores X1 X2 D1 D2 N COV RUNS THREADS…    X1, X2: raw doubles, sample after sample; COV: identity:K or data1:K
//   bench_cores rate THREADS…                      of a large matrix product
// Prints for each number of threads the best seconds, the rate in the sum and the route, as one JSON line.
#include <cgmca/cgmca.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "core/linalg/linalg.hpp"

namespace {

using namespace cgmca;

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Matrix read_raw(const std::string& path, Index d, Index n) {
  Matrix X(d, n);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(X.data()), static_cast<std::streamsize>(sizeof(double)) * X.size())) {
    throw InvalidInput(fmt::format("{} holds fewer than {} numbers", path, X.size()));
  }
  return X;
}

void measure_rate(int count) {
  const Matrix A = Matrix::Constant(4096, 4096, 0.5);
  double best = INFINITY;
  for (int run = 0; run < 3; ++run) best = std::min(best, seconds_of([&] { linalg::AB(A, A); }));
  std::cout << fmt::format("{{\"threads\": {}, \"gflops\": {:.0f}}}\n", count, 2 * std::pow(4096, 3) / best / 1e9);
}

void measure_fit(const Matrix& X1, const Matrix& X2, const Covariance& C, int runs, int count) {
  double best = INFINITY;
  Model model;
  std::string profile;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> before;
    for (const linalg::Work kind : linalg::kWorks) before.push_back(linalg::cost(kind).seconds);
    const double seconds = seconds_of([&] { model = fit(X1, X2, C, C); });
    if (seconds >= best) continue;
    best = seconds;
    profile.clear();
    for (std::size_t i = 0; i < linalg::kWorks.size(); ++i) {
      const linalg::Work kind = linalg::kWorks[i];
      profile += fmt::format("{}\"{}\": {:.3f}", i == 0 ? "" : ", ", linalg::name(kind),
                             linalg::cost(kind).seconds - before[i]);
    }
  }
  const Certificate& found = model.certificate;
  std::cout << fmt::format(
                   "{{\"threads\": {}, \"seconds\": {:.4f}, \"largest\": {:.12f}, \"residual\": {:.1e}, \"route\": "
                   "\"{}\", \"profile\": {{{}}}}}",
                   count, best, found.singular_B(0),
                   std::max(found.constraint_residuals[0], found.constraint_residuals[1]), found.route, profile)
            << std::endl;
}

}  // namespace

int main(int count, char** words) {
  try {
    const std::vector<std::string> given(words + 1, words + count);
    if (given.size() > 1 && given[0] == "rate") {
      for (std::size_t i = 1; i < given.size(); ++i) {
        set_threads(std::stoi(given[i]));
        measure_rate(std::stoi(given[i]));
      }
      return 0;
    }
    if (given.size() < 8) throw InvalidInput("bench_cores X1 X2 D1 D2 N COV RUNS THREADS… or rate THREADS…");
    const Index n = std::stol(given[4]), K = std::stol(given[5].substr(given[5].find(':') + 1));
    const Matrix X1 = read_raw(given[0], std::stol(given[2]), n), X2 = read_raw(given[1], std::stol(given[3]), n);
    const Covariance C = given[5].starts_with("data1") ? Covariance::data(Domain::one, K) : Covariance::identity(K);
    for (std::size_t i = 7; i < given.size(); ++i) {
      set_threads(std::stoi(given[i]));
      measure_fit(X1, X2, C, std::stoi(given[6]), std::stoi(given[i]));
    }
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << "bench_cores: " << problem.what() << "\n";
    return 1;
  }
}
