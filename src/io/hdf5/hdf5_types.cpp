// Numbers, complex numbers and texts in HDF5 files.
#include <array>
#include <cstring>
#include <type_traits>

#include "io/hdf5/hdf5.hpp"
#include "support/text.hpp"

namespace cgmca::io {
namespace {

// The texts of a dataset or an attribute; `read` is the function that reads it. At most one axis.
template <class Read>
std::vector<std::string> texts_of(hid_t type, hid_t space, Read read) {
  constexpr hssize_t most = 10'000'000;
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_ndims(space) > 1 || count < 1 || count > most) return {};
  std::vector<std::string> texts;
  const Hdf5Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_cset(memory.get(), H5Tget_cset(type));
  if (H5Tis_variable_str(type) > 0) {
    H5Tset_size(memory.get(), H5T_VARIABLE);
    std::vector<char*> pointers(static_cast<std::size_t>(count), nullptr);
    if (read(memory.get(), pointers.data()) < 0) return {};
    for (const char* text : pointers) texts.push_back(as_utf8(text == nullptr ? "" : text));
    H5Dvlen_reclaim(memory.get(), space, H5P_DEFAULT, pointers.data());
    return texts;
  }
  const std::size_t size = H5Tget_size(type) + 1;  // room for the zero at the end
  constexpr std::size_t longest = 1 << 16;
  if (size > longest) return {};
  H5Tset_size(memory.get(), size);
  std::vector<char> bytes(size * static_cast<std::size_t>(count));
  if (read(memory.get(), bytes.data()) < 0) return {};
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const std::string text(bytes.data() + at, ::strnlen(bytes.data() + at, size));
    const bool blanks = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
    texts.push_back(as_utf8(blanks ? text.substr(0, text.find_last_not_of(' ') + 1) : text));
  }
  return texts;
}

}  // namespace

bool fits_single(hid_t type) {
  if (H5Tget_class(type) == H5T_COMPOUND) {
    return complex_members(type) && fits_single(Hdf5Handle(H5Tget_member_type(type, 0), H5Tclose).get()) &&
           fits_single(Hdf5Handle(H5Tget_member_type(type, 1), H5Tclose).get());
  }
  if (H5Tget_class(type) == H5T_INTEGER) return H5Tget_size(type) <= 2;
  if (H5Tget_class(type) != H5T_FLOAT) return false;
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits);
  return exponent_bits <= 8 && mantissa_bits <= 23;  // a float has 8 and 23
}

std::optional<ComplexMembers> complex_members(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return std::nullopt;
  std::array<std::string, 2> names;
  for (unsigned i = 0; i < 2; ++i) {
    const H5T_class_t kind = H5Tget_member_class(type, i);
    if (kind != H5T_FLOAT && kind != H5T_INTEGER) return std::nullopt;
    char* name = H5Tget_member_name(type, i);
    if (name != nullptr) names[i] = name;
    H5free_memory(name);
  }
  const bool known = (names[0] == "r" && names[1] == "i") || (names[0] == "real" && names[1] == "imag");
  return known ? std::optional(ComplexMembers{names[0], names[1]}) : std::nullopt;
}

template <class Scalar>
Hdf5Handle number_type(const std::string& member) {
  const hid_t native = std::is_same_v<Scalar, float> ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  if (member.empty()) return {H5Tcopy(native), H5Tclose};
  Hdf5Handle record(H5Tcreate(H5T_COMPOUND, sizeof(Scalar)), H5Tclose);
  H5Tinsert(record.get(), member.c_str(), 0, native);
  return record;
}
template Hdf5Handle number_type<double>(const std::string&);
template Hdf5Handle number_type<float>(const std::string&);

std::vector<std::uint64_t> extent_of(hid_t dataset) {
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::vector<hsize_t> extent(static_cast<std::size_t>(rank > 0 ? rank : 0));
  if (rank > 0) H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
  return {extent.begin(), extent.end()};
}

std::string text_attribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(H5Aget_type(attribute.get()), H5Tclose);
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0) return {};
  constexpr std::size_t longest = 1000;
  const std::size_t size = H5Tget_size(type.get());
  if (size > longest || H5Aget_storage_size(attribute.get()) != size) return {};  // several texts
  std::string text(size, '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0) return {};
  text.resize(std::strlen(text.c_str()));
  return text;
}

std::vector<std::string> texts_of_dataset(hid_t dataset) {
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
  return texts_of(type.get(), space.get(),
                  [&](hid_t memory, void* to) { return H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, to); });
}

std::vector<std::string> features_attribute(hid_t dataset) {
  if (H5Aexists(dataset, "features") <= 0) return {};
  const Hdf5Handle attribute(H5Aopen(dataset, "features", H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(H5Aget_type(attribute.get()), H5Tclose), space(H5Aget_space(attribute.get()), H5Sclose);
  return texts_of(type.get(), space.get(),
                  [&](hid_t memory, void* to) { return H5Aread(attribute.get(), memory, to); });
}

}  // namespace cgmca::io
