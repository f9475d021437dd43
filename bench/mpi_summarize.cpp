// The program of bench/mpi_scaling: summaries of generated pairs by the ranks of an MPI job. It needs the core and MPI
// only, no library of file formats.
//   mpi_summarize make FOLDER SAMPLES FEATURES     writes FOLDER/x1.npy and x2.npy, each rank its share
//   mpi_summarize run FOLDER MODEL                 summarizes them, each rank its share, and fits on rank 0
//   mpi_summarize dgemm FEATURES                   what the machine can give: a product in each rank, of one thread
// The pairs have the canonical correlations 0.95, 0.9, …, 0.2 and then none, so that rounding moves no map by more than
// 1e-10. `dgemm` prints the ranks and the billions of operations a second of all of them together. `run` prints, as one
// line, the ranks, the seconds for reading and summarizing (of the slowest rank), for the reduction and for the fit,
// and the largest difference from MODEL relative to its largest number; the first run writes MODEL. Each rank uses one
// thread.
#include <cgmca/fit.hpp>
#include <cgmca/model.hpp>
#include <cgmca/mpi.hpp>
#include <cgmca/parts.hpp>
#include <cgmca/random.hpp>
#include <cgmca/threads.hpp>

#include <cblas.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace cgmca;

constexpr Index kBlock = 4096;       // samples that are made at a time, and that a summary compresses at a time
constexpr Index kCorrelations = 16;  // of the pairs, and components of the fit
constexpr Index kHeader = 128;       // bytes
constexpr Index kDouble = sizeof(double);

// An NPY file of doubles, one sample a row, of which each rank writes its own rows.
class RowWriter {
 public:
  RowWriter(const std::string& path, int flags) : file_(::open(path.c_str(), O_WRONLY | flags, 0644)) {
    if (file_ < 0) throw std::runtime_error("cannot open " + path);
  }
  ~RowWriter() { ::close(file_); }
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  void write_header(Index samples, Index features) {
    std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(samples) + ", " +
                       std::to_string(features) + "), }";
    text.resize(static_cast<std::size_t>(kHeader - 11), ' ');
    text = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text + "\n";
    put(text.data(), text.size(), 0);
  }
  void write(const Matrix& X, Index first) {
    put(X.data(), static_cast<std::size_t>(X.size()) * sizeof(double), kHeader + first * X.rows() * kDouble);
  }

 private:
  void put(const void* from, std::size_t count, off_t place) {
    for (std::size_t done = 0; done < count;) {
      const ssize_t some =
          ::pwrite(file_, static_cast<const char*>(from) + done, count - done, place + static_cast<off_t>(done));
      if (some <= 0) throw std::runtime_error("cannot write");
      done += static_cast<std::size_t>(some);
    }
  }

  int file_;
};

// Such a file in memory, without a copy of what the system has of it.
class MappedRows {
 public:
  explicit MappedRows(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY);
    size_ = file < 0 ? 0 : static_cast<std::size_t>(::lseek(file, 0, SEEK_END));
    memory_ = file < 0 ? MAP_FAILED : ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    if (memory_ == MAP_FAILED) throw std::runtime_error("cannot map " + path);
    const std::string text(static_cast<const char*>(memory_), std::min<std::size_t>(size_, kHeader));
    const auto place = text.find("'shape': (");
    long long samples = 0, features = 0;
    if (place == std::string::npos ||
        std::sscanf(text.c_str() + place, "'shape': (%lld, %lld)", &samples, &features) != 2 ||
        static_cast<Index>(size_) != kHeader + samples * features * kDouble)
      throw std::runtime_error(path + " is no array that mpi_summarize make has written");
    samples_ = samples;
    features_ = features;
  }
  ~MappedRows() { ::munmap(memory_, size_); }
  MappedRows(const MappedRows&) = delete;
  MappedRows& operator=(const MappedRows&) = delete;

  Index samples() const { return samples_; }
  Index features() const { return features_; }
  MatrixView columns(Index first, Index count) const {
    const auto* numbers = reinterpret_cast<const double*>(static_cast<const char*>(memory_) + kHeader);
    return Eigen::Map<const Matrix>(numbers + first * features_, features_, count);
  }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
  Index samples_ = 0, features_ = 0;
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

