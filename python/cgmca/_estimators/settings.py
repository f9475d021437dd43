"""The parameters of the estimators and of `tune`, checked when they are used."""

from __future__ import annotations

import dataclasses
import numbers
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Union

import numpy as np
from sklearn.utils import check_random_state

from .. import _core
from .._base import as_count, as_number, check_array


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


class SearchProgress(NamedTuple):
    """What a search for the maps of more than two domains tells while it works.

    Attributes
    ----------
    stage : {'spectral', 'tree', 'random', 'reflection', 'relaxation', 'proof'}
        Where the present ascent started from, or that the optimum is being proved.
    start : int
        The number of the ascent, from 0; of a proof, how many there were before it.
    sweep : int
        Sweeps of this ascent so far, or iterations of this proof.
    f : float
        What is maximized, as far as it is reached. It never falls within one ascent.
    """

    stage: str
    start: int
    sweep: int
    f: float


def as_progress(call: Any) -> Optional[Callable[[str, int, int, float], object]]:
    """A function of the four numbers that calls `call` with them as a `SearchProgress`."""
    if call is None:
        return None
    if not callable(call):
        raise TypeError(f"progress must be a function, not {call!r}")
    return lambda *told: call(SearchProgress(*told))


def as_ridge(value: Any) -> Union[float, str]:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"there is no ridge '{value}': give a number or 'auto'")
        return value
    return as_number("ridge", value) or 0.0


def per_domain(name: str, value: Any, m: int) -> List[Any]:
    """One value for each of m domains, of one for all or a list or tuple of m.

    >>> per_domain("ridge", 5, 2), per_domain("ridge", (5, "auto"), 2)
    ([5, 5], [5, 'auto'])
    """
    if not isinstance(value, (list, tuple)) and not (isinstance(value, np.ndarray) and value.ndim == 1):
        return [value] * m
    if len(value) == m:
        return list(value)
    if isinstance(value, list) and len(value) == 1:
        raise TypeError(f"{name} must be a single value, or a list with one for each of {m} domains, not {value!r}")
    if m == 2:
        raise ValueError(f"{name}: a pair, one for each domain, has two entries, this one has {len(value)}")
    raise ValueError(f"{name} has {len(value)} entries for {m} domains; give one for all, or one for each")


def as_covariances(setting: Any, n_components: Any, m: int) -> List[_core.Covariance]:
    """The covariances of m domains."""
    n = as_count("n_components", n_components)
    if isinstance(setting, tuple) or _is_list_of_covariances(setting):
        each = [_read(one) for one in per_domain("covariance", setting, m)]
    else:
        each = [_read(setting)] * m
    arrays = [one for one in each if isinstance(one, Covariance)]
    k = arrays[0].dimension if arrays else None  # an identity beside an array is as large as that
    if n is not None and len(arrays) == m and n != k:
        raise ValueError(f"n_components is {n}, but the covariance given has {k} dimensions; leave n_components out")
    made: Dict[int, _core.Covariance] = {}  # one for all is factored once
    for one in each:
        if id(one) not in made:
            made[id(one)] = _covariance(one, n if n is not None else k, m)
    return [made[id(one)] for one in each]


def _is_list_of_covariances(setting: Any) -> bool:
    """A list may also be the rows of one matrix."""
    return isinstance(setting, list) and any(isinstance(one, (str, Covariance)) or np.ndim(one) == 2 for one in setting)


def _read(setting: Any) -> Union[str, Covariance]:
    return setting if isinstance(setting, (str, Covariance)) else _as_matrix(setting)


def _as_matrix(setting: Any) -> Covariance:
    if isinstance(setting, numbers.Number):
        raise TypeError(f"covariance is {setting!r}, a number; for the number of components write "
                        f"n_components={setting!r}")
    return Covariance.matrix(setting)


def _covariance(setting: Union[str, Covariance], n: Optional[int], m: int) -> _core.Covariance:
    if isinstance(setting, Covariance):
        made: _core.Covariance = getattr(_core.Covariance, setting.kind)(setting.values)
        return made
    kinds: Dict[str, str] = {}
    choices = []
    for stem, domains, number in _core.covariance_rules(m):
        names = [f"{stem}{domain}" for domain in range(1, domains + 1)] if domains else [stem]
        kinds.update((name, number) for name in names)
        if domains in (0, m):
            choices.append(f"'{names[0]}' to '{names[-1]}'" if len(names) > 2 else ", ".join(map(repr, names)))
    if setting not in kinds:
        raise ValueError(f"there is no covariance '{setting}': give {', '.join(choices)}, an array, a "
                         f"cgmca.Covariance, or a {'pair' if m == 2 else f'list of {m}'} of these")
    if n is None and kinds[setting] == "must":
        raise ValueError(f"covariance '{setting}' needs n_components")
    if n is not None and kinds[setting] == "cannot":
        raise ValueError(f"covariance '{setting}' uses all directions; leave n_components out")
    return _core.Covariance.parse(setting if n is None else f"{setting}:{n}")


def as_seed(random_state: Any) -> int:
    """What the search draws its random starts from: the number itself, or one drawn from a random state."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        seed = int(random_state)
        if not 0 <= seed < 2 ** 64:
            raise ValueError(f"random_state is {seed}; a number from 0 to 2**64 - 1 is needed")
        return seed
    return int(check_random_state(random_state).randint(2 ** 31 - 1))


def as_search(random_state: Any, random_starts: Any, max_sweeps: Any, max_seconds: Any) -> Dict[str, Any]:
    """The settings of the search for more than two domains."""
    if not isinstance(random_starts, numbers.Integral) or isinstance(random_starts, bool):
        raise TypeError(f"random_starts must be a whole number, not {random_starts!r}")
    if random_starts < 0:
        raise ValueError(f"random_starts is {random_starts}; it cannot be negative")
    if max_sweeps is None:
        raise TypeError("max_sweeps must be a whole number, not None")
    seconds = as_number("max_seconds", max_seconds)
    if seconds is not None and not seconds > 0:
        raise ValueError(f"max_seconds is {max_seconds}; a time above 0 is needed, or None for no limit")
    return {"seed": as_seed(random_state), "random_starts": int(random_starts),
            "max_sweeps": as_count("max_sweeps", max_sweeps), "max_seconds": np.inf if seconds is None else seconds}
