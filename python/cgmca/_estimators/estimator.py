"""CGMCA and MCA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from .._data.domains import are_several, as_given, by_number
from .matching import Matching

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class _Several:
    """`transform` and `fit_transform` for any number of domains.

    scikit-learn's set_output wraps the methods of these names that `Matching` has, and its wrapper understands one
    array or a pair, but no list and no dict. So these two stand before them.
    """

    def transform(self, X: Any, Y: Optional[ArrayLike] = None, *, missing: str = "error") -> Any:
        """Domain 1, and domain 2 if given, in the common space; or each domain of a list or dict.

        Parameters
        ----------
        X, Y : array-like
            A table's columns must have the names they had in `fit`. Those of X must be in the same order too, as in all
            of scikit-learn; those of Y are put in order, with a warning. X may also be a list with an array for each
            domain, None for one that is absent, or a dict by the domains' names.
        missing : {'error', 'pass'}
            NaN is an error, or makes rows of NaN.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or a pair of them when Y is given
            ``set_output(transform="pandas")`` makes the first a data frame. For a list a list of arrays, for a dict a
            dict of arrays.
        """
        if Y is not None or not are_several(X):
            return super().transform(X, Y, missing=missing)  # type: ignore[misc]
        names = self._domain_names()  # type: ignore[attr-defined]
        found = {number: self._apply(rows, number, missing)  # type: ignore[attr-defined]
                 for number, rows in by_number(X, names)}
        return as_given(X, found, names)

    def fit_transform(self, X: Any, Y: Optional[ArrayLike] = None, *, y: Optional[ArrayLike] = None,
                      sample_weight: Optional[ArrayLike] = None) -> Any:
        """``fit(X, Y).transform(X)``: domain 1 in the common space, one array. For a list or dict, all domains.

        One array is what a `Pipeline` passes on to its next step. scikit-learn's CCA returns a pair here, with which
        that step can do nothing. ``fit(X, Y).transform(X, Y)`` gives both domains.
        """
        if Y is None and y is None and are_several(X):
            fitted = self.fit(X, sample_weight=sample_weight)  # type: ignore[attr-defined]
            return fitted.transform(X)
        return super().fit_transform(X, Y, y=y, sample_weight=sample_weight)  # type: ignore[misc]


class CGMCA(_Several, Matching):
    """Covariance-generalized matching component analysis.

    Finds affine maps ``A_[0] (x - means_[0])`` and ``A_[1] (y - means_[1])`` into one common space that bring matched
    pairs as close together as possible while each map's output has exactly the prescribed covariance. Two domains are
    given as ``fit(X, Y)``, any number as ``fit([X1, X2, X3])`` or as a dict.

    Parameters
    ----------
    covariance : {'identity', 'data1', 'data2', 'correlation', 'likelihood1', 'likelihood2'}, array of shape (k, k), \
