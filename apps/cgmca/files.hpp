// Output files: refused early, never half-written, all of a command's or none.
#pragma once

#include <cgmca/io.hpp>
#include <string>
#include <utility>
#include <vector>

namespace cgmca::cli {

// Before hours of work: throws IoError where the target's folder is missing or cannot be written, UsageError where the
// target is one of the command's inputs or other outputs. Different members of one file are different.
void check_target(const std::string& target, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs = {});

// The same for a folder that is made where it does not exist: throws IoError where it cannot be, or not be written.
void check_target_folder(const std::string& target);

// The file's extension, in small letters: ".mat" of "a.MAT:x".
std::string extension_of(const std::string& target);
bool is_text(const std::string& target);  // .csv or .tsv

// One result: features × samples.
struct Output {
  std::string target;
  Matrix X;
  WriteOptions options;
  std::vector<std::string> ids = {};  // the samples' keys: the first column of text files
  std::string id_name = {};           // its header
};
// Writes each; where one fails, those before it are put back as they were.
void write_all(const std::vector<Output>& outputs);

}  // namespace cgmca::cli
