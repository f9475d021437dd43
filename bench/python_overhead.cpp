// The core's part of bench/python_overhead.py: fits of the same data, each timed.
//   bench_python_overhead X1 X2 RANK REPEATS   prints one line "wall processor" a fit, in seconds
#include <cgmca/cgmca.hpp>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

int main(int count, char** arguments) {
  if (count != 5) return 2;
  const cgmca::Matrix X1 = cgmca::read(arguments[1]), X2 = cgmca::read(arguments[2]);
  const cgmca::Covariance c = cgmca::Covariance::data(cgmca::Domain::one, std::stol(arguments[3]));
  for (int repeats = std::stoi(arguments[4]); repeats > 0; --repeats) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t processor = std::clock();
    const cgmca::Model model = cgmca::fit(X1, X2, c, c);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    std::printf("%.6f %.6f\n", wall.count(), static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC);
    std::fflush(stdout);
  }
}
