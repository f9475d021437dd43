// Output files: refused early, never half-written, all of a command's or none.
#pragma once

#include <cgmca/io.hpp>
#include <string>
#include <utility>
#include <vector>

#include "shell/session.hpp"

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
};
// Writes each; where one fails, those before it are put back as they were.
void write_all(const std::vector<Output>& outputs);

// The results of one command, written in blocks side by side. All of them appear, or none.
class Outputs {
 public:
  void add(const std::string& target, Index features, const WriteOptions& options);
  // Appends samples to an output, by its place in the order of add().   X: features×n; the samples' keys, or none
  void write(std::size_t output, const MatrixView& X, const std::vector<std::string>& ids) {
    writers_[output].add(X, ids);
  }
  // Lets all appear, with progress; where one fails, those before it are put back as they were.
  void commit(const Session& session);
  const std::vector<std::string>& targets() const { return targets_; }

 private:
  void commit_from(const Session& session, std::size_t first);

  std::vector<std::string> targets_;
  std::vector<BlockWriter> writers_;
};

}  // namespace cgmca::cli
