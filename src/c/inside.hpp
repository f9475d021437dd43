// What the files of the C interface share: the objects behind its handles, its views as matrices, errors as statuses.
#pragma once

#include <cgmca/cgmca.h>

#include <cgmca/fit.hpp>
#include <cgmca/folds.hpp>
#include <cgmca/translate.hpp>
#include <cgmca/tune.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct cgmca_model {
  cgmca::Model model;
  std::uint64_t id = next_id();  // of this object, among all that there ever were

  static std::uint64_t next_id();
};

struct cgmca_summary {
  cgmca::Summary summary;
};

// From several domains, and by lsqr, the model itself is needed.
struct cgmca_translation {
  cgmca::Translation map;
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

// Writes columns to the rows of the caller's buffer. Throws WrongDimension if its shape is another.
void write(const Matrix& columns, const cgmca_buffer* to);

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
// Whether a copy of the samples is needed, because work may outlive the call.
Columns::Hold hold_for(const cgmca_fit_options& given);

// Calls report(done) wherever the work can be stopped.
using Report = std::function<void(double done)>;
// Runs the work in the calling thread, or, if there is a `stop`, in a thread of its own while `stop` is asked. It must
// own all that it uses: work that was stopped goes on for a while behind the caller's back.
void run_stoppable(const cgmca_fit_options& given, const std::function<void(const Report&)>& work);

}  // namespace cgmca::c
