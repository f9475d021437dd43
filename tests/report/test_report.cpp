// The report builder: what it draws is escaped, whole and valid.
#include <png.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "report/axes.hpp"
#include "report/bar_list.hpp"
#include "report/html.hpp"
#include "report/labels.hpp"
#include "report/plot.hpp"
#include "report/png.hpp"
#include "testing.hpp"

namespace cgmca::report {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Image decode(const std::vector<std::uint8_t>& bytes) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()), 0);
  header.format = PNG_FORMAT_GRAY;
  Image image{header.height, header.width, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(header))};
  EXPECT_NE(png_image_finish_read(&header, nullptr, image.pixels.data(), 0, nullptr), 0);
  return image;
}

TEST(Report, GreyLevelsAreRoundedAndClipped) {
  const std::vector<double> values{-1, 0, 0.5, 1, 2, std::numeric_limits<double>::quiet_NaN()};
  const Image image = gray(values, 2, 3);
  EXPECT_EQ(image.pixels, (std::vector<std::uint8_t>{0, 0, 128, 255, 255, 0}));
  EXPECT_THROW(gray(values, 2, 2), InvalidInput);
}

TEST(Report, APngReadsBackAsTheImageItWasMadeFrom) {
  Image image{3, 5, {}};
  for (int k = 0; k < 15; ++k) image.pixels.push_back(static_cast<std::uint8_t>(17 * k));
  EXPECT_EQ(decode(png(image)).pixels, image.pixels);
  const testing::TemporaryFolder folder;
  write_png(folder / "a.png", image);
  std::ifstream file(folder / "a.png", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(decode({bytes.begin(), bytes.end()}).pixels, image.pixels);
  EXPECT_THROW(write_png(folder / "missing/a.png", image), IoError);
}

TEST(Report, AMontageHoldsEveryImageInItsPlace) {
  const Image a{1, 2, {1, 2}}, b{1, 2, {3, 4}}, c{1, 2, {5, 6}};
  const Image whole = montage(std::vector<Image>{a, b, c}, 2, 1, 9);
  EXPECT_EQ(whole.height, 5);
  EXPECT_EQ(whole.width, 7);
  EXPECT_EQ(whole.pixels, (std::vector<std::uint8_t>{9, 9, 9, 9, 9, 9, 9,  //
                                                     9, 1, 2, 9, 3, 4, 9,  //
                                                     9, 9, 9, 9, 9, 9, 9,  //
                                                     9, 5, 6, 9, 9, 9, 9,  //
                                                     9, 9, 9, 9, 9, 9, 9}));
  EXPECT_THROW(montage(std::vector<Image>{a, Image{2, 1, {1, 2}}}, 2), InvalidInput);
  EXPECT_EQ(enlarge(a, 2).pixels, (std::vector<std::uint8_t>{1, 1, 2, 2, 1, 1, 2, 2}));
}

TEST(Report, DataUrisAreBase64) {
  const Image image{1, 1, {0}};
  const std::string uri = data_uri(image), start = "data:image/png;base64,iVBORw0KGgo";  // the PNG signature
  EXPECT_EQ(uri.substr(0, start.size()), start);
  EXPECT_EQ((uri.size() - std::string("data:image/png;base64,").size()) % 4, 0U);
}

TEST(Report, EverythingAUserNamesIsEscaped) {
  const std::string nasty = "<script>alert(\"1\")</script> & 'x'";
  Page page(nasty, nasty);
  page.section(nasty).text(nasty).code(nasty);
  page.table({{nasty, nasty}, {{nasty, nasty}}, nasty});
  const Axes axes{.title = nasty, .x_label = nasty, .y_label = nasty};
  const std::vector<Series> series{{nasty, {1, 2}, {3, 4}}, {nasty, {1, 2}, {3, 4}}};
  page.figure(line_plot(series, axes), nasty).figure(scatter(series, axes), nasty).figure(stems(series, axes), nasty);
  page.figure(bars({nasty, nasty}, series, axes), nasty).figure(heat_map(Matrix::Ones(2, 2), axes), nasty);
  page.pictures({{nasty, Image{1, 1, {0}}}}, nasty).strips({{nasty, Image{1, 1, {0}}}}, nasty);
  const std::vector<Bar> two{{nasty, nasty, 0.5}, {nasty, "short", -0.5}};
  page.fold(nasty, bar_lists({{nasty, nasty, nasty, two, 1, nasty}}, {-1, 1}), true);
  const std::string html = page.html();
  EXPECT_EQ(count(html, "<script"), 0U);
  EXPECT_GE(count(html, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;"), 30U);
}

TEST(Report, APageNeedsNothingFromAnywhereElse) {
  Page page("t");
  page.figure(line_plot({{"", {1, 2}, {3, 4}}}, {}), "c").pictures({{"p", Image{1, 1, {0}}}}, "c");
  const std::string html = page.html();
  EXPECT_EQ(count(html, "http"), 1U);  // the SVG namespace, which is never fetched
  EXPECT_EQ(count(html, "src=\"data:"), count(html, "src="));
  EXPECT_NE(html.find("prefers-color-scheme: dark"), std::string::npos);
  const testing::TemporaryFolder folder;
  page.write(folder / "p.html");
  std::stringstream written;
  written << std::ifstream(folder / "p.html").rdbuf();
  EXPECT_EQ(written.str(), html);
}

TEST(Report, ATableRowOfAnotherLengthIsRefused) { EXPECT_THROW(Page("t").table({{"a", "b"}, {{"1"}}}), InvalidInput); }

TEST(Report, TicksAreRoundNumbersInsideTheRange) {
  EXPECT_EQ(nice_ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(nice_ticks(-3, 12, 5), (std::vector<double>{-2, 0, 2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(nice_ticks(0, 784, 6), (std::vector<double>{0, 100, 200, 300, 400, 500, 600, 700}));
  EXPECT_EQ(log_ticks(1, 500), (std::vector<double>{1, 2, 5, 10, 20, 50, 100, 200, 500}));
  EXPECT_EQ(log_ticks(1, 1e4).size(), 5U);
  EXPECT_EQ(tick_label(0.6000000000000001), "0.6");
  EXPECT_EQ(tick_label(20000), "20,000");
  EXPECT_EQ(tick_label(-0.25), "−0.25");
  EXPECT_EQ(tick_label(1e-8), "1e-08");
}

TEST(Report, WhatIsCountedHasNoTicksBetweenWholeNumbers) {
  const std::vector<Series> three{{"", {1, 2, 3}, {0.5, 0.25, 0.75}}};
  const Axes plain{.y_low = 0, .y_high = 1}, whole{.whole_x = true, .y_low = 0, .y_high = 1};
  EXPECT_NE(stems(three, plain).find(">1.2</text>"), std::string::npos);
  const std::string svg = stems(three, whole);
  EXPECT_EQ(svg.find(">1.2</text>"), std::string::npos);
  for (const char* label : {">1</text>", ">2</text>", ">3</text>"}) EXPECT_NE(svg.find(label), std::string::npos);
}

// What is not finite, or not positive on a logarithmic axis, must not reach the SVG, where one "nan" voids a path.
TEST(Report, PlotsSurviveWhatCannotBeDrawn) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const std::vector<Series> odd{{"a", {0, 1, nan, 10, 100}, {1, nan, 2, infinity, 3}}, {"b", {}, {}}, {"c", {1}, {1}}};
  const Axes log{.log_x = true}, linear{};
  std::string all;
  for (const Axes& axes : {log, linear}) all += line_plot(odd, axes) + scatter(odd, axes) + stems(odd, axes);
  all += bars({"x"}, {{"a", {}, {nan}}}, linear) + line_plot({}, linear) + line_plot({}, log);
  Matrix matrix = Matrix::Zero(3, 200);
  matrix(0, 0) = nan;
  matrix(1, 1) = -4;
  all += heat_map(matrix, linear) + heat_map(Matrix::Zero(2, 2), linear);
  EXPECT_EQ(count(all, "nan"), 0U);
  EXPECT_EQ(count(all, "inf"), 0U);
  EXPECT_THROW(line_plot({{"a", {1}, {}}}, linear), InvalidInput);
  EXPECT_THROW(bars({"x"}, {{"a", {}, {}}}, linear), InvalidInput);
}

TEST(Report, AHeatMapOfManyCellsIsAveraged) {
  const std::string svg = heat_map(Matrix::Ones(784, 784), {});
  EXPECT_EQ(count(svg, "<rect"), 64U * 64U + 1U + 32U);
}

TEST(Report, BarsLieToEitherSideOfTheZeroLine) {
  const std::vector<Bar> some{{"age", "age", 0.5}, {"weight", "weight", -0.25}, {"far", "far", -7}};
  const std::string html = bar_lists({{"people", "feature", "correlation", some, 2, "and so on"}}, {-1, 1});
  EXPECT_NE(html.find("<i class=\"p\" style=\"left:50%;width:25%\"></i></div></td><td>0.50</td>"), std::string::npos);
  EXPECT_NE(html.find("<i class=\"n\" style=\"left:37.5%;width:12.5%\"></i></div></td><td>−0.25</td>"),
            std::string::npos);
  EXPECT_NE(html.find("<i class=\"n\" style=\"left:0%;width:50%\"></i></div></td><td>−7.00</td>"), std::string::npos);
  EXPECT_NE(html.find("<details><summary>1 more</summary>"), std::string::npos);  // the third is folded away
  EXPECT_EQ(count(html, "<table"), count(html, "</table>"));
  EXPECT_EQ(count(html, "title="), 0U);  // no name was shortened
  const std::string one_sided = bar_lists({{"", "", "", {{"a", "a", 0.3}}, 1, ""}}, {0, 1});
  EXPECT_NE(one_sided.find("--zero:0%\"><i class=\"p\" style=\"left:0%;width:30%\">"), std::string::npos);
}

TEST(Report, AShortenedBarKeepsItsWholeNameForTheReader) {
  const std::string html = bar_lists({{"", "", "", {{"a <very> long name", "a <v…me", 0.3}}, 1, ""}}, {0, 1});
  EXPECT_NE(
      html.find(
          "title=\"a &lt;very&gt; long name\" aria-label=\"a &lt;very&gt; long name\">a &lt;v&#8288;…&#8288;me</th>"),
      std::string::npos);
}

TEST(Report, LongNamesAreCutInTheMiddleBetweenCharacters) {
  EXPECT_EQ(shortened("mean corpuscular", 16), "mean corpuscular");
  EXPECT_EQ(shortened("mean corpuscular", 15), "mean co…uscular");
  EXPECT_EQ(shortened("ÄÖÜäöüß", 5), "ÄÖ…üß");
  EXPECT_EQ(shortened("温度测量值一二三", 9), "温度…二三");  // two columns a character
  EXPECT_EQ(shortened("\xff\xff\xff\xff", 3), "\xff…\xff");  // bytes that are no UTF-8 end no loop
  EXPECT_EQ(shortened("", 3), "");
}

TEST(Report, DifferentNamesNeverLookAlike) {
  const std::vector<std::string> genes{"expression_of_BRCA1_in_liver", "short", "expression_of_BRCA27_in_liver",
                                       "short"};
  EXPECT_EQ(short_labels(genes, 14), (std::vector<std::string>{"…f_BRCA1_in_l…", "short", "…_BRCA27_in_l…", "short"}));
  // They differ in too many places to show.
  const std::vector<std::string> far{"same start 1 and then much text 1 same end",
                                     "same start 2 and then much text 2 same end"};
  EXPECT_EQ(short_labels(far, 14), (std::vector<std::string>{"same … end (1)", "same … end (2)"}));
  // One is the other with a piece cut out of its middle.
  const std::vector<std::string> inside{"aaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
  const auto labels = short_labels(inside, 10);
  EXPECT_NE(labels[0], labels[1]);
}

TEST(Report, SignedValuesAreShort) {
  EXPECT_EQ(signed_value(0.254), "0.25");
  EXPECT_EQ(signed_value(-0.254), "−0.25");
  EXPECT_EQ(signed_value(-0.001), "0.00");
  EXPECT_EQ(signed_value(-9.996), "−10");
  EXPECT_EQ(signed_value(-1e9), "< −99");
}

}  // namespace
}  // namespace cgmca::report
