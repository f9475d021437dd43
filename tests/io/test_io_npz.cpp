#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <utility>

#include "io_testing.hpp"

namespace cgmca {
namespace {

std::string little(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
  return bytes;
}

std::string deflated(const std::string& text) {
  z_stream stream{};
  ::deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);
  std::string result(::deflateBound(&stream, text.size()), '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  ::deflateEnd(&stream);
  return result;
}

// Bytes as an NPY array of u1.
std::string npy(const std::string& shape, const std::string& elements, const std::string& fortran = "False") {
  const std::string header = fmt::format("{{'descr': '|u1', 'fortran_order': {}, 'shape': {}, }}\n", fortran, shape);
  return std::string("\x93NUMPY\1\0", 8) + little(header.size(), 2) + header + elements;
}

struct Part {
  std::string name, contents;
  bool deflate = false;
  std::uint16_t flags = 0, method = 0xffff;  // method: from `deflate`
  std::uint64_t size_off = 0, crc_off = 0;   // what to falsify
  std::uint64_t compressed_off = 0, place_off = 0;
  bool zip64 = false;
};

std::string zip(const std::vector<Part>& parts, const std::string& comment = "", bool zip64 = false) {
  std::string file, directory;
  for (const Part& part : parts) {
    const std::string data = part.deflate ? deflated(part.contents) : part.contents;
    const std::uint64_t method = part.method != 0xffff ? part.method : part.deflate ? 8 : 0;
    const std::uint64_t crc =
        ::crc32(0, reinterpret_cast<const Bytef*>(part.contents.data()), static_cast<uInt>(part.contents.size())) ^
        part.crc_off;
    const std::uint64_t size = part.contents.size() + part.size_off, compressed = data.size() + part.compressed_off,
                        place = file.size() + part.place_off;
    std::string extra = little(0xcafe, 2) + little(3, 2) + "xyz";
    if (part.zip64) extra += little(1, 2) + little(24, 2) + little(size, 8) + little(compressed, 8) + little(place, 8);
    const auto narrow = [&](std::uint64_t value) { return little(part.zip64 ? 0xffffffff : value, 4); };
    const std::string common = little(20, 2) + little(part.flags, 2) + little(method, 2) + little(0, 4) +
                               little(crc, 4) + narrow(compressed) + narrow(size) + little(part.name.size(), 2) +
                               little(extra.size(), 2);
    directory +=
        "PK\1\2" + little(20, 2) + common + little(4, 2) + little(0, 8) + narrow(place) + part.name + extra + "note";
    file += "PK\3\4" + common + part.name + extra + data;
  }
  const std::uint64_t place = file.size();
  file += directory;
  if (zip64) {
    const std::uint64_t end = file.size();
    file += "PK\6\6" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) + little(parts.size(), 8) +
            little(parts.size(), 8) + little(directory.size(), 8) + little(place, 8);
    file += "PK\6\7" + little(0, 4) + little(end, 8) + little(1, 4);
  }
  return file + "PK\5\6" + little(0, 4) + little(parts.size(), 2) + little(parts.size(), 2) +
         little(zip64 ? 0xffffffff : directory.size(), 4) + little(zip64 ? 0xffffffff : place, 4) +
         little(comment.size(), 2) + comment;
}

class NpzTest : public FolderTest {
 protected:
  Matrix read_zip(const std::string& bytes, const std::string& member = "", const ReadOptions& options = {}) {
    put_bytes(path("a.npz"), bytes);
    return read(path("a.npz") + member, options);
  }
  std::string refusal(const std::string& bytes, const std::string& member = "") {
    return message_of<FormatError>([&] { read_zip(bytes, member); });
  }
  const std::string array = npy("(2, 3)", "\1\2\3\4\5\6");
  const Matrix X = (Matrix(3, 2) << 1, 4, 2, 5, 3, 6).finished();
};

TEST_F(NpzTest, TheOnlyMemberNeedsNoName) {
  for (const bool deflate : {false, true}) {
    const std::string bytes = zip({{"x.npy", array, deflate}});
    EXPECT_EQ(read_zip(bytes), X);
    EXPECT_EQ(read_zip(bytes, ":x"), X);
    EXPECT_EQ(read_zip(bytes, ":x.npy"), X);
  }
  EXPECT_EQ(read_zip(zip({{"x", array}})), X);
  EXPECT_EQ(read_zip(zip({{"folder/", ""}, {"folder/x.npy", array}}), ":folder/x"), X);
  EXPECT_EQ(read_zip(zip({{"x.npy", array}, {"readme.txt", "hello"}})), X);
}

TEST_F(NpzTest, AmongSeveralMembersOneIsNamed) {
  const std::string bytes = zip({{"train.npy", array}, {"test.npy", npy("(1, 1)", "7"), true}, {"labels.npy", array}});
  EXPECT_EQ(read_zip(bytes, ":train"), X);
  EXPECT_EQ(read_zip(bytes, ":test"), Matrix::Constant(1, 1, '7'));
  expect_says(refusal(bytes), {"3 numeric arrays", "train", "test", "labels"});
  expect_says(refusal(bytes, ":label"), {"holds no 'label'", "did you mean 'labels'?", "train", "test"});
  expect_says(refusal(zip({})), {"a.npz' holds no numeric array"});
}

TEST_F(NpzTest, Zip64AndCommentsAreUnderstood) {
  EXPECT_EQ(read_zip(zip({{"x.npy", array}}, "a comment with PK\5\6 in it", false)), X);
  EXPECT_EQ(read_zip(zip({{"x.npy", array}}, "", true)), X);
  Part wide{"x.npy", array};
  wide.zip64 = true;
  EXPECT_EQ(read_zip(zip({{"w.npy", npy("(1, 1)", "7")}, wide}, "", true), ":x"), X);
  wide.deflate = true;
  EXPECT_EQ(read_zip(zip({{"w.npy", npy("(1, 1)", "7")}, wide}, "", true), ":x"), X);
}

TEST_F(NpzTest, StoredAndDeflatedMembersStreamInBlocksOfAnySize) {
  std::string elements;
  Matrix Y(10, 300);
  for (int s = 0; s < 300; ++s)
    for (int f = 0; f < 10; ++f) {
      Y(f, s) = (17 * s + f) % 256;
      elements += static_cast<char>((17 * s + f) % 256);
    }
  for (const bool deflate : {false, true}) {
    put_bytes(path("a.npz"), zip({{"x.npy", npy("(300, 10)", elements), deflate}}));
    put_bytes(path("t.npz"), zip({{"x.npy", npy("(10, 300)", elements, "True"), deflate}}));
    for (const char* name : {"a.npz", "t.npz"})
      for (const Index block : {1, 7, 300, 1000}) {
        BlockReader reader(path(name), {.columns = name[0] == 't'});
        EXPECT_TRUE(reader.streams());
        reader.skip(5);
        for (Index at = 5; at < 300; at += block)
          EXPECT_EQ(reader.next(block), Y.middleCols(at, std::min(block, 300 - at)));
        EXPECT_EQ(reader.next(block).cols(), 0);
      }
    // The other way round a deflated member cannot be read in order.
    EXPECT_EQ(read(path("t.npz")), Y.transpose());
    EXPECT_EQ(read(path("a.npz"), {.columns = true}), Y.transpose());
    EXPECT_EQ(BlockReader(path("t.npz")).streams(), !deflate);
  }
}

TEST_F(NpzTest, ALongDeflatedSampleInFortranOrderIsPutInOrder) {
  // a[i, j, k] = i + 7 j + 100 k modulo 251, of 300·300·2; the first axis varies fastest. A sample
  // is longer than the memory that is taken before its elements arrive.
  std::string elements;
  Matrix Y(300 * 300, 2);
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 300; ++j)
      for (int i = 0; i < 300; ++i) {
        const int value = (i + 7 * j + 100 * k) % 251;
        elements += static_cast<char>(value);
        Y(300 * i + j, k) = value;
      }
  for (const bool deflate : {false, true}) {
    put_bytes(path("a.npz"), zip({{"x.npy", npy("(300, 300, 2)", elements, "True"), deflate}}));
    EXPECT_EQ(read(path("a.npz"), {.columns = true}), Y);
    BlockReader reader(path("a.npz"), {.columns = true});
    reader.skip(1);
    EXPECT_EQ(reader.next(1), Y.col(1));
  }
}

