#include "io/common.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <new>
#include <set>
#include <utility>

#include "support/suggest.hpp"

namespace cgmca::io {
namespace {

std::string list(const std::vector<Member>& members) {
  constexpr std::size_t most = 20;
  if (members.empty()) return "nothing";
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < std::min(most, members.size()); ++i) {
    entries.push_back(fmt::format("{} ({})", members[i].name, members[i].kind));
  }
  if (members.size() > most) entries.push_back(fmt::format("{} more", members.size() - most));
  return fmt::format("{}", fmt::join(entries, ", "));
}

}  // namespace

std::string text(const Shape& shape) { return fmt::format("{}", fmt::join(shape, "×")); }

Layout::Layout(const Shape& shape, bool columns, const std::string& where) {
  if (shape.empty()) {
    throw FormatError(fmt::format("{} is a single number, not an array of samples", where));
  }
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  sample_axis = columns ? shape.size() - 1 : 0;
  std::uint64_t size = 1;
  bool too_large = shape[sample_axis] > most;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis == sample_axis) continue;
    too_large = too_large || __builtin_mul_overflow(size, shape[axis], &size) || size > most;
  }
  if (too_large) {
    throw FormatError(fmt::format("{} claims {} numbers, more than any memory holds", where, text(shape)));
  }
  if (size == 0) throw FormatError(fmt::format("{} ({}) has no features", where, text(shape)));
  samples = static_cast<Index>(shape[sample_axis]);
  features = static_cast<Index>(size);
}

template <class Scalar>
Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> allocate(Index features, Index samples,
                                                               const std::string& where) {
  try {
    return Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>(features, samples);
  } catch (const std::bad_alloc&) {
    const double gib = static_cast<double>(features) * static_cast<double>(samples) * sizeof(Scalar) / (1 << 30);
    throw IoError(fmt::format("{}: no memory for {}×{} numbers ({:.3g} GiB)", where, features, samples, gib));
  }
}
template Matrix allocate<double>(Index, Index, const std::string&);
template Eigen::MatrixXf allocate<float>(Index, Index, const std::string&);

std::string complex_refusal() {
  return "holds complex numbers, which cannot be read as they are; choose with --complex on the command line (complex= "
         "in Python): magnitude, power, or stack (the real and imaginary parts as separate features)";
}

std::vector<std::string> names_as_read(std::vector<std::string> stored, Index features, bool stacked) {
  if (stacked) {
    std::vector<std::string> both;
    for (const char* const part : {"re ", "im "})
      for (const std::string& name : stored) both.push_back(part + name);
    stored = std::move(both);
  }
  const std::set<std::string> different(stored.begin(), stored.end());
  const bool good = std::ssize(different) == features && !different.contains("");
  if (!good || stored.size() != different.size()) stored.clear();
  return stored;
}

std::size_t choose_member(const std::string& path, const std::vector<Member>& members, const std::string& wanted) {
  if (!wanted.empty()) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].name == wanted) return i;
    }
    std::vector<std::string> names;
    for (const Member& member : members) names.push_back(member.name);
    const std::string near = did_you_mean(wanted, names);
    throw FormatError(fmt::format("'{}' holds no '{}'{} {}", path, wanted,
                                  near.empty() ? "; it holds" : near + " It holds", list(members)));
  }
  std::vector<Member> numeric;
  std::size_t only = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!members[i].numeric) continue;
    numeric.push_back(members[i]);
    only = i;
  }
  if (numeric.size() == 1) return only;
  if (numeric.empty() && members.size() == 1) return 0;  // its format's message is more helpful
  if (numeric.empty()) {
    throw FormatError(fmt::format("'{}' holds no numeric array; it holds {}", path, list(members)));
  }
  throw FormatError(fmt::format("'{}' holds {} numeric arrays; choose one, as in '{}:{}': {}", path, numeric.size(),
                                path, numeric.front().name, list(numeric)));
}

}  // namespace cgmca::io
