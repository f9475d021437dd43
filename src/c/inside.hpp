// What the files of the C interface share: the objects behind its handles, its views as matrices, errors as statuses.
#pragma once

#include <cgmca/cgmca.h>

#include <cgmca/fit.hpp>
#include <cgmca/folds.hpp>
#include <cgmca/incomplete.hpp>
#include <cgmca/translate.hpp>
#include <cgmca/tune.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/aside.hpp"

struct cgmca_model {
  cgmca::Model model;
  std::uint64_t id = next_id();  // of this object, among all that there ever were

  static std::uint64_t next_id();
};

struct cgmca_summary {
  std::variant<cgmca::Summary, cgmca::IncompleteSummary> summary;
};

// From several domains, and by lsqr, the model itself is needed.
struct cgmca_translation {
  cgmca::Translation map;     // its samples are in the order of `from`
  cgmca::Translation sorted;  // from several domains: the same, with them ascending
  std::vector<cgmca::Domain> from;
  cgmca::Domain to = cgmca::Domain::one;
  std::optional<cgmca::Model> model;
  bool by_lsqr = false;
  cgmca::LsqrOptions lsqr;
};

struct cgmca_tuning {
  cgmca::Folds folds;
  cgmca::TuneResult result;
};

namespace cgmca::c {

struct Stopped {};  // thrown where the caller's `stop` said so

// Keeps the message of the exception that is being handled, for cgmca_last_message.
cgmca_status report() noexcept;

// Runs work() and turns what it throws into a status.
template <class Work>
cgmca_status guarded(const Work& work) noexcept {
  try {
    work();
    return CGMCA_OK;
  } catch (...) {
    return report();
  }
}

// Throws InvalidInput, naming the argument, if it is null.
void need(const void* pointer, const char* argument);

// An object of the caller's memory that begins with its size, with 0 for what a shorter one lacks.
template <class Options>
Options read_options(const Options* given) {
  Options own = {};
  if (given == nullptr) return own;
  if (given->size < sizeof(std::size_t) || given->size > sizeof(Options)) {
    throw InvalidInput("the options' size is " + std::to_string(given->size) + ", that of this library is " +
                       std::to_string(sizeof(Options)) + "; set it to sizeof of the struct");
  }
  std::memcpy(&own, given, given->size);
  own.size = sizeof(Options);
  return own;
}
// Writes such an object to the caller, as much as there is room for.
template <class Result>
void write_result(const Result& own, Result* to) {
  need(to, "the result");
  const std::size_t size = to->size;
  if (size < sizeof(std::size_t) || size > sizeof(Result)) {
    throw InvalidInput("the result's size is " + std::to_string(size) + ", that of this library is " +
                       std::to_string(sizeof(Result)) + "; set it to sizeof of the struct");
  }
  std::memcpy(to, &own, size);
  to->size = size;
}

// A text with its end into `room` characters, cut if it is longer.
void copy_text(const std::string& text, char* to, std::size_t room);
// The i-th text, from 0, or null beyond the last.
const char* text_at(const std::vector<std::string>& list, int64_t i);

// One matrix of the caller, as columns: rows of a view become columns. Doubles with column_stride 1 are not copied.
class Columns {
 public:
  // A view of them, or a copy that outlives them.
  enum class Hold { view, copy };
  explicit Columns(const cgmca_view& view, Hold hold = Hold::view);

  Index rows() const { return map_.rows(); }  // features
  Index cols() const { return map_.cols(); }  // samples
  // A reference to the doubles themselves.
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>& map() const { return map_; }
  operator MatrixView() const { return map_; }  // NOLINT: it is one

