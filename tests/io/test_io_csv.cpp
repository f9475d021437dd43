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
  const Matrix X = read_text("1,,3\n1,2,3\n");
  EXPECT_EQ(X.cols(), 2);
  EXPECT_TRUE(std::isnan(X(1, 0)));
  EXPECT_EQ(read_text("NA,2\n3,4\n").cols(), 2);
  EXPECT_EQ(read_text("2019,2020\n3,4\n").cols(), 2);
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
  expect_says(refusal("1\n1,2\n", "a.tsv"), {"line 2, column 1: '1,2' is not a number"});
}

TEST_F(CsvTest, ABadFieldIsNamedByLineAndColumn) {
  expect_says(refusal("1,2\n3,x7\n"),
              {"a.csv', line 2, column 2: 'x7' is not a number; if its column names the samples", "--id"});
  expect_says(refusal("a,b\n\n\r\n1,2\n0x10,2\n"), {"line 5, column 'a': '0x10' is not a number"});
  expect_says(refusal("\"a\n\n\",b\n1,2\n1;2,2\n"), {"line 5, column 'a': '1;2' is not a number"});
  expect_says(refusal("1,2\n3,1e999\n"), {"line 2, column 2: '1e999' is too large for a double"});
  expect_says(refusal("1,2\n3,1 2\n"), {"line 2, column 2: '1 2' is not a number"});
  expect_says(refusal("1,2\n3,+-2\n"), {"line 2, column 2: '+-2' is not a number"});
  expect_says(refusal("1,2\n3,\"1\"2\n"), {"line 2, column 2", "is not a number"});
  expect_says(refusal("1,2\n3,\x1b[2J\n"), {"'\\x1b[2J' is not a number"});
  expect_says(refusal("1,2\n3," + std::string(1000, 'x')), {std::string(60, 'x') + "…' is no"});
  expect_says(refusal("1,2\n3,höhe \xc2\x9b 日本\n"), {"'höhe \\xc2\\x9b 日本' is not a number"});
  expect_says(refusal("1,2\n3,h\xf6he\n"), {"'h\\xf6he' is not a number"});
  expect_says(refusal("1,2\n3," + std::string(59, 'x') + "日本\n"), {std::string(59, 'x') + "…' is no"});
  expect_says(refusal("mass [kg],\"a, b\"\n1,2\n3,?\n"), {"line 3, column 'a, b': '?' is not a number"});
  expect_says(refusal("name,a\nanna,2\n"),
              {"line 2, column 'name': 'anna' is not a number", "as the ID column (--id)"});
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
  expect_says(refusal(",,,\n,,,\n"), {"no line of numbers"});
  expect_says(refusal(std::string("1\0,\0", 4)), {"zero bytes", "UTF-16 without a byte order mark; save it as UTF-8"});
}

TEST_F(CsvTest, MissingCellsAreNotANumber) {
  for (const std::string gap :
       {"", " ", "\"\"", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "\"NA\"", " NA "}) {
    const Matrix X = read_text("a,b,c\n1,2,3\n" + gap + ",4,\n5," + gap + ",6\n");
    ASSERT_EQ(X.cols(), 3) << gap;
    EXPECT_TRUE(std::isnan(X(0, 1)) && std::isnan(X(2, 1)) && std::isnan(X(1, 2))) << gap;
    EXPECT_EQ(X.array().isNaN().count(), 3) << gap;
    EXPECT_EQ(X.array().isNaN().select(0.0, X).sum(), 21) << gap;
  }
  for (const std::string text : {"-", "?", ".", "n.a.", "missing", "NAN0", "#DIV/0!", "NA NA"})
    expect_says(refusal("a,b\n1,2\n3," + text + "\n"), {"line 3, column 'b': '" + text + "' is not a number"});
  EXPECT_TRUE(read_text("1\n\"\"\n3\n").col(1).array().isNaN().all());  // pandas' gap in a single column
}

