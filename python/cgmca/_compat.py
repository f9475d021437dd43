"""What differs between the versions of scikit-learn: 1.2 (Debian 12) to the newest."""

from __future__ import annotations

import inspect
from typing import Any

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
