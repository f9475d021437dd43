#!/usr/bin/env bash
# The CUDA back end compiles and links, and shows nothing but its entry: check_cuda_builds.sh SOURCE BUILD [cmake options]
# Status 77, "skipped", where there is neither a CUDA toolkit nor the wheels that `make cuda` fetches.
set -euo pipefail
source="$1" build="$2"
shift 2
if [ ! -e /usr/local/cuda/include/cusolverDn.h ] && [ ! -e "$source/build-cuda/wheels/complete" ]; then
  echo "skipped: no CUDA toolkit, and no wheels in build-cuda/wheels; make cuda fetches them"
  exit 77
fi
cmake -S "$source" -B "$build" -G Ninja -DCGMCA_CUDA=ON -DCGMCA_IO=OFF -DCGMCA_TESTS=OFF -DCGMCA_PYTHON_PACKAGE=OFF "$@"
cmake --build "$build" --target cgmca_cuda
shown="$(nm -D --defined-only "$build/src/libcgmca_cuda.so" | awk '$2 == "T" { print $3 }')"
if [ "$shown" != cgmca_backend_plugin ]; then
  echo "libcgmca_cuda.so shows $shown"
  exit 1
fi
