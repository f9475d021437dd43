// The ranks of `mpirun -n N cgmca summarize …`: each reads its part of the inputs, rank 0 writes the summary of all.
//
// The program links no MPI. What calls MPI is a module of its own (mpi/ranks_mpi.cpp, built with CGMCA_MPI), loaded
// only where the environment tells that mpirun has started several processes.
#pragma once

#include <cgmca/summary.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cgmca::cli {

class Ranks {
 public:
  virtual ~Ranks() = default;  // waits for the others

  virtual int rank() const = 0;
  virtual int count() const = 0;
  virtual int on_this_machine() const = 0;
  // Throws InvalidInput on every rank where they run different versions of cgmca.
  virtual void check_versions() = 0;
  // The text of every rank, on every rank, once all have come here.
  virtual std::vector<std::string> texts_of_all(const std::string& own) = 0;
  // See cgmca::mpi::reduce: on rank 0; where it fails, on every rank.
  virtual std::optional<Summary> reduce(const Summary& summary) = 0;
  // Ends all ranks, this one with the status.
  [[noreturn]] virtual void abort(int status) = 0;

  bool all_know = false;  // that the job has failed: all end by themselves
};

// Null where this process was started alone. Throws UsageError where there are others and this cgmca has no MPI: each
// of them would read all, and write the same file.
std::shared_ptr<Ranks> join_ranks();

// Work whose outcome all ranks learn before they go on: where it fails on one, the first such rank throws what
// happened, and the others OnAnotherRank.
struct OnAnotherRank {};
void agree(Ranks& ranks, const std::function<void()>& work);

// What the module defines: joins the job, as MPI_Init does. The caller owns the result.
using JoinMpi = Ranks* (*)();
inline constexpr const char* kJoinMpi = "cgmca_join_mpi";

}  // namespace cgmca::cli
