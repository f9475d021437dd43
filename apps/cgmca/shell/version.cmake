# Writes version.cpp: the project's version, and within a git checkout what it is exactly.
execute_process(COMMAND git describe --always --dirty --tags WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
set(CGMCA_DESCRIPTION "${VERSION}")
if(status EQUAL 0)
  string(APPEND CGMCA_DESCRIPTION " (${described})")
endif()
configure_file(${SOURCE}/version.cpp.in ${OUTPUT} @ONLY)
