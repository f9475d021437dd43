// Matrices of the public interface.
//
// Samples are columns: a domain's data is d×n, one column per sample. A row-major (n, d) file or
// NumPy array *is* such a matrix, so Eigen::Map<const Matrix>(data, d, n) hands it over without a
// copy.
#pragma once

#include <Eigen/Core>
#include <array>

namespace cgmca {

using Index = Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Read-only view of any matrix whose columns are contiguous: a Matrix, a block of one, a Map onto a
// user's buffer.
using MatrixView = Eigen::Ref<const Matrix>;
using VectorView = Eigen::Ref<const Vector>;

// The two domains are numbered 1 and 2, as in the mathematics.
enum class Domain : int { one = 1, two = 2 };
inline constexpr std::array kDomains = {Domain::one, Domain::two};

constexpr Domain other(Domain domain) { return domain == Domain::one ? Domain::two : Domain::one; }
constexpr int number(Domain domain) { return static_cast<int>(domain); }
constexpr std::size_t slot(Domain domain) { return domain == Domain::one ? 0 : 1; }

}  // namespace cgmca
