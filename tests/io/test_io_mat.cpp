#include "io_testing.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <matio.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "io/matlab/mat.hpp"

namespace cgmca {
namespace {

using io::open_mat;
using io::write_mat;

constexpr std::uint64_t always_73 = 0;  // the limit above which the writer takes MATLAB 7.3

struct Put {  // one variable for matio to write
  std::string name;
  enum matio_classes type_class;
  enum matio_types type;
  std::vector<std::size_t> shape;
  void* data;
  int flags = 0;
};

class MatTest : public FolderTest {
 protected:
  void put(const std::string& file, enum mat_ft version, std::vector<Put> variables,
           enum matio_compression compression = MAT_COMPRESSION_NONE) {
    mat_t* mat = Mat_CreateVer(path(file).c_str(), nullptr, version);
    ASSERT_NE(mat, nullptr);
    for (Put& v : variables) {
      matvar_t* variable = Mat_VarCreate(v.name.c_str(), v.type_class, v.type, static_cast<int>(v.shape.size()),
                                         v.shape.data(), v.data, v.flags);
      ASSERT_NE(variable, nullptr);
      ASSERT_EQ(Mat_VarWrite(mat, variable, compression), 0);
      Mat_VarFree(variable);
    }
    Mat_Close(mat);
  }

  std::string refusal(const std::string& file, const std::string& member = "") {
    return message_of<FormatError>([&] { read_all(open_mat, path(file), member); });
  }
};

constexpr std::array<enum mat_ft, 2> both{MAT_FT_MAT5, MAT_FT_MAT73};

TEST_F(MatTest, WhatIsWrittenIsReadBackBitForBit) {
  const Matrix X = random_matrix(7, 130);
  write_mat(path("a.mat"), "X", X);
  write_mat(path("b.mat"), "a_longer_name_1", X.topRows(3), always_73);
  EXPECT_EQ(bytes_of(path("a.mat")).substr(0, 10), "MATLAB 5.0");
  EXPECT_EQ(bytes_of(path("b.mat")).substr(0, 10), "MATLAB 7.3");
  EXPECT_EQ(read_all(open_mat, path("a.mat")), X);
  EXPECT_EQ(read_all(open_mat, path("a.mat"), "X"), X);
  EXPECT_EQ(read_all(open_mat, path("b.mat")), X.topRows(3));
  EXPECT_EQ(files(), 2);
}

TEST_F(MatTest, TheSameMatrixGivesTheSameBytes) {
  const Matrix X = random_matrix(3, 4);
  write_mat(path("a.mat"), "X", X);
  write_mat(path("b.mat"), "X", X);
  EXPECT_EQ(bytes_of(path("a.mat")), bytes_of(path("b.mat")));
}

TEST_F(MatTest, OnlyWhatExceedsTheLimitOfMatlab5IsWrittenAs73) {
  const Matrix X = random_matrix(2, 4);  // 64 bytes
  write_mat(path("a.mat"), "X", X, 64);
  write_mat(path("b.mat"), "X", X, 63);
  EXPECT_EQ(bytes_of(path("a.mat")).substr(0, 10), "MATLAB 5.0");
  EXPECT_EQ(bytes_of(path("b.mat")).substr(0, 10), "MATLAB 7.3");
}

TEST_F(MatTest, NoSamplesAreWrittenAndReadAsNone) {
  for (const std::uint64_t limit : {io::largest_mat5, always_73}) {
    write_mat(path("a.mat"), "X", Matrix(5, 0), limit);
    const auto source = open_mat(path("a.mat"), "", {});
    EXPECT_EQ(source->features(), 5);
    EXPECT_EQ(source->samples(), 0);
  }
}

template <class T>
Matrix as_matrix(const std::vector<T>& numbers, Index rows, Index columns) {
  return Eigen::Map<const Eigen::Matrix<T, -1, -1>>(numbers.data(), rows, columns).template cast<double>().transpose();
}

TEST_F(MatTest, EveryNumericClassIsReadFromBothVersions) {
  const auto check = [&]<class T>(T low, T high, enum matio_classes c, enum matio_types t, int flags = 0) {
    std::vector<T> numbers{low, 0, 1, high, 1, 0};
    for (const auto version : both) {
      for (const auto compression : {MAT_COMPRESSION_NONE, MAT_COMPRESSION_ZLIB}) {
        put("a.mat", version, {{"x", c, t, {3, 2}, numbers.data(), flags}}, compression);
        EXPECT_EQ(read_all(open_mat, path("a.mat")), as_matrix(numbers, 3, 2))
            << "class " << c << " in version " << version;
      }
    }
  };
  check(-1e300, 1e-300, MAT_C_DOUBLE, MAT_T_DOUBLE);
  check(-1e30F, 1e-30F, MAT_C_SINGLE, MAT_T_SINGLE);
  check(std::int8_t{-128}, std::int8_t{127}, MAT_C_INT8, MAT_T_INT8);
  check(std::uint8_t{2}, std::uint8_t{255}, MAT_C_UINT8, MAT_T_UINT8);
  check(std::int16_t{-32768}, std::int16_t{32767}, MAT_C_INT16, MAT_T_INT16);
  check(std::uint16_t{2}, std::uint16_t{65535}, MAT_C_UINT16, MAT_T_UINT16);
  check(std::int32_t{INT32_MIN}, std::int32_t{INT32_MAX}, MAT_C_INT32, MAT_T_INT32);
  check(std::uint32_t{2}, std::uint32_t{UINT32_MAX}, MAT_C_UINT32, MAT_T_UINT32);
  check(std::int64_t{INT64_MIN}, std::int64_t{INT64_MAX}, MAT_C_INT64, MAT_T_INT64);
  check(std::uint64_t{2}, std::uint64_t{UINT64_MAX}, MAT_C_UINT64, MAT_T_UINT64);
  check(std::uint8_t{1}, std::uint8_t{1}, MAT_C_UINT8, MAT_T_UINT8, MAT_F_LOGICAL);
}

// A(s, i, j) = 100 s + 3 i + j for a 2×4×3 array, column-major: as in C, j runs fastest within a
// sample's features.
TEST_F(MatTest, TrailingAxesAreFlattenedInRowMajorOrder) {
  std::vector<double> rows, columns;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i)
      for (int s = 0; s < 2; ++s) rows.push_back(100 * s + 3 * i + j);
  for (int s = 0; s < 2; ++s)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 4; ++i) columns.push_back(100 * s + 3 * i + j);
  for (const auto version : both) {
    put("a.mat", version,
        {{"rows", MAT_C_DOUBLE, MAT_T_DOUBLE, {2, 4, 3}, rows.data()},
         {"columns", MAT_C_DOUBLE, MAT_T_DOUBLE, {4, 3, 2}, columns.data()}});
    EXPECT_EQ(read_all(open_mat, path("a.mat"), "rows"), ramp(12, 2));
    EXPECT_EQ(read_all(open_mat, path("a.mat"), "columns", {.columns = true}), ramp(12, 2));
  }
}

