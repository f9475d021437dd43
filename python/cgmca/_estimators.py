"""CGMCA and MCA with scikit-learn's manners."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Optional, Sequence, Tuple

import numpy as np
from sklearn.base import (BaseEstimator, ClassNamePrefixFeaturesOutMixin, MultiOutputMixin, RegressorMixin,
                          TransformerMixin, clone)
from sklearn.utils.validation import check_is_fitted

from . import _core, _tables
from ._certificate import FitWarning
from ._compat import check_array, check_n_features, validate_data, warn_user
from ._settings import as_choice, as_count, as_covariances, as_fraction, as_pair, as_ridge
from ._using import Using

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    Array = NDArray[np.float64]


class _Pending:
    """A fit that is done when it is first asked for: after `partial_fit`, not after each of many."""

    def __init__(self, summary: _core.Summary, estimator: "_Matching") -> None:
        self.summary = summary
        self.estimator = clone(estimator)  # as it is set now
        self.estimator._settings()  # bad ones are told at once
        self.model: Optional[_core.Model] = None

    def get(self) -> _core.Model:
        if self.model is None:
            self.model = _fit(self.summary, **self.estimator._settings())
        return self.model


def _fit(summary: _core.Summary, **settings: Any) -> _core.Model:
    try:
        model = _core.fit(summary, **settings)
    except _core.InfeasibleError as error:
        if ":" in settings[f"c{error.domain}"].description:  # as identity:9, whose number is n_components
            error.args = (f"{error}: n_components is {error.covariance_rank}, at most {error.data_rank} is possible",)
        raise
    for text in model.warnings():
        warn_user(text, FitWarning)
    return model


def _as_columns(Y: Any, **options: Any) -> Any:
    """The second domain: a single feature may come one-dimensional, as scikit-learn's targets do."""
    _tables.refuse_complex(Y, "Y")
    Y = check_array(_tables.plain(Y), dtype="numeric", ensure_2d=False, input_name="Y", **options)
    return Y.reshape(-1, 1) if Y.ndim == 1 else Y


def _names_of_second(Y: Any) -> Optional[list[str]]:
    """The names of Y's features; a pandas Series has one."""
    name = getattr(Y, "name", None)
    return [name] if isinstance(name, str) and _is_flat(Y) else _tables.names_of(Y)


def _is_flat(Y: Any) -> bool:
    return len(Y.shape if hasattr(Y, "shape") else np.asarray(Y).shape) == 1


def _keep_names(estimator: Any, names: Optional[Sequence[str]]) -> None:
    estimator.__dict__.pop("feature_names_in_", None)
    if names:
        estimator.feature_names_in_ = np.array(names, dtype=object)


