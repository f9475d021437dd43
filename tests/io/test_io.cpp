// The facade: which format reads a name, and what a reader promises whatever the format.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "io_testing.hpp"

namespace cgmca {
namespace {

namespace fs = std::filesystem;

using IoTest = FolderTest;

TEST_F(IoTest, AFormatIsToldByExtensionInAnyCase) {
  const Matrix X = random_matrix(2, 3);
  for (const char* name : {"a.npy", "a.NPY", "b.csv", "b.Csv", "c.tsv", "c.TSV"}) {
    write(path(name), X);
    EXPECT_EQ(read(path(name)), X) << name;
  }
  EXPECT_TRUE(bytes_of(path("c.TSV")).find('\t') != std::string::npos);
}

TEST_F(IoTest, WithoutAKnownExtensionItIsToldByContent) {
  const Matrix X = random_matrix(2, 3);
  write(path("a.npy"), X);
  fs::rename(path("a.npy"), path("data.bin"));
  EXPECT_EQ(read(path("data.bin")), X);
  put_bytes(path("labels-idx1-ubyte"), std::string("\0\0\x08\1\0\0\0\1\7", 9));
  EXPECT_EQ(read(path("labels-idx1-ubyte")), Matrix::Constant(1, 1, 7));
}

TEST_F(IoTest, AnUnknownFormatIsRefusedWithTheKnownOnes) {
  put_bytes(path("a.doc"), "hello");
  expect_says(message_of<FormatError>([&] { read(path("a.doc")); }),
              {"a.doc' is not in a format that can be read", ".npy", ".npz", ".csv", ".tsv", "IDX", ".mat", ".h5",
               "folder of PNG"});
  put_bytes(path("empty"), "");
  EXPECT_THROW(read(path("empty")), FormatError);
  expect_says(message_of<InvalidInput>([&] { write(path("a.doc"), Matrix(1, 1)); }),
              {"a.doc'", ".npy, .npz, .csv, .tsv, .mat, .h5 or .hdf5"});
}

TEST_F(IoTest, AnAbsentOrUnreadableFileIsAnIoErrorWithTheReason) {
  for (const char* name : {"a.npy", "a.npz", "a.csv", "a.idx", "a.gz", "a", "a.npz:x", "b:c.npy"})
    expect_says(message_of<IoError>([&] { read(path(name)); }),
                {std::string("/") + name + "': No such file or directory"});
  fs::create_directory(path("folder.npy"));
  EXPECT_THROW(io::open_npy(path("folder.npy"), "", {}), IoError);
  ASSERT_EQ(::mkfifo(path("pipe.npy").c_str(), 0600), 0);
  expect_says(message_of<IoError>([&] { read(path("pipe.npy")); }), {"not a regular file"});
  if (::geteuid() == 0) return;  // root may read anything
  put_bytes(path("secret.npy"), "");
  fs::permissions(path("secret.npy"), fs::perms::none);
  expect_says(message_of<IoError>([&] { read(path("secret.npy")); }), {"Permission denied"});
}

TEST_F(IoTest, APlaceCountsRowsAndColumnsOfTheFileFromOne) {
  write(path("a.npy"), random_matrix(2, 3));
  EXPECT_EQ(BlockReader(path("a.npy")).place(2, 1), "row 3, column 2");
  EXPECT_EQ(BlockReader(path("a.npy"), {.columns = true}).place(1, 2), "row 3, column 2");
}

TEST_F(IoTest, OnlyTextHasAnIdColumn) {
  write(path("a.npy"), random_matrix(2, 3));
  expect_says(message_of<InvalidInput>([&] { read(path("a.npy"), {.id = "subject"}); }),
              {"a.npy' (NPY) has no ID column 'subject'", "only text files (.csv, .tsv)"});
  EXPECT_TRUE(BlockReader(path("a.npy")).ids().empty());
}

TEST_F(IoTest, APathThatExistsIsTakenAsItIsEvenWithAColon) {
  const Matrix X = random_matrix(2, 3), Y = random_matrix(4, 5);
  write(path("a:b.npy"), X);
  EXPECT_EQ(read(path("a:b.npy")), X);
  write(path("a.npy"), Y);
  write(path("a.npy:b.npy"), X);  // not the member b.npy of a.npy
  EXPECT_EQ(read(path("a.npy:b.npy")), X);
  fs::create_directory(path("c:d"));
  write(path("c:d/e.npy"), Y);
  EXPECT_EQ(read(path("c:d/e.npy")), Y);
  write(path("c:d/f.h5") + ":/g:h", X);
  EXPECT_EQ(read(path("c:d/f.h5") + ":/g:h"), X);
}

TEST_F(IoTest, AMemberOfAFormatWithoutMembersIsRefused) {
  write(path("a.npy"), Matrix::Ones(1, 1));
  expect_says(message_of<InvalidInput>([&] { read(path("a.npy:x")); }),
              {"a.npy' (NPY) has no members: leave out ':x'"});
  expect_says(message_of<InvalidInput>([&] { read(path("a.npy:")); }), {"names nothing after"});
}

TEST_F(IoTest, AReaderHandsOutBlocksAndKeepsItsPosition) {
  const Matrix X = random_matrix(3, 10);
  write(path("a.npy"), X);
  BlockReader reader(path("a.npy"));
  EXPECT_EQ(reader.next(4), X.leftCols(4));
  reader.skip(0);
  reader.skip(2);
  EXPECT_EQ(reader.position(), 6);
  BlockReader moved = std::move(reader);
  EXPECT_EQ(moved.next(100), X.rightCols(4));
  EXPECT_EQ(moved.position(), 10);
  EXPECT_EQ(moved.next(1).cols(), 0);
  EXPECT_EQ(moved.position(), 10);
}

TEST_F(IoTest, ImpossibleBlocksAndSkipsAreRefusedWithTheFigures) {
  write(path("a.npy"), Matrix::Ones(3, 10));
  BlockReader reader(path("a.npy"));
  reader.skip(4);
  EXPECT_THROW(reader.next(0), InvalidInput);
  EXPECT_THROW(reader.skip(-1), InvalidInput);
  expect_says(message_of<InvalidInput>([&] { reader.skip(7); }), {"cannot skip 7 samples", "6 of its 10 are left"});
  EXPECT_EQ(reader.next(7).cols(), 6);
}

TEST_F(IoTest, AMatrixInMemoryIsHandedOutInBlocksOrWhole) {
  const Matrix X = random_matrix(3, 10);
  for (const Index block : {1, 3, 9, 10, 11}) {
    const auto source = io::in_memory(X);
    EXPECT_EQ(drain(*source, block), X);
    EXPECT_EQ(source->next(block).rows(), 3);
    EXPECT_EQ(source->features(), 3);
    EXPECT_EQ(source->samples(), 10);
    EXPECT_FALSE(source->streams());
  }
}

TEST_F(IoTest, TooLittleMemoryIsAnIoError) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "sanitizers know no limit of memory";
#endif
  // 4 GB of zeros that take no disk: a valid file whose 32 GB of doubles are too many.
  write(path("a.npy"), Matrix(1, 0));
  std::string header = bytes_of(path("a.npy"));
  const auto replace = [&](const std::string& from, const std::string& to) {
    header.replace(header.find(from), from.size(), to);
  };
  replace("<f8", "|u1");
  replace("(0, 1), }", "(4000000000, 1), }");
  header.erase(header.find("         "), 9);
  put_bytes(path("a.npy"), header);
  fs::resize_file(path("a.npy"), 128 + 4'000'000'000);
  const LittleMemory memory(256 << 20);
  expect_says(message_of<IoError>([&] { read(path("a.npy")); }), {"not enough memory to read"});
  EXPECT_EQ(BlockReader(path("a.npy")).next(1000).cols(), 1000);
}

}  // namespace
}  // namespace cgmca
