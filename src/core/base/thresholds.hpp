// Thresholds that several files share, with their reasons. eps: the rounding unit of a double, κ: a condition number.
#pragma once

#include <cgmca/types.hpp>
#include <cmath>
#include <limits>

namespace cgmca::thresholds {

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// --- What samples may be -------------------------------------------------------------------------------------------

// Larger values have squares whose sums overflow.
inline constexpr double kLargestValue = 1e140;
// Larger weights have products that overflow.
inline constexpr double kLargestWeight = 1e100;
// Sums of the same weights in another order agree to this part.
inline constexpr double kSameWeight = 1e-9;
// A feature that varies by less, in all samples together, does not vary: its squares vanish.
inline constexpr double kNoVariation = 1e-290;
// Products of smaller variances lose digits to underflow.
inline constexpr double kSmallestVariance = 1e-280;

// --- Whether a summary is that of its samples -----------------------------------------------------------------------

// Covariances are those of the samples if they agree with the sketch to this, relative to the sizes of features. Rounding
// in frames, Gram matrices and merges is below 1e-11, and the effect of a mistake is much larger than this.
inline constexpr double kLikeTheSketch = 1e-8;
// A merge rounds relative to the sizes that features had then. Up to this part of it counts as rounding: 1e4 eps at most.
inline constexpr double kSketchNoise = 1e-4;
// Means are rounded to this part of their size.
inline constexpr double kMeanRounding = 64 * kEpsilon;

// --- Which form a summary takes ------------------------------------------------------------------------------------

// The Gram form is chosen without being asked for while κ(Θ_ii) is at most this for every domain. Its errors, a small
// multiple of eps·κ(Θ_ii), then stay near 1e-12. (Those of the QR form are of the order eps·κ(Θ_ii)^½.)
inline constexpr double kSafeGramCondition = 1e4;

// --- The frame of a summary ----------------------------------------------------------------------------------------

// Sums are relative to an earlier mean. They are centred anew if the correction for the present mean is more than this
// times the variance that remains.
inline constexpr double kCancelled = 16;
// A sample that weighs more than this times the origin's becomes the origin. So the origin has at least 1/(16 n) of the
// weight, and x - origin errs by at most eps·√(16 n) of the spread, wherever the origin lies. Samples of similar weights
// leave the first one.
inline constexpr double kHeavierOrigin = 16;
// A sample with a larger ‖y‖² is an outlier of the frame. Typical is p/n for n samples that made it. The error of y is
// that of changing each column of P by eps·‖y‖ of its length.
inline constexpr double kAlike = 8;
// The frame is renewed when G = P⁻ᵀ Xc Xcᵀ P⁻¹, which began as I, has an eigenvalue above this.
inline constexpr double kOutgrown = 64;
// A feature counts as independent without a closer look if at least this part of its norm is not explained by the
// features before it. Below that, rounding could be mistaken for signal.
inline constexpr double kClearlyIndependent = 1e-9;
// A feature is determined by others if they leave at most this part of its norm. Rounding leaves less, signal more.
inline constexpr double kDetermined = 256 * kEpsilon;
// The same for a triangle K P whose frame has replaced what was left of a determined feature by that part. K may make it
// a little larger.
inline constexpr double kClearlyDetermined = 16 * kDetermined;
// G is kept from being singular by one more sample that has this part of a determined feature's norm.
inline constexpr double kDeterminedSample = 4 * kEpsilon;

// A feature is strong if the others leave at least this part of its variance. A frame only scales strong features. The
// eigenvalues of G are then not much below this.
inline constexpr double kStrongPart = 0.03;
// The strong features may still explain up to this part of the residuals of a weak one. G contains that part and stays
// well conditioned.
inline constexpr double kLittleExplained = 0.1;
// The Cholesky factor of a Gram matrix whitens its vectors up to an error of eps·κ. So it may serve as a frame, like the
// triangle of a QR factorization, while κ of the features at unit size is at most this.
inline constexpr double kSafeCholeskyFrame = 1e10;

// --- Whitening -----------------------------------------------------------------------------------------------------

// A triangle whitens as well as the spectrum while κ(L) is at most this: the rank is full beyond doubt, and the error,
// a small multiple of eps·κ(L), stays near 1e-12.
inline constexpr double kSafeTriangle = 1e4;
// The same if κ of L at unit size of the features is at most this part of κ(L), because then the spectrum is less accurate.
inline constexpr double kClearlySmaller = 0.1;
// The same for a triangle computed from LᵀL, whose error is eps·κ(L)².
inline constexpr double kSafeSquaredTriangle = 100;
// The same for a pivoted Cholesky factor, which shows the rank. An SVD in its place would not be more accurate.
inline constexpr double kSafePivotedTriangle = 1e5;
// The rank is full beyond doubt while κ(L) times the tolerance of the rank is at most this.
inline constexpr double kClearRank = 0.01;
// A spectrum whose κ is above this, because features have very different units, whitens with errors above 1e-12.
inline constexpr double kSafeSpectrum = 1e8;
// A feature varies by rounding alone if its standard deviation is at most this part of its mean: computed constants, such
// as sums that should be 1, differ in their last bits.
inline constexpr double kVariesByRounding = 4 * kEpsilon;
// With a user's rank tolerance above this the spectrum is computed, because a well-conditioned covariance may be cut too.
inline constexpr double kLargestTriangleTolerance = 1e-6;

// --- Directions and ties -------------------------------------------------------------------------------------------

// Canonical correlations are equal to rounding if they differ by at most this times eps times the largest rank, or times
// κ(Θ_i) for a Gram summary ...
inline constexpr double kTie = 8;
// ... which counts as this at most, also if the Gram form was forced upon ill-conditioned data.
inline constexpr double kLargestTieCondition = 1e4;
// Merits (shares of variance, places of features) this close, relative to the largest, count as equal.
inline constexpr double kEqualMerit = 1e-8;
// Two entries of a column this close to its largest, relatively, are equally large when its sign is chosen.
inline constexpr double kEqualEntry = 1e-6;
// Singular vectors from the eigenvectors of BBᵀ are as accurate as those of an SVD while σ is at least this part of
// σ_1.
inline constexpr double kLeastLeading = 0.1;

// Eigenvectors computed by inverse iteration are used if their products differ from 0 and 1 by at most this.
inline constexpr double kOrthonormalVectors = 1e-13;

// A matrix is diagonal if its other entries are at most this part of the largest on the diagonal.
inline constexpr double kDiagonal = 1e-15;

// --- Triangles -----------------------------------------------------------------------------------------------------

// A diagonal block of a triangle R is inverted once for many solves if the rows of |R||R⁻¹| sum to at most this. The sum
// says how many times larger the error of a product with the inverse is than that of a solve.
inline constexpr double kSafeGrowth = 100;
// The power iteration for a condition number ends when a step gains less than this.
inline constexpr double kConditionSettled = 0.002;
// The same if only the order of magnitude is needed.
inline constexpr double kRoughlySettled = 0.02;

// --- More than two domains -----------------------------------------------------------------------------------------

// D_i ← polar(G_i + this · ‖G_i‖ D_i). Without the small proximal term some iterates oscillate.
inline constexpr double kProximal = 1e-6;
// Covariances commute if their entries off the diagonal, in a common basis, are below this part of their norm. The bound
// is raised by the effect of the entries that are neglected.
inline constexpr double kCommute = 1e-11;
// Lengths of directions, eigenvalues, weights and values of f are equal to rounding within this part.
inline constexpr double kEqualInMatching = 1e-12;
// Of two starts the later one is better only if its f is larger by more than this part.
inline constexpr double kBetterStart = 1e-13;
// A reflection is a symmetry, and leads nowhere, if it changes f by less than this part ...
inline constexpr double kSymmetry = 1e-10;
// ... and an improvement if the ascent from it, stopped early, gains more than this part.
inline constexpr double kBetterReflection = 1e-8;
// The search for a point has converged when a sweep changes it by less than this.
inline constexpr double kSettled = 1e-13;
// Directions match equally well if they differ by less than this part. The ascents are more accurate than that.
inline constexpr double kTieInMatching = 1e-9;
// Maps are proven to be the best by the data if f is within this part of its bound: sums over samples round.
inline constexpr double kProven = 1e-8;
// A point is feasible if D_i D_iᵀ = I to this.
inline constexpr double kOrthonormal = 1e-10;

// The joint covariance of the scores of several domains is singular if an eigenvalue is below this part of the largest.
// The smaller directions would be rounding.
inline constexpr double kSingularScores = 1e-10;

// --- Covariances ---------------------------------------------------------------------------------------------------

// A prescribed covariance may be unsymmetric or have a negative eigenvalue up to this part of its largest.
inline constexpr double kCovarianceRounding = 1e-10;

// --- What a model is warned of and refused for ---------------------------------------------------------------------

// A fit's own certificate must hold to this, or to eps κ if that is more. It is the default tolerance of verify.
inline constexpr double kRefusedCertificate = 1e-6;
// An objective and its bound are rounded to this part of their scale, the trace of the covariances.
inline constexpr double kObjectiveRounding = 1e-12;

// A correlation within this of 1 is 1 to rounding: the fit is saturated.
inline constexpr double kSaturated = 1e-8;

// Error bars by formula take the directions used as given. They are given only if choosing them can make the variance of
// an error larger by at most a fourth: then intervals of 90 % hold .86 or more.
inline constexpr double kChosenDirections = 1.25;

// A permuted correlation counts as equal to the observed one within this part. So a saturated fit, whose correlations are
// all 1, is never significant.
inline constexpr double kReached = 1e-12;

// Samples whose whole weights sum to more than this are not copied to be permuted: rotations take their place, because
// sums of so many copies are normal.
inline constexpr double kMostCopies = 1e6;

// Eigenvalues of a Gram matrix of p features, summed over n samples, are rounding up to this part of the largest.
inline double gram_rounding(Index p, Index n) {
  return (static_cast<double>(p) + std::sqrt(static_cast<double>(n))) * kEpsilon;
}

}  // namespace cgmca::thresholds
