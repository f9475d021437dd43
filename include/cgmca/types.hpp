// Matrices of the public interface.
//
// Samples are columns: a domain's data is d×n, one column per sample. A row-major (n, d) file or
// NumPy array *is* such a matrix, so Eigen::Map<const Matrix>(data, d, n) hands it over without a
// copy.
#pragma once

// Matrices are allocated on one side of the library's border and freed on the other, so both sides must allocate alike.
// CMake and pkg-config define the same; this is for programs that use neither.
#ifndef EIGEN_MAX_ALIGN_BYTES
#define EIGEN_MAX_ALIGN_BYTES 16
#endif
#ifndef EIGEN_MALLOC_ALREADY_ALIGNED
#define EIGEN_MALLOC_ALREADY_ALIGNED 1
#endif
#include <Eigen/Core>
#include <array>

static_assert(EIGEN_MAX_ALIGN_BYTES == 16 && EIGEN_MALLOC_ALREADY_ALIGNED == 1,
              "cgmca needs EIGEN_MAX_ALIGN_BYTES=16 and EIGEN_MALLOC_ALREADY_ALIGNED=1: include <cgmca/…> before "
              "Eigen's headers, or compile with the definitions of cgmca's CMake target or pkg-config file");

#pragma GCC visibility push(default)
namespace cgmca {

using Index = Eigen::Index;      // sizes and indices; signed, 64 bits
using Matrix = Eigen::MatrixXd;  // doubles, column by column
using Vector = Eigen::VectorXd;

// Read-only view of any matrix whose columns are contiguous: a Matrix, a block of one, a Map onto a
// user's buffer.
using MatrixView = Eigen::Ref<const Matrix>;
using VectorView = Eigen::Ref<const Vector>;

// Domains are numbered from 1, as in the mathematics; beyond the second one writes Domain{3}.
enum class Domain : int { one = 1, two = 2 };
inline constexpr std::array kDomains = {Domain::one, Domain::two};

// The other one of two domains.
constexpr Domain other(Domain domain) { return domain == Domain::one ? Domain::two : Domain::one; }
// The number of a domain, from 1.
constexpr int number(Domain domain) { return static_cast<int>(domain); }
// The place of a domain in a list, from 0.
constexpr std::size_t slot(Domain domain) { return static_cast<std::size_t>(number(domain) - 1); }

}  // namespace cgmca
#pragma GCC visibility pop
