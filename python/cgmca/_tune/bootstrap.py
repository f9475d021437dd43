"""How much a fit would differ in other samples."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional, Tuple

import numpy as np

from .. import _core
from .._base import accepts_old_names, as_count
from .._data import tables
from .._data.domains import new_domains

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]


class Bootstrapped(NamedTuple):
    """Numbers of the fit, their spread in the replicas, intervals, p values that they are zero, and the false discovery
    rates (Benjamini and Hochberg) that belong to these."""

    estimate: Array
    standard_error: Array
    lower: Array
    upper: Array
    p: Array
    q: Array


class DomainBootstrap(NamedTuple):
    """One domain, features by directions: ``weights`` (rotations), ``structure`` correlations of the features with the
    scores, and in which part of the replicas a feature is ``selected``, among the strongest of a direction."""

    weights: Bootstrapped
    structure: Bootstrapped
    selected: Array


@dataclasses.dataclass(frozen=True)
class Bootstrap:
    """What `bootstrap` finds.

    Attributes
    ----------
    correlations : Bootstrapped
        Directions by pairs of domains: 1-2, 1-3, …, 2-3, ….
    domains : tuple of DomainBootstrap
    replicas, failed : int
        How many were fitted, and how many could not be.
    groups : int
        Of samples that were drawn together.
    """

    correlations: Bootstrapped
    domains: Tuple[DomainBootstrap, ...]
    replicas: int
    failed: int
    groups: int


@accepts_old_names
def bootstrap(X: Any, y: Optional[ArrayLike] = None, *, estimator: Any = None, n: int = 200,
              groups: Optional[ArrayLike] = None, sample_weight: Optional[ArrayLike] = None, seed: int = 1,
              level: float = 0.95, directions: int = 10, strongest: int = 10,
              progress: Optional[Callable[[float], object]] = None) -> Bootstrap:
    """Refit to samples drawn again, ``n`` times: errors, intervals, p values and stability of selection.

    A replica counts each group of samples as often as a Poisson number of mean 1 says. Few samples (up to twice the
    number of features) are groups of one; more are dealt at random to some hundred groups, whose cross-products are
    summed in one pass. Directions are turned to the side of the fit's. Percentile intervals; those of correlations are
    corrected for their bias at the lower end, because small samples make correlations too large.

    Parameters
    ----------
    X, y : array-like, or a list or dict of arrays without y
        Matched samples, as in `CGMCA.fit`.
    estimator : CGMCA or MCA, optional
        Whose settings are used; default ``MCA()``. It need not be fitted, and stays as it is.
    n : int
        The number of replicas.
    groups : array-like of shape (n_samples,), optional
        Samples of one value are drawn together: repeated measurements of a person, for instance.
    seed : int
        Of the draws. Results do not depend on the number of threads.
    level : float
        What intervals are to cover.
    directions, strongest : int
        How many of the first directions are examined; among how many a feature counts as selected.

    Examples
    --------
    >>> import numpy as np, cgmca
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(200, 4))
    >>> Y = np.c_[X[:, 0] + 0.5 * random.normal(size=200), random.normal(size=(200, 2))]
    >>> found = cgmca.bootstrap(X, Y, estimator=cgmca.MCA(1), n=50)
    >>> bool(found.correlations.lower[0, 0] < 0.9 < found.correlations.upper[0, 0])
    True
    >>> bool(found.domains[0].structure.q[0, 0] < 0.001)
    True
    """
    from sklearn.base import clone

    from .._estimators import MCA

    fitted = clone(MCA() if estimator is None else estimator).fit(X, y, sample_weight=sample_weight)
    arrays = [tables.plain(rows) for rows in new_domains(X, y, "bootstrap")[1]]
    arrays = [np.atleast_2d(np.asarray(rows.toarray() if tables.is_sparse(rows) else rows, dtype=float).T).T
              for rows in arrays]
    units = [] if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    if groups is not None and len(units) != len(arrays[0]):
        raise ValueError(f"groups has {len(units)} entries, and there are {len(arrays[0])} samples")
    found = _core.bootstrap(fitted._fitted(), arrays, tables.weights_of(sample_weight, len(arrays[0])), list(units),
                            progress, replicas=as_count("n", n), seed=seed, level=level, directions=directions,
                            strongest=strongest)
    domains = tuple(DomainBootstrap(Bootstrapped(*weights), Bootstrapped(*structure), selected)
                    for weights, structure, selected in found.pop("domains"))
    return Bootstrap(Bootstrapped(*found.pop("correlations")), domains, **found)