// x_i = W_i u_i + 2 with W_i of a small condition number and u_ij = √ρ_j t_j + √(1 - ρ_j) e_ij, where t_j and e_ij are
// independent normal numbers: the canonical correlations are ρ_j.
void make(const std::string& folder, Index samples, Index features) {
  const Index causes = std::min(features, kCorrelations);
  const Vector rho = 0.95 - 0.05 * Vector::LinSpaced(causes, 0, static_cast<double>(causes - 1)).array();
  const Part part = part_of_rank();
  const std::array paths = {folder + "/x1.npy", folder + "/x2.npy"};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (part.number == 1) RowWriter(paths[i], O_CREAT | O_TRUNC).write_header(samples, features);
    MPI_Barrier(MPI_COMM_WORLD);
    RowWriter file(paths[i], 0);
    const auto which = static_cast<std::uint32_t>(i);
    const Matrix W = Matrix::Identity(features, features) +
                     normal(features, features, 1000 + which, 0) / (2 * std::sqrt(static_cast<double>(features)));
    const Share blocks = share_of((samples + kBlock - 1) / kBlock, part);
    for (Index block = blocks.first; block < blocks.first + blocks.samples; ++block) {
      const Index first = block * kBlock, count = std::min(kBlock, samples - first);
      const Matrix T = normal(causes, count, 1002, block);
      Matrix U = normal(features, count, 1003 + which, block);
      U.topRows(causes) = (1 - rho.array()).sqrt().matrix().asDiagonal() * U.topRows(causes);
      U.topRows(causes) += rho.cwiseSqrt().asDiagonal() * T;
      file.write(((W * U).array() + 2).matrix(), first);
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
  const MappedRows x1(folder + "/x1.npy"), x2(folder + "/x2.npy");
  const Index features = x1.features();
  const Part part = part_of_rank();
  const Share share = share_of(x1.samples(), part);
  Summary summary({features, features});
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  // A summary first compresses twice as many samples as it has features, then kBlock at a time. It copies no sample
  // where these come at once.
  for (Index done = 0, count = 4 * features; done < share.samples; done += count, count = kBlock) {
    count = std::min(count, share.samples - done);
    summary.add(x1.columns(share.first + done, count), x2.columns(share.first + done, count));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double summarized = MPI_Wtime();
  const auto all = mpi::reduce(std::move(summary), MPI_COMM_WORLD);
  if (!all) return;
  const double reduced = MPI_Wtime();
  const Covariance C = Covariance::identity(std::min(features, kCorrelations));
  const Model model = fit(*all, C, C);
  const double fitted = MPI_Wtime();
  if (!std::filesystem::exists(model_path)) model.save(model_path);
  std::printf("%lld %.4f %.4f %.4f %.3g %lld %s\n", static_cast<long long>(part.count), summarized - start,
              reduced - summarized, fitted - reduced, largest_difference(model, Model::load(model_path)),
              static_cast<long long>(all->samples()), name(all->form()));
}

// X Xᵀ of 2·FEATURES × 4096 numbers, again and again for two seconds.
void dgemm(Index features) {
  const Index p = 2 * features;
  const Matrix X = normal(p, kBlock, 1005, 0);
  Matrix G(p, p);
  const auto multiply = [&] {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, static_cast<int>(p), static_cast<int>(p),
                static_cast<int>(kBlock), 1.0, X.data(), static_cast<int>(p), X.data(), static_cast<int>(p), 0.0,
                G.data(), static_cast<int>(p));
  };
  multiply();
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  double seconds = 0, products = 0;
  while (seconds < 2) {
    multiply();
    ++products;
    seconds = MPI_Wtime() - start;
  }
  double mine = 2e-9 * static_cast<double>(p * p * kBlock) * products / seconds, all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (part_of_rank().number == 1) std::printf("%lld %.2f\n", static_cast<long long>(part_of_rank().count), all);
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
    } else if (command == "dgemm" && argc == 3) {
      dgemm(std::atoll(argv[2]));
    } else {
      throw std::runtime_error("usage: mpi_summarize make FOLDER SAMPLES FEATURES | run FOLDER MODEL | dgemm FEATURES");
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "mpi_summarize: %s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
