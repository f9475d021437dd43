// cgmca info: what is in a model, a summary or a data file.
#include <cgmca/error.hpp>
#include <cgmca/incomplete.hpp>
#include <cgmca/io.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <utility>

#include "commands/commands.hpp"
#include "output/describe.hpp"
#include "support/suggest.hpp"

namespace cgmca::cli {
namespace {

Json data_object(const FileInfo& file) {
  Json object = {{"format", file.format}, {"arrays", Json::array()}};
  for (const ArrayInfo& array : file.arrays) {
    object["arrays"].push_back(
        {{"name", array.name},
         {"shape", array.shape},
         {"type", array.type},
         {"feature_names", array.feature_names.empty() ? Json(nullptr) : Json(array.feature_names)},
         {"missing", array.missing ? Json(*array.missing) : Json(nullptr)}});
  }
  return object;
}

std::string data_text(const FileInfo& file) {
  Rows rows = {{"format", file.format}};
  for (const ArrayInfo& array : file.arrays) {
    std::string text = fmt::format("{}  {}", fmt::join(array.shape, " × "), array.type);
    if (array.missing && *array.missing > 0) text += fmt::format(", {} missing", *array.missing);
    if (!array.feature_names.empty()) text += fmt::format("; features {}", few_of(array.feature_names));
    rows.emplace_back(array.name.empty() ? "array" : array.name, text);
  }
  return table(rows);
}

// Whether the content begins as models and summaries do: a length of 8 bytes, and a JSON object.
bool begins_as_ours(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char start[9] = {};
  return file.read(start, sizeof start) && start[8] == '{' && start[7] == 0;
}

// The arrays that a member names: one, or all of a struct or group.
FileInfo only(FileInfo file, const std::string& path, const std::string& member) {
  const auto belongs = [&](const ArrayInfo& array) {
    const std::string name =
        array.name.starts_with('/') && !member.starts_with('/') ? array.name.substr(1) : array.name;
    return name == member || name.starts_with(member + ".") || name.starts_with(member + "/");
  };
  std::vector<std::string> names;
  for (const ArrayInfo& array : file.arrays) names.push_back(array.name);
  std::erase_if(file.arrays, std::not_fn(belongs));
  if (!file.arrays.empty()) return file;
  const std::string near = did_you_mean(member, names);
  throw FormatError(fmt::format("'{}' holds no '{}'{} {}", path, member,
                                near.empty() ? "; it holds" : near + " It holds", few_of(names)));
}

void run(const Session& session, const std::string& source) {
  const auto show = [&](const auto& content) { session.result(describe(content), describe_text(content)); };
  std::error_code ignored;
  const std::string path = file_of(source);
  const std::string member = source.substr(std::min(path.size() + 1, source.size()));
  const bool exists = std::filesystem::exists(path, ignored);
  const bool several = !exists && (path == "-" || files_of(path) != std::vector<std::string>{path});
  if (several || (exists && !begins_as_ours(path))) {
    FileInfo file = describe_file(path);
    if (!member.empty()) file = only(std::move(file), path, member);
    return session.result(data_object(file), data_text(file));
  }
  if (holds_incomplete_summary(path)) return show(IncompleteSummary::load(path));
  try {
    return show(Model::load(path));
  } catch (const FormatError& problem) {
    if (std::string_view(problem.what()).find("a cgmca-summary") == std::string_view::npos) throw;
  }
  show(Summary::load(path));
}

}  // namespace

void add_info(CLI::App& app, Session& session) {
  auto path = std::make_shared<std::string>();
  auto& command = *app.add_subcommand("info", "Show what a model, a summary or a data file holds");
  command
      .add_option("FILE", *path,
                  "A file written by fit, summarize or merge, or one with samples, also FILE:MEMBER of it, or several "
                  "('a-*.npy')")
      ->required();
  command.footer("Examples:\n  cgmca info m\n  cgmca info m --json\n  cgmca info a.npy");
  command.callback([path, &session] { session.command = [path, &session] { run(session, *path); }; });
}

}  // namespace cgmca::cli
