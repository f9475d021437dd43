// Summaries where sums would cancel, overflow or underflow, where one direction outgrows the others, and files that are
// not what they say.
#include <cgmca/error.hpp>

#include <cmath>
#include <cstring>

#include "core/linalg/linalg.hpp"
#include "sealed.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

using testing::Pairs;
using testing::Random;
using testing::relative;

Vector correlations(const Summary& summary, Index count) {
  const Covariance I = Covariance::identity(count);
  return fit(summary, I, I).certificate.singular_B.head(count);
}

Summary summarized(const Pairs& pairs, Accumulate accumulate, const Vector& weights = {}) {
  Summary summary({pairs.X1.rows(), pairs.X2.rows()}, accumulate);
  if (weights.size() == 0) {
    summary.add(pairs.X1, pairs.X2);
  } else {
    summary.add(MatchedSamples{SampleView(pairs.X1), SampleView(pairs.X2)}, weights);
  }
  return summary;
}

// The mean of the first samples, which weigh little, is far from that of the others.
TEST(GramSummary, DoesNotCancelWhereTheMeanMovesFar) {
  Random random(1);
  for (const auto& [light, distance] : {std::pair{1e-6, 1e5}, {1e-12, 1e5}, {1.0, 1e5}}) {
    SCOPED_TRACE(light);
    Pairs pairs = testing::random_pairs(random, 2, 1, 20000);
    pairs.X1.rightCols(20000 - 6).array() += distance;
    pairs.X2.rightCols(20000 - 6).array() -= distance;
    Vector weights = Vector::Ones(20000);
    weights.head(6).setConstant(light);
    const Vector expected = correlations(summarized(pairs, Accumulate::qr, weights), 1);
    for (const Accumulate accumulate : {Accumulate::automatic, Accumulate::gram}) {
      const Summary found = summarized(pairs, accumulate, weights);
      EXPECT_LE(relative(correlations(found, 1), expected), 1e-10) << name(accumulate);
      EXPECT_LE(relative(found.mean(Domain::one), summarized(pairs, Accumulate::qr, weights).mean(Domain::one)), 1e-14);
    }
  }
}

TEST(Summary, TakesLargeWeightsOfLargeValues) {
  Random random(2);
  const Pairs pairs = testing::random_pairs(random, 3, 2, 9000);
  const Vector expected = correlations(summarized(pairs, Accumulate::qr), 2);
  for (const auto& [weight, size] : {std::pair{1e60, 1e100}, {1e40, 1e118}, {1e100, 1e88}, {2.0, 1e-120}}) {
    SCOPED_TRACE(weight);
    const Pairs large{size * pairs.X1, size * pairs.X2};
    for (const Accumulate accumulate : kAccumulates) {
      const Summary found = summarized(large, accumulate, Vector::Constant(9000, weight));
      EXPECT_LE(relative(correlations(found, 2), expected), 1e-9) << name(accumulate);
    }
  }
}

// After the first samples one direction grows by nine orders of magnitude, which no Gram matrix can hold.
TEST(Summary, LeavesTheGramFormAlsoWhereSquaresOfItsEntriesAreZero) {
  Random random(3);
  for (const double size : {1.0, 1e-110}) {
    SCOPED_TRACE(size);
    Pairs pairs = testing::random_pairs(random, 200, 3, 9000);
    const Matrix direction = random.matrix(200, 1), growth = random.matrix(1, 9000 - 4096);
    pairs.X1.rightCols(9000 - 4096) += 1e9 * direction * growth;
    pairs.X1 *= size;
    pairs.X2 *= size;
    const Summary found = summarized(pairs, Accumulate::automatic);
    EXPECT_EQ(found.form(), SummaryForm::qr);
    EXPECT_LE(relative(correlations(found, 3), correlations(summarized(pairs, Accumulate::qr), 3)), 1e-6);
  }
}

// Each block is only a little larger than the one before in one direction, and in the end a thousand times.
TEST(Summary, NoticesADirectionThatGrowsFromBlockToBlock) {
  constexpr Index d = 4, block = 4096, before = 250, growing = 100;
  Random random(4);
  Summary triangle({d, d}, Accumulate::qr), automatic({d, d});
  Vector sizes(d), direction(d);
  sizes << 1, 1e-3, 1e-3, 1e-3;
  direction << 0, 0.56, 0.73, -0.39;
  Matrix all(2 * d, block * (before + growing));
  double growth = 0;
  for (Index k = 0; k < before + growing; ++k) {
    Matrix X1 = random.matrix(d, block), X2 = random.matrix(d, block) + X1;
    X1 = sizes.asDiagonal() * X1;
    X2 = sizes.asDiagonal() * X2;
    if (k >= before) growth = std::min(1.0, growth == 0 ? 8e-3 : 1.35 * growth);
    const Matrix along = growth * random.matrix(1, block);
    X1 += direction * along;
    X2 += 1.5 * direction * along;
    for (Summary* summary : {&triangle, &automatic}) summary->add(X1, X2);
    all.middleCols(k * block, block) << X1, X2;
  }
  all.colwise() -= Vector(all.rowwise().mean());
  const Matrix Q1 = linalg::thin_qr(all.topRows(d).transpose()).Q,
               Q2 = linalg::thin_qr(all.bottomRows(d).transpose()).Q;
  const Vector expected = linalg::thin_svd(linalg::AtB(Q1, Q2)).s;
  EXPECT_LE(relative(correlations(triangle, d), expected), 1e-12);
  EXPECT_LE(relative(correlations(automatic, d), expected), 1e-12);
}

// A summary's bytes with another entry in the metadata.
std::string with_entry(const std::string& bytes, const std::string& entry) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  std::string header = bytes.substr(sizeof length, length);
  const std::string first = R"("checksum":"00000000")";
  header.insert(header.find("\"checksum\"") + first.size(), "," + entry);
  header.append((8 - header.size() % 8) % 8, ' ');
  const std::uint64_t longer = header.size();
  std::string result(sizeof longer, '\0');
  std::memcpy(result.data(), &longer, sizeof longer);
  return testing::sealed(result + header + bytes.substr(sizeof length + length));
}

TEST(SummaryFile, MayNotSayThatMoreSamplesAreUnlikeOthersThanCanBe) {
  Random random(5);
  const Pairs pairs = testing::random_pairs(random, 3, 2, 7000);
  for (const Accumulate accumulate : {Accumulate::qr, Accumulate::gram}) {
    const std::string bytes = summarized(pairs, accumulate).to_bytes();
    EXPECT_EQ(Summary::from_bytes(with_entry(bytes, R"("other":"1")")).samples(), 7000);
    EXPECT_EQ(Summary::from_bytes(with_entry(bytes, R"("unlike":"0")")).samples(), 7000);
    for (const char* entry : {R"("unlike":"1025")", R"("unlike":"6000")", R"("unlike":"-1")"}) {
      EXPECT_THROW(Summary::from_bytes(with_entry(bytes, entry)), FormatError) << entry;
    }
  }
  const std::string gram = summarized(pairs, Accumulate::gram).to_bytes();
  EXPECT_THROW(Summary::from_bytes(with_entry(gram, R"("unlike":"1")")), FormatError);
}

}  // namespace
}  // namespace cgmca
