#!/usr/bin/env bash
# Tests of cgmca.to_onnx with ONNX Runtime from PyPI, in a fresh virtual environment; the package is that of the build
# tree.   usage: check_onnx.sh [pytest options]
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

/usr/bin/python3 -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip install --quiet --upgrade pip
# Debian's pybind11, with which the tree was built, knows NumPy 1 only.
"$python" -m pip install --quiet 'numpy<2' scipy scikit-learn pytest onnx onnxruntime
export PYTHONPATH=$PWD/build/python PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1
"$python" -c 'import onnx, onnxruntime; print("ONNX, ONNX Runtime:", onnx.__version__, onnxruntime.__version__)'
"$python" -m pytest -q -rs -p no:cacheprovider "$@" python/tests/onnx
