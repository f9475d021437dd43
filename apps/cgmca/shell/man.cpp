// cgmca man: the manual page, from the definitions of the options themselves.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands/commands.hpp"
#include "shell/version.hpp"

namespace cgmca::cli {
namespace {

// Text that roff shall not take for its own.
std::string plain(std::string text) {
  text = CLI::detail::find_and_replace(std::move(text), "\\", "\\e");
  text = CLI::detail::find_and_replace(std::move(text), "-", "\\-");
  if (text.starts_with('.') || text.starts_with('\'')) text = "\\&" + text;
  return text;
}

std::string lines(const std::string& text) {
  std::string result;
  for (const auto& line : CLI::detail::split(text, '\n')) result += plain(line) + "\n";
  return result;
}

std::string option_entry(const CLI::Option& option) {
  const bool positional = option.get_positional();
  std::string head = "\\fB" + plain(option.get_name(positional, true)) + "\\fR";
  if (!positional && !option.get_option_text().empty()) head += " \\fI" + plain(option.get_option_text()) + "\\fR";
  return fmt::format(".TP\n{}\n{}\n", head, plain(option.get_description()));
}

std::string command_section(const CLI::App& command) {
  std::string text = fmt::format(".SS cgmca {}\n{}.\n", command.get_name(), plain(command.get_description()));
  for (const bool positional : {true, false}) {
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_positional() == positional && !option->get_group().empty()) text += option_entry(*option);
    }
  }
  return text + ".PP\n.nf\n" + lines(command.get_footer()) + ".fi\n";
}

std::string page(const CLI::App& app) {
  std::string text = fmt::format(
      ".TH CGMCA 1 \"\" \"cgmca {}\" \"User Commands\"\n"
      ".SH NAME\ncgmca \\- {}\n"
      ".SH SYNOPSIS\n.B cgmca\n.I COMMAND\n[\\fIOPTIONS\\fR] \\fIARGUMENTS\\fR\n"
      ".SH DESCRIPTION\n.nf\n{}.fi\n"
      ".SH OPTIONS OF EVERY COMMAND\n",
      plain(kVersion), plain(app.get_description()), lines(app.get_footer()));
  for (const CLI::Option* option : app.get_options()) text += option_entry(*option);
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) text += command_section(*command);
  }
  return text;
}

}  // namespace

void add_man(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand("man", "Print the manual page");
  command.group("");
  command.callback([&app, &session] { session.command = [&app] { print(page(app)); }; });
}

}  // namespace cgmca::cli
