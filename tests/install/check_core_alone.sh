#!/usr/bin/env bash
# Configures the core where the libraries of file formats and MPI cannot be found, links it, and looks what the result
# needs: BLAS and LAPACK, fmt, and the runtimes of C, C++ and Fortran. Its commands are those of the whole project, so
# it takes the objects that are there, if they were compiled with no header of another library.
#   usage: check_core_alone.sh SOURCE_DIR WHOLE_BUILD_DIR BUILD_DIR [CMAKE_OPTION…]
set -euo pipefail
source_dir=$1 whole=$2 build_dir=$3
shift 3

# pkg-config finds lapacke and what that requires, nothing else.
only=$build_dir/pkgconfig
mkdir -p "$only"
wanted=(lapacke)
while [ ${#wanted[@]} -gt 0 ]; do
  name=${wanted[0]}
  wanted=("${wanted[@]:1}")
  cp "$(pkg-config --variable=pcfiledir "$name")/$name.pc" "$only/"
  required=$(pkg-config --print-requires --print-requires-private "$name" | awk '{print $1}')
  [ -z "$required" ] || mapfile -t -O ${#wanted[@]} wanted <<<"$required"
done

unset PKG_CONFIG_PATH
export PKG_CONFIG_LIBDIR=$only
cmake -S "$source_dir" -B "$build_dir" -G Ninja -DCGMCA_IO=OFF -DCGMCA_TESTS=OFF -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON -DMPI_C_COMPILER=/bin/false "$@"
if ninja -C "$build_dir" -t targets all | grep 'mpi_.*\.cpp\.o'; then
  echo "MPI was not found, and is to be compiled all the same: see above" >&2
  exit 1
fi

# commands BUILD_DIR: how the core is compiled there, whatever runs the compiler.
commands() {
  ninja -C "$1" -t commands cgmca | grep -- ' -c ' | sed -E "s#$1/#build/#g; s#^.* ([^ ]*c\+\+[^ ]* -D)#\1#" | sort
}
[ -n "$(commands "$whole")" ]
diff <(commands "$whole") <(commands "$build_dir")
made=$(ninja -C "$whole" -t commands cgmca | grep -oE -- ' -o [^ ]+\.(o|gch) ' | cut -d' ' -f3)
# shellcheck disable=SC2086
if ninja -C "$whole" -t deps $made | grep -E '/(hdf5|H5|png|zlib|zconf|zip|openssl|mpi)[^/]*(/|\.h$)'; then
  echo "the core includes a header of a library that it must not need: see above" >&2
  exit 1
fi
# shellcheck disable=SC2086
(cd "$whole" && cp --parents -t "$build_dir" $(grep -E '\.o$' <<<"$made"))
(cd "$build_dir" && ninja -t commands cgmca | grep -v -- ' -c ' | sh)

library=$(find "$build_dir" -name libcgmca.so)
needed=$(ldd "$library" | awk '{print $1}' | xargs -n1 basename)
echo "needs:" $needed
allowed='linux-vdso|ld-linux.*|lib(c|m|dl|pthread|stdc\+\+|gcc_s|gfortran|quadmath|gomp|atomic)'
allowed+='|lib(blas|cblas|lapack|lapacke|openblas|tmglib|flexiblas|fmt)'
if grep -vE "^($allowed)[-.0-9a-z_]*\.so(\.[0-9.]+)?$" <<<"$needed"; then
  echo "libcgmca.so needs more than BLAS, LAPACK, fmt and the runtimes: see above" >&2
  exit 1
fi
