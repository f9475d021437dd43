// Two sensors watch the same five hidden signals: 40 channels of one, 30 noisy channels of the other.
//
// Fits on 400 matched pairs, prints the certificate, then recovers sensor 1 from sensor 2 alone on 2,000 new samples by
// every method, beside the error bars that lmmse promised.
#include <cgmca/cgmca.hpp>

#include <fmt/format.h>

#include <cmath>
#include <random>

namespace {

using cgmca::Domain;
using cgmca::Index;
using cgmca::Matrix;
using cgmca::Method;

Matrix gaussian(Index rows, Index columns, std::mt19937_64& generator) {
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(rows, columns, [&] { return normal(generator); });
}

double root_mean_square(const Matrix& X) { return X.norm() / std::sqrt(static_cast<double>(X.size())); }

}  // namespace

int main() {
  std::mt19937_64 generator(1);
  const Matrix to_sensor1 = gaussian(40, 5, generator), to_sensor2 = gaussian(30, 5, generator);
  const auto measure = [&](Index n) {
    const Matrix hidden = gaussian(5, n, generator);
    return std::pair<Matrix, Matrix>(to_sensor1 * hidden + 0.2 * gaussian(40, n, generator),
                                     to_sensor2 * hidden + 1.5 * gaussian(30, n, generator));
  };
  const auto [X1, X2] = measure(400);
  const auto [new1, new2] = measure(2000);

  const cgmca::Covariance c = cgmca::Covariance::data(Domain::one, 5);
  const cgmca::Model model = cgmca::fit(X1, X2, c, c);
  const cgmca::Certificate& certificate = model.certificate;
  fmt::print("fitted {} pairs of {} and {} features; route: {}\n", model.samples, X1.rows(), X2.rows(),
             certificate.route);
  fmt::print("covariance residuals  {:.1e} and {:.1e} (rounding)\n", certificate.constraint_residuals[0],
             certificate.constraint_residuals[1]);
  fmt::print("objective             {:.12g}\n", certificate.objective);
  fmt::print("best any maps can do  {:.12g}\n", certificate.bound);
  fmt::print("canonical correlations");
  for (Index j = 0; j < 7; ++j) fmt::print(" {:.3f}", certificate.singular_B(j));
  fmt::print(" …\n\nsensor 1 from sensor 2, root mean square error on new samples (spread {:.3f}):\n",
             root_mean_square(new1));
  for (Method method : {Method::lmmse, Method::exact, Method::mahalanobis, Method::lsqr}) {
    const Matrix estimate = cgmca::translate(model, Domain::two, Domain::one, new2, method);
    fmt::print("  {:<12} {:.3f}\n", cgmca::name(method), root_mean_square(estimate - new1));
  }
  fmt::print("  promised by lmmse's standard errors: {:.3f}\n",
             root_mean_square(cgmca::translation(model, Domain::two, Domain::one).standard_error));
}
