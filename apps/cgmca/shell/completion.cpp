// cgmca completion SHELL: what the shell completes, from the definitions of the options themselves.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands/commands.hpp"

namespace cgmca::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options(
      [](const CLI::Option* option) { return option->nonpositional() && !option->get_group().empty(); });
}

// "auto|qr|gram" → the words to choose from; none where the option takes anything else.
std::vector<std::string> choices(const CLI::Option& option) {
  const std::string& text = option.get_option_text();
  if (text.find('|') == std::string::npos) return {};
  return CLI::detail::split(text, '|');
}

bool takes_value(const CLI::Option& option) { return option.get_type_size() != 0; }

std::vector<std::string> names(const CLI::Option& option) {
  std::vector<std::string> result;
  for (const auto& name : option.get_snames()) result.push_back("-" + name);
  for (const auto& name : option.get_lnames()) result.push_back("--" + name);
  return result;
}

std::string flags(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : options_of(app)) text += fmt::format("{} ", fmt::join(names(*option), " "));
  return text;
}

// Text between single quotes in a shell.
std::string quoted(std::string text) {
  return "'" + CLI::detail::find_and_replace(std::move(text), "'", "'\\''") + "'";
}

std::string bash(const CLI::App& app) {
  std::string commands, cases, values;
  for (const CLI::App* command : commands_of(app)) {
    commands += command->get_name() + " ";
    cases += fmt::format("    {}) words={} ;;\n", command->get_name(), quoted(flags(*command) + flags(app)));
  }
  for (const CLI::App* part : commands_of(app)) {
    for (const CLI::Option* option : options_of(*part)) {
      if (choices(*option).empty()) continue;
      values += fmt::format("    {}:{}) COMPREPLY=($(compgen -W {} -- \"$current\")); return ;;\n", part->get_name(),
                            fmt::join(names(*option), fmt::format("|{}:", part->get_name())),
                            quoted(fmt::format("{}", fmt::join(choices(*option), " "))));
    }
  }
  for (const CLI::Option* option : options_of(app)) {
    if (choices(*option).empty()) continue;
    values +=
        fmt::format("    *:{}) COMPREPLY=($(compgen -W {} -- \"$current\")); return ;;\n",
                    fmt::join(names(*option), "|*:"), quoted(fmt::format("{}", fmt::join(choices(*option), " "))));
  }
  return fmt::format(R"(# bash completion for cgmca, made by `cgmca completion bash`
_cgmca() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command= words= word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case " {0}" in *" $word "*) command=$word; break ;; esac
  done
  case "$command:$previous" in
{1}  esac
  case "$command" in
    '') words={2} ;;
{3}  esac
  if [[ $current == -* || -z $command ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _cgmca cgmca
)",
                     commands, values, quoted(commands + flags(app)), cases);
}

// One argument of zsh's _arguments: '(-o --output)'{-o,--output}'[description]:FILE:_files'
std::string zsh_argument(const CLI::Option& option) {
  std::string description = option.get_description();
  for (const char* special : {"[", "]", ":"}) {
    description = CLI::detail::find_and_replace(description, special, std::string("\\") + special);
  }
  const auto all = names(option);
  std::string text = quoted(fmt::format("({})", fmt::join(all, " ")));
  text += all.size() > 1 ? fmt::format("{{{}}}", fmt::join(all, ",")) : all.front();
  std::string value;
  if (takes_value(option)) {
    value = choices(option).empty() ? fmt::format(":{}:_files", option.get_option_text())
                                    : fmt::format(":value:({})", fmt::join(choices(option), " "));
  }
  return text + quoted(fmt::format("[{}]{}", description, value));
}

std::string zsh(const CLI::App& app) {
  std::string commands, cases, common;
  for (const CLI::Option* option : options_of(app)) common += fmt::format(" \\\n    {}", zsh_argument(*option));
  for (const CLI::App* command : commands_of(app)) {
    commands += fmt::format("    {}\n", quoted(fmt::format("{}:{}", command->get_name(), command->get_description())));
    cases += fmt::format("    {})\n      _arguments", command->get_name());
    for (const CLI::Option* option : options_of(*command))
      cases += fmt::format(" \\\n        {}", zsh_argument(*option));
    cases += " \\\n        $common '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef cgmca
# zsh completion for cgmca, made by `cgmca completion zsh`
_cgmca() {{
  local curcontext="$curcontext" state line
  local -a commands common
  commands=(
{0}  )
  common=({1}
  )
  _arguments -C $common '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $words[1] in
{2}      esac ;;
  esac
}}
_cgmca "$@"
)",
                     commands, common, cases);
}

std::string fish_option(const CLI::Option& option, const std::string& condition) {
  std::string text = "complete -c cgmca" + condition;
  for (const auto& name : option.get_snames()) text += " -s " + name;
  for (const auto& name : option.get_lnames()) text += " -l " + name;
  if (!choices(option).empty()) {
    text += fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(choices(option), " "))));
  } else if (takes_value(option)) {
    text += " -r";
  }
  return fmt::format("{} -d {}\n", text, quoted(option.get_description()));
}

std::string fish(const CLI::App& app) {
  std::string text = "# fish completion for cgmca, made by `cgmca completion fish`\n";
  for (const CLI::Option* option : options_of(app)) text += fish_option(*option, "");
  for (const CLI::App* command : commands_of(app)) {
    text += fmt::format("complete -c cgmca -n __fish_use_subcommand -f -a {} -d {}\n", command->get_name(),
                        quoted(command->get_description()));
    const std::string condition = fmt::format(" -n '__fish_seen_subcommand_from {}'", command->get_name());
    for (const CLI::Option* option : options_of(*command)) text += fish_option(*option, condition);
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app, Session& session) {
  auto shell = std::make_shared<std::string>();
  auto& command = *app.add_subcommand("completion", "Print the completion script of a shell");
  command.group("");
  command.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.callback([shell, &app, &session] {
    session.command = [shell, &app] { print(*shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app)); };
  });
}

}  // namespace cgmca::cli
