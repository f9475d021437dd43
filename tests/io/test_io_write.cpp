// write(): members added to files that exist, names of features beside arrays, samples as columns.
#include <cgmca/io.hpp>

#include <cstring>
#include <limits>

#include "io/matlab/mat.hpp"
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

// Blocks of any size give the file that write() gives of the whole: byte by byte, but for .npy with samples as columns,
// which then has Fortran order, and for .npz, of which libzip notes where a member came from.
TEST_F(WriteTest, BlocksGiveTheFileOfTheWhole) {
  const Matrix X = random_matrix(3, 50);
  for (const bool columns : {false, true}) {
    for (const std::string name :
         {"a.npy", "a.npz", "a.csv", "a.tsv", "a.mat", "a.h5", "b.mat:Y", "b.h5:Y", "b.npz:Y"}) {
      for (const Index block : {Index{1}, Index{7}, Index{50}}) {
        SCOPED_TRACE(name + (columns ? ", columns" : ""));
        const WriteOptions options{.columns = columns, .feature_names = three};
        const std::string target = path(name), file = file_of(target);
        fs::remove(file);
        if (name.starts_with("b.")) write(file + ":Z", ramp(2, 2));
        BlockWriter writer(target, 3, options);
        for (Index first = 0; first < 50; first += block) {
          writer.add(X.middleCols(first, std::min(block, 50 - first)));
          EXPECT_TRUE(name.starts_with("b.") || !fs::exists(file));
        }
        EXPECT_EQ(writer.samples(), 50);
        writer.commit();
        EXPECT_EQ(read(target, {.columns = columns}), X);
        const std::string blocks = bytes_of(file);
        fs::remove(file);
        if (name.starts_with("b.")) write(file + ":Z", ramp(2, 2));
        write(target, X, options);
        if (name.find(".npz") == std::string::npos && (name != "a.npy" || !columns)) {
          EXPECT_EQ(blocks, bytes_of(file));
        }
      }
    }
  }
}

// Enough numbers for several copies into place, of which each feature gets a part.
TEST_F(WriteTest, ManyNumbersArePutInTheirPlaces) {
  const Matrix X = random_matrix(3, 400'001);
  Index last = 0;
  for (const bool single : {false, true}) {
    for (const std::string name : {"a.mat", "a.h5", "a.npz"}) {
      for (const bool columns : {false, true}) {
        BlockWriter writer(path(name), 3, {.columns = columns, .single = single});
        writer.add(X.leftCols(123'456));
        writer.add(X.rightCols(400'001 - 123'456));
        writer.commit([&](Index samples) { last = samples; });
        EXPECT_EQ(last, 400'001) << name;
        const Matrix expected = single ? Matrix(X.cast<float>().cast<double>()) : X;
        EXPECT_EQ(read(path(name), {.columns = columns}), expected) << name;
        EXPECT_EQ(BlockReader(path(name), {.columns = columns}).holds_floats(), single) << name;
      }
    }
  }
  io::write_mat(path("b.mat"), "X", X, 0);  // MATLAB 7.3
  EXPECT_EQ(read(path("b.mat")), X);
}

TEST_F(WriteTest, BlocksOfFloatsAreReadBackExactly) {
  const Matrix X = random_matrix(3, 11);
  const Matrix rounded = X.cast<float>().cast<double>();
  for (const char* name : {"a.npy", "a.npz", "a.csv", "a.mat", "a.h5"}) {
    BlockWriter writer(path(name), 3, {.single = true});
    writer.add(X);
    writer.commit();
    EXPECT_EQ(read(path(name)).cast<float>(), rounded.cast<float>()) << name;
    EXPECT_EQ(BlockReader(path(name)).holds_floats(), std::string(name) != "a.csv") << name;
  }
  io::write_mat(path("odd.mat"), "Z", ramp(1, 1));  // floats of an odd number are padded: what follows is found
  BlockWriter writer(path("odd.mat") + ":X", 3, {.feature_names = three, .single = true});
  writer.add(X);
  writer.commit();
  write(path("odd.mat") + ":Y", ramp(2, 2));
  EXPECT_EQ(read(path("odd.mat") + ":X"), rounded);
  EXPECT_EQ(read(path("odd.mat") + ":Y"), ramp(2, 2));
  EXPECT_EQ(BlockReader(path("odd.mat") + ":X").feature_names(), three);
}

TEST_F(WriteTest, NamesOfSamplesAreTheFirstColumnOfText) {
  BlockWriter writer(path("a.csv"), 2, {.feature_names = {"u", "v"}, .id_name = "who"});
  writer.add(ramp(2, 2), {"ann", "b,ob"});
  EXPECT_THROW(writer.add(ramp(2, 2)), InvalidInput);
  writer.add(ramp(2, 1), {"carl"});
  writer.commit();
  EXPECT_EQ(bytes_of(path("a.csv")).substr(0, 8), "who,u,v\n");
  BlockReader reader(path("a.csv"), {.id = "who"});
  EXPECT_EQ(reader.next(9).cols(), 3);
  EXPECT_EQ(reader.ids(), (Names{"ann", "b,ob", "carl"}));
}

TEST_F(WriteTest, WhatIsWrongWithATargetIsToldBeforeTheFirstBlock) {
  expect_says(message_of<InvalidInput>([&] { BlockWriter(path("a.txt"), 2); }), {"cannot tell from", "the format"});
  expect_says(message_of<InvalidInput>([&] { BlockWriter(path("a.mat") + ":9x", 2); }),
              {"cannot name a MATLAB variable"});
  expect_says(message_of<InvalidInput>([&] { BlockWriter(path("a.npy"), 2, {.feature_names = three}); }),
              {"3 names of features for 2 features"});
  expect_says(message_of<WrongDimension>([&] { BlockWriter(path("a.npy"), 2).add(ramp(3, 1)); }),
              {"a block of 3 features for a file of 2"});
  EXPECT_THROW(BlockWriter(path("absent/a.npy"), 2), IoError);
  { BlockWriter(path("a.h5"), 2).add(ramp(2, 9)); }  // and never committed
  EXPECT_EQ(files(), 0);
}

TEST_F(WriteTest, NoSamplesAreAFileOfNone) {
  for (const char* name : {"a.npy", "a.npz", "a.mat", "a.h5"}) {
    BlockWriter(path(name), 3).commit();
    EXPECT_EQ(read(path(name)).cols(), 0) << name;
    EXPECT_EQ(read(path(name)).rows(), 3) << name;
  }
}

}  // namespace
}  // namespace cgmca
