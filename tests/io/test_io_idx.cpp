#include <zlib.h>

#include <cstdint>
#include <filesystem>

#include "io_testing.hpp"

namespace cgmca {
namespace {

std::string idx(int type, const std::vector<std::uint32_t>& lengths, const std::string& elements) {
  std::string file = {0, 0, static_cast<char>(type), static_cast<char>(lengths.size())};
  for (const std::uint32_t length : lengths)
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(length >> shift & 0xff);
  return file + elements;
}

class IdxTest : public FolderTest {
 protected:
  void put_gzip(const std::string& name, const std::string& bytes) {
    const gzFile file = ::gzopen(path(name).c_str(), "wb");
    ASSERT_EQ(::gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
    ASSERT_EQ(::gzclose(file), Z_OK);
  }
  Matrix read_bytes(const std::string& bytes) {
    put_bytes(path("a.idx"), bytes);
    return read(path("a.idx"));
  }
  std::string refusal(const std::string& bytes) {
    return message_of<FormatError>([&] { read_bytes(bytes); });
  }
  // 500 images of 4×3 pixels, and the matrix they are.
  static std::string images(Matrix& X) {
    std::string pixels;
    X.resize(12, 500);
    for (int s = 0; s < 500; ++s)
      for (int f = 0; f < 12; ++f) {
        const int pixel = (s * 31 + f * 7) % 256;
        pixels += static_cast<char>(pixel);
        X(f, s) = pixel;
      }
    return idx(0x08, {500, 4, 3}, pixels);
  }
};

TEST_F(IdxTest, EveryTypeIsReadBigEndian) {
  const auto expect_values = [&](int type, const std::string& elements, double a, double b) {
    const Matrix X = read_bytes(idx(type, {1, 2}, elements));
    EXPECT_EQ(X(0, 0), a) << type;
    EXPECT_EQ(X(1, 0), b) << type;
  };
  expect_values(0x08, std::string("\xff\0", 2), 255, 0);
  expect_values(0x09, "\xff\x7f", -1, 127);
  expect_values(0x0b, std::string("\xff\xfe\1\0", 4), -2, 256);
  expect_values(0x0c, std::string("\x80\0\0\0\0\1\0\2", 8), -2147483648.0, 65538);
  expect_values(0x0d, std::string("\x3f\x80\0\0\xc0\x20\0\0", 8), 1, -2.5);
  expect_values(0x0e, std::string("\x3f\xf0\0\0\0\0\0\0\xc0\x04\0\0\0\0\0\0", 16), 1, -2.5);
}

TEST_F(IdxTest, PlainAndCompressedGiveTheSameInBlocksOfAnySize) {
  Matrix X;
  const std::string bytes = images(X);
  put_bytes(path("plain"), bytes);
  put_gzip("compressed", bytes);
  put_gzip("compressed.gz", bytes);
  for (const char* name : {"plain", "compressed", "compressed.gz"}) {
    EXPECT_EQ(read(path(name)), X);
    for (const Index block : {1, 7, 499, 500, 501}) {
      BlockReader reader(path(name));
      EXPECT_TRUE(reader.streams());
      EXPECT_EQ(reader.features(), 12);
      EXPECT_EQ(reader.samples(), 500);
      reader.skip(3);
      for (Index at = 3; at < 500; at += block)
        EXPECT_EQ(reader.next(block), X.middleCols(at, std::min(block, 500 - at)));
      EXPECT_EQ(reader.next(block).cols(), 0);
    }
  }
}

TEST_F(IdxTest, SamplesMayBeTheLastAxis) {
  Matrix X;
  const std::string bytes = images(X);
  put_bytes(path("plain"), bytes);
  put_gzip("compressed", bytes);
  // a.reshape(-1, 3): the pixels (s, i, ·) are row 4 s + i.
  Matrix Y(2000, 3);
  for (Index s = 0; s < 500; ++s)
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j < 3; ++j) Y(4 * s + i, j) = X(3 * i + j, s);
  EXPECT_EQ(read(path("plain"), {.columns = true}), Y);
  EXPECT_EQ(read(path("compressed"), {.columns = true}), Y);
  EXPECT_TRUE(BlockReader(path("plain"), {.columns = true}).streams());
  EXPECT_FALSE(BlockReader(path("compressed"), {.columns = true}).streams());
}

TEST_F(IdxTest, LabelsAreOneFeature) {
  EXPECT_EQ(read_bytes(idx(0x08, {3}, "\1\2\3")), (Matrix(1, 3) << 1, 2, 3).finished());
}

TEST_F(IdxTest, AFileOfAnotherLengthThanPromisedIsRefusedWithTheFigures) {
  expect_says(refusal(idx(0x0b, {3, 2}, "0123456789")),
              {"a.idx' is truncated", "3×2", "6 elements of 2 bytes = 12 bytes, but 10 are there"});
  expect_says(refusal(idx(0x08, {3, 2}, "0123456789")), {"is too long", "promises 6 bytes, but 10 are there"});
  expect_says(refusal(idx(0x08, {3, 2}, "").substr(0, 9)), {"promises 2 dimensions, but has 1"});
  put_gzip("a.gz", idx(0x0b, {3, 2}, "0123456789"));
  expect_says(message_of<FormatError>([&] { read(path("a.gz")); }), {"12 bytes, but 10 are there"});
  put_gzip("a.gz", idx(0x08, {3, 2}, "0123456789"));
  expect_says(message_of<FormatError>([&] { read(path("a.gz")); }),
              {"is too long", "promises 6 bytes, but more are there"});
}

TEST_F(IdxTest, WhatIsNoIdxIsRefused) {
  expect_says(refusal(""), {"is not an IDX array", "[]"});
  expect_says(refusal(std::string("\0\0\x0a\2", 4)), {"is not an IDX array", "[00 00 0a 02]"});
  expect_says(refusal(idx(0x08, {}, "x")), {"single number"});
  put_gzip("a.gz", "1,2\n");
  expect_says(message_of<FormatError>([&] { read(path("a.gz")); }),
              {"is not an IDX array, plain or compressed by gzip", "[31 2c 32 0a]"});
}

TEST_F(IdxTest, TextThatIsNamedATableIsReadAsOne) {
  put_gzip("a.csv.gz", "1,2\n");
  EXPECT_EQ(read(path("a.csv.gz")), (Matrix{{1}, {2}}));
}

TEST_F(IdxTest, DamagedCompressedDataAreRefused) {
  Matrix X;
  put_gzip("whole.gz", images(X));
  const std::string whole = bytes_of(path("whole.gz"));
  put_bytes(path("a.gz"), whole.substr(0, whole.size() / 2));
  expect_says(message_of<FormatError>([&] { read(path("a.gz")); }),
              {"a.gz' is truncated", "compressed data stop after"});
  std::string damaged = whole;
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);
  put_bytes(path("a.gz"), damaged);
  expect_says(message_of<FormatError>([&] { read(path("a.gz")); }),
              {"corrupt compressed data", "incorrect data check"});
  // The last samples' checksum is verified however one gets there.
  BlockReader reader(path("a.gz"));
  EXPECT_EQ(reader.next(499), X.leftCols(499));
  EXPECT_THROW(reader.skip(1), FormatError);
}

TEST_F(IdxTest, AGzipFileOfSeveralPartsIsOne) {
  Matrix X;
  const std::string bytes = images(X);
  put_gzip("1", bytes.substr(0, 1000));
  put_gzip("2", bytes.substr(1000));
  put_bytes(path("a.gz"), bytes_of(path("1")) + bytes_of(path("2")) + std::string(100, '\0'));
  EXPECT_EQ(read(path("a.gz")), X);
}

TEST_F(IdxTest, MemoryGrowsWithTheDataAndNotWithTheClaim) {
  // Some 2⁵⁹ bytes claimed, in many samples and in one; a thousand are there.
  put_gzip("a.gz", idx(0x08, {0x7fffffff, 0x0fffffff}, std::string(1000, 'x')));
  put_gzip("b.gz", idx(0x08, {1, 0x7fffffff, 0x0fffffff}, std::string(1000, 'x')));
  const LittleMemory memory(64 << 20);
  expect_says(message_of<FormatError>([&] { read(path("a.gz")); }), {"but 1000 are there"});
  expect_says(message_of<FormatError>([&] { read(path("b.gz")); }), {"but 1000 are there"});
  expect_says(message_of<FormatError>([&] { BlockReader(path("b.gz")).skip(1); }), {"but 1000 are there"});
}

TEST_F(IdxTest, AFileThatShrinksWhileItIsReadIsAnError) {
  std::string noise;
  const Matrix random = random_matrix(1, 1 << 17);
  for (const double x : random.reshaped()) noise += static_cast<char>(static_cast<int>(x * 1e6) & 0xff);
  const std::string bytes = idx(0x08, {1 << 10, 1 << 7}, noise);
  put_bytes(path("plain"), bytes);
  put_gzip("compressed", bytes);
  for (const char* name : {"plain", "compressed"}) {
    BlockReader reader(path(name));
    reader.next(1);
    std::filesystem::resize_file(path(name), 1000);
    expect_says(message_of<IoError>([&] { reader.next(1 << 10); }),
                {"became shorter while it was read", "bytes when opened"});
  }
}

}  // namespace
}  // namespace cgmca
