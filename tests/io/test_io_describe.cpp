// describe_file(): what data files hold, and what other files seem to be.
#include <cgmca/io.hpp>

#include <zlib.h>

#include <limits>

#include "io_testing.hpp"

namespace cgmca {
namespace {

namespace fs = std::filesystem;

using DescribeTest = FolderTest;
using Indices = std::vector<Index>;

Matrix with_two_missing() {
  Matrix X = ramp(3, 5);
  X(0, 1) = X(2, 4) = std::numeric_limits<double>::quiet_NaN();
  return X;
}

const std::vector<std::string> names{"age", "size", "weight"};

TEST_F(DescribeTest, EveryFormatOfSeveralArraysListsThemWithNamesAndMissingValues) {
  const std::vector<std::pair<std::string, std::string>> kinds{
      {"a.npz", "NumPy archive"}, {"a.mat", "MATLAB 5 MAT-file"}, {"a.h5", "HDF5"}};
  for (const auto& [file, format] : kinds) {
    SCOPED_TRACE(file);
    const std::string slash = file == "a.h5" ? "/" : "";
    write(path(file) + ":X", with_two_missing(), {.columns = false, .feature_names = names});
    write(path(file) + ":Y", ramp(2, 7));
    const FileInfo info = describe_file(path(file));
    EXPECT_EQ(info.format, format);
    ASSERT_EQ(info.arrays.size(), 2U);
    EXPECT_EQ(info.arrays[0].name, slash + "X");
    EXPECT_EQ(info.arrays[0].shape, (Indices{5, 3}));
    EXPECT_EQ(info.arrays[0].type, file == "a.mat" ? "double" : "float64");
    EXPECT_EQ(info.arrays[0].feature_names, names);
    EXPECT_EQ(info.arrays[0].missing, 2);
    EXPECT_EQ(info.arrays[1].name, slash + "Y");
    EXPECT_EQ(info.arrays[1].shape, (Indices{7, 2}));
    EXPECT_TRUE(info.arrays[1].feature_names.empty());
    EXPECT_EQ(info.arrays[1].missing, 0);
  }
}

TEST_F(DescribeTest, FormatsOfOneArrayAreDescribed) {
  write(path("a.npy"), with_two_missing());
  FileInfo info = describe_file(path("a.npy"));
  EXPECT_EQ(info.format, "NumPy array");
  EXPECT_EQ(info.arrays.at(0).shape, (Indices{5, 3}));
  EXPECT_EQ(info.arrays.at(0).type, "float64");
  EXPECT_EQ(info.arrays.at(0).missing, 2);

  put_bytes(path("a.csv"), "age;size;weight\n1;2;nan\n4;5;6\n");
  info = describe_file(path("a.csv"));
  EXPECT_EQ(info.format, "CSV, separated by ';'");
  EXPECT_EQ(info.arrays.at(0).shape, (Indices{2, 3}));
  EXPECT_EQ(info.arrays.at(0).feature_names, names);
  EXPECT_EQ(info.arrays.at(0).missing, 1);
  put_bytes(path("id.csv"), "who,age,size,weight\nAnn,1,2,\nBob,4,NA,6\n");
  info = describe_file(path("id.csv"));
  EXPECT_EQ(info.arrays.at(0).type, "text, after a column that names the samples");
  EXPECT_EQ(info.arrays.at(0).shape, (Indices{2, 3}));
  EXPECT_EQ(info.arrays.at(0).feature_names, names);
  EXPECT_EQ(info.arrays.at(0).missing, 2);
  put_bytes(path("words.csv"), "a,b\n1,x\n");
  expect_says(message_of<FormatError>([&] { describe_file(path("words.csv")); }), {"line 2", "'x'"});
  write(path("a.tsv"), ramp(2, 3));
  EXPECT_EQ(describe_file(path("a.tsv")).format, "CSV, separated by tabs");

  put_bytes(path("labels-idx1-ubyte"), std::string("\0\0\x08\1\0\0\0\1\7", 9));
  info = describe_file(path("labels-idx1-ubyte"));
  EXPECT_EQ(info.format, "IDX");
  EXPECT_EQ(info.arrays.at(0).shape, (Indices{1}));
  EXPECT_EQ(info.arrays.at(0).type, "uint8");
  EXPECT_EQ(info.arrays.at(0).missing, 0);
}

TEST_F(DescribeTest, FilesOfOtherProgramsAreDescribed) {
  for (const char* file : {"octave_v6.mat", "octave_v7.mat", "matlab73.mat"}) {
    SCOPED_TRACE(file);
    const FileInfo info = describe_file(fixture(file));
    const auto find = [&](const std::string& name) -> const ArrayInfo& {
      for (const ArrayInfo& array : info.arrays)
        if (array.name == name) return array;
      throw std::runtime_error("no " + name);
    };
    EXPECT_EQ(find("rows").shape, (Indices{2, 4, 3}));
    EXPECT_EQ(find("rows").feature_names.size(), 12U);
    EXPECT_EQ(find("u2").type, "uint16");
    EXPECT_EQ(find("z").type, "complex double");
    EXPECT_FALSE(find("z").missing.has_value());
    EXPECT_EQ(find("zs").type, "complex single");
    EXPECT_EQ(find("st.deep.z").type, "complex double");
    EXPECT_EQ(find("spl").type, "sparse logical");
    EXPECT_EQ(find("spl").shape, (Indices{2, 2}));
    EXPECT_EQ(find("spz").type, "sparse complex double");
    EXPECT_EQ(find("note").type, "char");
    EXPECT_EQ(find("ce").type, "cell");
    expect_says(find("many").type, {"struct", "an array of 1×3 structs"});
    EXPECT_EQ(find("none").shape, (Indices{0, 5}));
    EXPECT_THROW(find("rows_features"), std::runtime_error);
  }
  const FileInfo info = describe_file(fixture("h5py.h5"));
  for (const ArrayInfo& array : info.arrays) {
    if (array.name == "/lzf") expect_says(array.type, {"float64", "cannot be read", "filter"});
    if (array.name == "/z8") {
      EXPECT_EQ(array.type, "complex64");
    } else if (array.name == "/little/f4") {
      EXPECT_EQ(array.missing, 0);
    }
  }
}

TEST_F(DescribeTest, AFolderOfImagesIsDescribed) {
  fs::create_directory(path("images"));
  const fs::path seed = *fs::directory_iterator(testing::in_repository("fuzz/corpus/png"));
  for (const char* name : {"a.png", "b.png", "c.png"}) fs::copy_file(seed, folder / "images" / name);
  const FileInfo info = describe_file(path("images"));
  expect_says(info.format, {"folder of 3 PNG images, "});
  EXPECT_EQ(info.arrays.at(0).shape.at(0), 3);
  EXPECT_EQ(info.arrays.at(0).missing, 0);
  fs::create_directory(path("empty"));
  expect_says(message_of<FormatError>([&] { describe_file(path("empty")); }), {"holds no PNG images"});
}

std::string gzipped(const std::string& contents) {
  std::string out(contents.size() + 200, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string in = contents;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST_F(DescribeTest, AnyOtherFileIsAFormatErrorThatSaysWhatItSeemsToBe) {
  using namespace std::string_literals;
  const std::vector<std::pair<std::string, std::string>> kinds{
      {"", "empty"},
      {"%PDF-1.7\n", "a PDF document"},
      {"# Created by Octave 7.3.0\n# name: X1\n", "text of Octave; save it again with save -v7"},
      {"Octave-1-L\0\2\0\0\0X1"s, "data of Octave; save them again with save -v7"},
      {"\x89PNG\r\n\x1a\n", "one PNG image; give a folder"},
      {"\xff\xd8\xff\xe0", "a JPEG image"},
      {"II*\0"s, "a TIFF image"},
      {"PK\3\4\x14\0..xl/workbook.xml"s, "an Excel workbook (.xlsx)"},
      {"PK\3\4\x14\0..readme.txt"s, "a ZIP archive"},
      {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook (.xls)"},
      {"PAR1\x15\4"s, "a Parquet table"},
      {"ARROW1\0\0"s, "an Arrow (Feather) table"},
      {"\x80\4\x95"s, "a Python pickle"},
      {"RDX3\nX\n\0\0\0\3"s, "R data (.RData)"},
      {gzipped("X\n\0\0\0\3"s), "an R object (.rds)"},
      {gzipped("RDX3\nX\n"), "R data (.RData)"},
      {gzipped("a,b\n1,2\n"), "text compressed by gzip"},
      {"SQLite format 3\0"s, "an SQLite database"},
      {"\x7f"s + "ELF\2\1\1", "a program or library (ELF)"},
      {"dear reader\n", "plain text without numbers"},
      {"1 2 3\n4 5 6\n", "plain text; name it .csv"},
      {"{\"x\": [1, 2]}", "JSON text"},
      {"\1\2\3\4\5\6\7\x10\x11", "binary, of a kind that is not known"},
  };
  for (const std::string name : {"thing", "thing.csv", "thing.npz", "thing.mat", "thing.h5", "thing.gz"}) {
    for (const auto& [bytes, what] : kinds) {
      const bool text = what.starts_with("plain text") || what.starts_with("JSON") || what.starts_with("text");
      const bool own = (text && name == "thing.csv") || what.starts_with("a ZIP") || what.starts_with("binary");
      if (own && name != "thing") continue;  // its format has the better word
      put_bytes(path(name), bytes);
      const std::string message = message_of<FormatError>([&] { describe_file(path(name)); });
      if (what.starts_with("a ZIP")) {
        expect_says(message, {"is not an NPZ archive"});
      } else {
        expect_says(message, {name + "'", " seems to be ", what});
      }
    }
  }
  put_bytes(path("notes"), "dear reader\n");
  for (const auto& what : {"not in a format that can be read", ".npy", "folder of PNG"})
    expect_says(message_of<FormatError>([&] { read(path("notes")); }), {what});
  put_bytes(path("table.xlsx"), "PK\3\4\x14\0..xl/workbook.xml"s);
  expect_says(message_of<FormatError>([&] { read(path("table.xlsx")); }), {"an Excel workbook (.xlsx)", "CSV"});
}

TEST_F(DescribeTest, ModelsAndSummariesOfOursAreNamed) {
  using namespace std::string_literals;
  const auto safetensors = [](const std::string& format) {
    const std::string header = "{\"__metadata__\":{\"format\":\"" + format + "\",\"version\":\"1\"}}";
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size());
    return length + header;
  };
  put_bytes(path("m"), safetensors("cgmca-model"));
  expect_says(message_of<FormatError>([&] { describe_file(path("m")); }), {"a model of cgmca", "cgmca info"});
  put_bytes(path("s"), safetensors("cgmca-summary"));
  expect_says(message_of<FormatError>([&] { describe_file(path("s")); }), {"a summary of cgmca"});
  put_bytes(path("t"), safetensors("pt"));
  expect_says(message_of<FormatError>([&] { describe_file(path("t")); }), {"a safetensors file"});
}

TEST_F(DescribeTest, AnAbsentFileIsAnIoError) {
  for (const char* name : {"a.npy", "a.mat", "a.h5", "a"}) EXPECT_THROW(describe_file(path(name)), IoError) << name;
}

}  // namespace
}  // namespace cgmca
