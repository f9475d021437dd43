#include "tensor_file.hpp"

#include <cgmca/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "support/atomic_file.hpp"

namespace cgmca {
namespace {

static_assert(std::endian::native == std::endian::little, "the file's arrays are little-endian");

constexpr std::size_t kMostTensors = 4096, kMostMetadata = 16384, kMostDimensions = 8;
constexpr std::uint64_t kLargestHeader = 100'000'000;  // as the reference implementation

// The header, event by event: a document tree could take many times the header's size.
class HeaderParser : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::map<std::string, std::string> metadata;
  std::map<std::string, TensorReader::Tensor> tensors;
  std::string problem;

  bool start_object(std::size_t) override {
    switch (place_) {
      case Place::outside:
        place_ = Place::header;
        return true;
      case Place::header_value:
        place_ = name_ == "__metadata__" ? Place::metadata : Place::tensor;
        return true;
      default:
        return reject("an object where none belongs");
    }
  }

  bool key(string_t& key) override {
    if (place_ == Place::header) {
      name_ = key;
      place_ = Place::header_value;
      if (name_ == "__metadata__")
        return !seen_metadata_ ? (seen_metadata_ = true) : reject("two __metadata__ entries");
      if (tensors.size() >= kMostTensors) return reject(fmt::format("more than {} arrays", kMostTensors));
      return tensors.try_emplace(name_).second || reject(fmt::format("two arrays named '{}'", name_));
    }
    field_ = key;
    if (place_ == Place::metadata) {
      place_ = Place::metadata_value;
      if (metadata.size() >= kMostMetadata) return reject(fmt::format("more than {} metadata entries", kMostMetadata));
      return metadata.try_emplace(field_).second || reject(fmt::format("two metadata entries named '{}'", field_));
    }
    if (place_ != Place::tensor) return reject(fmt::format("the key '{}' where none belongs", field_));
    place_ = Place::tensor_value;
    const auto& tensor = tensors[name_];
    const bool repeated = (field_ == "dtype" && !tensor.dtype.empty()) || (field_ == "shape" && seen_shape_) ||
                          (field_ == "data_offsets" && !tensor.offsets.empty());
    if (repeated) return reject(fmt::format("two entries '{}' of array '{}'", field_, name_));
    return true;
  }

  bool string(string_t& text) override {
    if (place_ == Place::metadata_value) {
      metadata[field_] = text;
      place_ = Place::metadata;
      return true;
    }
    if (place_ == Place::tensor_value && field_ == "dtype") {
      tensors[name_].dtype = text;
      place_ = Place::tensor;
      return true;
    }
    return reject(fmt::format("the text '{}' where none belongs", text.substr(0, 40)));
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor_value || (field_ != "shape" && field_ != "data_offsets")) {
      return reject("a list where none belongs");
    }
    if (field_ == "shape") seen_shape_ = true;
    place_ = Place::list;
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::list) return reject(fmt::format("the number {} where none belongs", value));
    auto& list = field_ == "shape" ? tensors[name_].shape : tensors[name_].offsets;
    if (list.size() >= kMostDimensions) return reject(fmt::format("array '{}' has too long a {}", name_, field_));
    list.push_back(value);
    return true;
  }

  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      const auto& tensor = tensors[name_];
      if (tensor.dtype.empty() || !seen_shape_ || tensor.offsets.size() != 2) {
        return reject(fmt::format("array '{}' lacks its dtype, shape or two data_offsets", name_));
      }
      seen_shape_ = false;
    }
    place_ = place_ == Place::header ? Place::outside : Place::header;
    return true;
  }

  bool null() override { return reject("null where none belongs"); }
  bool boolean(bool) override { return reject("true or false where none belongs"); }
  bool number_integer(number_integer_t value) override { return reject(fmt::format("the negative number {}", value)); }
  bool number_float(number_float_t, const string_t& text) override {
    return reject(fmt::format("the number {} where a whole one belongs", text.substr(0, 40)));
  }
  bool binary(binary_t&) override { return reject("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    return reject(fmt::format("no JSON at byte {} of the header", position));
  }

 private:
  enum class Place { outside, header, header_value, metadata, metadata_value, tensor, tensor_value, list };

  bool reject(std::string what) {
    problem = std::move(what);
    return false;
  }

  Place place_ = Place::outside;
  std::string name_, field_;
  bool seen_metadata_ = false, seen_shape_ = false;
};