// The IDs of the whole file, where it is read in blocks of two.
std::vector<std::string> ids_of(const std::string& source, const std::string& id) {
  std::vector<std::string> all;
  BlockReader reader(source, {.id = id});
  for (Matrix X = reader.next(2); X.cols() > 0; X = reader.next(2)) {
    EXPECT_EQ(reader.ids().size(), static_cast<std::size_t>(X.cols()));
    all.insert(all.end(), reader.ids().begin(), reader.ids().end());
  }
  EXPECT_TRUE(reader.ids().empty());
  return all;
}

TEST_F(CsvTest, AColumnMayNameTheSamples) {
  using Names = std::vector<std::string>;
  const Names ids = {"007", "a, \"b\"", "höhe 2.50"};
  put_bytes(path("a.csv"), "x,subject,y [mm]\n1, 007 ,2\n3,\"a, \"\"b\"\"\",4.5\n-6,h\xf6he 2.50,7\n");
  for (const char* id : {"subject", "2"}) {
    EXPECT_EQ(ids_of(path("a.csv"), id), ids);
    EXPECT_EQ(read(path("a.csv"), {.id = id}), three);
    EXPECT_EQ(BlockReader(path("a.csv"), {.id = id}).feature_names(), (Names{"x", "y [mm]"}));
    EXPECT_EQ(BlockReader(path("a.csv"), {.id = id}).features(), 2);
  }
  BlockReader reader(path("a.csv"), {.id = "subject"});
  reader.skip(1);
  reader.next(1);
  EXPECT_EQ(reader.ids(), Names{ids[1]});

  // Without a header, and one that has no name for the IDs, as pandas writes it.
  put_bytes(path("a.csv"), "p1;1;2\np2;3;4,5\np3;-6;7\n");
  EXPECT_EQ(ids_of(path("a.csv"), "1"), (Names{"p1", "p2", "p3"}));
  EXPECT_EQ(read(path("a.csv"), {.id = "1"}).rightCols(2), three.rightCols(2));
  put_bytes(path("a.csv"), ",2019,2020\n0,1,2\n1,3,4.5\n2,-6,7\n");
  EXPECT_EQ(ids_of(path("a.csv"), "1"), (Names{"0", "1", "2"}));
  EXPECT_EQ(BlockReader(path("a.csv"), {.id = "1"}).feature_names(), (Names{"2019", "2020"}));
}

TEST_F(CsvTest, NumbersBesideTheIdColumnAreAHeaderOnlyIfThatIsCertain) {
  const auto names = [&](const std::string& text, const std::string& id) {
    put_bytes(path("a.csv"), text);
    return BlockReader(path("a.csv"), {.id = id}).feature_names();
  };
  const std::vector<std::string> years = {"2019", "2020"};
  EXPECT_EQ(names("id,2019,2020\np1,3,4\n", "1"), years);
  EXPECT_EQ(names("name,2019,2020\nanna,3,4\n", "name"), years);
  EXPECT_TRUE(names("p0,2019,2020\np1,3,4\n", "1").empty());
  EXPECT_TRUE(names("anna,2019.5,2020\nbob,3,4\n", "1").empty());
  EXPECT_TRUE(names("7,2019,2020\n8,3,4\n", "1").empty());
  expect_says(message_of<FormatError>([&] { names("name,2019,2020\nanna,3,4\n", "1"); }),
              {"a.csv': its first line may be a header or a sample", "by its header, 'name'"});
}

