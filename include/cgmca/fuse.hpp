// One point of the common space from the samples of whatever domains are there (docs/method.md section 5).
//
// Example:
//   const Matrix both = fuse(model, {{Domain::one, X1}, {Domain::two, X2}});  // k×n
//   const Matrix from_two = fuse(model, {{Domain::two, X2}});
//
// Threads: fusions keep nothing; several may run at once, also of one model.
#pragma once

#include <cgmca/model.hpp>
#include <cgmca/types.hpp>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// What a fused point is.
enum class Fusion {
  estimate,  // the best linear estimate, from the domains present, of the mean of *all* domains' points (31)
  mean,      // the mean of the points of the domains present
};
inline constexpr std::array kFusions = {Fusion::estimate, Fusion::mean};
const char* name(Fusion how);

// Fuses the samples of the domains present, sample by sample.   → k×n. Throws InvalidInput where a sample has no domain
// or one with infinity in it, numbers of samples differ, or a domain is given twice, WrongDimension, and MissingDomain
// where the model lacks a domain's map.
Matrix fuse(const Model& model, const std::vector<DomainSamples>& present, Fusion how = Fusion::estimate);

}  // namespace cgmca
#pragma GCC visibility pop
