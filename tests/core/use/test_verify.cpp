// Verification uses the maps and the data only, agrees with the certificate of a true model and not with another's.
#include <Eigen/QR>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "sealed.hpp"
#include "testing.hpp"

namespace cgmca::testing {
namespace {

using nlohmann::ordered_json;

TEST(Verify, FindsWhatTheCertificateClaimsInBlocksAsInOnePiece) {
  Random random(1);
  const auto [X1, X2] = random_pairs(random, 7, 5, 60);
  const Matrix F = random.matrix(6, 4);
  const Model model = fit(X1, X2, Covariance::factor(F), Covariance::factor(F));
  Verifier verifier(model);
  for (Index first = 0; first < 60; first += 13) {
    const Index count = std::min<Index>(13, 60 - first);
    verifier.add({X1.middleCols(first, count), X2.middleCols(first, count)});
  }
  for (const Verification& attained : {verify(model, {X1, X2}), verifier.verification()}) {
    EXPECT_EQ(attained.samples, 60);
    for (auto i : {0U, 1U}) {
      EXPECT_LE(attained.constraint_residuals[i], 1e-12);
      EXPECT_LE(attained.mean_residuals[i], 1e-12);
    }
    EXPECT_NEAR(attained.objective, model.certificate.objective, 1e-12 * attained.covariance_trace);
    EXPECT_NEAR(attained.covariance_trace, model.certificate.covariance_trace, 1e-12 * attained.covariance_trace);
  }
}

TEST(Verify, SeesAChangedMapAndAShiftedMean) {
  Random random(2);
  const auto [X1, X2] = random_pairs(random, 4, 4, 30);
  const Model model = fit(X1, X2, Covariance::identity(3), Covariance::identity(3));
  Model changed = model;
  changed.domains[0]->weights(0, 0) += 0.01;
  EXPECT_GE(verify(changed, {X1, X2}).constraint_residuals[0], 1e-4);
  Model shifted = model;
  shifted.domains[1]->mean(0) += 0.01;
  EXPECT_LE(verify(shifted, {X1, X2}).constraint_residuals[1], 1e-12);
  EXPECT_GE(verify(shifted, {X1, X2}).mean_residuals[1], 1e-4);
}

// Maps turned by a rotation have the right covariances; the best possible objective tells that they are not the best.
TEST(Verify, TellsByHowMuchFeasibleMapsFallShort) {
  Random random(7);
  const auto [X1, X2] = random_pairs(random, 6, 5, 80);
  const Matrix turn = random.orthonormal(3, 3);
  FitOptions ridged, truncated;
  ridged.ridge = 0.3;
  truncated.max_rank = {4, 5};
  for (const FitOptions& options : {FitOptions{}, ridged, truncated}) {
    const Model model = fit(X1, X2, Covariance::identity(3), Covariance::correlation(3), options);
    const Verification best = verify(model, {X1, X2});
    EXPECT_NEAR(best.best_objective, model.certificate.bound, 1e-12 * best.covariance_trace);
    EXPECT_LE(std::abs(best.shortfall()), 1e-12);
    Model turned = model;
    turned.domains[0]->weights = turn * model.domain(Domain::one).weights;
    const Verification attained = verify(turned, {X1, X2});
    EXPECT_LE(attained.constraint_residuals[0], 1e-12);
    EXPECT_NEAR(attained.best_objective, best.best_objective, 1e-12);
    EXPECT_GE(attained.shortfall(), 1e-3);
    EXPECT_NEAR(attained.shortfall(), (attained.objective - best.objective) / best.covariance_trace, 1e-12);
  }
}

TEST(Verify, RefusesTooFewUnequalAndMissing) {
  Random random(3);
  const auto [X1, X2] = random_pairs(random, 4, 4, 30);
  const Model model = fit(X1, X2, Covariance::identity(3), Covariance::identity(3));
  EXPECT_THROW(verify(model, {X1.leftCols(1), X2.leftCols(1)}), TooFewSamples);
  EXPECT_THROW(verify(model, {X1, X2.leftCols(3)}), UnequalSamples);
  EXPECT_THROW(verify(model, {X1.topRows(2), X2}), WrongDimension);
  EXPECT_THROW(Verifier(model.only(Domain::one)), MissingDomain);
}

TEST(CovarianceSpectrum, IsThatOfThePrescribedCovariance) {
  Random random(5);
  const auto [X1, X2] = random_pairs(random, 7, 5, 60);
  const Vector sd = Vector{{0.5, 3, 0, 2}};
  const Model model = fit(X1, X2, Covariance::diagonal(sd), Covariance::diagonal(sd));
  for (Domain domain : {Domain::one, Domain::two}) {
    EXPECT_LE(relative(model.domain(domain).covariance_spectrum(), Vector{{9, 4, 0.25}}), 1e-13);
  }
}

TEST(LargestIdentity, HasTheSmallerOfTheTwoRanks) {
  Random random(4);
  const auto [X1, X2] = random_pairs(random, 9, 6, 50);
  const Covariance largest = Covariance::largest_identity();
  EXPECT_EQ(fit(X1, X2, largest, largest).common_dimension, 6);
  EXPECT_EQ(fit(X1.leftCols(4), X2.leftCols(4), largest, largest).common_dimension, 3);
}

// Domains without anything in common: f is 0 but for rounding, and a part of it means nothing.
TEST(Verify, ConfirmsHonestFitsOfUncorrelatedDomains) {
  Random random(16);
  int certified = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Index n = 24, k = random.integer(1, 4);
    Matrix basis = random.matrix(n, 10);
    basis.col(0).setOnes();
    basis = Matrix(basis.householderQr().householderQ() * Matrix::Identity(n, 10)).rightCols(9);
    const Matrix X1 = random.matrix(5, 5) * basis.leftCols(5).transpose();
    const Matrix X2 = random.matrix(4, 4) * basis.rightCols(4).transpose();
    const Covariance C = Covariance::identity(k);
    const Model model = fit(X1, X2, C, C);
    const Verification found = verify(model, {X1, X2});
    certified += found.certified ? 1 : 0;
    EXPECT_EQ(found.gap, 0);
    if (trial % 10 != 0) continue;
    const MatchedSamples three = {X1, X2.topRows(2), X2.bottomRows(2)};
    const Model of_three =
        fit(MatchedSamples{X1, X2.topRows(2), X2.bottomRows(2)}, std::vector<Covariance>{Covariance::identity(1)});
    EXPECT_EQ(verify(of_three, three).certified, of_three.certificate.certified);
  }
  EXPECT_EQ(certified, 300);
}

// A model file, and the samples that it was fitted to.
struct Fitted {
  const char* name;
  Model model;
  std::vector<Matrix> X;
  Vector weights;               // empty: none
  Matrix extra = Matrix(0, 0);  // of domain 1
};

Verification attained_by(const Fitted& fitted, const Model& model) {
  Verifier verifier(model);
  const MatchedSamples views(fitted.X.begin(), fitted.X.end());
  if (fitted.weights.size() > 0) {
    verifier.add(views, fitted.weights);
  } else {
    verifier.add(views);
  }
  if (fitted.extra.size() > 0) verifier.add_extra(Domain::one, fitted.extra);
  return verifier.verification();
}

// Why verify refuses a model, as the command line does; empty where it accepts.
std::string refusal(const Fitted& fitted, const Model& model, double tolerance = 1e-6) {
  Verification found;
  try {
    found = attained_by(fitted, model);
  } catch (const Error& error) {
    return error.what();
  }
  const auto wrong = [&](double value) { return !(value <= tolerance); };
  for (const Claim& claim : found.claims) {
    if (wrong(claim.difference)) return claim.what;
  }
  for (std::size_t i = 0; i < found.constraint_residuals.size(); ++i) {
    if (wrong(found.constraint_residuals[i]) || wrong(found.mean_residuals[i])) return "residual";
    if (found.all_samples[i] != model.certificate.constrained[i].samples) return "samples of a domain";
  }
  if (model.certificate.certified ? wrong(found.shortfall()) : found.gap > model.certificate.gap + tolerance)
    return "gap";
  if (found.samples != model.samples) return "samples";
  if (std::abs(found.total_weight - model.total_weight) > 1e-9 * found.total_weight) return "weight";
  return "";
}

std::vector<Fitted> all_kinds() {
  Random random(21);
  const auto [X1, X2] = random_pairs(random, 6, 5, 80);
  const Matrix X3 = random.matrix(4, 6) * X1 + random.matrix(4, 80);
  const Matrix more = random.matrix(6, 6) * random.matrix(6, 40), F = random.matrix(4, 3);
  const Vector weights = random.matrix(80, 1).cwiseAbs() * 2;
  const Covariance I = Covariance::identity(3);
  FitOptions ridge, extra, ridge_of_three;
  ridge.ridge = {Ridge(0.3), Ridge::from_data()};
  ridge.max_rank = {4, 0};
  ridge_of_three.ridge = {Ridge(0.3), Ridge(0), Ridge::from_data()};
  Summary others({6}), weighted({6, 5});
  others.add(more);
  extra.extra = {&others, nullptr};
  weighted.add({X1, X2}, weights);
  Folds folds({6, 5}, {4, 1, 1, Accumulate::automatic});
  folds.add(X1, X2);
  Summary named(std::vector<DomainInfo>{{6, "one", {"a", "b", "c", "d", "e", "f"}}, 5});
  named.add(X1, X2);
  Matrix rare = X1;
  rare.row(2).setConstant(1);  // never varies
  rare.row(3) = rare.row(4);   // and this one tells nothing new
  const auto unequal = [&] { return fit(X1, X2, Covariance::factor(F), Covariance::factor(F.leftCols(2))); };
  std::vector<Fitted> kinds;
  kinds.push_back({"two domains", fit(X1, X2, I, I), {X1, X2}, {}});
  kinds.push_back({"unequal covariances", unequal(), {X1, X2}, {}});
  kinds.push_back({"dependent features", fit(rare, X2, I, I), {rare, X2}, {}});
  kinds.push_back({"ridge", fit(X1, X2, I, I, ridge), {X1, X2}, {}});
  kinds.push_back({"calibrated", calibrate(fit(X1, X2, I, I), folds, I, I), {X1, X2}, {}});
  kinds.push_back({"weighted", fit(weighted, I, I), {X1, X2}, weights});
  kinds.push_back({"extra", fit(X1, X2, I, I, extra), {X1, X2}, {}, more});
  kinds.push_back({"names", fit(named, I, I), {X1, X2}, {}});
  const MatchedSamples three = {X1, X2, X3};
  kinds.push_back({"three domains", fit(three, std::vector<Covariance>{I}), {X1, X2, X3}, {}});
  kinds.push_back({"three with a ridge", fit(three, std::vector<Covariance>{I}, ridge_of_three), {X1, X2, X3}, {}});
  return kinds;
}

TEST(Verify, ConfirmsEveryClaimOfAnHonestModel) {
  for (const Fitted& fitted : all_kinds()) {
    EXPECT_EQ(refusal(fitted, fitted.model, 1e-9), "") << fitted.name;
    EXPECT_EQ(refusal(fitted, Model::from_bytes(fitted.model.to_bytes()), 1e-9), "") << fitted.name;
  }
}

// The parts of a model file.
struct Parts {
  ordered_json header;
  std::string data;