TEST_F(CsvTest, AFirstColumnWithoutANameNamesTheSamplesIfItCan) {
  using Names = std::vector<std::string>;
  const auto open = [&](const std::string& text, const std::string& id = "") {
    put_bytes(path("a.csv"), text);
    return BlockReader(path("a.csv"), {.id = id});
  };
  // As R's write.csv and pandas' to_csv write row numbers, names and filtered numbers.
  for (const std::string text :
       {"\"\",\"x\",\"y\"\n\"1\",1,2\n\"2\",3,4.5\n\"3\",-6,7\n", ",x,y\n0,1,2\n1,3,4.5\n2,-6,7\n",
        ",x,y\n7,1,2\n2,3,4.5\n30,-6,7\n", ",x,y\nMazda RX4,1,2\nDatsun,3,4.5\nHornet,-6,7\n",
        "\"\";\"x\";\"y\"\n\"1\";1;2\n\"2\";3;4,5\n\"3\";-6;7\n"}) {
    EXPECT_EQ(read_text(text), three) << text;
    BlockReader reader = open(text);
    EXPECT_EQ(reader.feature_names(), (Names{"x", "y"}));
    ASSERT_EQ(reader.notes().size(), 1);
    expect_says(reader.notes()[0],
                {"the first column has no name (", "samples' names, not for a feature", "--id none"});
    EXPECT_EQ(reader.next(9), three);
    EXPECT_EQ(reader.ids().size(), 3);
    expect_says(reader.place(1, 0), {"line 3, column 'x'"});
  }
  // Whatever its form, with 'none' it is a feature.
  BlockReader all = open(",x\n0,1\n1,3\n", "none");
  EXPECT_EQ(all.next(9), (Matrix(2, 2) << 0, 1, 1, 3).finished());
  EXPECT_TRUE(all.notes().empty());
  EXPECT_EQ(read_text(",s1,s2\nx,1,3\ny,2,4\n", "a.csv", {.columns = true}), (Matrix(2, 2) << 1, 3, 2, 4).finished());
  EXPECT_EQ(read_text("1,2\n", "a.csv", {.columns = true, .id = "none"}).rows(), 1);
  // Measured numbers, repeated ones and gaps name nothing; nor does a column with a name.
  for (const std::string text :
       {",x\n0.5,1\n1.5,2\n", ",x\n1,1\n1,2\n", ",x\n-1,1\n2,2\n", ",x\n1,1\n,2\n", "n,x\n1,1\n2,2\n"}) {
    EXPECT_EQ(open(text).features(), 2) << text;
    EXPECT_TRUE(open(text).notes().empty()) << text;
  }
}

TEST_F(CsvTest, AFirstLineWithABlankFirstCellIsAHeader) {
  put_bytes(path("a.csv"), ",1100,1102.5\ns1,1,2\ns2,3,4.5\ns3,-6,7\n");
  EXPECT_EQ(read(path("a.csv")), three);
  EXPECT_EQ(BlockReader(path("a.csv")).feature_names(), (std::vector<std::string>{"1100", "1102.5"}));
  EXPECT_EQ(read(path("a.csv"), {.id = "1"}), three);
  put_bytes(path("a.csv"), ",1100,1102\n0.5,1,2\n0.7,3,4.5\n");  // says what to write if it is a sample
  EXPECT_EQ(read(path("a.csv")).cols(), 2);
  expect_says(BlockReader(path("a.csv")).notes().at(0), {"first line is taken for a header", "write NaN"});
  EXPECT_EQ(read_text("NaN,1100,1102\n0.5,1,2\n0.7,3,4.5\n").cols(), 3);
}

TEST_F(CsvTest, TextAboveIdsIsAHeaderWhateverIsBesideIt) {
  const auto names = [&](const std::string& text) {
    put_bytes(path("a.csv"), text);
    return BlockReader(path("a.csv"), {.id = "1"}).feature_names();
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("sample,1102.5,1100\n17,1,2\n18,3,4\n"), (Names{"1102.5", "1100"}));
  EXPECT_EQ(names("sample,9.5,9,8.5,8,7.5\ns1,1,2,3,4,5\n"), (Names{"9.5", "9", "8.5", "8", "7.5"}));
}

