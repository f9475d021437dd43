// A ZIP archive, read by libzip.
//
// Stored members are verified before anything of them is handed out, deflated ones as they are
// read. libzip 1.7 finds out by checksum that a member is damaged, but gives no figures, and does
// not notice everything; the rest is checked here:
//
//   the place of a member may hold something else than a member's header ("PK\3\4")
//   a deflate stream may go on beyond the promised size, or stop before it
//   an empty member may promise contents
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace cgmca::io {

struct Entry {
  std::string name;
  std::uint64_t index = 0, size = 0, compressed = 0;
  std::uint32_t crc = 0;
  std::uint16_t method = 0;
  bool encrypted = false;
};

class Archive;  // open as long as it, or a member of it, is held
std::shared_ptr<Archive> open_archive(const std::string& path);
const std::vector<Entry>& entries_of(const Archive& archive);

// One member's contents; `name` is what messages call it. Those of a stored one are verified at once, which reads all
// of them, unless only a share of them is wanted.
std::unique_ptr<Bytes> open_member(std::shared_ptr<Archive> archive, const Entry& entry, const std::string& name,
                                   bool share = false);

}  // namespace cgmca::io
