// Every kind of bad input: its own exception type and a message with the figures.
#include <sys/resource.h>

#include <limits>

#include "testing.hpp"

namespace cgmca {
namespace {

using testing::Random;

// The message of the exception of type E that `action` throws; E exactly, not a class derived from it.
template <class E, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    EXPECT_EQ(typeid(error), typeid(E)) << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no exception";
  return "";
}

void expect_says(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
}

class Errors : public ::testing::Test {
 protected:
  Errors() {
    Random random(1);
    pairs = testing::random_pairs(random, 6, 4, 30);
  }
  const Covariance two = Covariance::identity(2);
  testing::Pairs pairs;
};

TEST_F(Errors, FewerThanTwoSamples) {
  expect_says(message_of<TooFewSamples>([&] { fit(pairs.X1.leftCols(1), pairs.X2.leftCols(1), two, two); }),
              {"1 matched pair;", "at least 2"});
  expect_says(message_of<TooFewSamples>([&] { fit(Summary({6, 4}), two, two); }), {"0 matched pairs", "at least 2"});
  message_of<TooFewSamples>([&] { Summary({6, 4}).mean(Domain::one); });
}

TEST_F(Errors, UnequalNumbersOfSamples) {
  expect_says(message_of<UnequalSamples>([&] { fit(pairs.X1, pairs.X2.leftCols(29), two, two); }),
              {"domain 1 has 30", "domain 2 has 29"});
}

TEST_F(Errors, NanAndInfinityNameRowAndColumn) {
  Summary summary({6, 4});
  summary.add(pairs.X1, pairs.X2);
  Matrix bad = pairs.X1;
  bad(5, 7) = std::numeric_limits<double>::quiet_NaN();
  try {
    summary.add(bad, pairs.X2);  // row 7 of this block is row 37 of all
    FAIL();
  } catch (const NotFinite& error) {
    EXPECT_EQ(error.row, 37);
    EXPECT_EQ(error.column, 5);
    expect_says(error.what(), {"domain 1", "NaN", "row 37", "column 5"});
  }
  bad = pairs.X2;
  bad(0, 2) = -std::numeric_limits<double>::infinity();
  expect_says(message_of<NotFinite>([&] { fit(pairs.X1, bad, two, two); }),
              {"domain 2", "infinity", "row 2", "column 0"});
}

TEST_F(Errors, ADomainWithoutVariance) {
  expect_says(message_of<NoVariance>([&] { fit(pairs.X1, Matrix::Constant(4, 30, 0.1), two, two); }),
              {"domain 2", "4 features"});
}

TEST_F(Errors, ACovarianceThatIsNone) {
  expect_says(message_of<NotSquare>([] { Covariance::matrix(Matrix::Ones(2, 3)); }), {"2×3"});
  expect_says(message_of<NotSymmetric>([] {
                Covariance::matrix(Matrix{{1, 0.5}, {0.25, 1}});
              }),
              {"(0, 1)", "0.5", "(1, 0)", "0.25"});
  // Eigenvalues of [1 2; 2 1]: 3 and -1.
  expect_says(message_of<NotPositive>([] { Covariance::matrix(Matrix{{1, 2}, {2, 1}}); }), {"-1", "3"});
  message_of<NotPositive>([] { Covariance::matrix(-Matrix::Identity(2, 2)); });
  message_of<NotPositive>([] { Covariance::matrix(Matrix::Zero(2, 2)); });
  message_of<NotPositive>([] { Covariance::factor(Matrix::Zero(2, 2)); });
  message_of<NotPositive>([] { Covariance::diagonal(Vector::Zero(2)); });
  expect_says(message_of<NotPositive>([] { Covariance::diagonal(Vector{{1, -2}}); }), {"1 (counted from 0)", "-2"});
  Matrix with_nan = Matrix::Identity(2, 2);
  with_nan(0, 1) = with_nan(1, 0) = std::nan("");
  expect_says(message_of<NotFinite>([&] { Covariance::matrix(with_nan); }), {"row 0", "column 1"});
  expect_says(message_of<InvalidInput>([] { Covariance::identity(0); }), {"0"});
  expect_says(message_of<InvalidInput>([] { Covariance::data(Domain::two, 0); }), {"data2:0"});
}

TEST_F(Errors, ACovarianceOffByRoundingOnlyIsTaken) {
  Matrix C = Matrix::Identity(3, 3);
  C(0, 1) = 1e-13;
  EXPECT_NO_THROW(Covariance::matrix(C));
  const Matrix F = Matrix::Ones(3, 1);
  EXPECT_NO_THROW(Covariance::matrix(F * F.transpose() - 1e-13 * Matrix::Identity(3, 3)));
}

TEST_F(Errors, CovariancesOfDifferentDimension) {
  expect_says(message_of<CommonDimension>([&] { fit(pairs.X1, pairs.X2, two, Covariance::identity(3)); }),
              {"identity:2 is 2×2", "identity:3 is 3×3"});
}

TEST_F(Errors, AnInfeasibleRankNamesBothRanksAndTheLargestFeasible) {
  const Covariance five = Covariance::identity(5);
  expect_says(message_of<Infeasible>([&] { fit(pairs.X1, pairs.X2, five, five); }),
              {"domain 2 has rank 4", "identity:5", "rank 5", "rank 4 at most"});
  const Covariance data = Covariance::data(Domain::one, 9);
  expect_says(message_of<Infeasible>([&] { fit(pairs.X1, pairs.X2, data, data); }),
              {"data1:9", "rank 9", "rank 6", "data1:6"});
}

TEST_F(Errors, DataOfAnotherDimension) {
  const Model model = fit(pairs.X1, pairs.X2, two, two);
  expect_says(message_of<WrongDimension>([&] { apply(model, Domain::one, pairs.X2); }), {"domain 1", "6", "4"});
  expect_says(message_of<WrongDimension>([&] { translate(model, Domain::two, Domain::one, pairs.X1); }),
              {"domain 2", "4", "6"});
  expect_says(message_of<WrongDimension>([&] { invert(model, Domain::one, pairs.X2); }), {"2 dimensions", "4"});
  expect_says(message_of<WrongDimension>([&] { lsqr(Matrix::Ones(3, 2), Matrix::Ones(4, 1)); }), {"3", "4"});
  Summary summary({6, 4});
  expect_says(message_of<WrongDimension>([&] { summary.add(pairs.X2, pairs.X2); }), {"domain 1 has 6", "4"});
  expect_says(message_of<WrongDimension>([&] { summary.merge(Summary({6, 5})); }), {"6+4", "6+5"});
}

TEST_F(Errors, AModelWithoutTheOtherDomain) {
  const Model part = fit(pairs.X1, pairs.X2, two, two).only(Domain::one);
  const Matrix Z = apply(part, Domain::one, pairs.X1);
  EXPECT_NO_THROW(invert(part, Domain::one, Z, Method::exact));
  expect_says(message_of<MissingDomain>([&] { invert(part, Domain::one, Z, Method::lmmse); }),
              {"only domain 1", "needs domain 2", "exact"});
  message_of<MissingDomain>([&] { translate(part, Domain::two, Domain::one, pairs.X2); });
  message_of<MissingDomain>([&] { apply(part, Domain::two, pairs.X2); });
  message_of<MissingDomain>([&] { part.only(Domain::two); });
}

TEST_F(Errors, OptionsThatMakeNoSense) {
  const Model model = fit(pairs.X1, pairs.X2, two, two);
  message_of<InvalidInput>([&] { fit(pairs.X1, pairs.X2, two, two, {.rank_tol = -1}); });
  message_of<InvalidInput>([&] { fit(pairs.X1, pairs.X2, two, two, {.rank_tol = std::nan("")}); });
  message_of<InvalidInput>([&] { translation(model, Domain::one, Domain::one); });
  message_of<InvalidInput>([&] { translation(model, Domain::one, Domain::two, Method::lsqr); });
  message_of<InvalidInput>([&] { lsqr(Matrix::Ones(2, 2), Matrix::Ones(2, 1), {.tolerance = -1}); });
  message_of<InvalidInput>([&] { lsqr(Matrix::Ones(2, 2), Matrix::Ones(2, 1), {.iterations = -1}); });
  message_of<InvalidInput>([] { Summary({0, 3}); });
  message_of<InvalidInput>([] { set_threads(0); });
}

TEST_F(Errors, ValuesWhoseSquaresOverflowAreNotAdded) {
  Summary summary({6, 4});
  summary.add(pairs.X1.leftCols(10), pairs.X2.leftCols(10));
  Matrix large = pairs.X1.rightCols(20);
  large(3, 2) = 1e160;
  expect_says(message_of<InvalidInput>([&] { summary.add(large, pairs.X2.rightCols(20)); }),
              {"domain 1", "1e+160", "row 12", "column 3", "larger unit"});
  EXPECT_EQ(summary.samples(), 10);
}

TEST_F(Errors, VariancesThatUnderflowAreToldNotUsed) {
  for (const Accumulate accumulate : {Accumulate::automatic, Accumulate::qr, Accumulate::gram}) {
    Summary summary({6, 4}, accumulate);
    summary.add(pairs.X1, 1e-155 * pairs.X2);
    expect_says(message_of<NoVariance>([&] { fit(summary, two, two); }), {"domain 2", "smaller unit"});
  }
}

TEST_F(Errors, ScalesFarApartAreNone) {
  const Model expected = fit(pairs.X1, pairs.X2, two, two), found = fit(1e135 * pairs.X1, 1e-135 * pairs.X2, two, two);
  EXPECT_LT(testing::relative(found.certificate.singular_B, expected.certificate.singular_B), 1e-10);
}

// Ranks are checked before memory is asked for: identity:20000 would take 3 GB, and 8 K must not overflow.
TEST_F(Errors, AnInfeasibleRankCostsNothing) {
  const auto memory = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // KiB
  };
  const auto before = memory();
  for (const Index k : {Index{20000}, Index{1} << 60, Index{1} << 61}) {
    const Covariance huge = Covariance::identity(k);
    expect_says(message_of<Infeasible>([&] { fit(pairs.X1, pairs.X2, huge, huge); }),
                {"rank 4", "prescribe one of rank 4 at most"});
    expect_says(message_of<Infeasible>([&] { fit(MatchedSamples{pairs.X1, pairs.X2, pairs.X1}, {huge}); }), {"rank 4"});
  }
  EXPECT_LT(memory() - before, 100 * 1024);
  Random random(2);
  const testing::Pairs many = testing::random_pairs(random, 200, 200, 450);
  const Covariance huge = Covariance::identity(Index{1} << 61);
  expect_says(message_of<Infeasible>([&] { fit(many.X1, many.X2, huge, huge); }), {"rank 200"});
}

}  // namespace
}  // namespace cgmca