  explicit Parts(const std::string& bytes) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    header = ordered_json::parse(bytes.substr(8, length));
    data = bytes.substr(8 + length);
  }
  std::string bytes() const {
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text + data;
  }
  Vector array(const std::string& name) const {
    const std::size_t begin = header[name]["data_offsets"][0], end = header[name]["data_offsets"][1];
    Vector values(static_cast<Index>((end - begin) / sizeof(double)));
    std::memcpy(values.data(), data.data() + begin, end - begin);
    return values;
  }
  Parts with(const std::string& name, const Vector& values) const {
    Parts changed = *this;
    std::memcpy(changed.data.data() + header[name]["data_offsets"][0].get<std::size_t>(), values.data(),
                static_cast<std::size_t>(values.size()) * sizeof(double));
    return changed;
  }
};

// Other values of an array: negated, zeroed, enlarged, in another order, and with one entry changed.
std::vector<Vector> other_values(const Vector& values, Random& random) {
  const double largest = values.cwiseAbs().maxCoeff();
  std::vector<Vector> others = {-values, 0 * values, 1.01 * values, values.reverse()};
  for (int k = 0; k < 3; ++k) {
    others.push_back(values);
    others.back()(random.integer(0, values.size() - 1)) += 0.05 * (largest + 1e-3);
  }
  std::erase_if(others, [&](const Vector& one) { return (one - values).cwiseAbs().maxCoeff() <= 1e-4 * largest; });
  return others;
}