TEST_F(NpzTest, DamageIsFoundByChecksumAndLength) {
  for (const bool deflate : {false, true}) {
    Part part{"x.npy", array, deflate};
    part.crc_off = 1;
    expect_says(refusal(zip({part})), {"a.npz:x' is corrupt", "with checksum", "promises"});
    part.crc_off = 0;
    part.size_off = 1;
    expect_says(refusal(zip({part})), {"is corrupt", fmt::format("{} bytes with", array.size()),
                                       fmt::format("promises {} bytes", array.size() + 1)});
    part.size_off = static_cast<std::uint64_t>(-1);
    expect_says(refusal(zip({part})), {fmt::format("{} bytes", array.size() - 1)});
    part.size_off = 0;
    part.compressed_off = 1'000'000;
    expect_says(refusal(zip({part})), {"a.npz:x' is truncated", "but the file ends at"});
  }
  Part part{"x.npy", array, true};
  part.compressed_off = static_cast<std::uint64_t>(-9);
  expect_says(refusal(zip({part})), {"a.npz:x' is truncated", "compressed data stop"});
  Part noise{"x.npy", std::string(100, '\xff')};
  noise.method = 8;
  expect_says(refusal(zip({noise})), {"a.npz:x': corrupt compressed data"});
}

TEST_F(NpzTest, BytesAfterTheArrayAreCheckedToo) {
  Part part{"x.npy", array + std::string(100, 'y'), true};
  EXPECT_EQ(read_zip(zip({part})), X);
  part.crc_off = 1;
  expect_says(refusal(zip({part})), {"is corrupt"});
}

