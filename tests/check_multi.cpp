// Long checks of more than two domains, not run by ctest: how often answers are certified, and how fast.
//   check_multi [problems of each kind, default 40]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "core/multi/ascent.hpp"
#include "core/multi/starts.hpp"
#include "multi_testing.hpp"

namespace cgmca::multi::testing {
namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void print(const std::string& what, const Matching& answer, double took) {
  fmt::print(
      "{}: f {:.15g}, bound {:.15g}, {}certified by {}, gap {:.2e} of f, {:.2e} of the objective; {} sweeps, {} "
      "trials, K of {}, {} iterations, {:.2f} s (last proof {:.2f} s)\n",
      what, answer.solution.f, answer.proof.bound, answer.proof.certified ? "" : "not ", name(answer.proof.how),
      answer.proof.gap, answer.proof.gap_of_objective, answer.solution.sweeps, answer.solution.trials,
      answer.proof.size, answer.proof.iterations, took, answer.proof.seconds);
  for (const StartResult& s : answer.solution.starts) {
    fmt::print("    {:10} {:5} sweeps, {}, {:.1e} below the best, distance {:.1e}\n", s.kind, s.sweeps,
               s.converged ? "converged" : "stopped", s.f_below_best, s.distance_to_best);
  }
}

void solve_and_print(const std::string& what, const MatchingProblem& problem) {
  const double start = seconds();
  const Matching answer = match(problem);
  print(what, answer, seconds() - start);
}

void mfeat(const std::vector<std::string>& views, Index k, Index max_rank, bool general) {
  const std::string file = cgmca::testing::shared("data/mfeat/mfeat.npz");
  if (!std::filesystem::exists(file)) return fmt::print("mfeat: not present\n");
  std::vector<Matrix> V;
  for (const std::string& view : views) V.push_back(whitened(read(file + ":" + view), max_rank));
  Random random(1);
  const auto m = std::ssize(views);
  const std::vector<Matrix> F = random_factors(random, general ? Kind::general : Kind::identity, m, k);
  const std::vector<Matrix> I(views.size(), Matrix::Identity(k, k));
  const MatchingProblem problem(general ? F : I, cross_matrices(V), graph_weights("full", m));
  solve_and_print(
      fmt::format("mfeat, {} views, k {}, rank <= {}, {}", m, k, max_rank, general ? "general" : "identity"), problem);
}

// How often one problem's answer is proven, and how often the spectral start and the tree alone, or with the reflection
// search, find the best value known.
struct Tally {
  Index certified = 0, below = 0, wrong = 0, by_starts = 0, by_search = 0;
  double took = 0, slowest = 0;
  std::vector<double> gaps;

  void add(const MatchingProblem& problem) {
    const double start = seconds();
    const Matching answer = match(problem);
    const double passed = seconds() - start, f = answer.solution.f;
    took += passed;
    slowest = std::max(slowest, passed);
    SolverOptions options;
    options.random_starts = 0;
    const double searched = maximize(problem, options).f;
    options.reflections = false;
    const double started = maximize(problem, options).f;
    double best = std::max(f, searched);
    for (std::uint32_t s = 0; s < 20; ++s) best = std::max(best, ascend(problem, random_start(problem, 77, s), {}).f);
    const auto reached = [&](double value) { return value >= best * (1 - 1e-9); };
    by_starts += reached(started);
    by_search += reached(searched);
    below += !reached(f);
    wrong += best > answer.proof.bound * (1 + 1e-13) || (answer.proof.certified && !reached(f));
    certified += answer.proof.certified;
    if (!answer.proof.certified) gaps.push_back(answer.proof.gap);
  }
};

void random_problems(Kind kind, bool latent, Index count) {
  Tally tally;
  for (Index seed = 0; seed < count; ++seed) {
    tally.add(random_problem(static_cast<std::uint64_t>(1000 + seed), kind, latent));
  }
  auto& gaps = tally.gaps;
  std::sort(gaps.begin(), gaps.end());
  fmt::print(
      "{:13} {:6}: {:3} of {:3} certified, gaps of the others {:.1e} in the median, {:.1e} at most; best value "
      "known: two starts {}, with reflections {}, all {}; WRONG {}; {:.2f} s each, {:.2f} s at most\n",
      name(kind), latent ? "signal" : "noise", tally.certified, count, gaps.empty() ? 0 : gaps[gaps.size() / 2],
      gaps.empty() ? 0 : gaps.back(), tally.by_starts, tally.by_search, count - tally.below, tally.wrong,
      tally.took / static_cast<double>(count), tally.slowest);
}

}  // namespace
}  // namespace cgmca::multi::testing

int main(int argc, char** argv) {
  using namespace cgmca::multi::testing;
  const cgmca::Index count = argc > 1 ? std::stol(argv[1]) : 40;
  for (const char* name : {"identity_full", "identity_star", "many_identity", "same_path", "commuting_weighted",
                           "near_full", "unequal_ranks"}) {
    const DataCase c = data_case(name);
    solve_and_print(fmt::format("{} (f {:.15g})", name, c.f), c.problem);
  }
  for (const char* name : {"portwine_1", "portwine_2", "portwine_3", "star_l1pca"})
    solve_and_print(name, trace_case(name));
  mfeat({"fou", "fac", "kar", "pix", "zer", "mor"}, 6, 1000, false);
  mfeat({"fou", "fac", "kar", "pix", "zer"}, 10, 40, false);
  mfeat({"fou", "fac", "kar", "pix", "zer"}, 3, 30, true);
  mfeat({"fou", "fac", "kar", "pix", "zer"}, 10, 40, true);
  mfeat({"fou", "fac", "kar", "pix", "zer"}, 4, 1000, true);
  for (const bool latent : {true, false}) {
    for (const Kind kind : kKinds) random_problems(kind, latent, count);
  }
}
