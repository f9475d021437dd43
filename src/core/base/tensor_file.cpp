#include "core/base/tensor_file.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "support/atomic_file.hpp"
#include "support/crc32.hpp"

namespace cgmca {
namespace {

static_assert(std::endian::native == std::endian::little, "the file's arrays are little-endian");

constexpr std::uint64_t kLargestHeader = 100'000'000;  // as the reference implementation

// A file with a checksum begins so, after the length of its header; then come its digits.
constexpr std::string_view kSealedStart = R"({"__metadata__":{"checksum":")", kNoDigits = "00000000";

std::size_t size_in_bytes(const Matrix& matrix) { return static_cast<std::size_t>(matrix.size()) * sizeof(double); }

std::string padded_to_eight(std::string header) {
  header.append((8 - header.size() % 8) % 8, ' ');
  return header;
}

}  // namespace

TensorWriter::TensorWriter(const std::string& format, Index version) {
  set("checksum", std::string(kNoDigits));  // the first entry
  set("format", format);
  set("version", version);
  set("written_by", std::string("cgmca " CGMCA_VERSION));
}

void TensorWriter::set(const std::string& key, const std::string& text) { metadata_.emplace_back(key, text); }
void TensorWriter::set(const std::string& key, Index value) { set(key, fmt::format("{}", value)); }
void TensorWriter::set(const std::string& key, double value) { set(key, fmt::format("{}", value)); }

void TensorWriter::add(const std::string& name, const MatrixView& matrix) {
  tensors_.push_back({name, {matrix.rows(), matrix.cols()}, matrix.transpose()});
}
void TensorWriter::add_vector(const std::string& name, const VectorView& vector) {
  tensors_.push_back({name, {vector.size()}, vector});
}

std::string TensorWriter::sealed_header() const {
  const auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
  std::string text = R"({"__metadata__":{)";  // text by text: a document of many arrays would be slow
  for (const auto& [key, value] : metadata_) text += fmt::format("{}:{},", quoted(key), quoted(value));
  text.back() = '}';
  Index offset = 0;
  for (const Tensor& tensor : tensors_) {
    const Index end = offset + tensor.transposed.size() * static_cast<Index>(sizeof(double));
    text += fmt::format(R"(,{}:{{"dtype":"F64","shape":[{}],"data_offsets":[{},{}]}})", quoted(tensor.name),
                        fmt::join(tensor.shape, ","), offset, end);
    offset = end;
  }
  text = padded_to_eight(text + '}');
  const std::uint64_t length = text.size();
  if (length > kLargestHeader) {
    throw InvalidInput(fmt::format("{} arrays need a header of {} bytes; a safetensors file has at most {}",
                                   tensors_.size(), length, kLargestHeader));
  }
  std::string start = std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
  Crc32 checksum;
  checksum.add(start.data(), start.size());
  for (const Tensor& tensor : tensors_) checksum.add(tensor.transposed.data(), size_in_bytes(tensor.transposed));
  return start.replace(sizeof length + kSealedStart.size(), kNoDigits.size(), checksum.text());
}

void TensorWriter::save(const std::string& path) const {
  const std::string start = sealed_header();
  AtomicFile file(path);
  file.write(start.data(), start.size());
  for (const Tensor& tensor : tensors_) file.write(tensor.transposed.data(), size_in_bytes(tensor.transposed));
  file.commit();
}

std::string TensorWriter::bytes() const {
  std::string result = sealed_header();
  std::size_t size = result.size();
  for (const Tensor& tensor : tensors_) size += size_in_bytes(tensor.transposed);
  result.reserve(size);
  for (const Tensor& tensor : tensors_) {
    result.append(reinterpret_cast<const char*>(tensor.transposed.data()), size_in_bytes(tensor.transposed));
  }
  return result;
}

TensorReader::TensorReader(const std::string& path, const std::string& format, FormatVersions versions)
    : path_(path), file_(path) {
  open(file_->size(), format, versions);
}

