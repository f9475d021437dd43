"""Slow kernels of OpenBLAS are named once, with the remedy."""

import os
import subprocess
import sys

import pytest

import cgmca
from cgmca._kernels import fitting_kernels


FIT = "import numpy as np; [cgmca.MCA(1).fit(np.eye(9)[:, :2], np.eye(9)[:, 1:3]) for _ in range(3)]"


def import_with(kernels, work=FIT):
    """What `import cgmca` and three fits print on stderr where OpenBLAS is told to use these kernels."""
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernels}
    lines = "import cgmca; print(cgmca.blas_description()); " + work
    result = subprocess.run([sys.executable, "-c", lines], env=environment, capture_output=True, text=True, check=True)
    if kernels not in result.stdout:
        pytest.skip(f"this BLAS has no kernels {kernels}: {result.stdout.strip()}")
    return result.stderr


def test_slow_kernels_are_named_once_with_the_remedy():
    with open("/proc/cpuinfo") as file:
        better = fitting_kernels(file.read())
    if better is None:
        pytest.skip("this processor has nothing better")
    warned = import_with("Prescott")
    assert warned.count("RuntimeWarning") == 1
    assert "'Prescott'" in warned and f"OPENBLAS_CORETYPE={better} before Python starts" in warned


def test_an_import_alone_says_nothing():
    with open("/proc/cpuinfo") as file:
        if fitting_kernels(file.read()) is None:
            pytest.skip("this processor has nothing better")
    assert import_with("Prescott", work="print(cgmca.MCA())") == ""
    tuning = "import numpy as np; cgmca.permutation_test(np.eye(9)[:, :2], np.eye(9)[:, 1:3], permutations=9)"
    assert import_with("Prescott", work=tuning).count("RuntimeWarning") == 1


def test_modern_kernels_are_no_reason_to_warn():
    if "Haswell" not in cgmca.blas_description() and fitting_kernels(open("/proc/cpuinfo").read()) is None:
        pytest.skip("this processor has no AVX2")
    assert "RuntimeWarning" not in import_with("Haswell")


@pytest.mark.parametrize("flags, expected", [
    ("fpu sse2 avx avx2 fma avx512f avx512dq avx512bw avx512vl", "SkylakeX"),
    ("fpu sse2 avx avx2 fma avx512f", "Haswell"),
    ("fpu sse2 avx", None),
])
def test_the_kernels_that_suit_a_processor(flags, expected):
    assert fitting_kernels(f"processor : 0\nflags\t\t: {flags}\nbugs : none\n") == expected