TEST_F(CsvTest, AnIdColumnThatIsNotThereIsRefusedWithThoseThatAre) {
  const auto refused = [&](const std::string& text, const std::string& id) {
    return message_of<FormatError>([&] { read_text(text, "a.csv", {.id = id}); });
  };
  expect_says(
      refused("subject,x,y\np1,2,3\n", "subjekt"),
      {"a.csv' has no column 'subjekt' for the IDs, did you mean 'subject'? Its columns are 'subject', 'x', 'y'"});
  expect_says(refused("1,2\n3,4\n", "subject"), {"no column 'subject'", "no header", "number, 1 to 2"});
  expect_says(refused("s,x,y\np1,2,3\n", "4"), {"no column '4' for the IDs; give a number from 1 to 3, or a name"});
  expect_says(refused("s,x,y\np1,2,3\n", "0"), {"no column '0'"});
  expect_says(refused("s,x,s\np1,2,3\n", "s"), {"2 columns named 's'", "1 to 3"});
  expect_says(refused("s\np1\n", "s"), {"has only the column of the IDs"});
  expect_says(refused("s,x\np1,2\n\n ,3\n", "s"), {"line 4, column 's': the ID is missing"});
  expect_says(refused("s,x\np1,2\np2,b\n", "s"), {"line 3, column 'x': 'b' is not a number"});
  expect_says(message_of<InvalidInput>([&] { read_text("s,x\np1,2\n", "a.csv", {.columns = true, .id = "s"}); }),
              {"a.csv' cannot have an ID column 's'", "IDs need samples as rows"});
}

TEST_F(CsvTest, APlaceIsToldAsAnEditorShowsIt) {
  put_bytes(path("a.csv"), "\n\"a\nb\",id,c\r\n\r\n1,\"p\n1\",2\r\n3,p2,4\r\n\r\n5,p3,6\r\n7,p4,8\r\n");
  const std::vector<int> lines = {5, 7, 9, 10};
  for (const Index block : {1, 2, 3, 100}) {
    BlockReader reader(path("a.csv"), {.id = "id"});
    for (Index samples = 0; reader.next(block).cols() > 0;)
      for (samples = reader.position(); const Index sample : {Index{0}, samples / 2, samples - 1})
        EXPECT_EQ(reader.place(sample, 1), "line " + std::to_string(lines[sample]) + ", column 'c'");
    EXPECT_EQ(reader.place(0, 0), "line 5, column 'a\\x0ab'");
  }
  // By number where there are no names, or none that tell columns apart. The ID column counts.
  put_bytes(path("b.csv"), "p1,2\np2,\n");
  EXPECT_EQ(BlockReader(path("b.csv"), {.id = "1"}).place(1, 0), "line 2, column 2");
  put_bytes(path("c.csv"), "x,x,s\n1,2,p1\n");
  EXPECT_EQ(BlockReader(path("c.csv"), {.id = "s"}).place(0, 1), "line 2, column 2");
  // Samples that are columns.
  put_bytes(path("d.csv"), "s1,s2,s3\n1,2,3\n\n4,5,6\n");
  EXPECT_EQ(BlockReader(path("d.csv"), {.columns = true}).place(2, 1), "line 4, column 's3'");
}

TEST_F(CsvTest, DecimalCommasAreReadBetweenSemicolonsOrTabs) {
  EXPECT_EQ(read_text("1;2\n3;4,5\n-6;7\n"), three);
  EXPECT_EQ(read_text("1,0;2,0\n3,0;4,5\n-6,0;7,0\n"), three);
  EXPECT_EQ(read_text("a;b\r\n1,0;2,\r\n\"3,0\";4,5e0\r\n-,6e1;7\r\n"), three);
  EXPECT_EQ(read_text("Masse, kg;Länge, m\n1,0;2,0\n3,0;4,5\n-6,0;7,0\n"), three);
  EXPECT_EQ(read_text("1,0\t2,0\n3,0\t4,5\n-6,0\t7,0\n"), three);
  EXPECT_EQ(read_text("a\tb\n1,0\t2,0\n3,0\t4,5\n-6,0\t7,0\n", "a.tsv"), three);
  EXPECT_EQ(read_text("1,5;2,5\n"), (Matrix(2, 1) << 1.5, 2.5).finished());
  EXPECT_EQ(read_text("1,5;\n2,5;\n"), (Matrix(1, 2) << 1.5, 2.5).finished());
  EXPECT_EQ(read_text("1,5;NA\n;2,5\n").array().isNaN().count(), 2);
  const Matrix X = read_text("p1,a;1,5;2\np2,b;2,5;3\n", "a.csv", {.id = "1"});
  EXPECT_EQ(X, (Matrix(2, 2) << 1.5, 2.5, 2, 3).finished());
}

