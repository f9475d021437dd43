"""A warning where OpenBLAS runs far slower than the processor allows."""

from .._base import warn_user
from .._core import slow_kernels


def warn_of_slow_kernels():
    """Warn, with the remedy, where OpenBLAS uses old kernels although the processor could do better.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_of_slow_kernels()
    >>> len(found) == (slow_kernels() is not None)
    True
    """
    slow = slow_kernels()
    if slow is not None:
        used, faster = slow
        warn_user(f"OpenBLAS uses its old kernels '{used}', several times slower than this processor allows. Set the "
                  f"environment variable OPENBLAS_CORETYPE={faster} before Python starts, or install cgmca from a wheel, "
                  "which brings a current OpenBLAS", RuntimeWarning)
