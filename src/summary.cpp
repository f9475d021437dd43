#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>
#include <cgmca/summary.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "linalg.hpp"
#include "tensor_file.hpp"

namespace cgmca {
namespace {

// Rows are compressed this many at a time once there is something to append them to: enough for matrix products to be
// fast, few enough to keep memory small.
Index block_of(Index features) { return features <= 512 ? 4096 : 1024; }

// The Gram form is chosen without being asked for only while κ(Θ_ii) <= this for both domains: its
// errors, a small multiple of eps·κ(Θ_ii), then stay near 1e-12. (The QR form's are of the order
// eps·κ(Θ_ii)^½.)
constexpr double kSafeCondition = 1e4;

void check_finite(Domain domain, const MatrixView& X, Index first_row) {
  if (X.allFinite()) return;
  for (Index sample = 0; sample < X.cols(); ++sample) {
    for (Index feature = 0; feature < X.rows(); ++feature) {
      const double value = X(feature, sample);
      if (std::isfinite(value)) continue;
      throw NotFinite(fmt::format("domain {} holds {} at row {}, column {} (counted from 0; a row is a sample). "
                                  "Remove or fill in such samples in both domains first",
                                  number(domain), std::isnan(value) ? "NaN" : "infinity", first_row + sample, feature),
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
  Vector sum = Vector::Zero(X.rows());
  for (Index j = 1; j < X.cols(); ++j) sum += X.col(j) - first;
  return first + sum / static_cast<double>(X.cols());
}

// Rows first … first + count - 1 of [Xcᵀ; sᵀ], in the features used, below `above` rows left free.
Matrix rows_of(const Matrix& Xc, const Vector& step, const std::vector<Index>& used, Index above, Index first,
               Index count) {
  const auto a = static_cast<Index>(used.size());
  const Index samples = std::min(count, Xc.cols() - first);
  Matrix rows(above + count, a);
  constexpr Index tile = 32;  // so that both matrices are read and written in whole cache lines
  for (Index j = 0; j < samples; j += tile) {
    for (Index k = 0; k < a; k += tile) {
      for (Index column = k; column < std::min(k + tile, a); ++column) {
        for (Index sample = j; sample < std::min(j + tile, samples); ++sample) {
          rows(above + sample, column) = Xc(used[static_cast<std::size_t>(column)], first + sample);
        }
      }
    }
  }
  if (samples < count) rows.bottomRows(1) = step(used).transpose();
  return rows;
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
  check_finite(Domain::one, X1, first);
  check_finite(Domain::two, X2, first);
}

void PairSummary::add(const MatrixView& X1, const MatrixView& X2) {
  check(X1, X2, samples());
  for (Index first = 0; first < X1.cols();) {
    if (pending_ == capacity()) compress_pending();
    const Index count = std::min(X1.cols() - first, capacity() - pending_);
    append_pending(X1.middleCols(first, count), X2.middleCols(first, count));
    first += count;
  }
}

// Samples wait in rows_ until there are enough to compress: 2p at first, then a block at a time.
Index PairSummary::capacity() const { return compressed_ == 0 ? 2 * (d1_ + d2_) : block_of(d1_ + d2_); }

void PairSummary::append_pending(const MatrixView& X1, const MatrixView& X2) {
  const Index count = X1.cols(), needed = pending_ + count;
  if (rows_.cols() < needed) {
    rows_.conservativeResize(d1_ + d2_, std::min(capacity(), std::max(needed, 2 * rows_.cols())));
  }
  rows_.block(0, pending_, d1_, count) = X1;
  rows_.block(d1_, pending_, d2_, count) = X2;
  pending_ = needed;
}

void PairSummary::compress_pending() {
  Matrix Xc = std::move(rows_);
  Xc.conservativeResize(Eigen::NoChange, pending_);
  rows_.resize(d1_ + d2_, 0);
  const Vector mean = column_mean(Xc);
  Xc.colwise() -= mean;
  join(std::move(Xc), mean, std::exchange(pending_, 0));
}

// Joins `count` samples of the given mean whose centred cross-products are Xc Xcᵀ (the samples
// themselves, or the transposed triangular factor of theirs): (17)
//   Xc Xcᵀ of the union = Xc Xcᵀ of one + Xc Xcᵀ of the other + s sᵀ,   s = sqrt(n_a n_b / n) (m_b
//   - m_a)
void PairSummary::join(Matrix Xc, const Vector& mean, Index count) {
  const Index p = d1_ + d2_;
  if (compressed_ == 0) {
    factor_ = Matrix::Zero(p, p);
    mean_ = mean;
    choose_form(Xc);
  }
  const double na = static_cast<double>(compressed_), nb = static_cast<double>(count), n = na + nb;
  const Vector step = std::sqrt(na * nb / n) * (mean - mean_);
  if (form_ == SummaryForm::gram && accumulate_ == Accumulate::automatic && !gram_stays_safe(Xc, step)) turn_to_qr();
  if (form_ == SummaryForm::gram) {
    linalg::add_gram(factor_, Xc);
    linalg::add_gram(factor_, step);
  } else {
    append_to_factor(std::move(Xc), step);
  }
  mean_ += (nb / n) * (mean - mean_);
  compressed_ += count;
}

// R of [R; Xcᵀ; sᵀ]. A feature that never varied has a zero column, and a zero row, in R: it is left out of the work.
void PairSummary::append_to_factor(Matrix Xc, const Vector& step) {
  const Index p = Xc.rows(), m = Xc.cols() + 1;
  std::vector<Index> used;
  for (Index j = 0; j < p; ++j) {
    if (step(j) != 0 || factor_.col(j).head(j + 1).any() || Xc.row(j).any()) used.push_back(j);
  }
  const auto a = static_cast<Index>(used.size());
  if (m >= 8 * a && a > 0) {
    // Many rows of few features: LAPACK's QR gains little by threads, so each half is one thread's. R, little beside
    // them, joins the first.
    std::array<Matrix, 2> R;
    side_by_side(2, [&](Index half) {
      const Index first = half * m / 2, count = (half + 1) * m / 2 - first;
      Matrix rows = rows_of(Xc, step, used, half == 0 ? a : 0, first, count);
      if (half == 0) rows.topRows(a) = factor_(used, used);
      R[static_cast<std::size_t>(half)] = linalg::triangular_factor(std::move(rows));
    });
    const SerialBlas serial;  // what is joined is too small for several threads
    linalg::append_rows(R[0], R[1]);
    factor_(used, used) = R[0];
    return;
  }
  Matrix appended = rows_of(Xc, step, used, 0, 0, m);
  Xc.resize(0, 0);
  if (compressed_ == 0) {
    factor_(used, used) = linalg::triangular_factor(std::move(appended));
  } else if (a == p) {
    linalg::append_rows(factor_, appended);
  } else {
    Matrix R = factor_(used, used);
    linalg::append_rows(R, appended);
    factor_(used, used) = R;
  }
}

// Gram if asked for, or if it may be chosen and the first samples prove it safe.
void PairSummary::choose_form(const MatrixView& Xc) {
  form_ = accumulate_ == Accumulate::gram ? SummaryForm::gram : SummaryForm::qr;
  if (accumulate_ != Accumulate::automatic) return;
  // λ_max/λ_min >= max Θ_jj / min Θ_jj: most data with little-used features is told by its diagonal
  // alone.
  const Vector diagonal = Xc.rowwise().squaredNorm();
  for (const auto& part : {diagonal.head(d1_), diagonal.tail(d2_)}) {
    if (part.size() > 0 && part.maxCoeff() > kSafeCondition * part.minCoeff()) return;
  }
  linalg::add_gram(factor_, Xc);
  if (measure_conditioning()) form_ = SummaryForm::gram;
  factor_.setZero();
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
    linalg::add_gram(factor_, Xc);
    linalg::add_gram(factor_, step);
    const bool safe = measure_conditioning();
    factor_ = std::move(now);
    return safe;
  }
  for (Domain domain : kDomains) spectrum_[slot(domain)].largest += added[slot(domain)];
  return true;
}

// R from G = RᵀR. The joint G may be singular (one domain a function of the other) though each Θ_ii
// is not; then R = Λ^½ Qᵀ of G = Q Λ Qᵀ, made triangular.
void PairSummary::turn_to_qr() {
  Matrix R = linalg::cholesky(factor_);
  if (R.size() == 0) {
    auto [values, Q] = linalg::symmetric_eigen(factor_);
    for (Index j = 0; j < Q.rows(); ++j) {
      if (factor_(j, j) == 0) Q.row(j).setZero();  // a constant feature stays exactly constant
    }
    R = linalg::triangular_factor(values.cwiseMax(0).cwiseSqrt().asDiagonal() * Q.transpose());
  }
  factor_ = std::move(R);
  form_ = SummaryForm::qr;
}

void PairSummary::merge(const PairSummary& that) {
  if (d1_ != that.d1_ || d2_ != that.d2_) {
    throw WrongDimension(
        fmt::format("cannot merge a summary of {}+{} features with one of {}+{}", d1_, d2_, that.d1_, that.d2_));
  }
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
    if (accumulate_ == Accumulate::qr && form_ == SummaryForm::gram) turn_to_qr();
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
    join(part.factor_.transpose(), part.mean_, part.compressed_);
  }
  add_rows(rows);
}

Vector PairSummary::mean(Domain domain) const {
  if (samples() == 0) throw TooFewSamples("the mean of no samples");
  Vector mean = mean_;
  if (pending_ > 0) {
    const Vector recent = column_mean(rows_.leftCols(pending_));
    if (compressed_ == 0) mean = recent;
    mean += static_cast<double>(pending_) / static_cast<double>(samples()) * (recent - mean);
  }
  return mean.segment(start(domain), dimension(domain));
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
  PairSummary all = *this;
  if (all.pending_ > 0) all.compress_pending();
  const Matrix& factor = all.factor_;
  if (all.form_ == SummaryForm::gram) {
    return {SummaryForm::gram, {}, {}, scale * scale * Matrix(factor.selfadjointView<Eigen::Upper>())};
  }
  // R is upper triangular: domain 1's columns end after d1 rows.
  return {SummaryForm::qr,
          scale * factor.topLeftCorner(d1_, d1_).transpose(),
          scale * factor.rightCols(d2_).transpose(),
          {}};
}

PairSummary::Moments PairSummary::factored_moments() const {
  if (form() != SummaryForm::gram) return moments();
  PairSummary all = *this;
  if (all.pending_ > 0) all.compress_pending();
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
    file.add(form_ == SummaryForm::gram ? "gram" : "triangular", factor_);
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
    summary.factor_ =
        file.matrix(form == SummaryForm::gram ? "gram" : "triangular", p, p).triangularView<Eigen::Upper>();
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
