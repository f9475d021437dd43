"""What a fit found, under our names and under those of scikit-learn's cross decompositions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Tuple

import numpy as np

from .. import _core
from .certificate import Certificate, Regularized, Start
from .correlation_tests import CorrelationTest, CorrelationTests, FTest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


_USE_MAPS = "A_ and means_ have its maps"
_USE_TRANSLATE = "translate goes from any of them to any"


class Found:
    """The attributes of a fitted estimator that follow from its model."""

    def _fitted(self) -> _core.Model:
        raise NotImplementedError

    def _domain_names(self) -> List[Optional[str]]:
        raise NotImplementedError

    def _of_all(self, what: str) -> Tuple[Any, ...]:
        model = self._fitted()
        return tuple(getattr(model, what)(domain) if model.has(domain) else None
                     for domain in range(1, model.count + 1))

    def _check_two(self, what: str, instead: str) -> None:
        """For an attribute that only two domains have."""
        m = len(self._domain_names())
        if m != 2:
            raise AttributeError(f"{what} is about two domains, and this fit has {m}; {instead}")

    def _of_two(self, what: str, instead: str) -> _core.Model:
        self._check_two(what, instead)
        return self._fitted()

    @property
    def A_(self) -> Tuple[Optional[Array], ...]:
        """The linear parts of the maps, one a domain, (n_components, n_features) each: z = A (x - mean)."""
        return self._of_all("matrix")

    @property
    def means_(self) -> Tuple[Optional[Array], ...]:
        """Means of the domains."""
        return self._of_all("mean")

    @property
    def n_domains_(self) -> int:
        """How many domains were fitted."""
        return len(self._domain_names())

    @property
    def domain_names_(self) -> Tuple[Optional[str], ...]:
        """Names of the domains, the keys of the dict that was fitted; None where there are none."""
        return tuple(self._domain_names())

    @property
    def canonical_correlations_(self) -> Array:
        """Correlations of the pairs of canonical directions, descending; for two domains.

        If few of more than 1,200 directions were needed, only theirs and the next one or a few more are known.
        """
        self._check_two("canonical_correlations_", "common_correlations_ has those of every pair")
        return self.certificate_.singular_B

    def tests(self) -> CorrelationTests:
        """Whether the canonical correlations are more than chance, by their theory for normal data.

        Entry k tests whether the correlations from number k + 1 on are zero: Wilks with Rao's F, Bartlett and Lawley's
        chi-squared, Pillai, Hotelling and Lawley, Roy. From the correlations, the number of pairs and the ranks alone.

        Raises
        ------
        ValueError
            Where the theory does not hold: more than two domains, a ridge, ``max_rank``, extra samples, too few
            pairs, weights whose sum is not whole. Use `permutation_test` there. Other weights are taken for counts,
            because a model keeps only their sum.

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
    def common_correlations_(self) -> Array:
        """Correlation of every pair of domains along each coordinate of the common space, (m, m, n_components).

        They are those of the samples fitted, and 0 where a covariance has no variance along a coordinate.

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
        m = model.count
        found = np.ones((m, m, model.common_dimension))
        for i in range(m):
            for j in range(i):
                found[i, j] = found[j, i] = model.common_correlations(i + 1, j + 1)
        return found

    @property
    def ranks_(self) -> Tuple[int, ...]:
        """Ranks of the domains' data."""
        return self.certificate_.ranks

    @property
    def certificate_(self) -> Certificate:
        """The proof that these are the maps asked for."""
        entries = self._fitted().certificate()
        return Certificate(constrained=tuple(Regularized(*one) for one in entries.pop("constrained")),
                           starts=tuple(Start(*one) for one in entries.pop("starts")), **entries)

    @property
    def n_components_(self) -> int:
        """Dimensions of the common space."""
        return self._fitted().common_dimension

    @property
    def n_samples_(self) -> int:
        """Matched samples that the maps were fitted to."""
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
        return self._rotations(1, "x_rotations_")

    @property
    def y_rotations_(self) -> Array:
        """Canonical directions of domain 2, (n_features_y, c)."""
        return self._rotations(2, "y_rotations_")

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
        return self._loadings(1, "x_loadings_")

    @property
    def y_loadings_(self) -> Array:
        """Covariance of domain 2's features with its canonical scores, (n_features_y, c)."""
        return self._loadings(2, "y_loadings_")

    @property
    def coef_(self) -> Array:
        """Linear part of `predict`, (n_features_y, n_features_x): ``X @ coef_.T + intercept_``."""
        return self._of_two("coef_", _USE_TRANSLATE).linear(1, 2)

    @property
    def intercept_(self) -> Array:
        """Constant part of `predict`, (n_features_y,)."""
        model = self._of_two("intercept_", _USE_TRANSLATE)
        return model.mean(2) - self.coef_ @ model.mean(1)

    def _rotations(self, domain: int, what: str) -> Array:
        return np.ascontiguousarray(self._of_two(what, _USE_MAPS).weights(domain).T)

    def _loadings(self, domain: int, what: str) -> Array:
        model = self._of_two(what, _USE_MAPS)
        c = len(model.weights(domain))
        return np.ascontiguousarray(model.loadings(domain)[:, :c])


def _of_length_1(columns: Array) -> Array:
    return columns / np.linalg.norm(columns, axis=0)
