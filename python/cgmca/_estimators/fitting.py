"""The steps of a fit outside the estimator: samples into a summary, a summary into a model, and what is told of it."""

from __future__ import annotations

import contextlib
import copy
import functools
from typing import Any, Iterator, List, NamedTuple, Optional

import numpy as np
from sklearn.base import clone

from .. import _core
from .._base import check_array, warn_user
from .._data import device, tables
from .._data.domains import by_number, label
from .certificate import FitWarning


class Matched(NamedTuple):
    """Samples to fit, one array for each domain."""

    arrays: List[Any]
    weights: Any
    domain_names: Optional[List[str]]
    feature_names: List[Optional[List[str]]]
    one_dimensional: bool  # y was
    nuisance: bool = False  # whether the last array has its values


class _Pending:
    """A fit that is done when it is first asked for: after `partial_fit`, not after each of many."""

    def __init__(self, summary: _core.Summary, estimator: Any) -> None:
        self.summary = summary
        self.estimator = clone(estimator)  # as it is set now
        self._settings()  # bad ones are told at once
        self.model: Optional[_core.Model] = None

    def get(self) -> _core.Model:
        if self.model is None:
            self.model = fit_model(self.summary, **self._settings())
        return self.model

    def _settings(self) -> dict[str, Any]:
        return self.estimator._settings(matched_domains(self.summary))


def matched_domains(summary: Any) -> int:
    """How many domains a summary has beside a nuisance."""
    return len(summary.n_features) - bool(getattr(summary, "has_nuisance", False))


def fit_model(summary: _core.Summary, progress: Any = None, **settings: Any) -> _core.Model:
    warn_of_slow_kernels()
    try:
        model = _core.fit(summary, progress, **settings)
    except _core.InfeasibleError as error:
        if settings["covariances"][error.domain - 1].number:  # the number of a rule is n_components
            error.args = (f"{error}: n_components is {error.covariance_rank}, at most {error.data_rank} is possible",)
        raise
    for text in model.warnings():
        warn_user(text, FitWarning)
    return model


@functools.lru_cache(maxsize=None)
def warn_of_slow_kernels() -> None:
    """Warns, once and with the remedy, if OpenBLAS uses old kernels although the processor could do better.

    At the first fit, because a program that only imports cgmca has no use for it.
    """
    slow = _core.slow_kernels()
    if slow is not None:
        warn_user(f"OpenBLAS uses its old kernels '{slow[0]}', several times slower than this processor allows. Set the "
                  f"environment variable OPENBLAS_CORETYPE={slow[1]} before Python starts, or install cgmca from a "
                  "wheel, which brings a current OpenBLAS", RuntimeWarning)


@contextlib.contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """An estimator keeps all its attributes if a fit fails, so that they still belong to one fit."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def added(summary: _core.Summary, samples: Matched, all: bool = False) -> _core.Summary:
    """The summary with more samples, all of them or none. Sparse ones are made dense block by block.

    `all` says that no others will follow.
    """
    if isinstance(summary, _core.IncompleteSummary):
        longer = copy.copy(summary)
        longer.add(*(rows.toarray() if tables.is_sparse(rows) else rows for rows in samples.arrays),
                   sample_weight=samples.weights)
        return longer
    arrays, weights, m, before = samples.arrays, samples.weights, len(samples.arrays), summary.n_samples
    try:
        if not any(map(tables.is_sparse, arrays)) or len({rows.shape[0] for rows in arrays}) > 1:
            if all:
                summary._expect(arrays[0].shape[0])
            return summary.add(*arrays, sample_weight=weights)
        longer = copy.copy(summary)
        for part in tables.blocks(arrays[0].shape[0], sum(rows.shape[1] for rows in arrays)):
            longer.add(*(rows[part] for rows in arrays), sample_weight=None if weights is None else weights[part])
        return longer
    except ValueError:
        if weights is not None:  # what is wrong may be a weight; pairs of weight 0 may hold NaN
            raise
        advice = f"missing='drop' leaves out the {'pairs' if m == 2 else 'samples'} that hold NaN"
        for domain, (rows, names) in enumerate(zip(arrays, summary.feature_names), start=1):
            rows = rows.numpy() if device.is_there(rows) else rows
            message = tables.nan_message(rows, label(domain, m), domain, names, advice, before)
            if message:
                raise ValueError(message) from None
        raise


def need_y(estimator: Any, y: Any) -> None:
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None: "
                         "give the second domain's samples as y")


def as_columns(rows: Any, name: str, *, flat: bool = True, **options: Any) -> Any:
    """The numbers of a domain. If `flat`, a single feature may come one-dimensional, as scikit-learn's targets do."""
    tables.refuse_complex(rows, name)
    rows = check_array(tables.plain(rows), dtype="numeric", ensure_2d=not flat, input_name=name, **options)
    return rows.reshape(-1, 1) if rows.ndim == 1 else rows


def is_flat(y: Any) -> bool:
    return len(y.shape if hasattr(y, "shape") else np.asarray(y).shape) == 1


def names_of(rows: Any) -> Optional[List[str]]:
    """The names of a domain's features; a pandas Series has one."""
    name = getattr(rows, "name", None)
    return [name] if isinstance(name, str) and is_flat(rows) else tables.names_of(rows)


def extra_samples(extra: Any, summary: _core.Summary, missing: str) -> List[Any]:
    """The extra samples of each domain or None, in the order of its features."""
    found = {} if extra is None else dict(by_number(extra, summary.names))
    checked = []
    for number, names in enumerate(summary.feature_names, start=1):
        rows, name = found.get(number), f"extra[{number - 1}]"
        if rows is not None:
            rows = as_columns(tables.in_order(rows, names, name), name, finite=False, ensure_min_samples=0)
            rows = rows[~tables.rows_with_nan(rows)] if missing == "drop" else rows
        checked.append(rows)
    return checked
