#include "core/base/distributions.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace cgmca {
namespace {

namespace boost_math = boost::math;

// Plain double arithmetic, which is the same on every machine, and infinity in place of an exception.
using Policy = boost_math::policies::policy<boost_math::policies::promote_double<false>,
                                            boost_math::policies::overflow_error<boost_math::policies::ignore_error>>;

}  // namespace

double fisher_tail(double x, double df1, double df2) {
  const boost_math::fisher_f_distribution<double, Policy> F(df1, df2);
  return boost_math::cdf(boost_math::complement(F, std::max(0.0, x)));
}

double chi_squared_tail(double x, double df) {
  const boost_math::chi_squared_distribution<double, Policy> chi_squared(df);
  return boost_math::cdf(boost_math::complement(chi_squared, std::max(0.0, x)));
}

double chi_squared_quantile(double probability, double df) {
  return boost_math::quantile(boost_math::chi_squared_distribution<double, Policy>(df), probability);
}

double normal_score(double tail) {
  const boost_math::normal_distribution<double, Policy> normal;
  return boost_math::quantile(boost_math::complement(normal, std::clamp(tail, 1e-300, 1 - 1e-16)));
}

double student_tail(double x, double df) {
  return boost_math::cdf(boost_math::complement(boost_math::students_t_distribution<double, Policy>(df), x));
}

double student_quantile(double probability, double df) {
  const boost_math::students_t_distribution<double, Policy> T(df);
  return probability < 0.5 ? boost_math::quantile(T, probability)
                           : boost_math::quantile(boost_math::complement(T, 1 - probability));
}

}  // namespace cgmca