TEST_F(MatTest, BlocksAndSkippingGiveTheSameSamples) {
  const Matrix X = random_matrix(4, 11);
  write_mat(path("a.mat"), "X", X);
  for (const Index block : {1, 3, 11, 20}) {
    EXPECT_EQ(drain(*open_mat(path("a.mat"), "", {}), block), X);
  }
  const auto source = open_mat(path("a.mat"), "", {});
  EXPECT_FALSE(source->streams());
  source->skip(9);
  EXPECT_EQ(source->next(5), X.rightCols(2));
}

TEST_F(MatTest, SeveralVariablesAreListedAndANameMustBeGiven) {
  std::vector<double> x(6);
  std::vector<std::uint8_t> labels(4);
  char note[] = "hi";
  for (const auto version : both) {
    put("a.mat", version,
        {{"Images", MAT_C_DOUBLE, MAT_T_DOUBLE, {2, 3}, x.data()},
         {"labels", MAT_C_UINT8, MAT_T_UINT8, {4, 1}, labels.data()},
         {"note", MAT_C_CHAR, MAT_T_UINT8, {1, 2}, note}});
    expect_says(refusal("a.mat"), {"2 numeric arrays", "Images (double 2×3)", "labels (uint8 4×1)", "a.mat:Images"});
    expect_says(refusal("a.mat", "imagse"), {"holds no 'imagse'", "did you mean 'Images'?", "note (char 1×2)"});
    expect_says(refusal("a.mat", "note"), {"'note'", "text"});
    EXPECT_EQ(read_all(open_mat, path("a.mat"), "labels").cols(), 4);
    put("one.mat", version,
        {{"note", MAT_C_CHAR, MAT_T_UINT8, {1, 2}, note}, {"Images", MAT_C_DOUBLE, MAT_T_DOUBLE, {2, 3}, x.data()}});
    EXPECT_EQ(read_all(open_mat, path("one.mat")).cols(), 2);
  }
}

