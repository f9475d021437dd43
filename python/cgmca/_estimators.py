"""CGMCA and MCA with scikit-learn's manners."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Optional, Sequence, Tuple

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._certificate import Certificate, FitWarning, Regularized
from ._compat import check_array, validate_data
from ._settings import as_count, as_covariances, as_number, as_pair, as_ridge

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
    model = _core.fit(summary, **settings)
    for text in model.warnings():
        warnings.warn(text, FitWarning, stacklevel=3)
    return model


def _as_columns(Y: Any, **options: Any) -> Any:
    """The second domain: a single feature may come one-dimensional, as scikit-learn's targets do."""
    Y = check_array(Y, dtype="numeric", ensure_2d=False, input_name="Y", **options)
    return Y.reshape(-1, 1) if Y.ndim == 1 else Y


def _names_of(frame: Any) -> Optional[list[str]]:
    """The names of a data frame's columns, where all are text and no two are equal."""
    columns = list(getattr(frame, "columns", []))
    named = columns and all(isinstance(name, str) for name in columns) and len(set(columns)) == len(columns)
    return columns if named else None


def _keep_names(estimator: Any, names: Optional[Sequence[str]]) -> None:
    estimator.__dict__.pop("feature_names_in_", None)
    if names:
        estimator.feature_names_in_ = np.array(names, dtype=object)


