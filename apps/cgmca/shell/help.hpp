// The help texts of the program and of each subcommand.
#pragma once

namespace CLI {
class App;
}

namespace cgmca::cli {

// Once all options and subcommands are there.
void teach(CLI::App& app);

}  // namespace cgmca::cli
