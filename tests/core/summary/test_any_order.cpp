// However samples are added, cut, weighted, folded and merged: what a fit says must be true of the samples themselves.
//
// The samples of a case are expanded to X (p×n), their weights to w. Everything is compared with Xc = √w (x - mean) as it
// is, at unit size of the features:
//   summary   |(Σ S S')_fg · (W-1) - (Xc Xcᵀ)_fg| <= tolerance · ‖Xc_f‖ ‖Xc_g‖
//   fit       ‖A_i Θ_i A_iᵀ - I‖ and the correlations, against those of an SVD of Xc at unit size
#include <Eigen/SVD>
#include <functional>
#include <map>
#include <numeric>

#include "core/summary/moments.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

using testing::Random;

struct Case {
  std::vector<Matrix> X;    // one matrix a domain
  Vector weights;           // or empty
  std::vector<Index> cuts;  // ends of the parts
  Index samples() const { return X.front().cols(); }
};

// --- Families of samples ---------------------------------------------------------------------------------------------

Matrix heavy(Random& random, Index rows, Index columns) {
  return Matrix::NullaryExpr(rows, columns, [&] { return std::pow(random.normal() / random.normal(), 3); });
}

std::vector<Matrix> gaussian(Random& random, const std::vector<Index>& features, Index n) {
  std::vector<Matrix> X;
  for (const Index d : features) X.push_back(random.matrix(d, n));
  return X;
}

// Makes some features of a later domain functions of those of an earlier one: a correlation of exactly 1.
void share_features(Random& random, std::vector<Matrix>& X) {
  for (std::size_t i = 1; i < X.size(); ++i) {
    const Index shared = random.integer(1, std::min(X[0].rows(), X[i].rows()));
    X[i].topRows(shared) = X[0].topRows(shared);
  }
}

struct Family {
  const char* name;
  std::function<void(Random&, std::vector<Matrix>&)> change;  // of Gaussian samples
};

Matrix& any_domain(Random& random, std::vector<Matrix>& X) {
  return X[static_cast<std::size_t>(random.integer(0, std::ssize(X) - 1))];
}

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"plain", [](Random&, std::vector<Matrix>&) {}},
      {"a feature repeats another at first",
       [](Random& random, std::vector<Matrix>& X) {
         share_features(random, X);
         for (Matrix& domain : X) {
           if (domain.rows() < 2) continue;
           const Index first = random.integer(10, domain.cols() / 2);
           domain.row(domain.rows() - 1).head(first) = domain.row(0).head(first);
         }
       }},
      {"few objects measured often",
       [](Random& random, std::vector<Matrix>& X) {
         const Index objects = random.integer(4, 9);
         const bool in_groups = random.coin();
         for (Matrix& domain : X) {
           const Matrix each = domain.leftCols(objects);
           for (Index j = 0; j < domain.cols(); ++j) {
             domain.col(j) = each.col(in_groups ? j * objects / domain.cols() : j % objects);
           }
         }
         for (std::size_t i = 1; i < X.size(); ++i) X[i] = random.matrix(X[i].rows(), X[0].rows()) * X[0];
       }},
      {"heavy tails",
       [](Random& random, std::vector<Matrix>& X) {
         for (Matrix& domain : X) domain = heavy(random, domain.rows(), domain.cols());
         if (random.coin()) share_features(random, X);
       }},
      {"constant at first",
       [](Random& random, std::vector<Matrix>& X) {
         share_features(random, X);
         Matrix& domain = any_domain(random, X);
         const Index first = random.integer(5, domain.cols() - 20);
         domain.row(random.integer(0, domain.rows() - 1)).head(first).setConstant(0.1);
       }},
      {"other scales in each part",
       [](Random& random, std::vector<Matrix>& X) {
         for (Matrix& domain : X) {
           for (Index first = 0; first < domain.cols(); first += 40) {
             const Index count = std::min<Index>(40, domain.cols() - first);
             domain.middleCols(first, count) *= std::pow(10, static_cast<double>(random.integer(-6, 6)));
           }
         }
         if (random.coin()) share_features(random, X);
       }},
      {"other units",
       [](Random& random, std::vector<Matrix>& X) {
         if (random.coin()) share_features(random, X);
         for (Matrix& domain : X) {
           for (Index f = 0; f < domain.rows(); ++f) {
             domain.row(f) *= std::pow(10, static_cast<double>(random.integer(-7, 7)));
           }
         }
       }},
      {"small integers",
       [](Random& random, std::vector<Matrix>& X) {
         for (Matrix& domain : X) domain = (0.7 * domain).array().round();
         if (random.coin()) share_features(random, X);
       }},
      {"rare counts",
       [](Random& random, std::vector<Matrix>& X) {
         for (Matrix& domain : X) domain = (0.45 * domain).array().abs().round();
         if (random.coin()) share_features(random, X);
       }},
      {"a mean that drifts",
       [](Random& random, std::vector<Matrix>& X) {
         for (Matrix& domain : X) {
           for (Index j = domain.cols() / 3; j < domain.cols(); ++j) domain.col(j).array() += 300;
         }
         if (random.coin()) share_features(random, X);
       }},
      {"a feature is the sum of two",
       [](Random& random, std::vector<Matrix>& X) {
         share_features(random, X);
         for (Matrix& domain : X) {
           if (domain.rows() >= 3) domain.row(2) = domain.row(0) + domain.row(1);
         }
       }},
  };
  return all;
}

