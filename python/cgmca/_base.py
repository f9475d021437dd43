"""What all modules use: checks of single values, warnings, and one face for scikit-learn 1.2 (Debian 12) to the newest."""

from __future__ import annotations

import functools
import inspect
import numbers
import sys
import warnings
from typing import Any, Callable, Optional, Sequence, Type, TypeVar, cast

import numpy as np
from sklearn.utils import check_array as _check_array

Function = TypeVar("Function", bound=Callable[..., Any])

# force_all_finite became ensure_all_finite in 1.6.
_FINITE = "ensure_all_finite" if "ensure_all_finite" in inspect.signature(_check_array).parameters else "force_all_finite"


def check_array(array: Any, *, finite: bool = True, **options: Any) -> Any:
    return _check_array(array, **{_FINITE: finite}, **options)


try:
    from sklearn.utils.validation import validate_data as _validate_data
except ImportError:  # before 1.6 it was a method

    def _validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        return estimator._validate_data(X, **options)


def validate_data(estimator: Any, X: Any, *, reset: bool, finite: bool = True, **options: Any) -> Any:
    return _validate_data(estimator, X, reset=reset, **{_FINITE: finite}, **options)


def check_n_features(estimator: Any, X: Any) -> None:
    """scikit-learn's error for another number of features, for tables that it does not know."""
    expected = vars(estimator).get("n_features_in_", X.shape[1])
    if X.shape[1] != expected:
        raise ValueError(f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {expected} "
                         "features as input")


def warn_user(message: str, category: Type[Warning] = UserWarning) -> None:
    """A warning that names the line of the user's program, however deep in the package or scikit-learn we are."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("cgmca", "sklearn"):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)


def accepts_old_names(function: Function) -> Function:
    """Lets a function take the parameters of cgmca 0.2, with a warning: Y for y, and extra_X and extra_Y for extra.

    >>> @accepts_old_names
    ... def shown(X, y=None, *, extra=None):
    ...     return X, y, extra
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", FutureWarning)
    ...     shown(1, Y=2, extra_Y=3)
    (1, 2, [None, 3])
    """
    @functools.wraps(function)
    def taking(*args: Any, **options: Any) -> Any:
        if "Y" in options:
            _give_new_name(options, "Y", "y", options.pop("Y"))
        if "extra_X" in options or "extra_Y" in options:
            more = [options.pop("extra_X", None), options.pop("extra_Y", None)]
            _give_new_name(options, "extra_X and extra_Y", "extra=[more_X, more_y]", more)
        return function(*args, **options)

    return cast(Function, taking)


def _give_new_name(options: dict[str, Any], old: str, new: str, value: Any) -> None:
    name = new.partition("=")[0]
    if options.get(name) is not None:
        raise TypeError(f"{old} and {name} are two names of the same thing; give {name} alone")
    warn_user(f"{old} of cgmca 0.2 is now called {new}; the old name will go", FutureWarning)
    options[name] = value


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
        raise ValueError(f"{name} is {value}; it must be a fraction of the largest singular value, from 0 to 1")
    return number


def as_flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def as_count(name: str, value: Any) -> Optional[int]:
    if value is None:
        return None
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < 1:
        raise ValueError(f"{name} is {value}; at least 1 is needed")
    return int(value)
