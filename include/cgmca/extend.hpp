// A new domain in the common space of a model whose other maps stay as they are: a new instrument, a new subject.
//
// Samples of the new domain are matched with samples of one of the model's domains or more. Its map minimizes
//   Σ_j w_j E‖A x + b - z_j‖²   subject to   A Θ̃ Aᵀ = C,   z_j = A_j (x_j - μ_j) of the matched domains j          (70)
// which has a closed form, so that the bound of its certificate is attained. docs/method.md section 11
//
// Example:
//   const Model model = fit(X1, X2, C, C);
//   const Index m = 40;  // samples that were measured by instrument 2 and by a new one
//   const Matrix X3 = X1.leftCols(m) + 0.1 * Matrix::Random(d1, m);
//   Summary matched({d2, d1});  // the known domain first, the new one last
//   matched.add(X2.leftCols(m), X3);
//   const Model three = add_domain(model, matched, {Domain::two});
//   const Matrix back = translate(three, Domain{3}, Domain::one, X3);
//   std::cout << three.additions[0].objective << " where " << three.additions[0].bound << " is the least\n";
#pragma once

#include <cgmca/covariance.hpp>
#include <cgmca/model.hpp>
#include <cgmca/regularization.hpp>
#include <cgmca/summary.hpp>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// Options of adding a domain.
struct AddOptions {
  // C: the identity or a matrix. Default: that of the first of the matched domains.
  std::optional<Covariance> covariance{};
  std::vector<double> weights{};     // w_j of each matched domain, above 0; empty: 1
  Index max_rank = 0;                // as that of Regularization, for the new domain
  Ridge ridge{};                     // likewise
  std::optional<double> rank_tol{};  // as that of DataOptions
  // Whether mean and covariance of the new domain become those it would have had among the samples of the fit, as far as
  // the scores of the matched domains tell. False: they are those of the samples given, and b takes the mean of the new
  // domain to the mean of the matched points.
  bool transport = true;
};

// The model with one more domain, its last. `matched` is a summary of the domains `known`, in that order, and of the new
// domain after them, whose names become those of the new domain. All other maps are those of `model`, to the bit. What
// relates the new domain to a domain it was not matched with are the scores of those it was matched with: the two are
// taken to be independent otherwise. Throws InvalidInput, WrongDimension, CommonDimension, MissingDomain, TooFewSamples,
// or Infeasible where C has a higher rank than the new domain.
Model add_domain(const Model& model, const Summary& matched, const std::vector<Domain>& known,
                 const AddOptions& options = {});

}  // namespace cgmca
#pragma GCC visibility pop
