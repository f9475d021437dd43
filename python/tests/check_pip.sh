#!/usr/bin/env bash
# Builds the wheel as `pip install .` does, in a fresh virtual environment with the newest NumPy, scikit-learn and friends
# from PyPI, and runs the package's tests and mypy there.   usage: check_pip.sh [pytest options]
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip install --quiet --upgrade pip
# Compilers by the names that other builds use, and paths relative to the source: so ccache has most objects already.
export CC=${CC:-/usr/bin/cc} CXX=${CXX:-/usr/bin/c++} CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
"$python" -m pip install --quiet .
"$python" -m pip install --quiet pytest pandas matplotlib joblib safetensors statsmodels mypy scipy pyarrow polars 'dask[array,dataframe]' distributed \
  onnx onnxruntime
"$work/venv/bin/cgmca" --version  # the wheel brings the command line
"$python" -W error -c 'import cgmca; assert "OpenBLAS" in cgmca.blas_description(), cgmca.blas_description()'
"$python" - <<'PYTHON'
import cgmca, numpy, pandas, scipy, sklearn, sys
print(f"Python {sys.version.split()[0]}, NumPy {numpy.__version__}, scikit-learn {sklearn.__version__}, "
      f"SciPy {scipy.__version__}, pandas {pandas.__version__}")
print(f"cgmca {cgmca.__version__} from {cgmca.__file__}")
PYTHON

# One thread: small matrices are no work for several.
export PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 CGMCA_PROGRAM=$work/venv/bin/cgmca CGMCA_FIT_BY_CPP=$PWD/build/python/fit_by_cpp CGMCA_FIT_BY_CPP_OTHER_BLAS=1
cp -r python/tests "$work/tests"  # so that nothing but the installed package can be imported
(cd "$work/tests" && "$python" -m mypy --strict typing_sample.py)
CGMCA_SOURCE=$PWD "$python" -m pytest -q -rs -p no:cacheprovider --ignore "$work/tests/engines/test_spark.py" "$@" "$work/tests"
