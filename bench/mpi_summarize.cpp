// The program of bench/mpi_scaling: summaries of generated pairs by the ranks of an MPI job. It needs the core and MPI
// only, no library of file formats.
//   mpi_summarize make FOLDER SAMPLES FEATURES     writes FOLDER/x1.npy and x2.npy, each rank its share
//   mpi_summarize run FOLDER MODEL                 summarizes them, each rank its share, and fits on rank 0
// `run` prints, as one line, the ranks, the seconds for reading and summarizing (of the slowest rank), for the
// reduction and for the fit, and the largest difference from MODEL relative to its largest number; the first run writes
// MODEL. Each rank uses one thread.
#include <cgmca/fit.hpp>
#include <cgmca/model.hpp>
#include <cgmca/mpi.hpp>
#include <cgmca/parts.hpp>
#include <cgmca/random.hpp>
#include <cgmca/threads.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace {

using namespace cgmca;

constexpr Index kBlock = 4096;  // samples
constexpr Index kHeader = 128;  // bytes

// An NPY file of doubles, one sample a row, of which each rank writes or reads its own rows.
class Rows {
 public:
  Rows(const std::string& path, int flags) : file_(::open(path.c_str(), flags, 0644)) {
    if (file_ < 0) throw std::runtime_error("cannot open " + path);
  }
  ~Rows() { ::close(file_); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  void write_header(Index samples, Index features) {
    std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(samples) + ", " +
                       std::to_string(features) + "), }";
    text.resize(static_cast<std::size_t>(kHeader - 11), ' ');
    text = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text + "\n";
    put(text.data(), text.size(), 0);
  }
  // Samples and features.
  std::array<Index, 2> read_header() {
    std::string text(static_cast<std::size_t>(kHeader), '\0');
    get(text.data(), text.size(), 0);
    long long samples = 0, features = 0;
    const auto place = text.find("'shape': (");
    if (place == std::string::npos ||
        std::sscanf(text.c_str() + place, "'shape': (%lld, %lld)", &samples, &features) != 2)
      throw std::runtime_error("no array that mpi_summarize make has written");
    return {samples, features};
  }
  void write(const Matrix& X, Index first) { put(X.data(), bytes(X), place(X, first)); }
  void read(Matrix& X, Index first) { get(X.data(), bytes(X), place(X, first)); }

 private:
  static std::size_t bytes(const Matrix& X) { return static_cast<std::size_t>(X.size()) * sizeof(double); }
  static off_t place(const Matrix& X, Index first) { return kHeader + first * X.rows() * Index{sizeof(double)}; }
  void put(const void* from, std::size_t count, off_t place) {
    for (std::size_t done = 0; done < count;) {
      const ssize_t some =
          ::pwrite(file_, static_cast<const char*>(from) + done, count - done, place + static_cast<off_t>(done));
      if (some <= 0) throw std::runtime_error("cannot write");
      done += static_cast<std::size_t>(some);
    }
  }
  void get(void* to, std::size_t count, off_t place) {
    for (std::size_t done = 0; done < count;) {
      const ssize_t some =
          ::pread(file_, static_cast<char*>(to) + done, count - done, place + static_cast<off_t>(done));
      if (some <= 0) throw std::runtime_error("the file is cut short");
      done += static_cast<std::size_t>(some);
    }
  }

  int file_;
};

Part part_of_rank() {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return {rank + 1, ranks};
}

// Normal numbers that depend on the block alone, not on who makes it.
Matrix normal(Index rows, Index columns, std::uint32_t purpose, Index block) {
  Matrix X(rows, columns);
  random_numbers::fill_normal(1, random_numbers::Purpose{purpose}, static_cast<std::uint32_t>(block), X.data(),
                              static_cast<std::size_t>(X.size()));
  return X;
}

// x_i = W_i t + noise, with eight causes t.
void make(const std::string& folder, Index samples, Index features) {
  constexpr Index causes = 8;
  const Part part = part_of_rank();
  const std::array paths = {folder + "/x1.npy", folder + "/x2.npy"};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (part.number == 1) Rows(paths[i], O_WRONLY | O_CREAT | O_TRUNC).write_header(samples, features);
    MPI_Barrier(MPI_COMM_WORLD);
    Rows file(paths[i], O_WRONLY);
    const auto which = static_cast<std::uint32_t>(i);
    const Matrix W = normal(features, causes, 1000 + which, 0);
    const Share blocks = share_of((samples + kBlock - 1) / kBlock, part);
    for (Index block = blocks.first; block < blocks.first + blocks.samples; ++block) {
      const Index first = block * kBlock, count = std::min(kBlock, samples - first);
      const Matrix T = normal(causes, count, 1002, block);
      file.write(W * T + normal(features, count, 1003 + which, block), first);
    }
  }
}

Matrix map_of(const DomainMap& domain) { return domain.mixing * domain.weights; }

double largest_difference(const Model& model, const Model& reference) {
  double difference = 0, size = 0;
  for (const Domain domain : {Domain{1}, Domain{2}}) {
    const Matrix A = map_of(model.domain(domain)), B = map_of(reference.domain(domain));
    difference = std::max(difference, (A - B).cwiseAbs().maxCoeff());
    size = std::max(size, B.cwiseAbs().maxCoeff());
  }
  return difference / size;
}

void run(const std::string& folder, const std::string& model_path) {
  Rows x1(folder + "/x1.npy", O_RDONLY), x2(folder + "/x2.npy", O_RDONLY);
  const auto [samples, features] = x1.read_header();
  const Part part = part_of_rank();
  const Share share = share_of(samples, part);
  Summary summary({features, features});
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  Matrix X1(features, kBlock), X2(features, kBlock);
  for (Index done = 0; done < share.samples; done += kBlock) {
    const Index count = std::min(kBlock, share.samples - done);
    if (count < kBlock) {
      X1.resize(features, count);
      X2.resize(features, count);
    }
    x1.read(X1, share.first + done);
    x2.read(X2, share.first + done);
    summary.add(X1, X2);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double summarized = MPI_Wtime();
  const auto all = mpi::reduce(summary, MPI_COMM_WORLD);
  if (!all) return;
  const double reduced = MPI_Wtime();
  const Covariance C = Covariance::identity(std::min<Index>(features, 16));
  const Model model = fit(*all, C, C);
  const double fitted = MPI_Wtime();
  if (!std::filesystem::exists(model_path)) model.save(model_path);
  std::printf("%lld %.4f %.4f %.4f %.3g %lld %s\n", static_cast<long long>(part.count), summarized - start,
              reduced - summarized, fitted - reduced, largest_difference(model, Model::load(model_path)),
              static_cast<long long>(all->samples()), name(all->form()));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string command = argc > 1 ? argv[1] : "";
  try {
    set_threads(1);
    if (command == "make" && argc == 5) {
      make(argv[2], std::atoll(argv[3]), std::atoll(argv[4]));
    } else if (command == "run" && argc == 4) {
      run(argv[2], argv[3]);
    } else {
      throw std::runtime_error("usage: mpi_summarize make FOLDER SAMPLES FEATURES | run FOLDER MODEL");
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "mpi_summarize: %s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
