// A program that holds the core: tells what GPU the core finds, and so which back end it loads.
#include <cgmca/device.hpp>

#include <cstdio>

int main() {
  const cgmca::DeviceReport report = cgmca::cuda_device();
  std::puts(report.description.c_str());
  return report.usable ? 0 : 1;
}
