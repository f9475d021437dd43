// cgmca index: where the rows of text files are, for jobs that read a part of them each.
#include <cgmca/io.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands/commands.hpp"
#include "output/files.hpp"

namespace cgmca::cli {
namespace {

void run(const Session& session, const std::vector<std::string>& paths) {
  std::vector<std::string> written;
  Json indexes = Json::array();
  Rows lines;
  for (const std::string& path : paths) check_target(row_index_of(path), {});
  for (const std::string& path : paths) {
    const Index rows = write_row_index(path);
    written.push_back(row_index_of(path));
    indexes.push_back({{"file", path}, {"index", written.back()}, {"rows", rows}});
    lines.emplace_back(written.back(), fmt::format("{} rows", rows));
  }
  session.result({{"indexes", indexes}}, table(lines), written);
}

}  // namespace

void add_index(CLI::App& app, Session& session) {
  auto paths = std::make_shared<std::vector<std::string>>();
  auto& command = *app.add_subcommand("index", "Note where the rows of text files are, for summarize --part");
  command.add_option("FILE", *paths, "A .csv or .tsv file; its index is FILE.rows, beside it")
      ->required()
      ->expected(1, -1);
  command.footer(
      "Once before the jobs of a batch queue start: without an index each of them looks for the line ends of the "
      "whole\n"
      "file, though it converts only its own rows. An index of a file that has changed since is refused.\n\n"
      "Example:\n  cgmca index a.csv b.csv");
  command.callback([paths, &session] { session.command = [paths, &session] { run(session, *paths); }; });
}

}  // namespace cgmca::cli
