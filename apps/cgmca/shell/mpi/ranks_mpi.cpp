// The module that calls MPI; see ranks.hpp.
#include "shell/ranks.hpp"

#include <cgmca/mpi.hpp>

#include <cstdlib>

namespace cgmca::cli {
namespace {

class MpiRanks : public Ranks {
 public:
  MpiRanks() {
    MPI_Init(nullptr, nullptr);
    comm_.emplace(MPI_COMM_WORLD);
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(comm_->get(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &on_this_machine_);
    MPI_Comm_free(&here);
  }
  ~MpiRanks() override {
    comm_.reset();
    MPI_Finalize();
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int rank() const override { return comm_->rank(); }
  int count() const override { return comm_->size(); }
  int on_this_machine() const override { return on_this_machine_; }
  void check_versions() override { mpi::detail::check_versions(*comm_); }
  std::vector<std::string> texts_of_all(const std::string& own) override {
    return mpi::detail::texts_of_all(own, *comm_);
  }
  std::optional<Summary> reduce(const Summary& summary) override { return mpi::reduce(summary, comm_->get()); }
  void abort(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::abort();  // which MPI_Abort does not let us reach
  }

 private:
  std::optional<mpi::detail::Comm> comm_;
  int on_this_machine_ = 1;
};

}  // namespace
}  // namespace cgmca::cli

extern "C" __attribute__((visibility("default"))) cgmca::cli::Ranks* cgmca_join_mpi() {
  return new cgmca::cli::MpiRanks;
}
