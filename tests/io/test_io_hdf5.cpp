#include "io_testing.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <complex>
#include <cstdint>
#include <numeric>
#include <thread>

namespace cgmca {
namespace {

using io::open_hdf5;
using io::write_hdf5;

class Hdf5Test : public FolderTest {
 protected:
  // Writes `numbers` (of native type `memory`) as a dataset of type `type`; chunks compressed by
  // gzip where `chunk` is given.
  template <class T>
  void put(const std::string& file, const std::string& name, hid_t type, hid_t memory,
           const std::vector<hsize_t>& shape, const std::vector<T>& numbers, const std::vector<hsize_t>& chunk = {}) {
    const std::string full = path(file);
    const hid_t id = std::filesystem::exists(full) ? H5Fopen(full.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)
                                                   : H5Fcreate(full.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t link = H5Pcreate(H5P_LINK_CREATE), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(link, 1);
    if (!chunk.empty()) {
      H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
      H5Pset_shuffle(creation);
      H5Pset_deflate(creation, 6);
    }
    const hid_t dataset = H5Dcreate2(id, name.c_str(), type, space, link, creation, H5P_DEFAULT);
    ASSERT_GE(dataset, 0);
    ASSERT_GE(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), 0);
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Pclose(link);
    H5Sclose(space);
    H5Fclose(id);
  }

