#!/usr/bin/env bash
# Installs into a temporary prefix, then builds two programs as an outside project would, and runs them: README's
# example, and apply.cpp, which links the core alone. By find_package and by pkg-config, with several flags, because
# matrices cross the library's border and Eigen would allocate them differently with -mavx2 or -fsanitize=address. Then
# the same programs with static libraries, and with an Eigen that calls itself 5.
#   usage: check_install.sh SOURCE_DIR BUILD_DIR PYTHON
set -euo pipefail
source_dir=$1 build_dir=$2 python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
fi
export ASAN_OPTIONS=detect_leaks=1

cmake --install "$build_dir" --prefix "$prefix" >/dev/null
libdir=$(dirname "$(find "$prefix" -name 'libcgmca.so')")
export PKG_CONFIG_PATH=$libdir/pkgconfig

# The first C++ block of the README is the example; it reads two files. apply.cpp reads a model of the same.
mkdir "$work/outside"
cd "$work/outside"
awk '/^```cpp/ {take = 1; next} /^```/ && take {exit} take' "$source_dir/README.md" >main.cpp
grep -q 'int main' main.cpp
cp "$source_dir/tests/install/apply.cpp" .
# "What people do next" of docs/start/cpp.md, with the samples it needs.
{
  echo '#include <cgmca/cgmca.hpp>'
  echo '#include <iostream>'
  echo 'int main() {'
  echo '  const cgmca::Matrix X1 = cgmca::read("clean.npy"), X2 = cgmca::read("noisy.npy");'
  echo '  const cgmca::Index d1 = X1.rows(), d2 = X2.rows();'
  awk '/^## What people do next$/ {here = 1} here && /^```cpp/ {take = 1; next} /^```/ && take {exit} take' "$source_dir/docs/start/cpp.md"
  echo '  const double held = ((estimate - X1).array().abs() <= margin.array()).cast<double>().mean();'
  echo '  std::cout << tuned.choice().description() << "; within the limits: " << held << "\n";'
  echo '  return held > 0.8 && held < 0.97 && both.cols() == X1.cols() && weighted.total_weight() == 2.0 * X1.cols() ? 0 : 1;'
  echo '}'
} >next.cpp
grep -q 'half_widths' next.cpp
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(outside CXX)
find_package(cgmca 0.2 REQUIRED)
add_executable(example main.cpp)
target_link_libraries(example PRIVATE cgmca::cgmca)
add_executable(next EXCLUDE_FROM_ALL next.cpp)
target_link_libraries(next PRIVATE cgmca::cgmca)
add_executable(apply apply.cpp)
target_link_libraries(apply PRIVATE cgmca::core)
CMAKE
"$python" - <<'PYTHON'
import numpy as np
random = np.random.default_rng(0)
clean = random.normal(size=(500, 4)) @ random.normal(size=(4, 12)) + 0.1 * random.normal(size=(500, 12))
np.save("clean.npy", clean)
np.save("noisy.npy", clean + random.normal(size=clean.shape))
PYTHON
"$prefix/bin/cgmca" fit clean.npy noisy.npy -o model --quiet

# run FOLDER: the two programs in it do what they should.
run() {
  rm -f cleaned.npy
  LD_LIBRARY_PATH=$libdir "$1/example" | tee output
  grep -q '^objective ' output
  "$python" - <<'PYTHON'
import numpy as np
clean, noisy, cleaned = (np.load(name + ".npy") for name in ("clean", "noisy", "cleaned"))
assert cleaned.shape == clean.shape
assert np.linalg.norm(cleaned - clean) < 0.9 * np.linalg.norm(noisy - clean), "the example does not denoise"
PYTHON
  LD_LIBRARY_PATH=$libdir "$1/apply" model
  if LD_LIBRARY_PATH=$libdir ldd "$1/apply" | grep -E 'hdf5|matio|png|curl'; then
    echo "a program that links the core alone needs a library of file formats" >&2
    return 1
  fi
}

# compile FOLDER COMMON_FLAGS FLAGS_AND_LIBRARIES_OF_THE_EXAMPLE THOSE_OF_APPLY: without CMake.
compile() {
  local folder=$1 flags=$2 program
  mkdir "$folder"
  for program in "main example $3" "apply apply $4"; do
    # shellcheck disable=SC2086
    set -- $program
    # shellcheck disable=SC2086
    ${CMAKE_CXX_COMPILER_LAUNCHER:-} g++ -std=c++20 $flags ${*:3} -c "$1.cpp" -o "$folder/$1.o"
    # shellcheck disable=SC2086
    g++ $flags "$folder/$1.o" -o "$folder/$2" ${*:3}
  done
}

number=0
for flags in "" "-O3 -march=native" "-mavx2" "-fsanitize=address"; do
  number=$((number + 1))
  if [[ $flags == *-m* ]] && ! grep -qw avx2 /proc/cpuinfo; then
    echo "skipped, because this processor has no AVX2: $flags"
    continue
  fi
  echo "find_package, flags: ${flags:-none}"
  cmake -S . -B "build$number" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="$flags -DEIGEN_FIRST" >/dev/null
  cmake --build "build$number" >/dev/null
  run "build$number"
  if [ "$number" = 1 ]; then
    cmake --build build1 --target next >/dev/null
    LD_LIBRARY_PATH=$libdir build1/next
  fi
  echo "pkg-config, flags: ${flags:-none}"
  compile "compiled$number" "$flags -DEIGEN_FIRST" "$(pkg-config --cflags --libs cgmca)" \
    "$(pkg-config --cflags --libs cgmca-core)"
  run "compiled$number"
