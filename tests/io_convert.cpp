// Reads a source and writes it again in another format, for the scripts that compare with other
// programs (tests/python/).
//
//   io_convert SOURCE TARGET [columns]
//
// The status is 0, or 1 with the message on standard error.
#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <cstdio>
#include <string_view>

int main(int count, char** arguments) {
  if (count != 3 && count != 4) {
    std::fputs("usage: io_convert SOURCE TARGET [columns]\n", stderr);
    return 2;
  }
  const bool columns = count == 4 && std::string_view(arguments[3]) == "columns";
  try {
    cgmca::write(arguments[2], cgmca::read(arguments[1], {.columns = columns}));
  } catch (const cgmca::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
