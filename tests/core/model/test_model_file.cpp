// Model and summary files: what is saved comes back, and no broken file is taken for a good one.
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/base/tensor_file.hpp"
#include "sealed.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

using nlohmann::ordered_json;
using testing::Random;

class ModelFile : public ::testing::Test {
 protected:
  ModelFile() {
    Random random(1);
    pairs = testing::random_pairs(random, 6, 4, 30);
    const Matrix F = random.matrix(5, 3);
    model = fit(pairs.X1, pairs.X2, Covariance::factor(F), Covariance::factor(F.leftCols(2)));
    model.save(path);
    bytes = read_bytes(path);
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    header = ordered_json::parse(bytes.substr(8, length));
    data = bytes.substr(8 + length);
  }

  static std::string read_bytes(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write_bytes(const std::string& contents) const { std::ofstream(path, std::ios::binary) << contents; }
  void write_file(const std::string& json, const std::string& rest) const {
    const std::uint64_t length = json.size();
    std::string contents(8, '\0');
    std::memcpy(contents.data(), &length, sizeof length);
    write_bytes(testing::sealed(contents + json + rest));
  }
  void write_header(const ordered_json& changed) const { write_file(changed.dump(), data); }

  // The FormatError that loading the present file as a model throws.
  std::string rejection() const {
    try {
      Model::load(path);
    } catch (const FormatError& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << "the message does not name the file";
      return error.what();
    }
    ADD_FAILURE() << "the file was taken";
    return "";
  }
  void expect_rejected(const char* because) const {
    const std::string message = rejection();
    EXPECT_NE(message.find(because), std::string::npos) << message << "\nlacks: " << because;
  }

  const testing::TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  testing::Pairs pairs;
  Model model;
  std::string bytes, data;
  ordered_json header;
};

TEST_F(ModelFile, BringsBackEveryBit) {
  const Model loaded = Model::load(path);
  EXPECT_EQ(loaded.samples, model.samples);
  EXPECT_EQ(loaded.common_dimension, model.common_dimension);
  EXPECT_EQ(loaded.covariances, model.covariances);
  const Certificate &a = loaded.certificate, &b = model.certificate;
  EXPECT_EQ(a.constraint_residuals, b.constraint_residuals);
  EXPECT_EQ(a.objective, b.objective);
  EXPECT_EQ(a.bound, b.bound);
  EXPECT_EQ(a.covariance_trace, b.covariance_trace);
  EXPECT_EQ(a.singular_A, b.singular_A);
  EXPECT_EQ(a.singular_B, b.singular_B);
  EXPECT_EQ(a.ranks, b.ranks);
  EXPECT_EQ(a.covariance_ranks, b.covariance_ranks);
  EXPECT_EQ(a.min_gap, b.min_gap);
  EXPECT_EQ(a.tolerances, b.tolerances);
  EXPECT_EQ(a.route, b.route);
  for (Domain domain : {Domain::one, Domain::two}) {
    const DomainMap &x = loaded.domain(domain), &y = model.domain(domain);
    EXPECT_EQ(x.mean, y.mean);
    EXPECT_EQ(x.weights, y.weights);
    EXPECT_EQ(x.mixing, y.mixing);
    EXPECT_EQ(x.loadings, y.loadings);
    EXPECT_EQ(x.variance, y.variance);
  }
  for (Method method : {Method::lmmse, Method::exact, Method::mahalanobis, Method::lsqr}) {
    EXPECT_EQ(translate(loaded, Domain::two, Domain::one, pairs.X2, method),
              translate(model, Domain::two, Domain::one, pairs.X2, method));
  }
}

TEST_F(ModelFile, BringsBackWhatTheFitWasAskedFor) {
  FitOptions options;
  options.max_rank = {3, 0};
  options.ridge = {Ridge(0.1), Ridge::from_data()};
  options.rank_tol = 1e-9;
  fit(pairs.X1, pairs.X2, Covariance::data(Domain::two, 2), Covariance::diagonal(Vector::LinSpaced(4, 1, 2)), options)
      .save(path);
  const FitSettings loaded = Model::load(path).settings;
  EXPECT_EQ(loaded.covariance, (std::vector<std::string>{"data2", "matrix"}));
  EXPECT_EQ(loaded.components, (std::vector<Index>{2, 0}));
  EXPECT_EQ(loaded.max_rank, (std::vector<Index>{3, 0}));
  EXPECT_EQ(loaded.ridge, (std::vector<Ridge>{Ridge(0.1), Ridge::from_data()}));
  EXPECT_EQ(loaded.rank_tol, 1e-9);

  const auto kind = [&](const Covariance& C) { return fit(pairs.X1, pairs.X2, C, C).settings; };
  EXPECT_EQ(kind(Covariance::identity(2)).covariance[1], "identity");
  EXPECT_EQ(kind(Covariance::identity(2)).components[1], 2);
  EXPECT_EQ(kind(Covariance::largest_identity()).components[0], 0);
  EXPECT_EQ(kind(Covariance::correlation(3)).covariance[0], "correlation");
  EXPECT_EQ(kind(Covariance::matrix(2 * Matrix::Identity(2, 2))).covariance[0], "matrix");
}

TEST_F(ModelFile, ReadsFilesThatHoldNoSettings) {
  auto& metadata = header["__metadata__"];
  for (const char* name : {"covariance", "components", "max_rank", "ridge"}) {
    for (const char* number : {"1", "2"}) ASSERT_EQ(metadata.erase(std::string("setting_") + name + number), 1U);
  }
  write_header(header);
  EXPECT_EQ(Model::load(path).settings.covariance[0], "matrix");
}

TEST_F(ModelFile, ArraysOf32BitsAreWidened) {
  std::string narrow;
  for (auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    const std::size_t begin = tensor["data_offsets"][0], end = tensor["data_offsets"][1];
    tensor["dtype"] = "F32";
    tensor["data_offsets"][0] = narrow.size();
    for (std::size_t at = begin; at < end; at += sizeof(double)) {
      double value = 0;
      std::memcpy(&value, data.data() + at, sizeof value);
      const auto rounded = static_cast<float>(value);
      narrow.append(reinterpret_cast<const char*>(&rounded), sizeof rounded);
    }
    tensor["data_offsets"][1] = narrow.size();
  }
  write_file(header.dump(), narrow);
  const Model loaded = Model::load(path);
  for (Domain domain : {Domain::one, Domain::two}) {
    const DomainMap &x = loaded.domain(domain), &y = model.domain(domain);
    EXPECT_EQ(x.mean, y.mean.cast<float>().cast<double>());
    EXPECT_EQ(x.weights, y.weights.cast<float>().cast<double>());
    EXPECT_EQ(x.mixing, y.mixing.cast<float>().cast<double>());
  }
}

// Longer than what is read at once, by rows and within a row.
TEST_F(ModelFile, LargeArraysOfBothWidthsComeBack) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{1000, 300}, {3, 20000}, {5000, 1}}) {
    const Matrix X = Random(2).matrix(rows, columns).cast<float>().cast<double>();
    TensorWriter writer("test");
    writer.add("X", X);
    const std::string wide = writer.bytes();
    EXPECT_EQ(TensorReader(std::string_view(wide), "test").matrix("X", rows, columns), X);

    const Eigen::MatrixXf transposed = X.transpose().cast<float>();
    const auto size = 4 * static_cast<std::size_t>(X.size());
    ordered_json narrow;
    narrow["__metadata__"] = {{"format", "test"}, {"version", "1"}};
    narrow["X"] = {{"dtype", "F32"}, {"shape", {rows, columns}}, {"data_offsets", {0, size}}};
    write_file(narrow.dump(), std::string(reinterpret_cast<const char*>(transposed.data()), size));
    EXPECT_EQ(TensorReader(path, "test").matrix("X", rows, columns), X);
  }
}