TEST_F(CsvTest, CommasThatMayDivideFieldsAreNoDecimalMarks) {
  EXPECT_EQ(read_text("1,5\n2,7\n").rows(), 2);
  EXPECT_EQ(read_text("1,5,2,7\n").rows(), 4);
  expect_says(refusal("\"1,5\",2\n3,4\n"),
              {"line 1, column 1: '1,5' is not a number: decimal commas need semicolons or tabs"});
  expect_says(refusal("1,5\n2,7\n", "a.tsv"), {"line 1, column 1: '1,5' is not a number"});
  expect_says(refusal("1;2\n3,4;5,6;7\n"), {"line 2: it has 3 columns, but line 1 has 2"});
}

TEST_F(CsvTest, OneFileHasOneDecimalMark) {
  expect_says(refusal("1.5;2\n3;4,5\n"), {"line 2, column 2: '4,5' has a comma, but line 1 has a decimal point"});
  expect_says(refusal("a;b\n1;2\n3,5;2\n3;4.5\n"),
              {"line 4, column 'b': '4.5' has a point, but line 3 has a decimal comma", "one decimal mark"});
  // What is skipped counts too, so that a job that goes on reads the same.
  put_bytes(path("a.csv"), "1.5;2\n3;4,500\n");
  BlockReader reader(path("a.csv"));
  reader.skip(1);
  expect_says(message_of<FormatError>([&] { reader.next(1); }), {"'4,500' has a comma, but line 1"});
}

TEST_F(CsvTest, ThousandsSeparatorsAreRefused) {
  for (const std::string number : {"1,234,567", "1.234,5", "1,234.5", "1'234.5", "1 234,5",
                                   "-12\xc2\xa0"
                                   "345"}) {
    expect_says(refusal("1;2\n3;" + number + "\n"), {"line 2, column 2", "thousands separators are not read"});
    expect_says(refusal(number + ";1\n3;4\n"), {"line 1, column 1", "thousands separators are not read"});
  }
  expect_says(refusal("1,2\n3,\"1,234.5\"\n"), {"line 2, column 2", "thousands separators are not read"});
  expect_says(refusal("1,2\n3,\"1,234\"\n"), {"line 2, column 2: '1,234' is not a number"});
}

// As Excel saves "Unicode text": UTF-16 with a byte order mark.
std::string utf16(const std::u16string& text, bool big_endian) {
  std::string bytes = big_endian ? "\xfe\xff" : "\xff\xfe";
  for (const char16_t unit : text) {
    const char upper = static_cast<char>(unit >> 8), lower = static_cast<char>(unit & 0xff);
    bytes += {big_endian ? upper : lower, big_endian ? lower : upper};
  }
  return bytes;
}