std::string as_text(double value) {
  if (value == std::round(value)) return std::to_string(static_cast<long>(value));
  return ordered_json(value).dump();
}

// Other texts of a metadata entry. Numbers are changed by more than rounding.
std::vector<std::string> other_texts(const std::string& text) {
  std::vector<std::string> others = {text + "x", ""};
  if (text == "true") others.push_back("false");
  if (text == "false") others.push_back("true");
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return others;
  for (const double other : {-value, 0.0, 1.5 * value + 0.5, value + 1, value - 1}) {
    if (std::abs(other - value) > 1e-4 * std::abs(value) + 1e-5) others.push_back(as_text(other));
  }
  return others;
}

// What no samples can tell, and the checksum alone protects: names and words, what the fit was asked for where it says
// nothing of the result, and the history of the search.
bool untold(const std::string& key, const std::string& now) {
  static const std::set<std::string> keys = {"version",
                                             "written_by",
                                             "name1",
                                             "feature_names1",
                                             "route",
                                             "setting_seed",
                                             "setting_random_starts",
                                             "setting_max_sweeps",
                                             "setting_max_seconds",
                                             "sweeps",
                                             "starts",
                                             "stopped_early"};
  if (keys.contains(key)) return true;
  // in words; the prescribed covariances themselves are M Mᵀ
  for (const char* start : {"covariance1", "covariance2", "covariance3", "setting_covariance", "setting_components"}) {
    if (key.starts_with(start)) return true;
  }
  // a limit that the rank does not reach: a forced Gram form may have lost the other directions. No proof: a limit may have stopped it.
  return (key.starts_with("setting_max_rank") && (now == "0" || now == "5")) || (key == "certified" && now == "false");
}

