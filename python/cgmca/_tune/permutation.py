"""How many canonical correlations are real, by permutations."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Callable, List, Optional

import numpy as np

from .. import _core
from .._base import accepts_old_names, as_count, as_flag, as_fraction, warn_user
from .._data import tables
from .._data.domains import labels, new_domains
from .._data.nuisance import encoded
from .._estimators.certificate import FitWarning
from .._estimators.fitting import as_columns, matched_domains, warn_of_slow_kernels
from .._estimators.settings import as_ridge, per_domain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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


@accepts_old_names
def permutation_test(X: Any, y: Optional[ArrayLike] = None, *, sample_weight: Optional[ArrayLike] = None,
                     max_rank: Any = None, ridge: Any = 0.0, rank_tol: Optional[float] = None,
                     permutations: int = 1000, seed: int = 1, level: float = 0.05, graph: Any = "full",
                     progress: Optional[Callable[[float], object]] = None, scale: bool = False,
                     nuisance: Any = None) -> PermutationTest:
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

    ``max_rank``, ``ridge``, ``rank_tol`` and ``scale`` are as for `CGMCA`. A ``nuisance`` (see `CGMCA.fit`) is removed
    first, and what is left is shuffled in the dimensions that it leaves (Huh and Jhun 2001).

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
        if nuisance is not None:
            raise ValueError("a Summary has its nuisance inside; give it to its constructor and add")
        samples, weights, m = X, None, matched_domains(X)
    else:
        samples = new_domains(X, y, "permutation_test")[1]
        m = len(samples)
        tables.check_rows([*samples, sample_weight], [*labels(m), "sample_weight"])
        samples = [as_columns(rows, name, flat=name == "y", finite=False) for rows, name in zip(samples, labels(m))]
        weights = tables.weights_of(sample_weight, len(samples[0]))
        if nuisance is not None:
            samples.append(encoded(nuisance)[0])
            tables.check_rows([samples[0], samples[-1]], ["X", "nuisance"])
    warn_of_slow_kernels()
    found = _core.permutation_test(
        samples, weights, progress, max_rank=[as_count("max_rank", rank) or 0 for rank in per_domain("max_rank", max_rank, m)],
        ridge=[as_ridge(one) for one in per_domain("ridge", ridge, m)], rank_tol=as_fraction("rank_tol", rank_tol),
        permutations=permutations, seed=seed, level=level, graph=graph, scale=as_flag("scale", scale),
        nuisance=nuisance is not None)
    for remark in found["remarks"]:
        warn_user(remark, FitWarning)
    return PermutationTest(np.array(found["p_values"]), found["significant"], found["rotations"], found["remarks"])
