// A ZIP archive, read by libzip.
//
// Stored members are verified before any of their bytes are returned, deflated ones while they are
// read. libzip 1.7 detects damaged members by their checksum, but gives no figures and misses some
// defects. These are checked here:
//
//   there is no member header ("PK\3\4") at the position of a member
//   a deflate stream is longer or shorter than the stated size
//   an empty member states a size
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes.hpp"

namespace cgmca::io {

struct Entry {
  std::string name;
  std::uint64_t index = 0, size = 0, compressed = 0;
  std::uint32_t crc = 0;
  std::uint16_t method = 0;
  bool encrypted = false;
};

// The members of .npz files are called after their arrays.
inline constexpr std::string_view kNpy = ".npy";
inline std::string bare(const std::string& name) {
  return name.ends_with(kNpy) ? name.substr(0, name.size() - kNpy.size()) : name;
}

class Archive;  // stays open as long as it, or one of its members, is held
std::shared_ptr<Archive> open_archive(const std::string& path);
const std::vector<Entry>& entries_of(const Archive& archive);

// The contents of a member; messages call it `name`. A stored member is read once to verify it,
// unless only a share of it is wanted.
std::unique_ptr<Bytes> open_member(std::shared_ptr<Archive> archive, const Entry& entry, const std::string& name,
                                   bool share = false);

}  // namespace cgmca::io
