// Ridges and truncation, for few samples of many features: if n - 1 <= d, the plain fit makes every correlation 1
// (docs/method.md section 6).
//
// Example:
//   FitOptions options;
//   options.ridge = {0.1, Ridge::from_data()};  // domain 1 by hand, domain 2 automatically
//   options.max_rank = 5;                 // both domains
//   const Model model = fit(X1.leftCols(10), X2.leftCols(10), C, C, options);
#pragma once

#include <array>
#include <cgmca/types.hpp>
#include <concepts>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// A setting for each domain: one value for all of them, or a list with one each.
template <class T>
class PerDomain {
 public:
  // T{} for all domains.
  PerDomain() : values_(1) {}
  // The same value for all domains.
  template <std::convertible_to<T> Value>
  PerDomain(Value all) : values_(1, T(std::move(all))) {}  // NOLINT: one value is a setting
  // One value for each domain.
  PerDomain(std::initializer_list<T> values) : values_(values) {}
  // One value for each domain.
  explicit PerDomain(std::vector<T> values) : values_(std::move(values)) {}

  // The value of a domain. Throws std::out_of_range if there are several values but none for it.
  const T& operator[](Domain domain) const { return (*this)[index(domain)]; }
  // The same by its place, from 0.
  const T& operator[](Index place) const { return values_.size() == 1 ? values_[0] : values_.at(place); }
  std::size_t size() const { return values_.size(); }  // 1: the same for all
  bool operator==(const PerDomain&) const = default;

 private:
  std::vector<T> values_;
};

// How a domain's sample covariance Θ (d×d) is regularized before it is whitened. docs/method.md (24) (25)
struct Ridge {
  double value = 0;        // Θ + value · tr(Θ)/d · I: 0 is the plain fit, and the scale of the data does not matter
  bool automatic = false;  // the value of the least generalized cross-validation error, which the data determine (25)

  // A ridge of this value.
  Ridge(double value_ = 0) : value(value_) {}  // NOLINT: a number is a ridge
  // The automatic ridge.
  static Ridge from_data() {
    Ridge ridge;
    ridge.automatic = true;
    return ridge;
  }
  bool operator==(const Ridge&) const = default;
};
std::string name(const Ridge& ridge);  // "0.1", "auto"

// What a ridge shrinks translations towards: the mean of the target, or the sample as it is but for the difference of
// the means. The second is for two domains of the same features, such as spectra on one grid.                   (67)
enum class Towards { zero, identity };
inline constexpr std::array kTowards = {Towards::zero, Towards::identity};
const char* name(Towards towards);  // "zero", "identity"

// How the domains of a fit are regularized.
struct Regularization {
  PerDomain<Index> max_rank;        // only this many leading principal directions of a domain; 0: all of them
  PerDomain<Ridge> ridge;           // the constraint then holds for the regularized covariance
  Towards towards = Towards::zero;  // of translations; the maps do not depend on it
};

// The covariance of a domain that the constraint holds for: data · Θ + ridge · I with Θ of `samples` samples.  (24)
struct Regularized {
  double data = 1;    // the factor of Θ
  double ridge = 0;   // the multiple of I
  Index samples = 0;  // matched and extra ones

  bool plain() const { return data == 1 && ridge == 0; }  // Θ itself
};

}  // namespace cgmca
#pragma GCC visibility pop
