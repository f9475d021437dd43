"""What a fit says about itself."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple, Tuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class FitWarning(UserWarning):
    """A fit that is right, but should not be trusted on new samples: it says why, and what to do."""


class Regularized(NamedTuple):
    """The covariance of a domain that the constraint holds for: ``data`` · Θ + ``ridge`` · I, Θ of ``samples``."""

    data: float
    ridge: float
    samples: int


@dataclasses.dataclass(frozen=True)
class Certificate:
    """What a fit attained, beside what no fit can surpass.

    ``excess`` and ``constraint_residuals`` are rounding errors, or something is wrong.

    Attributes
    ----------
    objective : float
        Mean squared distance of the mapped pairs.
    bound : float
        No maps with the prescribed covariances can go below.
    constraint_residuals : (float, float)
        Relative distance of each map's output covariance from the prescribed one.
    constrained : (Regularized, Regularized)
        The covariance of each domain that is meant by that: the sample covariance Θ, or a regularized one.
    covariance_trace : float
        The scale of objective and bound: that of pairs which have nothing to do with each other.
    singular_A, singular_B : ndarray
        Singular values of the product of the covariances' factors; the canonical correlations.
    ranks, covariance_ranks : (int, int)
        Of the data, and of the prescribed covariances.
    min_gap : float
        Smallest relative gap between the canonical correlations used. Where it is tiny the directions, though not
        the optimum, are determined by a rule more than by the data.
    tolerances : (float, float)
        Singular values of a domain below this fraction of its largest count as zero.
    route : str
        Form of the summary and the factorizations used.

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
    constraint_residuals: Tuple[float, float]
    constrained: Tuple[Regularized, Regularized]
    covariance_trace: float
    singular_A: Array
    singular_B: Array
    ranks: Tuple[int, int]
    covariance_ranks: Tuple[int, int]
    min_gap: float
    tolerances: Tuple[float, float]
    route: str

    @property
    def excess(self) -> float:
        """How far the objective lies above its bound, relative to ``covariance_trace``."""
        return abs(self.objective - self.bound) / self.covariance_trace