TEST(Verify, RefusesModelsThatWereTamperedWith) {
  Random random(22);
  int told = 0, not_told = 0;
  for (const Fitted& fitted : all_kinds()) {
    const Parts parts(fitted.model.to_bytes());
    const auto expect_refused = [&](const Parts& changed, const std::string& key, const std::string& now) {
      EXPECT_THROW(Model::from_bytes(changed.bytes()), FormatError) << fitted.name << ": " << key << " " << now;
      std::string why;
      try {
        why = refusal(fitted, Model::from_bytes(sealed(changed.bytes())));
      } catch (const FormatError& error) {
        why = error.what();
      }
      ++(why.empty() ? not_told : told);
      EXPECT_TRUE(!why.empty() || untold(key, now)) << fitted.name << ": " << key << " is now " << now;
    };
    for (const auto& [key, value] : parts.header.items()) {
      if (key == "__metadata__") continue;
      const Vector values = parts.array(key);
      for (const Vector& other : other_values(values, random)) {
        expect_refused(parts.with(key, other), key, std::to_string((other - values).norm()));
      }
    }
    for (const auto& [key, value] : parts.header["__metadata__"].items()) {
      if (key == "checksum") continue;
      for (const std::string& text : other_texts(value)) {
        if (text == value) continue;
        Parts changed = parts;
        changed.header["__metadata__"][key] = text;
        expect_refused(changed, key, text);
      }
    }
  }
  EXPECT_GT(told, 2000);
  EXPECT_LT(not_told, told / 5);
  std::cout << told << " changes refused, " << not_told << " that the checksum alone refuses\n";
}

// Maps twice as large, and all numbers that follow: the samples do not tell what was prescribed, but its name does.
TEST(Verify, RefusesMapsOfAnotherCovarianceThanTheModelNames) {
  Random random(23);
  const auto [X1, X2] = random_pairs(random, 6, 5, 80);
  FitOptions ridge;
  ridge.ridge = 0.5;
  for (const char* rule : {"identity", "identity:3", "data1:2", "principal2:3", "correlation:3", "likelihood2"}) {
    const Covariance C = Covariance::parse(rule);
    for (const FitOptions& options : {FitOptions{}, ridge}) {
      const Fitted fitted{rule, fit(X1, X2, C, C, options), {X1, X2}, {}};
      EXPECT_EQ(refusal(fitted, fitted.model, 1e-9), "") << rule;
      Model other = fitted.model;
      for (auto& map : other.domains) map->mixing *= 2;
      other.certificate.objective *= 4;
      other.certificate.bound *= 4;
      other.certificate.covariance_trace *= 4;
      other.certificate.singular_A *= 4;
      EXPECT_EQ(refusal(fitted, other), "prescribed covariance 1") << rule;
      other = fitted.model;
      other.covariances[0] = "identity:2";
      EXPECT_EQ(refusal(fitted, other), "name of the covariance 1") << rule;
    }
  }
  const Matrix F = random.matrix(3, 4);
  for (const Covariance& C : {Covariance::factor(F), Covariance::matrix(Matrix::Identity(3, 3)),
                              Covariance::factor(Matrix::Identity(3, 3)), Covariance::diagonal(Vector::Ones(2))}) {
    const Fitted fitted{"entries", fit(X1, X2, C, C), {X1, X2}, {}};
    EXPECT_EQ(refusal(fitted, fitted.model, 1e-9), "") << C.description();
  }
}

