#include "core/base/tensor_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace cgmca {
namespace {

constexpr std::size_t kMostDimensions = 8;  // the number of arrays is limited by the size of the header alone

// The header, event by event: a document tree could take many times the header's size.
class HeaderParser : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderParser(TensorHeader& header) : metadata(header.metadata), tensors(header.tensors) {}

  std::map<std::string, std::string>& metadata;
  std::map<std::string, TensorEntry>& tensors;
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
      return tensors.try_emplace(name_).second || reject(fmt::format("two arrays named '{}'", name_));
    }
    field_ = key;
    if (place_ == Place::metadata) {
      place_ = Place::metadata_value;
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

}  // namespace

std::uint64_t TensorEntry::element_size() const { return dtype == "F64" ? 8 : dtype == "F32" ? 4 : 0; }

std::string TensorHeader::parse(const std::string& text) {
  HeaderParser parser(*this);
  return nlohmann::json::sax_parse(text, &parser) ? "" : "broken header: " + parser.problem;
}

std::string TensorHeader::check_layout(std::uint64_t data_size) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& [name, tensor] : tensors) {
    const std::uint64_t begin = tensor.offsets[0], end = tensor.offsets[1];
    std::uint64_t bytes = tensor.element_size();
    if (bytes == 0) return fmt::format("array '{}' holds {}, not F64 or F32", name, tensor.dtype);
    if (begin > end || end > data_size) {
      return fmt::format("array '{}' lies at bytes {} to {} of {}; the file may be cut short", name, begin, end,
                         data_size);
    }
    for (std::uint64_t extent : tensor.shape) {
      if (__builtin_mul_overflow(bytes, extent, &bytes)) return fmt::format("the shape of array '{}' overflows", name);
    }
    if (bytes != end - begin) {
      return fmt::format("array '{}' of shape [{}] needs {} bytes, has {}", name, fmt::join(tensor.shape, ", "), bytes,
                         end - begin);
    }
    ranges.emplace_back(begin, end);
  }
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t expected = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != expected) return fmt::format("arrays overlap or leave a hole at byte {} of the data", expected);
    expected = end;
  }
  if (expected != data_size) return fmt::format("{} bytes of data, the arrays fill {}", data_size, expected);
  return {};
}

}  // namespace cgmca