  std::string refusal(const std::string& file, const std::string& member = "", const ReadOptions& options = {}) {
    return message_of<FormatError>([&] { read_all(open_hdf5, path(file), member, options); });
  }
};

TEST_F(Hdf5Test, WhatIsWrittenIsReadBackBitForBit) {
  const Matrix X = random_matrix(7, 33);
  write_hdf5(path("a.h5"), "/deep/er/X", X);
  EXPECT_EQ(read_all(open_hdf5, path("a.h5")), X);
  EXPECT_EQ(read_all(open_hdf5, path("a.h5"), "/deep/er/X"), X);
  EXPECT_EQ(read_all(open_hdf5, path("a.h5"), "deep/er/X"), X);
  EXPECT_EQ(files(), 1);
}

// x(s, i, j) = 100 s + 3 i + j of Octave is 3×4×2 in the file, and the group of x has an attribute.
TEST_F(Hdf5Test, OctavesArraysOfThreeAxesAreReadLikeThoseOfMat) {
  std::vector<double> numbers;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i)
      for (int s = 0; s < 2; ++s) numbers.push_back(100.0 * s + 3 * i + j);
  put("a.h5", "/x/value", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {3, 4, 2}, numbers);
  const Matrix before = read_all(open_hdf5, path("a.h5"));
  const hid_t file = H5Fopen(path("a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t group = H5Gopen2(file, "/x", H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
  H5Aclose(H5Acreate2(group, "OCTAVE_NEW_FORMAT", H5T_NATIVE_UCHAR, space, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  H5Gclose(group);
  H5Fclose(file);
  EXPECT_EQ(before.rows(), 8);
  EXPECT_EQ(read_all(open_hdf5, path("a.h5"), "x"), ramp(12, 2));
  EXPECT_EQ(read_all(open_hdf5, path("a.h5"), "x", {.columns = true}).rows(), 8);
  EXPECT_EQ(read_all(open_hdf5, path("a.h5"), "x", {.columns = true})(1, 0), 3);  // x(1, 2, 1)
  EXPECT_EQ(describe_file(path("a.h5")).arrays.at(0).shape, (std::vector<Index>{2, 4, 3}));
}

TEST_F(Hdf5Test, APartOfALargerMatrixIsWrittenWithoutItsSurroundings) {
  const Matrix X = random_matrix(9, 12);
  write_hdf5(path("a.h5"), "X", X.block(2, 3, 4, 5));
  EXPECT_EQ(read_all(open_hdf5, path("a.h5")), X.block(2, 3, 4, 5));
}

TEST_F(Hdf5Test, TheSameMatrixGivesTheSameBytes) {
  const Matrix X = random_matrix(3, 4);
  write_hdf5(path("a.h5"), "X", X);
  write_hdf5(path("b.h5"), "X", X);
  EXPECT_EQ(bytes_of(path("a.h5")), bytes_of(path("b.h5")));
}

TEST_F(Hdf5Test, NoSamplesAreWrittenAndReadAsNone) {
  write_hdf5(path("a.h5"), "X", Matrix(5, 0));
  const auto source = open_hdf5(path("a.h5"), "", {});
  EXPECT_EQ(source->features(), 5);
  EXPECT_EQ(source->samples(), 0);
  EXPECT_EQ(source->next(10).cols(), 0);
}

TEST_F(Hdf5Test, EveryNumberTypeAndByteOrderIsRead) {
  const std::vector<double> numbers{0, 1, 2, 100, 101, 102};
  for (const hid_t type :
       {H5T_STD_I8LE, H5T_STD_U8BE, H5T_STD_I16LE, H5T_STD_I16BE, H5T_STD_U16LE, H5T_STD_U16BE, H5T_STD_I32LE,
        H5T_STD_I32BE, H5T_STD_U32LE, H5T_STD_U32BE, H5T_STD_I64LE, H5T_STD_I64BE, H5T_STD_U64LE, H5T_STD_U64BE,
        H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_NATIVE_LDOUBLE}) {
    const std::string file = fmt::format("t{}.h5", type);
    put(file, "x", type, H5T_NATIVE_DOUBLE, {2, 3}, numbers);
    EXPECT_EQ(read_all(open_hdf5, path(file)), ramp(3, 2)) << type;
  }
}

TEST_F(Hdf5Test, ExtremeIntegersKeepTheirValue) {
  put<std::int64_t>("i.h5", "x", H5T_STD_I64BE, H5T_NATIVE_INT64, {2}, {INT64_MIN, -1});
  put<std::uint64_t>("u.h5", "x", H5T_STD_U64LE, H5T_NATIVE_UINT64, {2}, {UINT64_MAX, 1});
  EXPECT_EQ(read_all(open_hdf5, path("i.h5")), (Matrix(1, 2) << -0x1p63, -1).finished());
  EXPECT_EQ(read_all(open_hdf5, path("u.h5")), (Matrix(1, 2) << 0x1p64, 1).finished());
}

TEST_F(Hdf5Test, AnEnumerationIsReadAsItsIntegers) {  // h5py's bool
  const hid_t boolean = H5Tenum_create(H5T_STD_I8LE);
  std::int8_t no = 0, yes = 1;
  H5Tenum_insert(boolean, "FALSE", &no);
  H5Tenum_insert(boolean, "TRUE", &yes);
  put<std::int8_t>("b.h5", "x", boolean, boolean, {2, 2}, {0, 1, 1, 1});
  H5Tclose(boolean);
  EXPECT_EQ(read_all(open_hdf5, path("b.h5")), (Matrix(2, 2) << 0, 1, 1, 1).finished());
}

// Blocks of every size, from both axes, chunked and not, are the same matrix.
TEST_F(Hdf5Test, StreamingEqualsReadingWholeForEveryBlockSize) {
  const std::vector<hsize_t> by_rows{23, 4, 3}, by_columns{4, 3, 23};
  std::vector<double> rows(23 * 12), columns(23 * 12);
  const Matrix X = random_matrix(12, 23);
  for (Index s = 0; s < 23; ++s) {
    for (Index f = 0; f < 12; ++f) {
      rows[12 * s + f] = X(f, s);
      columns[23 * f + s] = X(f, s);
    }
  }
  const hid_t f64 = H5T_NATIVE_DOUBLE;
  put("a.h5", "plain/rows", H5T_IEEE_F64BE, f64, by_rows, rows);
  put("a.h5", "plain/columns", H5T_IEEE_F64LE, f64, by_columns, columns);
  put("a.h5", "gzip/rows", H5T_IEEE_F64LE, f64, by_rows, rows, {5, 3, 2});
  put("a.h5", "gzip/columns", H5T_IEEE_F64BE, f64, by_columns, columns, {3, 2, 7});
  for (const std::string storage : {"/plain/", "/gzip/"}) {
    for (const Index block : {1, 2, 5, 7, 22, 23, 1000}) {
      EXPECT_EQ(drain(*open_hdf5(path("a.h5"), storage + "rows", {}), block), X);
      EXPECT_EQ(drain(*open_hdf5(path("a.h5"), storage + "columns", {.columns = true}), block), X);
    }
    const auto source = open_hdf5(path("a.h5"), storage + "columns", {.columns = true});
    EXPECT_TRUE(source->streams());
    source->skip(20);
    EXPECT_EQ(source->next(100), X.rightCols(3));
    source->skip(5);
    EXPECT_EQ(source->next(1).cols(), 0);
  }
}

TEST_F(Hdf5Test, OneAxisIsOneFeature) {
  put<double>("a.h5", "x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {3}, {1, 2, 3});
  EXPECT_EQ(read_all(open_hdf5, path("a.h5")), (Matrix(1, 3) << 1, 2, 3).finished());
  EXPECT_EQ(read_all(open_hdf5, path("a.h5"), "", {.columns = true}), (Matrix(1, 3) << 1, 2, 3).finished());
}

TEST_F(Hdf5Test, SeveralDatasetsAreListedAndANameMustBeGiven) {
  put<double>("a.h5", "x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {2, 3}, {0, 1, 2, 3, 4, 5});
  put<int>("a.h5", "group/labels", H5T_STD_U8LE, H5T_NATIVE_INT, {4}, {0, 1, 2, 3});
  expect_says(refusal("a.h5"),
              {"2 numeric arrays", "/x (float64 2×3)", "/group/labels (uint8 4)", "a.h5:/group/labels"});
  expect_says(refusal("a.h5", "group/lables"), {"holds no '/group/lables'", "did you mean '/group/labels'?"});
  expect_says(refusal("a.h5", "/group"), {"holds no '/group'", "/group/labels (uint8 4)"});
  EXPECT_EQ(read_all(open_hdf5, path("a.h5"), "/group/labels").cols(), 4);
}

TEST_F(Hdf5Test, TheOnlyNumericDatasetIsTakenBesideTextAndScalars) {
  const hid_t string = H5Tcopy(H5T_C_S1);
  H5Tset_size(string, 2);
  put<char>("a.h5", "note", string, string, {2}, {'a', 'b', 'c', 'd'});
  H5Tclose(string);
  put<double>("a.h5", "version", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {}, {1});
  put<double>("a.h5", "x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {1, 2}, {3, 4});
  EXPECT_EQ(read_all(open_hdf5, path("a.h5")), (Matrix(2, 1) << 3, 4).finished());
  expect_says(refusal("a.h5", "note"), {"'/note'", "text, not numbers"});
  expect_says(refusal("a.h5", "version"), {"'/version'", "single number"});
}

TEST_F(Hdf5Test, ComplexNumbersAndRecordsAreRefusedWithAdvice) {
  const hid_t complex = H5Tcreate(H5T_COMPOUND, 16), record = H5Tcreate(H5T_COMPOUND, 16);
  H5Tinsert(complex, "r", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(complex, "i", 8, H5T_NATIVE_DOUBLE);
  H5Tinsert(record, "height", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(record, "width", 8, H5T_NATIVE_DOUBLE);
  put<double>("c.h5", "z", complex, complex, {1, 2}, {1, 2, 3, 4});
  put<double>("r.h5", "table", record, record, {2}, {1, 2, 3, 4});
  H5Tclose(complex);
  H5Tclose(record);
  expect_says(refusal("c.h5", "z"), {"'/z'", "complex", "magnitude, power, or stack", "real and imaginary"});
  expect_says(refusal("c.h5"), {"/z", "complex", "magnitude"});
  expect_says(refusal("r.h5", "table"), {"'/table'", "records", "one numeric array"});
}

TEST_F(Hdf5Test, NoFeaturesAndAnEmptyFileAreFormatErrors) {
  put<double>("a.h5", "x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {4, 0}, {});
  expect_says(refusal("a.h5"), {"4×0", "no features"});
  H5Fclose(H5Fcreate(path("none.h5").c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT));
  expect_says(refusal("none.h5"), {"no numeric array", "nothing"});
}

// A dataset may claim any shape and store nothing: chunks never written read as zeros.
TEST_F(Hdf5Test, AShapeBeyondMemoryIsRefusedAndABlockOfItRead) {
  const hsize_t shape[] = {hsize_t{1} << 50, 1000}, chunk[] = {1, 1000};
  const hid_t file = H5Fcreate(path("a.h5").c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(2, shape, nullptr), plist = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(plist, 2, chunk);
  H5Dclose(H5Dcreate2(file, "x", H5T_IEEE_F64LE, space, H5P_DEFAULT, plist, H5P_DEFAULT));
  H5Pclose(plist);
  H5Sclose(space);
  H5Fclose(file);
  const auto source = open_hdf5(path("a.h5"), "", {});
  EXPECT_EQ(source->next(2), Matrix::Zero(1000, 2));
  expect_says(message_of<IoError>([&] { source->next(Index{1} << 50); }),
              {"no memory", "1000×1125899906842622", "GiB"});
}

TEST_F(Hdf5Test, DamagedFilesAreFormatErrorsWithHdf5sReason) {
  put_bytes(path("text.h5"), "this is no HDF5 file, however it is called");
  expect_says(refusal("text.h5"), {"text.h5' (42 bytes)", "signature"});

  put("a.h5", "x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {64, 64}, std::vector<double>(4096, 0.25), {64, 64});
  const std::string good = bytes_of(path("a.h5"));
  put_bytes(path("short.h5"), good.substr(0, good.size() / 2));
  expect_says(refusal("short.h5"), {"short.h5'", "truncated"});

  // gzip's stream is the last thing in the file.
  std::string bad = good;
  for (std::size_t i = bad.size() - 30; i < bad.size(); ++i) bad[i] = '\x55';
  put_bytes(path("bad.h5"), bad);
  expect_says(refusal("bad.h5"), {"'/x'", "samples 0 to 63", "inflate() failed"});
}

// The header of one of two datasets is damaged: the other is not all that the file holds.
TEST_F(Hdf5Test, ADatasetThatCannotBeOpenedIsNotLeftOut) {
  write_hdf5(path("a.h5"), "/x", random_matrix(3, 5));
  const auto address = [&] {
    const hid_t file = H5Fopen(path("a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    H5O_info_t info{};
    H5Oget_info_by_name(file, "/x", &info, H5P_DEFAULT);
    H5Fclose(file);
    return info.addr;
  };
  std::string bytes = bytes_of(path("a.h5"));
  bytes[address()] = 'x';  // the version of the object's header
  put_bytes(path("a.h5"), bytes);
  expect_says(message_of<FormatError>([&] { describe_file(path("a.h5")); }), {"a.h5", "damaged HDF5 file"});
}

TEST_F(Hdf5Test, WhatCannotBeReadIsAnIoError) {
  const auto io_error = [&](const std::string& file) { return message_of<IoError>([&] { open_hdf5(file, "", {}); }); };
  expect_says(io_error(path("absent.h5")), {"absent.h5", "No such file"});
  expect_says(io_error(folder.string()), {"Is a directory"});
  expect_says(io_error("/dev/null"), {"not a regular file"});
}

TEST_F(Hdf5Test, AFullDiskLeavesTheOldFileAlone) {
  write_hdf5(path("a.h5"), "X", ramp(2, 3));
  {
    const SmallDisk disk(64 << 10);
    expect_says(message_of<IoError>([&] { write_hdf5(path("a.h5"), "X", random_matrix(300, 300)); }),
                {"cannot write", "a.h5", "File too large"});
  }
  EXPECT_EQ(read_all(open_hdf5, path("a.h5")), ramp(2, 3));
  EXPECT_EQ(files(), 1);
  write_hdf5(path("b.h5"), "X", ramp(2, 3));  // and HDF5 is as it was
}

// Left to itself, HDF5 crashes at the process's exit after a disk was full.
TEST_F(Hdf5Test, AProcessThatMetAFullDiskExitsAsUsual) {
  EXPECT_EXIT(
      {
        const SmallDisk disk(64 << 10);
        try {
          write_hdf5(path("a.h5"), "X", random_matrix(300, 300));
        } catch (const IoError&) {
          std::exit(7);
        }
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(Hdf5Test, LongNamesAndDeepGroupsAreWritten) {
  const std::string name = fmt::format("/{}/b/c/d/e/f/g/{}", std::string(3000, 'a'), std::string(2000, 'x'));
  write_hdf5(path("a.h5"), name, ramp(3, 4));
  EXPECT_EQ(read_all(open_hdf5, path("a.h5"), name), ramp(3, 4));
}

TEST_F(Hdf5Test, AFolderThatIsAbsentIsAnIoErrorAndABadNameInvalidInput) {
  EXPECT_THROW(write_hdf5(path("absent/a.h5"), "X", ramp(1, 1)), IoError);
  for (const std::string name : {"", "/", "a//b", "a/", "./x", "a/./b"}) {
    expect_says(message_of<InvalidInput>([&] { write_hdf5(path("a.h5"), name, ramp(1, 1)); }),
                {fmt::format("'{}'", name), "/group/X"});
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(Hdf5Test, NothingIsPrintedAndTheCallersErrorHandlerIsKept) {
  H5E_auto2_t before = nullptr, after = nullptr;
  void *data_before = nullptr, *data_after = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data_before);
  put_bytes(path("text.h5"), "no");
  ::testing::internal::CaptureStderr();
  refusal("text.h5");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
  EXPECT_EQ(before, after);
  EXPECT_EQ(data_before, data_after);
}

TEST_F(Hdf5Test, ThreadsReadAtTheSameTime) {
  const Matrix X = random_matrix(20, 500);
  write_hdf5(path("a.h5"), "X", X);
  std::vector<std::thread> threads;
  std::vector<int> equal(4, 0);
  for (int& result : equal) {
    threads.emplace_back([&] { result = drain(*open_hdf5(path("a.h5"), "", {}), 7) == X; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, std::vector<int>(4, 1));
}

}  // namespace
}  // namespace cgmca
