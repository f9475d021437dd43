// cgmca::mpi::reduce on any number of ranks: the fit of all samples, and the same error on every rank. Run by mpirun;
// rank 0 says "all N ranks agree" in the end.
#include <cgmca/fit.hpp>
#include <cgmca/mpi.hpp>
#include <cgmca/parts.hpp>
#include <cgmca/random.hpp>

#include <cstdio>
#include <stdexcept>

namespace {

using namespace cgmca;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

Matrix normal(Index rows, Index columns, std::uint32_t item) {
  Matrix X(rows, columns);
  random_numbers::fill_normal(1, random_numbers::Purpose{1000}, item, X.data(), static_cast<std::size_t>(X.size()));
  return X;
}

Matrix map_of(const Model& model, Domain domain) { return model.domain(domain).mixing * model.domain(domain).weights; }

// The last rank may have no samples at all.
void check_fit(const mpi::detail::Comm& comm, Index n, Accumulate accumulate) {
  const Matrix X1 = normal(6, n, 1), X2 = X1.topRows(4) + normal(4, n, 2);
  const Share share = share_of(n, {comm.rank() + 1, comm.size()});
  Summary own({6, 4}, accumulate), whole({6, 4}, accumulate);
  own.add(Matrix(X1.middleCols(share.first, share.samples)), Matrix(X2.middleCols(share.first, share.samples)));
  own.note_input(part_of("X1:ab a.npy", {comm.rank() + 1, comm.size()}));
  whole.add(X1, X2);
  const auto all = mpi::reduce(own, comm.get());
  require(all.has_value() == (comm.rank() == 0), "the summary of all is on rank 0");
  if (!all) return;
  require(all->samples() == n && all->inputs() == std::vector<std::string>{"X1:ab a.npy"}, "samples or inputs differ");
  const Covariance C = Covariance::identity(2);
  const Model one = fit(whole, C, C), other = fit(*all, C, C);
  for (const Domain domain : {Domain{1}, Domain{2}}) {
    const Matrix A = map_of(one, domain);
    require((A - map_of(other, domain)).cwiseAbs().maxCoeff() <= 1e-10 * A.cwiseAbs().maxCoeff(), "the maps differ");
  }
}

// One rank's summary does not belong to the others.
void check_refusal(const mpi::detail::Comm& comm) {
  if (comm.size() == 1) return;
  const int odd = comm.size() - 1;
  const Summary own({3, comm.rank() == odd ? 4 : 2});
  try {
    mpi::reduce(own, comm.get());
  } catch (const InvalidInput& problem) {
    const std::string message = problem.what();
    require(message.find("rank " + std::to_string(odd) + ": cannot merge") == 0, "another message: " + message);
    return;
  }
  throw std::runtime_error("nothing was refused");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const mpi::detail::Comm comm(MPI_COMM_WORLD);
    try {
      for (const Accumulate accumulate : kAccumulates) check_fit(comm, 400, accumulate);
      check_fit(comm, 4, Accumulate::automatic);
      check_fit(comm, 30'000, Accumulate::automatic);  // whole blocks, and samples that wait for the next
      check_refusal(comm);
    } catch (const std::exception& problem) {
      std::fprintf(stderr, "rank %d: %s\n", comm.rank(), problem.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(comm.get());
    if (comm.rank() == 0) std::printf("all %d ranks agree\n", comm.size());
  }
  MPI_Finalize();
}
