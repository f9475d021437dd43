// The cases of tests/fixtures/oracle: answers of an independent implementation.
#include <Eigen/Cholesky>
#include <Eigen/SVD>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "testing.hpp"

namespace cgmca {
namespace {

using testing::fixture;
using testing::relative;

struct Case {
  std::string name;
  Matrix X1, X2;
  Covariance c1, c2;
  nlohmann::json answer;
};

Covariance parse(const std::string& spec) {
  const auto colon = spec.find(':');
  const std::string kind = spec.substr(0, colon), value = spec.substr(colon + 1);
  if (kind == "identity") return Covariance::identity(std::stol(value));
  if (kind == "data1") return Covariance::data(Domain::one, std::stol(value));
  return Covariance::matrix(read(fixture("oracle/" + value)));
}

Case load_case(const std::string& name) {
  std::ifstream in(fixture("oracle/" + name + ".json"));
  nlohmann::json answer = nlohmann::json::parse(in);
  Covariance c1 = parse(answer["cov"][0]), c2 = parse(answer["cov"][1]);
  return {name,
          read(fixture("oracle/" + name + ".x1.npy")),
          read(fixture("oracle/" + name + ".x2.npy")),
          std::move(c1),
          std::move(c2),
          answer};
}

Vector vector_of(const nlohmann::json& list) {
  const auto values = list.get<std::vector<double>>();
  return Eigen::Map<const Vector>(values.data(), std::ssize(values));
}

class Oracle : public ::testing::TestWithParam<std::string> {};

void expect_answer(const Model& model, const Case& c) {
  const Certificate& certificate = model.certificate;
  EXPECT_EQ(model.samples, c.answer["n"].get<Index>());
  for (std::size_t i : {0U, 1U}) {
    EXPECT_EQ(certificate.ranks[i], c.answer["ranks"][i].get<Index>());
    EXPECT_EQ(certificate.covariance_ranks[i], c.answer["cov_ranks"][i].get<Index>());
    EXPECT_LE(certificate.constraint_residuals[i], 1e-10);
  }
  const Vector A = vector_of(c.answer["singular_A"]), B = vector_of(c.answer["singular_B"]);
  ASSERT_EQ(certificate.singular_A.size(), A.size());
  ASSERT_EQ(certificate.singular_B.size(), B.size());
  EXPECT_LE((certificate.singular_A - A).cwiseAbs().maxCoeff(), 1e-10 * A(0));
  EXPECT_LE((certificate.singular_B - B).cwiseAbs().maxCoeff(), 1e-10);
  const double objective = c.answer["objective"];
  EXPECT_NEAR(certificate.objective, objective, 1e-10 * objective);
  EXPECT_NEAR(certificate.bound, objective, 1e-10 * objective);
  const std::string translation_file = fixture("oracle/" + c.name + ".translate21.npy");
  if (std::filesystem::exists(translation_file)) {
    const Matrix expected = read(translation_file).transpose();
    const Matrix found = translation(model, Domain::two, Domain::one, Method::exact).matrix();
    EXPECT_LE(relative(found, expected), 1e-8);
  }
}

void expect_same_maps(const Model& found, const Model& expected) {
  for (Domain domain : {Domain::one, Domain::two}) {
    EXPECT_LE(relative(found.domain(domain).matrix(), expected.domain(domain).matrix()), 1e-9);
    EXPECT_LE(relative(found.domain(domain).offset(), expected.domain(domain).offset()), 1e-9);
  }
}

// The samples in shuffled order, cut into `count` blocks of unequal size.
std::vector<std::pair<Matrix, Matrix>> shuffled_blocks(const Case& c, Index count, std::uint64_t seed) {
  testing::Random random(seed);
  std::vector<Index> order(static_cast<std::size_t>(c.X1.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  std::shuffle(order.begin(), order.end(), random.generator());
  std::vector<std::pair<Matrix, Matrix>> blocks;
  const Index n = c.X1.cols();
  for (Index b = 0; b < count; ++b) {
    const Index begin = n * b * b / (count * count), end = n * (b + 1) * (b + 1) / (count * count);
    const std::vector<Index> part(order.begin() + begin, order.begin() + end);
    blocks.emplace_back(c.X1(Eigen::all, part), c.X2(Eigen::all, part));
  }
  return blocks;
}

TEST_P(Oracle, IsReproduced) {
  const Case c = load_case(GetParam());
  expect_answer(fit(c.X1, c.X2, c.c1, c.c2), c);
}

TEST_P(Oracle, GivesTheSameMapsInBlocksAndMergedParts) {
  const Case c = load_case(GetParam());
  const Model whole = fit(c.X1, c.X2, c.c1, c.c2);
  for (Accumulate accumulate : {Accumulate::automatic, Accumulate::qr}) {
    for (Index count : {1, 3, 10}) {
      SCOPED_TRACE(std::string(name(accumulate)) + " in " + std::to_string(count) + " blocks");
      const auto blocks = shuffled_blocks(c, count, 7 + static_cast<std::uint64_t>(count));
      Summary streamed({c.X1.rows(), c.X2.rows()}, accumulate), merged = streamed;
      for (const auto& [X1, X2] : blocks) {
        streamed.add(X1, X2);
        Summary part({c.X1.rows(), c.X2.rows()}, accumulate);
        part.add(X1, X2);
        merged.merge(part);
      }
      const Model from_blocks = fit(streamed, c.c1, c.c2), from_parts = fit(merged, c.c1, c.c2);
      expect_answer(from_blocks, c);
      expect_same_maps(from_blocks, whole);
      expect_answer(from_parts, c);
      expect_same_maps(from_parts, whole);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Oracle,
                         ::testing::Values("tall_identity", "tall_general", "data1_rank_t", "unequal_cov_ranks",
                                           "needs_completion", "k_above_both_ranks", "rank_deficient_x1",
                                           "wide_n_below_d"),
                         [](const auto& instance) { return instance.param; });

// A model whose domains' points are their samples: z_j = x_j.
Model identities(const std::vector<Index>& dimensions) {
  Model model(std::ssize(dimensions));
  model.common_dimension = dimensions.front();
  for (std::size_t j = 0; j < dimensions.size(); ++j) {
    const Matrix I = Matrix::Identity(dimensions[j], dimensions[j]);
    DomainMap map;
    map.mean = Vector::Zero(dimensions[j]);
    map.weights = map.mixing = map.loadings = I;
    map.variance = Vector::Ones(dimensions[j]);
    model.domains[j] = map;
  }
  model.certificate.singular_B = Vector::Zero(dimensions.front());
  return model;
}

class FrozenOracle : public ::testing::TestWithParam<std::string> {};

TEST_P(FrozenOracle, ANewDomainAttainsTheBound) {
  const std::string name = "oracle/data/" + GetParam();
  std::ifstream in(fixture(name + ".json"));
  const auto answer = nlohmann::json::parse(in);
  const Matrix X = read(fixture(name + ".x.npy")), C = read(fixture(name + ".cov.npy"));
  const auto weights = answer["weights"].get<std::vector<double>>();
  std::vector<Matrix> samples;
  std::vector<Domain> known;
  std::vector<DomainInfo> domains;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    samples.push_back(read(fixture(name + ".z" + std::to_string(j + 1) + ".npy")));
    known.push_back(domain_at(j));
    domains.emplace_back(C.rows());
  }
  samples.push_back(X);
  domains.emplace_back(X.rows());
  Summary matched(domains);
  matched.add({samples.begin(), samples.end()});
  AddOptions options{Covariance::matrix(C), weights};
  options.ridge = answer["ridge"].get<double>();
  options.transport = false;
  const Model model = add_domain(identities({C.rows(), C.rows()}), matched, known, options);
  const DomainMap& map = *model.domains.back();
  const Addition& added = model.additions.back();
  const Matrix A = read(fixture(name + ".map.npy")).transpose();  // files have rows for columns
  EXPECT_LE(relative(map.matrix(), A), 1e-9);
  EXPECT_LE((map.offset() - read(fixture(name + ".offset.npy")).reshaped()).norm(), 1e-9 * (1 + map.offset().norm()));
  EXPECT_NEAR(added.objective, answer["objective"].get<double>(), 1e-10 * added.scale);
  EXPECT_NEAR(added.bound, answer["bound"].get<double>(), 1e-10 * added.scale);
  EXPECT_NEAR(added.objective, added.bound, 1e-12 * added.scale);
  EXPECT_LE((added.singular_G - vector_of(answer["singular_G"])).norm(), 1e-10);
  EXPECT_LE(model.certificate.constraint_residuals.back(), 1e-11);
  EXPECT_TRUE(added.unique);
}

INSTANTIATE_TEST_SUITE_P(Cases, FrozenOracle, ::testing::Values("frz_identity", "frz_full_cov", "frz_ridge"),
                         [](const auto& instance) { return instance.param; });

struct Transported {
  Matrix X1, X2, new2, new3;
  Model model, extended;
};

Transported transported() {
  const auto rows = [](const std::string& which) {
    return read(fixture("oracle/data/frz_transport." + which + ".npy"));
  };
  Transported result{rows("x1"), rows("x2"), rows("x2_new"), rows("x3_new"), Model(), Model()};
  const Covariance C = Covariance::identity(3);
  result.model = fit(result.X1, result.X2, C, C);
  Summary matched({DomainInfo(result.new2.rows()), DomainInfo(result.new3.rows(), "third")});
  matched.add(result.new2, result.new3);
  result.extended = add_domain(result.model, matched, {Domain::two});
  return result;
}

TEST(FrozenSpace, ANewDomainIsTransportedToTheSamplesOfTheFit) {
  const Transported c = transported();
  const auto rows = [](const std::string& which) {
    return read(fixture("oracle/data/frz_transport." + which + ".npy"));
  };
  std::ifstream in(fixture("oracle/data/frz_transport.json"));
  const auto answer = nlohmann::json::parse(in);
  const DomainMap& map = *c.extended.domains.back();
  // Signs of the common space are a convention; the file has its own map 2.
  const Matrix A2 = c.model.domain(Domain::two).matrix(), file2 = rows("map2").transpose();
  const Vector signs = A2.cwiseProduct(file2).rowwise().sum().cwiseSign();
  EXPECT_LE(relative(A2, signs.asDiagonal() * file2), 1e-9);
  EXPECT_LE(relative(map.matrix(), signs.asDiagonal() * rows("map3").transpose()), 1e-9);
  EXPECT_LE((map.mean - rows("mu3").reshaped()).norm(), 1e-10);
  EXPECT_LE((map.variance - rows("theta3").diagonal()).norm(), 1e-10);
  EXPECT_NEAR(c.extended.additions[0].objective, answer["objective"].get<double>(), 1e-10);
}

TEST(FrozenSpace, TheOtherMapsStayAsTheyAreToTheBit) {
  const Transported c = transported();
  for (const Domain domain : {Domain::one, Domain::two}) {
    const DomainMap &before = c.model.domain(domain), &after = c.extended.domain(domain);
    EXPECT_TRUE(before.weights == after.weights && before.mixing == after.mixing && before.mean == after.mean);
    EXPECT_TRUE(before.loadings == after.loadings && before.variance == after.variance);
  }
  const Model back = c.extended.fitted();
  EXPECT_EQ(back.to_bytes(), c.model.to_bytes());
  const Model loaded = Model::from_bytes(c.extended.to_bytes());
  EXPECT_EQ(loaded.to_bytes(), c.extended.to_bytes());
  EXPECT_EQ(loaded.additions[0].singular_G, c.extended.additions[0].singular_G);
  EXPECT_TRUE(loaded.warnings().empty());
}

TEST(FrozenSpace, NoOtherMapOfThatCovarianceIsBetter) {
  const Transported c = transported();
  Summary matched({c.new2.rows(), c.new3.rows()});
  matched.add(c.new2, c.new3);
  AddOptions options;
  options.transport = false;
  const Model model = add_domain(c.model, matched, {Domain::two}, options);
  const Matrix Z = apply(model, Domain::two, c.new2), X = testing::centred(c.new3);
  const Vector aim = Z.rowwise().mean();
  const double n = static_cast<double>(Z.cols());
  const Matrix L = testing::sample_covariance(c.new3).llt().matrixL();
  testing::Random random(1);
  const double found = (apply(model, Domain{3}, c.new3) - Z).squaredNorm() / n;
  EXPECT_NEAR(found, model.additions[0].bound, 1e-12 * model.additions[0].scale);
  const Matrix best = model.domain(Domain{3}).matrix() * L;  // orthonormal rows
  for (int trial = 0; trial < 2000; ++trial) {
    const Matrix near = best + std::pow(10.0, -trial % 7) * random.matrix(3, X.rows());
    const Eigen::JacobiSVD<Matrix> svd(near, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Matrix D = svd.matrixU() * svd.matrixV().transpose();
    const Matrix mapped = (D * L.triangularView<Eigen::Lower>().solve(X)).colwise() + aim;
    EXPECT_GE((mapped - Z).squaredNorm() / n, found * (1 - 1e-13));
  }
}

TEST(FrozenSpace, TheMapOfAJointFitIsReproduced) {
  testing::Random random(3);
  for (const double ridge : {0.0, 0.3}) {
    const auto [X1, X2] = testing::random_pairs(random, 6, 5, 80);
    Vector sd(3);
    sd << 2, 1, 0.5;
    const Covariance C = Covariance::diagonal(sd);
    FitOptions options;
    options.ridge = ridge;
    const Model joint = fit(X1, X2, C, C, options);
    Summary matched({5, 6});
    matched.add(X2, X1);
    AddOptions how;
    how.ridge = ridge;
    const Model again = add_domain(joint, matched, {Domain::two}, how);
    EXPECT_LE(relative(again.domain(Domain{3}).matrix(), joint.domain(Domain::one).matrix()), 1e-11);
    EXPECT_LE((again.domain(Domain{3}).mean - joint.domain(Domain::one).mean).norm(), 1e-11);
    const Matrix there = translate(joint, Domain::one, Domain::two, X1),
                 same = translate(again, Domain{3}, Domain::two, X1);
    EXPECT_LE(relative(same, there), 1e-10);
    EXPECT_LE(relative(translate(again, Domain::two, Domain{3}, X2), translate(joint, Domain::two, Domain::one, X2)),
              1e-10);
  }
}

TEST(FrozenSpace, SeveralDomainsJoinOneAfterAnother) {
  testing::Random random(5);
  const Matrix causes = random.matrix(3, 400);
  std::vector<Matrix> X;
  for (int i = 0; i < 4; ++i) X.emplace_back(random.matrix(7, 3) * causes + 0.1 * random.matrix(7, 400));
  const Covariance C = Covariance::identity(3);
  Model model = fit(X[0].leftCols(200), X[1].leftCols(200), C, C);
  for (int i = 2; i < 4; ++i) {
    Summary matched({7, 7, DomainInfo(7, "new" + std::to_string(i))});
    const auto part = Eigen::seqN(100 * i, 100);
    matched.add({X[0](Eigen::all, part), X[static_cast<std::size_t>(i) - 1](Eigen::all, part), X[i](Eigen::all, part)});
    model = add_domain(model, matched, {Domain::one, Domain{i}}, {{}, {1, 2}});
  }
  EXPECT_EQ(model.count(), 4);
  EXPECT_EQ(model.additions[1].matched, (std::vector<Domain>{Domain::one, Domain{3}}));
  const Matrix from_both = translate(model, {{Domain{3}, X[2]}, {Domain{4}, X[3]}}, Domain::two);
  EXPECT_LE(relative(from_both, X[1]), 0.15);
  EXPECT_LE(relative(translate(model, Domain::two, Domain{4}, X[1]), X[3]), 0.15);
  const Matrix Z = fuse(model, {{Domain{4}, X[3]}});
  EXPECT_LE(relative(Z, apply(model, Domain::one, X[0])), 0.15);
  EXPECT_GT(translation(model, Domain{4}, Domain::one).standard_errors(X[3]).minCoeff(), 0);
  EXPECT_EQ(translation(model, Domain{4}, Domain::one).errors.samples, 100);
}

TEST(FrozenSpace, WhatCannotBeAddedIsRefused) {
  const Transported c = transported();
  Summary matched({c.new2.rows(), c.new3.rows()});
  matched.add(c.new2, c.new3);
  EXPECT_THROW(add_domain(c.model, matched, {}), InvalidInput);
  EXPECT_THROW(add_domain(c.model, matched, {Domain::one}), WrongDimension);
  EXPECT_THROW(add_domain(c.model, matched, {Domain::two, Domain::two}), InvalidInput);
  EXPECT_THROW(add_domain(c.model, matched, {Domain{3}}), MissingDomain);
  EXPECT_THROW(add_domain(c.model, matched, {Domain::two}, {Covariance::identity(2)}), CommonDimension);
  EXPECT_THROW(add_domain(c.model, matched, {Domain::two}, {Covariance::correlation(3)}), InvalidInput);
  EXPECT_THROW(add_domain(c.model, matched, {Domain::two}, {{}, {-1}}), InvalidInput);
  Summary narrow({c.new2.rows(), 2});
  narrow.add(c.new2, c.new3.topRows(2));
  EXPECT_THROW(add_domain(c.model, narrow, {Domain::two}), Infeasible);
  Summary same_name({DomainInfo(c.new2.rows()), DomainInfo(c.new3.rows(), "third")});
  same_name.add(c.new2, c.new3);
  EXPECT_THROW(add_domain(c.extended, same_name, {Domain::two}), InvalidInput);
}

class IncompleteOracle : public ::testing::TestWithParam<std::string> {};

std::vector<Matrix> incomplete_samples(const std::string& name, std::size_t domains) {
  std::vector<Matrix> X;
  for (std::size_t i = 1; i <= domains; ++i) {
    X.push_back(read(fixture("oracle/data/" + name + ".x" + std::to_string(i) + ".npy")));
  }
  return X;
}

TEST_P(IncompleteOracle, MomentsCorrelationsAndTranslationsAreThoseOfTheReference) {
  const std::string name = GetParam();
  std::ifstream in(fixture("oracle/data/" + name + ".json"));
  const auto answer = nlohmann::json::parse(in);
  const auto dims = answer["dims"].get<std::vector<Index>>();
  const std::vector<Matrix> X = incomplete_samples(name, dims.size());
  const double ridge = answer["ridge"];
  IncompleteSummary summary({dims.begin(), dims.end()});
  summary.add({X.begin(), X.end()});
  const Matrix theta = read(fixture("oracle/data/" + name + ".theta.npy"));
  const Vector mu = read(fixture("oracle/data/" + name + ".mu.npy")).reshaped();
  const Vector sd = theta.diagonal().cwiseSqrt();
  const IncompleteEstimate found = estimate_incomplete(summary, ridge);
  Index first = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto own = Eigen::seqN(first, dims[i]);
    EXPECT_LE((found.means[i] - mu(own)).cwiseQuotient(sd(own)).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_LE((found.variance[i] - theta.diagonal()(own)).cwiseQuotient(theta.diagonal()(own)).cwiseAbs().maxCoeff(),
              1e-6);
    first += dims[i];
  }
  if (found.covariance.size() > 0) {
    const Vector scale = sd.cwiseInverse();
    EXPECT_LE((scale.asDiagonal() * (found.covariance - theta) * scale.asDiagonal()).cwiseAbs().maxCoeff(), 1e-6);
  }
  // All directions, so that translations are the regressions of the estimate.
  Index smallest = dims[0];
  for (const Index d : dims) smallest = std::min(smallest, d);
  FitOptions options;
  options.ridge = ridge;
  const Model model = fit(summary, {Covariance::identity(smallest)}, options);
  EXPECT_EQ(model.samples, answer["n"].get<Index>());
  EXPECT_EQ(model.patterns.size(), answer["patterns"].size());
  if (dims.size() == 2) {
    const Vector expected = vector_of(answer["correlations_of_pairs_of_domains"][1][0]);
    EXPECT_LE((model.certificate.singular_B - expected).cwiseAbs().maxCoeff(), 1e-6);
    const Matrix row = read(fixture("oracle/data/" + name + ".row0.npy"));
    const Matrix x1 = row.reshaped().head(dims[0]), x2 = row.reshaped().tail(dims[1]);
    const auto to = [&](const char* key) { return vector_of(answer["translations"][key]); };
    EXPECT_LE((translate(model, Domain::one, Domain::two, x1) - to("to_2_from_all_others_for_values_of_row_0")).norm(),
              1e-5);
    if (dims[1] >= dims[0]) {
      EXPECT_LE(
          (translate(model, Domain::two, Domain::one, x2) - to("to_1_from_all_others_for_values_of_row_0")).norm(),
          1e-5);
    }
  }
  // Blocks, merges and files change nothing.
  IncompleteSummary merged({dims.begin(), dims.end()});
  for (Index block = 2; block >= 0; --block) {
    const auto part = Eigen::seq(block, Eigen::last, 3);
    std::vector<Matrix> some;
    for (const Matrix& one : X) some.emplace_back(one(Eigen::all, part));
    IncompleteSummary own({dims.begin(), dims.end()});
    own.add({some.begin(), some.end()});
    merged.merge(IncompleteSummary::from_bytes(own.to_bytes()));
  }
  const Model again = fit(merged, {Covariance::identity(smallest)}, options);
  for (const Domain domain : all_domains(again.count())) {
    EXPECT_LE(relative(again.domain(domain).matrix(), model.domain(domain).matrix()), 1e-7);
  }
  EXPECT_EQ(Model::from_bytes(model.to_bytes()).to_bytes(), model.to_bytes());
}

INSTANTIATE_TEST_SUITE_P(Cases, IncompleteOracle,
                         ::testing::Values("inc_complete", "inc_two_extra", "inc_chain", "inc_few"),
                         [](const auto& instance) { return instance.param; });

TEST(Incomplete, OfCompleteSamplesItIsTheFitWithThatRidge) {
  testing::Random random(1);
  const auto [X1, X2] = testing::random_pairs(random, 6, 5, 80);
  for (const double ridge : {0.0, 0.3}) {
    FitOptions options;
    options.ridge = ridge;
    IncompleteSummary summary({6, 5});
    summary.add({X1, X2});
    const Covariance C = Covariance::identity(3);
    const Model plain = fit(X1, X2, C, C, options), model = fit(summary, {C}, options);
    for (const Domain domain : {Domain::one, Domain::two}) {
      EXPECT_LE(relative(model.domain(domain).matrix(), plain.domain(domain).matrix()), 1e-9);
      EXPECT_LE(relative(model.domain(domain).variance, plain.domain(domain).variance), 1e-9);
    }
    const Matrix one = translation(plain, Domain::two, Domain::one).standard_errors(X2),
                 two = translation(model, Domain::two, Domain::one).standard_errors(X2);
    EXPECT_LE(relative(two, one), 1e-8);
    const Verification attained = verify(model, summary);
    EXPECT_LE(attained.shortfall(), 1e-9);
    EXPECT_LE(attained.worst_claim().difference, 1e-6) << attained.worst_claim().what;
  }
}

TEST(Incomplete, ExtraSamplesDoNotHarm) {
  testing::Random random(2);
  const auto [X1, X2] = testing::random_pairs(random, 20, 15, 2600, 1.0);
  const auto pairs = Eigen::seqN(0, 100), more1 = Eigen::seqN(100, 1000), more2 = Eigen::seqN(1100, 1000),
             held_out = Eigen::seqN(2100, 500);
  IncompleteSummary summary({20, 15});
  summary.add({X1(Eigen::all, pairs), X2(Eigen::all, pairs)});
  Summary one({20}), two({15});
  one.add(X1(Eigen::all, more1));
  two.add(X2(Eigen::all, more2));
  summary.add({Domain::one}, one);
  summary.add({Domain::two}, two);
  const Matrix held1 = X1(Eigen::all, held_out), held2 = X2(Eigen::all, held_out);
  double least_with = INFINITY, least_without = INFINITY;
  for (const double ridge : {0.001, 0.01, 0.1, 1.0, 10.0}) {
    FitOptions options;
    options.ridge = ridge;
    const Covariance C = Covariance::identity(5);
    const auto error = [&](const Model& model) {
      return (translate(model, Domain::two, Domain::one, held2) - held1).squaredNorm();
    };
    const Model with = fit(summary, {C}, options);
    least_with = std::min(least_with, error(with));
    least_without = std::min(least_without, error(fit(X1(Eigen::all, pairs), X2(Eigen::all, pairs), C, C, options)));
    EXPECT_LE(with.certificate.singular_B(0), 1);
    EXPECT_EQ(translation(with, Domain::two, Domain::one).errors.samples, 100);
    EXPECT_TRUE(with.warnings().empty());
  }
  EXPECT_LE(least_with, least_without);
}

TEST(Incomplete, DomainsNeverSeenTogetherHaveNoErrorBarsAndWhatIsUnlinkedIsRefused) {
  const auto dims = std::vector<Index>{4, 5, 4};
  IncompleteSummary summary({dims.begin(), dims.end()});
  const std::vector<Matrix> X = incomplete_samples("inc_chain", 3);
  summary.add({X.begin(), X.end()});
  const Model model = fit(summary, {Covariance::identity(4)});
  EXPECT_THROW(translation(model, Domain::one, Domain{3}).standard_errors(Matrix::Zero(4, 1)), InvalidInput);
  EXPECT_GT(translation(model, Domain::one, Domain::two).standard_errors(Matrix::Zero(4, 1)).minCoeff(), 0);
  EXPECT_FALSE(model.warnings().empty());
  IncompleteSummary apart({4, 5});
  Summary one({4});
  one.add(Matrix(Matrix::Random(4, 20)));
  apart.add({Domain::one}, one);
  EXPECT_THROW(fit(apart, {Covariance::identity(2)}), InvalidInput);
  EXPECT_THROW(apart.add({Domain{3}}, one), MissingDomain);
  EXPECT_THROW(apart.add({Domain::two}, one), WrongDimension);
}

}  // namespace
}  // namespace cgmca