class _Matching(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What CGMCA and MCA share."""

    n_components: Optional[int]
    max_rank: Any
    ridge: Any
    rank_tol: Optional[float]
    accumulate: str
    n_features_in_: int
    summary_: _core.Summary

    # Fitting

    def fit(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, y: Optional[ArrayLike] = None,
            extra_X: Optional[ArrayLike] = None, extra_Y: Optional[ArrayLike] = None) -> Self:
        """Find the two maps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_x)
            Samples of domain 1. C-contiguous float64 arrays are used where they lie; other types are converted
            block by block.
        Y : array-like of shape (n_samples, n_features_y) or (n_samples,)
            Samples of domain 2: row i belongs to row i of X.
        y : array-like
            Another name for Y, for programs that call it so.
        extra_X, extra_Y : array-like of shape (any number, n_features)
            Samples of a domain without partners. They better its mean and covariance.

        Returns
        -------
        self
        """
        names = _names_of(self._second(Y, y))
        X, Y = self._check_pairs(X, Y, y, reset=True, least=2)
        self.__dict__.pop("summary_", None)
        settings = self._settings(extra_X, extra_Y)
        summary = self._new_summary(X, Y, names).add(X, Y)
        self._model = _fit(summary, **settings)
        return self

    def partial_fit(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, y: Optional[ArrayLike] = None) -> Self:
        """Take in more pairs. The maps are computed when they are next needed.

        The pairs gathered so far are in ``summary_``, whose memory does not grow with their number. `fit` keeps no
        summary: after it `partial_fit` begins anew, with a warning.
        """
        first = "summary_" not in vars(self)
        if first and "_model" in vars(self):
            warnings.warn("fit keeps no summary of its pairs, so partial_fit begins anew; to go on with pairs, take all "
                          "of them by partial_fit", FitWarning, stacklevel=2)
        names = _names_of(self._second(Y, y))
        X, Y = self._check_pairs(X, Y, y, reset=first, least=1)
        if first:
            summary = self._new_summary(X, Y, names).add(X, Y)
            self.summary_ = summary
        else:
            self.summary_.add(X, Y)
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
        self._model = _fit(summary, **self._settings(extra_X, extra_Y))
        self.__dict__.pop("summary_", None)
        _keep_names(self, summary.feature_names[0])
        self.n_features_in_ = summary.n_features[0]
        return self

    def fit_transform(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, y: Optional[ArrayLike] = None) -> Any:
        """``fit(X, Y).transform(X)``: domain 1 in the common space, which is what a pipeline passes on.

        ``fit(X, Y).transform(X, Y)`` gives both domains.
        """
        return self.fit(X, Y, y=y).transform(X)

    # Using the maps

    def transform(self, X: ArrayLike, Y: Optional[ArrayLike] = None) -> Any:
        """Domain 1, and domain 2 if given, in the common space.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or a pair of them when Y is given
        """
        Zx = self.apply(X, domain=1)
        return Zx if Y is None else (Zx, self.apply(Y, domain=2))

    def apply(self, X: ArrayLike, domain: int = 1) -> Array:
        """Samples of one domain in the common space; ``apply(Y, domain=2)`` needs no X.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(200, 5))
        >>> Y = X[:, :3] + 0.5 * random.normal(size=(200, 3))
        >>> model = cgmca.MCA(n_components=2).fit(X, Y)
        >>> Z = model.apply(Y, domain=2)
        >>> np.allclose(np.cov(Z.T), np.eye(2))     # the prescribed covariance
        True
        """
        model = self._fitted()
        return model.apply(domain, self._check_samples(X, domain))

    def inverse_transform(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, method: str = "exact",
                          iterations: Optional[int] = None, tolerance: Optional[float] = None) -> Any:
        """Points of the common space as samples of domain 1, and those of Y as samples of domain 2.

        Parameters
        ----------
        X, Y : array-like of shape (n_samples, n_components)
        method : {'exact', 'mahalanobis', 'lmmse', 'lsqr'}
            'exact': of all samples that map to the point the one nearest to the mean; 'mahalanobis': the most likely
            one; 'lmmse': best linear estimate, for points that come from the *other* domain's map; 'lsqr': iterative
            and stopped early.
        iterations, tolerance : int, float
            For 'lsqr': at most so many steps (20), and when to stop before (1e-6).
        """
        model = self._fitted()

        def back(Z: ArrayLike, domain: int) -> Array:
            Z = check_array(Z, dtype="numeric", input_name="X" if domain == 1 else "Y")
            return model.invert(domain, Z, method, iterations, tolerance)

        return back(X, 1) if Y is None else (back(X, 1), back(Y, 2))

    def translate(self, X: ArrayLike, source: int = 2, target: int = 1, method: str = "lmmse", return_std: bool = False,
                  *, iterations: Optional[int] = None, tolerance: Optional[float] = None) -> Any:
        """Samples of one domain as samples of the other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features of the source)
        source, target : 1 or 2
        method : {'lmmse', 'exact', 'mahalanobis', 'lsqr'}
            'lmmse', the best linear estimate, is the one to use; it alone knows its error. The others invert the
            target's map, see `inverse_transform`.
        return_std : bool
            Return (samples, standard error of each feature) for 'lmmse'. The errors describe the training pairs, and
            are too small for new ones where these are not many more than the components.
        iterations, tolerance : int, float
            For 'lsqr': at most so many steps (20), and when to stop before (1e-6).
        """
        model = self._fitted()
        if return_std and method != "lmmse":
            raise ValueError(f"only 'lmmse' has standard errors, '{method}' has none")
        translated = model.translate(source, target, self._check_samples(X, source), method, iterations, tolerance)
        return (translated, model.standard_error(source, target)) if return_std else translated

    def score(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, y: Optional[ArrayLike] = None) -> float:
        """How much of domain 1's variance ``translate(Y)`` explains: 1 is all of it, 0 is what the mean would.

            1 - Σ‖x - x̂‖² / Σ‖x - mean of the training pairs‖²

        It can be compared between covariances, numbers of components, ranks and ridges; `GridSearchCV` uses it.
        """
        Y = self._second(Y, y)
        estimate = self.translate(Y, source=2, target=1)
        X = self._check_samples(X, 1)
        if len(X) != len(estimate):
            raise ValueError(f"domain 1 has {len(X)} samples and domain 2 has {len(estimate)}; "
                             "matched pairs need as many of each")
        spread = float(np.sum((X - self._fitted().mean(1)) ** 2))
        return 1 - float(np.sum((X - estimate) ** 2)) / spread if spread > 0 else 0.0

    def verify(self, X: ArrayLike, Y: ArrayLike) -> dict[str, Any]:
        """What the maps attain on given pairs, from these and the maps alone.

        Returns
        -------
        dict
            ``objective`` is the mean squared distance of the mapped pairs, ``covariance_trace`` its scale (that of
            pairs that have nothing to do with each other), ``constraint_residuals`` and ``mean_residuals`` how far
            covariance and mean of each map's output are from what was prescribed, ``samples`` the number of pairs.
        """
        model = self._fitted()
        return model.attained(self._check_samples(X, 1), self._check_samples(Y, 2))

    # What the fit found

    @property
    def A_(self) -> Tuple[Optional[Array], Optional[Array]]:
        """The linear parts of the two maps, (n_components, n_features) each: z = A (x - mean)."""
        return self._of_both("matrix")

    @property
    def means_(self) -> Tuple[Optional[Array], Optional[Array]]:
        """Means of the two domains."""
        return self._of_both("mean")

    @property
    def canonical_correlations_(self) -> Array:
        """Correlations of the pairs of canonical directions, descending."""
        return self.certificate_.singular_B

    @property
    def ranks_(self) -> Tuple[int, int]:
        """Ranks of the two domains' data."""
        return self.certificate_.ranks

    @property
    def certificate_(self) -> Certificate:
        """The proof that these are the maps asked for."""
        entries = self._fitted().certificate()
        one, two = entries.pop("constrained")
        return Certificate(constrained=(Regularized(*one), Regularized(*two)), **entries)

    @property
    def n_components_(self) -> int:
        """Dimensions of the common space."""
        return self._fitted().common_dimension

    @property
    def n_samples_(self) -> int:
        """Pairs that the maps were fitted to."""
        return self._fitted().samples

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    # Inner workings

    def _covariance_setting(self) -> Any:
        raise NotImplementedError

    def _settings(self, extra_X: Any = None, extra_Y: Any = None) -> dict[str, Any]:
        c1, c2 = as_covariances(self._covariance_setting(), self.n_components)
        return {"c1": c1, "c2": c2, "rank_tol": as_number("rank_tol", self.rank_tol),
                "max_rank": tuple(as_count("max_rank", rank) or 0 for rank in as_pair(self.max_rank)),
                "ridge": tuple(map(as_ridge, as_pair(self.ridge))),
                "extra_X": None if extra_X is None else check_array(extra_X, finite=False, dtype="numeric",
                                                                        ensure_min_samples=0),
                "extra_Y": None if extra_Y is None else _as_columns(extra_Y, finite=False, ensure_min_samples=0)}

    def _new_summary(self, X: Any, Y: Any, names_of_Y: Optional[list[str]]) -> _core.Summary:
        names_of_X = vars(self).get("feature_names_in_")
        return _core.Summary(X.shape[1], Y.shape[1], accumulate=self.accumulate,
                             feature_names=[None if names_of_X is None else list(names_of_X), names_of_Y])

    def _fitted(self) -> _core.Model:
        check_is_fitted(self)
        return self._model.get() if isinstance(self._model, _Pending) else self._model

    def _of_both(self, what: str) -> Tuple[Any, Any]:
        model = self._fitted()
        return tuple(getattr(model, what)(domain) if model.has(domain) else None for domain in (1, 2))  # type: ignore

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

    def _check_pairs(self, X: Any, Y: Any, y: Any, *, reset: bool, least: int) -> Tuple[Any, Any]:
        Y = self._second(Y, y)
        # NaN and infinity are found by the library, which names row and column.
        X = validate_data(self, X, reset=reset, dtype="numeric", finite=False, ensure_min_samples=least)
        return X, _as_columns(Y, finite=False)

    def _check_samples(self, X: Any, domain: int) -> Any:
        if domain == 1:
            return validate_data(self, X, reset=False, dtype="numeric")
        return _as_columns(X)

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"requires_y": True, "preserves_dtype": [np.float64]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


