"""What CGMCA and MCA have in common: fitting, checks of what is given, and scikit-learn's manners."""

from __future__ import annotations

import contextlib
import copy
import functools
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional, Sequence, Tuple

import numpy as np
from sklearn.base import (BaseEstimator, ClassNamePrefixFeaturesOutMixin, MultiOutputMixin, RegressorMixin,
                          TransformerMixin, clone)
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._base import as_choice, as_count, as_fraction, check_array, check_n_features, validate_data, warn_user
from .._data import device, tables
from .._data.domains import are_several, by_number, in_all_domains, label, names_of_new
from .certificate import FitWarning
from .kernels import warn_of_slow_kernels
from .settings import SearchProgress, as_covariances, as_progress, as_ridge, as_search, per_domain
from .using import Using

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    Array = NDArray[np.float64]


class _Pending:
    """A fit that is done when it is first asked for: after `partial_fit`, not after each of many."""

    def __init__(self, summary: _core.Summary, estimator: "Matching") -> None:
        self.summary = summary
        self.estimator = clone(estimator)  # as it is set now
        self._settings()  # bad ones are told at once
        self.model: Optional[_core.Model] = None

    def get(self) -> _core.Model:
        if self.model is None:
            self.model = _fit(self.summary, **self._settings())
        return self.model

    def _settings(self) -> dict[str, Any]:
        return self.estimator._settings(len(self.summary.n_features))


@functools.lru_cache(maxsize=None)
def tell_kernels() -> None:
    """Slow kernels of BLAS, once in a process: at the first fit, because whoever only imports cgmca has no use for it."""
    warn_of_slow_kernels()


def _fit(summary: _core.Summary, progress: Any = None, **settings: Any) -> _core.Model:
    tell_kernels()
    try:
        model = _core.fit(summary, progress, **settings)
    except _core.InfeasibleError as error:
        if ":" in settings["covariances"][error.domain - 1].description:  # as identity:9, whose number is n_components
            error.args = (f"{error}: n_components is {error.covariance_rank}, at most {error.data_rank} is possible",)
        raise
    for text in model.warnings():
        warn_user(text, FitWarning)
    return model


def as_columns(Y: Any, name: str = "Y", **options: Any) -> Any:
    """A domain but the first: a single feature may come one-dimensional, as scikit-learn's targets do."""
    tables.refuse_complex(Y, name)
    Y = check_array(tables.plain(Y), dtype="numeric", ensure_2d=False, input_name=name, **options)
    return Y.reshape(-1, 1) if Y.ndim == 1 else Y


def _names_of_later(Y: Any) -> Optional[list[str]]:
    """The names of the features of a domain but the first; a pandas Series has one."""
    name = getattr(Y, "name", None)
    return [name] if isinstance(name, str) and _is_flat(Y) else tables.names_of(Y)


def _is_flat(Y: Any) -> bool:
    return len(Y.shape if hasattr(Y, "shape") else np.asarray(Y).shape) == 1


def _extra_label(number: int, m: int) -> str:
    return ("extra_X", "extra_Y")[number - 1] if m == 2 else f"extra[{number - 1}]"


def keep_names(estimator: Any, names: Optional[Sequence[str]]) -> None:
    estimator.__dict__.pop("feature_names_in_", None)
    if names:
        estimator.feature_names_in_ = np.array(names, dtype=object)


