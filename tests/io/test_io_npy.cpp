#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "io_testing.hpp"

namespace cgmca {
namespace {

// An NPY file of the given version with `header` as it stands.
std::string npy(const std::string& header, const std::string& elements, int major = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  for (int byte = 0; byte < (major == 1 ? 2 : 4); ++byte) file += static_cast<char>(header.size() >> 8 * byte & 0xff);
  return file + header + elements;
}

std::string dictionary(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}\n", descr, fortran, shape);
}

class NpyTest : public FolderTest {
 protected:
  Matrix read_bytes(const std::string& bytes, const ReadOptions& options = {}) {
    put_bytes(path("a.npy"), bytes);
    return read(path("a.npy"), options);
  }
  std::string refusal(const std::string& bytes) {
    return message_of<FormatError>([&] { read_bytes(bytes); });
  }
};

TEST_F(NpyTest, WhatIsWrittenIsReadBackBitForBit) {
  Matrix X = random_matrix(7, 33);
  X(0, 0) = -0.0;
  X(1, 0) = std::numeric_limits<double>::denorm_min();
  X(2, 0) = std::numeric_limits<double>::infinity();
  write(path("a.npy"), X);
  EXPECT_EQ(read(path("a.npy")), X);
  EXPECT_TRUE(std::signbit(read(path("a.npy"))(0, 0)));
  EXPECT_EQ(files(), 1);
}

TEST_F(NpyTest, APartOfALargerMatrixIsWrittenWithoutItsSurroundings) {
  const Matrix X = random_matrix(9, 12);
  write(path("a.npy"), X.block(2, 3, 4, 5));
  EXPECT_EQ(read(path("a.npy")), X.block(2, 3, 4, 5));
}

TEST_F(NpyTest, ElementsAreWrittenAtAMultipleOf64Bytes) {
  for (const Index samples : {1, 99, 100'000}) {
    write(path("a.npy"), Matrix::Ones(1, samples));
    EXPECT_EQ((std::filesystem::file_size(path("a.npy")) - static_cast<std::uintmax_t>(samples) * sizeof(double)) % 64,
              0U);
  }
}

TEST_F(NpyTest, AFileOfNoSamplesHasItsFeaturesAndNoBlocks) {
  write(path("a.npy"), Matrix(5, 0));
  BlockReader reader(path("a.npy"));
  EXPECT_EQ(reader.features(), 5);
  EXPECT_EQ(reader.samples(), 0);
  for (int i = 0; i < 2; ++i) {
    const Matrix X = reader.next(3);
    EXPECT_EQ(X.rows(), 5);
    EXPECT_EQ(X.cols(), 0);
  }
}

TEST_F(NpyTest, TheHeaderIsAPythonDictionaryInAnyOrderAndSpacing) {
  const std::string elements = "\1\2\3\4\5\6";
  Matrix X(3, 2);
  X << 1, 4, 2, 5, 3, 6;
  EXPECT_EQ(read_bytes(npy(dictionary("'|u1'", "(2, 3)"), elements)), X);
  EXPECT_EQ(read_bytes(npy("{\"shape\":(2L,3L,),'fortran_order' :False,'descr':'u1'}", elements)), X);
  EXPECT_EQ(read_bytes(npy(dictionary("'|u1'", "(2, 3)"), elements, 2)), X);
  EXPECT_EQ(read_bytes(npy(dictionary("'|u1'", "(2, 3)"), elements, 3)), X);
}

TEST_F(NpyTest, FollowingBytesAreNoneOfTheArraysBusiness) {
  EXPECT_EQ(read_bytes(npy(dictionary("'|i1'", "(1, 1)"), "\xff and more")), Matrix::Constant(1, 1, -1));
}

TEST_F(NpyTest, ATruncatedFileIsRefusedWithTheFigures) {
  expect_says(refusal(npy(dictionary("'<f8'", "(3, 4)"), std::string(95, 'x'))),
              {"a.npy' is truncated", "3×4", "12 elements of 8 bytes = 96 bytes", "but 95 are"});
  expect_says(refusal(npy(dictionary("'<f8'", "(3, 4)"), "").substr(0, 40)),
              {"is truncated", "header promises 60 bytes, but 30 are there"});
  expect_says(refusal("\x93NUMPY"), {"is truncated"});
  expect_says(refusal(std::string("\x93NUMPY\1\0\5", 9)), {"is truncated"});
}

TEST_F(NpyTest, WhatIsNoNpyIsRefused) {
  expect_says(refusal(""), {"is not an NPY array", "''"});
  expect_says(refusal("PK\3\4 and so on"), {"is not an NPY array", "PK\\x03\\x04"});
  expect_says(refusal(npy("", "", 9)), {"NPY version 9", "known: 1, 2, 3"});
}

TEST_F(NpyTest, AMalformedHeaderIsRefusedWhereItIsMalformed) {
  const auto malformed = [&](const std::string& header, const std::string& what) {
    expect_says(refusal(npy(header, "")), {"malformed NPY header", what});
  };
  malformed("", "'{' expected at ''");
  malformed("{'descr'", "':' expected");
  malformed("{'descr: ", "a string does not end");
  malformed("{}", "it lacks");
  malformed("{'descr': '<f8', 'shape': (3, 4)}", "it lacks");
  malformed("{'color': 1}", "unknown key 'color'");
  malformed(dictionary("'<f8'", "(3, -4)"), "a length of the shape expected at '-4)");
  malformed(dictionary("'<f8'", "(3 4)"), "',' expected at '4)");
  malformed(dictionary("'<f8'", "(99999999999999999999,)"), "a length of the shape expected");
  malformed(dictionary("'<f8'", "(3, 4)", "Maybe"), "True or False expected at 'Maybe");
  std::string ones = "(1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  malformed(dictionary("'<f8'", ones + ")"), "more than 64 dimensions");
}

TEST_F(NpyTest, OtherThanRealNumbersAreRefusedWithAdvice) {
  const auto refused = [&](const std::string& descr, const std::string& what, const std::string& advice) {
    expect_says(refusal(npy(dictionary(descr, "(2,)"), std::string(99, ' '))), {"cannot be read", what, advice});
  };
  refused("'<c16'", "complex numbers", "real and imaginary parts");
  refused("'|O'", "Python objects", "astype(float)");
  refused("[('a', '<f8'), ('b', '<i4')]", "a structured array", "one field");
  refused("'<U3'", "'<U3'", "astype(float)");
  refused("'<f16'", "'<f16'", "astype(float)");
  refused("'<M8[ns]'", "'<M8[ns]'", "astype(float)");
  refused("''", "''", "astype(float)");
}

TEST_F(NpyTest, AClaimIsCheckedBeforeMemoryIsTaken) {
  expect_says(refusal(npy(dictionary("'|u1'", "(1000000, 1000000)"), "x")), {"1000000000000 bytes, but 1 are there"});
  expect_says(refusal(npy(dictionary("'|u1'", "(4294967296, 4294967296)"), "x")),
              {"4294967296×4294967296", "more than any memory"});
  expect_says(refusal(npy(dictionary("'|u1'", "(0, 4294967296, 4294967296)"), "")), {"more than any memory"});
  expect_says(refusal(npy(dictionary("'|u1'", "(18446744073709551615, 1)"), "")), {"more than any memory"});
  std::string header("\x93NUMPY\2\0\xff\xff\xff\xff", 12);
  expect_says(refusal(header + "{'descr'"), {"header of 4294967295 bytes"});
}

TEST_F(NpyTest, AShapeWithoutFeaturesOrAxesIsRefused) {
  expect_says(refusal(npy(dictionary("'|u1'", "(5, 0)"), "")), {"5×0", "no features"});
  expect_says(refusal(npy(dictionary("'|u1'", "()"), "x")), {"single number"});
}

TEST_F(NpyTest, AFileThatShrinksWhileItIsReadIsAnIoError) {
  for (const bool columns : {false, true}) {
    write(path("a.npy"), random_matrix(100, 100));
    BlockReader reader(path("a.npy"), {.columns = columns});
    EXPECT_EQ(reader.next(10).cols(), 10);
    std::filesystem::resize_file(path("a.npy"), 9000);
    expect_says(message_of<IoError>([&] { reader.next(90); }),
                {"a.npy' became shorter while it was read", "80128 bytes when opened", "but only"});
  }
}

TEST_F(NpyTest, AFullDiskLeavesTheOldFile) {
  write(path("a.npy"), Matrix::Ones(2, 2));
  {
    const SmallDisk disk(4096);
    EXPECT_THROW(write(path("a.npy"), Matrix::Zero(100, 100)), IoError);
  }
  EXPECT_EQ(read(path("a.npy")), Matrix::Ones(2, 2));
  EXPECT_EQ(files(), 1);
}

TEST_F(NpyTest, AnyOrderStreamsInBlocksOfAnySize) {
  // 300 samples of 40 features, both ways of lying; 16-bit so that none is read as it lies.
  const Index n = 300, d = 40;
  std::string by_sample, by_feature;
  Matrix X(d, n);
  const auto put = [](std::string& to, int value) {
    to += static_cast<char>(value & 0xff);
    to += static_cast<char>(value >> 8);
  };
  for (int s = 0; s < n; ++s)
    for (int f = 0; f < d; ++f) put(by_sample, static_cast<int>(X(f, s) = s * 50 + f));
  for (int f = 0; f < d; ++f)
    for (int s = 0; s < n; ++s) put(by_feature, s * 50 + f);
  put_bytes(path("c.npy"), npy(dictionary("'<u2'", "(300, 40)"), by_sample));
  put_bytes(path("f.npy"), npy(dictionary("'<u2'", "(300, 40)", "True"), by_feature));
  put_bytes(path("tc.npy"), npy(dictionary("'<u2'", "(40, 300)"), by_feature));
  put_bytes(path("tf.npy"), npy(dictionary("'<u2'", "(40, 300)", "True"), by_sample));
  for (const char* name : {"c.npy", "f.npy", "tc.npy", "tf.npy"}) {
    const ReadOptions options{.columns = name[0] == 't'};
    EXPECT_EQ(read(path(name), options), X) << name;
    for (const Index block : {1, 7, 299, 300, 301}) {
      BlockReader reader(path(name), options);
      EXPECT_TRUE(reader.streams());
      reader.skip(11);
      for (Index at = 11; at < n; at += block) {
        EXPECT_EQ(reader.position(), at);
        EXPECT_EQ(reader.next(block), X.middleCols(at, std::min(block, n - at))) << name;
      }
      EXPECT_EQ(reader.next(block).cols(), 0);
    }
  }
}

// 4 GB of zeros that take no disk.
TEST_F(NpyTest, ComplexNumbersAreStreamedInBoundedMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "sanitizers know no limit of memory";
#endif
  for (const bool columns : {false, true}) {
    put_bytes(path("a.npy"), npy(dictionary("'<c16'", columns ? "(5, 50000000)" : "(50000000, 5)"), ""));
    std::filesystem::resize_file(path("a.npy"), 4'000'001'000);
    const LittleMemory memory(64 << 20);
    for (const ComplexAs complex : {ComplexAs::magnitude, ComplexAs::power, ComplexAs::stack}) {
      BlockReader reader(path("a.npy"), {.columns = columns, .complex = complex});
      EXPECT_TRUE(reader.streams());
      reader.skip(49'999'000);
      EXPECT_EQ(reader.next(5000), Matrix::Zero(complex == ComplexAs::stack ? 10 : 5, 1000));
    }
  }
}

}  // namespace
}  // namespace cgmca
