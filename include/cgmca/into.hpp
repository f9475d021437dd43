// Maps and translations of many samples into the caller's memory, for programs that may not allocate while they run.
//
// They give what apply, Translation's operator(), standard_errors and half_widths give. Nothing is allocated after a
// thread's first call, as long as blocks do not become larger; the thread keeps memory for at most 4096 samples. (With
// several threads OpenBLAS allocates half a megabyte in each large product; set_threads(1) prevents it.) Results must
// not overlap the samples.
// For one sample at a time see apply_into and Translation::translate_into, which call no BLAS.
//
// Example:
//   const Translation back = translation(model, Domain::two, Domain::one);
//   Matrix estimate(d1, X2.cols()), error(d1, X2.cols());
//   translate_block_into(back, X2, estimate);
//   standard_errors_block_into(back, X2, error);
//   Matrix Z2(model.common_dimension, X2.cols());
//   apply_block_into(model, Domain::two, X2, Z2);
//
// Threads: several threads may use one model or translation at once.
#pragma once

#include <cgmca/model.hpp>
#include <cgmca/translate.hpp>
#include <cgmca/types.hpp>

#pragma GCC visibility push(default)
namespace cgmca {

// Z = A (X - mean 1ᵀ).   X: d×n, Z: k×n. Throws MissingDomain, WrongDimension.
void apply_block_into(const Model& model, Domain domain, const MatrixView& X, Eigen::Ref<Matrix> Z);
// The translations of X.   X: d_from×n, Y: d_to×n. Throws WrongDimension.
void translate_block_into(const Translation& map, const MatrixView& X, Eigen::Ref<Matrix> Y);
// Their standard errors.   E: d_to×n. Throws as Translation::standard_errors does.
void standard_errors_block_into(const Translation& map, const MatrixView& X, Eigen::Ref<Matrix> E);
// Half the widths of intervals around them.   W: d_to×n. Throws as Translation::half_widths does.
void half_widths_block_into(const Translation& map, const MatrixView& X, double probability, Eigen::Ref<Matrix> W);

}  // namespace cgmca
#pragma GCC visibility pop