// Held-out errors are measured again on the folds that they came from.
TEST(Verify, MeasuresHeldOutErrorsAgain) {
  Random random(24);
  const auto [X1, X2] = random_pairs(random, 6, 5, 80);
  const Matrix X3 = random.matrix(4, 6) * X1 + random.matrix(4, 80), more = random.matrix(6, 6) * random.matrix(6, 40);
  const Vector weights = random.matrix(80, 1).cwiseAbs() * 2;
  const Covariance I = Covariance::identity(3), spread = Covariance::data(Domain::one, 3);
  FitOptions ridge, extra;
  ridge.ridge = 0.3;
  ridge.scale = true;
  Summary others({6});
  others.add(more);
  extra.extra = {&others, nullptr};
  const auto folds = [&](const FoldOptions& options, Index first, Index count) {
    Folds result({6, 5}, options);
    result.add(X1.middleCols(first, count), X2.middleCols(first, count));
    return result;
  };
  Folds weighted({6, 5}, {.folds = 5, .seed = 9}), three({6, 5, 4}, {.folds = 4});
  weighted.add({X1, X2}, weights);
  three.add({X1, X2, X3});
  Folds merged = folds({.folds = 5}, 0, 50);
  merged.merge(folds({.folds = 5}, 50, 30));
  const Folds plain = folds({.folds = 5, .repeats = 2, .seed = 3}, 0, 80), each = folds({.folds = 100}, 0, 80);
  const std::vector<Fitted> kinds = {
      {"seed and repeats", calibrate(fit(X1, X2, I, I), plain, I, I), {X1, X2}, {}},
      {"one by one", calibrate(fit(X1, X2, I, I), each, I, I), {X1, X2}, {}},
      {"ridge and scale", calibrate(fit(X1, X2, I, I, ridge), plain, I, I, ridge), {X1, X2}, {}},
      {"data1", calibrate(fit(X1, X2, spread, spread), plain, spread, spread), {X1, X2}, {}},
      {"weighted", calibrate(fit(weighted.all(), I, I), weighted, I, I), {X1, X2}, weights},
      {"extra", calibrate(fit(X1, X2, I, I, extra), plain, I, I, extra), {X1, X2}, {}, more},
      {"three", calibrate(fit(MatchedSamples{X1, X2, X3}, {I}), three, std::vector<Covariance>{I}), {X1, X2, X3}, {}},
      {"merged", calibrate(fit(X1, X2, I, I), merged, I, I), {X1, X2}, {}}};
  for (const Fitted& fitted : kinds) {
    const bool repeatable = std::string(fitted.name) != "merged";
    EXPECT_EQ(fitted.model.calibration_repeats > 0, repeatable) << fitted.name;
    EXPECT_EQ(refusal(fitted, Model::from_bytes(fitted.model.to_bytes()), 1e-9), "") << fitted.name;
    for (const double factor : {1.01, 0.99, 15.0, 0.05, 0.0, -1.0}) {
      Model other = fitted.model;
      other.domains[1]->held_out_error *= factor;
      const bool close = factor > 0.9 && factor < 1.1;
      EXPECT_EQ(refusal(fitted, other), close && !repeatable ? "" : "held-out errors 2") << fitted.name << factor;
    }
  }
}

TEST(SummaryNote, IsKeptWithTheSummary) {
  const TemporaryFolder folder;
  const Summary summary({2, 3});
  summary.save(folder / "with", "from \"a\"\n");
  summary.save(folder / "without");
  std::string note = "before";
  Summary::load(folder / "with", &note);
  EXPECT_EQ(note, "from \"a\"\n");
  Summary::load(folder / "without", &note);
  EXPECT_EQ(note, "");
}

}  // namespace
}  // namespace cgmca::testing
