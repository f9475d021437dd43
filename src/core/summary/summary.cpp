#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>
#include <cgmca/summary.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/data/parts.hpp"
#include "core/linalg/device.hpp"
#include "core/summary/state.hpp"

namespace cgmca {

Index block_samples(Index features, Index bytes) {
  const Index samples = std::max<Index>(1, bytes / (std::max<Index>(features, 1) * Index{sizeof(double)}));
  return samples < Summary::State::kBlock ? samples : samples / Summary::State::kBlock * Summary::State::kBlock;
}

namespace {

using thresholds::kLargestValue;

[[noreturn]] void refuse_value(const std::string& domain, double value, double weight, Index row, Index column) {
  const std::string place = fmt::format("at row {}, column {} (counted from 0; a row is a sample)", row, column);
  if (std::abs(value) <= kLargestValue) {
    throw InvalidInput(fmt::format("{} holds {:.3g} {} of the weight {:.3g}: together they are too large for a double",
                                   domain, value, place, weight));
  }
  if (std::isfinite(value)) {
    throw InvalidInput(
        fmt::format("{} holds {:.3g} {}; its square is too large for a double. Give this domain in a larger unit",
                    domain, value, place));
  }
  throw NotFinite(fmt::format("{} holds {} {}. Remove or fill in such samples in both domains first", domain,
                              std::isnan(value) ? "NaN" : "infinity", place),
                  row, column);
}

// Checks that all values x are finite and that neither x nor √w x is too large. Samples of weight 0 are not checked.
void check_values(const std::string& domain, const auto& X, const VectorView* weights, Index first_row) {
  const double heaviest = weights == nullptr || weights->size() == 0 ? 1 : std::max(1.0, weights->maxCoeff());
  const double largest = kLargestValue / std::sqrt(heaviest);
  std::atomic<bool> all_small = true;
  parallel_for_columns(X.rows(), X.cols(), [&](Index first, Index count) {
    if (!(X.middleCols(first, count).template cast<double>().cwiseAbs().sum() <= largest)) all_small = false;
  });
  if (all_small) return;
  for (Index sample = 0; sample < X.cols(); ++sample) {
    const double weight = weights == nullptr ? 1 : (*weights)(sample);
    if (weight == 0) continue;
    const double limit = kLargestValue / std::sqrt(std::max(1.0, weight));
    for (Index feature = 0; feature < X.rows(); ++feature) {
      const auto value = static_cast<double>(X(feature, sample));
      if (!(std::abs(value) <= limit)) refuse_value(domain, value, weight, first_row + sample, feature);
    }
  }
}

// The same for samples that a remote back end holds. They are fetched only if one of them seems wrong.
void check_remote_values(const linalg::Backend& on, const std::string& domain, const SampleView& X,
                         const VectorView* weights, Index first_row) {
  const double heaviest = weights == nullptr || weights->size() == 0 ? 1 : std::max(1.0, weights->maxCoeff());
  if (on.within(X, kLargestValue / std::sqrt(heaviest))) return;
  constexpr Index some = 256;
  for (Index first = 0; first < X.cols(); first += some) {
    const Matrix part = on.fetched(X, first, std::min(some, X.cols() - first));
    const Vector their = weights == nullptr ? Vector() : Vector(weights->segment(first, part.cols()));
    const VectorView view = their;
    check_values(domain, MatrixView(part), weights == nullptr ? nullptr : &view, first_row + first);
  }
}

void check_samples(const Summary& summary, const MatchedSamples& X, const VectorView* weights, Index first) {
  const std::vector<DomainInfo>& info = summary.state().info;
  if (X.size() != info.size()) {
    throw InvalidInput(
        fmt::format("samples of {} domains for a summary of {}; give a matrix for each domain", X.size(), info.size()));
  }
  for (std::size_t i = 0; i < X.size(); ++i) {
    if (X[i].rows() == info[i].features) continue;
    throw WrongDimension(fmt::format("{} has {} features in this summary, the samples added have {}",
                                     describe(domain_at(i), info[i]), info[i].features, X[i].rows()));
  }
  for (std::size_t i = 1; i < X.size(); ++i) {
    if (X[i].cols() == X[0].cols()) continue;
    throw UnequalSamples(fmt::format("domain 1 has {} samples and domain {} has {}; matched {} need as many of each",
                                     X[0].cols(), i + 1, X[i].cols(), X.size() == 2 ? "pairs" : "samples"));
  }
  if (weights != nullptr) check_weights(*weights, X[0].cols());
  for (std::size_t i = 0; i < X.size(); ++i) {
    const std::string domain = describe(domain_at(i), info[i]);
    const linalg::Backend& on = *summary.state().on;
    if (on.holds(X[i])) {
      check_remote_values(on, domain, X[i], weights, first);
    } else {
      X[i].visit([&](const auto& samples) { check_values(domain, samples, weights, first); });
    }
  }
}

std::string sizes(const Summary::State& state) { return fmt::format("{}", fmt::join(features_of(state.info), "+")); }

}  // namespace

const char* name(Accumulate accumulate) {
  switch (accumulate) {
    case Accumulate::automatic:
      return "auto";
    case Accumulate::qr:
      return "qr";
    case Accumulate::gram:
      return "gram";
  }
  return "?";
}

const char* name(SummaryForm form) {
  switch (form) {
    case SummaryForm::rows:
      return "rows";
    case SummaryForm::qr:
      return "qr";
    case SummaryForm::gram:
      return "gram";
  }
  return "?";
}

Summary::Summary(std::vector<DomainInfo> domains, Accumulate accumulate, Device device) {
  if (domains.empty()) throw InvalidInput("a summary of no domains; at least 1 is needed");
  for (const DomainInfo& domain : domains) {
    if (domain.features >= 1) continue;
    const auto counts = features_of(domains);
    throw InvalidInput(fmt::format("a summary of {} features; {} at least 1", fmt::join(counts, " and "),
                                   counts.size() == 1   ? "there must be"
                                   : counts.size() == 2 ? "both need"
                                                        : "each domain needs"));
  }
  for (std::size_t i = 0; i < domains.size(); ++i) cgmca::check(domain_at(i), domains[i]);
  state_ = std::make_unique<State>(std::move(domains), accumulate, backend_of(device));
}
Summary::Summary(std::unique_ptr<State> state) : state_(std::move(state)) {}
Summary::~Summary() = default;
Summary::Summary(const Summary& other) : state_(std::make_unique<State>(*other.state_)) {}
Summary& Summary::operator=(const Summary& other) { return *this = Summary(other); }
Summary::Summary(Summary&& other) noexcept = default;
Summary& Summary::operator=(Summary&& other) noexcept = default;

void Summary::check(const MatchedSamples& X, Index first) const { check_samples(*this, X, nullptr, first); }

void Summary::check(const MatchedSamples& X, const VectorView& weights, Index first) const {
  check_samples(*this, X, &weights, first);
}

namespace {

// Samples in the device's own memory are the caller's again once the device has read them.
void wait_for_reading(const linalg::Backend& on, const MatchedSamples& X) {
  if (std::any_of(X.begin(), X.end(), [&on](const SampleView& domain) { return on.holds(domain); })) on.wait();
}

}  // namespace

void Summary::add(const MatchedSamples& X) {
  check(X, samples());
  state_->add({X, {}});
  wait_for_reading(*state_->on, X);
}

void Summary::add(const MatchedSamples& X, const VectorView& weights) {
  check(X, weights, samples());
  state_->add(weighted(*state_->on, X, weights));
  wait_for_reading(*state_->on, X);
}

void Summary::expect(Index samples) { state_->expected = samples; }

const std::vector<std::string>& Summary::inputs() const { return state_->inputs; }

void Summary::note_input(const std::string& input) {
  const Input noted(input);
  if (noted.word.empty())
    throw InvalidInput("the note of an input begins with a word that identifies it; this one is blank");
  note(state_->inputs, noted);
}

void Summary::merge(const Summary& other, Repeats repeats) {
  bool same = domains() == other.domains();
  for (std::size_t i = 0; same && i < state_->info.size(); ++i) {
    same = state_->info[i].features == other.state_->info[i].features;
  }
  if (!same) {
    throw WrongDimension(
        fmt::format("cannot merge a summary of {} features with one of {}", sizes(*state_), sizes(*other.state_)));
  }
  if (repeats == Repeats::refuse) {
    if (const std::string why = repeated(inputs(), other.inputs()); !why.empty()) throw InvalidInput(why);
  }
  auto merged = std::make_unique<State>(*state_);  // so that this one stays as it is where that fails
  merged->merge(*other.state_);
  Summary result(std::move(merged));
  for (const std::string& input : std::vector(other.inputs())) result.note_input(input);
  *this = std::move(result);
}

void Summary::compress() {
  if (!state_->nothing_compressed() && state_->rows.count() > 0) state_->compress_rows();
}

Index Summary::samples() const { return state_->samples(); }
double Summary::total_weight() const { return state_->total_weight(); }
SummaryForm Summary::form() const { return state_->form(); }
Index Summary::domains() const { return std::ssize(state_->info); }
Accumulate Summary::accumulate() const { return state_->accumulate; }
Device Summary::device() const { return state_->on->remote() ? Device::cuda : Device::cpu; }

Summary Summary::on(Device device) const {
  const linalg::Backend& target = backend_of(device);
  return &target == state_->on ? *this : Summary(std::make_unique<State>(state_->moved_to(target)));
}

const DomainInfo& Summary::domain(Domain domain) const {
  if (number(domain) < 1 || number(domain) > domains()) {
    throw MissingDomain(fmt::format("a summary of {} domains has no domain {}", domains(), number(domain)));
  }
  return state_->info[domain];
}

Vector Summary::mean(Domain domain) const {
  const Index d = dimension(domain), start = state_->layout.start(number(domain) - 1);
  const Vector mean = state_->count().mean;
  return state_->origin.segment(start, d) + mean.segment(start, d);
}

}  // namespace cgmca
