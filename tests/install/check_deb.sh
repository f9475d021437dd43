#!/usr/bin/env bash
# Installs the Debian packages in a bare Debian, uses each of them there, removes them and looks for traces.
# The system is made by debootstrap in build-deb/bare (as root) and kept for the next time.
#   usage: check_deb.sh FOLDER_OF_PACKAGES
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)
root=$PWD/build-deb/bare
tests/install/make_bare_debian "$root" ca-certificates
trap 'umount "$root/proc"' EXIT
packages=(cgmca libcgmca0 libcgmca-io0 libcgmca-dev python3-cgmca cgmca-doc)
in_it() { chroot "$root" env -C /check DEBIAN_FRONTEND=noninteractive "$@"; }

# The same mirror as debootstrap's; what the packages depend on, and what the checks need beside.
rm -rf "$root/check"
mkdir -p "$root/check"
cp tests/install/apply.cpp tests/install/use_deb.py "$root/check/"
awk '/^```cpp/ {take = 1; next} /^```/ && take {exit} take' README.md >"$root/check/main.cpp"
for package in "${packages[@]}"; do cp "$folder/$package"_*.deb "$root/check/"; done
rm -f "$root/etc/dpkg/dpkg.cfg.d/excludes"
in_it apt-get update -qq
in_it apt-get install -y -qq --no-install-recommends libopenblas0 man-db g++ cmake make pkg-config >/dev/null
# All files but those that dpkg, apt and caches keep for themselves.
list() { (cd "$root" && find etc usr opt srv var/lib -path var/lib/dpkg -prune -o -path var/lib/apt -prune -o -print | sort); }

# First what the packages depend on, so that the lists before and after differ by our own files alone.
depends=$(for package in "${packages[@]}"; do dpkg-deb -f "$folder/$package"_*.deb Depends; done | tr ',\n' '\n\n' |
          sed 's/|.*//; s/(.*//; s/ //g' | grep -vE '^(cgmca|libcgmca|python3-cgmca|$)' | sort -u)
# shellcheck disable=SC2086
in_it apt-get install -y -qq --no-install-recommends $depends >/dev/null
list >"$root/../before"
in_it sh -c 'apt-get install -y -qq --no-install-recommends ./*.deb' >/dev/null
in_it dpkg -l "${packages[@]}" | tail -n ${#packages[@]}

in_it python3 use_deb.py
in_it cgmca fit clean.npy noisy.npy --cov identity:3 -o model
in_it cgmca verify model clean.npy noisy.npy
in_it sh -c 'MANWIDTH=80 man cgmca | head -12'
in_it sh -c 'test -e /usr/share/bash-completion/completions/cgmca && test -e /usr/share/zsh/vendor-completions/_cgmca'
in_it test -e /usr/share/doc/cgmca/html/index.html
cat >"$root/check/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(outside CXX)
find_package(cgmca 0.2 REQUIRED)
add_executable(example main.cpp)
target_link_libraries(example PRIVATE cgmca::cgmca)
CMAKE
in_it sh -c 'cmake -B build >/dev/null && cmake --build build >/dev/null && build/example'
in_it sh -c 'g++ -std=c++20 apply.cpp $(pkg-config --cflags --libs cgmca-core) -o apply && ./apply model'

in_it apt-get purge -y -qq "${packages[@]}" >/dev/null
list >"$root/../after"
if ! diff "$root/../before" "$root/../after"; then
  echo "check_deb: the packages leave traces, see above" >&2
  exit 1
fi
echo "check_deb: installed, used and removed without a trace"
