// Files that Octave and h5py wrote, kept in tests/fixtures/ with the scripts that made them. Their
// arrays are A(s, i, j) = 100 s + 3 i + j, 2 samples of 4×3 features; the text files have others.
#include <cgmca/io.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "io_testing.hpp"

namespace cgmca {
namespace {

std::string refusal(const std::string& source) {
  return message_of<FormatError>([&] { read(fixture(source)); });
}

void expect_every_class(const std::string& file) {
  SCOPED_TRACE(file);
  for (const std::string name : {"rows", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"}) {
    EXPECT_EQ(read(fixture(file + ":" + name)), ramp(12, 2)) << name;
  }
  EXPECT_EQ(read(fixture(file + ":columns"), {.columns = true}), ramp(12, 2));
  EXPECT_EQ(read(fixture(file + ":flags")), ramp(12, 2).unaryExpr([](double x) { return std::fmod(x, 2.0); }));
  EXPECT_EQ(BlockReader(fixture(file + ":none")).features(), 5);
  EXPECT_EQ(BlockReader(fixture(file + ":none")).samples(), 0);
  expect_says(refusal(file + ":z"), {"complex", "magnitude, power, or stack"});
  Matrix parts(24, 2);
  parts << ramp(12, 2), Matrix::Ones(12, 2);
  for (const std::string name : {":z", ":zs", ":st.deep.z"}) {
    const std::string source = fixture(file + name);
    EXPECT_EQ(read(source, {.complex = ComplexAs::stack}), parts) << name;
    EXPECT_EQ(read(source, {.complex = ComplexAs::power}), (ramp(12, 2).array().square() + 1).matrix()) << name;
    EXPECT_EQ(BlockReader(source, {.complex = ComplexAs::stack}).single(), name == ":zs");
  }
  EXPECT_EQ(read(fixture(file + ":spl")), (Matrix(2, 2) << 1, 1, 0, 1).finished());
  EXPECT_EQ(read(fixture(file + ":spz"), {.complex = ComplexAs::magnitude}), (Matrix(2, 2) << 1, 0, 0, 2).finished());
  expect_says(refusal(file + ":many.x"), {"'many' is an array of 1×3 structs"});
  expect_says(refusal(file + ":many"), {"'many' is an array of 1×3 structs"});
  expect_says(refusal(file + ":st.deep.y"), {"holds no 'y'", "z (complex double"});
  expect_says(refusal(file + ":st.feild"), {"did you mean 'field'?"});
  expect_says(refusal(file + ":rows.x"), {"class double", "has no fields"});
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "size/cm"};
  EXPECT_EQ(BlockReader(fixture(file + ":rows")).feature_names(), names);
  EXPECT_EQ(read(fixture(file + ":sp")), (Matrix(2, 2) << 1, 0, 0, 2).finished());
  expect_says(refusal(file + ":note"), {"text"});
  expect_says(refusal(file + ":st"), {"struct", "st.field"});
  EXPECT_EQ(read(fixture(file + ":st.field")), Matrix::Ones(1, 1));
  expect_says(refusal(file + ":ce"), {"cell"});
}

TEST(Fixtures, OctavesMatlab5FilesAreRead) {
  expect_every_class("octave_v6.mat");
  expect_every_class("octave_v7.mat");
}

TEST(Fixtures, AMatlab73FileIsRead) {
  expect_every_class("matlab73.mat");
  EXPECT_EQ(read(fixture("matlab73.mat:packed")), ramp(12, 2));
  expect_says(refusal("matlab73.mat"), {"19 numeric arrays", "packed (double 2×4×3)"});
}

// As written by make_object.py, which says what MATLAB writes. SciPy and Octave read the same.
TEST(Fixtures, FieldsOfAnObjectAreRead) {
  for (const char* name : {"m5spec", "packed"}) {
    EXPECT_EQ(read(fixture(fmt::format("object.mat:{}.data", name))), ramp(4, 3)) << name;
    expect_says(refusal(fmt::format("object.mat:{}", name)), {"is an object; name a field of it", "data (double 3×4)"});
    expect_says(refusal(fmt::format("object.mat:{}.date", name)), {"did you mean 'data'?"});
    expect_says(refusal(fmt::format("object.mat:{}.name", name)), {"is text (char)"});
  }
  std::vector<std::string> names;
  for (const ArrayInfo& array : describe_file(fixture("object.mat")).arrays) names.push_back(array.name);
  EXPECT_EQ(names, (std::vector<std::string>{"m5spec.name", "m5spec.data", "m5spec.axisscale", "packed.name",
                                             "packed.data", "packed.axisscale"}));
}

// The same of MATLAB 7.3, as written by make_object73.py.
TEST(Fixtures, FieldsOfAnObjectOfMatlab73AreRead) {
  EXPECT_EQ(read(fixture("object73.mat:m5spec.data")), ramp(4, 3));
  EXPECT_EQ(read(fixture("object73.mat:m5spec.data")), read(fixture("object.mat:m5spec.data")));
  expect_says(refusal("object73.mat:m5spec"),
              {"is an object; name a field of it, as in", "m5spec.data", "label (cell 2×1)"});
  expect_says(refusal("object73.mat:m5spec.dat"), {"did you mean 'data'?"});
  expect_says(refusal("object73.mat:m5spec.name"), {"is text (char)"});
  expect_says(refusal("object73.mat:m5spec.label"), {"is a cell array"});
  expect_says(refusal("object73.mat:unit"), {"is of class string; store a numeric array"});
  const std::string all = refusal("object73.mat");
  expect_says(all, {"holds no numeric array; it holds m5spec (object), unit (string 1×6)"});
  EXPECT_EQ(all.find("#refs#"), std::string::npos) << all;
  for (const ArrayInfo& array : describe_file(fixture("object73.mat")).arrays) {
    EXPECT_EQ(array.name.find('#'), std::string::npos) << array.name;
    if (array.name == "m5spec.data") {
      EXPECT_EQ(array.shape, (std::vector<Index>{3, 4}));
    }
  }
}

// Octave's own HDF5 files keep a matrix x as /x/value, with reversed axes. It is read as Octave shows it.
TEST(Fixtures, OctavesHdf5FileIsReadAsOctaveShowsIt) {
  for (const char* source : {"octave.h5:/flat/value", "octave.h5:flat", "octave.h5:/flat", "octave.h5"}) {
    EXPECT_EQ(read(fixture(source)), ramp(12, 2)) << source;
    EXPECT_EQ(read(fixture(source), {.columns = true}), ramp(12, 2).transpose()) << source;
  }
  EXPECT_EQ(describe_file(fixture("octave.h5")).arrays.at(1).shape, (std::vector<Index>{2, 12}));
  EXPECT_EQ(read(fixture("octave.h5:flat")), read(fixture("octave_v7.mat:rows")));
  const Matrix z = read(fixture("octave_complex.h5"), {.complex = ComplexAs::stack});
  EXPECT_EQ(z.topRows(12), ramp(12, 2));
  EXPECT_EQ(z.bottomRows(12), Matrix::Ones(12, 2));
}

TEST(Fixtures, OctavesTextIsRead) {
  const Matrix X = read(fixture("octave.csv"));
  ASSERT_EQ(X.rows(), 6);
  ASSERT_EQ(X.cols(), 2);
  for (Index s = 0; s < 2; ++s)
    for (Index f = 0; f < 6; ++f) {
      const double expected = (100.0 * static_cast<double>(s) + static_cast<double>(f)) / 8;
      if (s == 0 && f == 1)
        EXPECT_TRUE(std::isnan(X(f, s)));
      else
        EXPECT_EQ(X(f, s), s == 1 && f == 5 ? -std::numeric_limits<double>::infinity() : expected);
    }
}

// Written by hand in the way of a spreadsheet in a German locale: a byte order mark, CRLF, semicolons (one more at the
// end of each line), decimal commas, a gap, quotes only where needed.
TEST(Fixtures, ASpreadsheetsTextIsRead) {
  BlockReader reader(fixture("spreadsheet.csv"), {.id = "Proband"});
  const Matrix X = reader.next(10);
  using Names = std::vector<std::string>;
  EXPECT_EQ(reader.feature_names(), (Names{"Größe [m]", "Masse; kg", "Jahr"}));
  EXPECT_EQ(reader.ids(), (Names{"René", "Müller; A. \"Toni\"", "0042"}));
  EXPECT_TRUE(std::isnan(X(1, 1)));
  EXPECT_EQ(reader.place(1, 1), "line 3, column 'Masse; kg'");
  EXPECT_EQ(X.array().isNaN().select(0.0, X),
            (Matrix(3, 3) << 1.825, 1.6, 1.755, 72.5, 0, -1.5e-3, 2019, 2020, 2021).finished());
}

TEST(Fixtures, H5pysFilesAreRead) {
  for (const std::string order : {"little", "big"}) {
    for (const std::string type : {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"}) {
      EXPECT_EQ(read(fixture("h5py.h5:/" + order + "/" + type)), ramp(12, 2)) << order << type;
    }
  }
  for (const std::string name : {"gzip", "grows", "link"}) {
    EXPECT_EQ(read(fixture("h5py.h5:" + name)), ramp(12, 2)) << name;
  }
  EXPECT_EQ(read(fixture("h5py.h5:columns"), {.columns = true}), ramp(12, 2));
  EXPECT_EQ(read(fixture("h5py.h5:flags"))(1, 0), 1);
  expect_says(refusal("h5py.h5:lzf"), {"'/lzf'", "filter 32000 ('lzf')", "gzip"});
  expect_says(refusal("h5py.h5:z"), {"complex", "magnitude, power, or stack"});
  for (const std::string name : {"z", "z8"}) {
    BlockReader reader(fixture("h5py.h5:" + name), {.complex = ComplexAs::stack});
    EXPECT_EQ(reader.features(), 24);
    EXPECT_EQ(reader.single(), name == "z8");
    reader.skip(1);
    const Matrix second = reader.next(5);
    EXPECT_EQ(second.topRows(12), ramp(12, 2).col(1));
    EXPECT_EQ(second.bottomRows(12), Matrix::Ones(12, 1));
  }
  EXPECT_EQ(read(fixture("h5py.h5:z8"), {.complex = ComplexAs::power}), (ramp(12, 2).array().square() + 1).matrix());
  EXPECT_EQ(BlockReader(fixture("h5py.h5:gzip")).feature_names().at(11), "pixel 11");
  EXPECT_EQ(BlockReader(fixture("h5py.h5:grows")).feature_names().at(0), "größe 0");
  expect_says(refusal("h5py.h5:table"), {"records"});
  expect_says(refusal("h5py.h5:text"), {"text"});
  expect_says(refusal("h5py.h5:texts"), {"text"});
  expect_says(refusal("h5py.h5:scalar"), {"single number"});
  expect_says(refusal("h5py.h5:none"), {"no shape"});
}

}  // namespace
}  // namespace cgmca
