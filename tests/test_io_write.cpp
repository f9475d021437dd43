// write(): members added to files that exist, names of features beside arrays, samples as columns.
#include <cgmca/io.hpp>

#include <cstring>
#include <limits>

#include "io/mat.hpp"
#include "io_testing.hpp"

namespace cgmca {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

class WriteTest : public FolderTest {
 protected:
  // A file of each kind that has members, with X in it.
  std::vector<std::string> files_with(const Matrix& X, const Names& names = {}) {
    for (const char* name : {"a.npz", "a.mat", "a.h5"})
      write(path(name), X, {.columns = false, .feature_names = names});
    io::write_mat(path("b.mat"), "X", X, 0, names);  // MATLAB 7.3
    return {path("a.npz"), path("a.mat"), path("a.h5"), path("b.mat")};
  }
};

const Names three{"größe, cm", "b \"quoted\"", "水"};

TEST_F(WriteTest, ANamedMemberIsAddedAndAFileWithoutOneIsReplaced) {
  const Matrix X = random_matrix(3, 20), Y = random_matrix(2, 7, 2), Z = random_matrix(4, 5, 3);
  for (const std::string& file : files_with(X)) {
    SCOPED_TRACE(file);
    write(file + ":Y", Y);
    write(file + ":Z", Z.topRows(2));
    EXPECT_EQ(read(file + ":X"), X);
    EXPECT_EQ(read(file + ":Y"), Y);
    write(file + ":Y", Z);  // in place of Y
    EXPECT_EQ(read(file + ":X"), X);
    EXPECT_EQ(read(file + ":Y"), Z);
    EXPECT_EQ(read(file + ":Z"), Z.topRows(2));
    EXPECT_EQ(describe_file(file).arrays.size(), 3U);
    write(file, Z, {.columns = false, .feature_names = {}, .variable = "Only"});
    EXPECT_EQ(read(file), Z);
    EXPECT_EQ(read(file + ":Only"), Z);
  }
  EXPECT_EQ(files(), 4);
}

TEST_F(WriteTest, ANewFileIsMadeForANamedMember) {
  for (const char* name : {"n.npz", "n.mat", "n.h5"}) {
    write(path(name) + ":Z1", ramp(2, 3));
    EXPECT_EQ(read(path(name) + ":Z1"), ramp(2, 3));
  }
  write(path("n.h5") + ":/group/deep/Z1", ramp(3, 2));
  EXPECT_EQ(read(path("n.h5") + ":/group/deep/Z1"), ramp(3, 2));
  EXPECT_EQ(read(path("n.h5") + ":Z1"), ramp(2, 3));
}

TEST_F(WriteTest, NamesOfFeaturesAreKeptBesideTheArrayInEveryFormatThatHasMembers) {
  const Matrix X = random_matrix(3, 20);
  for (const std::string& file : files_with(X, three)) {
    SCOPED_TRACE(file);
    EXPECT_EQ(BlockReader(file).feature_names(), three);  // X is still the only array of numbers
    EXPECT_EQ(read(file), X);
    write(file + ":T", X, {.columns = true, .feature_names = three});
    EXPECT_EQ(read(file + ":T"), X.transpose());
    EXPECT_EQ(BlockReader(file + ":T", {.columns = true}).feature_names(), three);
    EXPECT_EQ(BlockReader(file + ":T").feature_names(), Names());  // not one a feature
    write(file + ":X", X, {.columns = false, .feature_names = {"u", "v", "w"}});
    EXPECT_EQ(BlockReader(file + ":X").feature_names(), (Names{"u", "v", "w"}));
    write(file + ":X", X);  // the names go with the array they were of
    EXPECT_EQ(BlockReader(file + ":X").feature_names(), Names());
    EXPECT_EQ(read(file + ":X"), X);
  }
}

TEST_F(WriteTest, TextHasNamesAsItsHeader) {
  const Matrix X = ramp(3, 2);
  for (const char* name : {"a.csv", "a.tsv"}) {
    write(path(name), X, {.columns = false, .feature_names = {"größe, cm", "x\ty", " blank "}});
    EXPECT_EQ(read(path(name)), X);
    EXPECT_EQ(BlockReader(path(name)).feature_names().front(), "größe, cm");
    EXPECT_EQ(BlockReader(path(name)).feature_names().at(1), "x\ty");
  }
  EXPECT_EQ(bytes_of(path("a.csv")).substr(0, 13), "\"größe, cm\"");
  write(path("n.csv"), X, {.columns = false, .feature_names = {"1", "2", "3"}});  // would be read as a sample
  EXPECT_EQ(bytes_of(path("n.csv")), "0,1,2\n100,101,102\n");
  write(path("t.csv"), X, {.columns = true, .feature_names = three});
  EXPECT_EQ(bytes_of(path("t.csv")), "0,100\n1,101\n2,102\n");
}

TEST_F(WriteTest, SamplesAreColumnsWhereAsked) {
  const Matrix X = random_matrix(3, 5);
  for (const char* name : {"a.npy", "a.npz", "a.csv", "a.tsv", "a.mat", "a.h5"}) {
    write(path(name), X, {.columns = true});
    EXPECT_EQ(read(path(name), {.columns = true}), X) << name;
    EXPECT_EQ(read(path(name)), X.transpose()) << name;
  }
}

TEST_F(WriteTest, TheSameMatrixGivesTheSameBytes) {
  for (const char* name : {"npz", "mat", "h5"}) {
    for (const char* stem : {"a.", "b."})
      write(path(stem) + name, ramp(3, 2), {.columns = false, .feature_names = three});
    EXPECT_EQ(bytes_of(path("a.") + name), bytes_of(path("b.") + name)) << name;
  }
}

TEST_F(WriteTest, WhatOtherProgramsWroteStaysAsItIs) {
  const Matrix Z = random_matrix(2, 3);
  for (const char* name : {"octave_v6.mat", "octave_v7.mat"}) {
    fs::copy_file(fixture(name), path(name));
    const std::string before = bytes_of(path(name));
    write(path(name) + ":Z", Z);
    EXPECT_EQ(bytes_of(path(name)).substr(0, before.size()), before);
    EXPECT_EQ(read(path(name) + ":Z"), Z);
  }
  for (const char* name : {"matlab73.mat", "h5py.h5"}) {
    fs::copy_file(fixture(name), path(name));
    const FileInfo before = describe_file(path(name));
    write(path(name) + ":Z", Z, {.columns = false, .feature_names = {"a", "b"}});
    const FileInfo after = describe_file(path(name));
    ASSERT_EQ(after.arrays.size(), before.arrays.size() + 1);
    for (const ArrayInfo& array : before.arrays) {
      const auto same = [&](const ArrayInfo& other) {
        return other.name == array.name && other.shape == array.shape && other.type == array.type &&
               other.missing == array.missing && other.feature_names == array.feature_names;
      };
      EXPECT_TRUE(std::any_of(after.arrays.begin(), after.arrays.end(), same)) << array.name;
    }
    EXPECT_EQ(read(path(name) + ":Z"), Z);
  }
  EXPECT_EQ(read(path("matlab73.mat") + ":st.field"), Matrix::Ones(1, 1));
  EXPECT_EQ(read(path("h5py.h5") + ":link"), ramp(12, 2));
}

TEST_F(WriteTest, ADamagedOrForeignFileIsNotAddedTo) {
  for (const char* name : {"a.npz", "a.mat", "a.h5"}) {
    put_bytes(path(name), "hello");
    EXPECT_THROW(write(path(name) + ":Z", ramp(2, 2)), FormatError) << name;
    EXPECT_EQ(bytes_of(path(name)), "hello");
  }
  EXPECT_EQ(files(), 3);
}

TEST_F(WriteTest, AFullDiskLeavesTheFileAsItWas) {
  const Matrix X = ramp(3, 4);
  for (const std::string& file : files_with(X, three)) {
    SCOPED_TRACE(file);
    const std::string before = bytes_of(file);
    {
      const SmallDisk disk(200 << 10);
      EXPECT_THROW(write(file + ":big", random_matrix(300, 300), {}), IoError);
    }
    EXPECT_EQ(bytes_of(file), before);
  }
  EXPECT_EQ(files(), 4);
}

TEST_F(WriteTest, ATargetThatMakesNoSenseIsRefused) {
  expect_says(message_of<InvalidInput>([&] { write(path("f.npy") + ":Z", ramp(1, 1)); }),
              {"f.npy' holds one array and has no members", "leave out ':Z'", ".npz, .mat or .h5"});
  expect_says(message_of<InvalidInput>([&] { write(path("f.csv") + ":Z", ramp(1, 1)); }), {"leave out ':Z'"});
  expect_says(message_of<InvalidInput>([&] { write(path("f.mat") + ":", ramp(1, 1)); }),
              {"names nothing after the ':'"});
  expect_says(message_of<InvalidInput>([&] { write(path("f.mat") + ":a.b", ramp(1, 1)); }),
              {"'a.b'", "MATLAB variable"});
  expect_says(message_of<InvalidInput>([&] {
                write(path("f.csv"), ramp(3, 1), {.columns = false, .feature_names = {"a", "b"}});
              }),
              {"2 names of features for 3 features"});
  EXPECT_EQ(files(), 0);
  write(path("g.h5") + ":/group/x", ramp(1, 1));
  expect_says(message_of<InvalidInput>([&] { write(path("g.h5") + ":/group", ramp(1, 1)); }), {"is a group"});
  EXPECT_EQ(read(path("g.h5") + ":/group/x"), ramp(1, 1));
}

// The bytes of a number, the other way round: a file of a big-endian machine.
template <class T>
std::string big(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return {bytes.rbegin(), bytes.rend()};
}

std::string mat5_header(const std::string& end) {
  std::string header = "MATLAB 5.0 MAT-file";
  header.resize(124, ' ');
  return header + end;
}

TEST_F(WriteTest, AMatlab5FileOfABigEndianMachineStaysOne) {
  using std::uint32_t;
  std::string parts = big(uint32_t{6}) + big(uint32_t{8}) + big(uint32_t{6}) + big(uint32_t{0});
  parts += big(uint32_t{5}) + big(uint32_t{8}) + big(uint32_t{2}) + big(uint32_t{1});
  parts += big(uint32_t{1 << 16 | 1}) + std::string("x\0\0\0", 4);
  parts += big(uint32_t{9}) + big(uint32_t{16}) + big(1.5) + big(-2.0);
  put_bytes(path("a.mat"), mat5_header(std::string("\1\0MI", 4)) + big(uint32_t{14}) +
                               big(static_cast<uint32_t>(parts.size())) + parts);
  EXPECT_EQ(read(path("a.mat")), (Matrix(1, 2) << 1.5, -2).finished());
  write(path("a.mat") + ":y", ramp(3, 2), {.columns = false, .feature_names = three});
  EXPECT_EQ(read(path("a.mat") + ":x"), (Matrix(1, 2) << 1.5, -2).finished());
  EXPECT_EQ(read(path("a.mat") + ":y"), ramp(3, 2));
  EXPECT_EQ(BlockReader(path("a.mat") + ":y").feature_names(), three);
}

// MATLAB keeps what its objects need in an element without a name, whose place is in the header.
TEST_F(WriteTest, ThePlaceOfMatlabsSubsystemMovesWithIt) {
  write(path("a.mat"), ramp(3, 50));
  std::string bytes = bytes_of(path("a.mat"));
  const std::uint64_t place = bytes.size();
  write(path("s.mat"), ramp(1, 2));
  std::string hidden = bytes_of(path("s.mat")).substr(128);
  hidden.replace(hidden.find('X'), 1, std::string(1, '\0'));
  bytes += hidden;
  std::memcpy(bytes.data() + 116, &place, sizeof place);
  put_bytes(path("a.mat"), bytes);
  EXPECT_EQ(read(path("a.mat")), ramp(3, 50));
  write(path("a.mat") + ":X", ramp(3, 2));
  write(path("a.mat") + ":Y", ramp(2, 2));
  const std::string after = bytes_of(path("a.mat"));
  std::uint64_t moved = 0;
  std::memcpy(&moved, after.data() + 116, sizeof moved);
  EXPECT_LT(moved, place);
  EXPECT_EQ(after.substr(moved), hidden);
  EXPECT_EQ(read(path("a.mat") + ":X"), ramp(3, 2));
  EXPECT_EQ(read(path("a.mat") + ":Y"), ramp(2, 2));
}

TEST_F(WriteTest, ANameWithoutNumbersInTheWayIsTheOnlyArray) {
  write(path("a.npz") + ":Z", ramp(2, 3), {.columns = false, .feature_names = {"a", "b"}});
  EXPECT_EQ(read(path("a.npz")), ramp(2, 3));
  expect_says(message_of<FormatError>([&] { read(path("a.npz") + ":Z_features"); }), {"'<U1'", "cannot be read"});
}

}  // namespace
}  // namespace cgmca
