// cgmca export --onnx: a map, a translation or a fusion as an ONNX graph.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "shell/session.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cgmca::cli {

struct OnnxArguments {
  bool wanted = false;  // --onnx
  std::string what = "translate", from, to, domain, domains;
  bool errors = false;
  double interval = 0;
  std::optional<bool> single;
};

void add_onnx_options(CLI::App& command, OnnxArguments& options);
// Throws UsageError for options of --onnx without it.
void check_onnx(const CLI::App& command, const OnnxArguments& options);
void export_onnx(const Session& session, const std::string& model, const std::string& output,
                 const OnnxArguments& options);

}  // namespace cgmca::cli
