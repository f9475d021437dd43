// Reads a source and writes it again in another format, for the scripts that compare with other
// programs (tests/python/).
//
//   io_convert SOURCE TARGET [columns | v7.3]
//
// v7.3: a .mat file is MATLAB 7.3, which the library chooses above 2 GiB alone. The status is 0, or
// 1 with the message on standard error.
#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <cstdio>
#include <string_view>

#include "io/mat.hpp"

int main(int count, char** arguments) {
  if (count != 3 && count != 4) {
    std::fputs("usage: io_convert SOURCE TARGET [columns | v7.3]\n", stderr);
    return 2;
  }
  const std::string_view option = count == 4 ? arguments[3] : "";
  try {
    const cgmca::Matrix X = cgmca::read(arguments[1], {.columns = option == "columns"});
    if (option == "v7.3") {
      cgmca::io::write_mat(arguments[2], "X", X, 0);
    } else {
      cgmca::write(arguments[2], X);
    }
  } catch (const cgmca::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
