"""What a fit says about itself."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Optional, TYPE_CHECKING, Tuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class FitWarning(UserWarning):
    """A fit that is right, but should not be trusted blindly: it says why, and what to do."""


class Regularized(NamedTuple):
    """The covariance of a domain that the constraint holds for: ``data`` · Θ + ``ridge`` · I, Θ of ``samples``."""

    data: float
    ridge: float
    samples: int


class Addition(NamedTuple):
    """A domain that joined the common space after the fit, and the certificate of its map.

    ``objective`` is the weighted sum of its mean squared distances from the domains it was ``matched`` with, ``bound``
    what no map of the same covariance goes below, and ``scale`` the size of both. ``singular_G`` are what the bound is
    made of. The map is ``unique`` if the last of them is above 0. ``transported`` says that mean and covariance of the
    domain are those among the samples of the fit.
    """

    matched: Tuple[int, ...]
    weights: Tuple[float, ...]
    samples: int
    total_weight: float
    transported: bool
    objective: float
    bound: float
    scale: float
    singular_G: Array
    unique: bool


class Pattern(NamedTuple):
    """Samples that had the same ``domains``, of a fit to incomplete ones: their number and the sum of their weights."""

    domains: Tuple[int, ...]
    samples: int
    total_weight: float


class Start(NamedTuple):
    """One ascent of the search that fits more than two domains.

    ``kind`` says where it began, and ``value`` is what it reached in ``sweeps`` steps. ``f_below_best`` is by what
    share that is below the best start. ``distance_to_best`` is how far its maps are from the best ones; below about
    1e-6 they are the same.
    """

    kind: str
    value: float
    sweeps: int
    converged: bool
    f_below_best: float
    distance_to_best: float


@dataclasses.dataclass(frozen=True)
class Certificate:
    """What a fit attained, beside what no fit can surpass.

    ``constraint_residuals`` are rounding errors, or something is wrong. So is ``excess`` where the fit is
    ``certified``, as that of two domains always is.

    Attributes
    ----------
    objective : float
        Mean squared distance of the mapped pairs; for more than two domains that of all pairs of domains, weighted.
    bound : float
        No maps with the prescribed covariances can go below it.
    constraint_residuals : tuple of float, one a domain
        Relative distance of each map's output covariance from the prescribed one.
    constrained : tuple of Regularized
        The covariance of each domain that this holds for: the sample covariance Θ, or a regularized one.
    covariance_trace : float
        The scale of objective and bound: their value for pairs that have nothing to do with each other.
    singular_A, singular_B : ndarray
        Singular values of the product of the covariances' factors; the canonical correlations (only the leading
        ones if the fit needed few directions of many). Empty for more than two domains.
    ranks, covariance_ranks : tuple of int
        Of the data, and of the prescribed covariances.
    min_gap : float
        Smallest relative gap between the canonical correlations used. Where it is tiny the directions, though not
        the optimum, are determined by a rule more than by the data.
    tolerances : tuple of float
        Singular values of a domain below this fraction of its largest count as zero.
    route : str
        Form of the summary and the factorizations used.
    weights : ndarray of shape (m, m)
        The graph: how much each pair of domains counts.
    certified : bool
        The maps are proven to be the best ones.
    gap : float
        What the maps maximize is at most this share below the best possible; 0 for two domains.
    proof : str
        What ``bound`` rests on: 'closed form', 'identity', 'commuting', 'dense', 'ADMM' or 'pairwise only'.
    starts : tuple of Start
        Where every ascent of the search ended; empty for two domains.
    sweeps : int
        Of all starts together.
    stopped_early : bool
        A limit ended the search.
    samples_residual : float or None
        How far the covariances used are from a sketch of the samples that was summed beside them, relative to the
        sizes of the features: a rounding error. A fit whose covariances are not those of the samples raises
        ``numpy.linalg.LinAlgError``. None where a summary of cgmca 0.2 has no sketch.

    Examples
    --------
    >>> import numpy as np, cgmca
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> certificate = cgmca.MCA().fit(X, X[:, :2] + 1).certificate_
    >>> certificate.excess < 1e-12 and max(certificate.constraint_residuals) < 1e-12
    True
    """

    objective: float
    bound: float
    constraint_residuals: Tuple[float, ...]
    constrained: Tuple[Regularized, ...]
    covariance_trace: float
    singular_A: Array
    singular_B: Array
    ranks: Tuple[int, ...]
    covariance_ranks: Tuple[int, ...]
    min_gap: float
    tolerances: Tuple[float, ...]
    route: str
    weights: Array
    certified: bool
    gap: float
    proof: str
    starts: Tuple[Start, ...]
    sweeps: int
    stopped_early: bool
    samples_residual: Optional[float] = None

    @property
    def excess(self) -> float:
        """How far the objective lies above its bound, relative to ``covariance_trace``."""
        return abs(self.objective - self.bound) / self.covariance_trace
