// The subcommands. Each adds itself to the program and, when chosen, leaves its work in session.command.
#pragma once

#include "shell/session.hpp"

namespace CLI {
class App;
}

namespace cgmca::cli {

void add_fit(CLI::App& app, Session& session);
void add_verify(CLI::App& app, Session& session);
void add_translate(CLI::App& app, Session& session);
void add_pairs_command(CLI::App& app, Session& session);
void add_report(CLI::App& app, Session& session);
void add_apply(CLI::App& app, Session& session);
void add_extend(CLI::App& app, Session& session);
void add_fuse(CLI::App& app, Session& session);
void add_info(CLI::App& app, Session& session);
void add_summarize(CLI::App& app, Session& session);
void add_export(CLI::App& app, Session& session);
void add_merge(CLI::App& app, Session& session);
void add_index(CLI::App& app, Session& session);
void add_tune(CLI::App& app, Session& session);
void add_tests(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_diagnose(CLI::App& app, Session& session);
void add_bootstrap(CLI::App& app, Session& session);
void add_reproduce(CLI::App& app, Session& session);

// Not shown in the help: what the installation needs of the definitions above.
void add_completion(CLI::App& app, Session& session);
void add_man(CLI::App& app, Session& session);

}  // namespace cgmca::cli
