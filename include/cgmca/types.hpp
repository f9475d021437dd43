// Matrices of the public interface.
//
// Samples are columns: a domain's data is d×n, one column per sample. A row-major (n, d) file or
// NumPy array *is* such a matrix, so Eigen::Map<const Matrix>(data, d, n) hands it over without a
// copy.
//
// Example:
//   const std::vector<double> buffer(12, 1.0);              // 4 rows of 3 numbers, row by row
//   const Eigen::Map<const Matrix> X(buffer.data(), 3, 4);  // d = 3 features, n = 4 samples
//   std::cout << X.cols() << " samples of domain " << number(other(Domain::two)) << "\n";
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
#include <utility>
#include <vector>

static_assert(EIGEN_MAX_ALIGN_BYTES == 16 && EIGEN_MALLOC_ALREADY_ALIGNED == 1,
              "cgmca needs EIGEN_MAX_ALIGN_BYTES=16 and EIGEN_MALLOC_ALREADY_ALIGNED=1: include <cgmca/…> before "
              "Eigen's headers, or compile with the definitions of cgmca's CMake target or pkg-config file");

#pragma GCC visibility push(default)
namespace cgmca {

using Index = Eigen::Index;      // sizes and indices; signed, 64 bits
using Matrix = Eigen::MatrixXd;  // doubles, column by column
using Vector = Eigen::VectorXd;  // doubles

// A read-only view of any matrix whose columns are contiguous: a Matrix, a block of one, or a Map of a
// user's buffer.
using MatrixView = Eigen::Ref<const Matrix>;
// A read-only view of any contiguous vector.
using VectorView = Eigen::Ref<const Vector>;

// A domain, by its number from 1, as in the mathematics. The third domain is Domain{3}.
enum class Domain : int { one = 1, two = 2 };
// The two domains of a pair.
inline constexpr std::array kDomains = {Domain::one, Domain::two};

// The other domain of a pair.
constexpr Domain other(Domain domain) { return domain == Domain::one ? Domain::two : Domain::one; }
// The number of a domain, from 1.
constexpr int number(Domain domain) { return static_cast<int>(domain); }
// The place of a domain in a list of all domains, from 0.
constexpr Index index(Domain domain) { return number(domain) - 1; }
// The domain at a place, from 0.
constexpr Domain domain_at(Index place) { return static_cast<Domain>(place + 1); }

// A list with one element for each domain: list[Domain::one] is list[0].
template <class T>
class ByDomain : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  using std::vector<T>::operator[];
  // The elements in the order of the domains.
  ByDomain(std::vector<T> elements) : std::vector<T>(std::move(elements)) {}  // NOLINT: a list is one

  // The element of a domain.
  T& operator[](Domain domain) { return (*this)[index(domain)]; }
  // The same, read only.
  const T& operator[](Domain domain) const { return (*this)[index(domain)]; }
};

}  // namespace cgmca
#pragma GCC visibility pop
