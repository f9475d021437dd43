#!/usr/bin/env bash
# Runs tests of the build tree's package beside packages from PyPI, in a fresh virtual environment.
#   usage: in_venv.sh PACKAGE… -- PYTEST-ARGUMENT…
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packages=()
while [ "$1" != -- ]; do
  packages+=("$1")
  shift
done
shift

/usr/bin/python3 -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip install --quiet --upgrade pip
# Debian's pybind11, with which the tree was built, knows NumPy 1 only. `make test-pip` tests the newest NumPy.
"$python" -m pip install --quiet 'numpy<2' scipy scikit-learn pytest "${packages[@]}"
export PYTHONPATH=$PWD/build/python PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 CGMCA_PROGRAM=$PWD/build/cgmca
"$python" -m pip list --disable-pip-version-check 2>/dev/null | grep -iE '^(numpy|onnx|onnxruntime|pyspark|dask|pyarrow) ' || true
"$python" -m pytest -q -rs -p no:cacheprovider "$@"