TEST_F(CsvTest, Utf16IsReadByItsByteOrderMark) {
  const std::u16string text = u"größe €\t\U0001f600\tid\r\n1\t2\tä\r\n\r\n3\t4,5\t\"日本\"\r\n-6\t7\tz\r\n";
  for (const bool big_endian : {false, true}) {
    EXPECT_EQ(read_text(utf16(text, big_endian), "a.csv", {.id = "id"}), three);
    BlockReader reader(path("a.csv"), {.id = "id"});
    EXPECT_EQ(reader.feature_names(), (std::vector<std::string>{"größe €", "😀"}));
    EXPECT_EQ(ids_of(path("a.csv"), "id"), (std::vector<std::string>{"ä", "日本", "z"}));
    EXPECT_EQ(reader.next(1).cols() + reader.next(2).cols(), 3);
    EXPECT_EQ(reader.place(0, 1), "line 2, column '😀'");
    EXPECT_EQ(reader.place(2, 0), "line 5, column 'größe €'");
  }
  // Longer than the pieces in which it is converted, and with characters of every length.
  std::u16string lines;
  for (int i = 0; i < 20000; ++i) lines += i % 3 == 0 ? u"\U0001f600,1.,2\n" : i % 3 == 1 ? u"é€,3,4.5\n" : u"a,-6,7\n";
  const Matrix X = read_text(utf16(lines, false), "a.csv", {.id = "1"});
  ASSERT_EQ(X.cols(), 20000);
  for (Index s = 0; s < X.cols(); ++s) ASSERT_EQ(X.col(s), three.col(s % 3)) << s;

  const std::string whole = utf16(u"1,2\n", false);
  for (const std::string& broken : {whole + "3", utf16(u"1,\xd83d", true), utf16(u"1,\xde00\n", true),
                                    utf16(u"1,\xd83d"
                                          "2\n",
                                          true)})
    expect_says(refusal(broken), {"a.csv' holds invalid UTF-16"});
}

TEST_F(CsvTest, LinesMayEndInCarriageReturnsAlone) {
  EXPECT_EQ(read_text("a,b\r1,2\r3,4.5\r\r-6,7\r"), three);
  EXPECT_EQ(BlockReader(path("a.csv")).place(2, 0), "line 5, column 'a'");
  expect_says(refusal("a,b\r1,2\r3,x\r"), {"line 3, column 'b': 'x' is not a number"});
  EXPECT_EQ(read_text("1,2\r\r\n3,4.5\r\r\n-6,7\r\r\n"), three);
  // A CR at the end of the first piece of the file is that of a CRLF.
  std::string long_line = "1";
  while (long_line.size() < (1 << 18) - 2) long_line += ",1";
  long_line += long_line.size() % 2 == 0 ? "1\r" : "\r";
  ASSERT_EQ(long_line.size(), std::size_t{1} << 18);
  EXPECT_EQ(read_text(long_line + "\n" + long_line + "\n").cols(), 2);
}

TEST_F(CsvTest, SeparatorsAtTheEndOfLinesMakeNoColumn) {
  EXPECT_EQ(read_text("1,2,\n3,4.5,\n-6,7,\n"), three);
  EXPECT_EQ(read_text("a;b;;\n1;2;;\n3;4.5\n-6;7;\n"), three);
  EXPECT_EQ(BlockReader(path("a.csv")).feature_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read_text("a,b\n1,2,\n3,4.5, \n-6,7,\n"), three);
  // A named column, or one that has a value soon, is one.
  EXPECT_EQ(read_text("a,b,c\n1,2,\n3,4,\n").rows(), 3);
  EXPECT_EQ(read_text("1,2,\n3,4,\n5,6,7\n").rows(), 3);
  std::string late;
  for (int i = 0; i < 200; ++i) late += "1,2,\n";
  expect_says(refusal(late + "3,4,5\n"),
              {"line 201: it has 3 columns, but line 1 has 2, its empty last fields not counted"});
  expect_says(refusal("a,b,\n1,2,\n1\n"), {"line 3: it has 1 columns, but line 1 has 2"});
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
  expect_says(message_of<InvalidInput>([&] { reader.skip(3); }), {"cannot skip 3 samples", "2 of its 3 are left"});
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
  expect_says(message_of<FormatError>([&] { read(path("a.csv")); }), {"no line of numbers"});
  expect_says(message_of<FormatError>([&] { read(path("b.csv")); }), {"line 4194305"});
}

}  // namespace
}  // namespace cgmca
