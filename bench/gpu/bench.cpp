// Fits on the GPU, timed: the rows of docs/benchmarks.md, and the rates of what they are made of.
//
//   bench_cuda rates                       products and factorizations at 8,192, copies
//   bench_cuda row D N SPEC [host] [check] one row: D features a domain, N pairs; SPEC identity:K or data1:K. host: data
//                                          in the host's memory; check: answers are checked against the processor
//   bench_cuda repeat COUNT                fits in a row, and the device memory that is in use after each tenth
//   bench_cuda trace D N SPEC [host]       a row once more, with the time of each operation (CGMCA_CUDA_TRACE)
//   bench_cuda small                       one small fit of each form, for compute-sanitizer
//
// Each line of output is flushed. A row prints one line of JSON.
#include <cgmca/cgmca.hpp>
#include <cgmca/parallel.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/fit/assemble.hpp"
#include "core/fit/certify.hpp"
#include "core/fit/solve.hpp"
#include "core/fit/whitened_data.hpp"
#include "core/linalg/device.hpp"
#include "core/summary/state.hpp"

namespace cgmca {
namespace {

using Clock = std::chrono::steady_clock;

const linalg::Backend& gpu() { return backend_of(Device::cuda); }

// Waits for the device: what it has queued ends before a vector of it arrives.
void wait() {
  static const linalg::Array one = gpu().identity(1, 1);
  gpu().diagonal(one);
}

double seconds(const std::function<void()>& work, int times) {
  std::vector<double> all;
  for (int k = 0; k < times; ++k) {
    wait();
    const auto start = Clock::now();
    work();
    wait();
    all.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Uniform numbers of variance 1, quickly and always the same.
Matrix noise(Index rows, Index columns, std::uint64_t seed) {
  Matrix X(rows, columns);
  parallel_for((columns + 63) / 64, [&](Index part) {
    std::uint64_t state = (seed * 1000003 + static_cast<std::uint64_t>(part)) * 6364136223846793005u + 1;
    for (Index j = part * 64; j < std::min(columns, (part + 1) * 64); ++j) {
      for (Index i = 0; i < rows; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        X(i, j) = (static_cast<double>(state >> 11) / 9007199254740992.0 - 0.5) * 3.4641016151377544;
      }
    }
  });
  return X;
}

Matrix mixed(const Matrix& X, Matrix Y) {  // correlated by 0.8, feature by feature
  parallel_for_columns(X.rows(), X.cols(), [&](Index first, Index count) {
    Y.middleCols(first, count) = 0.8 * X.middleCols(first, count) + 0.6 * Y.middleCols(first, count);
  });
  return Y;
}

void rates() {
  const Index n = 8192;
  const double cube = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  const Matrix here = noise(n, n, 1);
  const linalg::Array A = gpu().upload(here), wide = gpu().upload(noise(2 * n, n, 2));
  const auto tell = [](const char* what, double time, double operations) {
    std::printf("%-44s %9.4f s %8.2f TFLOP/s\n", what, time, operations / time / 1e12);
    std::fflush(stdout);
  };
  gpu().AB(A, A);
  tell("gemm 8192", seconds([&] { gpu().AB(A, A); }, 3), 2 * cube);
  const linalg::Array G = gpu().zeros(2 * n, 2 * n);
  tell("syrk 16384, 8192 columns", seconds([&] { gpu().add_gram(G, wide); }, 3), 4 * cube);
  tell("syrk 4096, 8192 columns", seconds([&] { gpu().add_gram(G.block(0, 0, n / 2, n / 2), wide.top(n / 2)); }, 3),
       cube / 4);
  tell("syrk 2048, 8192 columns", seconds([&] { gpu().add_gram(G.block(0, 0, n / 4, n / 4), wide.top(n / 4)); }, 3),
       cube / 16);
  tell("gemm 2048, 8192 columns", seconds([&] { gpu().ABt(wide.top(n / 4), wide.bottom(n / 4)); }, 3), cube / 8);
  const linalg::Array S = gpu().zeros(n, n);
  gpu().add_gram(S, A);
  gpu().add_diagonal(S, Vector::Constant(n, 1000));
  const linalg::Array R = gpu().cholesky(S);
  tell("potrf", seconds([&] { gpu().cholesky(S); }, 3), cube / 3);
  tell("trsm, 8192 right sides", seconds([&] { gpu().solve_upper_transposed(R, A); }, 3), cube);
  tell("trmm, 8192 columns", seconds([&] { gpu().upper_times(R, A); }, 3), cube);
  tell("condition (inverse and power iteration)", seconds([&] { gpu().condition(R); }, 3), cube / 3);
  tell("spectrum_bounds, first", seconds([&] { gpu().spectrum_bounds(S, {}); }, 3), cube / 3);
  tell("spectrum_bounds, again", seconds([&] { gpu().spectrum_bounds(S, {1e9, 900}); }, 3), 0);
  tell("thin_qr 8192×4096", seconds([&] { gpu().thin_qr(A.left(n / 2)); }, 3), cube * 5 / 6);
  tell("geqrf 8192×4096", seconds([&] { gpu().triangular_factor(A.left(n / 2)); }, 2), cube * 5 / 12);
  tell("syevd with vectors", seconds([&] { gpu().symmetric_eigen(S); }, 2), 9 * cube);
  tell("syevd, values", seconds([&] { gpu().symmetric_eigenvalues(S); }, 1), cube * 4 / 3);
  tell("gesvdp (thin_svd)", seconds([&] { gpu().thin_svd(A); }, 1), 26 * cube);
  for (const Index size : {784, 1568}) {  // singular, where gesvdp gives up
    const Matrix low = noise(size, size / 2, 3) * noise(size / 2, size, 4);
    const linalg::Array there = gpu().upload(low), on_host = linalg::cpu().upload(low);
    std::printf("SVD of a singular matrix of %ld: %.4f s by %s; by the processor %.4f s\n", static_cast<long>(size),
                seconds([&] { gpu().thin_svd(there); }, 2), linalg::described(gpu().thin_svd(there).routine).c_str(),
                seconds([&] { linalg::cpu().thin_svd(on_host); }, 2));
  }
  const double gigabytes = static_cast<double>(here.size()) * 8e-9;
  const double up = seconds([&] { gpu().load({here}, 0, n, Vector::Zero(n), Vector::Zero(n)); }, 3);
  const double down = seconds([&] { gpu().download(A); }, 3);
  std::printf("from pageable memory %.1f GB/s, back %.1f GB/s\n", gigabytes / up, gigabytes / down);
}

struct Row {
  Index d, n;
  std::string spec;
  bool from_host = false, check = false;
};

Covariance covariance(const std::string& spec) {
  const Index k = std::stol(spec.substr(spec.find(':') + 1));
  return spec.starts_with("data1") ? Covariance::data(Domain::one, k) : Covariance::identity(k);
}

Summary summarized(const MatchedSamples& X, Index d) {
  Summary summary({d, d}, Accumulate::automatic, Device::cuda);
  summary.add(X);
  return summary;
}

// The stages of fit() one by one, without the maps' way to the host.
struct Stages {
  double add = 0, factorize = 0, svd = 0, solve = 0, certify = 0;
  Certificate certificate;
  std::string route;
};
Stages staged(const Row& row, const MatchedSamples& X) {
  Stages result;
  auto last = Clock::now();
  const auto lap = [&last](double& to) {
    wait();
    const auto now = Clock::now();
    to = std::chrono::duration<double>(now - last).count();
    last = now;
    if (std::getenv("CGMCA_CUDA_TRACE") != nullptr) std::fprintf(stderr, "-- %.4f s\n", to);
  };
  const Covariance C = covariance(row.spec);
  const Summary summary = summarized(X, row.d);
  lap(result.add);
  const bool spectrum = row.spec.starts_with("data1");
  const WhitenedData whitened = regularize(whiten_domains(summary, {}, {spectrum, false}), Regularization{});
  lap(result.factorize);
  const CrossSvd cross = svd_of_cross_matrix(whitened, C, C);
  lap(result.svd);
  const Solution solution = solve(whitened, cross.svd, C, C);
  lap(result.solve);
  Matrix weights(2, 2);
  weights << 0, 1, 1, 0;
  result.certificate = certify(solution, whitened, weights);
  lap(result.certify);
  result.route = whitened.route() + "; " + cross.route;
  return result;
}

double difference(const Model& one, const Model& two) {
  double most = 0;
  for (const Domain domain : kDomains) {
    const Matrix A = one.domain(domain).matrix(), B = two.domain(domain).matrix();
    most = std::max(most, (A - B).norm() / B.norm());
  }
  return most;
}

void run(const Row& row) {
  Matrix X1 = noise(row.d, row.n, 1);
  Matrix X2 = mixed(X1, noise(row.d, row.n, 2));
  linalg::Array there1, there2;
  MatchedSamples X{X1, X2};
  if (!row.from_host) {
    there1 = gpu().upload(X1);
    there2 = gpu().upload(X2);
    X = {Eigen::Map<const Matrix>(there1.data(), row.d, row.n), Eigen::Map<const Matrix>(there2.data(), row.d, row.n)};
  }
  const Covariance C = covariance(row.spec);
  const int times = row.d <= 4096 ? 5 : row.d <= 8192 ? 3 : 2;
  staged(row, X);  // warm
  Stages best;
  std::vector<double> totals;
  for (int k = 0; k < times; ++k) {
    Stages now = staged(row, X);
    const double total = now.add + now.factorize + now.svd + now.solve + now.certify;
    if (totals.empty() || total < *std::min_element(totals.begin(), totals.end())) best = now;
    totals.push_back(total);
  }
  std::sort(totals.begin(), totals.end());
  Model model;
  const double to_host = seconds([&] { model = fit(summarized(X, row.d), C, C); }, 2);
  const Certificate& c = best.certificate;
  double against_cpu = -1;
  if (row.check) against_cpu = difference(model, fit(X1, X2, C, C));
  std::printf(
      "{\"d\": %ld, \"n\": %ld, \"spec\": \"%s\", \"host\": %s, \"median\": %.4f, \"least\": %.4f, \"add\": %.4f, "
      "\"factorize\": %.4f, \"svd\": %.4f, \"solve\": %.4f, \"certify\": %.4f, \"to_host_model\": %.4f, "
      "\"residual\": %.2e, \"gap\": %.2e, \"against_cpu\": %.2e, \"route\": \"%s\"}\n",
      static_cast<long>(row.d), static_cast<long>(row.n), row.spec.c_str(), row.from_host ? "true" : "false",
      totals[totals.size() / 2], totals[0], best.add, best.factorize, best.svd, best.solve, best.certify, to_host,
      std::max(c.constraint_residuals[0], c.constraint_residuals[1]),
      std::abs(c.objective - c.bound) / c.covariance_trace, against_cpu, best.route.c_str());
  std::fflush(stdout);
}

// Each operation alone, one after another: what would run side by side does not.
void trace(const Row& row) {
  const Matrix X1 = noise(row.d, row.n, 1), X2 = mixed(X1, noise(row.d, row.n, 2));
  const linalg::Array there1 = gpu().upload(X1), there2 = gpu().upload(X2);
  MatchedSamples X{X1, X2};
  if (!row.from_host) {
    X = {Eigen::Map<const Matrix>(there1.data(), row.d, row.n), Eigen::Map<const Matrix>(there2.data(), row.d, row.n)};
  }
  staged(row, X);
  std::fprintf(stderr, "== warm: %ld %s%s\n", static_cast<long>(row.d), row.spec.c_str(), row.from_host ? " host" : "");
  const Stages stages = staged(row, X);
  std::fprintf(stderr, "%s: add %.4f, factorize %.4f, svd %.4f, solve %.4f, certify %.4f\n", stages.route.c_str(),
               stages.add, stages.factorize, stages.svd, stages.solve, stages.certify);
}

// nvidia-smi reads what the whole device uses; bench/gpu/run calls it between the lines.
void repeat(int count) {
  const Matrix X1 = noise(300, 4000, 1), X2 = mixed(X1, noise(300, 4000, 2));
  FitOptions options;
  options.device = Device::cuda;
  const Covariance C = Covariance::identity(100), D = Covariance::data(Domain::one, 50);
  for (int k = 1; k <= count; ++k) {
    fit(X1, X2, k % 2 == 0 ? C : D, k % 2 == 0 ? C : D, options);
    if (k % 10 == 0) {
      std::printf("fits %d\n", k);
      std::fflush(stdout);
      if (std::system("nvidia-smi --query-gpu=memory.used --format=csv,noheader") != 0) return;
    }
  }
}

void small() {
  const Matrix X1 = noise(60, 900, 1), X2 = mixed(X1, noise(60, 900, 2));
  for (const Accumulate accumulate : kAccumulates) {
    Summary summary({60, 60}, accumulate, Device::cuda);
    summary.add(X1, X2);
    for (const Covariance& C : {Covariance::identity(20), Covariance::data(Domain::one, 20)}) {
      std::printf("%s\n", fit(summary, C, C).certificate.route.c_str());
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace cgmca

int main(int count, char** arguments) {
  using namespace cgmca;
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    if (words.empty()) return 2;
    if (words[0] == "trace") setenv("CGMCA_CUDA_TRACE", "1", 1);
    std::printf("%s\n", cuda_device().description.c_str());
    if (words[0] == "rates") rates();
    if (words[0] == "small") small();
    if (words[0] == "repeat" && words.size() == 2) repeat(std::stoi(words[1]));
    if ((words[0] == "row" || words[0] == "trace") && words.size() >= 4) {
      Row row{std::stol(words[1]), std::stol(words[2]), words[3]};
      for (std::size_t i = 4; i < words.size(); ++i) {
        row.from_host = row.from_host || words[i] == "host";
        row.check = row.check || words[i] == "check";
      }
      words[0] == "row" ? run(row) : trace(row);
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bench_cuda: %s\n", problem.what());
    return 1;
  }
  return 0;
}