TEST_F(ModelFile, IsTheSameFileWhenSavedAgain) {
  Model::load(path).save(folder / "again");
  EXPECT_EQ(read_bytes(folder / "again"), bytes);
}

TEST_F(ModelFile, BringsItsNoteBack) {
  std::string note = "from before";
  Model::load(path, &note);
  EXPECT_EQ(note, "");
  model.save(folder / "noted", "of \"Tuesday\",\nα");
  EXPECT_EQ(Model::load(folder / "noted", &note).to_bytes(), bytes);  // which has no note
  EXPECT_EQ(note, "of \"Tuesday\",\nα");
}

TEST_F(ModelFile, IsTheSameInMemory) {
  EXPECT_EQ(model.to_bytes(), bytes);
  EXPECT_EQ(Model::from_bytes(bytes).to_bytes(), bytes);
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    EXPECT_THROW(Model::from_bytes(std::string_view(bytes).substr(0, length)), FormatError) << length;
  }
  for (int blocks : {1, 40}) {  // rows, compressed
    Summary summary({6, 4});
    for (int i = 0; i < blocks; ++i) summary.add(pairs.X1, pairs.X2);
    summary.save(path);
    EXPECT_EQ(summary.to_bytes(), read_bytes(path));
    EXPECT_EQ(Summary::from_bytes(summary.to_bytes()).to_bytes(), summary.to_bytes());
  }
}

