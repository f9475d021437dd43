"""Slow kernels of OpenBLAS are named once, with the remedy."""

import os
import subprocess
import sys

import pytest

import cgmca


FIT = "import numpy as np; [cgmca.MCA(1).fit(np.eye(9)[:, :2], np.eye(9)[:, 1:3]) for _ in range(3)]"


def import_with(kernels, work=FIT):
    """What `import cgmca` and three fits print where OpenBLAS is told to use these kernels: its description and more on
    stdout, and stderr."""
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernels}
    lines = "import cgmca; print(cgmca.blas_description()); " + work
    result = subprocess.run([sys.executable, "-c", lines], env=environment, capture_output=True, text=True, check=True)
    if kernels not in result.stdout:
        pytest.skip(f"this BLAS has no kernels {kernels}: {result.stdout.strip()}")
    return result.stdout, result.stderr


def faster_kernels():
    """What suits this processor, as /proc/cpuinfo has it; None where nothing is faster than the oldest kernels."""
    with open("/proc/cpuinfo") as file:
        flags = set(next((line for line in file if line.startswith("flags")), "").split())
    if {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags:
        return "SkylakeX"
    return "Haswell" if {"avx2", "fma"} <= flags else None


def test_slow_kernels_are_named_once_with_the_remedy():
    better = faster_kernels()
    if better is None:
        pytest.skip("this processor has nothing better")
    description, warned = import_with("Prescott")
    assert warned.count("RuntimeWarning") == 1 and warned.startswith("<string>:1: ")  # the program's line, not ours
    assert "'Prescott'" in warned and f"OPENBLAS_CORETYPE={better} before Python starts" in warned
    assert f"set OPENBLAS_CORETYPE={better} before the program starts" in description


def test_an_import_alone_says_nothing():
    if faster_kernels() is None:
        pytest.skip("this processor has nothing better")
    assert import_with("Prescott", work="print(cgmca.MCA())")[1] == ""
    tuning = "import numpy as np; cgmca.permutation_test(np.eye(9)[:, :2], np.eye(9)[:, 1:3], permutations=9)"
    assert import_with("Prescott", work=tuning)[1].count("RuntimeWarning") == 1


def test_modern_kernels_are_no_reason_to_warn():
    if "Haswell" not in cgmca.blas_description() and faster_kernels() is None:
        pytest.skip("this processor has no AVX2")
    description, warned = import_with("Haswell")
    assert "RuntimeWarning" not in warned and "OPENBLAS_CORETYPE" not in description