TensorReader::TensorReader(std::string_view bytes, const std::string& format, FormatVersions versions)
    : path_("memory"), bytes_(bytes) {
  open(bytes.size(), format, versions);
}

void TensorReader::open(std::uint64_t file_size, const std::string& format, FormatVersions versions) {
  std::uint64_t length = 0;
  if (file_size < sizeof length) fail(fmt::format("{} bytes, too short for a safetensors file", file_size));
  read_at(0, &length, sizeof length);
  if (length > kLargestHeader || length > file_size - sizeof length) {
    fail(fmt::format("not a safetensors file, or it is damaged or truncated: a header of {} bytes in a file of {}",
                     length, file_size));
  }
  std::string header(length, '\0');
  read_at(sizeof length, header.data(), length);
  data_begin_ = sizeof length + length;
  const bool sealed = check_seal(header, file_size);
  if (const std::string problem = header_.parse(header); !problem.empty()) {
    fail(fmt::format("not a safetensors file, or it is damaged: {}", problem));
  }
  if (const std::string problem = header_.check_layout(file_size - data_begin_); !problem.empty()) fail(problem);
  check_format(format, versions, sealed);
}

// Whether the header begins with a checksum; then it has to be that of the file.
bool TensorReader::check_seal(const std::string& header, std::uint64_t file_size) const {
  constexpr std::uint64_t piece_size = 1 << 20;
  if (!header.starts_with(kSealedStart) || header.size() < kSealedStart.size() + kNoDigits.size()) return false;
  const std::uint64_t length = header.size();
  std::string unsealed = header;
  unsealed.replace(kSealedStart.size(), kNoDigits.size(), kNoDigits);
  Crc32 checksum;
  checksum.add(&length, sizeof length);
  checksum.add(unsealed.data(), unsealed.size());
  std::vector<char> piece(std::min(piece_size, file_size - data_begin_));
  for (std::uint64_t at = data_begin_; at < file_size; at += piece.size()) {
    piece.resize(std::min(piece_size, file_size - at));
    read_at(at, piece.data(), piece.size());
    checksum.add(piece.data(), piece.size());
  }
  const std::string noted = header.substr(kSealedStart.size(), kNoDigits.size());
  if (noted == checksum.text()) return true;
  fail(
      fmt::format("the file is damaged or was changed: its checksum is '{}', but that of its contents is '{}'. Copy or "
                  "make it again",
                  noted, checksum.text()));
}

void TensorReader::check_format(const std::string& format, const FormatVersions& versions, bool sealed) const {
  if (!has_text("format")) fail(fmt::format("a safetensors file, but not a {}, or it is damaged", format));
  if (text("format") != format) fail(fmt::format("a {}, not a {}", text("format"), format));
  for (Index version = versions.oldest; version <= versions.newest; ++version) {
    if (text("version") != fmt::format("{}", version)) continue;
    if (sealed || (version < versions.sealed && !has_text("checksum"))) return;
    fail(
        fmt::format("the file is damaged or was changed: its header does not begin with the checksum that a {} of "
                    "version {} has",
                    format, version));
  }
  fail(
      fmt::format("a {} of format version {}; this cgmca ({}) reads version{}. Make it again with this cgmca, or read "
                  "it with the one that wrote it",
                  format, text("version"), CGMCA_VERSION,
                  versions.oldest == versions.newest ? fmt::format(" {}", versions.newest)
                                                     : fmt::format("s {} to {}", versions.oldest, versions.newest)));
}

void TensorReader::fail(const std::string& what) const { throw FormatError(fmt::format("'{}': {}", path_, what)); }

void TensorReader::read_at(std::uint64_t offset, void* into, std::uint64_t count) const {
  if (file_) return file_->read_at(offset, into, count);
  if (count > 0) std::memcpy(into, bytes_.data() + offset, count);  // open() has seen that it lies inside
}

const std::string& TensorReader::text(const std::string& key) const {
  const auto found = header_.metadata.find(key);
  if (found == header_.metadata.end()) fail(fmt::format("the metadata lacks '{}'", key));
  return found->second;
}