std::size_t size_in_bytes(const Matrix& matrix) { return static_cast<std::size_t>(matrix.size()) * sizeof(double); }

std::string padded_to_eight(std::string header) {
  header.append((8 - header.size() % 8) % 8, ' ');
  return header;
}

}  // namespace

TensorWriter::TensorWriter(const std::string& format, Index version) {
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

std::string TensorWriter::header() const {
  nlohmann::ordered_json header;
  for (const auto& [key, text] : metadata_) header["__metadata__"][key] = text;
  Index offset = 0;
  for (const Tensor& tensor : tensors_) {
    const Index end = offset + tensor.transposed.size() * static_cast<Index>(sizeof(double));
    header[tensor.name] = {{"dtype", "F64"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  const std::string text = padded_to_eight(header.dump());
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

void TensorWriter::save(const std::string& path) const {
  const std::string start = header();
  AtomicFile file(path);
  file.write(start.data(), start.size());
  for (const Tensor& tensor : tensors_) file.write(tensor.transposed.data(), size_in_bytes(tensor.transposed));
  file.commit();
}

std::string TensorWriter::bytes() const {
  std::string result = header();
  std::size_t size = result.size();
  for (const Tensor& tensor : tensors_) size += size_in_bytes(tensor.transposed);
  result.reserve(size);
  for (const Tensor& tensor : tensors_) {
    result.append(reinterpret_cast<const char*>(tensor.transposed.data()), size_in_bytes(tensor.transposed));
  }
  return result;
}

TensorReader::TensorReader(const std::string& path, const std::string& format, Index version) : path_(path) {
  const auto cannot = [&](const char* why) { return IoError(fmt::format("cannot read '{}': {}", path, why)); };
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw cannot(std::strerror(errno));
  try {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) throw cannot(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) throw cannot("not a regular file");
    open(static_cast<std::uint64_t>(status.st_size), format, version);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

TensorReader::TensorReader(std::string_view bytes, const std::string& format, Index version)
    : path_("memory"), bytes_(bytes) {
  open(bytes.size(), format, version);
}

void TensorReader::open(std::uint64_t file_size, const std::string& format, Index version) {
  read_header(file_size);
  if (!metadata_.contains("format")) fail(fmt::format("a safetensors file, but no {}", format));
  if (text("format") != format) fail(fmt::format("a {}, not a {}", text("format"), format));
  if (text("version") != fmt::format("{}", version)) {
    fail(fmt::format(
        "a {} of format version {}; this cgmca ({}) reads version {}. Make it anew with this cgmca, or read "
        "it with the one that wrote it",
        format, text("version"), CGMCA_VERSION, version));
  }
}

TensorReader::~TensorReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void TensorReader::fail(const std::string& what) const { throw FormatError(fmt::format("'{}': {}", path_, what)); }

void TensorReader::read_at(std::uint64_t offset, void* into, std::uint64_t count) const {
  if (descriptor_ < 0) {  // read_header and check_layout have seen that it lies inside
    if (count > 0) std::memcpy(into, bytes_.data() + offset, count);
    return;
  }
  char* next = static_cast<char*>(into);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, next, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw IoError(fmt::format("cannot read '{}': {}", path_, std::strerror(errno)));
    if (got == 0) throw IoError(fmt::format("'{}' became shorter while it was read", path_));
    next += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::uint64_t>(got);
  }
}

void TensorReader::read_header(std::uint64_t file_size) {
  std::uint64_t length = 0;
  if (file_size < sizeof length) fail(fmt::format("{} bytes, too short for a safetensors file", file_size));
  read_at(0, &length, sizeof length);
  if (length > kLargestHeader || length > file_size - sizeof length) {
    fail(fmt::format("no safetensors file, or cut short: a header of {} bytes in a file of {}", length, file_size));
  }
  std::string text(length, '\0');
  read_at(sizeof length, text.data(), length);
  HeaderParser header;
  if (!nlohmann::json::sax_parse(text, &header)) fail("broken header: " + header.problem);
  metadata_ = std::move(header.metadata);
  tensors_ = std::move(header.tensors);
  data_begin_ = sizeof length + length;
  check_layout(file_size - data_begin_);
}

// The arrays lie one after the other and fill the data exactly, each as large as its shape says.
void TensorReader::check_layout(std::uint64_t data_size) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& [name, tensor] : tensors_) {
    const std::uint64_t begin = tensor.offsets[0], end = tensor.offsets[1];
    if (tensor.dtype != "F64") fail(fmt::format("array '{}' holds {}, not F64", name, tensor.dtype));
    if (begin > end || end > data_size) {
      fail(fmt::format("array '{}' lies at bytes {} to {} of {}; the file may be cut short", name, begin, end,
                       data_size));
    }
    std::uint64_t bytes = sizeof(double);
    for (std::uint64_t extent : tensor.shape) {
      if (__builtin_mul_overflow(bytes, extent, &bytes)) fail(fmt::format("the shape of array '{}' overflows", name));
    }
    if (bytes != end - begin) {
      fail(fmt::format("array '{}' of shape [{}] needs {} bytes, has {}", name, fmt::join(tensor.shape, ", "), bytes,
                       end - begin));
    }
    ranges.emplace_back(begin, end);
  }
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t expected = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != expected) fail(fmt::format("arrays overlap or leave a hole at byte {} of the data", expected));
    expected = end;
  }
  if (expected != data_size) fail(fmt::format("{} bytes of data, the arrays fill {}", data_size, expected));
}

const std::string& TensorReader::text(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) fail(fmt::format("the metadata lacks '{}'", key));
  return found->second;
}