Case make_case(Random& random, const Family& family) {
  std::vector<Index> features;
  for (Index m = random.integer(1, 3); m > 0; --m) features.push_back(random.integer(1, 4));
  const Index n = random.integer(80, 300);
  Case made{gaussian(random, features, n), {}, {}};
  family.change(random, made.X);
  if (random.integer(0, 2) == 0) {
    made.weights = Vector::NullaryExpr(n, [&] { return std::exp(random.normal()); });
    if (random.coin()) made.weights = (2 * made.weights).array().ceil();
  }
  const Index parts = random.integer(2, 5);
  for (Index k = 1; k <= parts; ++k) made.cuts.push_back(k * n / parts);
  return made;
}

// --- Ways to a summary of all ----------------------------------------------------------------------------------------

void add(Summary& summary, const Case& all, Index first, Index count, bool together = false) {
  MatchedSamples some;
  for (const Matrix& domain : all.X) some.emplace_back(domain.middleCols(first, count));
  if (together) summary.expect(count);
  if (all.weights.size() == 0) {
    summary.add(some);
  } else {
    const Vector weights = all.weights.segment(first, count);
    summary.add(some, weights);
  }
}

Summary empty(const Case& all, Accumulate accumulate) {
  std::vector<DomainInfo> domains;
  for (const Matrix& domain : all.X) domains.emplace_back(domain.rows());
  return Summary(std::move(domains), accumulate);
}

struct Way {
  const char* name;
  std::function<Summary(Random&, const Case&, Accumulate)> sum;
};

std::vector<Summary> parts_of(const Case& all, Accumulate accumulate) {
  std::vector<Summary> parts;
  Index first = 0;
  for (const Index end : all.cuts) {
    parts.push_back(empty(all, accumulate));
    add(parts.back(), all, first, end - first);
    first = end;
  }
  return parts;
}

const std::vector<Way>& ways() {
  static const std::vector<Way> all_ways = {
      {"one batch",
       [](Random&, const Case& all, Accumulate accumulate) {
         Summary sum = empty(all, accumulate);
         add(sum, all, 0, all.samples(), true);
         return sum;
       }},
      {"in blocks, compressed and saved now and then",
       [](Random& random, const Case& all, Accumulate accumulate) {
         Summary sum = empty(all, accumulate);
         for (Index first = 0, count = 0; first < all.samples(); first += count) {
           count = std::min(random.integer(1, 60), all.samples() - first);
           add(sum, all, first, count);
           if (random.coin()) sum.compress();
           if (random.coin()) sum = Summary::from_bytes(sum.to_bytes());
         }
         return sum;
       }},
      {"parts merged one after the other",
       [](Random&, const Case& all, Accumulate accumulate) {
         Summary sum = empty(all, accumulate);
         for (const Summary& part : parts_of(all, accumulate)) sum.merge(part);
         return sum;
       }},
      {"parts merged in a random tree",
       [](Random& random, const Case& all, Accumulate accumulate) {
         std::vector<Summary> parts = parts_of(all, accumulate);
         while (parts.size() > 1) {
           std::shuffle(parts.begin(), parts.end(), random.generator());
           Summary last = std::move(parts.back());
           parts.pop_back();
           if (random.coin()) last.compress();
           parts.front().merge(last);
         }
         return parts.front();
       }},
      {"folds merged",
       [](Random& random, const Case& all, Accumulate accumulate) {
         std::vector<DomainInfo> domains;
         for (const Matrix& domain : all.X) domains.emplace_back(domain.rows());
         Folds folds(std::move(domains), {random.integer(2, 5), 1, 7, accumulate});
         MatchedSamples X;
         for (const Matrix& domain : all.X) X.emplace_back(domain);
         all.weights.size() == 0 ? folds.add(X) : folds.add(X, all.weights);
         return folds.all();
       }},
      {"a part, then the others added",
       [](Random& random, const Case& all, Accumulate accumulate) {
         std::vector<Summary> parts = parts_of(all, accumulate);
         Summary sum = parts.front();
         for (std::size_t k = 1; k < parts.size(); ++k) {
           if (random.coin()) {
             add(sum, all, all.cuts[k - 1], all.cuts[k] - all.cuts[k - 1]);
           } else {
             sum.merge(parts[k]);
           }
           sum.compress();
         }
         return sum;
       }},
  };
  return all_ways;
}