Index TensorReader::integer(const std::string& key, Index least) const {
  constexpr Index kMost = Index{1} << 48;  // far beyond any file, and small enough to calculate with
  const std::string& digits = text(key);
  Index value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value < least || value > kMost) {
    fail(fmt::format("'{}' is '{}', not a whole number of at least {}", key, digits, least));
  }
  return value;
}

Index TensorReader::count(const std::string& key, Index least) const {
  const Index value = integer(key, least);
  if (value <= std::ssize(header_.metadata)) return value;
  fail(fmt::format("'{}' is {}, but the metadata of so many have more than {} entries", key, value,
                   header_.metadata.size()));
}

double TensorReader::real(const std::string& key) const {
  const std::string& digits = text(key);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value)) {
    fail(fmt::format("'{}' is '{}', not a number", key, digits));
  }
  return value;
}

const TensorEntry& TensorReader::find(const std::string& name, const std::vector<Index>& shape) const {
  const auto found = header_.tensors.find(name);
  if (found == header_.tensors.end()) fail(fmt::format("no array '{}'", name));
  const TensorEntry& tensor = found->second;
  if (!std::equal(tensor.shape.begin(), tensor.shape.end(), shape.begin(), shape.end(),
                  [](std::uint64_t a, Index b) { return a == static_cast<std::uint64_t>(b); })) {
    fail(fmt::format("array '{}' has the shape [{}], not [{}]", name, fmt::join(tensor.shape, ", "),
                     fmt::join(shape, ", ")));
  }
  return tensor;
}

Index TensorReader::length(const std::string& name) const {
  const auto found = header_.tensors.find(name);
  if (found == header_.tensors.end()) fail(fmt::format("no array '{}'", name));
  const auto& shape = found->second.shape;
  if (shape.size() != 1) fail(fmt::format("array '{}' has {} dimensions, not 1", name, shape.size()));
  return static_cast<Index>(shape.front());
}

// The elements [first, first + count) of an array. Those of 32 bits pass through a small buffer.
void TensorReader::read_numbers(const TensorEntry& tensor, Index first, Index count, double* into) const {
  const auto each = static_cast<Index>(tensor.element_size());
  const auto place = [&](Index element) {
    return data_begin_ + tensor.offsets[0] + static_cast<std::uint64_t>(element * each);
  };
  if (each == sizeof(double)) return read_at(place(first), into, static_cast<std::uint64_t>(count * each));
  std::array<float, 4096> piece;
  for (Index done = 0; done < count;) {
    const Index some = std::min<Index>(count - done, piece.size());
    read_at(place(first + done), piece.data(), static_cast<std::uint64_t>(some * each));
    std::copy_n(piece.begin(), some, into + done);
    done += some;
  }
}

// Some rows at a time, so that the row-major and the column-major array never exist both.
Matrix TensorReader::matrix(const std::string& name, Index rows, Index columns) const {
  const TensorEntry& tensor = find(name, {rows, columns});
  Matrix X(rows, columns);
  if (X.size() == 0) return X;
  constexpr Index least_rows = 64, numbers = 1 << 17;
  const Index together = std::min(rows, std::max(least_rows, numbers / columns));
  Matrix piece(columns, together);
  for (Index row = 0; row < rows; row += together) {
    const Index some = std::min(together, rows - row);
    read_numbers(tensor, row * columns, some * columns, piece.data());
    X.middleRows(row, some) = piece.leftCols(some).transpose();
  }
  if (!X.allFinite()) fail(fmt::format("array '{}' holds NaN or infinity", name));
  return X;
}

Vector TensorReader::vector(const std::string& name, Index size) const {
  const TensorEntry& tensor = find(name, {size});
  Vector values(size);
  read_numbers(tensor, 0, size, values.data());
  if (!values.allFinite()) fail(fmt::format("array '{}' holds NaN or infinity", name));
  return values;
}

}  // namespace cgmca
