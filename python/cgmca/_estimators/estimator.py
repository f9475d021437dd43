"""CGMCA, and MCA beside it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Tuple, Union

import numpy as np
from sklearn.base import (BaseEstimator, ClassNamePrefixFeaturesOutMixin, MultiOutputMixin, RegressorMixin,
                          TransformerMixin, clone)
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._base import (accepts_old_names, as_choice, as_count, as_flag, as_fraction, as_number, check_array,
                     warn_user)
from .._data import device, tables
from .._data.domains import all_given, as_given, given, holds_domains, is_dict, label, labels, number_of
from .._data.nuisance import encoded
from . import intake
from .certificate import Addition, Certificate, FitWarning, Pattern, Regularized, Start
from .correlation_tests import CorrelationTest, CorrelationTests, FTest
from .diagnosis import Diagnosis, DomainDiagnosis, Suspect
from .explained import Explained, TranslationR2
from .fitting import (Matched, _Pending, added, as_columns, extra_samples, fit_model, matched_domains, names_of,
                      need_y, unchanged_on_failure)
from .pairs import PairCheck
from .settings import SearchProgress, as_covariances, as_progress, as_ridge, as_search, per_domain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    Array = NDArray[np.float64]
    Progress = Optional[Callable[[SearchProgress], object]]


TOWARDS = ("zero", "identity")


class CGMCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MultiOutputMixin,  # type: ignore[misc]
            RegressorMixin, BaseEstimator):
    """Covariance-generalized matching component analysis.

    Finds affine maps ``A_[0] (x - means_[0])`` and ``A_[1] (y - means_[1])`` into one common space that bring matched
    pairs as close together as possible, while each map's output has exactly the prescribed covariance. Two domains are
    given as ``fit(X, Y)``, any number as ``fit([X1, X2, X3])`` or as a dict.

    Parameters
    ----------
    covariance : {'identity', 'data1', 'data2', 'principal1', 'principal2', 'correlation', 'likelihood1', 'likelihood2'}, array of shape (k, k), \
