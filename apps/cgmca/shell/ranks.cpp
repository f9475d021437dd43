#include "shell/ranks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <filesystem>

#include "shell/session.hpp"

namespace cgmca::cli {
namespace {

namespace fs = std::filesystem;

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

// How many processes mpirun (of Open MPI, of MPICH and its relatives) or srun has started; 0 or 1: this one alone.
int processes_started() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const int count = number_in(variable); count > 0) return count;
  }
  return std::getenv("PMIX_RANK") != nullptr ? number_in("SLURM_STEP_NUM_TASKS") : 1;
}

// Beside the program, as it is built, or in the folder of libraries, as it is installed; empty: nowhere.
std::string module_path() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& place : {folder / "cgmca-mpi.so", folder / ".." / CGMCA_LIBDIR / "cgmca" / "cgmca-mpi.so"}) {
    if (fs::exists(place, ignored)) return place.string();
  }
  return "";
}

}  // namespace

std::shared_ptr<Ranks> join_ranks() {
  const int count = processes_started();
  if (count < 2) return nullptr;
  const std::string path = module_path();
  const auto fail = [&](const std::string& why) {
    throw UsageError(
        fmt::format("this is one of {} processes of an MPI job, but {}. Start cgmca alone, or give each process its "
                    "--part I/N outside of mpirun",
                    count, why));
  };
  if (path.empty()) fail("this cgmca was built without MPI (cmake -DCGMCA_MPI=ON)");
  // Open MPI loads parts of itself that look for its symbols among the global ones.
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const join = module == nullptr ? nullptr : ::dlsym(module, kJoinMpi);
  if (join == nullptr) fail(fmt::format("its module for MPI cannot be loaded: {}", ::dlerror()));
  return std::shared_ptr<Ranks>(reinterpret_cast<JoinMpi>(join)());
}

void agree(Ranks& ranks, const std::function<void()>& work) {
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  const std::vector<std::string> outcomes = ranks.texts_of_all(failure ? "failed" : "");
  for (int rank = 0; rank < ranks.count(); ++rank) {
    if (outcomes[rank].empty()) continue;
    ranks.all_know = true;
    if (rank == ranks.rank()) std::rethrow_exception(failure);
    throw OnAnotherRank{};
  }
}

}  // namespace cgmca::cli