Index TensorReader::integer(const std::string& key, Index least) const {
  constexpr Index kMost = Index{1} << 48;  // far beyond any file, and small enough to calculate with
  const std::string& digits = text(key);
  Index value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value < least || value > kMost) {
    fail(fmt::format("'{}' is '{}', no whole number of at least {}", key, digits, least));
  }
  return value;
}

double TensorReader::real(const std::string& key) const {
  const std::string& digits = text(key);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value)) {
    fail(fmt::format("'{}' is '{}', no number", key, digits));
  }
  return value;
}

const TensorReader::Tensor& TensorReader::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) fail(fmt::format("no array '{}'", name));
  return found->second;
}

Matrix TensorReader::matrix(const std::string& name, Index rows, Index columns) const {
  const Tensor& tensor = find(name);
  const std::vector<std::uint64_t> expected = {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns)};
  if (tensor.shape != expected) {
    fail(
        fmt::format("array '{}' has the shape [{}], not [{}, {}]", name, fmt::join(tensor.shape, ", "), rows, columns));
  }
  Matrix transposed(columns, rows);
  read_at(data_begin_ + tensor.offsets[0], transposed.data(), tensor.offsets[1] - tensor.offsets[0]);
  if (!transposed.allFinite()) fail(fmt::format("array '{}' holds NaN or infinity", name));
  return transposed.transpose();
}

Vector TensorReader::vector(const std::string& name, Index size) const {
  const Tensor& tensor = find(name);
  if (tensor.shape.size() != 1 || tensor.shape[0] != static_cast<std::uint64_t>(size)) {
    fail(fmt::format("array '{}' has the shape [{}], not [{}]", name, fmt::join(tensor.shape, ", "), size));
  }
  Vector values(size);
  read_at(data_begin_ + tensor.offsets[0], values.data(), tensor.offsets[1] - tensor.offsets[0]);
  if (!values.allFinite()) fail(fmt::format("array '{}' holds NaN or infinity", name));
  return values;
}

}  // namespace cgmca
