#include <clocale>
#include <cmath>
#include <filesystem>
#include <limits>

#include "io_testing.hpp"

namespace cgmca {
namespace {

class CsvTest : public FolderTest {
 protected:
  Matrix read_text(const std::string& text, const std::string& name = "a.csv", const ReadOptions& options = {}) {
    put_bytes(path(name), text);
    return read(path(name), options);
  }
  std::string refusal(const std::string& text, const std::string& name = "a.csv") {
    return message_of<FormatError>([&] { read_text(text, name); });
  }
  // Samples (1, 2), (3, 4.5), (-6, 7).
  const Matrix three = (Matrix(2, 3) << 1, 3, -6, 2, 4.5, 7).finished();
};

TEST_F(CsvTest, SamplesAreLines) {
  EXPECT_EQ(read_text("1,2\n3,4.5\n-6,7\n"), three);
  EXPECT_EQ(read_text("1,2\n3,4.5\n-6,7"), three);
  EXPECT_EQ(read_text("1\t2\n3\t4.5\n-6\t7", "a.tsv"), three);
  EXPECT_EQ(read_text("1,3,-6\n2,4.5,7", "a.csv", {.columns = true}), three);
}

TEST_F(CsvTest, AFirstLineWithAnyTextIsAHeader) {
  EXPECT_EQ(read_text("a,b\n1,2\n3,4.5\n-6,7\n"), three);
  EXPECT_EQ(read_text("2019,second\n1,2\n3,4.5\n-6,7\n"), three);
  EXPECT_EQ(read_text(",b\n1,2\n3,4.5\n-6,7\n"), three);
  EXPECT_EQ(read_text("\"say \"\"a, b\"\"\nor so\",b\n1,2\n3,4.5\n-6,7\n"), three);
}

TEST_F(CsvTest, NamesComeFromTheHeaderWhereTheyTellFeaturesApart) {
  const auto names = [&](const std::string& text) {
    put_bytes(path("a.csv"), text);
    return BlockReader(path("a.csv")).feature_names();
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("\"say \"\"a, b\"\"\", höhe \n1,2\n"), (Names{"say \"a, b\"", "höhe"}));
  EXPECT_EQ(names("h\xf6he,b\n1,2\n"), (Names{"höhe", "b"}));  // Latin-1
  EXPECT_EQ(names("a,a\n1,2\n"), Names{});
  EXPECT_EQ(names("a,\n1,2\n"), Names{});
  EXPECT_EQ(names("1,2\n1,2\n"), Names{});
}

TEST_F(CsvTest, AFirstLineOfNumbersAndGapsIsNoHeader) {
  expect_says(refusal("1,,3\n1,2,3\n"), {"line 1, column 2", "missing"});
}

TEST_F(CsvTest, AHeaderAloneIsAFileOfNoSamples) {
  put_bytes(path("a.csv"), "a,b,c\n");
  const Matrix X = read(path("a.csv"));
  EXPECT_EQ(X.rows(), 3);
  EXPECT_EQ(X.cols(), 0);
}

TEST_F(CsvTest, BlanksQuotesEmptyLinesAndForeignLineEndsDoNotMatter) {
  EXPECT_EQ(read_text("\xef\xbb\xbf"
                      "1,2\r\n\r\n3 , 4.5\r\n   \n\n\"-6\", \" 7 \"\r\n\r\n"),
            three);
  EXPECT_EQ(read_text("\n\n+1,2e0\n3.0,+4.5\n-.6e1,7.\n"), three);
}

TEST_F(CsvTest, TheSeparatorIsTheOneTheFirstLineHasMostOf) {
  EXPECT_EQ(read_text("1;2\n3;4.5\n-6;7\n"), three);
  EXPECT_EQ(read_text("1\t2\n3\t4.5\n-6\t7\n"), three);
  EXPECT_EQ(read_text("\"a,b,c\";d\n1;2\n3;4.5\n-6;7\n"), three);
  EXPECT_EQ(read_text("\"a;b;c\",d\n1,2\n3,4.5\n-6,7\n"), three);
  EXPECT_EQ(read_text("1\n2\n").rows(), 1);
  expect_says(refusal("1\n1,2\n", "a.tsv"), {"line 2, column 1: '1,2' is no number"});
}

TEST_F(CsvTest, ABadFieldIsNamedByLineAndColumn) {
  expect_says(refusal("1,2\n3,x7\n"), {"a.csv', line 2, column 2: 'x7' is no number"});
  expect_says(refusal("a,b\n\n\r\n1,2\n0x10,2\n"), {"line 5, column 1: '0x10' is no number"});
  expect_says(refusal("\"a\n\n\",b\n1,2\n1;2,2\n"), {"line 5, column 1: '1;2' is no number"});
  expect_says(refusal("1,2\n3,\n"), {"line 2, column 2: the value is missing"});
  expect_says(refusal("1,2\n\"\",4\n"), {"line 2, column 1: the value is missing"});
  expect_says(refusal("1,2\n3,1e999\n"), {"line 2, column 2: '1e999' is beyond the range"});
  expect_says(refusal("1,2\n3,1 2\n"), {"line 2, column 2: '1 2' is no number"});
  expect_says(refusal("1,2\n3,+-2\n"), {"line 2, column 2: '+-2' is no number"});
  expect_says(refusal("1,2\n3,\"1\"2\n"), {"line 2, column 2", "is no number"});
  expect_says(refusal("1,2\n3,\x1b[2J\n"), {"'\\x1b[2J' is no number"});
  expect_says(refusal("1,2\n3," + std::string(1000, 'x')), {std::string(60, 'x') + "…' is no"});
}

TEST_F(CsvTest, ARaggedLineIsRefusedWithItsNumberOfColumns) {
  expect_says(refusal("a,b\n1,2\n1,2,3\n"), {"line 3: it has 3 columns, but line 1 has 2"});
  expect_says(refusal("\n1,2\n1\n"), {"line 3: it has 1 columns, but line 2 has 2"});
}

TEST_F(CsvTest, AQuoteThatIsNeverClosedIsRefusedWhereItOpens) {
  expect_says(refusal("1,2\n\"3,4\n5,6\n"), {"line 2", "never closed"});
  expect_says(refusal("height in \",b\n1,2\n"), {"line 1", "never closed"});
}

TEST_F(CsvTest, WhatIsNoTextOfNumbersIsRefused) {
  expect_says(refusal(""), {"no line of numbers"});
  expect_says(refusal("\n \r\n"), {"no line of numbers"});
  expect_says(refusal(std::string("\xff\xfe"
                                  "1\0,\0",
                                  6)),
              {"UTF-16"});
}

TEST_F(CsvTest, NotANumberAndInfinityAreNumbers) {
  const Matrix X = read_text("nan,inf\n-inf,NaN\n+Infinity,-nan\n");
  EXPECT_TRUE(std::isnan(X(0, 0)) && std::isnan(X(1, 1)) && std::isnan(X(1, 2)));
  EXPECT_EQ(X(1, 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(X(0, 1), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(X(0, 2), std::numeric_limits<double>::infinity());
}

TEST_F(CsvTest, NumbersTooSmallForADoubleAreZero) {
  const Matrix X = read_text("1e-400,-1e-400\n4.9e-324,1\n");
  EXPECT_EQ(X(0, 0), 0);
  EXPECT_TRUE(X(1, 0) == 0 && std::signbit(X(1, 0)));
  EXPECT_EQ(X(0, 1), std::numeric_limits<double>::denorm_min());
}

TEST_F(CsvTest, WhatIsWrittenIsReadBackBitForBit) {
  Matrix X = random_matrix(5, 2000) * 1e-3;  // more than one buffer of text
  X(0, 0) = 0.1;
  X(1, 0) = -0.0;
  X(2, 0) = std::numeric_limits<double>::max();
  X(3, 0) = std::numeric_limits<double>::denorm_min();
  X(4, 0) = -std::numeric_limits<double>::infinity();
  for (const char* name : {"a.csv", "a.tsv"}) {
    write(path(name), X);
    EXPECT_EQ(read(path(name)), X);
    EXPECT_TRUE(std::signbit(read(path(name))(1, 0)));
  }
  EXPECT_TRUE(bytes_of(path("a.csv")).starts_with("0.1,-0,"));
  EXPECT_TRUE(bytes_of(path("a.tsv")).starts_with("0.1\t-0\t"));
  EXPECT_EQ(files(), 2);
}

TEST_F(CsvTest, TheLocaleDoesNotMatter) {
  // Any locale with a decimal comma will do; without one the test is idle.
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"}) std::setlocale(LC_ALL, name);
  write(path("a.csv"), three);
  EXPECT_EQ(bytes_of(path("a.csv")), "1,2\n3,4.5\n-6,7\n");
  EXPECT_EQ(read(path("a.csv")), three);
  std::setlocale(LC_ALL, "C");
}

TEST_F(CsvTest, BlocksOfAnySizeGiveTheSame) {
  const Matrix X = random_matrix(6, 5000);  // more than one buffer of text
  write(path("a.csv"), X);
  for (const Index block : {1, 7, 4999, 5000, 5001}) {
    BlockReader reader(path("a.csv"));
    EXPECT_TRUE(reader.streams());
    EXPECT_EQ(reader.features(), 6);
    EXPECT_EQ(reader.samples(), std::nullopt);
    reader.skip(2);
    EXPECT_EQ(reader.position(), 2);
    for (Index at = 2; at < 5000; at += block)
      ASSERT_EQ(reader.next(block), X.middleCols(at, std::min(block, 5000 - at)));
    const Matrix none = reader.next(block);
    EXPECT_EQ(none.rows(), 6);
    EXPECT_EQ(none.cols(), 0);
    EXPECT_EQ(reader.samples(), 5000);
  }
}

TEST_F(CsvTest, SkippingBeyondTheEndIsRefusedWithTheFigures) {
  put_bytes(path("a.csv"), "1,2\n3,4\n5,6\n");
  BlockReader reader(path("a.csv"));
  reader.next(1);
  expect_says(message_of<InvalidInput>([&] { reader.skip(3); }), {"cannot skip 3 samples", "holds 3 and 1 are passed"});
}

TEST_F(CsvTest, ALineMayBeLongerThanAnyBuffer) {
  const Matrix X = random_matrix(100'000, 2);
  write(path("a.csv"), X);
  EXPECT_EQ(read(path("a.csv")), X);
}

TEST_F(CsvTest, AFileThatShrinksWhileItIsReadIsAnIoError) {
  write(path("a.csv"), random_matrix(10, 5000));
  BlockReader reader(path("a.csv"));
  reader.next(1);
  std::filesystem::resize_file(path("a.csv"), 1000);
  expect_says(message_of<IoError>([&] { reader.next(5000); }),
              {"a.csv' became shorter while it was read", "bytes when opened"});
}

TEST_F(CsvTest, HostileTextTakesLittleMemory) {
  // Nothing but gaps: the most columns a byte can make.
  put_bytes(path("a.csv"), std::string(4 << 20, ','));
  put_bytes(path("b.csv"), "1" + std::string(4 << 20, '\n') + "\"");
  const LittleMemory memory(40 << 20);
  expect_says(message_of<FormatError>([&] { read(path("a.csv")); }), {"line 1, column 1"});
  expect_says(message_of<FormatError>([&] { read(path("b.csv")); }), {"line 4194305"});
}

}  // namespace
}  // namespace cgmca
