// Everything this library throws. Each message says what is wrong, where, and what would work.
//
// Example:
//   try {
//     fit(X1, X2, Covariance::identity(1000), Covariance::identity(1000));
//   } catch (const Infeasible& error) {
//     std::cerr << error.what() << ": the largest feasible rank is " << error.data_rank << "\n";
//   } catch (const Error& error) {
//     std::cerr << error.what() << "\n";
//   }
//
// clang-format off
//   Error
//   ├── InvalidInput         the data, an option or an argument cannot be used
//   │   ├── TooFewSamples         n < 2, or fewer than the operation needs
//   │   ├── Saturated             a correlation is 1 to rounding where one below 1 is needed
//   │   ├── UnequalSamples        matched domains hold different numbers of samples
//   │   ├── NotFinite             NaN or infinity, with its place
//   │   ├── NoVariance            every feature of a domain is constant
//   │   ├── NotSquare             a covariance that is not a k×k matrix
//   │   ├── NotSymmetric          a covariance with C ≠ Cᵀ beyond rounding
//   │   ├── NotPositive           a covariance with a negative eigenvalue beyond rounding, or no variance at all
//   │   ├── CommonDimension       C1 and C2 prescribe different k
//   │   ├── WrongDimension        data with another number of features than the summary or the model
//   │   └── MissingDomain         the model does not hold the domain that the operation needs
//   ├── Infeasible           a prescribed covariance has a higher rank than the data
//   ├── FormatError          a file that is not what it should be
//   ├── IoError              a file that cannot be read or written
//   ├── NumericalFailure     every factorization routine gave up
//   │   └── CertificateMismatch   a result that its own proof refutes: damaged data, or a machine that computes wrongly
//   └── DeviceError          a GPU that is absent, too small, or lost
//   InternalError            not an Error but a std::logic_error: a mistake in cgmca, please report it
// clang-format on
#pragma once

#include <cgmca/types.hpp>
#include <stdexcept>
#include <string>

#pragma GCC visibility push(default)
namespace cgmca {

// The base of all exceptions but InternalError.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The data, an option or an argument cannot be used.
class InvalidInput : public Error {
 public:
  using Error::Error;
};

// There are fewer than two samples, or fewer than the operation needs.
class TooFewSamples : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

// A correlation is 1 to rounding where one below 1 is needed.
class Saturated : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

// Matched domains hold different numbers of samples.
class UnequalSamples : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

// The data hold NaN or infinity.
class NotFinite : public InvalidInput {
 public:
  // With the place of the first such number.
  NotFinite(const std::string& message, Index row_, Index column_)
      : InvalidInput(message), row(row_), column(column_) {}
  Index row, column;  // the sample and the feature, both from 0, as in a file with samples as rows
};

// Every feature of a domain is constant.
class NoVariance : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

// A covariance is not a k×k matrix.
class NotSquare : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

// A covariance has C ≠ Cᵀ beyond rounding.
class NotSymmetric : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

// A covariance has a negative eigenvalue beyond rounding, or no variance at all.
class NotPositive : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

// The covariances prescribe different dimensions k of the common space.
class CommonDimension : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

// Data have another number of features than the summary or the model.
class WrongDimension : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

// The model does not hold the domain that the operation needs.
class MissingDomain : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

// A prescribed covariance has a higher rank than the data of `domain`.
class Infeasible : public Error {
 public:
  // With the ranks that do not fit.
  Infeasible(const std::string& message, Domain domain_, Index data_rank_, Index covariance_rank_)
      : Error(message), domain(domain_), data_rank(data_rank_), covariance_rank(covariance_rank_) {}
  Domain domain;                     // whose data have too low a rank
  Index data_rank, covariance_rank;  // the largest feasible rank is data_rank
};

// A file is not what it should be.
class FormatError : public Error {
 public:
  using Error::Error;
};

// A file cannot be read or written.
class IoError : public Error {
 public:
  using Error::Error;
};

// Every factorization routine gave up.
class NumericalFailure : public Error {
 public:
  using Error::Error;
};

// A result that its own proof refutes: the covariances used are not those of the samples, or the finished maps are not
// the ones asked for.
class CertificateMismatch : public NumericalFailure {
 public:
  using NumericalFailure::NumericalFailure;
};

// A GPU is absent, too small, or lost.
class DeviceError : public Error {
 public:
  using Error::Error;
};

// A mistake in cgmca itself, whatever the data are: please report it.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace cgmca
#pragma GCC visibility pop
