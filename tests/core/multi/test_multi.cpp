// More than two domains: the solver, and the bounds that say how good its answer is.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <map>

#include "core/multi/ascent.hpp"
#include "core/multi/dual.hpp"
#include "core/multi/starts.hpp"
#include "multi_testing.hpp"

namespace cgmca::multi {
namespace {

using namespace multi::testing;

template <class Expected, class Call>
void expect_error(const Call& call, const std::string& part) {
  try {
    call();
    FAIL() << "nothing was thrown where '" << part << "' should be reported";
  } catch (const Expected& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

void expect_feasible(const MatchingProblem& problem, const Point& D) {
  ASSERT_EQ(std::ssize(D), problem.domains());
  for (const Matrix& D_i : D) {
    EXPECT_LE((D_i * D_i.transpose() - Matrix::Identity(D_i.rows(), D_i.rows())).cwiseAbs().maxCoeff(), 1e-12);
  }
}

double best_of_starts(const MatchingProblem& problem, std::uint32_t count) {
  double best = 0;
  for (std::uint32_t s = 0; s < count; ++s) best = std::max(best, ascend(problem, random_start(problem, 77, s), {}).f);
  return best;
}

// Limits that keep a test of many problems short.
SolverOptions short_search() {
  SolverOptions options;
  options.max_trials = 24;
  return options;
}
ProofOptions short_proof() {
  ProofOptions options;
  options.max_iterations = 60;
  return options;
}

TEST(MultiGraph, SpecsGiveTheirWeights) {
  Matrix full(3, 3), path(3, 3), star(3, 3);
  full << 0, 1, 1, 1, 0, 1, 1, 1, 0;
  path << 0, 1, 0, 1, 0, 1, 0, 1, 0;
  star << 0, 0, 1, 0, 0, 1, 1, 1, 0;
  EXPECT_EQ(graph_weights("full", 3), full);
  EXPECT_EQ(graph_weights("path", 3), path);
  EXPECT_EQ(graph_weights("star:3", 3), star);
  EXPECT_EQ(graph_weights("star:2", 3), path);
}

TEST(MultiGraph, UnknownSpecsAreRefusedWithTheChoices) {
  expect_error<InvalidInput>([] { graph_weights("ring", 3); }, "'ring' is not known: use full, star:D");
  for (const char* spec : {"star:0", "star:4", "star:", "star:1x", "star:-1"}) {
    expect_error<InvalidInput>([&] { graph_weights(spec, 3); }, "a domain from 1 to 3");
  }
  expect_error<InvalidInput>([] { graph_weights("full", 1); }, "two domains or more");
}

TEST(MultiGraph, WeightsAreCheckedAndTheEntryIsNamed) {
  const Matrix good = graph_weights("path", 4) * 0.5;
  EXPECT_EQ(checked_weights(good, 4), good);
  expect_error<NotSquare>([&] { checked_weights(good, 3); }, "4×4, but 3 domains need 3×3");
  const auto with = [&](Index i, Index j, double value, bool both) {
    Matrix w = good;
    w(i, j) = value;
    if (both) w(j, i) = value;
    return w;
  };
  expect_error<NotSymmetric>([&] { checked_weights(with(0, 1, 2, false), 4); },
                             "weight (1, 2) is 2 but weight (2, 1) is 0.5");
  expect_error<NotPositive>([&] { checked_weights(with(1, 2, -1, true), 4); }, "weight (2, 3) is -1");
  expect_error<InvalidInput>([&] { checked_weights(with(2, 2, 3, true), 4); }, "weight (3, 3) is 3");
  expect_error<NotFinite>([&] { checked_weights(with(0, 3, NAN, true), 4); }, "weight (1, 4) is nan");
  expect_error<InvalidInput>([&] { checked_weights(with(1, 2, 0, true), 4); }, "domains 3, 4 with domain 1");
  expect_error<InvalidInput>([&] { checked_weights(with(2, 3, 0, true), 4); }, "connects domain 4 with domain 1");
}

TEST(MultiProblem, ShapesThatDoNotFitAreRefused) {
  Random random(1);
  const Matrix w = graph_weights("full", 3);
  const auto problem = [&](Index k, Index c, Index r, Index other_r) {
    std::vector<std::vector<Matrix>> B(3, std::vector<Matrix>(3));
    B[0][1] = random.matrix(r, 4);
    B[0][2] = random.matrix(other_r, 5);
    B[1][2] = random.matrix(4, 5);
    return MatchingProblem({random.matrix(k, c), random.matrix(3, 2), random.matrix(3, 3)}, B, w);
  };
  EXPECT_EQ(problem(3, 2, 6, 6).rank(0), 6);
  expect_error<InvalidInput>([&] { problem(2, 2, 6, 6); }, "covariance factor of domain 2 is 3×2");
  expect_error<InvalidInput>([&] { problem(3, 2, 6, 7); }, "B(1, 3) is 7×5, but domain 1 has rank 6");
  expect_error<InvalidInput>([&] { problem(3, 2, 1, 1); }, "covariance of domain 1 has rank 2, its data rank 1");
}

class DataLevel : public ::testing::TestWithParam<std::string> {};

TEST_P(DataLevel, ReachesTheObjectiveAndProvesIt) {
  const DataCase c = data_case(GetParam());
  const Matching answer = match(c.problem);
  const double objective = (c.samples - 1) / c.samples * (c.problem.scale() - answer.solution.f);
  EXPECT_NEAR(answer.solution.f, c.f, 1e-9 * c.f);
  EXPECT_NEAR(objective, c.objective, 1e-9 * c.objective);
  EXPECT_TRUE(answer.proof.certified) << answer.proof.gap;
  EXPECT_GE(answer.proof.bound, c.f * (1 - 1e-13));
  EXPECT_FALSE(answer.solution.stopped_early);
  expect_feasible(c.problem, answer.solution.D);
}

INSTANTIATE_TEST_SUITE_P(Oracle, DataLevel,
                         ::testing::Values("identity_full", "identity_star", "many_identity", "same_path",
                                           "commuting_weighted", "near_full", "unequal_ranks"),
                         [](const auto& instance) { return instance.param; });

TEST(MultiOracle, PublishedOptimaOfPortWineAreReachedAndProven) {
  const std::map<std::string, double> published = {
      {"portwine_1", 419.65133740484237}, {"portwine_2", 542.3275506383522}, {"portwine_3", 568.19290485317}};
  for (const auto& [name, f] : published) {
    const Matching answer = match(trace_case(name));
    EXPECT_NEAR(answer.solution.f, f, 1e-9 * f) << name;
    EXPECT_TRUE(answer.proof.certified) << name;
    EXPECT_EQ(answer.proof.how, Bound::identity) << name;
  }
}

// A star of scalar leaves is L1-PCA. Its relaxation is not tight, and the answer must not be called certified.
TEST(MultiOracle, StarOfScalarLeavesIsSolvedButNotCertified) {
  constexpr double optimum = 6.220834506627602;  // by enumeration
  const MatchingProblem problem = trace_case("star_l1pca");
  SolverOptions options;
  options.random_starts = 0;
  options.reflections = false;
  EXPECT_LT(maximize(problem, options).f, optimum * 0.99);  // the two starts alone do not find it
  options.reflections = true;
  const MatchingSolution solution = maximize(problem, options);
  EXPECT_NEAR(solution.f, optimum, 1e-9 * optimum);
  const OptimalityProof proof = prove(problem, solution.D);
  EXPECT_FALSE(proof.certified);
  EXPECT_GE(proof.bound, optimum);
  EXPECT_LE(proof.gap, 0.02);
}

// Several local optima, which the spectral start and the tree miss by 5e-4.
TEST(MultiSolver, ReflectionSearchFindsTheOptimumThatTwoStartsMiss) {
  const DataCase c = data_case("near_full");
  SolverOptions options;
  options.random_starts = 0;
  options.reflections = false;
  EXPECT_LT(maximize(c.problem, options).f, c.f * (1 - 1e-4));
  options.reflections = true;
  const MatchingSolution solution = maximize(c.problem, options);
  EXPECT_NEAR(solution.f, c.f, 1e-9 * c.f);
  EXPECT_GT(solution.trials, 0);
  EXPECT_EQ(solution.starts.back().kind, "reflection");
  EXPECT_GT(solution.starts[0].f_below_best, 1e-4);
  EXPECT_GT(solution.starts[0].distance_to_best, 1e-3);
}

TEST(MultiSolver, TwoDomainsAreTheClosedForm) {
  Random random(5);
  for (int repeat = 0; repeat < 10; ++repeat) {
    const std::vector<Matrix> V = {whitened(random.matrix(7, 100)), whitened(random.matrix(5, 100))};
    const std::vector<Matrix> F = {random.matrix(4, 3), random.matrix(4, repeat % 2 == 0 ? 2 : 4)};
    const MatchingProblem problem(F, cross_matrices(V), graph_weights("full", 2));
    const Matching answer = match(problem);
    EXPECT_NEAR(answer.solution.f, problem.pairwise_bounds().sum(), 1e-12 * answer.solution.f);
    EXPECT_TRUE(answer.proof.certified);
    EXPECT_EQ(answer.proof.how, Bound::closed_form);
  }
}

class Properties : public ::testing::TestWithParam<std::tuple<Kind, bool>> {};

TEST_P(Properties, HoldOnSeededProblems) {
  const auto [kind, latent] = GetParam();
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const MatchingProblem problem = random_problem(seed, kind, latent);
    std::map<Index, double> last;
    bool fell = false;
    SolverOptions options = short_search();
    options.progress = [&](const Progress& progress) {
      const auto [place, first] = last.try_emplace(progress.start, progress.f);
      fell |= !first && progress.sweep > 1 && progress.f < place->second;
      place->second = progress.f;
    };
    const Matching answer = match(problem, options, short_proof());
    EXPECT_FALSE(fell);
    EXPECT_GE(last.size(), 5U);
    expect_feasible(problem, answer.solution.D);
    const double f = answer.solution.f;
    EXPECT_NEAR(problem.value(answer.solution.D), f, 1e-12 * f);
    EXPECT_GE(answer.proof.bound, f);

    Random random(seed);
    for (int repeat = 0; repeat < 20; ++repeat)
      EXPECT_LT(problem.value(random_point(random, problem)), f * (1 + 1e-12));
    const double best = best_of_starts(problem, 20);
    EXPECT_LE(best, answer.proof.bound * (1 + 1e-13));
    EXPECT_LE(best, problem.pairwise_bounds().sum() * (1 + 1e-13));
    EXPECT_FALSE(answer.proof.certified && best > f * (1 + 1e-9));
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Properties, ::testing::Combine(::testing::ValuesIn(kKinds), ::testing::Bool()),
                         [](const auto& instance) {
                           std::string name = testing::name(std::get<0>(instance.param));
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name + (std::get<1>(instance.param) ? "_signal" : "_noise");
                         });

TEST(MultiSolver, MostProblemsWithASharedSignalAreCertified) {
  for (const Kind kind : kKinds) {
    int certified = 0;
    for (std::uint64_t seed = 100; seed < 112; ++seed) {
      certified += match(random_problem(seed, kind, true, 4)).proof.certified;
    }
    EXPECT_GE(certified, 9) << testing::name(kind);
  }
}

TEST(MultiSolver, PermutedDomainsHaveThePermutedAnswer) {
  for (const Kind kind : kKinds) {
    for (std::uint64_t seed = 200; seed < 206; ++seed) {
      SCOPED_TRACE(std::string(testing::name(kind)) + " " + std::to_string(seed));
      const MatchingProblem problem = random_problem(seed, kind, true, 4);
      const Index m = problem.domains();
      const auto source = [&](Index i) { return (i + 1) % m; };  // domain i of the permuted problem
      std::vector<Matrix> F;
      std::vector<std::vector<Matrix>> B(static_cast<std::size_t>(m), std::vector<Matrix>(static_cast<std::size_t>(m)));
      Matrix w(m, m);
      for (Index i = 0; i < m; ++i) {
        F.push_back(problem.F(source(i)));
        for (Index j = 0; j < m; ++j) {
          const Index a = source(i), b = source(j);
          w(i, j) = problem.weight(a, b);
          if (i < j) B[i][j] = a < b ? problem.B(a, b) : Matrix(problem.B(b, a).transpose());
        }
      }
      const Matching answer = match(problem), permuted = match(MatchingProblem(F, B, w));
      EXPECT_NEAR(permuted.solution.f, answer.solution.f, 1e-9 * answer.solution.f);
      if (!answer.proof.certified) continue;
      EXPECT_TRUE(permuted.proof.certified);
      Point back(static_cast<std::size_t>(m));
      for (Index i = 0; i < m; ++i) {
        back[source(i)] = permuted.solution.D[i];
      }
      EXPECT_LE(distance(problem, back, answer.solution.D), 1e-5);
    }
  }
}

TEST(MultiSolver, OneSeedGivesOneAnswerOnAnyNumberOfThreads) {
  const MatchingProblem problem = random_problem(7, Kind::general, false);
  const int before = threads();
  const Matching twice = match(problem, short_search(), short_proof());
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    const Matching answer = match(problem, short_search(), short_proof());
    for (std::size_t i = 0; i < answer.solution.D.size(); ++i) EXPECT_EQ(answer.solution.D[i], twice.solution.D[i]);
    EXPECT_EQ(answer.solution.f, twice.solution.f);
    EXPECT_EQ(answer.solution.sweeps, twice.solution.sweeps);
    EXPECT_EQ(answer.proof.bound, twice.proof.bound);
  }
  if (before > 0) set_threads(before);
}

// D_iᵀ D_j of both, which no common rotation changes.
double apart(const Point& D, const Point& E) {
  double most = 0;
  for (std::size_t i = 0; i < D.size(); ++i) {
    for (std::size_t j = 0; j < D.size(); ++j) {
      most = std::max(most, (D[i].transpose() * D[j] - E[i].transpose() * E[j]).cwiseAbs().maxCoeff());
    }
  }
  return most;
}

// Few features, where every sweep is of the whole problem, and many, where most are restricted to what was visited.
TEST(MultiSolver, AscentsFromDifferentStartsSettleInOnePoint) {
  for (const std::vector<Index>& sizes : {std::vector<Index>{40, 35, 50}, std::vector<Index>{220, 200, 210}}) {
    Random random(6);
    const Index n = 2000, k = 4;
    const Matrix causes = random.matrix(k + 2, n);
    std::vector<Matrix> V;
    const Vector strengths = Vector::LinSpaced(k + 2, 1, 0.3);
    for (const Index d : sizes) {
      V.push_back(whitened(random.matrix(d, k + 2) * strengths.asDiagonal() * causes + 3 * random.matrix(d, n)));
    }
    const MatchingProblem problem(std::vector<Matrix>(3, Matrix::Identity(k, k)), cross_matrices(V),
                                  weights_of("full", 3));
    std::vector<Point> reached;
    for (std::uint32_t s = 0; s < 3; ++s) {
      const Ascent ascent = ascend(problem, random_start(problem, 1, s), {});
      EXPECT_TRUE(ascent.converged);
      problem.check_feasible(ascent.D);
      reached.push_back(settled(problem, ascent.D, 2000));
      problem.check_feasible(reached.back());
      EXPECT_NEAR(problem.value(reached.back()), ascent.f, 1e-11 * ascent.f);
      EXPECT_LE(apart(reached.front(), reached.back()), 1e-10);
    }
  }
}

TEST(MultiSolver, LimitsAreKeptAndReported) {
  const MatchingProblem problem = random_problem(8, Kind::general, true);
  SolverOptions options;
  options.max_sweeps = 2;
  options.reflections = false;
  const MatchingSolution few = maximize(problem, options);
  EXPECT_TRUE(few.stopped_early);
  EXPECT_EQ(few.sweeps, 2 * 5);
  for (const StartResult& start : few.starts) EXPECT_FALSE(start.converged);
  expect_feasible(problem, few.D);
  options.max_sweeps = 5000;
  options.max_seconds = 1e-9;
  const MatchingSolution none = maximize(problem, options);
  EXPECT_TRUE(none.stopped_early);
  EXPECT_EQ(none.sweeps, 0);
  expect_feasible(problem, none.D);
  options.max_seconds = 1e6;
  EXPECT_FALSE(maximize(problem, options).stopped_early);
  options.max_sweeps = 0;
  expect_error<InvalidInput>([&] { maximize(problem, options); }, "sweeps");
}

TEST(MultiSolver, WhatProgressThrowsEndsTheWork) {
  SolverOptions options;
  options.progress = [](const Progress&) { throw IoError("enough"); };
  expect_error<IoError>([&] { maximize(random_problem(9, Kind::equal, true), options); }, "enough");
}

// K of the general form has the eigenvalues of all K_t, each μ_t times, for the same Λ and M.
TEST(MultiProof, ChannelsSplitTheGeneralMatrix) {
  for (const Kind kind : {Kind::identity, Kind::equal, Kind::commuting}) {
    for (std::uint64_t seed = 300; seed < 305; ++seed) {
      const MatchingProblem problem = random_problem(seed, kind, true, 4);
      Random random(seed);
      const Point D = random_point(random, problem);
      const Dual split(problem, find_structure(problem)), whole(problem, general_structure(problem));
      const DualPoint y = TouchingPoints(split, D).guess();
      EXPECT_NEAR(split.value(y), problem.value(D), 1e-11 * problem.scale());
      DualPoint lifted{{{}}, y.M};
      std::vector<double> values;
      for (Index i = 0; i < problem.domains(); ++i) {
        Matrix lambda = Matrix::Zero(problem.covariance_rank(i), problem.covariance_rank(i));
        for (Index t = 0; t < split.channels(); ++t) {
          for (const Matrix& E : split.channel(t).E[i]) {
            lambda += E * y.lambda[t][i] * E.transpose();
          }
        }
        lifted.lambda[0].push_back(lambda);
      }
      const auto add_eigenvalues = [](std::vector<double>& list, const Matrix& K, Index copies) {
        const Vector found = Eigen::SelfAdjointEigenSolver<Matrix>(K, Eigen::EigenvaluesOnly).eigenvalues();
        for (Index copy = 0; copy < copies; ++copy) list.insert(list.end(), found.begin(), found.end());
      };
      std::vector<double> parts, all;
      for (Index t = 0; t < split.channels(); ++t) add_eigenvalues(parts, split.K(t, y), split.channel(t).copies);
      add_eigenvalues(all, whole.K(0, lifted), 1);
      std::sort(parts.begin(), parts.end());
      std::sort(all.begin(), all.end());
      ASSERT_EQ(parts.size(), all.size());
      for (std::size_t s = 0; s < all.size(); ++s) EXPECT_NEAR(parts[s], all[s], 1e-11 * problem.scale());
    }
  }
}

TEST(MultiProof, KindOfCovariancesIsRecognized) {
  for (std::uint64_t seed = 400; seed < 410; ++seed) {
    const auto kind = [&](Kind k) { return find_structure(random_problem(seed, k, true)).kind; };
    const bool scalar = random_problem(seed, Kind::general, true).common_dimension() == 1;
    EXPECT_EQ(kind(Kind::identity), Covariances::identity);
    EXPECT_EQ(kind(Kind::commuting), scalar ? Covariances::identity : Covariances::commuting);
    EXPECT_EQ(kind(Kind::general), scalar ? Covariances::identity : Covariances::general);
  }
}

// Covariances that commute up to 1e-13 are treated as if they did; the bound pays for the difference.
TEST(MultiProof, NearlyEqualCovariancesKeepAValidBound) {
  for (const double change : {1e-13, 1e-6}) {
    Random random(11);
    const MatchingProblem base = random_problem(12, Kind::identity, true, 4);
    std::vector<Matrix> F;
    std::vector<std::vector<Matrix>> B(static_cast<std::size_t>(base.domains()),
                                       std::vector<Matrix>(static_cast<std::size_t>(base.domains())));
    Matrix w(base.domains(), base.domains());
    for (Index i = 0; i < base.domains(); ++i) {
      F.push_back(base.F(i) + change * random.matrix(base.F(i).rows(), base.F(i).cols()));
      for (Index j = 0; j < base.domains(); ++j) {
        w(i, j) = base.weight(i, j);
        if (i < j) B[i][j] = base.B(i, j);
      }
    }
    const MatchingProblem problem(F, B, w);
    const Structure structure = find_structure(problem);
    EXPECT_EQ(structure.kind == Covariances::general, change > 1e-10);
    EXPECT_GT(structure.error, 0);
    const Matching answer = match(problem);
    EXPECT_LE(best_of_starts(problem, 20), answer.proof.bound);
    EXPECT_TRUE(answer.proof.certified) << answer.proof.gap;
  }
}

// A point that is stationary but not the best must never be certified, whatever the bound is made of.
TEST(MultiProof, PointsBelowTheBestAreNotCertified) {
  int inferior = 0;
  for (const Kind kind : {Kind::commuting, Kind::general, Kind::unequal_ranks}) {
    for (std::uint64_t seed = 500; seed < 512; ++seed) {
      const MatchingProblem problem = random_problem(seed, kind, true, 4);
      const double best =
          std::max(match(problem, short_search(), short_proof()).solution.f, best_of_starts(problem, 5));
      for (std::uint32_t s = 0; s < 5; ++s) {
        const Ascent local = ascend(problem, random_start(problem, 5, s), {});
        const OptimalityProof proof = prove(problem, local.D, short_proof());
        EXPECT_GE(proof.bound, best * (1 - 1e-13));
        if (local.f > best * (1 - 1e-8)) continue;
        ++inferior;
        EXPECT_FALSE(proof.certified);
      }
    }
  }
  EXPECT_GE(inferior, 10);  // or this test tests nothing
}

TEST(MultiProof, LargeProblemsFallBackToThePairwiseBound) {
  const MatchingProblem problem = random_problem(13, Kind::general, true);
  ProofOptions options;
  options.max_size = 1;
  const MatchingSolution solution = maximize(problem);
  const OptimalityProof proof = prove(problem, solution.D, options);
  EXPECT_EQ(proof.how, Bound::pairwise);
  EXPECT_EQ(proof.size, 0);
  EXPECT_NEAR(proof.bound, problem.pairwise_bounds().sum(), 1e-12 * proof.bound);
  EXPECT_NEAR(proof.gap_of_scale, (proof.bound - solution.f) / problem.scale(), 1e-12);
  EXPECT_NEAR(proof.gap_of_objective, (proof.bound - solution.f) / (problem.scale() - solution.f), 1e-12);
}

TEST(MultiProof, LimitsOfAdmmAreKept) {
  const MatchingProblem problem = random_problem(7, Kind::general, false);
  const MatchingSolution solution = maximize(problem);
  ProofOptions options;
  options.max_iterations = 0;
  EXPECT_EQ(prove(problem, solution.D, options).iterations, 0);
  options.max_iterations = 20;
  EXPECT_EQ(prove(problem, solution.D, options).iterations, 0);  // fewer than are worth while
  options.min_iterations = 1;
  const OptimalityProof proof = prove(problem, solution.D, options);
  EXPECT_EQ(proof.iterations, 20);
  problem.check_feasible(proof.relaxed);
  options.max_work = std::pow(static_cast<double>(proof.size), 3) * 10.5;
  EXPECT_EQ(prove(problem, solution.D, options).iterations, 10);
  options.max_seconds = 0;
  EXPECT_EQ(prove(problem, solution.D, options).iterations, 0);
}

TEST(MultiProof, InfeasiblePointsAreRefused) {
  const MatchingProblem problem = random_problem(14, Kind::general, true);
  Random random(14);
  Point D = random_point(random, problem);
  D[1] *= 1 + 1e-8;
  expect_error<InvalidInput>([&] { prove(problem, D); }, "rows of D_2 are orthonormal to 2.0e-08 only");
}

TEST(MultiProof, DomainsWithNothingInCommonAreCertified) {
  std::vector<std::vector<Matrix>> B(3, std::vector<Matrix>(3, Matrix::Zero(4, 4)));
  const std::vector<Matrix> F(3, Matrix::Identity(2, 2));
  const Matching answer = match(MatchingProblem(F, B, graph_weights("full", 3)));
  EXPECT_EQ(answer.solution.f, 0);
  EXPECT_TRUE(answer.proof.certified);
}

// Rescaling the data of the problem rescales f and the bound and nothing else.
TEST(MultiProof, ScaleDoesNotMatter) {
  for (const double factor : {1e-6, 1e6}) {
    const MatchingProblem problem = random_problem(15, Kind::general, true, 4);
    std::vector<Matrix> F;
    const auto m = static_cast<std::size_t>(problem.domains());
    std::vector<std::vector<Matrix>> B(m, std::vector<Matrix>(m));
    Matrix w(problem.domains(), problem.domains());
    for (std::size_t i = 0; i < m; ++i) {
      F.push_back(factor * problem.F(static_cast<Index>(i)));
      for (std::size_t j = 0; j < m; ++j) {
        w(static_cast<Index>(i), static_cast<Index>(j)) = problem.weight(static_cast<Index>(i), static_cast<Index>(j));
        if (i < j) B[i][j] = factor * problem.B(static_cast<Index>(i), static_cast<Index>(j));
      }
    }
    const Matching answer = match(problem), scaled = match(MatchingProblem(F, B, w));
    const double f = answer.solution.f * factor * factor * factor;
    EXPECT_NEAR(scaled.solution.f, f, 1e-9 * f);
    EXPECT_EQ(scaled.proof.certified, answer.proof.certified);
  }
}

}  // namespace
}  // namespace cgmca::multi
