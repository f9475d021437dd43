"""A warning where OpenBLAS runs far slower than the processor allows."""

import warnings

from ._core import blas_description

# Kernels without AVX: what OpenBLAS falls back to on a processor that it does not know.
_OLD = ("Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Opteron", "Barcelona")


def fitting_kernels(cpuinfo):
    """The value of OPENBLAS_CORETYPE that suits the processor of a /proc/cpuinfo, or None where nothing is faster.

    >>> fitting_kernels("flags : fpu sse2 avx avx2 fma")
    'Haswell'
    >>> fitting_kernels("flags : fpu sse2") is None
    True
    """
    line = next((line for line in cpuinfo.splitlines() if line.startswith("flags")), "")
    flags = set(line.split())
    if {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags:
        return "SkylakeX"
    return "Haswell" if {"avx2", "fma"} <= flags else None


def warn_of_slow_kernels():
    """Warn, with the remedy, where OpenBLAS uses old kernels although the processor could do better."""
    description = blas_description()
    old = next((name for name in _OLD if name in description.split()), None)
    if old is None:
        return
    try:
        with open("/proc/cpuinfo") as file:
            better = fitting_kernels(file.read())
    except OSError:
        return
    if better is not None:
        warnings.warn(f"OpenBLAS uses its old kernels '{old}', several times slower than this processor allows. Set "
                      f"the environment variable OPENBLAS_CORETYPE={better} before Python starts, or install cgmca from "
                      f"a wheel, which brings a current OpenBLAS", RuntimeWarning, stacklevel=3)
