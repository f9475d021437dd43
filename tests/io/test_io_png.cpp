#include "io_testing.hpp"

#include <fmt/format.h>
#include <png.h>
#include <zlib.h>

#include <cstdint>
#include <optional>

#include "io/image/png.hpp"

namespace cgmca {
namespace {

namespace fs = std::filesystem;
using io::decode_png;
using io::open_png_folder;

constexpr int grey = PNG_COLOR_TYPE_GRAY, grey_alpha = PNG_COLOR_TYPE_GRAY_ALPHA, rgb = PNG_COLOR_TYPE_RGB,
              rgb_alpha = PNG_COLOR_TYPE_RGB_ALPHA, indexed = PNG_COLOR_TYPE_PALETTE;

struct Extras {
  std::vector<png_color> palette = {};
  std::vector<png_byte> palette_alpha = {};
  std::optional<png_color_16> transparent = {};
  double gamma = 0;
  bool interlaced = false;
};

struct Picture {
  int width, height, type, bits;
  std::vector<png_byte> bytes;  // packed rows, 16-bit values big-endian
  Extras extras = {};
};

void put(const std::string& file, const Picture& picture) {
  fs::create_directories(fs::path(file).parent_path());
  std::FILE* out = std::fopen(file.c_str(), "wb");
  ASSERT_NE(out, nullptr) << file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_init_io(png, out);
  png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height),
               picture.bits, picture.type, picture.extras.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!picture.extras.palette.empty()) {
    png_set_PLTE(png, info, picture.extras.palette.data(), static_cast<int>(picture.extras.palette.size()));
  }
  if (!picture.extras.palette_alpha.empty() || picture.extras.transparent) {
    png_set_tRNS(png, info, picture.extras.palette_alpha.data(), static_cast<int>(picture.extras.palette_alpha.size()),
                 picture.extras.transparent ? &*picture.extras.transparent : nullptr);
  }
  if (picture.extras.gamma > 0) png_set_gAMA(png, info, picture.extras.gamma);
  png_write_info(png, info);
  std::vector<png_byte> bytes = picture.bytes;
  const std::size_t row = bytes.size() / static_cast<std::size_t>(picture.height);
  std::vector<png_bytep> rows;
  for (std::size_t y = 0; y < static_cast<std::size_t>(picture.height); ++y) {
    rows.push_back(bytes.data() + y * row);
  }
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  std::fclose(out);
}

Vector vector(std::initializer_list<double> values) {
  return Eigen::Map<const Vector>(values.begin(), std::ssize(values));
}

class PngTest : public FolderTest {
 protected:
  Vector decoded(const Picture& picture) {
    put(path("x.png"), picture);
    return decode_png(path("x.png")).values;
  }
  std::string refusal(const Picture& picture) {
    put(path("x.png"), picture);
    return message_of<FormatError>([&] { decode_png(path("x.png")); });
  }
  std::string refusal(const std::string& bytes) {
    put_bytes(path("x.png"), bytes);
    return message_of<FormatError>([&] { decode_png(path("x.png")); });
  }
  // 1×1 grey images whose value is their place in the list.
  void put_named(const std::string& in, const std::vector<std::string>& names) {
    png_byte value = 0;
    for (const std::string& name : names) put(path(in + "/" + name), {1, 1, grey, 8, {value++}});
  }
};

