# Headers and libraries of CUDA 13: of a toolkit, or of PyPI's nvidia wheels (tools/install-cuda-wheels), or some of each.
# Defines CudaLibraries_FOUND, the target cgmca_cuda_libraries and CGMCA_NVRTC. CGMCA_CUDA_ROOT names further places.
file(GLOB CUDA_WHEELS ${PROJECT_SOURCE_DIR}/build-cuda/wheels/lib/python3*/site-packages/nvidia/cu13)
set(CUDA_PLACES ${CGMCA_CUDA_ROOT} $ENV{CUDA_HOME} /usr/local/cuda ${CUDA_WHEELS})

set(CUDA_INCLUDES)
foreach(header cuda_runtime_api.h crt/host_defines.h nv/target cublas_v2.h cusolverDn.h cusparse.h nvrtc.h)
  string(MAKE_C_IDENTIFIER CUDA_PATH_${header} variable)
  find_path(${variable} ${header} HINTS ${CUDA_PLACES} PATH_SUFFIXES include include/cccl
            targets/x86_64-linux/include targets/x86_64-linux/include/cccl)
  mark_as_advanced(${variable})
  list(APPEND CUDA_HEADERS ${variable})
  list(APPEND CUDA_INCLUDES ${${variable}})
endforeach()
list(REMOVE_DUPLICATES CUDA_INCLUDES)

foreach(library cudart:13 cublas:13 cublasLt:13 cusolver:12 cusparse:12 nvJitLink:13 nvrtc:13)
  string(REPLACE ":" ";" parts ${library})
  list(GET parts 0 name)
  list(GET parts 1 version)
  find_library(CUDA_LIBRARY_${name} NAMES lib${name}.so.${version} ${name} HINTS ${CUDA_PLACES}
               PATH_SUFFIXES lib lib64 targets/x86_64-linux/lib)
  mark_as_advanced(CUDA_LIBRARY_${name})
  list(APPEND CUDA_FILES CUDA_LIBRARY_${name})
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CudaLibraries REQUIRED_VARS ${CUDA_FILES} ${CUDA_HEADERS}
  REASON_FAILURE_MESSAGE "CGMCA_CUDA=ON needs a CUDA 13 toolkit, or PyPI's wheels: run tools/install-cuda-wheels")
if(CudaLibraries_FOUND AND NOT TARGET cgmca_cuda_libraries)
  add_library(cgmca_cuda_libraries INTERFACE)
  target_include_directories(cgmca_cuda_libraries SYSTEM INTERFACE ${CUDA_INCLUDES})
  target_link_libraries(cgmca_cuda_libraries INTERFACE ${CUDA_LIBRARY_cusolver} ${CUDA_LIBRARY_cublas}
                        ${CUDA_LIBRARY_cudart})
  # What these need in turn is not linked, only found.
  foreach(name cublasLt cusparse nvJitLink)
    get_filename_component(folder ${CUDA_LIBRARY_${name}} DIRECTORY)
    target_link_options(cgmca_cuda_libraries INTERFACE -Wl,-rpath-link,${folder})
    list(APPEND CUDA_FOLDERS ${folder})
  endforeach()
  list(REMOVE_DUPLICATES CUDA_FOLDERS)
  set(CGMCA_NVRTC ${CUDA_LIBRARY_nvrtc})
endif()