TEST_F(ModelFile, MayHoldOneDomainOnly) {
  model.only(Domain::two).save(path);
  const Model loaded = Model::load(path);
  EXPECT_FALSE(loaded.domains[0]);
  EXPECT_EQ(apply(loaded, Domain::two, pairs.X2), apply(model, Domain::two, pairs.X2));
}

TEST_F(ModelFile, AlignsItsArraysToEightBytes) { EXPECT_EQ((bytes.size() - data.size()) % 8, 0U); }

TEST_F(ModelFile, CutShortAnywhereIsRejected) {
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 50) {
    write_bytes(bytes.substr(0, size));
    rejection();
  }
  write_bytes(bytes + "x");
  rejection();
}

TEST_F(ModelFile, AnotherFormatOrVersionIsNamed) {
  Summary summary({6, 4});
  summary.add(pairs.X1, pairs.X2);
  summary.save(path);
  expect_rejected("a cgmca-summary, not a cgmca-model");
  model.save(path);
  EXPECT_THROW(Summary::load(path), FormatError);
  header["__metadata__"]["version"] = "99";
  write_header(header);
  expect_rejected("format version 99");
  header["__metadata__"].erase("format");
  write_header(header);
  expect_rejected("not a cgmca-model");
  write_bytes("\x93NUMPY, for instance, and more text than a header's length takes");
  expect_rejected("not a safetensors file");
}

TEST_F(ModelFile, DuplicateKeysAreRejected) {
  const std::string json = header.dump();
  write_file("{\"mean1\":" + header["mean1"].dump() + "," + json.substr(1), data);
  expect_rejected("two arrays named 'mean1'");
  write_file("{\"__metadata__\":{}," + json.substr(1), data);
  expect_rejected("two __metadata__");
  write_file("{\"__metadata__\":{\"k\":\"1\",\"k\":\"1\"}}", "");
  expect_rejected("two metadata entries named 'k'");
  write_file(R"({"a":{"dtype":"F64","dtype":"F64","shape":[],"data_offsets":[0,8]}})", std::string(8, '\0'));
  expect_rejected("two entries 'dtype'");
}

TEST_F(ModelFile, SizesAndOffsetsThatDoNotFitAreRejected) {
  const auto with = [&](const char* name, const char* field, const ordered_json& value) {
    ordered_json changed = header;
    changed[name][field] = value;
    write_header(changed);
  };
  with("mean1", "data_offsets", {0, 1U << 30});
  expect_rejected("cut short");
  with("mean1", "data_offsets", {48, 0});
  rejection();
  with("mean1", "shape", {7});
  expect_rejected("of shape [7] needs 56 bytes");
  with("mean1", "shape", {std::uint64_t{1} << 62, 4});
  expect_rejected("overflows");
  with("mean1", "shape", {-6});
  expect_rejected("negative number -6");
  with("mean1", "shape", {6.5});
  expect_rejected("6.5");
  with("mean1", "dtype", "F16");
  expect_rejected("F16, not F64");
  with("mean1", "dtype", "F32");  // half as many bytes
  expect_rejected("of shape [6] needs 24 bytes");
  with("mean1", "data_offsets", header["variance1"]["data_offsets"]);
  expect_rejected("overlap or leave a hole");
  with("weights1", "shape", {6, 3});  // transposed: as many bytes, another shape
  expect_rejected("has the shape [6, 3], not [3, 6]");
}

