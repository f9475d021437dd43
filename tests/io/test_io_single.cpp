// Files of numbers that a float holds exactly are read without a block of doubles, whatever the format.
#include <fmt/format.h>
#include <hdf5.h>
#include <matio.h>
#include <png.h>
#include <zip.h>

#include <bit>
#include <cstring>
#include <functional>

#include "io_testing.hpp"

namespace cgmca {
namespace {

class SingleTest : public FolderTest {
 protected:
  // The values of a 7×(3·2) array, all of which every type of 8 bits and more holds.
  static std::string elements(const std::function<std::string(int)>& one) {
    std::string bytes;
    for (int i = 0; i < 42; ++i) bytes += one(i);
    return bytes;
  }
  template <class T>
  static std::string bytes_of_value(T value, bool swap = false) {
    std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
    if (swap) bytes = {bytes.rbegin(), bytes.rend()};
    return bytes;
  }
  static std::string npy(const std::string& type, const std::string& shape, const std::string& contents,
                         bool fortran = false) {
    std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", type, fortran ? "True" : "False", shape);
    const auto size = static_cast<std::uint16_t>(header.size());
    return std::string("\x93NUMPY\1\0", 8) + bytes_of_value(size) + header + contents;
  }
  void put_npz(const std::string& name, const std::string& member, zip_int32_t method) const {
    zip_t* const archive = zip_open(path(name).c_str(), ZIP_CREATE, nullptr);
    const auto index = zip_file_add(archive, "x.npy", zip_source_buffer(archive, member.data(), member.size(), 0), 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), method, 0);
    ASSERT_EQ(zip_close(archive), 0);
  }
  void put_hdf5(const std::string& name, hid_t type, hid_t memory, const std::string& contents) const {
    const std::array<hsize_t, 3> shape{7, 3, 2};
    const hid_t file = H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(3, shape.data(), nullptr);
    const hid_t dataset = H5Dcreate2(file, "x", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, contents.data()), 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
  }
  void put_mat(const std::string& name, mat_ft version, std::string contents) const {
    std::array<std::size_t, 3> shape{7, 3, 2};
    mat_t* const file = Mat_CreateVer(path(name).c_str(), nullptr, version);
    matvar_t* const variable =
        Mat_VarCreate("x", MAT_C_SINGLE, MAT_T_SINGLE, 3, shape.data(), contents.data(), MAT_F_DONT_COPY_DATA);
    ASSERT_EQ(Mat_VarWrite(file, variable, MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(variable);
    Mat_Close(file);
  }

  // To the bit, in blocks of several sizes, after some were skipped.
  void expect_same(const std::string& name, bool single) const {
    for (const bool columns : {false, true})
      for (const Index block : {1, 2, 1000}) {
        SCOPED_TRACE(fmt::format("{}, {}, blocks of {}", name, columns ? "columns" : "rows", block));
        BlockReader wide(path(name), {.columns = columns}), narrow(path(name), {.columns = columns});
        EXPECT_EQ(narrow.single(), single);
        const Index skipped = *wide.samples() > 1 && block < 1000 ? 1 : 0;
        wide.skip(skipped);
        narrow.skip(skipped);
        for (;;) {
          const Matrix X = wide.next(block);
          const Eigen::MatrixXf x = narrow.next_single(block);
          ASSERT_EQ(x.rows(), X.rows());
          ASSERT_EQ(x.cols(), X.cols());
          ASSERT_EQ(narrow.position(), wide.position());
          if (X.cols() == 0) break;
          const Matrix widened = x.cast<double>();
          const Eigen::MatrixXf rounded = X.cast<float>();
          EXPECT_EQ(std::memcmp(rounded.data(), x.data(), sizeof(float) * static_cast<std::size_t>(x.size())), 0);
          if (single) {
            EXPECT_EQ(std::memcmp(widened.data(), X.data(), sizeof(double) * static_cast<std::size_t>(X.size())), 0);
          }
        }
      }
  }
};

float value(int i) { return 0.1F * static_cast<float>(i) - 1; }

TEST_F(SingleTest, NpyAndNpzOfNarrowTypes) {
  const bool little = std::endian::native == std::endian::little;
  const std::string f4 = elements([](int i) { return bytes_of_value(value(i)); });
  const std::string swapped = elements([](int i) { return bytes_of_value(value(i), true); });
  const std::vector<std::pair<std::string, std::string>> narrow = {
      {little ? "<f4" : ">f4", f4},
      {little ? ">f4" : "<f4", swapped},
      {little ? "<f2" : ">f2", elements([](int i) { return bytes_of_value(static_cast<std::uint16_t>(1000 * i)); })},
      {little ? "<i2" : ">i2", elements([](int i) { return bytes_of_value(static_cast<std::int16_t>(-700 * i)); })},
      {little ? "<u2" : ">u2", elements([](int i) { return bytes_of_value(static_cast<std::uint16_t>(1500 * i)); })},
      {"|u1", elements([](int i) { return bytes_of_value(static_cast<std::uint8_t>(6 * i)); })},
      {"|i1", elements([](int i) { return bytes_of_value(static_cast<std::int8_t>(-3 * i)); })},
      {"|b1", elements([](int i) { return bytes_of_value(static_cast<std::uint8_t>(i % 2)); })}};
  for (const auto& [type, bytes] : narrow)
    for (const bool fortran : {false, true}) {
      SCOPED_TRACE(type + (fortran ? ", Fortran order" : ""));
      const std::string array = npy(type, "(7, 3, 2)", bytes, fortran);
      put_bytes(path("a.npy"), array);
      expect_same("a.npy", true);
      for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
        std::filesystem::remove(path("a.npz"));
        put_npz("a.npz", array, method);
        expect_same("a.npz", true);
      }
    }
}

TEST_F(SingleTest, WideTypesAreRoundedAndSaySo) {
  const char order = std::endian::native == std::endian::little ? '<' : '>';
  put_bytes(path("f8.npy"),
            npy(fmt::format("{}f8", order), "(7, 3, 2)", elements([](int i) { return bytes_of_value(0.1 * i); })));
  put_bytes(path("i4.npy"), npy(fmt::format("{}i4", order), "(7, 3, 2)",
                                elements([](int i) { return bytes_of_value(123456789 - i); })));
  expect_same("f8.npy", false);
  expect_same("i4.npy", false);
  write(path("a.mat"), random_matrix(3, 4));
  write(path("a.h5"), random_matrix(3, 4));
  expect_same("a.mat", false);
  expect_same("a.h5", false);
  write(path("a.csv"), random_matrix(3, 4));
  BlockReader reader(path("a.csv"));
  EXPECT_FALSE(reader.single());
  EXPECT_EQ(reader.next_single(10), read(path("a.csv")).cast<float>());
}

TEST_F(SingleTest, IdxHdf5AndMat) {
  put_bytes(path("a.idx"), std::string("\0\0\x08\2\0\0\0\7\0\0\0\6", 12) +
                               elements([](int i) { return bytes_of_value(static_cast<std::uint8_t>(6 * i)); }));
  expect_same("a.idx", true);
  const std::string f4 = elements([](int i) { return bytes_of_value(value(i)); });
  for (const hid_t type : {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_STD_I16BE, H5T_STD_U8LE}) {
    put_hdf5("a.h5", type, H5T_NATIVE_FLOAT, f4);
    expect_same("a.h5", true);
  }
  put_hdf5("a.h5", H5T_IEEE_F64LE, H5T_NATIVE_FLOAT, f4);
  expect_same("a.h5", false);
  for (const mat_ft version : {MAT_FT_MAT5, MAT_FT_MAT73}) {
    std::filesystem::remove(path("a.mat"));
    put_mat("a.mat", version, f4);
    expect_same("a.mat", true);
  }
}

TEST_F(SingleTest, AFolderOfImages) {
  std::filesystem::create_directory(path("images"));
  for (int i = 0; i < 5; ++i) {
    const std::string pixels = elements([&](int j) { return bytes_of_value(static_cast<std::uint8_t>(50 * i + j)); });
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = 6;
    image.height = 7;
    image.format = PNG_FORMAT_GRAY;
    const std::string file = path(fmt::format("images/{}.png", i));
    ASSERT_NE(png_image_write_to_file(&image, file.c_str(), 0, pixels.data(), 6, nullptr), 0);
  }
  expect_same("images", true);
}

TEST_F(SingleTest, NoBlockOfDoublesIsMade) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "sanitizers know no limit of memory";
#endif
  // 128 MB of zeros that take no disk: within 192 MB as floats, not as doubles.
  put_bytes(path("a.npy"), npy("<f4", "(32, 1000000)", ""));
  const auto header = std::filesystem::file_size(path("a.npy"));
  std::filesystem::resize_file(path("a.npy"), header + 128'000'000);
  const LittleMemory memory(192 << 20);
  EXPECT_EQ(BlockReader(path("a.npy")).next_single(32).cols(), 32);
  EXPECT_THROW(BlockReader(path("a.npy")).next(32), IoError);
}

}  // namespace
}  // namespace cgmca
