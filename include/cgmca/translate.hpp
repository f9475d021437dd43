// The way back: from the common space to a domain, and from one domain or several to another (docs/method.md
// sections 5 and 8).
//
// Example:
//   const Translation back = translation(model, Domain::two, Domain::one);
//   const Matrix estimate = back(X2);                    // d1×n
//   const Matrix error = back.standard_errors(X2);       // of new samples
//   const Matrix margin = back.half_widths(X2, 0.9);     // estimate ± margin holds nine of ten
//   Vector one(back.mean_to.size());
//   back.translate_into(X2.col(0), one);                 // without allocation: real time
//   const Matrix by_lsqr = translate(model, Domain::two, Domain::one, X2, Method::lsqr);
//
// Threads: a translation is never changed by its use; several threads may use one at once.
#pragma once

#include <cgmca/lsqr.hpp>
#include <cgmca/model.hpp>
#include <cgmca/samples.hpp>
#include <cgmca/types.hpp>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// How to go back from the common space.
enum class Method {
  lmmse,        // the best linear estimate given the other domains' maps; has standard errors      (22) (40)
  exact,        // mean + A⁺ z: among all x with A (x - mean) = z, the one nearest to the mean      (20)
  mahalanobis,  // among all such x, the one most likely under the domain's own covariance          (21)
  lsqr,         // LSQR on A x = z + A mean from x = 0, stopped early: the paper's way              (19)
};
// All methods.
inline constexpr std::array kMethods = {Method::lmmse, Method::exact, Method::mahalanobis, Method::lsqr};
const char* name(Method method);  // "lmmse", "exact", "mahalanobis", "lsqr"

// How far a translation of a *new* sample may be off. With t its canonical scores and h = 1/n + tᵀ G t/(n-1),
// (x_f - x̂_f) / (s_f √(1 + h)) is distributed as Student's t with `degrees` degrees of freedom. (29) (42)
struct ErrorBars {
  Vector scale;             // s_f of each feature; empty if n is too small for the directions used, see `degrees`
  double degrees = 0;       // of freedom; not positive if n is too small
  Matrix G;                 // from one domain: covariance of the scores among the n matched samples, I unless there
                            // was a ridge; from several: K⁺ G K⁺, where K is their covariance according to the fit
  Index samples = 0;        // number of matched samples
  double total_weight = 0;  // n, less the rank of a nuisance
  double mean_weight = 0;   // n: of the mean, whose error is 1/n
  bool calibrated = false;  // true: measured on held-out samples, see calibrate(), which does so only for translations
                            // from all other domains together; false: in closed form
};

// A closed-form translation x_to = mean_to + L (x_from - mean_from), ready for use on many samples. From several
// domains, x_from are their samples one above the other, in the order of `from`.
// L = left · right, or I + left · right if the fit was towards identity.                                       (67)
struct Translation {
  std::vector<Domain> from;          // the source domains, in the order of their samples
  std::vector<Index> features_from;  // d of each
  Vector mean_from, mean_to;         // of the sources, one above the other, and of the target
  Matrix left, right;                // d_to×m, m×d_from
  bool identity = false;             // whether I is part of L
  Vector standard_error;  // e_f of each feature (lmmse) among the samples fitted, else empty                (23) (29)
  ErrorBars errors;       // for new samples (lmmse)

  Matrix matrix() const;  // L: d_to×d_from
  // Translates samples.   X: d_from×n → d_to×n. Throws WrongDimension, DeviceError.
  Matrix operator()(const MatrixView& X, Device device = Device::cpu) const;
  // The samples of `from`, one above the other.   X_i: d_i×n → d_from×n. Throws WrongDimension, UnequalSamples.
  Matrix stacked(const std::vector<SampleView>& X) const;

  // The standard errors of translations of new samples.   X: d_from×n → d_to×n. Throws WrongDimension, or InvalidInput
  // if they are not known: for methods other than lmmse, and if n - 1 is no more than the number of directions used.
  Matrix standard_errors(const MatrixView& X) const;
  // Half the widths of intervals, around the translations, that hold the true values with this probability.
  // X: d_from×n → d_to×n. Throws as standard_errors does.
  Matrix half_widths(const MatrixView& X, double probability) const;

  // The translation of one sample, into the caller's memory: the way for real time. It is computed in doubles by the
  // calling thread alone. Nothing is allocated after a thread's first call, as long as x and y are contiguous and
  // samples do not become larger.   x: d_from, y: d_to. Throws WrongDimension.
  void translate_into(const VectorView& x, Eigen::Ref<Vector> y) const;
  // The same in floats.
  void translate_into(const Eigen::Ref<const Eigen::VectorXf>& x, Eigen::Ref<Eigen::VectorXf> y) const;
  // The standard errors of that, likewise. Throws as standard_errors does.   x: d_from, e: d_to
  void standard_errors_into(const VectorView& x, Eigen::Ref<Vector> e) const;
  // The same in floats.
  void standard_errors_into(const Eigen::Ref<const Eigen::VectorXf>& x, Eigen::Ref<Eigen::VectorXf> e) const;

 private:
  void check_source(const MatrixView& X) const;
  void check_one(Index given, Index room) const;  // sizes of x and y
  void check_errors() const;                      // that there are any
  Vector spread_of(const MatrixView& X) const;    // √(1 + h) of each sample
};
// Makes a translation from one domain to another. Throws InvalidInput for lsqr, which is not a fixed linear map, and
// MissingDomain.
Translation translation(const Model& model, Domain from, Domain to, Method method = Method::lmmse);

// Makes a translation from a set of domains by lmmse: the best linear estimate from all their scores together. The
// other methods go from one domain. Throws InvalidInput if `from` is empty, holds `to` or holds a domain twice, and
// MissingDomain. (40)
Translation translation(const Model& model, const std::vector<Domain>& from, Domain to, Method method = Method::lmmse);

// Turns samples of one domain into samples of another.   X: d_from×n → d_to×n. Throws MissingDomain, WrongDimension.
// The translation is computed anew in each call: for samples that come one or a few at a time, keep a Translation.
Matrix translate(const Model& model, Domain from, Domain to, const MatrixView& X, Method method = Method::lmmse,
                 const LsqrOptions& options = {}, Device device = Device::cpu);

// Translated samples with their errors.
struct Estimate {
  Matrix X, standard_errors, half_widths;  // d_to×n each; half_widths are empty if no probability was given
};
// Translates, by lmmse, each sample from those of its domains that are present and do not hold NaN.   → d_to×n. Throws
// as fuse and translation do.
Matrix translate(const Model& model, const std::vector<DomainSamples>& present, Domain to);
// The same with standard errors for new samples and, if a probability is given, the half widths of intervals that hold
// the true values with it. Throws as translate and Translation::standard_errors do.
Estimate estimate(const Model& model, const std::vector<DomainSamples>& present, Domain to,
                  std::optional<double> probability = std::nullopt);

// Turns points of the common space into samples of a domain. For lmmse there must be two domains, and Z must come from
// the map of the other one.   Z: k×n → d×n. Throws MissingDomain, WrongDimension, InvalidInput.
Matrix invert(const Model& model, Domain domain, const MatrixView& Z, Method method = Method::exact,
              const LsqrOptions& options = {}, Device device = Device::cpu);

}  // namespace cgmca
#pragma GCC visibility pop
