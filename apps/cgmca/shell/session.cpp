#include "shell/session.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <regex>

#include "shell/ranks.hpp"
#include "support/text.hpp"

namespace cgmca::cli {

double Session::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Session::leads() const { return !ranks || ranks->rank() == 0; }

std::string Session::speaker() const { return ranks ? fmt::format("rank {}: ", ranks->rank()) : ""; }

void Session::result(Json object, const std::string& text, const std::vector<std::string>& written) const {
  if (!leads()) return;
  try {
    if (json) {
      if (!object.contains("seconds")) object["seconds"] = seconds();
      print(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    } else if (!quiet) {
      print(printable(text));
    }
  } catch (const IoError& problem) {
    if (written.empty()) throw;
    throw IoError(fmt::format("{}; '{}' {} written all the same", problem.what(), fmt::join(written, "', '"),
                              written.size() == 1 ? "is" : "are"));
  }
}

void Session::message(const std::string& text) const {
  if (!quiet) fmt::print(stderr, "{}{}\n", speaker(), printable(in_options(text)));
}

void Session::detail(const std::string& text) const {
  if (verbose && !quiet) fmt::print(stderr, "{}{}\n", speaker(), printable(text));
}

std::string in_options(const std::string& message) {
  // Whole words that are no part of a name or a path.
  static const std::regex max_rank("(^|[^-\\w./'])max_rank(?![-\\w./'])");
  static const std::regex permutation_test("(^|[^-\\w./'])permutation_test(?![-\\w./'])");
  static const std::regex option("the option (scale|calibrate)\\b");
  const std::string with_ranks = std::regex_replace(message, max_rank, "$1--max-rank");
  return std::regex_replace(std::regex_replace(with_ranks, permutation_test, "$1'cgmca tune --permutations'"), option,
                            "--$1");
}

void print(const std::string& text) {
  const char* next = text.data();
  std::size_t left = text.size();
  while (left > 0) {
    const ssize_t written = ::write(STDOUT_FILENO, next, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw IoError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    next += written;
    left -= static_cast<std::size_t>(written);
  }
}

std::string table(const Rows& rows) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.first.size());
  std::string text;
  for (const auto& [label, value] : rows) text += fmt::format("{:<{}}  {}\n", label, width, value);
  return text;
}

std::string bytes_text(double bytes) {
  constexpr std::array units = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1000;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

}  // namespace cgmca::cli
