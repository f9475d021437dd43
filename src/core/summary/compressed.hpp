// The compressed samples of a summary: Xc Xcᵀ = Pᵀ G P with a frame P.                             docs/method.md (27)
//
// The frame was made from the first samples. Later samples that do not fit into it, the outliers, wait as rows. When
// there are many of them, all samples together make a new frame. P = I suits all samples. `automatic` replaces it by a
// triangular frame when the data no longer prove that it is safe.
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
  ByDomain<linalg::Array> S;
  ByDomain<ByDomain<linalg::Array>> X;  // for i < j
  // The features of each domain that vary, in an order in which S_iᵀ is upper trapezoidal; empty if there is none.
  ByDomain<linalg::Indices> orders;
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
  // The same for a remote back end, to which each sample is sent once. Returns nothing if P = I is not safe or not
  // allowed. `before`: the samples compressed so far, or null.
  static std::optional<Compressed> sum_on_device(const linalg::Backend& on, const WeightedSamples& samples,
                                                 const Vector& origin, const Layout& layout, Accumulate accumulate,
                                                 const Compressed* before);
  // A new frame for vectors Z with Z Zᵀ = Xc Xcᵀ of `count` samples. `products`: as for make_frame.
  static Compressed in_new_frame(const Deviations& Z, FirstMoments count, const Layout& layout, Accumulate accumulate,
                                 const linalg::Array& products = {});

  // Adds samples, and returns the outliers among them, which were not added. If most of them are outliers, or if they
  // would spoil G, it returns nothing and changes nothing: then all samples should make a new frame.
  std::optional<std::vector<Index>> add(const WeightedSamples& samples, const Vector& origin);
  // Adds samples and makes a new frame from all.
  void renew(const WeightedSamples& samples, const Vector& origin);
  // Adds the samples of another summary. `shift` is its origin minus ours. If they do not fit into the frame, all samples
  // make a new one.
  void merge(const Compressed& other, const Vector& shift);
  // Sums up by this rule from now on. P = I is replaced if the rule does not allow it or it is not proven to be safe.
  void continue_by(Accumulate how);
  // A copy that also holds the rows, outliers included.
  Compressed with_all(const Rows& rows, const Vector& origin) const;
  Compressed reordered(const linalg::Indices& places) const;  // places[f] is where feature f of the result is now
  Compressed moved_to(const linalg::Backend& target) const;

  Roots roots() const;
  linalg::Array square_root() const;    // Z (p×r) with Z Zᵀ = Xc Xcᵀ of all domains together
  Matrix times(const Matrix& V) const;  // Xc Xcᵀ V
  // The square roots of the diagonal of Xc Xcᵀ, or in a frame an upper bound of them, ‖P_f‖ √(max G_kk).
  Vector sizes() const;

 private:
  // The state with the samples added, the squares that the new mean subtracted from G's diagonal, and the outliers.
  struct Entered;
  Entered enter(const WeightedSamples& samples, const Vector& origin) const;
  bool outgrown(const Vector& before);  // `before`: G's diagonal then; notes when it has measured
  void leave_identity();                // P = I becomes a frame of the same samples
  void join(const linalg::Array& Z, const FirstMoments& more);  // Z Zᵀ = Xc Xcᵀ of more samples, in this frame
  void make_anew(const linalg::Array& Z, const FirstMoments& more);
};

}  // namespace cgmca