`Covariance`, or a pair or list of these, one for each domain
        Covariance of all maps' outputs, or of each one's.

        - 'identity' is plain matching component analysis. Its directions are those of canonical correlation analysis.
        - 'data1', 'data2', … are the best approximation, of rank ``n_components``, of that domain's own covariance.
        - 'principal1', 'principal2', … are the same in ``n_components`` dimensions, along its principal directions.
        - 'correlation' gives each common direction its correlation as standard deviation.
        - 'likelihood2' makes the nearest sample of domain 1 the likeliest partner of a sample of domain 2, and
          'likelihood1' likewise. Both are for two domains, and need a ridge or more pairs than features.
        - `Covariance` gives one by a factor or by standard deviations.
    n_components : int, optional
        Dimensions of the common space for 'identity' (default: as many as the data allow) and 'correlation', rank for
        'data1', 'data2', …. An array has its own.
    max_rank : int or list of int, optional
        Use only so many leading principal directions of all domains, or of each. For few pairs of many features.
    ridge : float, 'auto', or a list of these, one for each domain
        Whiten Θ + ridge · tr(Θ)/d · I instead of the sample covariance Θ of a domain; 'auto' takes the ridge of the
        least generalized cross-validation error. The constraint then holds for the regularized covariance.
    scale : bool
        Divide each feature by its standard deviation first, so that ``ridge``, ``max_rank`` and 'data' covariances do
        not depend on the units of the features. The maps take raw samples all the same.
    towards : {'zero', 'identity'}
        What a ridge shrinks translations towards: the mean of the target, or the sample as it is but for the
        difference of the means. The second is for two domains of the same features, such as spectra on one grid.
    nuisance_unknown : bool
        Whether the nuisance given to `fit` is unknown of new samples. The maps are then blind to it, and need none.
    rank_tol : float, optional
        Singular values of a domain below ``rank_tol`` times its largest count as zero; default max(d, n)·eps.
    accumulate : {'auto', 'qr', 'gram'}
        How pairs are summarized, see `Summary`.
    device : {'cpu', 'cuda', 'auto'}
        Where they are summarized and the fit is computed, see `Summary`. With 'cuda' the samples may lie on a GPU.
    calibrate : int, optional
        Measure the errors of translations on so many parts of the pairs, each left out in turn; 10 is a good choice.
    graph : {'full', 'path', 'star:D'} or array of shape (m, m)
        Which domains are compared: every pair; 1-2, 2-3, …; domain D with every other; or the weights of all pairs,
        symmetric and none negative.
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
    certificate_ : Certificate
        How far the maps are from the prescribed covariances, and from the best possible. The first are rounding
        errors. So is the second if the fit is ``certified``, as it always is for two domains; otherwise a `FitWarning`
        says so.
    ranks_, n_components_, n_samples_, n_domains_, domain_names_, feature_names_, common_correlations_
        What was fitted, of any number of domains.
    canonical_correlations_, coef_, intercept_, feature_names_y_
        Of two domains.
    x_rotations_, y_rotations_, x_weights_, y_weights_, x_loadings_, y_loadings_ : arrays of shape (n_features, c)
        Of two domains, as in scikit-learn's CCA.
    n_features_in_, feature_names_in_
        Of domain 1; the names only if X had some.
    summary_ : Summary
        The pairs taken in by `partial_fit`.
    pair_check_ : PairCheck
        What a robust fit found of its pairs.

    Notes
    -----
    Domain 1 is ``X`` and domain 2 is ``y``, with one column or many, as in scikit-learn.

    The covariance shapes the common space: distances, neighbours, fused features. It does not change the translation
    from one domain to the other if both covariances are the same; for that use the default 'lmmse'.

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

    n_features_in_: int
    summary_: _core.Summary
    pair_check_: PairCheck
    nuisance_unknown = False  # an estimator of 0.2 that comes from a pickle has no attribute of this name
    scale = False  # an estimator of 0.2 that comes from a pickle has no attribute of this name
    towards = "zero"  # an estimator of 0.2 that comes from a pickle has no attribute of this name

    def __init__(self, covariance: Any = "identity", n_components: Optional[int] = None, *, max_rank: Any = None,
                 ridge: Any = 0.0, rank_tol: Optional[float] = None, accumulate: str = "auto",
                 calibrate: Optional[int] = None, graph: Any = "full", random_state: Any = 0, random_starts: int = 3,
                 max_sweeps: int = 5000, max_seconds: Optional[float] = None, device: str = "cpu",
                 scale: bool = False, towards: str = "zero", nuisance_unknown: bool = False) -> None:
        self.towards = towards
        self.nuisance_unknown = nuisance_unknown
        self.covariance = covariance
        self.n_components = n_components
        self.max_rank = max_rank
        self.ridge = ridge
        self.rank_tol = rank_tol
        self.accumulate = accumulate
        self.device = device
        self.scale = scale
        self.calibrate = calibrate
        self.graph = graph
        self.random_state = random_state
        self.random_starts = random_starts
        self.max_sweeps = max_sweeps
        self.max_seconds = max_seconds

    # Fitting

    @accepts_old_names
    def fit(self, X: Any, y: Optional[ArrayLike] = None, *, sample_weight: Optional[ArrayLike] = None,
            extra: Any = None, missing: str = "error", robust: bool = False, nuisance: Any = None,
            progress: Progress = None) -> Self:
        """Find the maps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_x), or a list or dict of arrays
            Samples of domain 1: an array, a data frame (pandas, polars), a pyarrow Table or a SciPy sparse matrix.
            C-contiguous float64 arrays are used where they lie; other types are converted block by block. The names of
            a table's columns are kept and checked at every later use.

            Or samples of any number of domains, without y: a list with an array for each, or a dict of such arrays,
            whose keys become the domains' names. Row i of all of them belongs together.
        y : array-like of shape (n_samples, n_features_y) or (n_samples,)
            Samples of domain 2: row i belongs to row i of X.
        sample_weight : array-like of shape (n_samples,), optional
            How often each pair counts, any number from 0 on: 2 is the same as the pair twice, 0 leaves it out. Weights
            are counts, not precisions: their sum takes the place of n, in error bars too.
        extra : list or dict of arrays, optional
            Samples without partners, as many as there are: ``[more_X, None]`` or ``[None, more_y]``, with one entry for
            each domain, or a dict by the domains' names. They improve that domain's mean and covariance.
        missing : {'error', 'drop', 'keep'}
            NaN is an error, or leaves out the pairs (and extra samples) that hold it; a warning says how many. With
            'keep' a sample with NaN in a domain lacks that domain, and tells of the others: mean and covariance are
            estimated by EM. ``patterns_`` says which samples there were.
        robust : bool
            Weigh each pair of two domains by the probability that it is right, as `check_pairs` finds it. What it found
            is in ``pair_check_``, and a warning says how many pairs are probably wrong.
        nuisance : array-like or table with a row for each sample, optional
            What is to be removed from all domains, such as batch, instrument, age: numbers, and texts as categories.
            The maps are those of a fit after regressing each domain on it, and `transform`, `translate` and others need
            its values of new samples too, unless the estimator has ``nuisance_unknown``. Degrees of freedom are right.
            ``nuisance_`` says how much of each domain it explains.
        progress : callable, optional
            Called with a `SearchProgress` while the maps of more than two domains are searched for, at the first sweep
            of each ascent and some fifty times a second. What it raises ends the search. Two domains need no search.

        Returns
        -------
        self
        """
        report, folds = as_progress(progress), as_count("calibrate", self.calibrate)
        with unchanged_on_failure(self):
            samples = intake.to_fit(self, X, y, sample_weight, missing, first=True, least=2)
            self.__dict__.pop("pair_check_", None)
            if missing == "keep" and (robust or folds is not None):
                raise ValueError("missing='keep' goes without robust and calibrate, which need whole samples")
            if robust:
                samples = intake.weighed(self, samples)
            m = len(samples.arrays)
            samples = intake.beside(self, samples, nuisance, missing, robust, extra)
            summary = intake.new_summary(self, samples, missing)
            settings = self._settings(m, None if extra is None else extra_samples(extra, summary, missing))
            model = fit_model(added(summary, samples, all=True), report, **settings)
            if folds is not None:
                dense = [rows.toarray() if tables.is_sparse(rows) else rows for rows in samples.arrays]
                dealt = _core.Folds(summary.n_features, folds, 1, 1, len(dense) > m).with_more(dense, samples.weights)
                model = _core.calibrate(model, dealt, report, **settings)
            self.__dict__.pop("summary_", None)
            self._model, self._one_dimensional = model, samples.one_dimensional
        return self

    @accepts_old_names
    def partial_fit(self, X: Any, y: Optional[ArrayLike] = None, *, sample_weight: Optional[ArrayLike] = None,
                    missing: str = "error", nuisance: Any = None) -> Self:
        """Take in more matched samples. The maps are computed when they are next needed.

        The samples gathered so far are in ``summary_``, whose memory does not grow with their number. `fit` keeps no
        summary: after it `partial_fit` begins anew, with a warning. The parameters are those of `fit`. A table's columns
        must be in the same order each time.
        """
        self._refuse_to_calibrate("partial_fit")
        first = "summary_" not in vars(self)
        if first and "_model" in vars(self):
            warn_user("fit keeps no summary of its pairs, so partial_fit begins anew; to go on with pairs, take all of "
                      "them by partial_fit", FitWarning)
        with unchanged_on_failure(self):
            samples = intake.to_fit(self, X, y, sample_weight, missing, first=first, least=1)
            samples = intake.beside(self, samples, nuisance, missing, before=None if first else self.summary_)
            summary = intake.new_summary(self, samples, missing) if first else self.summary_
            if isinstance(summary, _core.IncompleteSummary) != (missing == "keep"):
                raise ValueError("missing='keep' must be given with the first samples and with all others, or never")
            pending = _Pending(summary, self)  # which refuses bad settings before the samples are taken in
            pending.summary = self.summary_ = added(summary, samples)
            if first:
                self._one_dimensional = samples.one_dimensional
            self._model = pending
        return self

    @accepts_old_names
    def fit_summary(self, summary: _core.Summary, *, extra: Any = None, progress: Progress = None) -> Self:
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
        settings = self._settings(matched_domains(summary),
                                  None if extra is None else extra_samples(extra, summary, "error"))
        self._model = fit_model(summary, as_progress(progress), **settings)
        self.__dict__.pop("summary_", None)
        self._one_dimensional = False
        self._keep_names(summary.feature_names[0], summary.n_features[0])
        return self

    @accepts_old_names
    def fit_transform(self, X: Any, y: Optional[ArrayLike] = None, *, sample_weight: Optional[ArrayLike] = None) -> Any:
        """``fit(X, y).transform(X)``: domain 1 in the common space, one array. For a list or dict, all domains.

        One array is what a `Pipeline` passes on to its next step. scikit-learn's CCA returns a pair here, with which
        that step can do nothing. ``fit(X, y).transform(X, y)`` gives both domains.
        """
        return self.fit(X, y, sample_weight=sample_weight).transform(X)

    def add_domain(self, name: Optional[str], X: Any, matched: Any, *, covariance: Any = None,
                   max_rank: Optional[int] = None, ridge: Any = 0.0, weights: Optional[Sequence[float]] = None,
                   transport: bool = True, sample_weight: Optional[ArrayLike] = None, missing: str = "error") -> Self:
        """A new estimator with one more domain in the same common space, as a new instrument or subject.

        All other maps stay as they are, to the bit. The new one brings the samples of X as close to those that match
        them as any map of its covariance can; `additions_` has the certificate. The new estimator translates and fuses
        with all domains. What relates the new domain to a domain that it was not matched with are the scores of those
        it was matched with.

        Parameters
        ----------
        name : str or None
            Of the new domain.
        X : array-like of shape (n_samples, n_features), or `Summary`
            Samples of the new domain. Or a summary of all matched samples: of the domains that ``matched`` lists, in
            that order, and last of the new domain.
        matched : dict, or list of domains for a `Summary`
            Samples of one known domain or several, by their names or numbers: row i of each belongs to row i of X. They
            need not be samples of the fit.
        covariance : array of shape (``n_components_``, ``n_components_``), 'identity' or `Covariance`, optional
            Of the new domain's points; default: that of the first domain of ``matched``.
        max_rank, ridge
            As for the estimator, of the new domain.
        weights : sequence of float, optional
            How much each domain of ``matched`` counts; default: 1.
        transport : bool
            The matched samples need not be like those of the fit. True takes mean and covariance of the new domain to
            what they would be among the samples of the fit, as far as the scores of ``matched`` tell. False takes them
            as they are.
        sample_weight, missing
            As in `fit`.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> causes = random.normal(size=(300, 3))
        >>> old, new = (causes @ random.normal(size=(3, 8)) + 0.1 * random.normal(size=(300, 8)) for _ in range(2))
        >>> model = cgmca.MCA(3).fit({"a": old[:200], "b": causes[:200] + 0.1 * random.normal(size=(200, 3))})
        >>> three = model.add_domain("c", new[200:], matched={"a": old[200:]})
        >>> three.domain_names_, bool(np.array_equal(three.A_[0], model.A_[0]))
        (('a', 'b', 'c'), True)
        >>> three.translate(new[:200], source="c", target="b").shape
        (200, 3)
        """
        model, names = self._fitted(), self._domain_names()
        if isinstance(X, _core.Summary):
            if is_dict(matched):
                raise ValueError("X is a summary of all matched samples; give matched as a list of their domains")
            known, summary = [number_of(domain, names) for domain in matched], X
        else:
            if not is_dict(matched) or not matched:
                raise ValueError("matched is a dict: samples of domains of the model, by their names or numbers")
            known = [number_of(domain, names) for domain in matched]
            rows = list(matched.values())
            tables.check_rows([*rows, X, sample_weight], [*labels(len(rows) + 1), "sample_weight"])
            arrays = [intake.dense(self, *one) for one in zip(known, rows)]
            arrays.append(as_columns(X, "X", finite=False))
            tables_of_names = [*(self._names(domain) for domain in known), names_of(X)]
            added_weights = tables.weights_of(sample_weight, len(arrays[0]))
            as_choice("missing", missing, ("error", "drop"))
            if missing == "drop" and len({len(one) for one in arrays}) == 1:
                kept = ~np.any([tables.rows_with_nan(one) for one in arrays], axis=0)
                arrays = [one[kept] for one in arrays]
                added_weights = None if added_weights is None else added_weights[kept]
            summary = _core.Summary(*(one.shape[1] for one in arrays), feature_names=tables_of_names,
                                    names=None if name is None else [*(names[i - 1] or str(i) for i in known), name])
            summary = added(summary, Matched(arrays, added_weights, None, tables_of_names, False), all=True)
        prescribed = None if covariance is None else as_covariances(
            covariance, self.n_components_ if isinstance(covariance, str) else None, 2)[0]
        extended = clone(self)
        vars(extended).update({key: value for key, value in vars(self).items() if key.endswith("_")})
        extended.__dict__.pop("summary_", None)
        extended._one_dimensional = False
        extended._model = _core.add_domain(model, summary, known, prescribed, max_rank=as_count("max_rank", max_rank),
                                           ridge=as_ridge(ridge), weights=None if weights is None else list(weights),
                                           rank_tol=as_fraction("rank_tol", self.rank_tol), transport=transport)
        for text in set(extended._model.warnings()) - set(model.warnings()):
            warn_user(text, FitWarning)
        return extended

    @property
    def patterns_(self) -> Tuple[Pattern, ...]:
        """The samples of a fit to incomplete samples, by the domains they had; empty if all were complete.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(100, 3))
        >>> Y = X[:, :2] + random.normal(size=(100, 2))
        >>> Y[60:] = np.nan                                # these lack domain 2
        >>> for pattern in cgmca.MCA(2).fit(X, Y, missing="keep").patterns_:
        ...     print(pattern.domains, pattern.samples)
        (1,) 40
        (1, 2) 60
        """
        return tuple(Pattern(*one) for one in self._fitted().patterns())

    @property
    def nuisance_(self) -> Optional[dict[str, Any]]:
        """What the fit has removed; None if nothing.

        ``names`` and ``mean`` of its values, their ``effects`` on each domain (n_features, n_values), the parts of each
        domain's variance that are ``explained``, ``rank`` (the degrees of freedom it takes), and whether it is
        ``unknown`` of new samples, so that the maps are blind to it.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> batch = np.repeat(["A", "B"], 50)
        >>> X = random.normal(size=(100, 3)) + (batch == "A")[:, None]
        >>> Y = X[:, :2] + random.normal(size=(100, 2))
        >>> model = cgmca.MCA(2).fit(X, Y, nuisance=batch)
        >>> model.nuisance_["names"], model.nuisance_["rank"]
        (['1=A', '1=B'], 1)
        >>> model.transform(X, nuisance=batch).shape
        (100, 2)
        """
        found: Optional[dict[str, Any]] = self._fitted().nuisance()
        return found

    @property
    def additions_(self) -> Tuple[Addition, ...]:
        """The domains that joined by `add_domain`, the last ones, each with the certificate of its map."""
        return tuple(Addition(*one) for one in self._fitted().additions())

    # Maps into the common space and back

    @accepts_old_names
    def transform(self, X: Any, y: Optional[ArrayLike] = None, *, missing: str = "error", nuisance: Any = None) -> Any:
        """Domain 1, and domain 2 if given, in the common space; or each domain of a list or dict.

        Parameters
        ----------
        X, y : array-like
            A table's columns must have the names they had in `fit`, in the same order. X may also be a list with an
            array for each domain, None for one that is absent, or a dict by the domains' names.
        missing : {'error', 'pass'}
            NaN is an error, or makes rows of NaN.
        nuisance : array-like or table, optional
            Of these samples, as in `fit`; needed if that had one and the estimator has no ``nuisance_unknown``.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or a pair of them when y is given
            ``set_output(transform="pandas")`` makes the first a data frame. For a list a list of arrays, for a dict a
            dict of arrays.
        """
        names = self._domain_names()
        return as_given(X, y, {domain: self._applied(rows, domain, missing, strict=True, nuisance=nuisance)
                               for domain, rows in given(X, y, names)}, names)

    def apply(self, X: ArrayLike, domain: Union[int, str] = 1, *, missing: str = "error", nuisance: Any = None) -> Array:
        """Samples of one domain, given by number or name, in the common space; ``apply(Y, domain=2)`` needs no X.

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
        applied: Array = self._applied(X, number_of(domain, self._domain_names()), missing, nuisance=nuisance)
        return applied

    @accepts_old_names
    def inverse_transform(self, X: Any, y: Optional[ArrayLike] = None, *, method: str = "exact",
                          iterations: Optional[int] = None, tolerance: Optional[float] = None) -> Any:
        """Points of the common space as samples of domain 1, and those of y as samples of domain 2.

        Parameters
        ----------
        X, y : array-like of shape (n_samples, n_components)
            For a data frame the samples are a data frame, with the names of the domain's features. X may also be a list
            with points for each domain (or None), or a dict by the domains' names; the samples come as that does.
        method : {'exact', 'mahalanobis', 'lmmse', 'lsqr'}
            'exact': of all samples that map to the point the one nearest to the mean; 'mahalanobis': the most likely
            one; 'lmmse': best linear estimate, for points that come from the *other* domain's map (of two domains
            only); 'lsqr': iterative and stopped early.
        iterations, tolerance : int, float
            For 'lsqr': at most so many steps (20), and when to stop before (1e-6).
        """
        model, names = self._fitted(), self._domain_names()

        def back(Z: ArrayLike, domain: int) -> Any:
            name = label(domain, len(names))
            taken = device.taken(Z, name)
            if device.is_there(taken):
                return device.like(Z, model.invert(domain, taken, method, iterations, tolerance))
            points = check_array(tables.plain(taken), dtype="numeric", input_name=name)
            return tables.like(taken, model.invert(domain, points, method, iterations, tolerance), self._names(domain))

        return as_given(X, y, {domain: back(Z, domain) for domain, Z in given(X, y, names)}, names)

    @accepts_old_names
    def fuse(self, X: Any = None, y: Optional[ArrayLike] = None, *, method: str = "estimate",
             nuisance: Any = None) -> Array:
        """One point of the common space for each sample, from whatever domains are given.

        Parameters
        ----------
        X, y : array-like, optional
            Matched samples of domain 1 and 2; one of them may be left out. Of any number of domains X alone is a list
            with an array for each, or None for one that is absent, or a dict by the domains' names. A sample with NaN
            in one domain is fused from the others.
        method : {'estimate', 'mean'}
            'estimate': the best linear estimate of the mean of all domains' points, also where some are absent;
            'mean': the mean of the points there are.

        Returns
        -------
        ndarray of shape (n_samples, ``n_components_``)

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(100, 3))
        >>> Y = X[:, :2] + random.normal(size=(100, 2))
        >>> model = cgmca.MCA().fit(X, Y)
        >>> np.allclose(model.fuse(X, Y), (model.apply(X) + model.apply(Y, 2)) / 2)
        True
        >>> model.fuse(y=Y).shape
        (100, 2)
        """
        model = self._fitted()
        present = [one for one in given(X, y, self._domain_names(), "fuse") if one[1] is not None]
        if not present:
            raise ValueError("fuse needs " + ("samples of at least one domain" if holds_domains(X) else "X, y or both"))
        intake.check_rows(self, present)
        arrays = [intake.with_nuisance(self, intake.dense(self, *one), nuisance) for one in present]
        fused: Array = model.fuse([domain for domain, _ in present], arrays, method)
        return fused

    # Translations

    def translate(self, X: Any, source: Any = None, target: Union[int, str] = 1, method: str = "lmmse",
                  return_std: bool = False, *, return_interval: Optional[float] = None,
                  iterations: Optional[int] = None, tolerance: Optional[float] = None, missing: str = "error",
                  nuisance: Any = None) -> Any:
        """Samples of one domain, or of several together, as samples of another.

        Of two domains ``translate(Y)`` leads from domain 2 to domain 1, the way that `predict` does not go.
        ``translate(X, 1, 2)`` is what ``predict(X)`` gives.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features of the source), or several of them
            The columns of a table are put in the order of the fit by their names, with a warning; other names are an
            error. From several domains: a list with an array for each of ``source``; without ``source`` a list with an
            array for each domain, None for the target and others that are absent; or a dict by the domains' names. A
            sample with NaN in some of them is translated from the others.
        source, target : int or str, number or name of a domain; source also a list of them
            Default: domain 2 of two domains, to domain 1.
        method : {'lmmse', 'exact', 'mahalanobis', 'lsqr'}
            'lmmse', the best linear estimate, is the one to use. Only it has standard errors, and only it translates
            from several domains. The others invert the target's map, see `inverse_transform`.
        return_std : bool
            Return (samples, standard errors), of the same shape, for 'lmmse'. They are those of new samples: measured
            on held-out pairs if the estimator has ``calibrate`` (for translations from all other domains), else in
            closed form, which is too small if fewer components than the data allow were chosen.
        return_interval : float, optional
            A probability, as 0.9: return (samples, lower limits, upper limits) that hold the true value with it.
        iterations, tolerance : int, float
            For 'lsqr': at most so many steps (20), and when to stop before (1e-6).
        missing : {'error', 'pass'}
            NaN is an error, or makes rows of NaN. From several domains this concerns samples with NaN in all of them.

        Returns
        -------
        array of shape (n_samples, n_features of the target)
            For a data frame or Table, one of the same kind, with the names of the target's features and X's index.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> X1 = random.normal(size=(200, 4))
        >>> X2, X3 = X1[:, :3] + random.normal(size=(200, 3)), X1 + random.normal(size=(200, 4))
        >>> model = cgmca.MCA(3).fit({"optical": X1, "radar": X2, "infrared": X3})
        >>> both = model.translate([X2, X3], source=[2, 3], target=1)
        >>> np.array_equal(both, model.translate({"radar": X2, "infrared": X3}, target="optical"))
        True
        >>> bool(np.linalg.norm(both - X1) < np.linalg.norm(model.translate(X2, source="radar") - X1))
        True
        """
        model, to = self._fitted(), number_of(target, self._domain_names())
        probability = as_number("return_interval", return_interval)
        with_errors = return_std or probability is not None
        if with_errors and method != "lmmse":
            raise ValueError(f"only 'lmmse' has standard errors, '{method}' has none; use method='lmmse'")
        if return_std and probability is not None:
            raise ValueError("give return_std or return_interval, not both")
        sources = intake.sources(self, X, source)
        if len(sources) == 1:
            (number, X), = sources
            found = [intake.mapped(self, X, number, missing,
                                   lambda rows: model.translate(number, to, rows, method, iterations, tolerance),
                                   nuisance=nuisance)]
            if with_errors:
                found.append(intake.mapped(self, X, number, missing,
                                           lambda rows: model.errors(number, to, rows, probability),
                                           nuisance=nuisance))
        elif method != "lmmse" or iterations is not None or tolerance is not None:
            raise ValueError(f"'{method}' translates from one domain; from {len(sources)} together only 'lmmse' does, "
                             "which needs no iterations and no tolerance")
        else:
            found = intake.translated_together(self, sources, to, missing, with_errors, probability, nuisance)
        if probability is not None:
            found = [found[0], found[0] - found[1], found[0] + found[1]]
        made = tuple(tables.like(sources[0][1], rows, self._names(to)) for rows in found)
        return made if with_errors else made[0]

    def predict(self, X: ArrayLike, *, missing: str = "error", nuisance: Any = None) -> Array:
        """Domain 2 from domain 1, as predictions of scikit-learn go: the best linear estimate. For two domains.

        It is ``translate(X, 1, 2)`` as an array, and ``X @ coef_.T + intercept_``. The other way is `translate`'s own:
        ``translate(Y)`` estimates domain 1 from domain 2. If `fit` had a one-dimensional y, so is the result.

        scikit-learn's CCA predicts as if all its correlations were 1, which estimates too much; this does not.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(200, 3))
        >>> Y = X[:, :2] + random.normal(size=(200, 2))
        >>> model = cgmca.MCA().fit(X, Y)
        >>> np.allclose(model.predict(X), X @ model.coef_.T + model.intercept_)
        True
        """
        model = self._predicting("predict")
        predicted: Array = intake.mapped(self, X, 1, missing, lambda rows: model.translate(1, 2, rows, "lmmse"),
                                         strict=True, nuisance=nuisance)
        return predicted.ravel() if vars(self).get("_one_dimensional", False) else predicted

    @accepts_old_names
    def score(self, X: ArrayLike, y: Optional[ArrayLike] = None, *, sample_weight: Optional[ArrayLike] = None,
              nuisance: Any = None) -> float:
        """R² of ``predict(X)``, the mean over the features of y: 1 is perfect, 0 is what the mean would attain.

        It is what ``scoring="r2"`` computes, and can be compared between covariances, numbers of components, ranks and
        ridges; `GridSearchCV` uses it. ``sample_weight`` weighs the samples of the score.
        """
        self._predicting("score")
        need_y(self, y)
        intake.check_rows(self, [(1, X), (2, y)], sample_weight)
        expected = intake.finite(self, 2, y, strict=True)
        found = self.predict(X, nuisance=nuisance)
        if len(found) != len(expected):
            raise ValueError(f"domain 1 has {len(found)} samples and domain 2 has {len(expected)}; "
                             "matched pairs need as many of each")
        return float(r2_score(expected, found, sample_weight=sample_weight))

    @accepts_old_names
    def verify(self, X: Any, y: Optional[ArrayLike] = None, *, sample_weight: Optional[ArrayLike] = None,
               missing: str = "error", nuisance: Any = None) -> dict[str, Any]:
        """What the maps attain on given matched samples, from these and the maps alone.

        X and y, or a list or dict of all domains, and ``sample_weight`` are those of `fit`. With ``missing='keep'``
        samples may lack domains: the maps are held against the covariance that EM estimates from them.

        Returns
        -------
        dict
            ``objective`` is the mean squared distance of the mapped pairs, ``covariance_trace`` its scale (that of
            pairs that have nothing to do with each other), ``constraint_residuals`` and ``mean_residuals`` how far
            covariance and mean of each map's output are from what was prescribed, ``samples`` the number of matched
            samples, ``total_weight`` the sum of their weights. ``best_objective`` is what no maps with these
            covariances can go below on these samples; ``proof`` says what that rests on, ``gap`` how far the maps may
            be from it, and ``certified`` whether they attain it. All of these are computed anew. ``claims`` has, for
            all else that the model holds and the samples can tell (means, variances, loadings, correlations, ranks,
            bound), how far it is from what was computed anew: rounding errors, or the model was tampered with.
        """
        present = all_given(X, y, self._domain_names(), "verify")
        intake.check_rows(self, present, sample_weight)
        if missing == "keep":
            rows = [intake.dense(self, *one) for one in present]
            summary = _core.IncompleteSummary(*(one.shape[1] for one in rows))
            summary.add(*rows, sample_weight=tables.weights_of(sample_weight, len(rows[0])))
            return self._fitted().attained_incomplete(summary)
        as_choice("missing", missing, ("error", "keep"))
        arrays, known = [intake.finite(self, *one) for one in present], self._fitted().nuisance()
        if (known is None) != (nuisance is None):
            raise ValueError("nuisance is given to verify just if it was to fit")
        if known is not None:
            arrays.append(encoded(nuisance, known["names"])[0])
        return self._fitted().attained(arrays, tables.weights_of(sample_weight, len(arrays[0])))

    # What the fit found

    @property
    def A_(self) -> Tuple[Optional[Array], ...]:
        """The linear parts of the maps, one a domain, (n_components, n_features) each: z = A (x - mean)."""
        return self._fitted().matrices

    @property
    def means_(self) -> Tuple[Optional[Array], ...]:
        """Means of the domains."""
        return self._fitted().means

    @property
    def n_domains_(self) -> int:
        """How many domains were fitted."""
        return len(self._domain_names())

    @property
    def domain_names_(self) -> Tuple[Optional[str], ...]:
        """Names of the domains, the keys of the dict that was fitted; None for a domain without a name."""
        return tuple(self._domain_names())

    @property
    def feature_names_(self) -> Tuple[Optional[List[str]], ...]:
        """Names of each domain's features; None for a domain without names."""
        return tuple(self._known().feature_names)

    @property
    def feature_names_y_(self) -> Optional[NDArray[np.object_]]:
        """Names of domain 2's features; None if y had none. Those of domain 1 are in ``feature_names_in_``."""
        self._check_two("feature_names_y_", "feature_names_ has those of every domain")
        names = self._names(2)
        return np.array(names, dtype=object) if names else None

    @property
    def ranks_(self) -> Tuple[int, ...]:
        """Ranks of the domains' data."""
        return self.certificate_.ranks

    @property
    def n_components_(self) -> int:
        """Dimensions of the common space."""
        return self._fitted().common_dimension

    @property
    def n_samples_(self) -> int:
        """Matched samples that the maps were fitted to."""
        return self._fitted().samples

    @property
    def _n_features_out(self) -> int:  # for get_feature_names_out
        return self.n_components_

    @property
    def certificate_(self) -> Certificate:
        """The proof that these are the maps asked for."""
        entries = self._fitted().certificate()
        return Certificate(constrained=tuple(Regularized(*one) for one in entries.pop("constrained")),
                           starts=tuple(Start(*one) for one in entries.pop("starts")), **entries)

    @property
    def canonical_correlations_(self) -> Array:
        """Correlations of the pairs of canonical directions, descending; for two domains.

        If few of more than 1,200 directions were needed, only theirs and the next one or a few more are known.
        """
        self._check_two("canonical_correlations_", "common_correlations_ has those of every pair")
        return self.certificate_.singular_B

    @property
    def common_correlations_(self) -> Array:
        """Correlation of every pair of domains along each coordinate of the common space, (m, m, n_components).

        They are those of the samples fitted, and 0 if a covariance has no variance along a coordinate.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(300, 4))
        >>> model = cgmca.MCA(2).fit([X, X[:, :3] + random.normal(size=(300, 3)), X + random.normal(size=X.shape)])
        >>> model.common_correlations_.shape
        (3, 3, 2)
        """
        model = self._fitted()
        found = np.ones((model.count, model.count, model.common_dimension))
        for i in range(model.count):
            for j in range(i):
                found[i, j] = found[j, i] = model.common_correlations(i + 1, j + 1)
        return found

    def tests(self) -> CorrelationTests:
        """Whether the canonical correlations are more than chance, by their theory for normal data.

        Entry k tests whether the correlations from number k + 1 on are zero: Wilks with Rao's F, Bartlett and Lawley's
        chi-squared, Pillai, Hotelling and Lawley, Roy. From the correlations, the number of pairs and the ranks alone.

        Raises
        ------
        ValueError
            If the theory does not hold: more than two domains, a ridge, ``max_rank``, extra samples, too few pairs,
            weights whose sum is not whole. Use `permutation_test` then. Other weights are taken for counts, because a
            model keeps only their sum.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(100, 4))
        >>> tests = cgmca.MCA().fit(X, X[:, :3] @ [[1, 0], [0, 0], [0, 0]] + random.normal(size=(100, 2))).tests()
        >>> tests.significant()
        1
        >>> bool(tests[0].wilks.p < 1e-6 and tests[1].wilks.p > 0.01)
        True
        """
        self._check_two("tests", "use permutation_test")
        return CorrelationTests(CorrelationTest(first, correlation, *(FTest(*one) for one in statistics), *chi)
                                for first, correlation, statistics, chi in self._fitted().tests())

    @property
    def explained_(self) -> Explained:
        """Shares of variance of the samples fitted: adequacy, redundancy, R² of translations, importance of features."""
        return Explained(self._fitted())

    @accepts_old_names
    def explain(self, X: Any, y: Optional[ArrayLike] = None, *, sample_weight: Optional[ArrayLike] = None) -> Explained:
        """``explained_`` with the R² of translations measured on given matched samples, which may be new ones.

        X and y, or a list or dict of all domains, and ``sample_weight`` are as in `fit`.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(300, 3))
        >>> Y = X[:, :2] + random.normal(size=(300, 2))
        >>> model = cgmca.MCA().fit(X[:200], Y[:200])
        >>> bool(model.explain(X[200:], Y[200:]).translation[1].standardized > 0.3)
        True
        """
        present = all_given(X, y, self._domain_names(), "explain")
        intake.check_rows(self, present, sample_weight)
        arrays = [intake.finite(self, *one) for one in present]
        model, weights = self._fitted(), tables.weights_of(sample_weight, len(arrays[0]))
        return Explained(model, [TranslationR2(*one) for one in model.measured_r2(arrays, weights)])

    @accepts_old_names
    def diagnose(self, X: Any, y: Optional[ArrayLike] = None, *, false_discovery_rate: float = 0.05,
                 nuisance: Any = None) -> Diagnosis:
        """Which of given matched samples look mispaired, swapped or unlike the others.

        X and y, or a list or dict of all domains, are those of `fit` or new ones. p values are judged by the samples
        themselves (their quartiles), so most of them must be right, and 100 or more are better than 20.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> causes = random.normal(size=(300, 5))
        >>> X, Y = (causes @ random.normal(size=(5, 8)) + 0.3 * random.normal(size=(300, 8)) for _ in "XY")
        >>> Y[[10, 20]] = Y[[20, 10]]
        >>> cgmca.MCA(5).fit(X, Y).diagnose(X, Y).rows("swapped")
        [10, 20]
        """
        arrays = [intake.with_nuisance(self, rows, nuisance) for rows in intake.all_finite(self, X, y, "diagnose")]
        found = self._fitted().diagnosis(arrays, float(false_discovery_rate))
        return Diagnosis(tuple(DomainDiagnosis(*one) for one in found["domains"]), found["pair_p"],
                         tuple(Suspect(*one) for one in found["suspects"]), found["remarks"])

    @accepts_old_names
    def contributions(self, X: Any, y: Optional[ArrayLike] = None, *, statistic: str = "distance",
                      domain: Union[int, str] = 1) -> Tuple[Array, ...]:
        """What each feature adds to a statistic of a domain: an array (n_samples, n_features) for each domain.

        ``statistic`` is 'T2', 'Q' or 'distance'. The features' parts sum to it; those of 'T2' and 'Q' are of the domain
        itself, and the other arrays are empty.
        """
        number = number_of(domain, self._domain_names())
        arrays = intake.all_finite(self, X, y, "contributions")
        found: Tuple[Array, ...] = self._fitted().contributions(arrays, statistic, number)
        return found

    @property
    def notes_(self) -> List[str]:
        """Sentences about the pairs: no correlation is above chance, or one domain is a function of the other."""
        return list(self._fitted().pairing_notes())

    # As CCA of scikit-learn calls them. There is no n_iter_, because the fit is in closed form.

    @property
    def x_rotations_(self) -> Array:
        """Canonical directions of domain 1, (n_features_x, c): ``(X - means_[0]) @ x_rotations_`` has unit variances.

        c is the rank of the prescribed covariance. The columns point where those of ``CCA(scale=False)`` do, up to
        sign; those of CCA have other lengths. For the identity covariance they are the rows of ``A_[0]``.

        With a ridge the variances are 1 under the covariance that was whitened, a Θ + b I with a and b of
        ``certificate_.constrained[0]``.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> X, Y = np.random.default_rng(0).normal(size=(2, 100, 4))
        >>> model = cgmca.MCA(2).fit(X, Y)
        >>> np.allclose((X - model.means_[0]) @ model.x_rotations_, model.transform(X))
        True
        """
        return self._rotations(1, "x_rotations_")

    @property
    def y_rotations_(self) -> Array:
        """Canonical directions of domain 2, (n_features_y, c)."""
        return self._rotations(2, "y_rotations_")

    @property
    def x_weights_(self) -> Array:
        """``x_rotations_`` with columns of length 1. They are weights of the data themselves: nothing is deflated."""
        rotations = self._rotations(1, "x_weights_")
        return rotations / np.linalg.norm(rotations, axis=0)

    @property
    def y_weights_(self) -> Array:
        """``y_rotations_`` with columns of length 1."""
        rotations = self._rotations(2, "y_weights_")
        return rotations / np.linalg.norm(rotations, axis=0)

    @property
    def x_loadings_(self) -> Array:
        """Covariance of domain 1's features with its canonical scores, (n_features_x, c).

        X is ``means_[0] + scores @ x_loadings_.T`` but for what the c directions leave out.
        With a ridge it is the covariance under a Θ + b I, see ``x_rotations_``.
        """
        return self._loadings(1, "x_loadings_")

    @property
    def y_loadings_(self) -> Array:
        """Covariance of domain 2's features with its canonical scores, (n_features_y, c)."""
        return self._loadings(2, "y_loadings_")

    @property
    def coef_(self) -> Array:
        """Linear part of `predict`, (n_features_y, n_features_x): ``X @ coef_.T + intercept_``.

        If the maps need a nuisance, its values follow the features: ``np.hstack([X, Z]) @ coef_.T + intercept_``.
        """
        self._check_two("coef_", "translate goes from any of them to any")
        return self._fitted().linear(1, 2)

    @property
    def intercept_(self) -> Array:
        """Constant part of `predict`, (n_features_y,)."""
        self._check_two("intercept_", "translate goes from any of them to any")
        model = self._fitted()
        mean_x, mean_y = model.means
        if model.nuisance_values > 0:
            mean_x = np.r_[mean_x, model.nuisance()["mean"]]
        return mean_y - self.coef_ @ mean_x

    def _rotations(self, domain: int, what: str) -> Array:
        self._check_two(what, "A_ and means_ have its maps")
        return np.ascontiguousarray(self._fitted().weights(domain).T)

    def _loadings(self, domain: int, what: str) -> Array:
        c = self._rotations(domain, what).shape[1]
        return np.ascontiguousarray(self._fitted().loadings(domain)[:, :c])

    def _check_two(self, what: str, instead: str) -> None:
        """For an attribute that only two domains have."""
        m = len(self._domain_names())
        if m != 2:
            raise AttributeError(f"{what} is about two domains, and this fit has {m}; {instead}")

    def _predicting(self, method: str) -> _core.Model:
        model = self._fitted()
        if model.count != 2:
            raise ValueError(f"{method} goes from X to y, which are two domains, and this fit has {model.count}: "
                             "use translate, from any of them to any")
        return model

    # The model and its names

    def _known(self) -> Any:
        """What knows the names of domains and features: the model, or the summary of a fit that is not needed yet."""
        check_is_fitted(self)
        return self._model.summary if isinstance(self._model, _Pending) else self._model

    def _fitted(self) -> _core.Model:
        check_is_fitted(self)
        return self._model.get() if isinstance(self._model, _Pending) else self._model

    def _domain_names(self) -> list[Optional[str]]:
        known = self._known()
        return list(known.names)[:matched_domains(known) if isinstance(known, _core.Summary) else None]

    def _names(self, domain: int) -> Optional[List[str]]:
        """Names of a domain's features in the fit, None if there are none."""
        names: Optional[List[str]] = self._known().feature_names[domain - 1]
        return names

    def _keep_names(self, names: Optional[Sequence[str]], features: int) -> None:
        """What scikit-learn knows of domain 1."""
        self.__dict__.pop("feature_names_in_", None)
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = features

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"requires_y": True, "preserves_dtype": [np.float64]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    # Samples to fit

    def _settings(self, m: int, extra: Optional[List[Any]] = None) -> dict[str, Any]:
        """The settings of a fit of m domains; `extra` are the extra samples of each, or None."""
        as_choice("towards", self.towards, TOWARDS)
        return {"covariances": as_covariances(self.covariance, self.n_components, m),
                "rank_tol": as_fraction("rank_tol", self.rank_tol),
                "max_rank": [as_count("max_rank", rank) or 0 for rank in per_domain("max_rank", self.max_rank, m)],
                "ridge": [as_ridge(one) for one in per_domain("ridge", self.ridge, m)], "extra": extra or [None] * m,
                "graph": self.graph, "scale": as_flag("scale", self.scale), "towards": self.towards,
                "nuisance_unknown": as_flag("nuisance_unknown", self.nuisance_unknown),
                **as_search(self.random_state, self.random_starts, self.max_sweeps, self.max_seconds)}

    def _refuse_to_calibrate(self, method: str) -> None:
        if self.calibrate is not None:
            raise ValueError(f"calibrate deals the pairs to folds, which {method} does not keep; use fit")

    def _applied(self, X: Any, domain: int, missing: str, *, strict: bool = False, nuisance: Any = None) -> Any:
        model = self._fitted()
        return intake.mapped(self, X, domain, missing, lambda rows: model.apply(domain, rows), strict=strict,
                             nuisance=nuisance)

