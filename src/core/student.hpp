// Student's t distribution.
//
// Written here because it is one function: Boost.Math, the library that has it, is 150 MB of headers.
#pragma once

namespace cgmca {

// x with P(T <= x) = probability for T of `degrees` degrees of freedom (any number > 0; infinity: the normal one), to
// about 1e-12 of x.   0 < probability < 1
double student_quantile(double probability, double degrees);

}  // namespace cgmca
