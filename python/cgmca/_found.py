"""What a fit found, under our names and under those of scikit-learn's cross decompositions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Tuple

import numpy as np

from . import _core
from ._certificate import Certificate, Regularized

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class Found:
    """The attributes of a fitted estimator that follow from its model."""

    def _fitted(self) -> _core.Model:
        raise NotImplementedError

    def _of_both(self, what: str) -> Tuple[Any, Any]:
        model = self._fitted()
        return tuple(getattr(model, what)(domain) if model.has(domain) else None for domain in (1, 2))  # type: ignore

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
        return np.ascontiguousarray(self._fitted().weights(1).T)

    @property
    def y_rotations_(self) -> Array:
        """Canonical directions of domain 2, (n_features_y, c)."""
        return np.ascontiguousarray(self._fitted().weights(2).T)

    @property
    def x_weights_(self) -> Array:
        """``x_rotations_`` with columns of length 1. They are weights of the data themselves: nothing is deflated."""
        return _of_length_1(self.x_rotations_)

    @property
    def y_weights_(self) -> Array:
        """``y_rotations_`` with columns of length 1."""
        return _of_length_1(self.y_rotations_)

    @property
    def x_loadings_(self) -> Array:
        """Covariance of domain 1's features with its canonical scores, (n_features_x, c).

        X is ``means_[0] + scores @ x_loadings_.T`` but for what the c directions leave out.
        With a ridge it is the covariance under a Θ + b I, see ``x_rotations_``.
        """
        return self._loadings(1)

    @property
    def y_loadings_(self) -> Array:
        """Covariance of domain 2's features with its canonical scores, (n_features_y, c)."""
        return self._loadings(2)

    @property
    def coef_(self) -> Array:
        """Linear part of `predict`, (n_features_y, n_features_x): ``X @ coef_.T + intercept_``."""
        return self._fitted().linear(1, 2)

    @property
    def intercept_(self) -> Array:
        """Constant part of `predict`, (n_features_y,)."""
        model = self._fitted()
        return model.mean(2) - self.coef_ @ model.mean(1)

    def _loadings(self, domain: int) -> Array:
        model = self._fitted()
        c = len(model.weights(domain))
        return np.ascontiguousarray(model.loadings(domain)[:, :c])


def _of_length_1(columns: Array) -> Array:
    return columns / np.linalg.norm(columns, axis=0)