TEST_F(PngTest, GreyAndColourOf8And16BitsKeepTheirValues) {
  EXPECT_EQ(decoded({3, 2, grey, 8, {0, 1, 128, 200, 254, 255}}), vector({0, 1, 128, 200, 254, 255}));
  EXPECT_EQ(decoded({2, 1, grey, 16, {0, 1, 0xff, 0xfe}}), vector({1, 65534}));
  EXPECT_EQ(decoded({2, 1, rgb, 8, {1, 2, 3, 4, 5, 6}}), vector({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(decoded({1, 1, rgb, 16, {1, 0, 0, 2, 255, 255}}), vector({256, 2, 65535}));
  EXPECT_EQ(io::text(decode_png(path("x.png")).kind), "1×1 colour 16-bit");
}

TEST_F(PngTest, GammaDoesNotChangeTheValues) {
  for (const double gamma : {0.45455, 1.0, 2.2}) {
    EXPECT_EQ(decoded({3, 1, grey, 8, {10, 100, 200}, {.gamma = gamma}}), vector({10, 100, 200}));
    EXPECT_EQ(decoded({1, 1, grey, 16, {50, 60}, {.gamma = gamma}}), vector({50 * 256 + 60}));
    EXPECT_EQ(decoded({2, 1, indexed, 8, {0, 1}, {.palette = {{9, 9, 9}, {77, 77, 77}}, .gamma = gamma}}),
              vector({9, 77}));
  }
}

TEST_F(PngTest, FewerBitsAreSpreadToEight) {
  EXPECT_EQ(decoded({8, 1, grey, 1, {0b01100001}}), vector({0, 255, 255, 0, 0, 0, 0, 255}));
  EXPECT_EQ(decoded({4, 1, grey, 2, {0b00011011}}), vector({0, 85, 170, 255}));
  EXPECT_EQ(decoded({2, 1, grey, 4, {0x1f}}), vector({17, 255}));
}

TEST_F(PngTest, APaletteGivesItsColoursAndAGreyOneGrey) {
  EXPECT_EQ(decoded({2, 1, indexed, 8, {1, 0}, {.palette = {{1, 2, 3}, {4, 5, 6}}}}), vector({4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(decoded({4, 1, indexed, 2, {0b00011000}, {.palette = {{7, 7, 7}, {8, 8, 8}, {255, 255, 255}}}}),
            vector({7, 8, 255, 7}));
  EXPECT_EQ(io::text(decode_png(path("x.png")).kind), "4×1 grey 8-bit");
}

TEST_F(PngTest, InterlacedRowsComeInOrder) {
  Picture picture{9, 7, grey, 8, {}, {.interlaced = true}};
  for (int i = 0; i < 63; ++i) picture.bytes.push_back(static_cast<png_byte>(i));
  EXPECT_EQ(decoded(picture), Vector::LinSpaced(63, 0, 62));
}

TEST_F(PngTest, OpaqueAlphaIsDropped) {
  EXPECT_EQ(decoded({2, 1, grey_alpha, 8, {5, 255, 6, 255}}), vector({5, 6}));
  EXPECT_EQ(decoded({1, 1, grey_alpha, 16, {1, 2, 255, 255}}), vector({258}));
  EXPECT_EQ(decoded({1, 1, rgb_alpha, 8, {1, 2, 3, 255}}), vector({1, 2, 3}));
  EXPECT_EQ(decoded({1, 1, indexed, 8, {0}, {.palette = {{1, 2, 3}}, .palette_alpha = {255}}}), vector({1, 2, 3}));
  EXPECT_EQ(decoded({2, 1, indexed, 8, {0, 1}, {.palette = {{1, 1, 1}, {2, 2, 2}}, .palette_alpha = {255}}}),
            vector({1, 2}));
}

TEST_F(PngTest, TransparencyIsRefusedWithItsPlace) {
  expect_says(refusal(Picture{2, 2, grey_alpha, 8, {5, 255, 6, 255, 7, 255, 8, 254}}),
              {"x.png", "row 1, column 1", "alpha 254 of 255", "background"});
  expect_says(refusal(Picture{1, 1, rgb_alpha, 16, {0, 0, 0, 0, 0, 0, 255, 254}}), {"alpha 65534 of 65535"});
  expect_says(
      refusal(Picture{2, 1, indexed, 8, {0, 1}, {.palette = {{1, 1, 1}, {2, 2, 2}}, .palette_alpha = {255, 0}}}),
      {"row 0, column 1", "alpha 0 of 255"});
  png_color_16 black{};
  expect_says(refusal(Picture{2, 1, grey, 8, {9, 0}, {.transparent = black}}), {"row 0, column 1", "alpha 0 of 255"});
}

TEST_F(PngTest, AnyTruncationAndAnyFlippedBitIsAFormatError) {
  Picture picture{16, 16, grey, 8, {}};
  for (int i = 0; i < 256; ++i) picture.bytes.push_back(static_cast<png_byte>(i * i));
  put(path("good.png"), picture);
  const std::string good = bytes_of(path("good.png"));
  for (std::size_t size = 0; size < good.size(); ++size) {
    expect_says(refusal(good.substr(0, size)), {fmt::format("({} bytes)", size), "not a valid PNG image"});
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    put_bytes(path("x.png"), bad);
    try {  // a bit in what is not part of the pixels may pass; it must not change them
      EXPECT_EQ(decode_png(path("x.png")).values, decode_png(path("good.png")).values) << at;
    } catch (const FormatError&) {
    }
  }
  expect_says(refusal(std::string("JFIF, called .png")), {"(17 bytes)", "Not a PNG file"});
}

// Width and height stand at bytes 16 and 20; the header's checksum at 29.
std::string with_size(std::string bytes, std::uint32_t width, std::uint32_t height) {
  png_save_uint_32(reinterpret_cast<png_bytep>(bytes.data()) + 16, width);
  png_save_uint_32(reinterpret_cast<png_bytep>(bytes.data()) + 20, height);
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()) + 12, 17);
  png_save_uint_32(reinterpret_cast<png_bytep>(bytes.data()) + 29, static_cast<png_uint_32>(crc));
  return bytes;
}

TEST_F(PngTest, ASizeTheFileCannotHoldIsRefusedBeforeMemoryIsTaken) {
  put(path("good.png"), {4, 4, grey, 8, std::vector<png_byte>(16)});
  const std::string good = bytes_of(path("good.png"));
  expect_says(refusal(with_size(good, 1'000'000, 1'000'000)),
              {"claims 1000000×1000000 pixels", fmt::format("{} bytes", good.size())});
  expect_says(refusal(with_size(good, 2'000'000, 4)), {"not a valid PNG image", "IHDR"});
  expect_says(refusal(with_size(good, 0, 4)), {"not a valid PNG image", "IHDR"});
  expect_says(refusal(with_size(good, 4, 5)), {"not a valid PNG image"});
}

TEST_F(PngTest, AFolderIsReadInNaturalOrderSubfoldersIncluded) {
  const std::vector<std::string> names{"a/img2.png", "a/img10.PNG", "a.png",    "A2.png",    "img1.png", "img01.png",
                                       "img1b.png",  "img02.png",   "img9.Png", "img10.png", "z/y/x.png"};
  // A name before its continuations; names that differ in zeros or case alone, by their bytes.
  const std::vector<double> order{0, 1, 2, 3, 5, 4, 6, 7, 8, 9, 10};
  put_named("f", names);
  put_bytes(path("f/readme.txt"), "no image");
  put_bytes(path("f/._img1.png"), "what a Mac leaves behind");
  fs::create_directory(path("f/.thumbnails"));
  put_bytes(path("f/.thumbnails/img1.png"), "no image either");
  fs::create_directory_symlink(path("f"), path("f/loop"));
  for (const std::string ending : {"", "/", "/."}) {
    const Matrix X = read_all(open_png_folder, path("f") + ending);
    EXPECT_EQ(X, Eigen::Map<const Matrix>(order.data(), 1, 11));
  }
}

TEST_F(PngTest, BlocksAndSkippingGiveTheSameImages) {
  for (int i = 0; i < 7; ++i) {
    const auto value = static_cast<png_byte>(i);
    put(path(fmt::format("f/{}.png", i)), {2, 1, grey, 8, {value, static_cast<png_byte>(99 - i)}});
  }
  const Matrix X = read_all(open_png_folder, path("f"));
  ASSERT_EQ(X.cols(), 7);
  EXPECT_EQ(X.row(0), Eigen::RowVectorXd::LinSpaced(7, 0, 6));
  EXPECT_EQ(X.row(1), Eigen::RowVectorXd::LinSpaced(7, 99, 93));
  for (const Index block : {1, 2, 6, 7, 8}) {
    EXPECT_EQ(drain(*open_png_folder(path("f"), "", {}), block), X);
  }
  const auto source = open_png_folder(path("f"), "", {.columns = true});
  EXPECT_TRUE(source->streams());
  EXPECT_EQ(source->samples(), 7);
  source->skip(5);
  EXPECT_EQ(source->next(10), X.rightCols(2));
}

TEST_F(PngTest, ImagesOfTwoSizesOrKindsAreRefusedByName) {
  put(path("f/1.png"), {2, 1, grey, 8, {0, 0}});
  put(path("f/2.png"), {1, 2, grey, 8, {0, 0}});
  const auto message = [&] { return message_of<FormatError>([&] { read_all(open_png_folder, path("f")); }); };
  expect_says(message(), {"'1.png' is 2×1 grey 8-bit", "'2.png' is 1×2 grey 8-bit"});
  put(path("f/2.png"), {2, 1, grey, 16, {0, 0, 0, 0}});
  expect_says(message(), {"'2.png' is 2×1 grey 16-bit"});
  put(path("f/2.png"), {2, 1, rgb, 8, {0, 0, 0, 0, 0, 0}});
  expect_says(message(), {"'2.png' is 2×1 colour 8-bit"});
}

TEST_F(PngTest, AFolderWithoutImagesAndOneThatIsAbsentAreErrors) {
  expect_says(message_of<FormatError>([&] { open_png_folder(folder.string(), "", {}); }),
              {folder.string(), "no PNG images"});
  expect_says(message_of<IoError>([&] { open_png_folder(path("absent"), "", {}); }), {"absent", "No such file"});
  put_named("f", {"a.png"});
  expect_says(message_of<InvalidInput>([&] { open_png_folder(path("f"), "x", {}); }), {"':x'"});
  EXPECT_THROW(decode_png(path("f")), IoError);
  EXPECT_THROW(decode_png(path("absent.png")), IoError);
}

TEST_F(PngTest, NamedImagesAreReadInTheOrderNamed) {
  put_named("f", {"a.png", "b.png", "sub/c.png"});
  EXPECT_EQ(read_images(path("f"), {"sub/c.png", "a.png"}), (Matrix(1, 2) << 2, 0).finished());
  EXPECT_THROW(read_images(path("f"), {"a.png", "d.png"}), IoError);
  EXPECT_THROW(read_images(path("f"), {}), InvalidInput);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Names = std::vector<std::string>;

TEST_F(PngTest, NamesArePairedOnceTheDifferingPartIsReplaced) {
  put_named("1", {"m/real_10.png", "m/real_2.png", "real_only.png", "same.png"});
  put_named("2", {"m/synth_2.png", "m/synth_10.png", "same.png", "synth_other.png", "m/synth_1.png"});
  const ImagePairs found = match_images(path("1"), path("2"), "real/synth");
  EXPECT_EQ(found.pairs,
            (Pairs{{"m/real_2.png", "m/synth_2.png"}, {"m/real_10.png", "m/synth_10.png"}, {"same.png", "same.png"}}));
  EXPECT_EQ(found.unmatched1, (Names{"real_only.png"}));
  EXPECT_EQ(found.unmatched2, (Names{"m/synth_1.png", "synth_other.png"}));
}

TEST_F(PngTest, AnEmptyPartIsLeftOutAndTheSameNamesMatchByASlash) {
  put_named("1", {"a.png", "b.png"});
  put_named("2", {"a.png", "b_ir.png"});
  EXPECT_EQ(match_images(path("1"), path("2"), "/").pairs, (Pairs{{"a.png", "a.png"}}));
  EXPECT_EQ(match_images(path("1"), path("2"), "/_ir").pairs, (Pairs{{"a.png", "a.png"}, {"b.png", "b_ir.png"}}));
}

TEST_F(PngTest, ThePlaceOfTheDifferingPartMatters) {
  put_named("1", {"1real0.png"});
  put_named("2", {"10synth.png"});
  EXPECT_TRUE(match_images(path("1"), path("2"), "real/synth").pairs.empty());
}

TEST_F(PngTest, TwoNamesForOnePairAndAMatchWithoutPartsAreInvalidInput) {
  put_named("1", {"a.png", "a_ir.png"});
  put_named("2", {"a.png"});
  expect_says(message_of<InvalidInput>([&] { match_images(path("1"), path("2"), "_ir/"); }),
              {"'a.png'", "'a_ir.png'", "without '_ir'"});
  for (const std::string match : {"", "real", "a/b/c"}) {
    expect_says(message_of<InvalidInput>([&] { match_images(path("1"), path("2"), match); }),
                {fmt::format("'{}'", match), "real/synth"});
  }
  EXPECT_THROW(match_images(path("1"), path("absent"), "/"), IoError);
}

// The SAMPLE radar data: 1,345 measured images and as many simulated ones.
TEST_F(PngTest, TheRadarImagesArePairedAndRead) {
  const std::string data = testing::shared("data/SAMPLE_dataset_public/png_images/qpm");
  if (!fs::exists(data)) GTEST_SKIP() << "no SAMPLE data at " << data;
  const ImagePairs found = match_images(data + "/real", data + "/synth", "real/synth");
  ASSERT_EQ(found.pairs.size(), 1345U);
  EXPECT_TRUE(found.unmatched1.empty());
  EXPECT_TRUE(found.unmatched2.empty());
  EXPECT_EQ(found.pairs.front().first.substr(0, 13), "2s1/2s1_real_");
  EXPECT_EQ(found.pairs.front().second.substr(0, 14), "2s1/2s1_synth_");

  const auto source = open_png_folder(data + "/real", "", {});
  EXPECT_EQ(source->features(), 128 * 128);
  EXPECT_EQ(source->samples(), 1345);
  const Matrix X = drain(*source, 500);
  EXPECT_EQ(X.cols(), 1345);
  EXPECT_GE(X.minCoeff(), 0);
  EXPECT_LE(X.maxCoeff(), 255);
  EXPECT_EQ(X, X.array().round().matrix());
  EXPECT_EQ(read_images(data + "/real", {found.pairs[700].first}), X.col(700));
}

}  // namespace
}  // namespace cgmca
