# The current OpenBLAS of PyPI's scipy-openblas32, for wheels. It needs no other library, and its names have a prefix,
# scipy_, so that it can live beside NumPy's. Defines CGMCA_OPENBLAS_FILE, a library to install beside what links it,
# CGMCA_OPENBLAS_NAMES, a header that adds the prefix, and the target scipy_openblas: headers and library.
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python_EXECUTABLE} -c
                "import scipy_openblas32 as o; print(o.get_include_dir(), o.get_lib_dir() + '/libscipy_openblas.so', sep=';')"
                OUTPUT_VARIABLE places OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT places)
  message(FATAL_ERROR "CGMCA_SCIPY_OPENBLAS=ON needs PyPI's scipy-openblas32: pip install scipy-openblas32")
endif()
list(GET places 0 include_folder)
list(GET places 1 CGMCA_OPENBLAS_FILE)

# One #define for each routine that our sources name.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/core/linalg/*.?pp)
set(names)
foreach(source ${sources})
  file(READ ${source} text)
  string(REGEX MATCHALL "(LAPACKE|cblas)_[a-z0-9_]+" found "${text}")
  list(APPEND names ${found})
endforeach()
list(REMOVE_DUPLICATES names)
list(SORT names)
set(renames "#define CGMCA_BLAS_PREFIX \"scipy_\"\n")
foreach(name ${names})
  string(APPEND renames "#define ${name} scipy_${name}\n")
endforeach()
set(CGMCA_OPENBLAS_NAMES ${PROJECT_BINARY_DIR}/scipy_openblas_names.h)
file(CONFIGURE OUTPUT ${CGMCA_OPENBLAS_NAMES} CONTENT "${renames}")

add_library(scipy_openblas INTERFACE)
target_include_directories(scipy_openblas SYSTEM BEFORE INTERFACE ${include_folder})
target_link_libraries(scipy_openblas INTERFACE ${CGMCA_OPENBLAS_FILE})
