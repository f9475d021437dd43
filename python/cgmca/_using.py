"""What is done with a fitted estimator: maps, translations, fusion, scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

import numpy as np
from sklearn.metrics import r2_score

from . import _tables
from ._compat import check_array
from ._found import Found
from ._settings import as_number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]


class Using(Found):
    """The methods that need a fitted estimator's maps. Its own ones, below, check samples and names."""

    def _names(self, domain: int) -> Optional[Sequence[str]]:
        raise NotImplementedError

    def _second(self, Y: Any, y: Any) -> Any:
        raise NotImplementedError

    def _check_samples(self, X: Any, domain: int, *, strict: bool = False) -> Any:
        raise NotImplementedError

    def _finite(self, X: Any, domain: int) -> Any:
        raise NotImplementedError

    def _map(self, X: Any, domain: int, missing: str, function: Any, *, strict: bool = False) -> Any:
        raise NotImplementedError

    def _apply(self, X: Any, domain: int, missing: str, *, strict: bool = False) -> Any:
        raise NotImplementedError

    def apply(self, X: ArrayLike, domain: int = 1, *, missing: str = "error") -> Array:
        """Samples of one domain in the common space; ``apply(Y, domain=2)`` needs no X.

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
        applied: Array = self._apply(X, domain, missing)
        return applied

    def inverse_transform(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, method: str = "exact",
                          iterations: Optional[int] = None, tolerance: Optional[float] = None) -> Any:
        """Points of the common space as samples of domain 1, and those of Y as samples of domain 2.

        Parameters
        ----------
        X, Y : array-like of shape (n_samples, n_components)
            For a data frame the samples are a data frame, with the names of the domain's features.
        method : {'exact', 'mahalanobis', 'lmmse', 'lsqr'}
            'exact': of all samples that map to the point the one nearest to the mean; 'mahalanobis': the most likely
            one; 'lmmse': best linear estimate, for points that come from the *other* domain's map; 'lsqr': iterative
            and stopped early.
        iterations, tolerance : int, float
            For 'lsqr': at most so many steps (20), and when to stop before (1e-6).
        """
        model = self._fitted()

        def back(Z: ArrayLike, domain: int) -> Any:
            points = check_array(_tables.plain(Z), dtype="numeric", input_name="X" if domain == 1 else "Y")
            samples = model.invert(domain, points, method, iterations, tolerance)
            return _tables.like(Z, samples, self._names(domain))

        return back(X, 1) if Y is None else (back(X, 1), back(Y, 2))

    def fuse(self, X: Optional[ArrayLike] = None, Y: Optional[ArrayLike] = None, *, method: str = "estimate") -> Array:
        """One point of the common space for each sample, from both domains or from the one that is given.

        Parameters
        ----------
        X, Y : array-like, optional
            Matched samples of domain 1 and 2; one of them may be left out. A sample with NaN in one domain is fused
            from the other.
        method : {'estimate', 'mean'}
            'estimate': the best linear estimate of the mean of both domains' points, also where one is absent; 'mean':
            the mean of the points there are.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(100, 3))
        >>> Y = X[:, :2] + random.normal(size=(100, 2))
        >>> model = cgmca.MCA().fit(X, Y)
        >>> np.allclose(model.fuse(X, Y), (model.apply(X) + model.apply(Y, 2)) / 2)
        True
        >>> model.fuse(Y=Y).shape
        (100, 2)
        """
        model = self._fitted()
        given = [(1, X), (2, Y)]
        domains = [domain for domain, rows in given if rows is not None]
        if not domains:
            raise ValueError("fuse needs X, Y or both")
        arrays = [self._check_samples(rows, domain) for domain, rows in given if rows is not None]
        arrays = [rows.toarray() if _tables.is_sparse(rows) else rows for rows in arrays]
        fused: Array = model.fuse(domains, arrays, method)
        return fused

    def translate(self, X: ArrayLike, source: int = 2, target: int = 1, method: str = "lmmse", return_std: bool = False,
                  *, return_interval: Optional[float] = None, iterations: Optional[int] = None,
                  tolerance: Optional[float] = None, missing: str = "error") -> Any:
        """Samples of one domain as samples of the other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features of the source)
            The columns of a table are put in the order of the fit by their names, with a warning; other names are an
            error.
        source, target : 1 or 2
        method : {'lmmse', 'exact', 'mahalanobis', 'lsqr'}
            'lmmse', the best linear estimate, is the one to use; it alone knows its error. The others invert the
            target's map, see `inverse_transform`.
        return_std : bool
            Return (samples, standard errors), of the same shape, for 'lmmse'. They are those of new samples: measured
            on held-out pairs where the estimator has ``calibrate``, else in closed form, which is too small where
            fewer components than the data allow were chosen.
        return_interval : float, optional
            A probability, as 0.9: return (samples, lower limits, upper limits) that hold the true value with it.
        iterations, tolerance : int, float
            For 'lsqr': at most so many steps (20), and when to stop before (1e-6).
        missing : {'error', 'pass'}
            NaN is an error, or makes rows of NaN.

        Returns
        -------
        array of shape (n_samples, n_features of the target)
            For a data frame or Table, one of the same kind, with the names of the target's features and X's index.
        """
        model = self._fitted()
        if (return_std or return_interval is not None) and method != "lmmse":
            raise ValueError(f"only 'lmmse' has standard errors, '{method}' has none")
        if return_std and return_interval is not None:
            raise ValueError("give return_std or return_interval, not both")
        translated = self._map(
            X, source, missing, lambda rows: model.translate(source, target, rows, method, iterations, tolerance))

        def finished(rows: Any) -> Any:
            return _tables.like(X, rows, self._names(target))

        if return_std:
            errors = self._map(X, source, missing, lambda rows: model.standard_errors(source, target, rows))
            return finished(translated), finished(errors)
        if return_interval is not None:
            probability = as_number("return_interval", return_interval)
            widths = self._map(X, source, missing, lambda rows: model.half_widths(source, target, rows, probability))
            return finished(translated), finished(translated - widths), finished(translated + widths)
        return finished(translated)

    def predict(self, X: ArrayLike, *, missing: str = "error") -> Array:
        """Domain 2 from domain 1: the best linear estimate, ``translate(X, 1, 2)`` as an array.

        It is ``X @ coef_.T + intercept_``. Where `fit` had a one-dimensional Y the result is one-dimensional too.
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
        model = self._fitted()
        predicted: Array = self._map(X, 1, missing, lambda rows: model.translate(1, 2, rows, "lmmse"), strict=True)
        return predicted.ravel() if vars(self).get("_one_dimensional", False) else predicted

    def score(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, y: Optional[ArrayLike] = None,
              sample_weight: Optional[ArrayLike] = None) -> float:
        """R² of ``predict(X)``, the mean over the features of Y: 1 is perfect, 0 is what the mean would attain.

        It is what ``scoring="r2"`` computes, and can be compared between covariances, numbers of components, ranks and
        ridges; `GridSearchCV` uses it. ``sample_weight`` weighs the samples of the score.
        """
        expected = self._finite(self._second(Y, y), 2)
        found = self.predict(X)
        if len(found) != len(expected):
            raise ValueError(f"domain 1 has {len(found)} samples and domain 2 has {len(expected)}; "
                             "matched pairs need as many of each")
        return float(r2_score(expected, found, sample_weight=sample_weight))

    def verify(self, X: ArrayLike, Y: ArrayLike, *, sample_weight: Optional[ArrayLike] = None) -> dict[str, Any]:
        """What the maps attain on given pairs, from these and the maps alone; ``sample_weight`` is that of `fit`.

        Returns
        -------
        dict
            ``objective`` is the mean squared distance of the mapped pairs, ``covariance_trace`` its scale (that of
            pairs that have nothing to do with each other), ``constraint_residuals`` and ``mean_residuals`` how far
            covariance and mean of each map's output are from what was prescribed, ``samples`` the number of pairs,
            ``total_weight`` the sum of their weights.
        """
        one = self._finite(X, 1)
        return self._fitted().attained(one, self._finite(Y, 2), _tables.weights_of(sample_weight, len(one)))

    @property
    def feature_names_y_(self) -> Optional[NDArray[np.object_]]:
        """Names of domain 2's features; None where Y had none. Those of domain 1 are in ``feature_names_in_``."""
        names = self._names(2)
        return np.array(names, dtype=object) if names else None