`Covariance`, or a pair or list of these, one for each domain
        Covariance of all maps' outputs, or of each one's. 'identity' is plain matching component analysis, whose
        directions are those of canonical correlation analysis; 'data1', 'data2', … are the best approximation of
        that domain's own covariance of rank ``n_components``; 'correlation' gives each common direction its
        correlation as standard deviation; 'likelihood2' makes the nearest sample of domain 1 the likeliest partner of
        one of domain 2 (and needs a ridge, or more pairs than features), 'likelihood1' likewise, for two domains only;
        `Covariance` gives one by a factor or by standard deviations.
    n_components : int, optional
        Dimensions of the common space for 'identity' (default: as many as the data allow) and 'correlation', rank for
        'data1', 'data2', …. An array has its own.
    max_rank : int or list of int, optional
        Use only so many leading principal directions of all domains, or of each. For few pairs of many features.
    ridge : float, 'auto', or a list of these, one for each domain
        Whiten Θ + ridge · tr(Θ)/d · I instead of the sample covariance Θ of a domain; 'auto' shrinks it as
        scikit-learn's OAS does. The constraint then holds for the regularized covariance.
    rank_tol : float, optional
        Singular values of a domain below ``rank_tol`` times its largest count as zero; default max(d, n)·eps.
    accumulate : {'auto', 'qr', 'gram'}
        How pairs are summarized, see `Summary`.
    device : {'cpu', 'cuda', 'auto'}
        Where they are summarized and the fit is computed, see `Summary`, which also takes arrays that lie on a GPU.
    calibrate : int, optional
        Measure the errors of translations on so many parts of the pairs, each left out in turn; 10 is a good choice.
    graph : {'full', 'path', 'star:D'} or array of shape (m, m)
        Which domains are compared with which: every pair, 1-2, 2-3, …, domain D with every other; or the weights of all
        pairs, symmetric and none negative.
    random_state : int, RandomState or None
        What the random starts of the search for more than two domains are drawn from. The same number gives the same
        maps. Two domains have a closed form and need no search.
    random_starts, max_sweeps : int
        Of the same search: the number of random starts, and the most sweeps of each.
    max_seconds : float, optional
        The longest time for the search, and for each proof of how good its answer is.

    Attributes
    ----------
    A_, means_ : tuples of arrays, one for each domain
        The maps: z = A (x - mean).
    canonical_correlations_ : array
        For two domains.
    common_correlations_ : array of shape (m, m, n_components)
        Of every pair of domains, along each coordinate of the common space.
    certificate_ : Certificate
        How far the maps are from the prescribed covariances, and from the best possible. The first are rounding
        errors. So is the second if the fit is ``certified``, as it always is for two domains; otherwise a `FitWarning`
        says so.
    ranks_ : tuple of int
    n_components_, n_samples_, n_domains_, n_features_in_ : int
    domain_names_, feature_names_ : tuples, one entry for each domain
    feature_names_in_ : array of str
        Of domain 1, if X had names.
    feature_names_y_ : array of str, or None
        Of domain 2, if Y had names.
    x_rotations_, y_rotations_, x_weights_, y_weights_, x_loadings_, y_loadings_ : arrays of shape (n_features, c)
        As in scikit-learn's CCA: canonical directions, the same with length 1, and the covariances of the features with
        the scores along them.
    coef_, intercept_ : arrays
        ``predict(X)`` is ``X @ coef_.T + intercept_``. Like the six before, for two domains.
    summary_ : Summary
        The pairs taken in by `partial_fit`.

    Notes
    -----
    The covariance shapes the common space: distances, neighbours, fused features. It does not change the translation
    from one domain to the other as long as both covariances are the same; for that use the default 'lmmse'.

    Other Python threads run while the library works. Ctrl-C stops it within a moment, in the search for the maps of more
    than two domains too.

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
                 calibrate: Optional[int] = None, graph: Any = "full", random_state: Any = 0, random_starts: int = 3,
                 max_sweeps: int = 5000, max_seconds: Optional[float] = None, device: str = "cpu") -> None:
        self.covariance = covariance
        self.n_components = n_components
        self.max_rank = max_rank
        self.ridge = ridge
        self.rank_tol = rank_tol
        self.accumulate = accumulate
        self.device = device
        self.calibrate = calibrate
        self.graph = graph
        self.random_state = random_state
        self.random_starts = random_starts
        self.max_sweeps = max_sweeps
        self.max_seconds = max_seconds

    def _covariance_setting(self) -> Any:
        return self.covariance


class MCA(_Several, Matching):
    """Matching component analysis: `CGMCA` with the identity covariance.

    Its directions are those of canonical correlation analysis, scaled to unit variance.

    Parameters
    ----------
    n_components : int, optional
        Dimensions of the common space; default: as many as the data allow.
    max_rank, ridge, rank_tol, accumulate, device, calibrate, graph, random_state, random_starts, max_sweeps, max_seconds
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
                 rank_tol: Optional[float] = None, accumulate: str = "auto", calibrate: Optional[int] = None,
                 graph: Any = "full", random_state: Any = 0, random_starts: int = 3, max_sweeps: int = 5000,
                 max_seconds: Optional[float] = None, device: str = "cpu") -> None:
        self.n_components = n_components
        self.max_rank = max_rank
        self.ridge = ridge
        self.rank_tol = rank_tol
        self.accumulate = accumulate
        self.device = device
        self.calibrate = calibrate
        self.graph = graph
        self.random_state = random_state
        self.random_starts = random_starts
        self.max_sweeps = max_sweeps
        self.max_seconds = max_seconds

    def _covariance_setting(self) -> Any:
        return "identity"