TEST_F(NpzTest, EncryptedAndStrangelyCompressedMembersAreRefused) {
  Part part{"x.npy", array};
  part.flags = 1;
  expect_says(refusal(zip({part})), {"a.npz:x' is encrypted", "without a password"});
  part.flags = 0;
  part.method = 12;
  expect_says(refusal(zip({part})), {"compressed by method 12"});
}

TEST_F(NpzTest, ABrokenArchiveIsRefused) {
  const std::string whole = zip({{"x.npy", array}});
  expect_says(refusal(""), {"is not an NPZ archive", "its 0 bytes"});
  expect_says(refusal("PK\5\6"), {"is not an NPZ archive"});
  expect_says(refusal(whole.substr(0, whole.size() - 30)), {"or a truncated one"});
  expect_says(refusal(whole.substr(10)), {"corrupt or truncated"});
  Part part{"x.npy", array};
  part.place_off = 3;
  expect_says(refusal(zip({part})), {"no member at byte 3 of"});
  part.place_off = 1'000'000;
  expect_says(refusal(zip({part})), {"no member at byte 1000000 of"});
  expect_says(refusal(zip({{"x.npy", "hello"}})), {"a.npz:x' is not an NPY array", "'hello'"});
}

TEST_F(NpzTest, MemoryGrowsWithTheDataAndNotWithTheClaim) {
  const std::string claim = npy("(1, 100000000000000)", std::string(1000, 'x'));
  put_bytes(path("a.npz"), zip({{"stored.npy", claim}, {"deflated.npy", claim, true}}));
  const LittleMemory memory(64 << 20);
  for (const char* member : {":stored", ":deflated"})
    expect_says(message_of<FormatError>([&] { read(path("a.npz") + member); }),
                {"is truncated", "= 100000000000000 bytes, but 1000 are there"});
}

TEST_F(NpzTest, AZip64RecordThatClaimsCountlessMembersTakesNoMemory) {
  std::string bytes = zip({{"x.npy", array}}, "", true);
  const std::size_t record = bytes.find("PK\6\6");
  for (const std::size_t at : {record + 24, record + 32}) bytes.replace(at, 8, little(1 << 28, 8));
  put_bytes(path("a.npz"), bytes);
  const LittleMemory memory(64 << 20);
  expect_says(message_of<FormatError>([&] { read(path("a.npz")); }), {"corrupt or truncated"});
}

TEST_F(NpzTest, AnEmptyMemberIsRefused) {
  expect_says(refusal(zip({{"x.npy", ""}})), {"a.npz:x' is not an NPY array"});
  Part part{"x.npy", ""};
  part.size_off = 100;
  expect_says(refusal(zip({part})), {"is corrupt: 0 bytes", "promises 100 bytes"});
}

}  // namespace
}  // namespace cgmca
