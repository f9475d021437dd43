// MATLAB 5 files of doubles and cell arrays of texts (see mat5.hpp). To add a variable, the old
// file is copied element by element, so that everything else in it stays as it is.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "io/hdf5/hdf5.hpp"
#include "io/matlab/mat.hpp"
#include "io/matlab/mat5.hpp"
#include "io/unicode.hpp"

namespace cgmca::io {
namespace {

enum Type : std::uint32_t {
  int8 = 1,
  uint16 = 4,
  int32 = 5,
  uint32 = 6,
  float32 = 7,
  float64 = 9,
  matrix = 14,
  utf16 = 17
};

template <class T>
T swapped(T value) {
  std::array<unsigned char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  std::reverse(bytes.begin(), bytes.end());
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

// The parts of a variable as bytes, in the byte order of the file.
class Parts {
 public:
  explicit Parts(bool swap) : swap_(swap) {}

  void word(std::uint32_t value) { put(value); }
  template <class T>
  void part(Type type, const std::vector<T>& values) {
    const auto length = static_cast<std::uint32_t>(values.size() * sizeof(T));
    if (length > 0 && length <= 4) {
      put(length << 16 | type);
    } else {
      put(std::uint32_t{type});
      put(length);
    }
    for (const T value : values) put(value);
    while (bytes_.size() % 8 != 0) bytes_ += '\0';
  }
  // Flags, dimensions and name.
  void start(std::uint32_t matlab_class, Index rows, Index columns, const std::string& name) {
    part<std::uint32_t>(uint32, {matlab_class, 0});
    part<std::int32_t>(int32, {static_cast<std::int32_t>(rows), static_cast<std::int32_t>(columns)});
    part<char>(int8, {name.begin(), name.end()});
  }
  void variable(const Parts& inside) {
    put(std::uint32_t{matrix});
    put(static_cast<std::uint32_t>(inside.bytes_.size()));
    bytes_ += inside.bytes_;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <class T>
  void put(T value) {
    if (swap_) value = swapped(value);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  bool swap_;
  std::string bytes_;
};

// A cell array with one row of texts.
std::string cell_of_texts(const std::string& name, const std::vector<std::string>& texts, bool swap) {
  constexpr std::uint32_t cell = 1, text = 4;
  Parts cells(swap);
  cells.start(cell, 1, std::ssize(texts), name);
  for (const std::string& each : texts) {
    const std::vector<std::uint16_t> units = utf16_of(each);
    Parts one(swap);
    one.start(text, 1, std::ssize(units), "");
    const bool ascii = std::all_of(units.begin(), units.end(), [](std::uint16_t unit) { return unit < 0x80; });
    one.part(ascii ? uint16 : utf16, units);  // as MATLAB writes it and every reader understands
    cells.variable(one);
  }
  Parts whole(swap);
  whole.variable(cells);
  return whole.bytes();
}

class Mat5Writer {
 public:
  Mat5Writer(const MatOutput& output, bool swap) : output_(output), file_(output.path, output.target), swap_(swap) {}

  std::uint64_t place() const { return place_; }
  void write(const void* bytes, std::size_t count) {
    try {
      file_.write(place_, bytes, count);
    } catch (const IoError& error) {
      throw IoError(fmt::format("cannot write {} bytes to '{}'; is the disk full? ({})", output_.X.bytes(),
                                output_.target, error.what()));
    }
    place_ += count;
  }
  void copy(const File& from, std::uint64_t begin, std::uint64_t count) {
    std::vector<char> block(std::min<std::uint64_t>(count, 1 << 20));
    for (std::uint64_t done = 0; done < count; done += block.size()) {
      block.resize(std::min<std::uint64_t>(block.size(), count - done));
      from.read_at(begin + done, block.data(), block.size());
      write(block.data(), block.size());
    }
  }

  // Samples × features, column-major as in MATLAB: one feature after the other, in blocks of samples.
  void write_matrix() {
    const Numbers& X = output_.X;
    Parts parts(swap_);
    constexpr std::uint32_t matlab_double = 6, matlab_single = 7;
    parts.start(X.single() ? matlab_single : matlab_double, output_.columns ? X.features() : X.samples(),
                output_.columns ? X.samples() : X.features(), output_.name);
    const std::uint64_t padding = (8 - X.bytes() % 8) % 8;
    Parts tag(swap_);
    tag.word(matrix);
    tag.word(static_cast<std::uint32_t>(parts.bytes().size() + mat5_tag_size + X.bytes() + padding));
    write(tag.bytes().data(), tag.bytes().size());
    write(parts.bytes().data(), parts.bytes().size());
    Parts data(swap_);
    data.word(X.single() ? float32 : float64);
    data.word(static_cast<std::uint32_t>(X.bytes()));
    write(data.bytes().data(), data.bytes().size());
    const std::uint64_t begin = place_;
    write_numbers(
        X, output_.columns ? By::sample : By::feature,
        [&](std::uint64_t place, const void* bytes, std::size_t count) {
          place_ = begin + place;
          write(bytes, count);
        },
        output_.written, swap_);
    place_ = begin + X.bytes();
    write("\0\0\0\0\0\0\0", padding);
  }
  void write_names() {
    if (output_.names.empty()) return;
    const std::string bytes = cell_of_texts(output_.name + "_features", output_.names, swap_);
    write(bytes.data(), bytes.size());
  }
  void set_subsystem(std::uint64_t at) const {
    const std::uint64_t value = swap_ ? swapped(at) : at;
    constexpr std::uint64_t place_of_subsystem = 116;
    file_.write(place_of_subsystem, &value, sizeof value);
  }

 private:
  const MatOutput& output_;
  PlacedFile file_;
  bool swap_;
  std::uint64_t place_ = 0;
};

constexpr bool big_endian_here = std::endian::native == std::endian::big;

// Writes the old elements except those replaced, then the new ones, then the element that MATLAB
// keeps for its objects, because MATLAB has it last.
void add_variable(const MatOutput& output) {
  const Mat5Frame old(output.target);
  Mat5Writer writer(output, old.big_endian() != big_endian_here);
  writer.write(old.header().data(), old.header().size());
  std::optional<Mat5Element> subsystem;
  for (const Mat5Element& element : old.elements()) {
    const std::vector<unsigned char> start = old.start(element);
    const std::string name = Mat5Node(old, start).name;
    const std::uint64_t begin = element.begin - mat5_tag_size;
    if (old.subsystem() != 0 && begin == old.subsystem())
      subsystem = element;
    else if (name != output.name && name != output.name + "_features")
      writer.copy(old.file(), begin, mat5_tag_size + element.tag.length);
  }
  writer.write_matrix();
  writer.write_names();
  if (!subsystem) return;
  writer.set_subsystem(writer.place());
  writer.copy(old.file(), subsystem->begin - mat5_tag_size, mat5_tag_size + subsystem->tag.length);
}

}  // namespace

void produce_mat5(const MatOutput& output) {
  if (output.add) return add_variable(output);
  // The header has no time, so that the same matrix gives the same bytes.
  std::string header = "MATLAB 5.0 MAT-file, written by cgmca";
  header.resize(116, ' ');
  header.resize(124, '\0');
  header.append(big_endian_here ? "\1\0MI" : "\0\1IM", 4);
  Mat5Writer writer(output, false);
  writer.write(header.data(), header.size());
  writer.write_matrix();
  writer.write_names();
}

}  // namespace cgmca::io
