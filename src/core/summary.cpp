#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>
#include <cgmca/summary.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "frame.hpp"
#include "linalg/linalg.hpp"
#include "tensor_file.hpp"

namespace cgmca {
namespace {

// Samples are compressed this many at a time once there is something to append them to: enough for matrix products to
// be fast, few enough to keep memory small.
constexpr Index kBlock = 4096;
// Samples unlike those that made the frame wait until they are this many.
constexpr Index kUnlike = kBlock / 4;

// The Gram form is chosen without being asked for only while κ(Θ_ii) <= this for both domains: its
// errors, a small multiple of eps·κ(Θ_ii), then stay near 1e-12. (The QR form's are of the order
// eps·κ(Θ_ii)^½.)
constexpr double kSafeCondition = 1e4;

// Larger values have squares whose sums overflow.
constexpr double kLargestValue = 1e140;

// All values are finite, and none too large.
void check_values(Domain domain, const MatrixView& X, Index first_row) {
  std::atomic<bool> all_small = true;
  by_columns(X.rows(), X.cols(), [&](Index first, Index count) {
    if (!(X.middleCols(first, count).cwiseAbs().sum() <= kLargestValue)) all_small = false;
  });
  if (all_small) return;
  for (Index sample = 0; sample < X.cols(); ++sample) {
    for (Index feature = 0; feature < X.rows(); ++feature) {
      const double value = X(feature, sample);
      if (std::abs(value) <= kLargestValue) continue;
      const std::string place =
          fmt::format("at row {}, column {} (counted from 0; a row is a sample)", first_row + sample, feature);
      if (std::isfinite(value)) {
        throw InvalidInput(
            fmt::format("domain {} holds {:.3g} {}; its square is too large for a double. Give this domain "
                        "in a larger unit",
                        number(domain), value, place));
      }
      throw NotFinite(fmt::format("domain {} holds {} {}. Remove or fill in such samples in both domains first",
                                  number(domain), std::isnan(value) ? "NaN" : "infinity", place),
                      first_row + sample, feature);
    }
  }
}

void check_dimension(Domain domain, Index expected, Index found) {
  if (expected == found) return;
  throw WrongDimension(fmt::format("domain {} has {} features in this summary, the samples added have {}",
                                   number(domain), expected, found));
}

// Mean of the columns, exact for a constant feature: x_0 + mean(x_j - x_0).
Vector column_mean(const MatrixView& X) {
  const Vector first = X.col(0);
  const Vector sum = sum_over_columns(X.rows(), X.cols(), [&](Index j, Vector& part) { part += X.col(j) - first; });
  return first + sum / static_cast<double>(X.cols());
}

// The same of both domains, one above the other.
Vector column_mean(const MatrixView& X1, const MatrixView& X2) {
  Vector mean(X1.rows() + X2.rows());
  mean << column_mean(X1), column_mean(X2);
  return mean;
}

// G + Σ (x - m)(x - m)ᵀ, in the upper triangle, a tile at a time so that the differences need little memory.
void add_deviations(Matrix& G, const MatrixView& X1, const MatrixView& X2, const Vector& mean) {
  constexpr Index columns = 768;
  const Index d1 = X1.rows(), d2 = X2.rows(), n = X1.cols();
  Matrix tile(d1 + d2, std::min(columns, n));
  for (Index start = 0; start < n; start += columns) {
    const Index width = std::min(columns, n - start);
    by_columns(d1 + d2, width, [&](Index first, Index count) {
      tile.block(0, first, d1, count) = X1.middleCols(start + first, count).colwise() - mean.head(d1);
      tile.block(d1, first, d2, count) = X2.middleCols(start + first, count).colwise() - mean.tail(d2);
    });
    linalg::add_gram(G, tile.leftCols(width));
  }
}

// G of the union, in the upper triangle.                                                                         (17)
void add_to_gram(Matrix& G, const MatrixView& Xc, const Vector& step) {
  linalg::add_gram(G, Xc);
  linalg::add_gram(G, step);
}

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

PairSummary::PairSummary(Index d1, Index d2, Accumulate accumulate) : d1_(d1), d2_(d2), accumulate_(accumulate) {
  if (d1 < 1 || d2 < 1)
    throw InvalidInput(fmt::format("a summary of {} and {} features; both need at least 1", d1, d2));
  rows_.resize(d1_ + d2_, 0);
}

PairSummary::PairSummary(Index d, Accumulate accumulate, OneDomain) : d1_(d), d2_(0), accumulate_(accumulate) {
  if (d < 1) throw InvalidInput(fmt::format("a summary of {} features; at least 1 is needed", d));
  rows_.resize(d, 0);
}

SampleSummary::SampleSummary(Index d, Accumulate accumulate) : all_(d, accumulate, PairSummary::OneDomain{}) {}

void SampleSummary::add(const MatrixView& X) { all_.add(X, Matrix(0, X.cols())); }

Matrix SampleSummary::centred() const {
  if (samples() < 2) return Matrix(dimension(), 0);
  return std::sqrt(static_cast<double>(samples() - 1)) * all_.factored_moments().S1;
}

void PairSummary::check(const MatrixView& X1, const MatrixView& X2, Index first) const {
  check_dimension(Domain::one, d1_, X1.rows());
  check_dimension(Domain::two, d2_, X2.rows());
  if (X1.cols() != X2.cols()) {
    throw UnequalSamples(fmt::format("domain 1 has {} samples and domain 2 has {}; matched pairs need as many of each",
                                     X1.cols(), X2.cols()));
  }
  check_values(Domain::one, X1, first);
  check_values(Domain::two, X2, first);
}

void PairSummary::add(const MatrixView& X1, const MatrixView& X2) {
  check(X1, X2, samples());
  for (Index first = 0; first < X1.cols();) {
    if (pending_ == capacity()) compress_pending();
    const Index count = std::min(X1.cols() - first, capacity() - pending_);
    const MatrixView one = X1.middleCols(first, count), two = X2.middleCols(first, count);
    const bool gram = accumulate_ == Accumulate::gram && (compressed_ == 0 || form_ == SummaryForm::gram);
    if (gram && count == capacity() && first + count < X1.cols()) {
      join_gram(one, two);  // as they would be next, but without waiting
    } else {
      append_pending(one, two);
    }
    first += count;
  }
}

// Samples wait in rows_ until there are enough to compress: 2p at first, then a block at a time.
Index PairSummary::capacity() const { return compressed_ == 0 ? 2 * (d1_ + d2_) : kBlock; }

void PairSummary::append_pending(const MatrixView& X1, const MatrixView& X2) {
  const Index count = X1.cols(), needed = pending_ + count;
  if (rows_.cols() < needed) {
    rows_.conservativeResize(d1_ + d2_, std::min(capacity(), std::max(needed, 2 * rows_.cols())));
  }
  by_columns(d1_ + d2_, count, [&](Index first, Index some) {
    rows_.block(0, pending_ + first, d1_, some) = X1.middleCols(first, some);
    rows_.block(d1_, pending_ + first, d2_, some) = X2.middleCols(first, some);
  });
  pending_ = needed;
}

void PairSummary::compress_pending() {
  if (compressed_ > 0 && form_ == SummaryForm::qr) {
    add_in_frame();
  } else if (accumulate_ == Accumulate::gram) {
    join_gram(rows_.topLeftCorner(d1_, pending_), rows_.bottomLeftCorner(d2_, pending_));
    pending_ = 0;
  } else {
    auto X = rows_.leftCols(pending_);
    const Vector mean = column_mean(X);
    by_columns(X.rows(), pending_, [&](Index first, Index some) { X.middleCols(first, some).colwise() -= mean; });
    try {
      join(X, mean, pending_);
    } catch (...) {
      X.colwise() += mean;
      throw;
    }
    pending_ = 0;
  }
  if (rows_.cols() > kBlock) rows_ = Matrix(rows_.leftCols(pending_));
}

// The waiting samples, but for those unlike the ones that made the frame. Of deviations from the mean so far,
// Σ (y - ȳ)(y - ȳ)ᵀ and (17) together are Σ y yᵀ - (Σ y)(Σ y)ᵀ / n with n of all samples.
PairSummary::Compressed PairSummary::compress_in_frame() const {
  FramedSamples framed = enter_frame(*frame_, rows_.leftCols(pending_), mean_, factor_);
  Compressed result{std::move(framed.G), mean_, compressed_ + pending_, std::move(framed.unlike)};
  result.samples -= static_cast<Index>(result.waiting.size());
  linalg::add_gram(result.G, framed.sum, -1 / static_cast<double>(result.samples));
  const Vector deviation = sum_over_columns(d1_ + d2_, pending_, [&](Index j, Vector& sum) {
    if (!std::binary_search(result.waiting.begin(), result.waiting.end(), j)) sum += rows_.col(j) - mean_;
  });
  result.mean += deviation / static_cast<double>(result.samples);
  return result;
}

// What is compressed already, alone or with all others waiting.
PairSummary::Compressed PairSummary::compressed() const { return {factor_, mean_, compressed_, {}}; }

PairSummary::Compressed PairSummary::compressed_and_waiting() const {
  Compressed result = compressed();
  result.waiting.resize(static_cast<std::size_t>(pending_));
  std::iota(result.waiting.begin(), result.waiting.end(), Index{0});
  return result;
}

void PairSummary::add_in_frame() {
  Compressed result = compress_in_frame();
  const auto waiting = static_cast<Index>(result.waiting.size());
  if (2 * waiting >= pending_ || outgrown(result.G)) {  // most are unlike, or together too many are large
    renew_frame();
    return;
  }
  for (Index k = 0; k < waiting; ++k) rows_.col(k) = rows_.col(result.waiting[static_cast<std::size_t>(k)]).eval();
  factor_ = std::move(result.G);
  mean_ = std::move(result.mean);
  compressed_ = result.samples;
  pending_ = waiting;
  if (pending_ > kUnlike) renew_frame();
}

// All samples, waiting ones too, make the frame.
void PairSummary::renew_frame() {
  const Matrix R = triangle(compressed_and_waiting());
  Vector mean = mean_of_all();
  set_frame(R.transpose());
  mean_ = std::move(mean);
  compressed_ = samples();
  pending_ = 0;
}

void PairSummary::set_frame(const MatrixView& Z) {
  Framed framed = make_frame(Z, d1_);
  frame_ = std::make_shared<const Frame>(std::move(framed.frame));
  factor_ = std::move(framed.G);
}

// R with RᵀR = Xc Xcᵀ of all samples (p×p, zero below row d1 in domain 1's columns): K P with KᵀK = G, then the waiting
// samples by Householder's QR. These need an intercept, a feature that is always 1: what follows it in R is what a
// regression on it leaves, centred.
Matrix PairSummary::triangle(const Compressed& now) const {
  const Index p = d1_ + d2_, a1 = frame_->P[0].R().rows(), waiting = static_cast<Index>(now.waiting.size());
  const auto& [features, constant] = std::tie(frame_->features, frame_->constant);
  const auto second = std::partition_point(constant.begin(), constant.end(), [this](Index j) { return j < d1_; });
  std::vector<Index> order(features.begin(), features.begin() + a1);
  order.insert(order.end(), constant.begin(), second);
  order.insert(order.end(), features.begin() + a1, features.end());
  order.insert(order.end(), second, constant.end());
  std::vector<Index> places(features.size());  // of the frame's features, after the intercept
  for (Index k = 0; k < frame_->size(); ++k) places[static_cast<std::size_t>(k)] = 1 + (k < a1 ? k : d1_ - a1 + k);

  Matrix R = Matrix::Zero(p + 1, p + 1);
  R(places, places) = frame_->triangle(now.G);
  if (waiting > 0) {
    R(0, 0) = std::sqrt(static_cast<double>(now.samples));
    Matrix rows(waiting, p + 1);
    rows.col(0).setOnes();
    rows.rightCols(p) = (rows_(order, now.waiting).colwise() - now.mean(order)).transpose();
    linalg::append_rows(R, rows);
  }
  Matrix result(p, p);
  result(Eigen::all, order) = R.bottomRightCorner(p, p);
  return result;
}

// s of (17), for `count` more samples of the given mean.
Vector PairSummary::step_to(const Vector& mean, Index count) const {
  const double na = static_cast<double>(compressed_), nb = static_cast<double>(count);
  return std::sqrt(na * nb / (na + nb)) * (mean - mean_);
}

void PairSummary::count_in(const Vector& mean, Index count) {
  mean_ += static_cast<double>(count) / static_cast<double>(compressed_ + count) * (mean - mean_);
  compressed_ += count;
}

// Joins `count` samples of the given mean whose centred cross-products are Xc Xcᵀ (the samples
// themselves, or the transposed triangular factor of theirs): (17)
//   Xc Xcᵀ of the union = Xc Xcᵀ of one + Xc Xcᵀ of the other + s sᵀ,   s = sqrt(n_a n_b / n) (m_b
//   - m_a)
void PairSummary::join(const MatrixView& Xc, const Vector& mean, Index count) {
  if (compressed_ == 0) {
    mean_ = mean;
    choose_form(Xc);
  }
  const Vector step = step_to(mean, count);
  if (form_ == SummaryForm::gram && accumulate_ == Accumulate::automatic && !gram_stays_safe(Xc, step)) turn_to_qr();
  if (form_ == SummaryForm::gram) {
    if (compressed_ > 0) add_to_gram(factor_, Xc, step);  // choose_form has summed the first ones
  } else {
    if (compressed_ == 0) {
      set_frame(Xc);
    } else {
      set_frame(linalg::beside(linalg::beside(triangle(compressed()).transpose(), Xc), step));
    }
  }
  count_in(mean, count);
}

// The same where the Gram form was asked for and nothing needs to be proven.
void PairSummary::join_gram(const MatrixView& X1, const MatrixView& X2) {
  const Index count = X1.cols();
  const Vector mean = column_mean(X1, X2);
  if (compressed_ == 0) {
    mean_ = mean;
    factor_ = Matrix::Zero(d1_ + d2_, d1_ + d2_);
    form_ = SummaryForm::gram;
  }
  add_deviations(factor_, X1, X2, mean);
  linalg::add_gram(factor_, step_to(mean, count));
  count_in(mean, count);
}

// Gram if it may be chosen and the first samples prove it safe; these are summed then. (Where it is asked for:
// join_gram.)
void PairSummary::choose_form(const MatrixView& Xc) {
  factor_ = Matrix::Zero(d1_ + d2_, d1_ + d2_);
  form_ = SummaryForm::qr;
  if (accumulate_ != Accumulate::automatic) return;
  // λ_max/λ_min >= max Θ_jj / min Θ_jj: most data with little-used features is told by its diagonal
  // alone.
  const Vector diagonal = Xc.rowwise().squaredNorm();
  for (const auto& part : {diagonal.head(d1_), diagonal.tail(d2_)}) {
    if (part.size() > 0 && part.maxCoeff() > kSafeCondition * part.minCoeff()) return;
  }
  linalg::add_gram(factor_, Xc);
  if (measure_conditioning()) form_ = SummaryForm::gram;
}

// Whether λ_max <= kSafeCondition·λ_min for the Θ_ii that factor_ holds.
bool PairSummary::measure_conditioning() {
  for (Domain domain : kDomains) {
    const Index d = dimension(domain);
    if (d == 0) continue;
    const Vector values = linalg::symmetric_eigenvalues(factor_.block(start(domain), start(domain), d, d));
    Spectrum& bounds = spectrum_[slot(domain)];
    bounds = {values(0), values(d - 1)};
    if (!(bounds.largest <= kSafeCondition * bounds.smallest)) return false;
  }
  return true;
}

// Adding Xc Xcᵀ cannot lower λ_min and raises λ_max by at most its trace, so the bounds can be carried on without
// measuring. Where they no longer prove enough, the sum is measured before what is there now is given up.
bool PairSummary::gram_stays_safe(const MatrixView& Xc, const Vector& step) {
  std::array<double, 2> added;
  for (Domain domain : kDomains) {
    added[slot(domain)] = Xc.middleRows(start(domain), dimension(domain)).squaredNorm() +
                          step.segment(start(domain), dimension(domain)).squaredNorm();
  }
  const auto proven = [&](Domain domain) {
    const Spectrum& bounds = spectrum_[slot(domain)];
    return bounds.largest + added[slot(domain)] <= kSafeCondition * bounds.smallest;
  };
  if (compressed_ == 0) return true;  // measured by choose_form with Xc itself
  if (!(proven(Domain::one) && proven(Domain::two))) {
    Matrix now = factor_;
    add_to_gram(factor_, Xc, step);
    const bool safe = measure_conditioning();
    factor_ = std::move(now);
    return safe;
  }
  for (Domain domain : kDomains) spectrum_[slot(domain)].largest += added[slot(domain)];
  return true;
}

// K of G = KᵀK by pivoted Cholesky, of features to the scale of unit variance. What a dependent feature has of its own
// is rounding of the size eps in G; its square root in K would pass for a direction.
void PairSummary::turn_to_qr() {
  const Vector size = factor_.diagonal().cwiseSqrt(), scale = (size.array() > 0).select(size, 1.0);
  const Matrix unit = scale.cwiseInverse().asDiagonal() * factor_ * scale.cwiseInverse().asDiagonal();
  const Matrix K = linalg::pivoted_cholesky(unit, linalg::gram_rounding(d1_ + d2_, compressed_)) * scale.asDiagonal();
  set_frame(K.transpose());
  form_ = SummaryForm::qr;
}

void PairSummary::merge(const PairSummary& that) {
  if (d1_ != that.d1_ || d2_ != that.d2_) {
    throw WrongDimension(
        fmt::format("cannot merge a summary of {}+{} features with one of {}+{}", d1_, d2_, that.d1_, that.d2_));
  }
  PairSummary merged = *this;  // so that this one stays as it is where that fails
  merged.take_in(that);
  *this = std::move(merged);
}

void PairSummary::take_in(const PairSummary& that) {
  const auto add_rows = [this](const Matrix& rows) {
    if (rows.cols() > 0) add(rows.topRows(d1_), rows.bottomRows(d2_));
  };
  const Matrix rows = that.rows_.leftCols(that.pending_);
  if (that.compressed_ > 0 && compressed_ == 0) {
    // Only the other one is compressed: continue it with our rows.
    const Matrix own = rows_.leftCols(pending_);
    const Accumulate accumulate = accumulate_;
    *this = that;
    accumulate_ = accumulate;
    if (form_ == SummaryForm::gram) {
      const bool unproven = accumulate_ == Accumulate::automatic && that.accumulate_ == Accumulate::gram;
      if (accumulate_ == Accumulate::qr || (unproven && !measure_conditioning())) turn_to_qr();
    }
    add_rows(own);
    return;
  }
  if (that.compressed_ > 0 && form_ == SummaryForm::gram && that.form_ == SummaryForm::gram) {
    factor_ += that.factor_;
    if (accumulate_ == Accumulate::automatic && !measure_conditioning()) turn_to_qr();
    join(Matrix(d1_ + d2_, 0), that.mean_, that.compressed_);  // what is left is the step between the means
  } else if (that.compressed_ > 0) {
    PairSummary part = that;
    if (part.form_ == SummaryForm::gram) part.turn_to_qr();
    if (form_ == SummaryForm::gram) turn_to_qr();
    join(part.triangle(part.compressed()).transpose(), part.mean_, part.compressed_);
  }
  add_rows(rows);
}

Vector PairSummary::mean_of_all() const {
  if (samples() == 0) throw TooFewSamples("the mean of no samples");
  if (pending_ == 0) return mean_;
  Vector recent = column_mean(rows_.leftCols(pending_));
  if (compressed_ == 0) return recent;
  return mean_ + static_cast<double>(pending_) / static_cast<double>(samples()) * (recent - mean_);
}

Vector PairSummary::mean(Domain domain) const { return mean_of_all().segment(start(domain), dimension(domain)); }

PairSummary PairSummary::all_compressed() const {
  PairSummary all = *this;
  if (all.pending_ > 0) all.compress_pending();
  return all;
}

PairSummary::Moments PairSummary::moments() const {
  if (samples() < 2) {
    throw TooFewSamples(
        fmt::format("{} matched pair{}; a covariance needs at least 2", samples(), samples() == 1 ? "" : "s"));
  }
  const double scale = 1 / std::sqrt(static_cast<double>(samples() - 1));
  if (compressed_ == 0) {
    const MatrixView rows = rows_.leftCols(pending_);
    const Vector mean = column_mean(rows);
    return {SummaryForm::rows,
            scale * (rows.topRows(d1_).colwise() - mean.head(d1_)),
            scale * (rows.bottomRows(d2_).colwise() - mean.tail(d2_)),
            {}};
  }
  if (form_ == SummaryForm::gram) {
    if (pending_ > 0 && accumulate_ == Accumulate::automatic) return all_compressed().moments();  // may turn to qr
    Matrix theta = factor_;
    if (pending_ > 0) {
      const Vector mean = column_mean(rows_.leftCols(pending_));
      add_deviations(theta, rows_.topLeftCorner(d1_, pending_), rows_.bottomLeftCorner(d2_, pending_), mean);
      linalg::add_gram(theta, step_to(mean, pending_));
    }
    theta *= scale * scale;
    theta.triangularView<Eigen::StrictlyLower>() = theta.transpose();
    return {SummaryForm::gram, {}, {}, std::move(theta)};
  }
  std::optional<Compressed> framed;
  if (2 * pending_ >= d1_ + d2_)
    framed = compress_in_frame();  // otherwise Householder's QR is cheaper than another K P
  if (framed && outgrown(framed->G)) framed.reset();
  const Matrix R = triangle(framed ? std::move(*framed) : compressed_and_waiting());
  return {SummaryForm::qr, scale * R.topLeftCorner(d1_, d1_).transpose(), scale * R.rightCols(d2_).transpose(), {}};
}

PairSummary::Moments PairSummary::factored_moments() const {
  if (form() != SummaryForm::gram) return moments();
  PairSummary all = all_compressed();
  if (all.form_ == SummaryForm::gram) all.turn_to_qr();
  return all.moments();
}

namespace {
constexpr const char* kFormat = "cgmca-summary";
}

void PairSummary::save(const std::string& path, const std::string& note) const { pack(note).save(path); }
std::string PairSummary::to_bytes() const { return pack({}).bytes(); }
PairSummary PairSummary::from_bytes(std::string_view bytes) { return unpack(TensorReader(bytes, kFormat)); }

PairSummary PairSummary::load(const std::string& path, std::string* note) {
  const TensorReader file(path, kFormat);
  if (note != nullptr) *note = file.has_text("note") ? file.text("note") : "";
  return unpack(file);
}

TensorWriter PairSummary::pack(const std::string& note) const {
  TensorWriter file(kFormat);
  file.set("samples", samples());
  file.set("compressed", compressed_);
  file.set("d1", d1_);
  file.set("d2", d2_);
  file.set("accumulate", std::string(name(accumulate_)));
  file.set("form", std::string(name(form())));
  if (!note.empty()) file.set("note", note);
  if (compressed_ > 0) {
    file.add_vector("mean", mean_);
    file.add("gram", factor_);
    if (form_ == SummaryForm::qr) {
      const std::vector<Index>& features = frame_->features;
      file.set("varying", frame_->size());
      file.add_vector("order", Eigen::VectorX<Index>::Map(features.data(), frame_->size()).cast<double>());
      file.add("frame", frame_->whole());
    }
  }
  file.add("rows", rows_.leftCols(pending_).transpose());
  for (Domain domain : kDomains) {
    file.set(fmt::format("largest{}", number(domain)), spectrum_[slot(domain)].largest);
    file.set(fmt::format("smallest{}", number(domain)), spectrum_[slot(domain)].smallest);
  }
  return file;
}

PairSummary PairSummary::unpack(const TensorReader& file) {
  const Index d1 = file.integer("d1", 1), d2 = file.integer("d2", 1);
  PairSummary summary(d1, d2, file.choice("accumulate", {Accumulate::automatic, Accumulate::qr, Accumulate::gram}));
  const auto form = file.choice("form", {SummaryForm::rows, SummaryForm::qr, SummaryForm::gram});
  const Index p = d1 + d2, total = file.integer("samples", 0);
  summary.compressed_ = file.integer("compressed", 0);
  if ((summary.compressed_ > 0) == (form == SummaryForm::rows)) {
    file.fail(fmt::format("{} compressed samples in the form '{}'", summary.compressed_, name(form)));
  }
  if (summary.compressed_ > 0) {
    summary.form_ = form;
    summary.mean_ = file.vector("mean", p);
    Index size = p;
    if (form == SummaryForm::qr) {
      size = file.integer("varying", 0);
      const Vector order = file.vector("order", size);
      std::vector<Index> features;
      for (const double feature : order) {
        const bool valid = feature >= 0 && feature < static_cast<double>(p) && feature == std::floor(feature);
        features.push_back(valid ? static_cast<Index>(feature) : -1);
      }
      auto frame = Frame::from_whole(file.matrix("frame", size, size), std::move(features), d1, p);
      if (!frame) file.fail("a frame that no samples have");
      summary.frame_ = std::make_shared<const Frame>(std::move(*frame));
    }
    summary.factor_ = file.matrix("gram", size, size).triangularView<Eigen::Upper>();
  }
  summary.pending_ = total - summary.compressed_;
  if (summary.pending_ < 0 || summary.pending_ > summary.capacity()) {
    file.fail(fmt::format("{} samples of which {} are compressed", total, summary.compressed_));
  }
  summary.rows_ = file.matrix("rows", summary.pending_, p).transpose();
  for (Domain domain : kDomains) {
    summary.spectrum_[slot(domain)] = {file.real(fmt::format("largest{}", number(domain))),
                                       file.real(fmt::format("smallest{}", number(domain)))};
  }
  return summary;
}

}  // namespace cgmca