TEST_F(MatTest, ComplexStructAndCellAreRefusedWithAdvice) {
  std::vector<double> re(2), im(2);
  mat_complex_split_t z{re.data(), im.data()};
  std::vector<mat_uint32_t> ir{0}, jc{0, 1};
  mat_sparse_t sparse{};
  sparse.nzmax = sparse.nir = sparse.ndata = 1;
  sparse.njc = 2;
  sparse.ir = ir.data();
  sparse.jc = jc.data();
  sparse.data = re.data();
  for (const auto version : both) {
    put("a.mat", version,
        {{"z", MAT_C_DOUBLE, MAT_T_DOUBLE, {2, 1}, &z, MAT_F_COMPLEX},
         {"s", MAT_C_SPARSE, MAT_T_DOUBLE, {1, 1}, &sparse}});
    mat_t* mat = Mat_Open(path("a.mat").c_str(), MAT_ACC_RDWR);
    std::array<std::size_t, 2> one{1, 1};
    std::array<const char*, 1> fields{"f"};
    matvar_t* structure = Mat_VarCreateStruct("st", 2, one.data(), fields.data(), 1);
    matvar_t* inner = Mat_VarCreate(nullptr, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, one.data(), re.data(), 0);
    Mat_VarSetStructFieldByName(structure, "f", 0, inner);
    Mat_VarWrite(mat, structure, MAT_COMPRESSION_NONE);
    Mat_VarFree(structure);
    matvar_t* cell = Mat_VarCreate("c", MAT_C_CELL, MAT_T_CELL, 2, one.data(), nullptr, 0);
    Mat_VarSetCell(cell, 0, Mat_VarCreate(nullptr, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, one.data(), re.data(), 0));
    Mat_VarWrite(mat, cell, MAT_COMPRESSION_NONE);
    Mat_VarFree(cell);
    Mat_Close(mat);
    expect_says(refusal("a.mat", "z"), {"'z'", "complex", "--complex", "magnitude, power, or stack"});
    EXPECT_EQ(read_all(open_mat, path("a.mat"), "s"), Matrix::Zero(1, 1));
    expect_says(refusal("a.mat", "st"), {"'st'", "struct", "field", "a.mat:st.f'", "f (double 1×1)"});
    expect_says(refusal("a.mat", "c"), {"'c'", "cell", "cell2mat"});
    expect_says(refusal("a.mat"), {"2 numeric arrays", "z (complex double 2×1)", "s (sparse"});
  }
}

// Nor does a small file take much memory.
TEST_F(MatTest, ASparseMatrixWithoutAPlaceForEachColumnIsRefused) {
  std::vector<double> one{1};
  std::vector<mat_uint32_t> ir{0}, jc{0, 1};
  mat_sparse_t sparse{};
  sparse.nzmax = sparse.nir = sparse.ndata = 1;
  sparse.njc = 2;
  sparse.ir = ir.data();
  sparse.jc = jc.data();
  sparse.data = one.data();
  put("few.mat", MAT_FT_MAT5, {{"s", MAT_C_SPARSE, MAT_T_DOUBLE, {4, 3}, &sparse}});
  expect_says(refusal("few.mat"), {"3 columns", "2 places"});
  put("small.mat", MAT_FT_MAT5, {{"s", MAT_C_SPARSE, MAT_T_DOUBLE, {60'000'000, 1}, &sparse}});
  expect_says(refusal("small.mat"), {"60000000×1", "stores 1 values", "nearly all zeros"});
}

