// The compressed samples of a summary: Xc Xcᵀ = Pᵀ G P with a frame P.                             docs/method.md (27)
//
// Samples unlike those that made the frame wait as rows until there are many of them; then all make a new frame. P = I
// suits all samples. `automatic` replaces it by a frame when the data no longer prove that it is safe.
#pragma once

#include <cgmca/summary.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "core/summary/choose.hpp"
#include "core/summary/first_moments.hpp"
#include "core/summary/frame.hpp"
#include "core/summary/rows.hpp"

namespace cgmca {

// What later stages see: Xc_i Xc_jᵀ = S_i X_ij S_jᵀ and Xc_i Xc_iᵀ = S_i S_iᵀ.                              (48)
struct Roots {
  std::vector<linalg::Array> S;
  std::vector<std::vector<linalg::Array>> X;  // for i < j
  // The features of each domain that vary, in an order in which S_iᵀ is upper trapezoidal; empty if there is none.
  std::vector<linalg::Indices> orders;
};

struct Compressed {
  FirstMoments count;
  std::shared_ptr<const Frame> frame;  // P
  linalg::Array G;                     // upper triangle
  Accumulate accumulate;               // which frames it may have
  GramSafety safety;                   // the proof that P = I is safe, if it was chosen
  Vector measured{};  // G's diagonal when κ at unit size of a scaled frame was last measured; empty if never

  // The first samples, which decide on the frame.
  static Compressed first(const linalg::Backend& on, const WeightedSamples& samples, const Vector& origin,
                          const Layout& layout, Accumulate accumulate);
  // The same, of samples that travel to a remote back end once. Nothing if P = I would not be safe, or is not allowed.
  // `before`: those that are there already, if any.
  static std::optional<Compressed> sum_on_device(const linalg::Backend& on, const WeightedSamples& samples,
                                                 const Vector& origin, const Layout& layout, Accumulate accumulate,
                                                 const Compressed* before);
  // Vectors Z with Z Zᵀ = Xc Xcᵀ of `count` samples, in a frame of their own; `products` as for make_frame.
  static Compressed framed(const Deviations& Z, FirstMoments count, const Layout& layout, Accumulate accumulate,
                           const linalg::Array& products = {});

  // Takes in samples, and tells which of them are unlike those that made the frame and have to wait. Nothing, and
  // nothing changed, if most are, or if they would spoil G: then all should make a new frame.
  std::optional<std::vector<Index>> add(const WeightedSamples& samples, const Vector& origin);
  // All samples make the frame, these too.
  void renew(const WeightedSamples& samples, const Vector& origin);
  // Joins another summary's samples; `shift` is its origin minus ours. They enter the frame or, if they are unlike those
  // that made it, all make a new one.
  void merge(const Compressed& other, const Vector& shift);
  // From now on sums up so; P = I is left if it is not allowed or not proven to be safe.
  void continue_by(Accumulate how);
  // This with the rows inside, whether they are like those that made the frame or not.
  Compressed with_all(const Rows& rows, const Vector& origin) const;
  Compressed reordered(const linalg::Indices& places) const;  // places[f] is where feature f of the result is now
  Compressed moved_to(const linalg::Backend& target) const;

  Roots roots() const;
  linalg::Array root() const;           // Z (p×r) with Z Zᵀ = Xc Xcᵀ of all domains together
  Matrix times(const Matrix& V) const;  // Xc Xcᵀ V
  // The roots of the diagonal of Xc Xcᵀ; in a frame a bound, ‖P_f‖ √(max G_kk), will do.
  Vector sizes() const;

 private:
  // With the samples inside; the squares of what their new mean took from G's diagonal; which of them have to wait.
  struct Entered;
  Entered enter(const WeightedSamples& samples, const Vector& origin) const;
  bool outgrown(const Vector& before);  // `before`: G's diagonal then; notes when it has measured
  void leave_identity();                // P = I becomes a frame of the same samples
  void join(const linalg::Array& Z, const FirstMoments& more);  // Z Zᵀ = Xc Xcᵀ of more samples, in this frame
  void make_anew(const linalg::Array& Z, const FirstMoments& more);
};

}  // namespace cgmca
