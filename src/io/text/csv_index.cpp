#include "io/text/csv_index.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>

#include "support/atomic_file.hpp"
#include "support/file.hpp"

namespace cgmca::io {
namespace {

constexpr const char* kTitle = "cgmca-rows 1";
constexpr std::uint64_t kApart = 1 << 20;  // bytes between two anchors

// The size of a file and the time of its last change.
std::string state_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    throw IoError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  return fmt::format("{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

}  // namespace

void RowIndex::note(Index row, const Records::Place& place) {
  if (anchors.empty() || place.offset - anchors.back().place.offset >= kApart) anchors.push_back({row, place});
}

const RowIndex::Anchor* RowIndex::before(Index row) const {
  const auto after = std::upper_bound(anchors.begin(), anchors.end(), row,
                                      [](Index wanted, const Anchor& anchor) { return wanted < anchor.row; });
  return after == anchors.begin() ? nullptr : &*std::prev(after);
}

void save(const RowIndex& index, const std::string& path) {
  std::string text = fmt::format("{}\n{}\n{} {} {}\n", kTitle, state_of(path), index.rows, index.mark, index.mark_line);
  for (const auto& [row, place] : index.anchors) text += fmt::format("{} {} {}\n", row, place.offset, place.line);
  text += "end\n";
  AtomicFile file(row_index_of(path));
  file.write(text.data(), text.size());
  file.commit();
}

std::optional<RowIndex> load_row_index(const std::string& path) {
  const std::string name = row_index_of(path);
  if (!exists(name)) return std::nullopt;
  const File file(name);
  std::string text(file.size(), '\0');
  file.read_at(0, text.data(), text.size());
  std::istringstream lines(text);
  std::string title, state;
  std::getline(lines, title);
  std::getline(lines, state);
  const auto fail = [&](const char* why) {
    throw FormatError(fmt::format("'{}' {} '{}': make it again with `cgmca index`, or remove it", name, why, path));
  };
  if (title != kTitle) fail("is not an index of the rows of");
  if (state != state_of(path)) fail("was made of another file, or before the last change of");
  RowIndex index;
  lines >> index.rows >> index.mark >> index.mark_line;
  // Each row has a byte at least. Offsets are in UTF-8, which is never twice as long as the file.
  const std::uint64_t size = std::filesystem::file_size(path);
  if (!lines || index.rows < 0 || static_cast<std::uint64_t>(index.rows) > size ||
      std::string_view(".,?").find(index.mark) == std::string_view::npos)
    fail("is a damaged index of");
  RowIndex::Anchor anchor;
  while (lines >> anchor.row >> anchor.place.offset >> anchor.place.line) {
    const bool rises = index.anchors.empty() || (anchor.row > index.anchors.back().row &&
                                                 anchor.place.offset > index.anchors.back().place.offset);
    if (!rises || anchor.row < 0 || anchor.row > index.rows || anchor.place.offset > 2 * size)
      fail("is a damaged index of");
    index.anchors.push_back(anchor);
  }
  lines.clear();
  if (std::string end; !(lines >> end) || end != "end") fail("is a damaged index of");
  return index;
}

}  // namespace cgmca::io
