"""Shares of variance: what the common directions explain of every domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .. import _core

    Array = NDArray[np.float64]


class Shares(NamedTuple):
    """What canonical scores explain of a domain's variance.

    ``alone`` has the share of each score by itself, ``cumulative`` that of the first ones together. It is their sum,
    unless a ridge makes scores correlated.
    """

    alone: Array
    cumulative: Array

    @property
    def total(self) -> float:
        """The share of all scores together."""
        return float(self.cumulative[-1])


class SharesOfVariance(NamedTuple):
    """`Shares` weighted by ``variance``, and of features that are ``standardized`` to unit variance."""

    variance: Shares
    standardized: Shares


class TranslationR2(NamedTuple):
    """R² of the translation to a domain from all others: of each of its ``features``, and of all.

    ``variance`` weighs the features by their variance; ``standardized`` is their mean.
    """

    features: Array
    variance: float
    standardized: float


class Explained:
    """What the common directions explain; domains are numbered from 1.

    Attributes
    ----------
    translation : tuple of `TranslationR2`, one for each domain
    importance : tuple of arrays, one for each domain
        Each feature's share in what is translated from its domain to the others. They sum to 1; ``sqrt(d * share)`` is
        the VIP of partial least squares.

    Examples
    --------
    >>> import numpy as np, cgmca
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(200, 3))
    >>> model = cgmca.MCA().fit(X, X[:, :2] + random.normal(size=(200, 2)))
    >>> found = model.explained_
    >>> round(found.shares(2).standardized.total, 6)  # all scores of domain 2 carry all of it
    1.0
    >>> bool(abs(found.shares(2, by=1).standardized.total - found.translation[1].standardized) < 1e-12)
    True
    >>> found.correlations(1).shape  # structure correlations: features by scores
    (3, 2)
    """

    def __init__(self, model: _core.Model, translation: Optional[Sequence[TranslationR2]] = None) -> None:
        self._model = model
        self._domains = range(1, model.count + 1)
        self.translation: Tuple[TranslationR2, ...] = tuple(
            translation if translation is not None else (TranslationR2(*model.translation_r2(i)) for i in self._domains))
        self.importance: Tuple[Array, ...] = tuple(model.importance(i) for i in self._domains)

    def shares(self, of: int, by: Optional[int] = None) -> SharesOfVariance:
        """The shares of domain ``of`` that its own scores carry (adequacy), or those of ``by`` explain (redundancy)."""
        variance, standardized = self._model.explained(of, of if by is None else by)
        return SharesOfVariance(Shares(*variance), Shares(*standardized))

    def correlations(self, features: int, scores: Optional[int] = None) -> Array:
        """Correlations of a domain's features with its own scores, or with those of another domain (cross-loadings)."""
        found: Array = self._model.score_correlations(features, features if scores is None else scores)
        return found

    def shared(self, one: int = 1, two: int = 2) -> Array:
        """What the common directions say of the correlation of every feature of two domains, (d_one, d_two).

        With all directions of a plain fit of two domains these are the correlations of the samples.
        """
        found: Array = self._model.shared_correlations(one, two)
        return found

    def ranking(self, domain: int) -> List[Tuple[str, float]]:
        """(name, importance) of a domain's features, the most important first."""
        names = self._model.feature_names[domain - 1] or [f"feature {f + 1}" for f in
                                                          range(len(self.importance[domain - 1]))]
        order = np.argsort(-self.importance[domain - 1], kind="stable")
        return [(names[f], float(self.importance[domain - 1][f])) for f in order]

    def __str__(self) -> str:
        lines = [f"{'domain':<8}{'scores of':<11}{'unit variance':>14}{'by variance':>13}"]
        for of in self._domains:
            for by in self._domains:
                variance, standardized = self.shares(of, by)
                lines.append(f"{of:<8}{by:<11}{standardized.total:>14.4f}{variance.total:>13.4f}")
            r2 = self.translation[of - 1]
            lines.append(f"{of:<8}{'R2':<11}{r2.standardized:>14.4f}{r2.variance:>13.4f}")
        return "\n".join(lines)
