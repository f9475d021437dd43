// What a fit's certificate stands for: a wrong summary, a wrong LAPACK and damaged memory are errors, never models.
#include <cstring>

#include "core/summary/compare.hpp"
#include "core/summary/state.hpp"
#include "fail_lapack.hpp"
#include "foreign_backend.hpp"
#include "sealed.hpp"
#include "testing.hpp"

namespace cgmca::testing {
namespace {

struct Data {
  Matrix X1, X2;
  Vector weights;  // empty: none
};

Matrix stacked(const Data& data) {
  Matrix X(data.X1.rows() + data.X2.rows(), data.X1.cols());
  X << data.X1, data.X2;
  return X;
}

Data random_data(std::uint64_t seed, Index d1, Index d2, Index n, bool weighted = false) {
  Random random(seed);
  const Pairs pairs = random_pairs(random, d1, d2, n);
  return {pairs.X1, pairs.X2, weighted ? Vector(random.matrix(n, 1).cwiseAbs() * 3) : Vector()};
}

Summary summary_of(const Data& data, Accumulate accumulate = Accumulate::automatic) {
  Summary summary({data.X1.rows(), data.X2.rows()}, accumulate);
  if (data.weights.size() > 0) {
    summary.add({data.X1, data.X2}, data.weights);
  } else {
    summary.add(data.X1, data.X2);
  }
  return summary;
}

Data piece_of(const Data& data, Index first, Index count) {
  return {data.X1.middleCols(first, count), data.X2.middleCols(first, count),
          data.weights.size() > 0 ? Vector(data.weights.segment(first, count)) : Vector()};
}

double distance(const Summary& summary) { return distance_from_samples(summary, moments(summary)).value_or(INFINITY); }

// Xc Xcᵀ of weighted samples.
Matrix products_of(const Data& data) {
  const Matrix X = stacked(data);
  const Vector w = data.weights.size() > 0 ? data.weights : Vector(Vector::Ones(X.cols()));
  const Matrix Xc = X.colwise() - X * w / w.sum();
  return Xc * w.asDiagonal() * Xc.transpose();
}

// Y = Xc Xcᵀ U of all samples that are compressed, relative to the sizes of the features.
double error_of_sketch(const Sketch& sketch, const Data& data) {
  const Matrix products = products_of(data);
  const Vector sizes = products.diagonal().cwiseSqrt();
  const Matrix difference = sketch.Y - products * sketch.U;
  return difference.cwiseAbs().cwiseQuotient(sizes * (sizes.asDiagonal() * sketch.U).colwise().norm()).maxCoeff();
}

TEST(Sketch, IsTheProductOfTheCentredSamplesWithItsSigns) {
  for (const bool weighted : {false, true}) {
    Data data = random_data(1, 5, 4, 4096 + 18 + 700, weighted);
    for (Matrix* X : {&data.X1, &data.X2}) *X = (1e6 * *X).array() + 3e8;
    data.X1.row(2) *= 1e-14;  // units that are far apart
    for (const Accumulate accumulate : kAccumulates) {
      Summary summary = summary_of(data, accumulate);
      summary.compress();
      const Sketch& sketch = summary.state().sketch;
      EXPECT_EQ(sketch.count.samples + summary.state().rows.count(), data.X1.cols());
      if (summary.state().rows.count() == 0) {
        EXPECT_LE(error_of_sketch(sketch, data), 1e-12);
      }
      const Vector sizes = products_of(data).diagonal().cwiseSqrt() / std::sqrt(4814.0);
      const Vector units = sketch.U.col(0).cwiseAbs().cwiseProduct(sizes);
      EXPECT_GT(units.minCoeff(), 0.2);
      EXPECT_LT(units.maxCoeff(), 3);
      EXPECT_LE(distance(summary), 1e-12) << name(accumulate);
    }
  }
}

TEST(Sketch, AgreesWithEveryFormOfASummary) {
  for (const bool weighted : {false, true}) {
    for (const Index n : {9, 30, 60, 700, 5000, 9000}) {
      const Data data = random_data(static_cast<std::uint64_t>(n), 8, 6, n, weighted);
      for (const Accumulate accumulate : kAccumulates) {
        const Summary summary = summary_of(data, accumulate);
        EXPECT_LE(distance(summary), 1e-12) << name(accumulate) << ", " << n;
        const Model model = fit(summary, Covariance::identity(2), Covariance::identity(2));
        ASSERT_TRUE(model.certificate.samples_residual);
        EXPECT_LE(*model.certificate.samples_residual, 1e-12);
        EXPECT_EQ(Model::from_bytes(model.to_bytes()).certificate.samples_residual, model.certificate.samples_residual);
      }
    }
  }
}

// Features that begin to vary late, some of them by little, and samples unlike the first ones.
TEST(Sketch, FollowsFeaturesThatChange) {
  Random random(4);
  Data data = random_data(4, 10, 8, 12000);
  data.X1.row(3).head(5000).setConstant(7);
  data.X1.row(4).setConstant(-1);
  data.X2.row(2).head(11990).setConstant(0.1);
  data.X2.row(5).tail(3000) *= 1e5;
  for (Index j = 0; j < 12000; j += 1700) data.X1.col(j) *= 1e4;
  for (const Accumulate accumulate : kAccumulates) {
    const Summary summary = summary_of(data, accumulate);
    EXPECT_LE(distance(summary), 1e-11) << name(accumulate);
    Summary other = summary_of(piece_of(data, 0, 4000), accumulate);
    other.merge(summary_of(piece_of(data, 4000, 8000), accumulate));
    EXPECT_LE(distance(other), 1e-11) << name(accumulate);
  }
}

TEST(Sketch, OfPartsMergesWhateverTheirUnitsFormsAndOrders) {
  Random random(5);
  Data data = random_data(5, 7, 5, 3000);
  const Vector units = Vector{{1e-7, 1, 1e7, 1, 1, 1e-3, 1}};
  data.X1 = units.asDiagonal() * data.X1;
  data.X1.leftCols(1000) *= 40;  // the parts' sizes differ
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g"};
  std::vector<std::string> reversed(names.rbegin(), names.rend());
  for (const Accumulate one : kAccumulates) {
    for (const Accumulate two : kAccumulates) {
      Summary first(std::vector<DomainInfo>{{7, "", names}, 5}, one);
      first.add(data.X1.leftCols(1000), data.X2.leftCols(1000));
      Summary second(std::vector<DomainInfo>{{7, "", reversed}, 5}, two);
      second.add(data.X1.rightCols(2000).colwise().reverse(), data.X2.rightCols(2000));
      EXPECT_NE(first.state().sketch.U.topRows(7), second.state().sketch.U.topRows(7));
      first.merge(second);
      first.compress();
      EXPECT_LE(distance(first), 1e-11) << name(one) << ", " << name(two);
      EXPECT_LE(distance(Summary::from_bytes(first.to_bytes())), 1e-11);
    }
  }
}

// As a GPU with samples in its own memory: those of the data given.
class HoldingBackend final : public ForeignBackend {
 public:
  explicit HoldingBackend(const Data& data) : ForeignBackend(true), data_(data) {}
  bool holds(const SampleView& view) const override {
    return view.visit([&](const auto& X) {
      const void* begin = X.data();
      const auto within = [&](const Matrix& of) { return begin >= of.data() && begin < of.data() + of.size(); };
      return within(data_.X1) || within(data_.X2);
    });
  }

