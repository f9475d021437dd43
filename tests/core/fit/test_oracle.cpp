// The cases of tests/fixtures/oracle: answers of an independent implementation.
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
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
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

}  // namespace
}  // namespace cgmca