@contextlib.contextmanager
def _as_it_was_on_failure(estimator: Any) -> Iterator[None]:
    """An estimator keeps all its attributes where a fit fails, so that they go on to belong to one fit."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class Matching(Using, ClassNamePrefixFeaturesOutMixin, TransformerMixin, MultiOutputMixin,  # type: ignore[misc]
                RegressorMixin, BaseEstimator):
    """What CGMCA and MCA share."""

    n_components: Optional[int]
    max_rank: Any
    ridge: Any
    rank_tol: Optional[float]
    accumulate: str
    device: str
    calibrate: Optional[int]
    graph: Any
    random_state: Any
    random_starts: int
    max_sweeps: int
    max_seconds: Optional[float]
    n_features_in_: int
    summary_: _core.Summary

    # Fitting

    def fit(self, X: Any, Y: Optional[ArrayLike] = None, *, y: Optional[ArrayLike] = None,
            sample_weight: Optional[ArrayLike] = None, extra_X: Optional[ArrayLike] = None,
            extra_Y: Optional[ArrayLike] = None, extra: Any = None, missing: str = "error",
            progress: Optional[Callable[[SearchProgress], object]] = None) -> Self:
        """Find the maps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_x), or a list or dict of arrays
            Samples of domain 1: an array, a data frame (pandas, polars), a pyarrow Table or a SciPy sparse matrix.
            C-contiguous float64 arrays are used where they lie; other types are converted block by block. The names of
            a table's columns are kept and checked at every later use.

            Or samples of any number of domains, without Y: a list with an array for each, or a dict of such arrays,
            whose keys become the domains' names. Row i of all of them belongs together.
        Y : array-like of shape (n_samples, n_features_y) or (n_samples,)
            Samples of domain 2: row i belongs to row i of X.
        y : array-like
            Another name for Y, for programs that call it so.
        sample_weight : array-like of shape (n_samples,), optional
            How often each pair counts, any number from 0 on: 2 is the same as the pair twice, 0 leaves it out. Weights
            are counts, not precisions: their sum takes the place of n, in error bars too.
        extra_X, extra_Y : array-like of shape (any number, n_features)
            Samples of a domain without partners. They improve its mean and covariance.
        extra : list or dict of such arrays
            The same for any number of domains, None for a domain without such samples.
        missing : {'error', 'drop'}
            NaN is an error, or leaves out the pairs (and extra samples) that hold it; a warning says how many.
        progress : callable, optional
            Called with a `SearchProgress` while the maps of more than two domains are searched for, at the first sweep
            of each ascent and some fifty times a second. What it raises ends the search. Two domains need no search.

        Returns
        -------
        self
        """
        as_choice("missing", missing, ("error", "drop"))
        told = as_progress(progress)
        with _as_it_was_on_failure(self):
            self._fit(X, Y, y, sample_weight, extra, extra_X, extra_Y, missing, told)
        return self

    def partial_fit(self, X: Any, Y: Optional[ArrayLike] = None, *, y: Optional[ArrayLike] = None,
                    sample_weight: Optional[ArrayLike] = None, missing: str = "error") -> Self:
        """Take in more matched samples. The maps are computed when they are next needed.

        The samples gathered so far are in ``summary_``, whose memory does not grow with their number. `fit` keeps no
        summary: after it `partial_fit` begins anew, with a warning. X, Y, ``sample_weight`` and ``missing`` are as
        in `fit`.
        """
        as_choice("missing", missing, ("error", "drop"))
        self._refuse_to_calibrate("partial_fit")
        first = "summary_" not in vars(self)
        if first and "_model" in vars(self):
            warn_user("fit keeps no summary of its pairs, so partial_fit begins anew; to go on with pairs, take all of "
                      "them by partial_fit", FitWarning)
        with _as_it_was_on_failure(self):
            domain_names, arrays = self._given(X, Y, y, self.summary_.names if not first else None)
            names, one_dimensional = self._names_of_later(arrays), _is_flat(arrays[-1]) and not are_several(X)
            arrays, weights = self._check_matched(arrays, sample_weight, reset=first, least=1, missing=missing)
            summary = self._new_summary(arrays, names, domain_names) if first else self.summary_
            pending = _Pending(summary, self)  # which refuses bad settings before the samples are taken in
            pending.summary = self.summary_ = self._add(summary, arrays, weights)
            if first:
                self._one_dimensional = one_dimensional
            self._model = pending
        return self

    def fit_summary(self, summary: _core.Summary, *, extra_X: Optional[ArrayLike] = None,
                    extra_Y: Optional[ArrayLike] = None, extra: Any = None,
                    progress: Optional[Callable[[SearchProgress], object]] = None) -> Self:
        """Find the maps for the samples of a `Summary`, from however many blocks, files or processes.

        ``extra`` and ``progress`` are as in `fit`.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> summary = cgmca.Summary(4, 3)
        >>> for _ in range(10):
        ...     X = random.normal(size=(50, 4))
        ...     summary = summary.add(X, X[:, :3] + random.normal(size=(50, 3)))
        >>> cgmca.MCA(n_components=2).fit_summary(summary).A_[0].shape
        (2, 4)
        """
        self._refuse_to_calibrate("fit_summary")
        settings = self._settings(len(summary.n_features), self._extra(extra, extra_X, extra_Y, summary))
        self._model = _fit(summary, as_progress(progress), **settings)
        self.__dict__.pop("summary_", None)
        self._one_dimensional = False
        keep_names(self, summary.feature_names[0])
        self.n_features_in_ = summary.n_features[0]
        return self

    def fit_transform(self, X: Any, Y: Any = None, *, y: Any = None, sample_weight: Any = None) -> Any:
        return self.fit(X, Y, y=y, sample_weight=sample_weight).transform(X)

    def transform(self, X: Any, Y: Any = None, *, missing: str = "error") -> Any:
        Zx = self._apply(X, 1, missing, strict=True)
        return Zx if Y is None else (Zx, self._apply(Y, 2, missing))

    # Inner workings

    def _fit(self, X: Any, Y: Any, y: Any, sample_weight: Any, extra: Any, extra_X: Any, extra_Y: Any, missing: str,
             told: Any) -> None:
        domain_names, arrays = self._given(X, Y, y)
        names, one_dimensional = self._names_of_later(arrays), _is_flat(arrays[-1]) and not are_several(X)
        arrays, weights = self._check_matched(arrays, sample_weight, reset=True, least=2, missing=missing)
        self.__dict__.pop("summary_", None)
        self._one_dimensional = one_dimensional
        summary = self._new_summary(arrays, names, domain_names)
        settings = self._settings(len(arrays), self._extra(extra, extra_X, extra_Y, summary), missing)
        summary = self._add(summary, arrays, weights, all=True)
        model = _fit(summary, told, **settings)
        folds = as_count("calibrate", self.calibrate)
        if folds is not None:
            dense = [rows.toarray() if tables.is_sparse(rows) else rows for rows in arrays]
            model = _core.calibrate(model, dense, folds, 1, weights, told, **settings)
        self._model = model

    def _covariance_setting(self) -> Any:
        raise NotImplementedError

    def _refuse_to_calibrate(self, method: str) -> None:
        if self.calibrate is not None:
            raise ValueError(f"calibrate deals the pairs to folds, which {method} does not keep; use fit")

    def _settings(self, m: int, extra: Optional[Sequence[Any]] = None, missing: str = "error") -> dict[str, Any]:
        """The settings of a fit of m domains; `extra` are those samples of each, or None."""
        options: dict[str, Any] = {"finite": False, "ensure_min_samples": 0}
        checked: list[Any] = []
        for number, rows in enumerate(extra or [None] * m, start=1):
            if rows is not None:
                rows = (check_array(tables.plain(rows), dtype="numeric", **options) if number == 1 else
                        as_columns(rows, _extra_label(number, m), **options))
                rows = rows[~tables.rows_with_nan(rows)] if missing == "drop" else rows
            checked.append(rows)
        return {"covariances": as_covariances(self._covariance_setting(), self.n_components, m),
                "rank_tol": as_fraction("rank_tol", self.rank_tol),
                "max_rank": [as_count("max_rank", rank) or 0 for rank in per_domain("max_rank", self.max_rank, m)],
                "ridge": [as_ridge(one) for one in per_domain("ridge", self.ridge, m)], "extra": checked,
                "graph": self.graph,
                **as_search(self.random_state, self.random_starts, self.max_sweeps, self.max_seconds)}

    def _extra(self, extra: Any, extra_X: Any, extra_Y: Any, summary: _core.Summary) -> list[Any]:
        """The extra samples of each domain, in the order of its features."""
        names = summary.names
        m = len(names)
        if extra_X is not None or extra_Y is not None:
            if extra is not None or m != 2:
                raise ValueError("extra_X and extra_Y are for two domains, without extra; of more give extra, a list "
                                 "with an array or None for each domain, or a dict")
            extra = [extra_X, extra_Y]
        found = {} if extra is None else dict(by_number(extra, names))
        return [tables.in_order(found.get(number), summary.feature_names[number - 1], _extra_label(number, m))
                for number in range(1, m + 1)]

    def _given(self, X: Any, Y: Any, y: Any, names: Any = None) -> Tuple[Optional[list[str]], list[Any]]:
        """The names, if a dict gives them, and the samples of all domains. A dict goes by the names there are."""
        if (Y is not None or y is not None) and are_several(X):
            raise ValueError("X holds samples of several domains, and Y is given too; put them all into X")
        new = None
        if not are_several(X):
            arrays = [X, self._second(Y, y)]
        elif len(X) < 2:
            raise ValueError(f"samples of {len(X)} domain; {type(self).__name__} matches those of at least 2")
        else:
            new = names_of_new(X) if names is None else None
            arrays = in_all_domains(X, names or new or [None] * len(X), "a fit")
        return new, [device.taken(rows, label(domain, len(arrays))) for domain, rows in enumerate(arrays, start=1)]

    def _names_of_later(self, arrays: Sequence[Any]) -> list[Optional[list[str]]]:
        return [_names_of_later(rows) for rows in arrays[1:]]

    def _new_summary(self, arrays: Sequence[Any], names: Sequence[Any],
                     domain_names: Optional[Sequence[str]]) -> _core.Summary:
        """An empty one; `names` are those of the features of all domains but the first."""
        first = vars(self).get("feature_names_in_")
        return _core.Summary(*(rows.shape[1] for rows in arrays), accumulate=self.accumulate, names=domain_names,
                             feature_names=[None if first is None else list(first), *names], device=self.device)

    def _add(self, summary: _core.Summary, arrays: Sequence[Any], weights: Any, all: bool = False) -> _core.Summary:
        """The summary with more samples, all of them or none. Sparse ones are made dense block by block.

        `all` says that no others will follow.
        """
        before = summary.n_samples
        try:
            if not any(map(tables.is_sparse, arrays)) or len({rows.shape[0] for rows in arrays}) > 1:
                return (summary._add_all if all else summary.add)(*arrays, sample_weight=weights)
            longer = copy.copy(summary)
            for part in tables.blocks(arrays[0].shape[0], sum(rows.shape[1] for rows in arrays)):
                longer.add(*(rows[part] for rows in arrays), sample_weight=None if weights is None else weights[part])
            return longer
        except ValueError:
            if weights is not None:  # what is wrong may be a weight; pairs of weight 0 may hold NaN
                raise
            m = len(arrays)
            advice = f"missing='drop' leaves out the {'pairs' if m == 2 else 'samples'} that hold NaN"
            for domain, (data, names) in enumerate(zip(arrays, summary.feature_names), start=1):
                data = data.numpy() if device.is_there(data) else data
                message = tables.nan_message(data, label(domain, m), domain, names, advice, before)
                if message:
                    raise ValueError(message) from None
            raise

    def _fitted(self) -> _core.Model:
        check_is_fitted(self)
        return self._model.get() if isinstance(self._model, _Pending) else self._model

    def _names(self, domain: int) -> Optional[Sequence[str]]:
        """Names of a domain's features in the fit, None where there are none."""
        check_is_fitted(self)
        if isinstance(self._model, _Pending):  # its maps may not be needed yet
            return self._model.summary.feature_names[domain - 1]
        known = self._model.has(domain)
        return (self._model.feature_names(domain) or None) if known else None

    def _domain_names(self) -> list[Optional[str]]:
        check_is_fitted(self)
        if isinstance(self._model, _Pending):
            return list(self._model.summary.names)
        model = self._model
        return [model.name(domain) or None if model.has(domain) else None for domain in range(1, model.count + 1)]

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def _second(self, Y: Any, y: Any) -> Any:
        if Y is not None and y is not None:
            raise TypeError("Y and y are two names of the second domain; give one")
        Y = y if Y is None else Y
        if Y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None: "
                             "give the second domain's samples as Y")
        return Y

    def _check_matched(self, arrays: Sequence[Any], sample_weight: Any, *, reset: bool, least: int,
                       missing: str) -> Tuple[list[Any], Any]:
        # NaN and infinity are found by the library, which names row and column.
        m = len(arrays)
        if not reset and m != len(self._domain_names()):
            raise ValueError(f"samples of {m} domains; those before were of {len(self._domain_names())}")
        tables.check_rows([*arrays, sample_weight], [label(domain, m) for domain in range(1, m + 1)] + ["sample_weight"])
        self._check_there(arrays, missing)
        checked = [arrays[0] if device.is_there(arrays[0]) else
                   self._check_first(arrays[0], label(1, m), reset=reset, finite=False, ensure_min_samples=least)]
        if reset and device.is_there(arrays[0]):
            keep_names(self, None)
            self.n_features_in_ = arrays[0].shape[1]
        for domain, rows in enumerate(arrays[1:], start=2):
            name = label(domain, m)
            if not device.is_there(rows):
                rows = rows if reset else tables.in_order(rows, self._names(domain), name)
                rows = as_columns(rows, name, finite=False, accept_sparse="csr")
            checked.append(rows)
        weights = tables.weights_of(sample_weight, checked[0].shape[0], whole=least > 1)
        if missing == "drop" and len({rows.shape[0] for rows in checked}) == 1:
            bad = np.any([tables.rows_with_nan(rows) for rows in checked], axis=0)
            if bad.any():
                warn_user(f"{bad.sum()} of {len(bad)} {'pairs' if m == 2 else 'samples'} were left out because they "
                          f"hold NaN, the first of them at row {bad.argmax()} (counted from 0)")
                checked = [rows[~bad] for rows in checked]
                weights = None if weights is None else weights[~bad]
        return checked, weights

    def _check_there(self, arrays: Sequence[Any], missing: str) -> None:
        """Refuses what cannot be done with arrays on a GPU; the library checks their numbers there."""
        there = [domain for domain, rows in enumerate(arrays, start=1) if device.is_there(rows)]
        if not there:
            return
        name = label(there[0], len(arrays))
        if self.device == "cpu":
            raise ValueError(f"{name} lies on a GPU, and device is 'cpu': set device='cuda', or copy it to host memory")
        if missing != "error":
            raise ValueError(f"{name} lies on a GPU; missing='{missing}' needs arrays in host memory")
        if self.calibrate is not None:
            raise ValueError(f"{name} lies on a GPU; calibrate needs arrays in host memory")

    def _check_first(self, X: Any, name: str, *, reset: bool, strict: bool = True, **options: Any) -> Any:
        """Samples of domain 1 as scikit-learn checks them; with names of any table, not pandas' alone."""
        tables.refuse_complex(X, name)
        names = tables.names_of(X)
        if not reset and not (strict and tables.is_pandas(X)):  # of pandas scikit-learn itself checks the order
            X = tables.in_order(X, vars(self).get("feature_names_in_"), name, strict=strict)
        options = {"dtype": "numeric", "accept_sparse": "csr", **options}
        if tables.is_pandas(X):
            numbers = tables.plain(X)  # or a ValueError that names the columns without any
            X = X if numbers is X else tables.like(X, numbers, list(X.columns))
        elif names is None:
            X = tables.plain(X)
        if names is None or tables.is_pandas(X):
            return validate_data(self, X, reset=reset, **options)
        X = check_array(tables.plain(X), input_name="X", estimator=self, **options)
        if reset:
            keep_names(self, names)
            self.n_features_in_ = X.shape[1]
        check_n_features(self, X)
        return X

    def _check_samples(self, X: Any, domain: int, *, strict: bool = False) -> Any:
        check_is_fitted(self)
        name = label(domain, len(self._domain_names()))
        X = device.taken(X, name)
        if device.is_there(X):
            raise TypeError(f"{name} lies on a GPU; here arrays in host memory are needed")
        if domain == 1:
            return self._check_first(X, name, reset=False, strict=strict, finite=False)
        return as_columns(tables.in_order(X, self._names(domain), name), name, finite=False, accept_sparse="csr")

    def _finite(self, X: Any, domain: int) -> Any:
        """The samples of a domain as an array without NaN and infinity."""
        X = self._check_samples(X, domain)
        X = X.toarray() if tables.is_sparse(X) else X
        return self._map_checked(X, domain, "error", "leave such samples out", lambda rows: rows)

    def _map(self, X: Any, domain: int, missing: str, function: Any, *, strict: bool = False) -> Any:
        """function(rows) for the samples of a domain, with NaN as `missing` says."""
        as_choice("missing", missing, ("error", "pass"))
        check_is_fitted(self)
        there = device.taken(X, label(domain, len(self._domain_names())))
        if device.is_there(there):
            return device.like(X, self._map_there(there, domain, missing, function))
        X = self._check_samples(there, domain, strict=strict)
        return self._map_checked(X, domain, missing, "missing='pass' makes rows of NaN of them", function)

    def _map_there(self, X: Any, domain: int, missing: str, function: Any) -> Any:
        """The same on a GPU, where rows with NaN become rows of NaN by themselves."""
        if not X._all_finite():
            self._map_checked(X.numpy(), domain, missing, "missing='pass' makes rows of NaN of them", lambda rows: rows)
        return function(X)

    def _map_checked(self, X: Any, domain: int, missing: str, advice: str, function: Any) -> Any:
        def message(rows: Any, before: int) -> Optional[str]:
            name = label(domain, len(self._domain_names()))
            return tables.nan_message(rows, name, domain, self._names(domain), advice, before)

        return tables.map_rows(X, function, missing, message)

    def _apply(self, X: Any, domain: int, missing: str, *, strict: bool = False) -> Any:
        model = self._fitted()
        return self._map(X, domain, missing, lambda rows: model.apply(domain, rows), strict=strict)

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"requires_y": True, "preserves_dtype": [np.float64]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
