// The graph is written by the Python package, because only Python has a library that makes and checks graphs.
#include "commands/export_onnx.hpp"

#include <cgmca/error.hpp>
#include <cgmca/model.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "input/domains.hpp"
#include "output/files.hpp"
#include "shell/signals.hpp"

namespace cgmca::cli {
namespace {

namespace fs = std::filesystem;

// The present folder is no place to import from.
constexpr const char* kProgram =
    "import sys\n"
    "sys.path = [place for place in sys.path if place]\n"
    "from cgmca._model.onnx import main\n"
    "main(*sys.argv[1:])\n";
constexpr int kRefused = 3;  // its exit status where the model or an option does not allow what is asked for

struct Ended {
  int status;
  std::string said;
};

// Everything that a pipe gives until its other end is closed.
std::string read_all(int pipe) {
  std::string all;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t got = ::read(pipe, part.data(), part.size());
    if (got > 0) all.append(part.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return all;
  }
}

// Runs a program, and returns what it wrote to stdout and stderr.
Ended run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw IoError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int problem = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string said = problem == 0 ? read_all(ends[0]) : std::strerror(problem);
  ::close(ends[0]);
  int status = 127 << 8;
  while (problem == 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  stop_if_interrupted();
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), said};
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
}

std::string python() {
  const char* named = std::getenv("CGMCA_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

// What Python says of the graph it has written.
Json written_by_python(const std::string& model, const std::string& file, const Json& how) {
  const Ended ended = run_program({python(), "-c", kProgram, model, file, how.dump()});
  const std::string line = last_line(ended.said);
  if (ended.status == 0) return Json::parse(line);
  if (ended.status == kRefused) throw InvalidInput(line);
  throw IoError(fmt::format(
      "--onnx needs Python 3 with the packages cgmca and onnx; '{}' says: {}. Install them (pip install onnx, "
      "and pip install . in cgmca's source), or name another Python by the environment variable CGMCA_PYTHON",
      python(), line.empty() ? fmt::format("status {}", ended.status) : line));
}

Json numbers_of(const std::vector<Domain>& domains) {
  Json numbers = Json::array();
  for (const Domain domain : domains) numbers.push_back(number(domain));
  return numbers;
}

// The keywords of cgmca.to_onnx.
Json keywords(const Model& model, const OnnxArguments& options) {
  Json how = {{"what", options.what}, {"dtype", options.single.value_or(false) ? "float32" : "float64"}};
  if (options.what == "apply") {
    how["domain"] = number(parse_domain("--domain", options.domain.empty() ? "1" : options.domain, model));
  } else if (options.what == "fuse") {
    if (!options.domains.empty()) how["domains"] = numbers_of(parse_domains("--domains", options.domains, model));
  } else {
    how["target"] = number(parse_domain("--to", options.to.empty() ? "1" : options.to, model));
    if (!options.from.empty()) how["source"] = numbers_of(parse_domains("--from", options.from, model));
    how["return_std"] = options.errors;
    if (options.interval > 0) how["return_interval"] = options.interval;
  }
  return how;
}

}  // namespace

void add_onnx_options(CLI::App& command, OnnxArguments& options) {
  command.add_flag("--onnx", options.wanted, "Write an ONNX graph instead (needs Python with cgmca and onnx)");
  command.add_option("--what", options.what, "Of the graph: translate (default), apply or fuse")
      ->check(CLI::IsMember({"translate", "apply", "fuse"}))
      ->option_text("translate|apply|fuse");
  command.add_option("--from", options.from, "Of a translation: where from; default: all other domains")
      ->option_text("LIST");
  command.add_option("--to", options.to, "Of a translation: where to; default: 1")->option_text("DOMAIN");
  command.add_option("--domain", options.domain, "Of apply; default: 1")->option_text("DOMAIN");
  command.add_option("--domains", options.domains, "Of fuse: the domains that are present; default: all")
      ->option_text("LIST");
  command.add_flag("--stderr", options.errors, "A translation's graph also has the standard errors of new samples");
  command
      .add_option("--interval", options.interval,
                  "A translation's graph also has limits that hold the true values with probability P")
      ->check(CLI::Range(1e-9, 1 - 1e-9))
      ->option_text("P");
  command
      .add_option_function<std::string>(
          "--precision", [&options](const std::string& text) { options.single = text == "single"; },
          "Of the graph's numbers: double (default) or single")
      ->check(CLI::IsMember({"single", "double"}))
      ->option_text("single|double");
}

void check_onnx(const CLI::App& command, const OnnxArguments& options) {
  const auto given = [&](const char* name) { return command.get_option(name)->count() > 0; };
  const auto refuse = [&](std::initializer_list<const char*> names, const char* reason) {
    for (const char* name : names) {
      if (given(name)) throw UsageError(fmt::format("{} is for {}", name, reason));
    }
  };
  if (!options.wanted) {
    return refuse({"--what", "--from", "--to", "--domain", "--domains", "--stderr", "--interval", "--precision"},
                  "export --onnx");
  }
  if (given("--only")) throw UsageError("--only names arrays; a graph has those that it needs");
  if (options.what != "translate") refuse({"--from", "--to", "--stderr", "--interval"}, "--what translate");
  if (options.what != "apply") refuse({"--domain"}, "--what apply");
  if (options.what != "fuse") refuse({"--domains"}, "--what fuse");
}

void export_onnx(const Session& session, const std::string& path, const std::string& output,
                 const OnnxArguments& options) {
  if (extension_of(output) != ".onnx") throw UsageError(fmt::format("'{}': export --onnx writes .onnx", output));
  check_target(output, {path});
  const Json how = keywords(Model::load(path), options);
  const fs::path target(output);
  const fs::path beside = target.parent_path() / fmt::format(".{}.{}.onnx", target.stem().string(), ::getpid());
  Json graph;
  try {
    graph = written_by_python(path, beside.string(), how);
    fs::rename(beside, target);
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
  Rows rows;
  for (const char* side : {"inputs", "outputs"}) {
    for (const auto& [name, features] : graph[side].items()) {
      rows.emplace_back(name, fmt::format("{} × {}", std::string(side) == "inputs" ? "samples in" : "samples out",
                                          features.get<int>()));
    }
  }
  rows.emplace_back("opset", graph["opset"].dump());
  Json object = {{"file", output}};
  object.update(graph);
  session.result(object, table(rows), {output});
}

}  // namespace cgmca::cli
