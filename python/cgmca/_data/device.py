"""Arrays in the memory of a GPU, as PyTorch, CuPy, JAX and Numba have them: used where they are."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .. import _core


def taken(X: Any, name: str) -> Any:
    """A `DeviceArray` for an array on a GPU, a NumPy array for one that speaks DLPack alone; else X itself.

    >>> taken([[1.0, 2.0]], "X")
    [[1.0, 2.0]]
    """
    speaks = hasattr(X, "__dlpack_device__") or hasattr(X, "__cuda_array_interface__")
    return _core.from_dlpack(X, name) if speaks and not isinstance(X, np.ndarray) else X


def is_there(X: Any) -> bool:
    return isinstance(X, _core.DeviceArray)


def like(given: Any, result: Any) -> Any:
    """A `DeviceArray` as the library of `given` has its arrays, without a copy; as it is where that is not known."""
    if is_there(given) or not is_there(result):
        return result
    library = (given.__array_namespace__() if hasattr(given, "__array_namespace__") else
               sys.modules.get(type(given).__module__.partition(".")[0]))
    from_dlpack = getattr(library, "from_dlpack", None)
    return result if from_dlpack is None else from_dlpack(result)
