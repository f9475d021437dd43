// Our half of bench/run.py: reads commands, one a line, does the work and answers one JSON line each.
//
//   load NAME PATH                        a matrix from a file
//   threads N                             of BLAS, from here on
//   trim                                  gives back what was freed, which would hide a rise of memory
//   fit NAME1 NAME2 COV ACCUMULATE [TOL]  COV as data1:550 or identity:100; ACCUMULATE auto, qr or gram; TOL the
//                                         tolerance of the rank
//   several K ACCUMULATE NAME…            identity:K of as many domains as are named
//   small NAME1 NAME2 D1 D2 N K           fits of K components to successive blocks of N samples, on all threads
//   lsqr|lmmse NAME                       domain 2 to domain 1 by the last model
//   filters NAME1 NAME2 HEIGHT WIDTH      wiener2, medfilt2, ssim
//   summarize PATH1 PATH2 HOW             files in blocks into a summary: auto, qr or gram
//   maps PATH, write PATH                 all A_i of the last model side by side; the last answer
// Seconds are of the work alone; "memory" is by how many bytes the resident memory rose during it, "profile" what BLAS
// and LAPACK calls of each kind counted and took.
#include <cgmca/cgmca.hpp>

#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "core/linalg/linalg.hpp"

namespace {

using namespace cgmca;

struct Worker {
  std::map<std::string, Matrix> data;
  Model model;
  Matrix answer;
};

void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

double memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return 1024 * std::stod(line.substr(field.size() + 1));
  }
  return 0;
}

template <class Work>
void timed(const Work& work) {
  forget_peak();
  std::map<std::string, linalg::Cost> costs;
  for (const linalg::Work kind : linalg::kWorks) costs[linalg::name(kind)] = linalg::cost(kind);
  const double before = memory("VmRSS");
  const auto start = std::chrono::steady_clock::now();
  const std::string found = work();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::string profile;  // of each kind of work its operations and seconds
  for (const linalg::Work kind : linalg::kWorks) {
    const linalg::Cost first = costs[linalg::name(kind)], last = linalg::cost(kind);
    profile += fmt::format("{}\"{}\": [{}, {}]", profile.empty() ? "" : ", ", linalg::name(kind),
                           last.operations - first.operations, last.seconds - first.seconds);
  }
  std::cout << fmt::format("{{\"seconds\": {}, \"memory\": {}, \"profile\": {{{}}}{}}}", seconds,
                           memory("VmHWM") - before, profile, found)
            << std::endl;
}

std::string certificate_text(const Certificate& certificate) {
  const auto& residuals = certificate.constraint_residuals;
  return fmt::format(", \"residual\": {}, \"gap\": {}, \"route\": \"{}\"", std::max(residuals[0], residuals[1]),
                     std::abs(certificate.objective - certificate.bound) / certificate.covariance_trace,
                     certificate.route);
}

Covariance covariance(const std::string& spec) {
  const Index rank = std::stol(spec.substr(spec.find(':') + 1));
  return spec.starts_with("data1") ? Covariance::data(Domain::one, rank) : Covariance::identity(rank);
}

Accumulate accumulate(const std::string& text) {
  return text == "gram" ? Accumulate::gram : text == "qr" ? Accumulate::qr : Accumulate::automatic;
}

// A_1, A_2, … side by side.
Matrix all_maps(const Model& model) {
  Index columns = 0;
  for (const auto& map : model.domains) columns += map->features();
  Matrix all(model.common_dimension, columns);
  columns = 0;
  for (const auto& map : model.domains) {
    all.middleCols(columns, map->features()) = map->matrix();
    columns += map->features();
  }
  return all;
}

void fit_several(Worker& worker, std::istringstream& words) {
  Index k = 0;
  std::string how;
  words >> k >> how;
  MatchedSamples X;
  std::vector<DomainInfo> sizes;
  for (std::string name; words >> name;) {
    X.emplace_back(worker.data.at(name));
    sizes.emplace_back(worker.data.at(name).rows());
  }
  timed([&] {
    Summary summary(sizes, accumulate(how));
    summary.expect(X.front().cols());
    summary.add(X);
    worker.model = fit(summary, std::vector<Covariance>{Covariance::identity(k)});
    const Certificate& certificate = worker.model.certificate;
    return fmt::format(", \"certified\": {}, \"gap_of_f\": {}, \"proof\": \"{}\", \"sweeps\": {}, \"ranks\": [{}]",
                       certificate.certified, certificate.gap, certificate.proof, certificate.sweeps,
                       fmt::join(certificate.ranks, ", "));
  });
}

