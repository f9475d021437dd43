// Reads a source and writes it again in another format, for the scripts that compare with other
// programs (tests/python/).
//
//   io_convert SOURCE TARGET [columns | v7.3 | magnitude | power | stack | names=A,B,C]...
//
// columns: samples are the source's columns. v7.3: a .mat file is MATLAB 7.3, which the library
// chooses above 2 GiB alone. magnitude, power, stack: how complex numbers are read. names: of the
// features, kept with what is written. The status is 0, or 1 with the message on standard error.
#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <cstdio>
#include <sstream>
#include <string>

#include "io/matlab/mat.hpp"

int main(int count, char** arguments) {
  if (count < 3) {
    std::fputs("usage: io_convert SOURCE TARGET [OPTION]...\n", stderr);
    return 2;
  }
  cgmca::ReadOptions reading;
  cgmca::WriteOptions writing;
  bool matlab73 = false;
  for (int i = 3; i < count; ++i) {
    const std::string option = arguments[i];
    if (option == "columns") reading.columns = true;
    if (option == "v7.3") matlab73 = true;
    if (option == "magnitude") reading.complex = cgmca::ComplexAs::magnitude;
    if (option == "power") reading.complex = cgmca::ComplexAs::power;
    if (option == "stack") reading.complex = cgmca::ComplexAs::stack;
    if (!option.starts_with("names=")) continue;
    std::istringstream names(option.substr(6));
    for (std::string name; std::getline(names, name, ',');) writing.feature_names.push_back(name);
  }
  try {
    const cgmca::Matrix X = cgmca::read(arguments[1], reading);
    if (matlab73) {
      cgmca::io::write_mat(arguments[2], "X", X, 0, writing.feature_names);
    } else {
      cgmca::write(arguments[2], X, writing);
    }
  } catch (const cgmca::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