TEST_F(ModelFile, MetadataThatMakesNoSenseIsRejected) {
  const auto with = [&](const char* key, const std::string& value) {
    ordered_json changed = header;
    changed["__metadata__"][key] = value;
    write_header(changed);
  };
  with("k", "-3");
  expect_rejected("'k' is '-3'");
  with("k", "99999999999999999999999");
  expect_rejected("'k'");
  with("samples", "1");
  expect_rejected("'samples' is '1'");
  with("objective", "nan");
  expect_rejected("'objective' is 'nan'");
  with("objective", "1.0x");
  expect_rejected("'objective'");
  header["__metadata__"].erase("route");
  write_header(header);
  expect_rejected("lacks 'route'");
}

TEST_F(ModelFile, NanInAnArrayIsRejected) {
  const double nan = std::nan("");
  std::string changed = data;
  std::memcpy(changed.data() + 8, &nan, sizeof nan);
  write_file(header.dump(), changed);
  expect_rejected("holds NaN");
}

TEST_F(ModelFile, HostileHeadersAreRejectedWithoutGrowing) {
  std::uint64_t huge = ~std::uint64_t{0} - 7;
  std::string contents(16, ' ');
  std::memcpy(contents.data(), &huge, sizeof huge);
  write_bytes(contents);
  rejection();
  write_file(std::string(1'000'000, '['), "");  // a document tree of this would take a hundred times its size
  expect_rejected("a list where none belongs");
  write_file("{\"a\":" + std::string(1'000'000, '{'), "");
  rejection();
  ordered_json many = header;
  many["__metadata__"]["domains"] = "400000000";
  write_header(many);
  expect_rejected("'domains' is 400000000, but the metadata of so many");
  for (const char* json :
       {"", "null", "[]", "{", "{}", R"({"a":null})", R"({"a":1})", R"({"a":{"shape":[[1]]}})",
        R"({"a":{"shape":[1,1,1,1,1,1,1,1,1]}})", R"({"__metadata__":{"k":1}})", R"({"__metadata__":{"k":{}}})",
        R"({"a":{"dtype":"F64"}})", "{\"\xff\":1}", R"({"a":{}} x)"}) {
    SCOPED_TRACE(json);
    write_file(json, "");
    rejection();
  }
}

// As if a program had written them so: the checksum is right.
TEST_F(ModelFile, EveryFlippedByteOfTheHeaderIsTakenOrRejectedButNeverCrashes) {
  const std::size_t header_size = bytes.size() - data.size();
  for (std::size_t i = 0; i < header_size; ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x11);
    try {
      Model::from_bytes(testing::sealed(changed));
    } catch (const FormatError&) {
    }
  }
}

