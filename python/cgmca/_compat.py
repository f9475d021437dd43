"""What differs between the versions of scikit-learn, 1.2 (Debian 12) to the newest; warnings."""

from __future__ import annotations

import inspect
import sys
import warnings
from typing import Any, Type

from sklearn.utils import check_array as _check_array

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
