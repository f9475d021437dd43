// Tails and quantiles of the distributions that tests and intervals need, by Boost.Math: correct to about 1e-14 of the
// value also far out in a tail.
#pragma once

namespace cgmca {

// P(F > x) for F of df1 and df2 degrees of freedom, which need not be whole numbers.   df1, df2 > 0
double fisher_tail(double x, double df1, double df2);

// P(χ² > x) for df degrees of freedom.   df > 0
double chi_squared_tail(double x, double df);

// x with P(χ² <= x) = probability.   0 < probability < 1, df > 0
double chi_squared_quantile(double probability, double df);

// x with P(T <= x) = probability for Student's T of `df` degrees of freedom (any number > 0; infinity: the normal
// one).   0 < probability < 1
double student_quantile(double probability, double df);

// P(T > x) of the same.
double student_tail(double x, double df);

// The x that a standard normal variable exceeds with this probability, which is held above 1e-300.
double normal_score(double tail);

}  // namespace cgmca