class CGMCA(_Matching):
    """Covariance-generalized matching component analysis.

    Finds affine maps ``A_[0] (x - means_[0])`` and ``A_[1] (y - means_[1])`` into one common space that bring matched
    pairs as close together as possible while each map's output has exactly the prescribed covariance.

    Parameters
    ----------
    covariance : {'identity', 'data1', 'data2', 'correlation'}, array of shape (k, k), or a pair of these
        Covariance of both maps' outputs, or of each one's. 'identity' is plain matching component analysis, whose
        directions are those of canonical correlation analysis; 'data1' and 'data2' are the best approximation of that
        domain's own covariance of rank ``n_components``; 'correlation' spreads each common direction as its pair is
        correlated.
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
                 ridge: Any = 0.0, rank_tol: Optional[float] = None, accumulate: str = "auto") -> None:
        self.covariance = covariance
        self.n_components = n_components
        self.max_rank = max_rank
        self.ridge = ridge
        self.rank_tol = rank_tol
        self.accumulate = accumulate

    def _covariance_setting(self) -> Any:
        return self.covariance


class MCA(_Matching):
    """Matching component analysis: `CGMCA` with the identity covariance.

    Its directions are those of canonical correlation analysis, scaled to unit variance.

    Parameters
    ----------
    n_components : int, optional
        Dimensions of the common space; default: as many as the data allow.
    max_rank, ridge, rank_tol, accumulate
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
                 rank_tol: Optional[float] = None, accumulate: str = "auto") -> None:
        self.n_components = n_components
        self.max_rank = max_rank
        self.ridge = ridge
        self.rank_tol = rank_tol
        self.accumulate = accumulate

    def _covariance_setting(self) -> Any:
        return "identity"
