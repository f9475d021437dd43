"""Choosing covariance, rank, max_rank and ridge by cross-validation."""

from __future__ import annotations

import dataclasses
import numbers
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _core
from .._base import accepts_old_names, as_count, as_flag, as_fraction, check_array
from .._data import tables
from .._data.domains import by_number, new_domains
from .._data.domains import labels as called
from .._estimators import CGMCA
from .._estimators.fitting import as_columns, warn_of_slow_kernels
from .._estimators.settings import as_ridge

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
        The one to use: the best. Only by 'classification' it is chosen among those that cannot be told from the best
        (over the same folds, within one standard error of the difference): the best likelihood if one is among them,
        else the one with the least 'partner' error.
    alike : int
        How many settings cannot be told from the best.
    expected : tuple
        The error to expect of ``params`` on new samples, with its standard error: of each fold, that of the setting
        which the other folds choose.
    with_half : tuple
        The error of ``params`` with half of the pairs, likewise; NaN if they are too few.
    recommendation : list of str
        Three sentences: what was chosen, how it compares, what more pairs would bring.
    baselines : dict
        Errors without a fit, on the same folds, like those of a trial: 'no_map' (y as it is in place of X), 'offset'
        (y moved by the difference of the means) and 'target_only' (the matched samples of y alone classify; the mean is
        the estimate). NaN for criteria that have no such baseline.
    remarks : list of str
        Sentences that say if a baseline does as well or better, or if nothing can be told apart.
    """

    trials: List[Trial]
    infeasible: List[Dict[str, Any]]
    criterion: str
    best_params: Dict[str, Any]
    params: Dict[str, Any]
    alike: int
    expected: Tuple[float, float]
    with_half: Tuple[float, float]
    recommendation: List[str]
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


@accepts_old_names
def tune(X: Any, y: Optional[ArrayLike] = None, *, covariance: Union[str, Sequence[str], None] = None,
         n_components: Optional[Sequence[int]] = None, max_rank: Optional[Sequence[Optional[int]]] = None,
         ridge: Optional[Sequence[Any]] = None, criterion: Optional[str] = None, labels: Optional[ArrayLike] = None,
         labelled_X: Optional[ArrayLike] = None, labelled_y: Optional[ArrayLike] = None,
         queries: Optional[ArrayLike] = None, query_labels: Optional[ArrayLike] = None,
         references: Optional[ArrayLike] = None, downstream: Any = None,
         towards: Union[str, Sequence[str], None] = None, folds: Optional[int] = None, repeats: Optional[int] = None, seed: int = 1,
         rank_tol: Optional[float] = None, extra: Any = None, sample_weight: Optional[ArrayLike] = None,
         graph: Any = "full", progress: Optional[Callable[[float], object]] = None, scale: bool = False) -> TuneResult:
    """Try settings by cross-validation over the pairs, or over matched samples of more than two domains.

    The pairs are read once: each fold is a summary, each training set a merge of them, and one factorization of it
    serves the whole grid. That is far cheaper than `GridSearchCV`, which works too.

    Parameters
    ----------
    X, y : array-like
        Matched pairs, samples as rows. Or X is a list or dict of arrays, one for each domain, without y.
    covariance : str or list of str
        'identity', 'correlation', 'data1', 'data2', 'likelihood1', 'likelihood2', or several of them. Default:
        'identity'; by 'likelihood' and 'partner' 'likelihood2'; by 'classification' 'likelihood2' and the others.
    n_components, max_rank, ridge : list, optional
        What to try, each with each; None in ``max_rank`` is no limit. Default: 1, 2, 5, 10, … as far as the pairs
        allow; no limit, and without a ridge 5, 10, 20, … too; 0, 1e-6 … 1000, 'auto', and 1e9, which is no better or
        worse than the mean.
    towards : 'zero', 'identity' or a list of both, optional
        What ridges shrink translations towards, see `CGMCA`. Default: both by 'translation', 'translation-to-2' and
        'downstream' if X and y have as many features, else 'zero'.
    criterion : {'translation', 'translation-to-2', 'distance', 'classification', 'likelihood', 'partner', \
'downstream'}, optional
        The error on held-out pairs. Default: 'downstream' if it is given, 'classification' if labels are, else
        'translation'.

        - 'translation': share of domain 1's variance that the translation from domain 2 leaves unexplained;
          'translation-to-2': the other way.
        - 'distance': mean squared distance of the mapped pairs relative to the prescribed covariance. It favours few
          components: use it to compare ridges.
        - 'classification': of held-out samples of domain 2 by the nearest labelled one of domain 1 in the common space.
        - 'likelihood': how much more likely a sample of domain 2 becomes given its partner, as -2 log. 'partner':
          log r / log N, where the partner is the r-th nearest of N samples of domain 1. Both choose ridges without
          labels.
        - 'downstream': how far f(x̂), x̂ translated from y, is from f(x), relative to the variance of f(x).

        For more than two domains there are 'translation' (the mean error of translations to each domain from all
        others), 'distance' (over the edges of ``graph``) and 'classification' (of held-out samples by the nearest of
        the others, each by the mean of its domains' points in the common space), and no likelihoods among the
        covariances.
    labels : array-like of shape (n_samples,), optional
        Of the pairs or matched samples, for 'classification'.
    labelled_X, labelled_y : array-like, optional
        More samples of domain 1 to classify by, without partners, and their labels.
    queries, query_labels : array-like, optional
        More samples of domain 2 to be classified, without partners, and their labels.
    references : array-like, optional
        More samples of domain 1, without partners, among which 'partner' ranks: more of them make it finer.
    downstream : callable, fitted estimator or array, optional
        What is done with samples of domain 1: a function of an array of shape (n, n_features), an estimator of
        scikit-learn that is fitted to such samples, or the coefficients of a linear function. No labels are needed.
    folds, repeats, seed : int
        Number of folds (default 5, or the number of pairs if they are fewer), how often the pairs are divided anew
        (default: 10 times for up to 100 pairs, 1000/n for more), and the seed of both.
    rank_tol, graph, extra, sample_weight, scale
        As for `CGMCA` and its `fit`; ``graph`` is for more than two domains, and with ``scale`` the errors are of
        features at unit variance too. A pair and its weight are in one fold;
        'classification' and 'partner' count each pair of a weight above 0 once.
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
    domain_names, arrays = new_domains(X, y, "tune")
    m = len(arrays)
    if downstream is not None:
        if m != 2:
            raise ValueError(f"downstream is for two domains; there are {m}. Choose by 'translation'")
        if criterion not in (None, "downstream"):
            raise ValueError(f"downstream is for criterion='downstream', not '{criterion}'")
        criterion = "downstream"
    elif criterion == "downstream":
        raise ValueError("criterion='downstream' needs downstream: a function of samples of domain 1, an estimator "
                         "or coefficients")
    of_pairs = {"labelled_X": labelled_X, "labelled_y": labelled_y, "queries": queries, "query_labels": query_labels,
                "references": references}
    if m != 2:
        for name, given in of_pairs.items():
            if given is not None:
                raise ValueError(f"{name} is for two domains; there are {m}. Give labels of the matched samples")
    _check_rows(arrays, labels, sample_weight)
    names = [tables.names_of(rows) for rows in arrays]
    arrays = [as_columns(rows, name, flat=name == "y", finite=False) for rows, name in zip(arrays, called(m))]
    weights = tables.weights_of(sample_weight, len(arrays[0]))
    classes = None if labels is None else _classes(labels, len(arrays[0]), "pairs" if m == 2 else "matched samples")
    if weights is not None and not weights.all() and {len(rows) for rows in arrays} == {len(weights)}:
        kept = weights > 0
        arrays, weights = [rows[kept] for rows in arrays], weights[kept]
        classes = None if classes is None else classes[kept]
    chosen: Dict[str, Any] = {}
    if m == 2:
        chosen = _of_pairs(arrays, names, classes, criterion, **of_pairs)
        if downstream is not None:
            chosen["downstream"] = function_of(downstream, arrays[0].shape[1])
    elif classes is not None:
        chosen = {"samples": arrays, "labels": np.unique(classes, return_inverse=True)[1].tolist()}
    return tune_folds(
        lambda dealing: _core.Folds([rows.shape[1] for rows in arrays], *dealing).with_more(arrays, weights),
        domain_names or [None] * m, names, covariance=covariance, n_components=n_components, max_rank=max_rank,
        ridge=ridge, criterion=criterion, towards=towards, folds=folds or min(5, len(arrays[0])), repeats=repeats,
        seed=seed, rank_tol=rank_tol, extra=extra,
        graph=graph, progress=progress, scale=scale, **chosen)


def _of_pairs(arrays: List[Any], names: Sequence[Any], classes: Any, criterion: Optional[str], *, labelled_X: Any,
              labelled_y: Any, queries: Any, query_labels: Any, references: Any) -> Dict[str, Any]:
    """What only two domains have: samples of one without partners, to classify by, to be classified, to rank among."""
    tables.check_rows([labelled_X, labelled_y], ["labelled_X", "labelled_y"])
    tables.check_rows([queries, query_labels], ["queries", "query_labels"])
    if references is not None and criterion != "partner":
        raise ValueError("references are for criterion='partner'; give labelled samples as labelled_X and labelled_y")
    if classes is None and any(given is not None for given in (labelled_X, labelled_y, queries, query_labels)):
        raise ValueError("labelled_X and queries need the labels of the pairs too; give labels")
    chosen: Dict[str, Any] = {}
    if classes is not None or criterion in ("partner", "downstream"):
        chosen["samples"] = arrays
    if references is not None:
        chosen["more1"] = tables.plain(tables.in_order(references, names[0], "references"))
    if classes is not None:
        first, of_first = _with_more(arrays[0], classes, names[0], labelled_X, labelled_y, "labelled_X", "labelled_y")
        asked, of_asked = _with_more(arrays[1], classes, names[1], queries, query_labels, "queries", "query_labels")
        numbers = np.unique(np.concatenate([of_first, of_asked]), return_inverse=True)[1].tolist()
        chosen.update(references=first, reference_labels=numbers[:len(of_first)], queries=asked,
                      query_labels=numbers[len(of_first):])
    return chosen


def tune_folds(make: Callable[[Tuple[int, int, int]], _core.Folds], domain_names: Sequence[Optional[str]],
               names: Sequence[Optional[Sequence[str]]], *, covariance: Any = None, n_components: Any = None,
               max_rank: Any = None, ridge: Any = None, criterion: Optional[str] = None, towards: Any = None,
               folds: int = 5,
               repeats: Optional[int] = None, seed: int = 1, rank_tol: Optional[float] = None, extra: Any = None,
               graph: Any = "full", progress: Optional[Callable[[float], object]] = None, scale: bool = False,
               **chosen: Any) -> TuneResult:
    """`tune` of the folds make((folds, repeats, seed)), which workers may deal. `names` are those of the features.

    `chosen` are the samples themselves and their labels, for the criteria that need them.
    """
    full = isinstance(graph, str) and graph == "full"
    if len(domain_names) == 2 and not full:
        raise ValueError("graph is for more than two domains; two have one edge")
    found = {} if extra is None else dict(by_number(extra, domain_names))
    more = [tables.plain(tables.in_order(found.get(number), own, f"extra[{number - 1}]"))
            for number, own in enumerate(names, start=1)]
    families = [] if covariance is None else [covariance] if isinstance(covariance, str) else list(covariance)
    grid = {"families": families, "ranks": [as_count("n_components", k) or 0 for k in _list(n_components)],
            "max_ranks": [as_count("max_rank", rank) or 0 for rank in _list(max_rank)],
            "ridges": [as_ridge(value) for value in _list(ridge)], "criterion": criterion, "towards": _list(towards),
            "rank_tol": as_fraction("rank_tol", rank_tol), "extra": more, "graph": graph,
            "scale": as_flag("scale", scale)}
    dealt = make((folds, as_count("repeats", repeats) or 0, seed))
    warn_of_slow_kernels()
    fixed: Dict[str, Any] = {**({} if full else {"graph": graph}), **({"scale": True} if grid["scale"] else {})}
    return _result(_core.tune(dealt, progress, **grid, **chosen), fixed)


def tune_parts(make: Callable[[Tuple[int, int, int]], _core.Folds], domain_names: Sequence[Optional[str]],
               names: Sequence[Optional[Sequence[str]]], **settings: Any) -> TuneResult:
    """The same for folds that are all a program has: for `cgmca.dask` and `cgmca.spark`."""
    criterion = settings.get("criterion")
    if criterion in ("classification", "partner", "downstream"):
        raise ValueError(f"the criterion '{criterion}' needs the pairs themselves, and the workers send summaries; "
                         "take 'translation', 'translation-to-2', 'distance' or 'likelihood', or use cgmca.tune with as "
                         "many pairs as fit into memory")
    return tune_folds(make, domain_names, names, **settings)


def _result(found: Dict[str, Any], more: Dict[str, Any]) -> TuneResult:
    """`more` are parameters of the estimator beside those that were tried."""
    def params(described: Tuple[str, int, int, Any, str]) -> Dict[str, Any]:
        family, rank, max_rank, ridge, towards = described
        return {"covariance": family, "n_components": rank or None, "max_rank": max_rank or None, "ridge": ridge,
                "towards": towards, **more}

    trials = [Trial(params(described), errors) for described, errors in found["trials"]]
    return TuneResult(trials, [params(described) for described in found["infeasible"]], found["criterion"],
                      trials[found["best"]].params, trials[found["chosen"]].params, found["alike"],
                      found["expected"], found["with_half"], found["recommendation"],
                      {baseline: found[baseline] for baseline in ("no_map", "offset", "target_only")}, found["remarks"])


def function_of(downstream: Any, features: int) -> Callable[[Any], Any]:
    """What `downstream` makes of samples, as numbers of shape (n, outputs): a class is one of zeros and a one.

    >>> function_of([1, -1], 2)(np.array([[3.0, 1.0]]))
    array([[2.]])
    """
    if hasattr(downstream, "predict"):
        classes = getattr(downstream, "classes_", None)
        if classes is None:
            return lambda X: _two_dimensional(downstream.predict(X))
        return lambda X: (np.asarray(downstream.predict(X))[:, None] == classes).astype(float)
    if callable(downstream):
        return lambda X: _two_dimensional(downstream(X))
    coefficients = _two_dimensional(downstream)
    if coefficients.shape[0] != features and coefficients.shape[1] == features:
        coefficients = coefficients.T
    if coefficients.shape[0] != features:
        raise ValueError(f"downstream has coefficients of shape {np.shape(downstream)}; X has {features} features")
    return lambda X: X @ coefficients


def _two_dimensional(values: Any) -> Any:
    values = np.asarray(values, dtype=float)
    return values[:, None] if values.ndim == 1 else values


def _check_rows(arrays: Sequence[Any], labels: Any, sample_weight: Any) -> None:
    tables.check_rows([*arrays, labels, sample_weight], [*called(len(arrays)), "labels", "sample_weight"])


def _classes(labels: Any, count: int, what: str) -> Any:
    classes = np.asarray(labels).ravel()
    if len(classes) != count:
        raise ValueError(f"{len(classes)} labels for {count} {what}; each needs one")
    return classes


def _with_more(own: Any, classes: Any, names: Any, more: Any, more_classes: Any, name: str,
               classes_name: str) -> Tuple[Any, Any]:
    """The matched samples of a domain and further labelled ones, with all their labels."""
    if (more is None) != (more_classes is None):
        raise ValueError(f"{name} and {classes_name} belong together; one is missing")
    if more is None:
        return own, classes
    more = check_array(tables.plain(tables.in_order(more, names, name)), dtype="numeric")
    if more.shape[1] != own.shape[1]:
        raise ValueError(f"{name} has {more.shape[1]} features, its domain {own.shape[1]}")
    return np.concatenate([own, more]), np.concatenate([classes, np.asarray(more_classes).ravel()])


def _list(values: Any) -> List[Any]:
    return [] if values is None else [values] if isinstance(values, (str, numbers.Number)) else list(values)
