"""Choosing rank, max_rank and ridge by cross-validation; how many correlations are real."""

from __future__ import annotations

import dataclasses
import numbers
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _core
from .._base import as_count, as_fraction, check_array
from .._data import tables
from .._data.domains import are_several, by_number, in_all_domains, label, names_of_new
from .._estimators import CGMCA
from .._estimators.certificate import FitWarning
from .._estimators.matching import as_columns, tell_kernels
from .._estimators.settings import as_ridge, per_domain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Trial(NamedTuple):
    """One setting and its errors on held-out pairs: criterion → (mean, standard error)."""

    params: Dict[str, Any]
    errors: Dict[str, Tuple[float, float]]


@dataclasses.dataclass(frozen=True)
class TuneResult:
    """What `tune` found.

    Attributes
    ----------
    trials : list of Trial
        Every setting that is feasible in each training set, in the order of the grid.
    infeasible : list of dict
        The settings that were not.
    criterion : str
        What was chosen by.
    best_params : dict
        The setting of the smallest error.
    params : dict
        The one to use. By 'likelihood' and 'partner' it is the best. By the other criteria it is chosen among those
        that cannot be told from the best (over the same folds, within one standard error of the difference): by
        'classification' the best likelihood if one is among them, else the one with the least 'partner' error; else
        the simplest (least rank, least max_rank, largest ridge).
    alike : int
        How many settings cannot be told from the best.
    baselines : dict
        Errors without a fit, on the same folds, like those of a trial: 'no_map' (Y as it is in place of X) and
        'target_only' (the matched samples of Y alone classify; the mean is the estimate). NaN for criteria that have
        no such baseline.
    remarks : list of str
        Sentences that say if a baseline does as well or better, or if nothing can be told apart.
    """

    trials: List[Trial]
    infeasible: List[Dict[str, Any]]
    criterion: str
    best_params: Dict[str, Any]
    params: Dict[str, Any]
    alike: int
    baselines: Dict[str, Dict[str, Tuple[float, float]]]
    remarks: List[str]

    @property
    def estimator(self) -> CGMCA:
        """An unfitted `CGMCA` with ``params``."""
        return CGMCA(**self.params)

    def to_frame(self) -> Any:
        """The trials as a pandas DataFrame, best first."""
        import pandas
        rows = [{**trial.params, "error": trial.errors[self.criterion][0],
                 "standard error": trial.errors[self.criterion][1]} for trial in self.trials]
        return pandas.DataFrame(rows).sort_values("error", kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        return f"<TuneResult: {self.params} chosen by {self.criterion} among {len(self.trials)} settings>"


def _params(described: Tuple[str, int, int, Any]) -> Dict[str, Any]:
    family, rank, max_rank, ridge = described
    return {"covariance": family, "n_components": rank or None, "max_rank": max_rank or None, "ridge": ridge}


def tune(X: Any, Y: Optional[ArrayLike] = None, *, covariance: Union[str, Sequence[str], None] = None,
         n_components: Optional[Sequence[int]] = None, max_rank: Optional[Sequence[Optional[int]]] = None,
         ridge: Optional[Sequence[Any]] = None, criterion: Optional[str] = None, labels: Optional[ArrayLike] = None,
         labelled_X: Optional[ArrayLike] = None, labelled_y: Optional[ArrayLike] = None,
         queries: Optional[ArrayLike] = None, query_labels: Optional[ArrayLike] = None,
         references: Optional[ArrayLike] = None, folds: int = 5,
         repeats: Optional[int] = None, seed: int = 1, rank_tol: Optional[float] = None,
         extra_X: Optional[ArrayLike] = None, extra_Y: Optional[ArrayLike] = None, extra: Any = None,
         sample_weight: Optional[ArrayLike] = None, graph: Any = "full",
         progress: Optional[Callable[[float], object]] = None) -> TuneResult:
    """Try settings by cross-validation over the pairs, or over matched samples of more than two domains.

    The pairs are read once: each fold is a summary, each training set a merge of them, and one factorization of it
    serves the whole grid. That is far cheaper than `GridSearchCV`, which works too.

    Parameters
    ----------
    X, Y : array-like
        Matched pairs, samples as rows. Or X is a list or dict of arrays, one for each domain, without Y.
    covariance : str or list of str
        'identity', 'correlation', 'data1', 'data2', 'likelihood1', 'likelihood2', or several of them. Default:
        'identity'; by 'likelihood' and 'partner' 'likelihood2'; by 'classification' 'likelihood2' and the others.
    n_components, max_rank, ridge : list, optional
        What to try, each with each; None in ``max_rank`` is no limit. Default: 1, 2, 5, 10, … as far as the pairs
        allow; no limit, and without a ridge 5, 10, 20, … too; 0, 0.01, 0.1, 1, 3, 10, 30, 100 and 'auto'.
    criterion : {'translation', 'translation-to-2', 'distance', 'classification', 'likelihood', 'partner'}, optional
        The error on held-out pairs. 'translation': share of domain 1's variance that the translation from domain 2
        leaves unexplained; 'translation-to-2': the other way; 'distance': mean squared distance of the mapped pairs
        relative to the prescribed covariance (it favours few components: for comparing ridges); 'classification': of
        held-out samples of domain 2 by the nearest labelled one of domain 1 in the common space; 'likelihood': how much
        more likely a sample of domain 2 becomes given its partner, as -2 log; 'partner': log r / log N, where the
        partner is the r-th nearest of N samples of domain 1. The last two choose ridges without labels. Default:
        'classification' if labels are given, else 'translation'.
        For more than two domains there are 'translation' (the mean error of translations to each domain from all others),
        'distance' (over the edges of ``graph``) and 'classification' (of held-out samples by the nearest of the others,
        each by the mean of its domains' points in the common space), and no likelihoods among the covariances.
    labels : array-like of shape (n_samples,), optional
        Of the pairs or matched samples, for 'classification'.
    labelled_X, labelled_y : array-like, optional
        More labelled samples of domain 1 to classify by, without partners.
    queries, query_labels : array-like, optional
        More labelled samples of domain 2 to be classified, without partners.
    references : array-like, optional
        More samples of domain 1, without partners, among which 'partner' ranks: more of them make it finer.
    folds, repeats, seed : int
        Number of folds, how often the pairs are divided anew (default: 10 times for up to 100 pairs, 1000/n for
        more), and the seed of both.
    rank_tol, graph, extra_X, extra_Y, extra, sample_weight
        As for `CGMCA` and its `fit`; ``graph`` and ``extra`` are for more than two domains. A pair and its weight are in
        one fold; 'classification' and 'partner' count each pair of a weight above 0 once.
    progress : callable, optional
        Called with the part done, from 0 to 1.

    Returns
    -------
    TuneResult

    Examples
    --------
    >>> import numpy as np, cgmca
    >>> random = np.random.default_rng(0)
    >>> causes = random.normal(size=(60, 4))
    >>> X = causes @ random.normal(size=(4, 80)) + random.normal(size=(60, 80))
    >>> Y = causes @ random.normal(size=(4, 70)) + random.normal(size=(60, 70))
    >>> result = cgmca.tune(X, Y, ridge=[0, 1])
    >>> result.params["n_components"]
    5
    >>> model = result.estimator.fit(X, Y)
    """
    if are_several(X):
        if Y is not None:
            raise ValueError("X holds samples of several domains, and Y is given too; put them all into X")
        names = names_of_new(X) or [None] * len(X)
        arrays = in_all_domains(X, names, "tune")
        if len(arrays) != 2:
            pairs_only = {"labelled_X": labelled_X, "labelled_y": labelled_y, "queries": queries,
                          "query_labels": query_labels, "references": references, "extra_X": extra_X,
                          "extra_Y": extra_Y}
            _refuse_of_pairs(pairs_only, len(arrays))
            return _tune_views(arrays, covariance, n_components, max_rank, ridge, criterion, labels, folds, repeats,
                               seed, rank_tol, _extra_of(extra, names), sample_weight, graph, progress)
        X, Y = arrays
    if Y is None:
        raise ValueError("tune needs matched samples of two domains or more: X and Y, or a list of arrays")
    _refuse_of_several(extra, isinstance(graph, str) and graph == "full")
    _check_rows([X, Y], labels, sample_weight)
    tables.check_rows([labelled_X, labelled_y], ["labelled_X", "labelled_y"])
    tables.check_rows([queries, query_labels], ["queries", "query_labels"])
    names_of_X, names_of_Y = tables.names_of(X), tables.names_of(Y)
    extra_X = tables.plain(tables.in_order(extra_X, names_of_X, "extra_X"))
    extra_Y = tables.plain(tables.in_order(extra_Y, names_of_Y, "extra_Y"))
    labelled_X = tables.plain(tables.in_order(labelled_X, names_of_X, "labelled_X"))
    queries = tables.plain(tables.in_order(queries, names_of_Y, "queries"))
    references = tables.plain(tables.in_order(references, names_of_X, "references"))
    if references is not None and criterion != "partner":
        raise ValueError("references are for criterion='partner'; give labelled samples as labelled_X and labelled_y")
    X, Y = _as_rows(X), as_columns(Y, finite=False)
    weights = tables.weights_of(sample_weight, len(X))
    if weights is not None and len(X) == len(Y) and not weights.all():
        kept = weights > 0
        X, Y, weights = X[kept], Y[kept], weights[kept]
        labels = None if labels is None else _labels_of(labels, kept)
    if labels is None and any(given is not None for given in (labelled_X, labelled_y, queries, query_labels)):
        raise ValueError("labelled_X and queries need the labels of the pairs too; give labels")
    labelled, of_labelled = _with_more(X, labels, labelled_X, labelled_y, "labelled_X", "labelled_y")
    asked, of_asked = _with_more(Y, labels, queries, query_labels, "queries", "query_labels")
    _, numbers = np.unique(np.concatenate([of_labelled, of_asked]), return_inverse=True)
    tell_kernels()
    found = _core.tune(
        X, Y, **_grid(covariance, n_components, max_rank, ridge, criterion, rank_tol), folds=folds,
        repeats=as_count("repeats", repeats) or 0, seed=seed, extra_X=extra_X, extra_Y=extra_Y, references=labelled,
        reference_labels=numbers[:len(of_labelled)].tolist(), queries=asked,
        query_labels=numbers[len(of_labelled):].tolist(), progress=progress, sample_weight=weights, more_X=references)
    return _result(found)


def tune_folds(make: Callable[[Tuple[int, int, int]], _core.Folds], names: Sequence[Optional[str]], *,
               covariance: Any = None, n_components: Any = None, max_rank: Any = None, ridge: Any = None,
               criterion: Optional[str] = None, folds: int = 5, repeats: Optional[int] = None, seed: int = 1,
               rank_tol: Optional[float] = None, extra_X: Any = None, extra_Y: Any = None, extra: Any = None,
               graph: Any = "full", progress: Optional[Callable[[float], object]] = None) -> TuneResult:
    """`tune` for samples that workers deal to folds: make((folds, repeats, seed)). For `cgmca.dask` and `cgmca.spark`.

    ``names`` are those of the domains, None where there is none.
    """
    if criterion in ("classification", "partner"):
        raise ValueError(f"the criterion '{criterion}' needs the pairs themselves, and the workers send summaries; "
                         "take 'translation', 'translation-to-2', 'distance' or 'likelihood', or use cgmca.tune with as "
                         "many pairs as fit into memory")
    full = isinstance(graph, str) and graph == "full"
    if len(names) == 2:
        _refuse_of_several(extra, full)
        more = [extra_X, extra_Y]
    else:
        _refuse_of_pairs({"extra_X": extra_X, "extra_Y": extra_Y}, len(names))
        more = _extra_of(extra, names)
    grid = _grid(covariance, n_components, max_rank, ridge, criterion, rank_tol)
    dealt = make((folds, as_count("repeats", repeats) or 0, seed))
    tell_kernels()
    found = _core.tune_folds(dealt, **grid, extra=[tables.plain(rows) for rows in more], graph=graph,
                             progress=progress)
    return _result(found, **({} if full else {"graph": graph}))


def _grid(covariance: Any, n_components: Any, max_rank: Any, ridge: Any, criterion: Any,
          rank_tol: Any) -> Dict[str, Any]:
    families = [] if covariance is None else [covariance] if isinstance(covariance, str) else list(covariance)
    return {"families": families, "ranks": [as_count("n_components", k) or 0 for k in _list(n_components)],
            "max_ranks": [as_count("max_rank", rank) or 0 for rank in _list(max_rank)],
            "ridges": [as_ridge(value) for value in _list(ridge)], "criterion": criterion,
            "rank_tol": as_fraction("rank_tol", rank_tol)}


def _result(found: Dict[str, Any], **more: Any) -> TuneResult:
    """With these parameters of the estimator beside those that were tried."""
    trials = [Trial({**_params(described), **more}, errors) for described, errors in found["trials"]]
    return TuneResult(trials, [{**_params(described), **more} for described in found["infeasible"]], found["criterion"],
                      trials[found["best"]].params, trials[found["chosen"]].params, found["alike"],
                      {baseline: found[baseline] for baseline in ("no_map", "target_only")}, found["remarks"])


def _refuse_of_pairs(given: Dict[str, Any], m: int) -> None:
    for name, value in given.items():
        if value is not None:
            instead = "extra" if name.startswith("extra") else "labels of the matched samples"
            raise ValueError(f"{name} is for two domains; there are {m}. Give {instead}")


def _refuse_of_several(extra: Any, full: bool) -> None:
    if extra is not None or not full:
        raise ValueError("extra and graph are for more than two domains; two have extra_X and extra_Y")


def _extra_of(extra: Any, names: Sequence[Optional[str]]) -> List[Any]:
    found = {} if extra is None else dict(by_number(extra, names))
    return [found.get(number) for number in range(1, len(names) + 1)]


def _tune_views(arrays: List[Any], covariance: Any, n_components: Any, max_rank: Any, ridge: Any, criterion: Any,
                labels: Any, folds: int, repeats: Any, seed: int, rank_tol: Any, extra: List[Any], sample_weight: Any,
                graph: Any, progress: Any) -> TuneResult:
    extra = [tables.plain(tables.in_order(more, tables.names_of(rows), f"extra[{i}]"))
             for i, (more, rows) in enumerate(zip(extra, arrays))]
    _check_rows(arrays, labels, sample_weight)
    arrays = [as_columns(rows, f"X[{i}]", finite=False) for i, rows in enumerate(arrays)]
    n = len(arrays[0])
    weights = tables.weights_of(sample_weight, n)
    classes = None if labels is None else np.asarray(labels).ravel()
    if classes is not None and len(classes) != n:
        raise ValueError(f"{len(classes)} labels for {n} matched samples; each needs one")
    if weights is not None and not weights.all() and {len(rows) for rows in arrays} == {n}:
        kept = weights > 0
        arrays, weights = [rows[kept] for rows in arrays], weights[kept]
        classes = None if classes is None else classes[kept]
    numbers = [] if classes is None else np.unique(classes, return_inverse=True)[1].tolist()
    tell_kernels()
    found = _core.tune_views(
        arrays, **_grid(covariance, n_components, max_rank, ridge, criterion, rank_tol), folds=folds,
        repeats=as_count("repeats", repeats) or 0, seed=seed, extra=extra, labels=numbers, graph=graph,
        progress=progress, sample_weight=weights)
    full = isinstance(graph, str) and graph == "full"
    return _result(found, **({} if full else {"graph": graph}))


def _check_rows(arrays: Sequence[Any], labels: Any, sample_weight: Any) -> None:
    m = len(arrays)
    tables.check_rows([*arrays, labels, sample_weight],
                       [label(domain, m) for domain in range(1, m + 1)] + ["labels", "sample_weight"])


def _with_more(own: Any, labels: Any, more: Any, more_labels: Any, name: str, labels_name: str) -> Tuple[Any, Any]:
    """The matched samples and further labelled ones of their domain, with all their labels; None without labels."""
    if (more is None) != (more_labels is None):
        raise ValueError(f"{name} and {labels_name} belong together; one is missing")
    if labels is None:
        return None, np.empty(0, int)
    labels = np.asarray(labels).ravel()
    if more is None:
        return own, labels
    more = check_array(more, dtype="numeric")
    if more.shape[1] != own.shape[1]:
        raise ValueError(f"{name} has {more.shape[1]} features, its domain {own.shape[1]}")
    return np.concatenate([own, more]), np.concatenate([labels, np.asarray(more_labels).ravel()])


def _labels_of(labels: Any, kept: Any) -> Any:
    labels = np.asarray(labels).ravel()
    if len(labels) != len(kept):
        raise ValueError(f"{len(labels)} labels for {len(kept)} pairs; each needs one")
    return labels[kept]


def _as_rows(X: Any) -> Any:
    tables.refuse_complex(X, "X")
    return check_array(tables.plain(X), finite=False, dtype="numeric", input_name="X")


def _list(values: Any) -> List[Any]:
    return [] if values is None else [values] if isinstance(values, (str, numbers.Number)) else list(values)


@dataclasses.dataclass(frozen=True)
class PermutationTest:
    """Which canonical correlations, or common directions of more than two domains, are real.

    Attributes
    ----------
    p_values : ndarray
        Of all correlations or directions in turn. They never fall.
    significant : int
        How many are at or below the level.
    rotations : bool
        Random rotations took the place of permutations, because a `Summary` does not keep the samples, or because they
        had weights that are not whole numbers. The p values then assume normal data.
    remarks : list of str
        Sentences that say so. They are `FitWarning` s too.
    """

    p_values: Any
    significant: int
    rotations: bool
    remarks: List[str] = dataclasses.field(default_factory=list)


def permutation_test(X: Any, Y: Optional[ArrayLike] = None, *,
                     sample_weight: Optional[ArrayLike] = None, max_rank: Any = None, ridge: Any = 0.0,
                     rank_tol: Optional[float] = None, permutations: int = 1000, seed: int = 1, level: float = 0.05,
                     graph: Any = "full", progress: Optional[Callable[[float], object]] = None) -> PermutationTest:
    """How many canonical correlations are real, from pairs or, for normal data, from their `Summary`.

    For more than two domains, given as a list or dict of arrays or a `Summary`: how many common directions are.

    Partners are shuffled at random many times. The j-th correlation is compared with the largest one of the shuffled
    pairs, after the directions before it, and what their scores explain, were left out of both. The test of the first is
    exact for every distribution. Whole numbers as ``sample_weight`` (see `CGMCA.fit`) are copies, and these are
    shuffled. Pairs of other weights cannot change partners, and a `Summary` does not keep its samples: random rotations
    take the place of shuffling. They assume normal data, and are far from right for heavy tails and rare counts; a
    `FitWarning` says so.

    For more than two domains the samples of all but the first are shuffled, each domain independently. The j-th best
    direction that the domains share, along the edges of ``graph``, is compared with the best one of the shuffled
    samples.

    Examples
    --------
    >>> import numpy as np, cgmca
    >>> random = np.random.default_rng(0)
    >>> causes = random.normal(size=(100, 2))
    >>> X = np.c_[causes, random.normal(size=(100, 3))]
    >>> Y = np.c_[causes + random.normal(size=(100, 2)), random.normal(size=(100, 2))]
    >>> cgmca.permutation_test(X, Y, permutations=199).significant
    2
    """
    if isinstance(X, _core.Summary):
        if sample_weight is not None:
            raise ValueError("sample_weight belongs to pairs; a Summary has its weights inside, give them to its add")
        arrays, weights, m = None, None, len(X.n_features)
    else:
        if are_several(X):
            if Y is not None:
                raise ValueError("X holds samples of several domains, and Y is given too; put them all into X")
            given = in_all_domains(X, names_of_new(X) or [None] * len(X), "the test")
            _check_rows(given, None, sample_weight)
            arrays = [as_columns(rows, f"X[{i}]", finite=False) for i, rows in enumerate(given)]
        else:
            _check_rows([X, Y], None, sample_weight)
            arrays = [_as_rows(X), as_columns(Y, finite=False)]
        weights, m = tables.weights_of(sample_weight, len(arrays[0])), len(arrays)
    settings = ([as_count("max_rank", rank) or 0 for rank in per_domain("max_rank", max_rank, m)],
                [as_ridge(one) for one in per_domain("ridge", ridge, m)], as_fraction("rank_tol", rank_tol),
                permutations, seed, level, progress, graph)
    tell_kernels()
    found = (_core.permutation_test(X, *settings) if arrays is None else
             _core.permutation_test_samples(arrays, weights, *settings))
    for remark in found["remarks"]:
        warnings.warn(remark, FitWarning, stacklevel=2)
    return PermutationTest(np.array(found["p_values"]), found["significant"], found["rotations"], found["remarks"])