 private:
  std::shared_ptr<const Matrix> own_;
  Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> map_;
};
// The same of each domain. Throws InvalidInput for none.
std::vector<Columns> columns_of(const cgmca_view* X, int domains, Columns::Hold hold = Columns::Hold::view);
MatchedSamples matched(const std::vector<Columns>& X);

// n weights, or an empty vector.
Vector sample_weights(const double* weights, Index n);

// A caller's memory with its strides filled in. Throws InvalidInput for what cannot be.
cgmca_view checked(const cgmca_view& view);
// The same of memory for a result of this shape. Throws WrongDimension if it has another.
cgmca_buffer checked(const cgmca_buffer* to, Index rows, Index columns);
// Writes columns to the rows of the caller's buffer. Throws WrongDimension if its shape is another.
void write(const Matrix& columns, const cgmca_buffer* to);
void write_to(const cgmca_buffer& to, const Eigen::Ref<const Matrix>& columns);
// The same of an array, whose shape goes to rows and columns; `out` may be null.
void give(const Matrix& array, int64_t* rows, int64_t* columns, const cgmca_buffer* out);

// Blocks of samples without allocation: in the caller's memory if that holds contiguous doubles, else in memory of the
// calling thread, which the next use of the same `which` (below kScratches) overwrites.
using ConstTile = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;
using Tile = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;
constexpr std::size_t kScratches = 3;
constexpr Index kBlock = 4096;  // samples at a time, as apply and translate of the core have them
Tile tile_of(std::size_t which, Index rows, Index columns);
// Samples first … first + count - 1 as columns.
ConstTile samples_of(std::size_t which, const cgmca_view& view, Index first, Index count);
// Room for such results, and their way to the caller.
Tile room_in(std::size_t which, const cgmca_buffer& buffer, Index first, Index count);
void hand_over(const Tile& tile, const cgmca_buffer& buffer, Index first);
// Calls work(first, count) for each block of n samples, once at least.
template <class Work>
void in_blocks(Index n, const Work& work) {
  Index first = 0;
  do {
    const Index count = std::min(kBlock, n - first);
    work(first, count);
    first += count;
  } while (first < n);
}

// The domain of a model. Throws MissingDomain.
Domain domain_of(const Model& model, int domain);

// fits: options as the core has them. The samples of `extra` are held here.
struct Settings {
  std::vector<Covariance> covariances;
  FitOptions options;
  std::vector<std::optional<Summary>> extra;
};
std::shared_ptr<Settings> settings_of(const cgmca_fit_options& given, const std::vector<Index>& features);
// The domains with their names.
std::vector<DomainInfo> domains_of(const cgmca_fit_options& given, const std::vector<Index>& features);
std::vector<Index> features_of(const std::vector<Columns>& X);
Accumulate accumulate_of(const cgmca_fit_options& given);
Regularization regularization_of(const cgmca_fit_options& given, std::size_t domains);
Graph graph_of(const cgmca_fit_options& given, std::size_t domains);
// Whether samples may lack domains.
bool keeps_incomplete(const cgmca_fit_options& given);
// Whether a copy of the samples is needed, because work may outlive the call.
Columns::Hold hold_for(const cgmca_fit_options& given);

// What functions of samples share. `given` has pointers of the caller, which work aside must not use.
struct Request {
  cgmca_fit_options given;
  std::vector<Columns> samples;
  std::vector<DomainInfo> domains;
  Vector weights;  // n, or empty
  Accumulate accumulate;

  // Holds views of the samples, or copies, if work may outlive the call.
  Request(const cgmca_view* X, int count, const cgmca_fit_options* options);
  Request(const cgmca_view* X, int count, const cgmca_fit_options* options, Columns::Hold hold);
  std::shared_ptr<Settings> settings() const;
  // Adds the samples to a summary, to folds, or to whatever takes them.
  template <class Sum>
  void add_to(Sum& sum) const {
    weights.size() > 0 ? sum.add(matched(samples), weights) : sum.add(matched(samples));
  }
};

// Runs the work in the calling thread, or, if there is a `stop`, in a thread of its own while `stop` is asked. It must
// own all that it uses: work that was stopped goes on for a while behind the caller's back.
void run_stoppable(const cgmca_fit_options& given, const std::function<void(const Report&)>& work);
// The same of work that has a result.
template <class Result>
Result stoppable(const cgmca_fit_options& given, const std::function<Result(const Report&)>& work) {
  const auto found = std::make_shared<std::optional<Result>>();
  run_stoppable(given, [=](const Report& report) { found->emplace(work(report)); });
  return std::move(**found);
}

}  // namespace cgmca::c
