// A fit by the C++ library, for the test that compares its file with those of the command line and of Python.
//   fit_by_cpp X1 X2 identity|data1|data2|correlation K MAX_RANK RIDGE MODEL
#include <cgmca/cgmca.hpp>

#include <iostream>
#include <string>

int main(int count, char** arguments) {
  if (count != 8) return 2;
  try {
    const std::string kind = arguments[3];
    const cgmca::Index k = std::stol(arguments[4]), max_rank = std::stol(arguments[5]);
    const cgmca::Covariance c = kind == "identity"      ? cgmca::Covariance::identity(k)
                                : kind == "data1"       ? cgmca::Covariance::data(cgmca::Domain::one, k)
                                : kind == "data2"       ? cgmca::Covariance::data(cgmca::Domain::two, k)
                                : kind == "correlation" ? cgmca::Covariance::correlation(k)
                                                        : throw cgmca::InvalidInput("no covariance " + kind);
    const double ridge = std::stod(arguments[6]);
    cgmca::FitOptions options;
    options.max_rank = {max_rank, max_rank};
    options.ridge = {ridge, ridge};
    cgmca::fit(cgmca::read(arguments[1]), cgmca::read(arguments[2]), c, c, options).save(arguments[7]);
  } catch (const std::exception& problem) {
    std::cerr << problem.what() << "\n";
    return 1;
  }
}
