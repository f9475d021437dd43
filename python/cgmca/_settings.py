"""The parameters of the estimators and of `tune`, checked when they are used."""

from __future__ import annotations

import numbers
from typing import Any, Optional, Tuple, Union

from . import _core
from ._compat import check_array


def as_number(name: str, value: Any) -> Optional[float]:
    if value is None:
        return None
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return float(value)
    raise TypeError(f"{name} must be a number, not {value!r}")


def as_count(name: str, value: Any) -> Optional[int]:
    if value is None:
        return None
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < 1:
        raise ValueError(f"{name} is {value}; at least 1 is needed")
    return int(value)


def as_ridge(value: Any) -> Union[float, str]:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"no ridge '{value}': give a number or 'auto'")
        return value
    return as_number("ridge", value) or 0.0


def as_pair(value: Any) -> Tuple[Any, Any]:
    """One value for each domain.

    >>> as_pair(5), as_pair((5, "auto"))
    ((5, 5), (5, 'auto'))
    """
    if not isinstance(value, tuple):
        return value, value
    if len(value) != 2:
        raise ValueError(f"a pair, one for each domain, has two entries, this one has {len(value)}")
    return value


def as_covariances(setting: Any, n_components: Any) -> Tuple[_core.Covariance, _core.Covariance]:
    n = as_count("n_components", n_components)
    both = as_pair(setting)
    arrays = [check_array(one, dtype="numeric", finite=False, input_name="covariance")
              for one in both if not isinstance(one, str)]
    k = arrays[0].shape[0] if arrays else None  # an identity beside an array is as large as that
    if n is not None and len(arrays) == 2 and n != k:
        raise ValueError(f"n_components is {n}, but the covariance given has {k} dimensions; leave n_components out")
    c1 = _covariance(both[0], n if n is not None else k)
    return c1, c1 if both[1] is both[0] else _covariance(both[1], n if n is not None else k)


def _covariance(setting: Any, n: Optional[int]) -> _core.Covariance:
    if not isinstance(setting, str):
        return _core.Covariance.matrix(setting)
    if setting == "identity":
        return _core.Covariance.largest_identity() if n is None else _core.Covariance.identity(n)
    if setting not in ("data1", "data2", "correlation"):
        raise ValueError(f"no covariance '{setting}': give 'identity', 'data1', 'data2', 'correlation', an array, or a "
                         "pair of these")
    if n is None:
        raise ValueError(f"covariance '{setting}' needs n_components")
    return _core.Covariance.correlation(n) if setting == "correlation" else _core.Covariance.data(int(setting[-1]), n)