class _Matching(Using, ClassNamePrefixFeaturesOutMixin, TransformerMixin, MultiOutputMixin,  # type: ignore[misc]
                RegressorMixin, BaseEstimator):
    """What CGMCA and MCA share."""

    n_components: Optional[int]
    max_rank: Any
    ridge: Any
    rank_tol: Optional[float]
    accumulate: str
    calibrate: Optional[int]
    n_features_in_: int
    summary_: _core.Summary

    # Fitting

    def fit(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, y: Optional[ArrayLike] = None,
            sample_weight: Optional[ArrayLike] = None, extra_X: Optional[ArrayLike] = None,
            extra_Y: Optional[ArrayLike] = None, missing: str = "error") -> Self:
        """Find the two maps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_x)
            Samples of domain 1: an array, a data frame (pandas, polars), a pyarrow Table or a SciPy sparse matrix.
            C-contiguous float64 arrays are used where they lie; other types are converted block by block. The names of
            a table's columns are kept and checked at every later use.
        Y : array-like of shape (n_samples, n_features_y) or (n_samples,)
            Samples of domain 2: row i belongs to row i of X.
        y : array-like
            Another name for Y, for programs that call it so.
        sample_weight : array-like of shape (n_samples,), optional
            How often each pair counts, any number from 0 on: 2 is the same as the pair twice, 0 leaves it out. Weights
            are counts, not precisions: their sum takes the place of n, in error bars too.
        extra_X, extra_Y : array-like of shape (any number, n_features)
            Samples of a domain without partners. They better its mean and covariance.
        missing : {'error', 'drop'}
            NaN is an error, or leaves out the pairs (and extra samples) that hold it; a warning says how many.

        Returns
        -------
        self
        """
        as_choice("missing", missing, ("error", "drop"))
        Y = self._second(Y, y)
        names, one_dimensional = _names_of_second(Y), _is_flat(Y)
        X, Y, weights = self._check_pairs(X, Y, sample_weight, reset=True, least=2, missing=missing)
        self.__dict__.pop("summary_", None)
        self._one_dimensional = one_dimensional
        names_of_X = vars(self).get("feature_names_in_")
        settings = self._settings(_tables.in_order(extra_X, names_of_X, "extra_X"),
                                  _tables.in_order(extra_Y, names, "extra_Y"), missing)
        summary = self._add(self._new_summary(X, Y, names), X, Y, weights)
        model = _fit(summary, **settings)
        folds = as_count("calibrate", self.calibrate)
        if folds is not None:
            dense = [rows.toarray() if _tables.is_sparse(rows) else rows for rows in (X, Y)]
            model = _core.calibrate(model, *dense, folds, 1, **settings, sample_weight=weights)
        self._model = model
        return self

    def partial_fit(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, y: Optional[ArrayLike] = None,
                    sample_weight: Optional[ArrayLike] = None, missing: str = "error") -> Self:
        """Take in more pairs. The maps are computed when they are next needed.

        The pairs gathered so far are in ``summary_``, whose memory does not grow with their number. `fit` keeps no
        summary: after it `partial_fit` begins anew, with a warning. ``sample_weight`` and ``missing`` are as
        in `fit`.
        """
        as_choice("missing", missing, ("error", "drop"))
        self._refuse_to_calibrate("partial_fit")
        first = "summary_" not in vars(self)
        if first and "_model" in vars(self):
            warn_user("fit keeps no summary of its pairs, so partial_fit begins anew; to go on with pairs, take all of "
                      "them by partial_fit", FitWarning)
        Y = self._second(Y, y)
        names, one_dimensional = _names_of_second(Y), _is_flat(Y)
        X, Y, weights = self._check_pairs(X, Y, sample_weight, reset=first, least=1, missing=missing)
        if first:
            self.summary_ = self._add(self._new_summary(X, Y, names), X, Y, weights)
            self._one_dimensional = one_dimensional
        else:
            self.summary_ = self._add(self.summary_, X, Y, weights)
        self._model = _Pending(self.summary_, self)
        return self

    def fit_summary(self, summary: _core.Summary, *, extra_X: Optional[ArrayLike] = None,
                    extra_Y: Optional[ArrayLike] = None) -> Self:
        """Find the two maps for the pairs of a `Summary`, from however many blocks, files or processes.

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
        self._model = _fit(summary, **self._settings(extra_X, extra_Y))
        self.__dict__.pop("summary_", None)
        self._one_dimensional = False
        _keep_names(self, summary.feature_names[0])
        self.n_features_in_ = summary.n_features[0]
        return self

    def fit_transform(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, y: Optional[ArrayLike] = None,
                      sample_weight: Optional[ArrayLike] = None) -> Any:
        """``fit(X, Y).transform(X)``: domain 1 in the common space, one array.

        That is what a `Pipeline` passes on to its next step. scikit-learn's CCA returns a pair here, with which that
        step can do nothing. ``fit(X, Y).transform(X, Y)`` gives both domains.
        """
        return self.fit(X, Y, y=y, sample_weight=sample_weight).transform(X)

    # Using the maps

    def transform(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, missing: str = "error") -> Any:
        """Domain 1, and domain 2 if given, in the common space.

        Parameters
        ----------
        X, Y : array-like
            A table's columns must have the names they had in `fit`. Those of X must be in the same order too, as in all
            of scikit-learn; those of Y are put in order, with a warning.
        missing : {'error', 'pass'}
            NaN is an error, or makes rows of NaN.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or a pair of them when Y is given
            ``set_output(transform="pandas")`` makes the first a data frame.
        """
        Zx = self._apply(X, 1, missing, strict=True)
        return Zx if Y is None else (Zx, self._apply(Y, 2, missing))

    # Inner workings

    def _covariance_setting(self) -> Any:
        raise NotImplementedError

    def _refuse_to_calibrate(self, method: str) -> None:
        if self.calibrate is not None:
            raise ValueError(f"calibrate deals the pairs to folds, which {method} does not keep; use fit")

    def _settings(self, extra_X: Any = None, extra_Y: Any = None, missing: str = "error") -> dict[str, Any]:
        c1, c2 = as_covariances(self._covariance_setting(), self.n_components)
        options: dict[str, Any] = {"finite": False, "ensure_min_samples": 0}
        extra = [None if extra_X is None else check_array(_tables.plain(extra_X), dtype="numeric", **options),
                 None if extra_Y is None else _as_columns(extra_Y, **options)]
        if missing == "drop":
            extra = [None if rows is None else rows[~_tables.rows_with_nan(rows)] for rows in extra]
        return {"c1": c1, "c2": c2, "rank_tol": as_fraction("rank_tol", self.rank_tol),
                "max_rank": tuple(as_count("max_rank", rank) or 0 for rank in as_pair(self.max_rank)),
                "ridge": tuple(map(as_ridge, as_pair(self.ridge))), "extra_X": extra[0], "extra_Y": extra[1]}

    def _new_summary(self, X: Any, Y: Any, names_of_Y: Optional[list[str]]) -> _core.Summary:
        names_of_X = vars(self).get("feature_names_in_")
        return _core.Summary(X.shape[1], Y.shape[1], accumulate=self.accumulate,
                             feature_names=[None if names_of_X is None else list(names_of_X), names_of_Y])

    def _add(self, summary: _core.Summary, X: Any, Y: Any, weights: Any) -> _core.Summary:
        """The summary with more pairs, all of them or none. Sparse ones are made dense block by block."""
        before = summary.n_samples
        try:
            if not (_tables.is_sparse(X) or _tables.is_sparse(Y)) or X.shape[0] != Y.shape[0]:
                return summary.add(X, Y, sample_weight=weights)
            longer = copy.copy(summary)
            for rows in _tables.blocks(X.shape[0], X.shape[1] + Y.shape[1]):
                longer.add(X[rows], Y[rows], sample_weight=None if weights is None else weights[rows])
            return longer
        except ValueError:
            if weights is not None:  # what is wrong may be a weight; pairs of weight 0 may hold NaN
                raise
            advice = "missing='drop' leaves out the pairs that hold NaN"
            for label, domain, data in (("X", 1, X), ("Y", 2, Y)):
                message = _tables.nan_message(data, label, domain, summary.feature_names[domain - 1], advice, before)
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
        known = domain in (1, 2) and self._model.has(domain)
        return (self._model.feature_names(domain) or None) if known else None

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

    def _check_pairs(self, X: Any, Y: Any, sample_weight: Any, *, reset: bool, least: int,
                     missing: str) -> Tuple[Any, Any, Any]:
        # NaN and infinity are found by the library, which names row and column.
        X = self._check_first(X, reset=reset, finite=False, ensure_min_samples=least)
        if not reset:
            Y = _tables.in_order(Y, self._names(2), "Y")
        Y = _as_columns(Y, finite=False, accept_sparse="csr")
        weights = _tables.weights_of(sample_weight, X.shape[0], whole=least > 1)
        if missing == "drop" and X.shape[0] == Y.shape[0]:
            bad = _tables.rows_with_nan(X) | _tables.rows_with_nan(Y)
            if bad.any():
                warn_user(f"{bad.sum()} of {len(bad)} pairs were left out because they hold NaN, the first of them at "
                          f"row {bad.argmax()} (counted from 0)")
                X, Y, weights = X[~bad], Y[~bad], None if weights is None else weights[~bad]
        return X, Y, weights

    def _check_first(self, X: Any, *, reset: bool, strict: bool = True, **options: Any) -> Any:
        """Samples of domain 1 as scikit-learn checks them; with names of any table, not pandas' alone."""
        _tables.refuse_complex(X, "X")
        names = _tables.names_of(X)
        if not reset and not (strict and _tables.is_pandas(X)):  # of pandas scikit-learn itself checks the order
            X = _tables.in_order(X, vars(self).get("feature_names_in_"), "X", strict=strict)
        options = {"dtype": "numeric", "accept_sparse": "csr", **options}
        if names is None or _tables.is_pandas(X):
            return validate_data(self, X, reset=reset, **options)
        X = check_array(_tables.plain(X), input_name="X", estimator=self, **options)
        if reset:
            _keep_names(self, names)
            self.n_features_in_ = X.shape[1]
        check_n_features(self, X)
        return X

    def _check_samples(self, X: Any, domain: int, *, strict: bool = False) -> Any:
        check_is_fitted(self)
        if domain == 1:
            return self._check_first(X, reset=False, strict=strict, finite=False)
        return _as_columns(_tables.in_order(X, self._names(2), "Y"), finite=False, accept_sparse="csr")

    def _finite(self, X: Any, domain: int) -> Any:
        """The samples of a domain as an array without NaN and infinity."""
        X = self._check_samples(X, domain)
        X = X.toarray() if _tables.is_sparse(X) else X
        return self._map_checked(X, domain, "error", "leave such samples out", lambda rows: rows)

    def _map(self, X: Any, domain: int, missing: str, function: Any, *, strict: bool = False) -> Any:
        """function(rows) for the samples of a domain, with NaN as `missing` says."""
        as_choice("missing", missing, ("error", "pass"))
        X = self._check_samples(X, domain, strict=strict)
        return self._map_checked(X, domain, missing, "missing='pass' makes rows of NaN of them", function)

    def _map_checked(self, X: Any, domain: int, missing: str, advice: str, function: Any) -> Any:
        def message(rows: Any, before: int) -> Optional[str]:
            return _tables.nan_message(rows, "X" if domain == 1 else "Y", domain, self._names(domain), advice, before)

        return _tables.map_rows(X, function, missing, message)

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