// What from_bytes says of bytes with one bit flipped; empty where it takes them.
template <class From>
std::string refusal(std::string bytes, std::size_t bit, const From& from_bytes) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  try {
    from_bytes(bytes);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

// 12 samples of 6 + 4 features, of which the first two lack domain 2.
IncompleteSummary incomplete(const testing::Pairs& pairs) {
  IncompleteSummary summary({6, 4});
  Matrix gaps = pairs.X2.leftCols(12);
  gaps.leftCols(2).setConstant(std::nan(""));
  summary.add({pairs.X1.leftCols(12), gaps});
  return summary;
}

TEST_F(ModelFile, EveryFlippedBitOfModelsSummariesAndFoldsIsSaidToBeDamage) {
  Summary summary({6, 4});
  for (int i = 0; i < 2; ++i) summary.add(pairs.X1, pairs.X2);
  Folds folds({6, 4}, {2, 1, 1, Accumulate::automatic});
  folds.add(pairs.X1.leftCols(6), pairs.X2.leftCols(6));
  const auto check = [](const std::string& whole, const auto& from_bytes) {
    from_bytes(whole);
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      const std::string message = refusal(whole, bit, from_bytes);
      ASSERT_NE(message.find("damaged"), std::string::npos) << "bit " << bit << ": '" << message << "'";
    }
  };
  check(bytes, [](const std::string& one) { Model::from_bytes(one); });
  check(summary.to_bytes(), [](const std::string& one) { Summary::from_bytes(one); });
  check(folds.to_bytes(), [](const std::string& one) { Folds::from_bytes(one); });
  check(incomplete(pairs).to_bytes(), [](const std::string& one) { IncompleteSummary::from_bytes(one); });
  std::string changed = bytes;
  changed[bytes.size() - 3] = static_cast<char>(changed[bytes.size() - 3] ^ 4);
  write_bytes(changed);
  expect_rejected("the file is damaged or was changed: its checksum is");
}

TEST_F(ModelFile, APatternOfOtherFeaturesThanItsDomainIsRejected) {
  std::string file = incomplete(pairs).to_bytes();
  const std::string seen = R"("pattern1.domains_seen":"1")";
  const std::size_t place = file.find(seen);
  ASSERT_NE(place, std::string::npos);
  file[place + seen.size() - 2] = '2';
  EXPECT_THROW(IncompleteSummary::from_bytes(testing::sealed(file)), FormatError);
}

TEST(Crc32, IsThatOfZlib) {
  const std::string text = "123456789";  // the check value of the standard
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Crc32 checksum;
    checksum.add(text.data(), cut);
    checksum.add(text.data() + cut, text.size() - cut);
    EXPECT_EQ(checksum.text(), "cbf43926");
  }
}

// Files that cgmca 0.2 wrote of these numbers, with the values that it printed of them.
class FilesOf02 : public ::testing::Test {
 protected:
  static Matrix samples(Index d, Index n, int seed) {
    return Matrix::NullaryExpr(d, n, [seed](Index i, Index j) {
      return std::sin(0.7 * static_cast<double>((i + 1) * (j + 1)) + seed) +
             0.5 * std::cos(1.3 * static_cast<double>(j * j % 17) + static_cast<double>(i));
    });
  }
  static std::string file(const std::string& name) { return testing::fixture("version_0_2/" + name + ".safetensors"); }
  static double distance(const Model& one, const Model& other) {
    double largest = testing::relative(one.domain(Domain::one).matrix(), other.domain(Domain::one).matrix());
    for (int i = 2; i <= static_cast<int>(one.count()); ++i) {
      largest = std::max(largest, testing::relative(one.domain(Domain{i}).matrix(), other.domain(Domain{i}).matrix()));
    }
    return std::max(largest, std::abs(one.certificate.objective - other.certificate.objective));
  }

  const Matrix X1 = samples(3, 12, 0), X2 = samples(2, 12, 1), X3 = samples(3, 12, 2);
  const Matrix L1 = samples(3, 40, 0), L2 = samples(2, 40, 1);
  const Covariance C = Covariance::identity(2);
};

TEST_F(FilesOf02, ModelsAreRead) {
  EXPECT_LE(distance(Model::load(file("model_2")), fit(X1, X2, C, C)), 1e-12);
  EXPECT_EQ(Model::load(file("model_2")).calibration_folds, 3);
  // Its automatic ridge is that of 0.2, α Θ + β I with α < 1, which a fit no longer makes: it holds as it is.
  const Model loaded = Model::load(file("model_3"));
  EXPECT_EQ(loaded.settings.ridge, (std::vector<Ridge>{Ridge(0.1), Ridge::from_data(), Ridge(0)}));
  EXPECT_LT(loaded.certificate.constrained[1].data, 1);
  const Verification attained = verify(loaded, {X1, X2, X3});
  for (const double residual : attained.constraint_residuals) EXPECT_LE(residual, 1e-9);
  EXPECT_NEAR(attained.objective, loaded.certificate.objective, 1e-9);
}

