#!/usr/bin/env bash
# Tests of cgmca.spark with PySpark, and of cgmca.dask with the newest Dask, in a fresh virtual environment from PyPI;
# the package is that of the build tree.   usage: check_engines.sh [pytest options]
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

/usr/bin/python3 -m venv "$work/venv"
python=$work/venv/bin/python
# Debian's pybind11, with which the tree was built, knows NumPy 1 only, and newer PyArrow knows NumPy 2 only. `make
# wheel` tests the newest NumPy, with cgmca.dask.
"$python" -m pip install --quiet --upgrade pip
"$python" -m pip install --quiet 'numpy<2' 'pandas<3' 'pyarrow<20' scipy scikit-learn pytest pyspark \
                                 'dask[array,dataframe]' distributed
export PYTHONPATH=$PWD/build/python PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 CGMCA_PROGRAM=$PWD/build/cgmca
"$python" -c 'import cgmca, dask, pyspark; print("cgmca, Dask, PySpark:", *(one.__version__ for one in (cgmca, dask, pyspark)))'
java -version 2>&1 | head -1
"$python" -m pytest -q -rs -p no:cacheprovider "$@" python/tests/test_dask.py python/tests/engines