class CGMCA(_Matching):
    """Covariance-generalized matching component analysis.

    Finds affine maps ``A_[0] (x - means_[0])`` and ``A_[1] (y - means_[1])`` into one common space that bring matched
    pairs as close together as possible while each map's output has exactly the prescribed covariance.

    Parameters
    ----------
    covariance : {'identity', 'data1', 'data2', 'correlation', 'likelihood1', 'likelihood2'}, array of shape (k, k), \
`Covariance`, or a pair of these
        Covariance of both maps' outputs, or of each one's. 'identity' is plain matching component analysis, whose
        directions are those of canonical correlation analysis; 'data1' and 'data2' are the best approximation of that
        domain's own covariance of rank ``n_components``; 'correlation' spreads each common direction as its pair is
        correlated; 'likelihood2' makes the nearest sample of domain 1 the likeliest partner of one of domain 2 (and
        needs a ridge, or more pairs than features), 'likelihood1' likewise; `Covariance` gives one by a factor or by
        standard deviations.
    n_components : int, optional
        Dimensions of the common space for 'identity' (default: as many as the data allow) and 'correlation', rank for
        'data1' and 'data2'. An array has its own.
    max_rank : int or pair of int, optional
        Use only so many leading principal directions of both domains, or of each. For few pairs of many features.
    ridge : float, 'auto', or a pair of these
        Whiten Θ + ridge · tr(Θ)/d · I instead of the sample covariance Θ of a domain; 'auto' shrinks it as
        scikit-learn's OAS does. The constraint then holds for the regularized covariance.
    rank_tol : float, optional
        Singular values of a domain below ``rank_tol`` times its largest count as zero; default max(d, n)·eps.
    accumulate : {'auto', 'qr', 'gram'}
        How pairs are summarized, see `Summary`.
    calibrate : int, optional
        Measure the errors of translations on so many parts of the pairs, each left out in turn; 10 serves.

    Attributes
    ----------
    A_, means_ : pairs of arrays
        The maps: z = A (x - mean).
    canonical_correlations_ : array
    certificate_ : Certificate
        How far the maps are from the prescribed covariances and from the best possible: rounding errors.
    ranks_ : (int, int)
    n_components_, n_samples_, n_features_in_ : int
    feature_names_in_ : array of str
        Of domain 1, where X had names.
    feature_names_y_ : array of str, or None
        Of domain 2, where Y had names.
    x_rotations_, y_rotations_, x_weights_, y_weights_, x_loadings_, y_loadings_ : arrays of shape (n_features, c)
        What scikit-learn's CCA calls so: canonical directions, the same of length 1, and what the features share with
        them.
    coef_, intercept_ : arrays
        ``predict(X)`` is ``X @ coef_.T + intercept_``.
    summary_ : Summary
        The pairs taken in by `partial_fit`.

    Notes
    -----
    The covariance shapes the common space: distances, neighbours, fused features. It does not change the translation
    from one domain to the other as long as both covariances are the same; for that use the default 'lmmse'.

    Other Python threads run while the library works. Ctrl-C stops it between blocks of samples, and after, not during,
    the factorization that a fit ends with.

    Examples
    --------
    >>> import numpy as np, cgmca
    >>> random = np.random.default_rng(0)
    >>> clean = random.normal(size=(500, 4)) @ random.normal(size=(4, 12))
    >>> noisy = clean + random.normal(size=clean.shape)
    >>> model = cgmca.CGMCA(covariance="data1", n_components=4).fit(clean, noisy)
    >>> denoised = model.translate(noisy)
    >>> bool(np.linalg.norm(denoised - clean) < 0.6 * np.linalg.norm(noisy - clean))
    True
    """

    def __init__(self, covariance: Any = "identity", n_components: Optional[int] = None, *, max_rank: Any = None,
                 ridge: Any = 0.0, rank_tol: Optional[float] = None, accumulate: str = "auto",
                 calibrate: Optional[int] = None) -> None:
        self.covariance = covariance
        self.n_components = n_components
        self.max_rank = max_rank
        self.ridge = ridge
        self.rank_tol = rank_tol
        self.accumulate = accumulate
        self.calibrate = calibrate

    def _covariance_setting(self) -> Any:
        return self.covariance


class MCA(_Matching):
    """Matching component analysis: `CGMCA` with the identity covariance.

    Its directions are those of canonical correlation analysis, scaled to unit variance.

    Parameters
    ----------
    n_components : int, optional
        Dimensions of the common space; default: as many as the data allow.
    max_rank, ridge, rank_tol, accumulate, calibrate
        As for `CGMCA`, which has the attributes and methods too.

    Examples
    --------
    >>> import numpy as np, cgmca
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(1000, 3))
    >>> Y = np.c_[X[:, 0] + 0.5 * random.normal(size=1000), random.normal(size=1000)]
    >>> cgmca.MCA().fit(X, Y).canonical_correlations_.round(1)
    array([0.9, 0. ])
    """

    def __init__(self, n_components: Optional[int] = None, *, max_rank: Any = None, ridge: Any = 0.0,
                 rank_tol: Optional[float] = None, accumulate: str = "auto", calibrate: Optional[int] = None) -> None:
        self.n_components = n_components
        self.max_rank = max_rank
        self.ridge = ridge
        self.rank_tol = rank_tol
        self.accumulate = accumulate
        self.calibrate = calibrate

    def _covariance_setting(self) -> Any:
        return "identity"
