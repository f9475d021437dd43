#include "shell/help.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace cgmca::cli {
namespace {

// A subcommand's help also shows the options that every command takes.
class Formatter : public CLI::Formatter {
 public:
  Formatter() { column_width(30); }

  std::string make_footer(const CLI::App* app) const override {
    std::string text = CLI::Formatter::make_footer(app);
    if (app->get_parent() == nullptr) return text;
    const auto common = app->get_parent()->get_options([](const CLI::Option* option) {
      return option->nonpositional() && option->get_lnames().front() != "help" &&
             option->get_lnames().front() != "version";
    });
    return make_group("Every command", false, common).substr(1) + "\n" + text;
  }
};

}  // namespace

void teach(CLI::App& app) {
  const auto formatter = std::make_shared<Formatter>();
  app.formatter(formatter);
  app.set_help_flag("--help,-h", "Show this help");
  app.fallthrough();
  app.allow_extras();
  for (CLI::App* command : app.get_subcommands({})) {
    command->formatter(formatter);
    command->set_help_flag("--help,-h", "Show this help");
    command->fallthrough();
  }
  app.footer(
      "The life of a project:\n"
      "  cgmca fit a.npy b.npy -o m                        files of matched rows, two or more → as many maps\n"
      "  cgmca verify m a.npy b.npy                        the maps are what they claim to be\n"
      "  cgmca translate m --from 2 --to 1 b.npy -o c.npy  what domain 1 would have shown\n"
      "  cgmca report m a.npy b.npy -o report.html         one page to look at\n\n"
      "Inputs: .npy, .npz:name, .csv, .tsv, IDX (also .gz), .mat:name, .h5:/path, a folder of PNG images; samples are\n"
      "rows. Outputs: .npy, .npz, .csv, .tsv, .mat, .h5; a file is replaced only when all is done.\n"
      "Exit status: 0 done, 1 internal error, no convergence or no memory, 2 usage, 3 bad input data, 4 infeasible,\n"
      "5 cannot read or write, 130 and 143 stopped by Ctrl-C or kill.\n"
      "Each command has its own help: cgmca fit --help");
}

}  // namespace cgmca::cli