TEST_F(MatTest, AnyTruncationOfAMatlab5FileIsAFormatError) {
  std::vector<double> x(200);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sqrt(static_cast<double>(i));
  for (const auto compression : {MAT_COMPRESSION_NONE, MAT_COMPRESSION_ZLIB}) {
    put("a.mat", MAT_FT_MAT5, {{"x", MAT_C_DOUBLE, MAT_T_DOUBLE, {20, 10}, x.data()}}, compression);
    const std::string good = bytes_of(path("a.mat"));
    for (std::size_t size = 0; size < good.size(); size += 1 + size / 40) {
      put_bytes(path("short.mat"), good.substr(0, size));
      const std::string message = refusal("short.mat");
      if (size > 140) {
        expect_says(message, {"damaged", fmt::format("{} bytes", size), fmt::format("needs {}", good.size())});
      }
    }
  }
}

TEST_F(MatTest, AFlippedBitInACompressedVariableIsAFormatError) {
  std::vector<double> x(200);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sqrt(static_cast<double>(i));
  put("a.mat", MAT_FT_MAT5, {{"x", MAT_C_DOUBLE, MAT_T_DOUBLE, {20, 10}, x.data()}}, MAT_COMPRESSION_ZLIB);
  const std::string good = bytes_of(path("a.mat"));
  for (std::size_t at = 400; at < good.size(); at += 37) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    put_bytes(path("bad.mat"), bad);
    expect_says(refusal("bad.mat"), {"damaged"});
  }
}

// The dimensions of an uncompressed variable stand at byte 128 + 8 + 16 + 8.
TEST_F(MatTest, DimensionsBeyondTheDataAreAFormatError) {
  write_mat(path("a.mat"), "X", ramp(3, 2));
  const std::string good = bytes_of(path("a.mat"));
  for (const std::uint32_t rows : {3U, 1U, 1000U, 0x7fffffffU}) {
    std::string bad = good;
    std::memcpy(bad.data() + 160, &rows, 4);
    put_bytes(path("bad.mat"), bad);
    expect_says(refusal("bad.mat"), {"damaged", fmt::format("{} numbers", std::uint64_t{rows} * 3), "48 bytes"});
  }
}

