// Samples in groups, and the data of a replica.
#pragma once

#include <cgmca/bootstrap.hpp>
#include <functional>
#include <vector>

namespace cgmca {

// Few samples are kept as they are. Of many, each group keeps the moments of y = F⁻¹ (x - centre), where F whitens the
// first samples of each domain so that sums of products stay accurate.
struct BootstrapSamples::State {
  std::vector<DomainInfo> domains;
  std::uint64_t seed = 1;
  Index count = 0;                  // of samples added
  Matrix rows;                      // p×n
  Vector weights;                   // n
  std::vector<std::int64_t> units;  // n

  bool grouped = false;
  Vector centre;                     // p
  std::vector<Matrix> from_y, to_y;  // F and F⁻¹ of each domain
  Vector group_weights;              // Σ w of each group
  Matrix sums, products;             // Σ w y; Σ w y yᵀ, its upper triangle: p×G, p(p+1)/2×G

  Index features() const;                 // p
  Index start(std::size_t domain) const;  // of its features among all
  void take(const Matrix& X, const Vector& w, const std::vector<std::int64_t>& of_units);
  void turn_to_groups();
  void add_to_groups(const Matrix& X, const Vector& w, const std::vector<std::int64_t>& of_units);
};

// Samples of each domain with their weights.
struct WeightedRows {
  ByDomain<Matrix> X;  // d_i×n, one a domain
  Vector weights;
};

// The samples of a replica, or those that it leaves out: themselves, or where groups are kept the moments of y.
struct Drawn {
  WeightedRows rows;
  double weight = 0;  // Σ w
  Vector mean;        // p
  Matrix products;    // Σ w (y - mean)(y - mean)ᵀ, p×p; empty if `rows` are the samples
};

// All samples.
Drawn all_samples(const BootstrapSamples::State& state);
// The samples, or p + 1 stand-ins that have the moments.
WeightedRows rows_of(const BootstrapSamples::State& state, const Drawn& drawn);
// Calls work(replica, its samples, those that it leaves out) for all replicas, in parallel.
void for_each_replica(const BootstrapSamples::State& state, Index replicas, std::uint64_t seed,
                      const std::function<void(Index, const Drawn&, const Drawn&)>& work);

}  // namespace cgmca
