// A share of each format: the right rows, and next to nothing read of the others.
#include <cgmca/io.hpp>
#include <cgmca/parts.hpp>

#include <fstream>
#include <utility>

#include "io_testing.hpp"

namespace cgmca {
namespace {

// Bytes that this process has read so far, by whatever library.
std::int64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string key;
  std::int64_t value = 0;
  io >> key >> value;  // "rchar: N"
  return key == "rchar:" ? value : -1;
}

class Shares : public FolderTest {
 protected:
  const Index n = 20000, d = 50;

  // Part 7 of 10 of a file, and how much of the file was read for it.
  std::pair<Matrix, double> part(const std::string& source, const ReadOptions& read = {}) const {
    ReadOptions options = read;
    options.share = true;
    const std::int64_t before = bytes_read();
    BlockReader reader(source, options);
    const Share share = share_of(reader.count_samples(), {7, 10});
    EXPECT_EQ(share.samples, n / 10);
    reader.skip(share.first);
    Matrix X = reader.next(share.samples);
    const auto bytes = static_cast<double>(bytes_read() - before);
    return {std::move(X), bytes / static_cast<double>(std::filesystem::file_size(file_of(source)))};
  }
  Matrix expected(const Matrix& X) const { return X.middleCols(6 * n / 10, n / 10); }
};

TEST_F(Shares, OfArraysReadOnlyTheirRows) {
  const Matrix X = random_matrix(d, n);
  for (const char* name : {"a.npy", "a.npz", "a.h5"}) {
    write(path(name), X);
    const auto [Y, read] = part(path(name));
    EXPECT_EQ(Y, expected(X)) << name;
    EXPECT_LT(read, 0.13) << name;
  }
}

TEST_F(Shares, OfColumnsReadOnlyTheirColumns) {
  const Matrix X = random_matrix(d, n);
  for (const char* name : {"a.npy", "a.npz", "a.h5"}) {
    write(path(name), X, {.columns = true});
    const auto [Y, read] = part(path(name), {.columns = true});
    EXPECT_EQ(Y, expected(X)) << name;
    EXPECT_LT(read, std::string(name) == "a.h5" ? 0.5 : 0.13) << name;  // HDF5 reads 64 KB around short runs
  }
}

TEST_F(Shares, OfIdxReadOnlyTheirRows) {
  std::string bytes(static_cast<std::size_t>(n * d), '\0');
  Matrix X(d, n);
  for (Index i = 0; i < n * d; ++i) {
    bytes[i] = static_cast<char>(i * 7 % 128);
    X(i % d, i / d) = static_cast<double>(i * 7 % 128);
  }
  const auto length = [](Index value) {
    std::string text;
    for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(value >> shift & 255);
    return text;
  };
  put_bytes(path("a.idx"), std::string("\0\0\x08\x02", 4) + length(n) + length(d) + bytes);
  const auto [Y, read] = part(path("a.idx"));
  EXPECT_EQ(Y, expected(X));
  EXPECT_LT(read, 0.13);
}

TEST_F(Shares, OfTextAreFoundByItsLineEndsAndByAnIndexWithoutThem) {
  const Matrix X = random_matrix(d, n);
  write(path("a.csv"), X);
  const auto [by_lines, all] = part(path("a.csv"));
  EXPECT_EQ(by_lines, expected(X));
  EXPECT_GT(all, 1);  // the whole file for its line ends
  EXPECT_EQ(write_row_index(path("a.csv")), n);
  const auto [by_index, read] = part(path("a.csv"));
  EXPECT_EQ(by_index, expected(X));
  EXPECT_LT(read, 0.25);  // the first lines, a piece before the share, the share
}

TEST_F(Shares, OfTextWithDecimalCommasQuotesAndEmptyLinesAreThoseOfTheWholeFile) {
  std::string text = "\"a\nb\";c\r\n";
  for (int i = 0; i < 30000; ++i) {
    text += "\"" + std::to_string(i) + "\";" + (i < 20000 ? "1" : "2,5") + "\r\n" + (i % 100 == 0 ? "\r\n" : "");
  }
  put_bytes(path("a.csv"), text);
  for (const bool with_index : {false, true}) {
    if (with_index) write_row_index(path("a.csv"));
    BlockReader reader(path("a.csv"));
    EXPECT_EQ(reader.count_samples(), 30000);
    EXPECT_EQ(reader.samples(), 30000);
    EXPECT_EQ(reader.next(1)(0, 0), 0);
    reader.skip(29990);
    const Matrix X = reader.next(100);
    ASSERT_EQ(X.cols(), 9);
    EXPECT_EQ(X(0, 0), 29991);
    EXPECT_EQ(X(1, 8), 2.5);
    EXPECT_EQ(reader.place(29999, 1), "line 30302, column 'c'");
  }
}

TEST_F(Shares, AnIndexOfAnotherFileIsRefused) {
  write(path("a.csv"), random_matrix(3, 10));
  write_row_index(path("a.csv"));
  EXPECT_EQ(BlockReader(path("a.csv")).count_samples(), 10);
  write(path("a.csv"), random_matrix(3, 11));
  const auto refusal = [&] { return message_of<FormatError>([&] { BlockReader(path("a.csv")).count_samples(); }); };
  expect_says(refusal(), {"a.csv.rows", "before the last change", "cgmca index"});
  write_row_index(path("a.csv"));
  const std::string index = bytes_of(path("a.csv.rows"));
  put_bytes(path("a.csv.rows"), index.substr(0, index.size() - 2));
  expect_says(refusal(), {"a.csv.rows", "damaged"});
  // More rows than the file has bytes, fewer than none, an anchor beyond the end, no decimal mark.
  const std::string start = index.substr(0, index.find('\n', index.find('\n') + 1) + 1);
  for (const char* rest : {"999999999999 . 2\nend\n", "-5 . 2\nend\n", "5 . 2\n3 99999999999 4\nend\n", "5 x 2\nend\n",
                           "many . 2\nend\n"}) {
    put_bytes(path("a.csv.rows"), start + rest);
    expect_says(refusal(), {"a.csv.rows", "damaged"});
  }
  put_bytes(path("a.csv.rows"), "something else");
  expect_says(refusal(), {"is not an index"});
  expect_says(message_of<InvalidInput>([&] {
                write(path("a.npy"), random_matrix(3, 10));
                write_row_index(path("a.npy"));
              }),
              {"a.npy", "needs no index"});
}

// As NumPy stores it, with a checksum over all.
TEST_F(Shares, OfAStoredArchiveDoNotMindDamageElsewhere) {
  const Matrix X = random_matrix(d, n);
  write(path("a.npz"), X);
  std::string bytes = bytes_of(path("a.npz"));
  bytes[bytes.size() / 10] ^= 1;  // part 2
  put_bytes(path("a.npz"), bytes);
  EXPECT_EQ(part(path("a.npz")).first, expected(X));
  EXPECT_THROW(BlockReader(path("a.npz")), FormatError);
}

}  // namespace
}  // namespace cgmca
