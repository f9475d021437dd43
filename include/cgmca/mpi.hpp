// Joins the summaries of the ranks of an MPI job by a tree of merges. Header only: a program that includes it compiles
// and links with MPI (mpicxx, or MPI::MPI_CXX of CMake). libcgmca itself does not use MPI.
// Example:
//   cgmca::Summary summary({d1, d2});
//   const cgmca::Share mine = cgmca::share_of(n, {rank + 1, ranks});  // each rank adds its own samples
//   summary.add(X1.middleCols(mine.first, mine.samples), X2.middleCols(mine.first, mine.samples));
//   const auto all = cgmca::mpi::reduce(summary, MPI_COMM_WORLD);     // on rank 0; nothing elsewhere
//   if (all) cgmca::fit(*all, C, C).save("model");
//
// A reduction of N ranks takes ⌈log2 N⌉ rounds. In each, half of the ranks that are left send a summary of p² or 2p²
// doubles and are done, and the others merge it. Samples that wait as rows are compressed before, on all ranks at once.
// Ranks are merged in their order, so the result is the same each time.
#pragma once

// The C++ bindings, which MPI has dropped, are not wanted.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <algorithm>
#include <cgmca/error.hpp>
#include <cgmca/summary.hpp>
#include <cgmca/version.hpp>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace cgmca::mpi {
namespace detail {

// A communicator of our own, so that no message of the caller's is taken for one of ours.
class Comm {
 public:
  explicit Comm(MPI_Comm comm) {
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~Comm() { MPI_Comm_free(&comm_); }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

inline constexpr std::uint64_t kPiece = std::uint64_t{1} << 30;  // a message counts its bytes by an int

inline void send(const std::string& bytes, int to, const Comm& comm) {
  const std::uint64_t size = bytes.size();
  MPI_Send(&size, 1, MPI_UINT64_T, to, 0, comm.get());
  for (std::uint64_t done = 0; done < size; done += kPiece) {
    MPI_Send(bytes.data() + done, static_cast<int>(std::min(kPiece, size - done)), MPI_BYTE, to, 0, comm.get());
  }
}

inline std::string receive(int from, const Comm& comm) {
  std::uint64_t size = 0;
  MPI_Recv(&size, 1, MPI_UINT64_T, from, 0, comm.get(), MPI_STATUS_IGNORE);
  std::string bytes(size, '\0');
  for (std::uint64_t done = 0; done < size; done += kPiece) {
    MPI_Recv(bytes.data() + done, static_cast<int>(std::min(kPiece, size - done)), MPI_BYTE, from, 0, comm.get(),
             MPI_STATUS_IGNORE);
  }
  return bytes;
}

// The text of every rank, on every rank.
inline std::vector<std::string> texts_of_all(const std::string& own, const Comm& comm) {
  const int length = static_cast<int>(own.size());
  std::vector<int> lengths(static_cast<std::size_t>(comm.size())), places;
  MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm.get());
  int total = 0;
  for (const int each : lengths) {
    places.push_back(total);
    total += each;
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  MPI_Allgatherv(own.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(), MPI_CHAR, comm.get());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    texts.push_back(all.substr(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

inline std::string machine() {
  char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
  return std::string(name, static_cast<std::size_t>(length));
}

inline std::string own_version() {
  return std::string("cgmca ") + version() + " (summaries of format " + std::to_string(summary_format_version()) + ")";
}

inline void check_versions(const Comm& comm) {
  const std::vector<std::string> versions = texts_of_all(own_version(), comm), machines = texts_of_all(machine(), comm);
  for (std::size_t rank = 1; rank < versions.size(); ++rank) {
    if (versions[rank] == versions[0]) continue;
    throw InvalidInput("rank " + std::to_string(rank) + " on " + machines[rank] + " runs " + versions[rank] +
                       ", but rank 0 on " + machines[0] + " runs " + versions[0] +
                       "; all ranks need the same version of cgmca");
  }
}

// Joins what comes from the ranks `step` = 1, 2, 4, … after this one, then sends it to the one that waits for it. What
// has failed on a rank travels as text in place of its summary, so that nobody waits in vain. Returns that text.
inline std::string climb(Summary& sum, const Comm& comm) {
  std::string failure;
  const auto guarded = [&failure](int rank, const auto& work) {
    if (!failure.empty()) return;
    try {
      work();
    } catch (const std::exception& problem) {
      failure = "rank " + std::to_string(rank) + ": " + problem.what();
    }
  };
  if (comm.size() > 1) guarded(comm.rank(), [&] { sum.compress(); });
  for (int step = 1; step < comm.size(); step *= 2) {
    if (comm.rank() % (2 * step) != 0) {
      std::string message;
      guarded(comm.rank(), [&] { message = sum.to_bytes(); });
      if (!failure.empty()) message = failure;
      message.push_back(failure.empty() ? '+' : '-');
      send(message, comm.rank() - step, comm);
      return failure;
    }
    const int other = comm.rank() + step;
    if (other >= comm.size()) continue;
    std::string message = receive(other, comm);
    const bool failed = message.back() == '-';
    message.pop_back();
    if (failed && failure.empty()) failure = message;
    guarded(other, [&] { sum.merge(Summary::from_bytes(message)); });
  }
  return failure;
}

}  // namespace detail

// Throws InvalidInput on every rank, naming the rank and its machine, if not all run the same version of cgmca.
// Collective: all ranks of the communicator must call it.
inline void check_versions(MPI_Comm comm) { detail::check_versions(detail::Comm(comm)); }

// The summary of all ranks' samples on rank 0, none on the others. Collective. If two ranks' summaries cannot be merged
// (Summary::merge), or if ranks run different versions, all ranks throw the same InvalidInput, which names the rank.
inline std::optional<Summary> reduce(Summary sum, MPI_Comm comm) {
  const detail::Comm own(comm);
  detail::check_versions(own);
  const std::string failure = detail::texts_of_all(detail::climb(sum, own), own).front();
  if (!failure.empty()) throw InvalidInput(failure);
  if (own.rank() != 0) return std::nullopt;
  return sum;
}

}  // namespace cgmca::mpi