 private:
  const Data& data_;
};

TEST(Sketch, IsMadeWhereABackEndHoldsTheSamples) {
  for (const bool weighted : {false, true}) {
    Data data = random_data(6, 8, 6, 20000, weighted);
    data.X1.row(2).head(12000).setConstant(3);
    const HoldingBackend holding(data);
    const auto summary_there = [&] {
      return Summary(std::make_unique<Summary::State>(std::vector<DomainInfo>{8, 6}, Accumulate::automatic, holding));
    };
    Summary there = summary_there();
    for (const Index first : {0, 12000}) {
      const Index count = first == 0 ? 12000 : 8000;
      const MatchedSamples part = {data.X1.middleCols(first, count), data.X2.middleCols(first, count)};
      if (weighted) {
        there.add(part, data.weights.segment(first, count));
      } else {
        there.add(part);
      }
    }
    EXPECT_EQ(there.state().sketch.count.samples + there.state().rows.count(), 20000);
    EXPECT_LE(distance(there), 1e-12);
    const Model model = fit(there, Covariance::identity(3), Covariance::identity(3));
    EXPECT_LE(model.certificate.samples_residual.value_or(1), 1e-12);
  }
}

TEST(Sketch, IsAbsentFromSummariesOfOlderFiles) {
  const Summary old = Summary::load(fixture("version_0_2/summary_gram.safetensors"));
  const Covariance I = Covariance::identity(2);
  EXPECT_FALSE(fit(old, I, I).certificate.samples_residual);
  const Data data = random_data(7, 3, 2, 50);
  Summary merged = summary_of(data);
  merged.merge(old);
  merged.add(data.X1, data.X2);
  EXPECT_FALSE(fit(merged, I, I).certificate.samples_residual);
  EXPECT_FALSE(fit(Summary::from_bytes(merged.to_bytes()), I, I).certificate.samples_residual);
  // of rows there is nothing that would have to be believed
  EXPECT_TRUE(fit(Summary::load(fixture("version_0_2/summary_rows.safetensors")), I, I).certificate.samples_residual);
}

void expect_refused(const Summary& summary, const char* what) {
  const Covariance I = Covariance::identity(2);
  try {
    fit(summary, I, I);
    ADD_FAILURE() << "a model of a wrong summary: " << what;
  } catch (const CertificateMismatch& error) {
    EXPECT_NE(std::string(error.what()).find("not those of the samples"), std::string::npos) << error.what();
  }
}

// A summary whose sums are wrong in one entry, by a thousandth of the features' sizes.
Summary spoiled(const Summary& summary, Index row, Index column) {
  auto state = std::make_unique<Summary::State>(summary.state());
  linalg::Array& G = state->compressed->G;
  Matrix values = linalg::download(linalg::cpu().copy(G));
  values(row, column) += 1e-3 * std::sqrt(values(row, row) * values(column, column));
  G = linalg::cpu().upload(values);
  return Summary(std::move(state));
}

TEST(Certificate, RefusesASummaryThatIsWrongInAnyEntry) {
  const Data data = random_data(8, 6, 5, 3000, true);
  for (const Accumulate accumulate : {Accumulate::gram, Accumulate::qr}) {
    const Summary right = summary_of(data, accumulate);
    for (Index column = 0; column < 11; ++column) {
      for (Index row = 0; row <= column; ++row) expect_refused(spoiled(right, row, column), name(accumulate));
    }
  }
}

// Wherever a merge goes wrong: before it, in it, or after it.
TEST(Certificate, RefusesAWrongMerge) {
  const Data data = random_data(9, 6, 5, 4000);
  for (const Accumulate accumulate : {Accumulate::gram, Accumulate::qr}) {
    const Summary one = summary_of(piece_of(data, 0, 2000), accumulate);
    const Summary two = summary_of(piece_of(data, 2000, 2000), accumulate);
    const auto merged = [](Summary to, const Summary& from) {
      to.merge(from);
      return to;
    };
    EXPECT_LE(distance(merged(one, two)), 1e-12);
    expect_refused(merged(one, spoiled(two, 2, 7)), "the second was wrong");
    expect_refused(merged(spoiled(one, 0, 0), two), "the first was wrong");
    expect_refused(spoiled(merged(one, two), 3, 4), "their sum was wrong");
    auto lost = std::make_unique<Summary::State>(merged(one, two).state());  // only the sketch saw the second part
    lost->compressed = one.state().compressed;
    expect_refused(Summary(std::move(lost)), "a part was lost");
  }
}

// One column in both domains, and a feature that repeats another in the first rows: parts of such data once merged into
// sums that were wrong by a few per cent. Whatever merges do with it: the model is right, or there is none.
TEST(Certificate, NoWrongModelComesOfPartsWithSingularBeginnings) {
  const Covariance I = Covariance::identity(3);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Data data{random.matrix(4, 2000), random.matrix(3, 2000), {}};
    data.X2.row(0) = data.X1.row(0);
    data.X1.row(1).head(40) = data.X1.row(0).head(40);
    Summary merged = summary_of(piece_of(data, 0, 500));
    for (const Index first : {500, 1000, 1500}) merged.merge(summary_of(piece_of(data, first, 500)));
    try {
      const Verification found = verify(fit(merged, I, I), {data.X1, data.X2});
      EXPECT_LE(found.constraint_residuals[0], 1e-9) << seed;
      EXPECT_TRUE(found.certified) << seed;
    } catch (const CertificateMismatch&) {
    }
  }
}

// A bit of a sum that changes it by a percent or more of the features' sizes, in a file whose checksum was made anew.
// A form that loses digits keeps what it was asked for, and says what it lost.
TEST(Certificate, AModelWarnsOfAResidualThatAForcedFormCauses) {
  Random random(8);
  Data data = random_data(3, 4, 3, 400);
  data.X1.row(1) = data.X1.row(0) + 3e-6 * random.matrix(1, 400);  // κ² eps is near 1e-5
  const auto C = Covariance::identity(3);
  const auto says = [](const Model& model) {
    const auto warnings = model.warnings();
    return std::any_of(warnings.begin(), warnings.end(),
                       [](const std::string& text) { return text.find("for the form 'gram'") != std::string::npos; });
  };
  const Model forced = fit(summary_of(data, Accumulate::gram), C, C), automatic = fit(summary_of(data), C, C);
  ASSERT_GT(forced.certificate.constraint_residuals[0], 1e-6);
  EXPECT_TRUE(says(forced));
  EXPECT_LT(automatic.certificate.constraint_residuals[0], 1e-9);
  EXPECT_FALSE(says(automatic));
}

// A feature that is the sum of two others, all far from 0: what is left of it is rounding, and the fit says so.
TEST(Certificate, IsNotGivenWithoutAWarningWhereRoundingIsADirection) {
  Random random(31);
  testing::Pairs data = testing::random_pairs(random, 4, 3, 200);
  data.X1.row(3) = data.X1.row(0) + data.X1.row(1);
  const Covariance I = Covariance::identity(3);
  EXPECT_TRUE(fit(data.X1, data.X2, I, I).warnings().empty());
  data.X1.topRows(3).array() += 1e9;
  data.X1.row(3) = data.X1.row(0) + data.X1.row(1);
  const std::vector<std::string> warnings = fit(data.X1, data.X2, I, I).warnings();
  ASSERT_FALSE(warnings.empty());
  EXPECT_NE(warnings[0].find("domain 1 lie so far from 0 that their rounding shows"), std::string::npos) << warnings[0];
}

TEST(Certificate, RefusesASummaryWithAFlippedBit) {
  const Data data = random_data(10, 4, 3, 500);
  const Summary summary = summary_of(data, Accumulate::gram);
  const std::string bytes = summary.to_bytes();
  const Matrix G = linalg::download(linalg::cpu().copy(summary.state().compressed->G));
  int tried = 0;
  for (Index column = 0; column < 7; ++column) {
    for (Index row = 0; row <= column; ++row) {
      const double value = G(row, column), size = std::sqrt(G(row, row) * G(column, column));
      const std::size_t place = bytes.find(std::string(reinterpret_cast<const char*>(&value), sizeof value));
      ASSERT_NE(place, std::string::npos);
      for (int bit = 40; bit < 64; ++bit) {
        std::string changed = bytes;
        char& byte = changed[place + static_cast<std::size_t>(bit / 8)];
        byte = static_cast<char>(byte ^ (1 << (bit % 8)));
        double now = 0;
        std::memcpy(&now, changed.data() + place, sizeof now);
        if (!(std::abs(now - value) >= 0.01 * size)) continue;
        ++tried;
        try {
          const Covariance I = Covariance::identity(2);
          fit(Summary::from_bytes(sealed(changed)), I, I);
          ADD_FAILURE() << value << " became " << now;
        } catch (const CertificateMismatch&) {
        } catch (const FormatError&) {  // it is not finite
        }
      }
    }
  }
  EXPECT_GT(tried, 300);
}

TEST(Certificate, SeesExtraSamplesToo) {
  const Data data = random_data(11, 6, 5, 200), more = random_data(12, 6, 5, 900);
  Summary extra({6});
  extra.add(more.X1);
  const Covariance I = Covariance::identity(2);
  FitOptions options;
  options.extra = {&extra, nullptr};
  const Summary summary = summary_of(data);
  EXPECT_LE(fit(summary, I, I, options).certificate.samples_residual.value_or(1), 1e-12);
  const Summary wrong = spoiled(extra, 1, 3);
  options.extra = {&wrong, nullptr};
  EXPECT_THROW(fit(summary, I, I, options), CertificateMismatch);
}

// Values that are wrong by a factor although LAPACK says that all went well: a model that is right, because they were
// not needed, or an error. Three domains search by their own iterations.
TEST(Certificate, NoModelComesOfALapackThatIsWrongAndSaysItIsRight) {
  const Data data = random_data(13, 12, 9, 100);
  const Matrix X3 = data.X1.topRows(6) + Random(14).matrix(6, 100);
  int refused = 0, right = 0;
  const auto attempt = [&](Accumulate accumulate, const Covariance& C, bool three) {
    const MatchedSamples X = three ? MatchedSamples{data.X1, data.X2, X3} : MatchedSamples{data.X1, data.X2};
    FitOptions options;
    options.matching.random_starts = 0;
    options.matching.max_seconds = 1;
    try {
      Summary summary(three ? std::vector<DomainInfo>{12, 9, 6} : std::vector<DomainInfo>{12, 9}, accumulate);
      summary.add(MatchedSamples(X.begin(), X.end()));
      const Model model = fit(summary, std::vector<Covariance>{C}, options);
      const Matrix z = apply(model, Domain::one, data.X1);
      EXPECT_LE(relative(sample_covariance(z),
                         model.domain(Domain::one).mixing * model.domain(Domain::one).mixing.transpose()),
                1e-6);
      EXPECT_EQ(Model::from_bytes(model.to_bytes()).samples, 100);
      ++right;
    } catch (const NumericalFailure&) {
      ++refused;
    } catch (const Infeasible&) {  // of a rank that is NaN's
      ++refused;
    }
  };
  for (const double factor : {1.001, std::numeric_limits<double>::quiet_NaN()}) {
    for (const char* routine : {"gesdd", "gesvd", "syevd"}) {
      const WrongLapack wrong(routine, factor);
      for (const Accumulate accumulate : kAccumulates) {
        attempt(accumulate, Covariance::identity(3), false);
        attempt(accumulate, Covariance::data(Domain::one, 5), false);
        attempt(accumulate, Covariance::correlation(4), false);
      }
    }
  }
  const WrongLapack wrong("gesdd", 1.001);
  attempt(Accumulate::qr, Covariance::identity(2), true);
  std::cout << refused << " refused, " << right << " right\n";
  EXPECT_GT(refused, 3);  // NaN alone makes another routine try
  EXPECT_GT(right, 5);
}

TEST(Certificate, NanWithoutAnErrorOfLapackIsAFailureOfItsRoutine) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Matrix A = Random(15).matrix(9, 5);
  const Vector right = linalg::thin_svd(A).s;
  {
    const WrongLapack wrong("gesdd", nan);
    EXPECT_LE(relative(linalg::thin_svd(A).s, right), 1e-14);
    EXPECT_LE(relative(linalg::singular_values(A), right), 1e-14);
    EXPECT_EQ(linalg::thin_svd(A).routine, linalg::SvdRoutine::gesvd);
  }
  const WrongLapack wrong("syevd", nan), too("syev", nan);
  EXPECT_THROW(linalg::symmetric_eigen(A.transpose() * A), NumericalFailure);
}

}  // namespace
}  // namespace cgmca::testing