TEST_F(MatTest, ADamaged73FileIsAFormatErrorWithHdf5sReason) {
  std::vector<double> x(2000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sqrt(static_cast<double>(i));
  put("a.mat", MAT_FT_MAT73, {{"x", MAT_C_DOUBLE, MAT_T_DOUBLE, {20, 100}, x.data()}}, MAT_COMPRESSION_ZLIB);
  const std::string good = bytes_of(path("a.mat"));
  put_bytes(path("short.mat"), good.substr(0, good.size() / 2));
  ::testing::internal::CaptureStderr();
  expect_says(refusal("short.mat"), {"damaged", "truncated file"});
  int noticed = 0;
  for (std::size_t at = 3000; at + 40 < good.size(); at += 400) {
    std::string bad = good;
    for (std::size_t i = at; i < at + 40; ++i) bad[i] = '\x55';
    put_bytes(path("bad.mat"), bad);
    try {
      read_all(open_mat, path("bad.mat"));
    } catch (const FormatError&) {
      ++noticed;
    }
  }
  EXPECT_GE(noticed, 1);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// An array that MATLAB_empty calls empty holds its size instead of numbers; a size that is not
// empty is a lie.
TEST_F(MatTest, AnEmpty73ArrayOfASizeIsAFormatError) {
  write_mat(path("a.mat"), "X", ramp(2, 1), always_73);
  const hid_t file = H5Fopen(path("a.mat").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "X", H5P_DEFAULT);
  const hsize_t two = 2;
  const std::array<std::uint64_t, 2> size{1, 1};
  const hid_t line = H5Screate_simple(1, &two, nullptr), scalar = H5Screate(H5S_SCALAR);
  const hid_t dataset = H5Dcreate2(file, "X", H5T_NATIVE_UINT64, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, size.data());
  H5Aclose(H5Acreate2(dataset, "MATLAB_empty", H5T_NATIVE_UINT8, scalar, H5P_DEFAULT, H5P_DEFAULT));
  H5Dclose(dataset);
  H5Sclose(scalar);
  H5Sclose(line);
  H5Fclose(file);
  expect_says(refusal("a.mat"), {"'X'", "1×1", "2 numbers are stored"});
}

TEST_F(MatTest, OtherFilesAreFormatErrorsThatSayWhatToDo) {
  put_bytes(path("text.mat"), "x,y\n1,2\n");
  expect_says(refusal("text.mat"), {"text.mat' (8 bytes)", "MATLAB 5 or 7.3", "save -v7"});
  put_bytes(path("empty.mat"), "");
  expect_says(refusal("empty.mat"), {"empty.mat' (0 bytes)"});
  put_bytes(path("noise.mat"), std::string(500, '\x7f'));
  expect_says(refusal("noise.mat"), {"noise.mat' (500 bytes)"});
  io::write_hdf5(path("plain.mat"), "X", ramp(2, 2));
  expect_says(refusal("plain.mat"), {"without MATLAB's header", ".h5"});
  put("none.mat", MAT_FT_MAT5, {});
  expect_says(refusal("none.mat"), {"no numeric array", "nothing"});
}

TEST_F(MatTest, NoFeaturesAreAFormatError) {
  write_mat(path("a.mat"), "X", Matrix(0, 4));
  expect_says(refusal("a.mat"), {"4×0", "no features"});
}

TEST_F(MatTest, WhatCannotBeReadIsAnIoError) {
  expect_says(message_of<IoError>([&] { open_mat(path("absent.mat"), "", {}); }), {"absent.mat", "No such file"});
  expect_says(message_of<IoError>([&] { open_mat(folder.string(), "", {}); }), {"Is a directory"});
}

TEST_F(MatTest, AFullDiskLeavesTheOldFileAlone) {
  write_mat(path("a.mat"), "X", ramp(2, 3));
  for (const std::uint64_t limit : {io::largest_mat5, always_73}) {
    {
      const SmallDisk disk(64 << 10);
      expect_says(message_of<IoError>([&] { write_mat(path("a.mat"), "X", random_matrix(300, 300), limit); }),
                  {limit == 0 ? "File too large" : "cannot write 720000 bytes"});
    }
    EXPECT_EQ(read_all(open_mat, path("a.mat")), ramp(2, 3));
    EXPECT_EQ(files(), 1);
  }
}

TEST_F(MatTest, AProcessThatMetAFullDiskExitsAsUsual) {
  EXPECT_EXIT(
      {
        const SmallDisk disk(64 << 10);
        try {
          write_mat(path("a.mat"), "X", random_matrix(300, 300), always_73);
        } catch (const IoError&) {
          std::exit(7);
        }
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(MatTest, ANameMatlabRefusesIsInvalidInput) {
  for (const std::string& name : {std::string(), std::string("1x"), std::string("_x"), std::string("a-b"),
                                  std::string("a b"), std::string("end"), std::string("größe"), std::string(64, 'x')}) {
    expect_says(message_of<InvalidInput>([&] { write_mat(path("a.mat"), name, ramp(1, 1)); }),
                {fmt::format("'{}'", name), "63 characters"});
  }
  EXPECT_EQ(files(), 0);
  write_mat(path("a.mat"), std::string(63, 'x'), ramp(1, 1));
  EXPECT_EQ(read_all(open_mat, path("a.mat"), std::string(63, 'x')), ramp(1, 1));
}

}  // namespace
}  // namespace cgmca