done

# The headers alone must do, for those who use neither.
echo "only -I, flags: -fsanitize=address"
core="-I$prefix/include $(pkg-config --cflags-only-I eigen3) -L$libdir -lcgmca"
compile by-hand "-fsanitize=address" "$core -lcgmca_io -lcgmca_image" "$core"
run by-hand

# The C interface, by pkg-config and by find_package in a project without C++.
echo "C"
cp "$source_dir/examples/c/translate.c" .
# shellcheck disable=SC2046
cc -std=c99 translate.c $(pkg-config --cflags --libs cgmca-c) -o translate
LD_LIBRARY_PATH=$libdir ./translate
mkdir c
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(outside C)' 'find_package(cgmca 0.2 REQUIRED)' \
  'add_executable(translate ../translate.c)' 'target_link_libraries(translate PRIVATE cgmca::c)' >c/CMakeLists.txt
cmake -S c -B c/build -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build c/build >/dev/null
LD_LIBRARY_PATH=$libdir c/build/translate

# none PATTERN: no line of the input is like this.
none() {
  ! grep "$1" || { echo "there should be no '$1'" >&2; exit 1; }
}

# --target cgmca is the library, not the command line.
if [ -e "$build_dir/build.ninja" ]; then
  commands=$(ninja -C "$build_dir" -t commands cgmca)
  grep -q -- '-o src/libcgmca\.' <<<"$commands"
  none apps/cgmca <<<"$commands"
fi

# An Eigen of version 5, as find_package sees it: this machine's, with another number.
mkdir "$work/eigen5"
cat >"$work/eigen5/Eigen3Config.cmake" <<CMAKE
add_library(Eigen3::Eigen INTERFACE IMPORTED)
target_include_directories(Eigen3::Eigen INTERFACE $(pkg-config --cflags-only-I eigen3 | sed 's/^-I//; s/ .*//'))
CMAKE
cat >"$work/eigen5/version.cmake" <<'CMAKE'
include(CMakePackageConfigHelpers)
write_basic_package_version_file(Eigen3ConfigVersion.cmake VERSION 5.0.0 COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
CMAKE
(cd "$work/eigen5" && cmake -P version.cmake)

# Static libraries, as part of an outside project that asks for them. The objects are those of the build folder, which
# are compiled by the same commands; what is tested is how libraries are made of them, installed and linked.
echo "static libraries, with an Eigen of version 5"
mkdir "$work/parent"
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(parent C CXX)' "add_subdirectory($source_dir cgmca)" \
  >"$work/parent/CMakeLists.txt"
unity=$(sed -n 's/^CGMCA_UNITY:BOOL=//p' "$build_dir/CMakeCache.txt")
cmake -S "$work/parent" -B "$work/static" -G Ninja -DBUILD_SHARED_LIBS=OFF -DCGMCA_UNITY="$unity" \
  -DCMAKE_BUILD_TYPE=Release -DEigen3_DIR="$work/eigen5" >/dev/null
(cd "$build_dir" && find src -name '*.o' -path '*_objects.dir/*' -exec cp --parents -t "$work/static/cgmca" {} +)
for name in cgmca cgmca_c cgmca_image cgmca_io; do
  (cd "$work/static" && ninja -t commands "cgmca/src/lib$name.a" | tail -1 | sh)
done
cmake --build "$work/static" --target octave_package >/dev/null  # compiles nothing
cmake --install "$work/static" --prefix "$work/static-prefix" >/dev/null
find "$work/static-prefix" -name '*.so*' | none .

mkdir "$work/static-user"
cat >"$work/static-user/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(outside CXX)
find_package(cgmca 0.2 REQUIRED)
add_executable(example $work/outside/compiled1/main.o)
target_link_libraries(example PRIVATE cgmca::cgmca)
add_executable(apply $work/outside/compiled1/apply.o)
target_link_libraries(apply PRIVATE cgmca::core)
set_target_properties(example apply PROPERTIES LINKER_LANGUAGE CXX)
CMAKE
cmake -S "$work/static-user" -B static1 -DCMAKE_PREFIX_PATH="$work/static-prefix" -DEigen3_DIR="$work/eigen5" >/dev/null
cmake --build static1 >/dev/null
run static1
PKG_CONFIG_PATH=$(dirname "$(find "$work/static-prefix" -name cgmca.pc)")
mkdir static2
# shellcheck disable=SC2046
g++ compiled1/main.o -o static2/example $(pkg-config --libs cgmca)
# shellcheck disable=SC2046
g++ compiled1/apply.o -o static2/apply $(pkg-config --libs cgmca-core)
run static2
# shellcheck disable=SC2046
cc -std=c99 translate.c $(pkg-config --cflags --libs cgmca-c) -o static2/translate
static2/translate
for program in static1/example static2/apply static2/translate; do
  ldd "$program" | none libcgmca
done