void small_fits(Worker& worker, std::istringstream& words) {
  std::string first, second;
  Index d1 = 0, d2 = 0, n = 0, k = 0;
  words >> first >> second >> d1 >> d2 >> n >> k;
  const Matrix& X1 = worker.data.at(first);
  const Matrix& X2 = worker.data.at(second);
  const Index fits = X1.cols() / n;
  worker.answer.resize(k, fits);
  std::vector<double> residuals(static_cast<std::size_t>(fits));
  timed([&] {
    const Covariance I = Covariance::identity(k);
    parallel_for(fits, [&](Index f) {
      const Model model = fit(X1.middleCols(f * n, n), X2.middleCols(f * n, n), I, I);
      worker.answer.col(f) = model.certificate.singular_B.head(k);
      residuals[f] = model.certificate.constraint_residuals[0];
    });
    return fmt::format(", \"residual\": {}", *std::max_element(residuals.begin(), residuals.end()));
  });
}

void run(Worker& worker, const std::string& line) {
  std::istringstream words(line);
  std::string command, first, second, spec, how;
  words >> command;
  if (command == "load") {
    words >> first >> second;
    timed([&] {
      worker.data[first] = read(second);
      return "";
    });
  } else if (command == "threads") {
    int count = 0;
    words >> count;
    timed([&] {
      set_threads(count);
      return "";
    });
  } else if (command == "trim") {
    timed([] {
      malloc_trim(0);
      return "";
    });
  } else if (command == "fit") {
    words >> first >> second >> spec >> how;
    const Covariance C = covariance(spec);
    FitOptions options;
    if (double tolerance = 0; words >> tolerance) options.rank_tol = tolerance;
    timed([&] {
      Summary summary({worker.data.at(first).rows(), worker.data.at(second).rows()}, accumulate(how));
      summary.expect(worker.data.at(first).cols());
      summary.add(worker.data.at(first), worker.data.at(second));
      worker.model = fit(summary, C, C, options);
      return certificate_text(worker.model.certificate);
    });
    worker.answer = worker.model.certificate.singular_B;
  } else if (command == "several") {
    fit_several(worker, words);
  } else if (command == "small") {
    small_fits(worker, words);
  } else if (command == "lsqr" || command == "lmmse") {
    words >> first;
    timed([&] {
      worker.answer = translate(worker.model, Domain::two, Domain::one, worker.data.at(first),
                                command == "lsqr" ? Method::lsqr : Method::lmmse);
      return "";
    });
  } else if (command == "filters") {
    ImageSize size{};
    words >> first >> second >> size.height >> size.width;
    timed([&] {
      worker.answer = ssim(medfilt2(wiener2(worker.data.at(first), size), size), worker.data.at(second), size);
      return "";
    });
  } else if (command == "summarize") {
    words >> first >> second >> how;
    timed([&] {
      BlockReader one(first), two(second);
      Summary summary({one.features(), two.features()}, accumulate(how));
      for (;;) {
        const Matrix X1 = one.next(4096), X2 = two.next(4096);
        if (X1.cols() == 0) break;
        summary.add(X1, X2);
      }
      const Covariance I = Covariance::identity(10);
      worker.model = fit(summary, I, I);
      return certificate_text(worker.model.certificate);
    });
    worker.answer = worker.model.certificate.singular_B;
  } else if (command == "maps") {
    words >> first;
    timed([&] {
      write(first, all_maps(worker.model));
      return "";
    });
  } else if (command == "write") {
    words >> first;
    timed([&] {
      write(first, worker.answer);
      return "";
    });
  } else {
    throw InvalidInput(fmt::format("no command '{}'", command));
  }
}

}  // namespace

int main() {
  try {
    Worker worker;
    for (std::string line; std::getline(std::cin, line);) run(worker, line);
    return 0;
  } catch (const std::exception& problem) {
    std::cout << "{\"error\": \"" << problem.what() << "\"}" << std::endl;
    return 1;
  }
}
