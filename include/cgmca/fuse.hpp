// One point of the common space from the samples of all domains that are present (docs/method.md section 5).
//
// Example:
//   const Matrix both = fuse(model, {{Domain::one, X1}, {Domain::two, X2}});  // k×n
//   const Matrix from_two = fuse(model, {{Domain::two, X2}});
//
// Threads: fuse keeps no state; several calls may run at once, also with one model.
#pragma once

#include <cgmca/model.hpp>
#include <cgmca/types.hpp>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// The definition of a fused point.
enum class Fusion {
  estimate,  // the best linear estimate, from the domains present, of the mean of *all* domains' points (31)
  mean,      // the mean of the points of the domains present
};
// All kinds of fusion.
inline constexpr std::array kFusions = {Fusion::estimate, Fusion::mean};
const char* name(Fusion how);  // "estimate", "mean"

// Fuses the samples of the domains present, sample by sample.   X_i: d_i×n → k×n. Throws InvalidInput if a sample has
// no domain or holds infinity, if numbers of samples differ, or if a domain is given twice; WrongDimension; and
// MissingDomain if the model lacks a domain's map.
Matrix fuse(const Model& model, const std::vector<DomainSamples>& present, Fusion how = Fusion::estimate);

}  // namespace cgmca
#pragma GCC visibility pop
