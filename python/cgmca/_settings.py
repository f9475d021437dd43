"""The parameters of the estimators and of `tune`, checked when they are used."""

from __future__ import annotations

import dataclasses
import numbers
from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._compat import check_array


@dataclasses.dataclass(frozen=True, eq=False)
class Covariance:
    """A covariance to prescribe, given by something else than its entries.

    ``Covariance.factor(F)`` is F Fᵀ for any k×p array F. ``Covariance.diagonal(sd)`` is diag(sd²): independent
    measurement uncertainties, given as standard deviations. ``Covariance.matrix(C)`` is C, as if C itself were given.

    Examples
    --------
    >>> import numpy as np, cgmca
    >>> random = np.random.default_rng(0)
    >>> X, Y = random.normal(size=(2, 100, 4))
    >>> model = cgmca.CGMCA(cgmca.Covariance.diagonal([1, 2])).fit(X, Y)
    >>> np.allclose(np.cov(model.transform(X).T), np.diag([1, 4]))
    True
    """

    kind: str
    values: Any

    @classmethod
    def factor(cls, F: Any) -> Covariance:
        """F Fᵀ of a k×p factor."""
        return cls("factor", check_array(F, dtype=np.float64, finite=False, input_name="covariance"))

    @classmethod
    def diagonal(cls, sd: Any) -> Covariance:
        """diag(sd²) of k standard deviations."""
        values = np.asarray(sd, dtype=np.float64)
        if values.ndim != 1:
            raise ValueError(f"the standard deviations have {values.ndim} dimensions; a list of k numbers is needed")
        return cls("diagonal", values)

    @classmethod
    def matrix(cls, C: Any) -> Covariance:
        """C itself, k×k."""
        return cls("matrix", check_array(C, dtype=np.float64, finite=False, input_name="covariance"))

    @property
    def dimension(self) -> int:
        """k, the dimensions of the common space."""
        return int(self.values.shape[0])

    def __repr__(self) -> str:
        return f"Covariance.{self.kind}(<{'×'.join(map(str, self.values.shape))} array>)"


def as_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; give {' or '.join(map(repr, choices))}")


def as_number(name: str, value: Any) -> Optional[float]:
    if value is None:
        return None
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return float(value)
    raise TypeError(f"{name} must be a number, not {value!r}")


def as_fraction(name: str, value: Any) -> Optional[float]:
    number = as_number(name, value)
    if number is not None and not 0 <= number < 1:
        raise ValueError(f"{name} is {value}: a rank tolerance of {value:g} is no fraction of the largest singular "
                         "value, from 0 to 1")
    return number


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
    one_for_both = both[1] is both[0]
    both = tuple(one if isinstance(one, (str, Covariance)) else _as_matrix(one) for one in both)  # type: ignore
    arrays = [one for one in both if isinstance(one, Covariance)]
    k = arrays[0].dimension if arrays else None  # an identity beside an array is as large as that
    if n is not None and len(arrays) == 2 and n != k:
        raise ValueError(f"n_components is {n}, but the covariance given has {k} dimensions; leave n_components out")
    c1 = _covariance(both[0], n if n is not None else k)
    return c1, c1 if one_for_both else _covariance(both[1], n if n is not None else k)


def _as_matrix(setting: Any) -> Covariance:
    if isinstance(setting, numbers.Number):
        raise TypeError(f"covariance is {setting!r}, a number; for the number of components write "
                        f"n_components={setting!r}")
    return Covariance.matrix(setting)


def _covariance(setting: Any, n: Optional[int]) -> _core.Covariance:
    if isinstance(setting, Covariance):
        made: _core.Covariance = getattr(_core.Covariance, setting.kind)(setting.values)
        return made
    if setting == "identity":
        return _core.Covariance.largest_identity() if n is None else _core.Covariance.identity(n)
    if setting in ("likelihood1", "likelihood2"):
        if n is not None:
            raise ValueError(f"covariance '{setting}' uses all directions; leave n_components out")
        return _core.Covariance.likelihood(int(setting[-1]))
    if setting not in ("data1", "data2", "correlation"):
        raise ValueError(f"no covariance '{setting}': give 'identity', 'data1', 'data2', 'correlation', 'likelihood1', "
                         "'likelihood2', an array, a cgmca.Covariance, or a pair of these")
    if n is None:
        raise ValueError(f"covariance '{setting}' needs n_components")
    return _core.Covariance.correlation(n) if setting == "correlation" else _core.Covariance.data(int(setting[-1]), n)