// --- The samples themselves ------------------------------------------------------------------------------------------

struct Truth {
  std::vector<Matrix> Xc;  // √w (x - mean)
  std::vector<Vector> size;
  double freedom;  // W - 1
};

// Twice, so that the mean is exact to rounding whatever the weights.
Truth truth_of(const Case& all) {
  const Index n = all.samples();
  const Vector w = all.weights.size() == 0 ? Vector(Vector::Ones(n)) : all.weights;
  Truth truth{{}, {}, w.sum() - 1};
  for (const Matrix& X : all.X) {
    Matrix Z = X.colwise() - X.col(0);
    for (int k = 0; k < 2; ++k) Z = (Z.colwise() - Vector(Z * w / w.sum())).eval();
    Z = Z * w.cwiseSqrt().asDiagonal();
    truth.size.push_back(Z.rowwise().norm());
    truth.Xc.push_back(std::move(Z));
  }
  return truth;
}

// max |(found - Xc_i Xc_jᵀ)_fg| / (size_f size_g)
double error_of_product(const Truth& truth, std::size_t i, std::size_t j, const Matrix& found) {
  const Matrix difference = found - truth.Xc[i] * truth.Xc[j].transpose();
  double worst = 0;
  for (Index f = 0; f < found.rows(); ++f) {
    for (Index g = 0; g < found.cols(); ++g) {
      const double scale = truth.size[i](f) * truth.size[j](g);
      const double error = scale == 0 ? std::abs(found(f, g)) : std::abs(difference(f, g)) / scale;
      worst = std::max(worst, std::isfinite(error) ? error : INFINITY);
    }
  }
  return worst;
}

double error_of_summary(const Truth& truth, const Summary& summary) {
  double worst = 0;
  const Moments held = moments(summary, SmallWeights::allow);
  const auto m = static_cast<std::size_t>(held.layout.domains());
  std::vector<Vector> means;
  for (std::size_t i = 0; i < m; ++i) means.push_back(summary.mean(domain_at(i)));
  const std::vector<Matrix> H = roots_about(means, summary);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = i; j < m; ++j) {
      worst = std::max(worst, error_of_product(truth, i, j, linalg::download(held.theta(i, j)) * held.freedom));
      worst = std::max(worst, error_of_product(truth, i, j, H[i] * H[j].transpose()));
    }
  }
  return worst;
}

// U and V of an SVD at unit size: V has the whitened samples. κ of what is kept.
struct Whitened {
  Matrix V;
  double condition;
};
Whitened whitened(const Matrix& Xc, const Vector& size) {
  const Matrix unit = (size.array() > 0).select(size.cwiseInverse(), 0.0).matrix().asDiagonal() * Xc;
  const Eigen::JacobiSVD<Matrix> svd(unit.transpose(), Eigen::ComputeThinU);
  const Vector& s = svd.singularValues();
  const double tolerance = 2e-16 * static_cast<double>(std::max(Xc.rows(), Xc.cols()));
  Index r = 0;
  while (r < s.size() && s(r) > tolerance * s(0)) ++r;
  return {svd.matrixU().leftCols(r), r == 0 ? 1 : s(0) / s(r - 1)};
}

