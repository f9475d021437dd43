// PairSummary: all that a fit needs to know of n matched pairs, in one pass and in memory that does
// not grow with n.
//
// With X = [X1; X2] (p×n, p = d1 + d2), mean m and centred samples Xc = X - m 1ᵀ, the summary holds
// n, m and one of
//   rows   the samples themselves, while n <= 2p (compressing would save less than half)
//   qr     Xc Xcᵀ = Pᵀ G P: P (p×p), triangular within each domain, whitens the first samples, so that G is well
//          conditioned whatever the data are: as accurate as R of a QR factorization     docs/method.md (17) (27)
//   gram   G = Xc Xcᵀ itself: less arithmetic, but it squares the condition number
// Two summaries merge into that of the union, so data can come in blocks of any size, from several
// machines, or be continued next week. Blocks are regrouped inside, so the same samples in the same
// order give the same bits however they were cut.
#pragma once

#include <array>
#include <cgmca/types.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

struct Frame;
class TensorReader;
class TensorWriter;

enum class Accumulate {
  automatic,  // gram while the measured conditioning proves it safe, otherwise qr
  qr,
  gram,
};
inline constexpr std::array kAccumulates = {Accumulate::automatic, Accumulate::qr, Accumulate::gram};
enum class SummaryForm { rows, qr, gram };

const char* name(Accumulate accumulate);
const char* name(SummaryForm form);

class PairSummary {
 public:
  PairSummary(Index d1, Index d2, Accumulate accumulate = Accumulate::automatic);

  // n matched pairs: X1 is d1×n, X2 is d2×n. Throws WrongDimension, UnequalSamples or NotFinite,
  // and then adds nothing.
  void add(const MatrixView& X1, const MatrixView& X2);

  // What add would throw, nothing added; `first` is the number of the first pair in messages.
  void check(const MatrixView& X1, const MatrixView& X2, Index first) const;

  // The summary of both sets of pairs.
  void merge(const PairSummary& other);

  Index samples() const { return compressed_ + pending_; }
  Index dimension(Domain domain) const { return domain == Domain::one ? d1_ : d2_; }
  Vector mean(Domain domain) const;
  SummaryForm form() const { return compressed_ == 0 ? SummaryForm::rows : form_; }
  Accumulate accumulate() const { return accumulate_; }

  // One safetensors file, written atomically. load throws FormatError or IoError. `note` is the caller's own text,
  // kept with the summary: where its samples came from, for instance. A summary saved and loaded goes on as if it had
  // never left memory, to the bit.
  void save(const std::string& path, const std::string& note = {}) const;
  static PairSummary load(const std::string& path, std::string* note = nullptr);
  // The same bytes without a file, to send to another process.
  std::string to_bytes() const;
  static PairSummary from_bytes(std::string_view bytes);

  // What fit reads.                                                       docs/method.md (18)
  struct Moments {
    SummaryForm form;
    Matrix S1, S2;  // rows, qr: S_i S_jᵀ = Θ_ij; where S1 has fewer columns than S2, its further
                    // columns are zero
    Matrix theta;   // gram: Θ = [Θ11 Θ12; Θ21 Θ22]
  };
  Moments moments() const;
  Moments factored_moments() const;  // never in the gram form

 private:
  TensorWriter pack(const std::string& note) const;
  static PairSummary unpack(const TensorReader& file);
  friend class SampleSummary;
  struct OneDomain {};
  PairSummary(Index d, Accumulate accumulate, OneDomain);
  Index capacity() const;
  void append_pending(const MatrixView& X1, const MatrixView& X2);
  void compress_pending();
  void join(const MatrixView& Xc, const Vector& mean, Index count);
  void join_gram(const MatrixView& X1, const MatrixView& X2);
  void count_in(const Vector& mean, Index count);
  void take_in(const PairSummary& that);
  // qr: samples taken into the frame, and which of the pending ones still wait.
  struct Compressed {
    Matrix G;
    Vector mean;
    Index samples;
    std::vector<Index> waiting;
  };
  Compressed compressed() const;
  Compressed compressed_and_waiting() const;
  Compressed compress_in_frame() const;
  void add_in_frame();
  void set_frame(const MatrixView& Z);
  void renew_frame();
  Matrix triangle(const Compressed& now) const;
  Vector mean_of_all() const;
  PairSummary all_compressed() const;
  Vector step_to(const Vector& mean, Index count) const;
  void choose_form(const MatrixView& Xc);
  bool measure_conditioning();
  bool gram_stays_safe(const MatrixView& Xc, const Vector& step);
  void turn_to_qr();
  Index start(Domain domain) const { return domain == Domain::one ? 0 : d1_; }

  Index d1_, d2_;
  Accumulate accumulate_;
  SummaryForm form_ = SummaryForm::rows;

  Index compressed_ = 0;                // samples inside factor_
  Vector mean_;                         // of those samples
  Matrix factor_;                       // the upper triangle of G: Xc Xcᵀ = G (gram) or Pᵀ G P (qr)
  std::shared_ptr<const Frame> frame_;  // qr: P
  Index pending_ = 0;                   // samples inside rows_
  Matrix rows_;                         // p×(at least pending_): [X1; X2], not centred

  // gram by choice: λ_max <= largest and λ_min >= smallest hold for (n-1)·Θ_ii, one entry a domain.
  struct Spectrum {
    double largest = 0, smallest = 0;
  };
  std::array<Spectrum, 2> spectrum_;
};

// The same of samples of one domain, without partners.
class SampleSummary {
 public:
  explicit SampleSummary(Index d, Accumulate accumulate = Accumulate::automatic);

  void add(const MatrixView& X);  // d×n; throws WrongDimension or NotFinite
  void merge(const SampleSummary& other) { all_.merge(other.all_); }

  Index samples() const { return all_.samples(); }
  Index dimension() const { return all_.dimension(Domain::one); }
  Vector mean() const { return all_.mean(Domain::one); }
  Matrix centred() const;  // E: d×m with E Eᵀ = Σ_j (x_j - mean)(x_j - mean)ᵀ

 private:
  PairSummary all_;  // of pairs whose second half has no features
};

}  // namespace cgmca
#pragma GCC visibility pop
