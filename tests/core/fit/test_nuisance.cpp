// A nuisance that is removed from all domains.                                              docs/method.md section 14
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "testing.hpp"

namespace cgmca {
namespace {

using testing::relative;

Matrix normal(Index rows, Index columns, std::uint64_t seed) { return testing::Random(seed).matrix(rows, columns); }

// Samples of domains that share 2 causes, and a nuisance of q values that has effects on both.
struct Data {
  Matrix X1, X2, Z;
};

Data data_of(Index n, Index d1, Index d2, Index q, std::uint64_t seed) {
  const Matrix causes = normal(2, n, seed), Z = normal(q, n, seed + 1);
  return {normal(d1, 2, seed + 2) * causes + normal(d1, q, seed + 3) * Z + normal(d1, n, seed + 4),
          normal(d2, 2, seed + 5) * causes + normal(d2, q, seed + 6) * Z + normal(d2, n, seed + 7), Z};
}

// Indicators of all categories, sample j being of category j % q.
Matrix categories(Index q, Index n) {
  Matrix Z = Matrix::Zero(q, n);
  for (Index j = 0; j < n; ++j) Z(j % q, j) = 1;
  return Z;
}

Summary summary_of(const Data& data, Accumulate accumulate = Accumulate::automatic) {
  Summary summary({data.X1.rows(), data.X2.rows(), DomainInfo::of_nuisance(data.Z.rows())}, accumulate);
  summary.add({data.X1, data.X2, data.Z});
  return summary;
}

Matrix stacked(const Matrix& X, const Matrix& Z) {
  Matrix all(X.rows() + Z.rows(), X.cols());
  all << X, Z;
  return all;
}

// X less its regression on Z and 1.
Matrix residuals(const Matrix& X, const Matrix& Z) {
  Matrix design(Z.cols(), Z.rows() + 1);
  design << Z.transpose(), Vector::Ones(Z.cols());
  const Matrix fitted = design * design.completeOrthogonalDecomposition().solve(X.transpose());
  return (X.transpose() - fitted).transpose();
}

const Covariance two = Covariance::identity(2);

TEST(Nuisance, EqualsRegressingFirst) {
  for (const Index n : {40, 400}) {
    const Data data = data_of(n, 6, 5, 3, 1);
    const Model model = fit(summary_of(data), two, two);
    const Matrix R1 = residuals(data.X1, data.Z), R2 = residuals(data.X2, data.Z);
    const Model plain = fit(R1, R2, two, two);
    EXPECT_LE(relative(model.certificate.singular_B, plain.certificate.singular_B), 1e-10);
    const Matrix t = model.domain(Domain::one).weights * R1;
    const double left = static_cast<double>(n - 1 - 3);
    EXPECT_LE(relative(t * t.transpose() / left, Matrix::Identity(2, 2)), 1e-10);
    const Matrix Z1 = apply(model, Domain::one, stacked(data.X1, data.Z));
    EXPECT_LE(relative(Z1, Matrix(model.domain(Domain::one).matrix() * R1)), 1e-10);
    const Matrix back = translation(model, Domain::two, Domain::one)(stacked(data.X2, data.Z));
    const Matrix expected = translation(plain, Domain::two, Domain::one)(R2) + (data.X1 - R1);
    EXPECT_LE(relative(back, expected), 1e-10);
    EXPECT_EQ(model.samples, n);
    EXPECT_EQ(model.free_weight(), static_cast<double>(n - 3));
  }
}

// The answers of an independent implementation. In nui_scales the nuisance's effects are a million times what is left.
// Its answers come from (91) in doubles, where nothing but 3 digits remains: regression in 80 bits gives singular values
// that differ from them by 8e-4. A compressed summary loses as much; see IsExactWhileRowsAreHeld.
TEST(Nuisance, AgreesWithTheOracle) {
  for (const std::string name : {"nui_numbers", "nui_onehot", "nui_scales"}) {
    const std::string base = testing::fixture("oracle/data/" + name);
    std::ifstream in(base + ".json");
    const auto answer = nlohmann::json::parse(in);
    const Data data{read(base + ".x1.npy"), read(base + ".x2.npy"), read(base + ".z.npy")};
    FitOptions options;
    options.ridge = answer["ridge"].get<double>();
    const Covariance three = Covariance::identity(3);
    const Model model = fit(summary_of(data), three, three, options);
    const bool lost = name == "nui_scales";
    const double tight = lost ? 2e-3 : 1e-9, tolerance = lost ? 2e-3 : 1e-8;
    const auto vector = [&](const char* key) {
      const auto values = answer[key].get<std::vector<double>>();
      return Vector(Vector::Map(values.data(), std::ssize(values)));
    };
    EXPECT_EQ(model.nuisance->rank, answer["q"].get<Index>());
    EXPECT_EQ(static_cast<Index>(model.free_weight()) - 1, answer["degrees_of_freedom"].get<Index>());
    EXPECT_LE((model.certificate.singular_B - vector("singular_B")).norm(), tight) << name;
    EXPECT_NEAR(model.certificate.objective, answer["objective"].get<double>(), tight) << name;
    // Errors are stated of translations by all correlations.
    const Covariance all = Covariance::identity(4);
    const Model whole = fit(summary_of(data), all, all, options);
    const Translation back = translation(whole, Domain::two, Domain::one);
    const Matrix first = stacked(data.X2, data.Z).leftCols(3);
    EXPECT_NEAR(back.errors.degrees, answer["nu"].get<double>(), tight) << name;
    EXPECT_LE(relative(back.errors.scale, vector("predictive_sd_before_leverage")), tolerance) << name;
    const Matrix e = back.standard_errors(first);
    for (Index j = 0; j < 3; ++j) {
      const double h = answer["leverage"][static_cast<std::size_t>(j)].get<double>();
      EXPECT_LE(relative(Vector(e.col(j)), Vector(back.errors.scale * std::sqrt(1 + h))), tolerance)
          << name << " " << j;
    }
    Matrix expected(data.X1.rows(), 3);
    for (Index j = 0; j < 3; ++j) {
      for (Index f = 0; f < expected.rows(); ++f) {
        expected(f, j) =
            answer["translation_2_to_1_of_rows_0_to_2"][static_cast<std::size_t>(j)][static_cast<std::size_t>(f)]
                .get<double>();
      }
    }
    EXPECT_LE(relative(back(first), expected), tolerance) << name;
    for (const Domain domain : {Domain::one, Domain::two}) {
      const auto values = answer["scores_row_0"][index(domain)].get<std::vector<double>>();
      const Matrix X = stacked(domain == Domain::one ? data.X1 : data.X2, data.Z).leftCols(1);
      const Vector z = apply(model, domain, X);
      EXPECT_LE((z.cwiseAbs() - Vector::Map(values.data(), 3).cwiseAbs()).norm(), 10 * tolerance) << name;
    }
  }
}

// Effects a million times what is left, in samples that a summary still holds.
TEST(Nuisance, IsExactWhileRowsAreHeld) {
  Data data = data_of(40, 12, 10, 2, 31);
  const Model small = fit(summary_of(data), two, two);
  data.X1 += 1e6 * normal(12, 2, 32) * data.Z;
  data.X2 += 1e6 * normal(10, 2, 33) * data.Z;
  const Summary summary = summary_of(data);
  ASSERT_EQ(summary.form(), SummaryForm::rows);
  const Model model = fit(summary, two, two);
  EXPECT_LE(relative(model.certificate.singular_B, small.certificate.singular_B), 1e-8);
}

TEST(Nuisance, TheSameFromBlocksMergesAndForms) {
  const Data data = data_of(300, 6, 5, 2, 3);
  const Model whole = fit(summary_of(data), two, two);
  for (const Accumulate accumulate : {Accumulate::automatic, Accumulate::qr, Accumulate::gram}) {
    Summary left({6, 5, DomainInfo::of_nuisance(2)}, accumulate), right = left;
    for (Index first = 0; first < 300; first += 50) {
      Summary& part = first < 150 ? left : right;
      part.add({data.X1.middleCols(first, 50), data.X2.middleCols(first, 50), data.Z.middleCols(first, 50)});
    }
    left.compress();
    right.merge(Summary::from_bytes(left.to_bytes()));
    const Model model = fit(right, two, two);
    EXPECT_LE(relative(model.certificate.singular_B, whole.certificate.singular_B), 1e-9);
    EXPECT_LE(relative(model.nuisance->effects[0], whole.nuisance->effects[0]), 1e-9);
    EXPECT_LE((model.nuisance->inverse - whole.nuisance->inverse).norm(), 1e-9);
    EXPECT_LT(*model.certificate.samples_residual, 1e-9);
  }
}

TEST(Nuisance, CountsWeightsAsCopies) {
  const Data data = data_of(60, 4, 4, 2, 5);
  Summary weighted({4, 4, DomainInfo::of_nuisance(2)}), copies = weighted;
  weighted.add({data.X1, data.X2, data.Z}, Vector(Vector::Constant(60, 2)));
  for (int copy = 0; copy < 2; ++copy) copies.add({data.X1, data.X2, data.Z});
  const Model one = fit(weighted, two, two), other = fit(copies, two, two);
  EXPECT_EQ(one.free_weight(), 118);
  EXPECT_LE(relative(one.certificate.singular_B, other.certificate.singular_B), 1e-10);
  EXPECT_LE(relative(one.domain(Domain::one).variance, other.domain(Domain::one).variance), 1e-10);
}

TEST(Nuisance, TakesConstantValuesAndAllIndicators) {
  Data data = data_of(80, 4, 4, 1, 6);
  data.Z = categories(4, 80);
  Data longer = data;
  longer.Z.conservativeResize(5, Eigen::NoChange);
  longer.Z.row(4).setConstant(1e6);
  const Model model = fit(summary_of(data), two, two), same = fit(summary_of(longer), two, two);
  EXPECT_EQ(model.nuisance->rank, 3);
  EXPECT_EQ(same.nuisance->rank, 3);
  EXPECT_LE(relative(model.certificate.singular_B, same.certificate.singular_B), 1e-10);
  EXPECT_EQ(same.nuisance->effects[0].col(4).norm(), 0);
}

TEST(Nuisance, IsInTheFileAndIsVerified) {
  Data data = data_of(120, 6, 5, 2, 7);
  for (const bool unknown : {false, true}) {
    FitOptions options;
    options.nuisance_unknown = unknown;
    const Model model = Model::from_bytes(fit(summary_of(data), two, two, options).to_bytes());
    const Verification found = verify(model, MatchedSamples{data.X1, data.X2, data.Z});
    EXPECT_TRUE(found.certified);
    EXPECT_LE(found.worst_claim().difference, 1e-9) << found.worst_claim().what;
    EXPECT_LE(std::abs(found.objective - model.certificate.objective), 1e-9);
    EXPECT_LE(found.constraint_residuals[0], 1e-9);
    Model wrong = model;
    wrong.nuisance->effects[0] *= 1.001;
    EXPECT_GT(verify(wrong, MatchedSamples{data.X1, data.X2, data.Z}).worst_claim().difference, 1e-6);
    wrong = model;
    wrong.nuisance->rank = 1;
    EXPECT_GT(verify(wrong, MatchedSamples{data.X1, data.X2, data.Z}).worst_claim().difference, 1e-6);
    Matrix other = data.Z;
    other(0, 3) += 0.1;
    EXPECT_GT(verify(model, MatchedSamples{data.X1, data.X2, other}).worst_claim().difference, 1e-6);
  }
}

TEST(Nuisance, HeldOutErrorsAreVerifiedToo) {
  const Data data = data_of(80, 5, 4, 2, 23);
  Folds folds({5, 4, DomainInfo::of_nuisance(2)}, {.folds = 5, .repeats = 1});
  folds.add({data.X1, data.X2, data.Z});
  for (const bool unknown : {false, true}) {
    FitOptions options;
    options.nuisance_unknown = unknown;
    const Model model = calibrate(fit(folds.all(), {two}, options), folds, {two}, options);
    const Verification found = verify(model, MatchedSamples{data.X1, data.X2, data.Z});
    EXPECT_LE(found.worst_claim().difference, 1e-8) << found.worst_claim().what;
    Model wrong = model;
    wrong.domains[0]->held_out_error *= 1.1;
    EXPECT_GT(verify(wrong, MatchedSamples{data.X1, data.X2, data.Z}).worst_claim().difference, 1e-3);
  }
}

TEST(Nuisance, BlindMapsDoNotSeeIt) {
  const Data data = data_of(200, 6, 5, 2, 9);
  for (const double ridge : {0.0, 0.1}) {
    FitOptions options;
    options.nuisance_unknown = true;
    options.ridge = ridge;
    const Model model = fit(summary_of(data), two, two, options);
    EXPECT_EQ(model.nuisance_values(), 0);
    for (const Domain domain : {Domain::one, Domain::two}) {
      const Matrix blind = model.domain(domain).matrix() * model.nuisance->effects[index(domain)];
      EXPECT_LE(blind.norm(), 1e-12);
    }
    // The sum of products of scores and nuisance is 0 as well.
    const Matrix Z1 = apply(model, Domain::one, data.X1);
    const Matrix centred = data.Z.colwise() - data.Z.rowwise().mean();
    EXPECT_LE((Z1 * centred.transpose()).norm() / Z1.norm() / centred.norm(), 1e-12);
    EXPECT_EQ(model.certificate.ranks[0], 4);
    // Translations estimate the whole sample, by regression on the scores.
    const Matrix t = model.domain(Domain::two).weights * (data.X2.colwise() - data.X2.rowwise().mean());
    const Matrix X1 = data.X1.colwise() - data.X1.rowwise().mean();
    if (ridge > 0) continue;
    const Matrix regression = X1 * t.transpose() * (t * t.transpose()).inverse();
    const Matrix found = translation(model, Domain::two, Domain::one)(data.X2).colwise() - data.X1.rowwise().mean();
    EXPECT_LE(relative(found, Matrix(regression * t)), 1e-10);
  }
}

TEST(Nuisance, MoreDomainsThanTwo) {
  const Data data = data_of(150, 5, 4, 2, 11), more = data_of(150, 6, 4, 2, 11);
  Summary summary({5, 4, 6, DomainInfo::of_nuisance(2)});
  summary.add(MatchedSamples{data.X1, data.X2, more.X1, data.Z});
  for (const bool unknown : {false, true}) {
    FitOptions options;
    options.nuisance_unknown = unknown;
    const Model model = Model::from_bytes(fit(summary, {two}, options).to_bytes());
    EXPECT_TRUE(model.certificate.certified);
    const Verification found = verify(model, MatchedSamples{data.X1, data.X2, more.X1, data.Z});
    EXPECT_LE(found.worst_claim().difference, 1e-8) << found.worst_claim().what;
    const auto given = [&](const Matrix& X) { return unknown ? X : stacked(X, data.Z); };
    const Matrix A = given(data.X1), B = given(data.X2), C = given(more.X1);
    const Matrix fused = fuse(model, {{Domain::one, A}, {Domain::two, B}, {Domain{3}, C}});
    const Matrix sum = apply(model, Domain::one, A) + apply(model, Domain::two, B) + apply(model, Domain{3}, C);
    EXPECT_LE(relative(fused, Matrix(sum / 3)), 1e-12);
    const Matrix joint = translate(model, {{Domain::two, B}, {Domain{3}, C}}, Domain::one);
    const Translation map = translation(model, {Domain::two, Domain{3}}, Domain::one);
    std::vector<SampleView> parts{data.X2, more.X1};
    if (!unknown) parts.emplace_back(data.Z);
    EXPECT_LE(relative(joint, map(map.stacked(parts))), 1e-12);
  }
}

TEST(Nuisance, OneSampleAtATimeIsTheSame) {
  const Data data = data_of(50, 5, 4, 2, 13);
  const Model model = fit(summary_of(data), two, two);
  const Matrix X = stacked(data.X1, data.Z);
  Vector z(2);
  apply_into(model, Domain::one, X.col(7), z);
  EXPECT_LE((z - apply(model, Domain::one, X).col(7)).norm(), 1e-12);
  EXPECT_THROW(apply(model, Domain::one, data.X1), WrongDimension);
  EXPECT_THROW(translate(model, Domain::one, Domain::two, data.X1), WrongDimension);
  const Model part = Model::from_bytes(model.only(Domain::one).to_bytes());
  EXPECT_LE(relative(apply(part, Domain::one, X), apply(model, Domain::one, X)), 1e-14);
  LsqrOptions many;
  many.iterations = 50;
  const Matrix lsqr = translate(model, Domain::one, Domain::two, X, Method::lsqr, many);
  EXPECT_EQ(lsqr.rows(), 4);
}

// The part of intervals of 90 % that hold new values, with standard errors by the formula or, if `folds`, held out.
double coverage(Index n, Index q, Index folds, std::uint64_t sets) {
  const Covariance four = Covariance::identity(4);
  constexpr Index fresh = 40;
  Index held = 0;
  for (std::uint64_t seed = 0; seed < sets; ++seed) {
    const Data data = data_of(n + fresh, 4, 4, q, 100 + 10 * seed);
    const Data training{data.X1.leftCols(n), data.X2.leftCols(n), data.Z.leftCols(n)};
    Model model = fit(summary_of(training), four, four);
    if (folds > 0) {
      Folds dealt({4, 4, DomainInfo::of_nuisance(q)}, {.folds = folds});
      dealt.add({training.X1, training.X2, training.Z});
      model = calibrate(model, dealt, four, four);
    }
    const Matrix X = stacked(data.X2, data.Z).rightCols(fresh);
    const Translation back = translation(model, Domain::two, Domain::one);
    const Matrix off = (data.X1.rightCols(fresh) - back(X)).cwiseAbs();
    held += (off.array() <= back.half_widths(X, 0.9).array()).count();
  }
  return static_cast<double>(held) / static_cast<double>(sets * 4 * fresh);
}

TEST(Nuisance, IntervalsHoldWhatTheySay) {
  for (const Index n : {60, 100, 300}) {
    for (const Index q : {1, 5, 25}) EXPECT_NEAR(coverage(n, q, 0, 60), 0.9, 0.02) << n << " " << q;
  }
  EXPECT_NEAR(coverage(60, 10, 10, 20), 0.9, 0.03);
}

// A nuisance that both domains share gives correlations that are none of theirs.
TEST(Nuisance, AConfoundedNullHasUniformPValues) {
  std::vector<double> wilks, permuted;
  Index plain = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Matrix Z = normal(3, 50, 5000 + seed);
    const Matrix X1 = normal(3, 3, 6000 + seed) * Z + normal(3, 50, 7000 + seed);
    const Matrix X2 = normal(3, 3, 8000 + seed) * Z + normal(3, 50, 9000 + seed);
    const Covariance three = Covariance::identity(3);
    const Model model = fit(summary_of({X1, X2, Z}), three, three);
    wilks.push_back(correlation_tests(model).front().wilks.p);
    plain += correlation_tests(fit(X1, X2, three, three)).front().wilks.p < 0.05 ? 1 : 0;
    if (seed >= 50) continue;
    PermutationOptions test;
    test.permutations = 99;
    test.seed = seed + 1;
    test.nuisance = true;
    permuted.push_back(permutation_test(MatchedSamples{X1, X2, Z}, {}, test).p_values.front());
  }
  EXPECT_GE(plain, 90);
  const auto uniform = [](std::vector<double> p) {  // Kolmogorov's distance times √n; 1.95 has the level .001
    std::sort(p.begin(), p.end());
    double most = 0;
    const auto n = static_cast<double>(p.size());
    for (std::size_t j = 0; j < p.size(); ++j) {
      most = std::max(
          {most, std::abs(p[j] - static_cast<double>(j) / n), std::abs(p[j] - static_cast<double>(j + 1) / n)});
    }
    return most * std::sqrt(n);
  };
  EXPECT_LT(uniform(wilks), 1.95);
  EXPECT_LT(uniform(permuted), 1.95);
}

TEST(Nuisance, DiagnosticsSeeWhatIsLeft) {
  const Data data = data_of(200, 6, 5, 2, 15);
  const Model model = fit(summary_of(data), two, two);
  const Matrix R1 = residuals(data.X1, data.Z), R2 = residuals(data.X2, data.Z);
  const Model plain = fit(R1, R2, two, two);
  Diagnoser with(model), without(plain);
  const Matrix A = stacked(data.X1, data.Z), B = stacked(data.X2, data.Z);
  with.add({A, B});
  without.add({R1, R2});
  const Diagnosis one = with.diagnosis(), other = without.diagnosis();
  // The scores differ by the degrees of freedom alone.
  EXPECT_LE(relative(one.domains[0].t_squared, Vector(other.domains[0].t_squared * (197.0 - 2) / 197)), 0.02);
}

TEST(Nuisance, IsRefusedWhereItCannotBeRemoved) {
  const Data data = data_of(30, 3, 3, 2, 17);
  FitOptions blind;
  blind.nuisance_unknown = true;
  EXPECT_THROW(fit(data.X1, data.X2, two, two, blind), InvalidInput);
  const Data many = data_of(12, 3, 3, 10, 18);
  EXPECT_THROW(fit(summary_of(many), two, two), TooFewSamples);
  const Data flat = data_of(60, 2, 3, 2, 19);  // blind maps of 2 features to 2 values do not exist
  EXPECT_THROW(fit(summary_of(flat), two, two, blind), InvalidInput);
  Summary misplaced({3, DomainInfo::of_nuisance(2), 3});
  misplaced.add(MatchedSamples{data.X1, data.Z, data.X2});
  EXPECT_THROW(fit(misplaced, two, two), InvalidInput);
  FitOptions identity;
  identity.towards = Towards::identity;
  identity.ridge = 0.1;
  EXPECT_THROW(fit(summary_of(data), two, two, identity), InvalidInput);
  Folds folds({3, 3, DomainInfo::of_nuisance(2)}, {.folds = 5});
  folds.add({data.X1, data.X2, data.Z});
  EXPECT_THROW(tune(folds), InvalidInput);
  Summary other({3, 3, 2});
  EXPECT_THROW(other.merge(summary_of(data)), InvalidInput);
}

TEST(Nuisance, ThatExplainsNearlyAllIsTold) {
  Data data = data_of(100, 4, 4, 2, 21);
  data.X1 += 30 * normal(4, 2, 22) * data.Z;
  const Model model = fit(summary_of(data), two, two);
  EXPECT_GT(model.nuisance->explained[0], 0.9);
  bool told = false;
  for (const std::string& text : model.warnings()) told = told || text.find("the nuisance explains") == 0;
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace cgmca
