#!/usr/bin/env bash
# Installs a wheel in a Debian that has Python and nothing else of ours, with the newest NumPy and scikit-learn from
# PyPI, and uses it: the command line, a fit of real digits, .mat and .h5 files, and the kernels of its OpenBLAS.
# The bare system is made by debootstrap in build-wheel/bare (as root), and kept for the next time.
#   usage: check_wheel.sh WHEEL [MNIST_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
wheel=$1 digits=${2:-}
root=$PWD/build-wheel/bare
tests/install/make_bare_debian "$root" python3 python3-venv ca-certificates
trap 'umount "$root/proc"' EXIT
for package in libopenblas0 libhdf5-103 libzip4 libfmt9 libpng16-16; do
  if chroot "$root" dpkg-query -W "$package" >/dev/null 2>&1; then
    echo "check_wheel: the bare system has $package" >&2
    exit 1
  fi
done
rm -rf "$root/check"
mkdir -p "$root/check"
cp "$wheel" tests/install/use_wheel.py "$root/check/"
[ -z "$digits" ] || cp -rL "$digits" "$root/check/mnist"

# NumPy and scikit-learn by this machine's pip, which knows the way to PyPI; the chroot gets files.
build-wheel/tools/bin/pip download --quiet --only-binary :all: --dest "$root/check/wheels" numpy scikit-learn
chroot "$root" python3 -m venv /check/venv
chroot "$root" /check/venv/bin/pip install --quiet --no-index --find-links /check/wheels "/check/$(basename "$wheel")"
chroot "$root" /check/venv/bin/cgmca --version
chroot "$root" env -C /check PATH=/check/venv/bin:/usr/bin:/bin /check/venv/bin/python use_wheel.py
chroot "$root" /check/venv/bin/pip uninstall --quiet --yes cgmca
left=$(find "$root/check/venv" -name '*cgmca*' | head)
[ -z "$left" ] || { echo "left after uninstalling: $left" >&2; exit 1; }
echo "check_wheel: $(basename "$wheel") works in a bare Debian, and leaves nothing behind"
