// Files that other programs wrote (tests/python/make_io_files.py), and files for them to read
// (tests/python/check_io_files.py).
#include <gtest/gtest.h>
#include <cgmca/error.hpp>
#include <cgmca/io.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace cgmca {
namespace {

const std::string folder = CGMCA_IO_FILES;

using Texts = std::vector<std::string>;

// Equal, nan at the same places, and the same signs of zero.
bool same(const Matrix& X, const Matrix& Y) {
  if (X.rows() != Y.rows() || X.cols() != Y.cols()) return false;
  for (Index i = 0; i < X.size(); ++i) {
    const double x = X.data()[i], y = Y.data()[i];
    if (std::isnan(x) != std::isnan(y)) return false;
    if (!std::isnan(x) && (x != y || std::signbit(x) != std::signbit(y))) return false;
  }
  return true;
}

nlohmann::json cases() {
  std::ifstream file(folder + "/cases.json");
  return file ? nlohmann::json::parse(file) : nlohmann::json::array();
}

ComplexAs complex_of(const nlohmann::json& c) {
  const auto name = c["complex"].get<std::string>();
  return name == "magnitude" ? ComplexAs::magnitude
         : name == "power"   ? ComplexAs::power
         : name == "stack"   ? ComplexAs::stack
                             : ComplexAs::refuse;
}

Matrix expected(const nlohmann::json& c) {
  const auto& rows = c["rows"];
  Matrix X(c["features"].get<Index>(), std::ssize(rows));
  for (Index s = 0; s < X.cols(); ++s)
    for (Index f = 0; f < X.rows(); ++f)
      X(f, s) = std::strtod(rows[s][f].get_ref<const std::string&>().c_str(), nullptr);
  return X;
}

TEST(FilesOfOtherPrograms, AreReadAsTheyWereWritten) {
  const auto all = cases();
  if (all.empty()) GTEST_SKIP() << "no files: no Python with NumPy made them";
  EXPECT_GE(all.size(), 500U);
  for (const auto& c : all) {
    const std::string source = folder + "/" + c["source"].get<std::string>();
    const ReadOptions options{.columns = c["columns"].get<bool>(), .complex = complex_of(c), .id = c.value("id", "")};
    SCOPED_TRACE(source + (options.columns ? ", columns, " : ", ") + c["complex"].get<std::string>());
    const Matrix X = expected(c);
    EXPECT_TRUE(same(read(source, options), X));
    for (const Index block : {1, 4, 100}) {
      BlockReader reader(source, options);
      EXPECT_EQ(reader.features(), X.rows());
      EXPECT_EQ(reader.samples().value_or(X.cols()), X.cols());
      if (c.contains("names")) {
        EXPECT_EQ(reader.feature_names(), c["names"].get<Texts>());
      }
      const Index first = std::min<Index>(X.cols(), 2);
      reader.skip(first);
      Index at = first;
      Texts ids;
      for (Matrix part = reader.next(block); part.cols() > 0; part = reader.next(block)) {
        ASSERT_LE(at + part.cols(), X.cols());
        EXPECT_TRUE(same(part, X.middleCols(at, part.cols())));
        at += part.cols();
        ids.insert(ids.end(), reader.ids().begin(), reader.ids().end());
      }
      const Texts all_ids = c.value("ids", Texts{});
      EXPECT_EQ(ids, Texts(all_ids.begin() + (all_ids.empty() ? 0 : first), all_ids.end()));
      EXPECT_EQ(at, X.cols());
      EXPECT_EQ(reader.samples(), X.cols());
    }
  }
}

TEST(FilesOfOtherPrograms, HaveNamesOfFeatures) {
  if (cases().empty()) GTEST_SKIP() << "no files: no Python with NumPy made them";
  using Names = std::vector<std::string>;
  for (const std::string file : {"/names.npz", "/names.mat"}) {
    SCOPED_TRACE(file);
    EXPECT_EQ(BlockReader(folder + file + ":x").feature_names(), (Names{"a", "bc"}));
    const auto names = [&](ComplexAs complex) {
      return BlockReader(folder + file + ":z", {.columns = false, .complex = complex}).feature_names();
    };
    EXPECT_EQ(names(ComplexAs::magnitude), (Names{"größe", "b"}));
    EXPECT_EQ(names(ComplexAs::stack), (Names{"re größe", "re b", "im größe", "im b"}));
    EXPECT_TRUE(BlockReader(folder + file + ":z", {.columns = false, .complex = ComplexAs::stack}).single());
    EXPECT_FALSE(BlockReader(folder + file + ":z", {.columns = false, .complex = ComplexAs::power}).single());
  }
}

TEST(FilesOfOtherPrograms, AreRefusedWhereSparseAndTooLargeToBeDense) {
  if (cases().empty()) GTEST_SKIP() << "no files: no Python with NumPy made them";
  for (const std::string file : {"/huge.npz", "/huge.mat"}) {
    try {
      read(folder + file);
      ADD_FAILURE() << file;
    } catch (const FormatError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("is sparse, 100000×100000; as a dense matrix it would have 80 GB, and 2 GB is the most"),
                std::string::npos)
          << message;
    }
    EXPECT_EQ(describe_file(folder + file).arrays.at(0).missing, 0);
  }
}

TEST(FilesOfOtherPrograms, AreCopiedForThemToCheck) {
  if (cases().empty()) GTEST_SKIP() << "no files: no Python with NumPy made them";
  const Matrix X = read(folder + "/original.npy");
  for (const char* name : {"copy.npy", "copy.csv", "copy.tsv"}) {
    write(folder + "/" + name, X);
    EXPECT_TRUE(same(read(folder + "/" + name), X)) << name;
  }
  write(folder + "/part.npy", X.block(1, 2, 3, 3));
  const std::vector<std::string> names{"größe", "b", "c", "d", "e", "f", "水"};
  for (const char* name : {"named.npz", "named.mat"}) {
    const std::string file = folder + "/" + name;
    std::remove(file.c_str());
    write(file, X, {.columns = false, .feature_names = names, .variable = "first"});
    write(file + ":second", X.topRows(2));
    write(file + ":turned", X, {.columns = true, .feature_names = names});
    EXPECT_TRUE(same(read(file + ":first"), X)) << name;
    EXPECT_EQ(BlockReader(file + ":first").feature_names(), names) << name;
    EXPECT_TRUE(same(read(file + ":second"), X.topRows(2))) << name;
    EXPECT_TRUE(same(read(file + ":turned", {.columns = true}), X)) << name;
    EXPECT_EQ(BlockReader(file + ":turned", {.columns = true}).feature_names(), names) << name;
  }
  write(folder + "/named.csv", X, {.columns = false, .feature_names = names});
  EXPECT_EQ(BlockReader(folder + "/named.csv").feature_names(), names);
  write(folder + "/copy_none.npy", read(folder + "/none.npy"));
}

}  // namespace
}  // namespace cgmca
