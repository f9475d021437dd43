# find_python_with(VARIABLE module ...): a Python interpreter that can import these modules, first of all Debian's, whose
# modules and pybind11 are the ones that tools/install-deps installs. VARIABLE-NOTFOUND where there is none.
function(find_python_with variable)
  string(REPLACE ";" ", " modules "${ARGN}")
  set_property(GLOBAL PROPERTY CGMCA_WANTED_MODULES "${modules}")
  find_program(${variable} python3 PATHS /usr/bin NO_DEFAULT_PATH VALIDATOR can_import_wanted)
  find_program(${variable} python3 VALIDATOR can_import_wanted DOC "A Python interpreter with ${modules}")
endfunction()

function(can_import_wanted result candidate)
  get_property(modules GLOBAL PROPERTY CGMCA_WANTED_MODULES)
  execute_process(COMMAND ${candidate} -c "import ${modules}" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(NOT status EQUAL 0)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
