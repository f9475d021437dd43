// All of cgmca, in the order data flows. mpi.hpp alone is not here: it needs MPI.
#pragma once

#include <cgmca/types.hpp>
//
#include <cgmca/error.hpp>
//
#include <cgmca/io.hpp>
//
#include <cgmca/domain.hpp>
//
#include <cgmca/samples.hpp>
//
#include <cgmca/parts.hpp>
//
#include <cgmca/summary.hpp>
//
#include <cgmca/version.hpp>
//
#include <cgmca/covariance.hpp>
//
#include <cgmca/regularization.hpp>
//
#include <cgmca/fit.hpp>
//
#include <cgmca/incomplete.hpp>
//
#include <cgmca/model.hpp>
//
#include <cgmca/lsqr.hpp>
//
#include <cgmca/translate.hpp>
//
#include <cgmca/into.hpp>
//
#include <cgmca/device_matrix.hpp>
//
#include <cgmca/calibrate.hpp>
//
#include <cgmca/explained.hpp>
//
#include <cgmca/diagnose.hpp>
//
#include <cgmca/fuse.hpp>
//
#include <cgmca/extend.hpp>
//
#include <cgmca/verify.hpp>
//
#include <cgmca/classify.hpp>
//
#include <cgmca/folds.hpp>
//
#include <cgmca/tune.hpp>
//
#include <cgmca/correlation_tests.hpp>
//
#include <cgmca/permutation.hpp>
//
#include <cgmca/bootstrap.hpp>
//
#include <cgmca/check_pairs.hpp>
//
#include <cgmca/image.hpp>
//
#include <cgmca/random.hpp>
//
#include <cgmca/parallel.hpp>
//
#include <cgmca/threads.hpp>
//
#include <cgmca/blas_kernels.hpp>