TEST_F(FilesOf02, SummariesAndFoldsAreReadAndContinued) {
  const auto expect = [&](Summary summary, const Model& expected) {
    EXPECT_LE(distance(fit(summary, C, C), expected), 1e-12);
    const Summary again = Summary::from_bytes(summary.to_bytes());
    EXPECT_LE(distance(fit(again, C, C), expected), 1e-12);
    const double before = summary.total_weight();
    summary.merge(again, Repeats::allow);
    EXPECT_NEAR(summary.total_weight(), 2 * before, 1e-9);
  };
  std::string note;
  expect(Summary::load(file("summary_rows"), &note), fit(X1.leftCols(8), X2.leftCols(8), C, C));
  EXPECT_EQ(note, "a note");
  expect(Summary::load(file("summary_gram")), fit(L1, L2, C, C));
  EXPECT_EQ(Summary::load(file("summary_gram")).inputs(), std::vector<std::string>{"1:2:3 a.npy"});
  Summary weighted({3, 2}, Accumulate::qr);
  weighted.add(MatchedSamples{L1, L2}, Vector::LinSpaced(40, 0.5, 2));
  expect(Summary::load(file("summary_qr_weighted")), fit(weighted, C, C));
  EXPECT_LE(distance(fit(Folds::load(file("folds")).all(), C, C), fit(X1, X2, C, C)), 1e-12);
}

// More arrays than the 1,024 that were once the limit.
TEST(LargeFiles, ModelsOfManyDomainsAndManyFoldsComeBack) {
  Random random(3);
  MatchedSamples X;
  const Matrix shared = random.matrix(1, 20);
  std::vector<Matrix> samples;
  for (int i = 0; i < 30; ++i) samples.emplace_back(shared + 0.1 * random.matrix(1, 20));
  for (const Matrix& one : samples) X.emplace_back(one);
  FitOptions options;
  options.matching.random_starts = 0;
  options.matching.max_seconds = 1;
  const std::string bytes = fit(X, {Covariance::identity(1)}, options).to_bytes();
  EXPECT_EQ(Model::from_bytes(bytes).to_bytes(), bytes);

  Folds folds({1, 1}, {60, 10, 1, Accumulate::automatic});
  folds.add(random.matrix(1, 240), random.matrix(1, 240));
  EXPECT_EQ(Folds::from_bytes(folds.to_bytes()).to_bytes(), folds.to_bytes());
}

TEST_F(ModelFile, AFileThatCannotBeReadOrWrittenIsAnIoError) {
  EXPECT_THROW(Model::load(folder / "absent"), IoError);
  EXPECT_THROW(Model::load(folder.path().string()), IoError);
  EXPECT_THROW(model.save(folder / "absent/model"), IoError);
  EXPECT_THROW(model.save("/dev/full"), IoError);
}

TEST_F(ModelFile, AFailedSaveLeavesTheOldFile) {
  EXPECT_THROW(model.save(path + "/below"), IoError);
  EXPECT_EQ(read_bytes(path), bytes);
}

TEST_F(ModelFile, SummariesWithCountsThatDoNotFitAreRejected) {
  Summary summary({6, 4});
  for (int i = 0; i < 40; ++i) summary.add(pairs.X1, pairs.X2);
  summary.save(path);
  bytes = read_bytes(path);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const ordered_json good = ordered_json::parse(bytes.substr(8, length));
  data = bytes.substr(8 + length);
  const auto rejects = [&](const char* key, const char* value) {
    ordered_json changed = good;
    changed["__metadata__"][key] = value;
    write_header(changed);
    EXPECT_THROW(Summary::load(path), FormatError) << key << " = " << value;
  };
  rejects("samples", "5");
  rejects("samples", "99999");
  rejects("compressed", "0");
  rejects("features1", "7");
  rejects("features1", "0");
  rejects("features1", "281474976710656");
  rejects("form", "rows");
  rejects("form", "magic");
  rejects("accumulate", "");
  rejects("largest1", "inf");
}

}  // namespace
}  // namespace cgmca
