// cgmca info: what is in a model or summary file.
#include <cgmca/error.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "describe.hpp"

namespace cgmca::cli {
namespace {

void run(const Session& session, const std::string& path) {
  const auto show = [&](const auto& content) { session.result(describe(content), describe_text(content)); };
  std::optional<Summary> summary;
  try {
    return show(Model::load(path));
  } catch (const FormatError&) {
    try {
      summary = Summary::load(path);
    } catch (const FormatError&) { /* the message about a model says enough */
    }
    if (!summary) throw;
  }
  show(*summary);
}

}  // namespace

void add_info(CLI::App& app, Session& session) {
  auto path = std::make_shared<std::string>();
  auto& command = *app.add_subcommand("info", "Show what a model or summary file holds");
  command.add_option("FILE", *path, "A file written by fit, summarize or merge")->required();
  command.footer("Examples:\n  cgmca info m\n  cgmca info m --json");
  command.callback([path, &session] { session.command = [path, &session] { run(session, *path); }; });
}

}  // namespace cgmca::cli