// Of a fit of all directions: how far maps and correlations are from those of the samples, in units of κ at unit size.
double error_of_fit(const Truth& truth, const Summary& summary) {
  std::vector<Whitened> white;
  double condition = 1;
  for (std::size_t i = 0; i < truth.Xc.size(); ++i) {
    white.push_back(whitened(truth.Xc[i], truth.size[i]));
    condition = std::max(condition, white.back().condition);
  }
  const Model model = fit(summary, {Covariance::largest_identity()}, {});
  double worst = 0;
  for (std::size_t i = 0; i < white.size(); ++i) {
    if (model.certificate.ranks[i] != white[i].V.cols()) return INFINITY;
    const Matrix Z = model.domain(domain_at(i)).matrix() * truth.Xc[i] / std::sqrt(truth.freedom);
    worst = std::max(worst, (Z * Z.transpose() - Matrix::Identity(Z.rows(), Z.rows())).norm());
  }
  if (white.size() == 2) {
    const Vector expected = Eigen::JacobiSVD<Matrix>(white[0].V.transpose() * white[1].V).singularValues();
    worst = std::max(worst, (model.certificate.singular_B.head(expected.size()) - expected).cwiseAbs().maxCoeff());
  }
  return worst / condition;
}

// --- All of them -----------------------------------------------------------------------------------------------------

constexpr double kTolerance = 1e-11;
constexpr std::uint64_t kSeeds = 12;

TEST(AnyOrder, GivesWhatTheSamplesSay) {
  std::map<std::string, int> wrong;
  int cases = 0, all_wrong = 0;
  double worst = 0;
  for (std::size_t k = 0; k < families().size(); ++k) {
    const Family& family = families()[k];
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Random random(1000 * k + seed);
      const Case all = make_case(random, family);
      const Truth truth = truth_of(all);
      bool varies = true;
      for (const Vector& size : truth.size) varies = varies && size.maxCoeff() > 0;
      if (!varies) continue;
      for (const Way& way : ways()) {
        for (const Accumulate accumulate : {Accumulate::automatic, Accumulate::qr}) {
          const Summary summary = way.sum(random, all, accumulate);
          double error = error_of_summary(truth, summary);
          if (all.X.size() > 1) error = std::max(error, error_of_fit(truth, summary));
          ++cases;
          worst = std::max(worst, error);
          if (error <= kTolerance) continue;
          ++all_wrong;
          ++wrong[std::string(family.name) + ", " + way.name + ", " + name(accumulate)];
        }
      }
    }
  }
  for (const auto& [what, count] : wrong) ADD_FAILURE() << count << " of " << kSeeds << " wrong: " << what;
  EXPECT_EQ(all_wrong, 0) << "of " << cases;
  RecordProperty("cases", cases);
  EXPECT_LE(worst, kTolerance);
}

// As it was found: x2 repeats x1 in the first 40 of 2,000 rows, and a column is in all domains.
TEST(AnyOrder, MergesPartsOfWhichOneHasAFeatureTwice) {
  for (const Index m : {2, 3}) {
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Random random(seed);
      Case all{gaussian(random, std::vector<Index>(static_cast<std::size_t>(m), 3), 2000), {}, {500, 1000, 1500, 2000}};
      for (std::size_t i = 1; i < all.X.size(); ++i) all.X[i].row(0) = all.X[0].row(0);
      all.X[0].row(1).head(40) = all.X[0].row(0).head(40);
      const Truth truth = truth_of(all);
      const Summary merged = ways()[2].sum(random, all, Accumulate::automatic);
      wrong += std::max(error_of_summary(truth, merged), error_of_fit(truth, merged)) <= kTolerance ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0) << "of 60, " << m << " domains";
  }
}

// Six objects measured 200 times, of which one domain tells the other: all correlations are 1, in every training set.
TEST(AnyOrder, FindsTheCorrelationsOfRepeatedObjectsInEveryFold) {
  const auto in_turn = [](Random&, Index j) { return j % 6; };
  const auto in_groups = [](Random&, Index j) { return j / 200; };
  const auto at_random = [](Random& random, Index) { return random.integer(0, 5); };
  int order = 0;
  for (const std::function<Index(Random&, Index)>& object :
       {std::function<Index(Random&, Index)>(in_turn), std::function<Index(Random&, Index)>(in_groups),
        std::function<Index(Random&, Index)>(at_random)}) {
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      Random random(seed);
      const Matrix objects = random.matrix(4, 6), relation = random.matrix(3, 4);
      Matrix X(4, 1200);
      for (Index j = 0; j < 1200; ++j) X.col(j) = objects.col(object(random, j));
      Folds folds({4, 3});
      folds.add(X, relation * X);
      const Covariance I = Covariance::identity(3);
      double error = 0;
      for (Index fold = 0; fold < 5; ++fold) {
        const Vector found = fit(folds.training(0, fold), I, I).certificate.singular_B;
        error = std::max(error, (found - Vector::Ones(3)).cwiseAbs().maxCoeff());
      }
      wrong += error <= 1e-9 ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0) << "of 40, order " << order;
    ++order;
  }
}

}  // namespace
}  // namespace cgmca
