#!/usr/bin/env bash
# Installs into a temporary prefix, then builds README's example as an outside project would, by find_package and by
# pkg-config, and runs it.   usage: check_install.sh SOURCE_DIR BUILD_DIR PYTHON
set -euo pipefail
source_dir=$1 build_dir=$2 python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

cmake --install "$build_dir" --prefix "$prefix" >/dev/null

# The first C++ block of the README is the example; it reads two files.
mkdir "$work/outside"
cd "$work/outside"
awk '/^```cpp/ {take = 1; next} /^```/ && take {exit} take' "$source_dir/README.md" >main.cpp
grep -q 'int main' main.cpp
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(outside CXX)
find_package(cgmca 0.1 REQUIRED)
add_executable(example main.cpp)
target_link_libraries(example PRIVATE cgmca::cgmca)
CMAKE
"$python" - <<'PYTHON'
import numpy as np
random = np.random.default_rng(0)
clean = random.normal(size=(500, 4)) @ random.normal(size=(4, 12)) + 0.1 * random.normal(size=(500, 12))
np.save("clean.npy", clean)
np.save("noisy.npy", clean + random.normal(size=clean.shape))
PYTHON

run_example() {
  rm -f cleaned.npy
  "$@" | tee output
  grep -q '^objective ' output
  "$python" - <<'PYTHON'
import numpy as np
clean, noisy, cleaned = (np.load(name + ".npy") for name in ("clean", "noisy", "cleaned"))
assert cleaned.shape == clean.shape
assert np.linalg.norm(cleaned - clean) < 0.9 * np.linalg.norm(noisy - clean), "the example does not denoise"
PYTHON
}

echo "find_package:"
cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build build >/dev/null
run_example build/example

echo "pkg-config:"
libdir=$(dirname "$(find "$prefix" -name cgmca.pc)")
export PKG_CONFIG_PATH=$libdir
# shellcheck disable=SC2046
g++ -std=c++20 -O1 main.cpp -o by-pkg-config $(pkg-config --cflags --libs cgmca)
LD_LIBRARY_PATH=$(dirname "$libdir") run_example ./by-pkg-config