class MCA(CGMCA):
    """Matching component analysis: `CGMCA` with the identity covariance.

    Its directions are those of canonical correlation analysis, scaled to unit variance.

    Parameters
    ----------
    n_components : int, optional
        Dimensions of the common space; default: as many as the data allow.
    max_rank, ridge, rank_tol, accumulate, device, calibrate, graph, random_state, random_starts, max_sweeps, max_seconds, \
scale, towards, nuisance_unknown
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

    covariance = "identity"  # an MCA of 0.2 that comes from a pickle has no attribute of this name

    def __init__(self, n_components: Optional[int] = None, *, max_rank: Any = None, ridge: Any = 0.0,
                 rank_tol: Optional[float] = None, accumulate: str = "auto", calibrate: Optional[int] = None,
                 graph: Any = "full", random_state: Any = 0, random_starts: int = 3, max_sweeps: int = 5000,
                 max_seconds: Optional[float] = None, device: str = "cpu", scale: bool = False,
                 towards: str = "zero", nuisance_unknown: bool = False) -> None:
        super().__init__("identity", n_components, max_rank=max_rank, ridge=ridge, rank_tol=rank_tol,
                         accumulate=accumulate, calibrate=calibrate, graph=graph, random_state=random_state,
                         random_starts=random_starts, max_sweeps=max_sweeps, max_seconds=max_seconds, device=device,
                         scale=scale, towards=towards, nuisance_unknown=nuisance_unknown)


def _around_set_output(wrapped: Any) -> Any:
    """A method that set_output has wrapped: the wrapper knows one array and a pair, so lists and dicts go around it."""
    @functools.wraps(wrapped)
    def method(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        return (wrapped.__wrapped__ if holds_domains(X) else wrapped)(self, X, *args, **options)

    return method


CGMCA.transform = _around_set_output(CGMCA.transform)  # type: ignore[method-assign]
CGMCA.fit_transform = _around_set_output(CGMCA.fit_transform)  # type: ignore[method-assign]
