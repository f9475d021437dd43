"""What is done with a fitted estimator: maps, translations, fusion, scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

import numpy as np
from sklearn.metrics import r2_score

from .._base import as_choice, as_number, check_array
from .._data import device, tables
from .._data.domains import are_several, as_given, by_number, in_all_domains, is_dict, label, number_of
from .found import Found

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

    def _dense(self, rows: Any, domain: int) -> Any:
        rows = self._check_samples(rows, domain)
        return rows.toarray() if tables.is_sparse(rows) else rows

    def _check_rows(self, given: Sequence[Tuple[int, Any]], sample_weight: Any = None) -> None:
        m = len(self._domain_names())
        tables.check_rows([rows for _, rows in given] + [sample_weight],
                           [label(domain, m) for domain, _ in given] + ["sample_weight"])

    def apply(self, X: ArrayLike, domain: Union[int, str] = 1, *, missing: str = "error") -> Array:
        """Samples of one domain, given by number or name, in the common space; ``apply(Y, domain=2)`` needs no X.

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
        applied: Array = self._apply(X, number_of(domain, self._domain_names()), missing)
        return applied

    def inverse_transform(self, X: Any, Y: Optional[ArrayLike] = None, *, method: str = "exact",
                          iterations: Optional[int] = None, tolerance: Optional[float] = None) -> Any:
        """Points of the common space as samples of domain 1, and those of Y as samples of domain 2.

        Parameters
        ----------
        X, Y : array-like of shape (n_samples, n_components)
            For a data frame the samples are a data frame, with the names of the domain's features. X may also be a list
            with points for each domain (or None), or a dict by the domains' names; the samples come as that does.
        method : {'exact', 'mahalanobis', 'lmmse', 'lsqr'}
            'exact': of all samples that map to the point the one nearest to the mean; 'mahalanobis': the most likely
            one; 'lmmse': best linear estimate, for points that come from the *other* domain's map (of two domains
            only); 'lsqr': iterative and stopped early.
        iterations, tolerance : int, float
            For 'lsqr': at most so many steps (20), and when to stop before (1e-6).
        """
        model = self._fitted()

        def back(Z: ArrayLike, domain: int) -> Any:
            there = device.taken(Z, label(domain, model.count))
            if device.is_there(there):
                return device.like(Z, model.invert(domain, there, method, iterations, tolerance))
            Z = there
            points = check_array(tables.plain(Z), dtype="numeric", input_name=label(domain, model.count))
            samples = model.invert(domain, points, method, iterations, tolerance)
            return tables.like(Z, samples, self._names(domain))

        if Y is None and are_several(X):
            names = self._domain_names()
            return as_given(X, {domain: back(Z, domain) for domain, Z in by_number(X, names)}, names)
        return back(X, 1) if Y is None else (back(X, 1), back(Y, 2))

    def fuse(self, X: Any = None, Y: Optional[ArrayLike] = None, *, method: str = "estimate") -> Array:
        """One point of the common space for each sample, from whatever domains are given.

        Parameters
        ----------
        X, Y : array-like, optional
            Matched samples of domain 1 and 2; one of them may be left out. Of any number of domains X alone is a list
            with an array for each, or None for one that is absent, or a dict by the domains' names. A sample with NaN
            in one domain is fused from the others.
        method : {'estimate', 'mean'}
            'estimate': the best linear estimate of the mean of all domains' points, also where some are absent;
            'mean': the mean of the points there are.

        Returns
        -------
        ndarray of shape (n_samples, ``n_components_``)

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
        if Y is None and are_several(X):
            given = by_number(X, self._domain_names())
            if not given:
                raise ValueError("fuse needs samples of at least one domain")
        elif model.count != 2:
            raise ValueError(f"fuse(X, Y) is for two domains, and this fit has {model.count}: give a list with an "
                             "array for each, None for a domain that is absent, or a dict")
        else:
            given = [(domain, rows) for domain, rows in ((1, X), (2, Y)) if rows is not None]
            if not given:
                raise ValueError("fuse needs X, Y or both")
        self._check_rows(given)
        arrays = [self._dense(rows, domain) for domain, rows in given]
        fused: Array = model.fuse([domain for domain, _ in given], arrays, method)
        return fused

    def translate(self, X: Any, source: Any = None, target: Union[int, str] = 1, method: str = "lmmse",
                  return_std: bool = False, *, return_interval: Optional[float] = None,
                  iterations: Optional[int] = None, tolerance: Optional[float] = None, missing: str = "error") -> Any:
        """Samples of one domain, or of several together, as samples of another.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features of the source), or several of them
            The columns of a table are put in the order of the fit by their names, with a warning; other names are an
            error. From several domains: a list with an array for each of ``source``; without ``source`` a list with an
            array for each domain, None for the target and others that are absent; or a dict by the domains' names. A
            sample with NaN in some of them is translated from the others.
        source, target : int or str, number or name of a domain; source also a list of them
            Default: domain 2 of two domains, to domain 1.
        method : {'lmmse', 'exact', 'mahalanobis', 'lsqr'}
            'lmmse', the best linear estimate, is the one to use. Only it has standard errors, and only it translates
            from several domains. The others invert the target's map, see `inverse_transform`.
        return_std : bool
            Return (samples, standard errors), of the same shape, for 'lmmse'. They are those of new samples: measured
            on held-out pairs if the estimator has ``calibrate`` (for translations from all other domains), else in
            closed form, which is too small if fewer components than the data allow were chosen.
        return_interval : float, optional
            A probability, as 0.9: return (samples, lower limits, upper limits) that hold the true value with it.
        iterations, tolerance : int, float
            For 'lsqr': at most so many steps (20), and when to stop before (1e-6).
        missing : {'error', 'pass'}
            NaN is an error, or makes rows of NaN. From several domains this concerns samples with NaN in all of them.

        Returns
        -------
        array of shape (n_samples, n_features of the target)
            For a data frame or Table, one of the same kind, with the names of the target's features and X's index.

        Examples
        --------
        >>> import numpy as np, cgmca
        >>> random = np.random.default_rng(0)
        >>> X1 = random.normal(size=(200, 4))
        >>> X2, X3 = X1[:, :3] + random.normal(size=(200, 3)), X1 + random.normal(size=(200, 4))
        >>> model = cgmca.MCA(3).fit({"optical": X1, "radar": X2, "infrared": X3})
        >>> both = model.translate([X2, X3], source=[2, 3], target=1)
        >>> np.array_equal(both, model.translate({"radar": X2, "infrared": X3}, target="optical"))
        True
        >>> bool(np.linalg.norm(both - X1) < np.linalg.norm(model.translate(X2, source="radar") - X1))
        True
        """
        model = self._fitted()
        if (return_std or return_interval is not None) and method != "lmmse":
            raise ValueError(f"only 'lmmse' has standard errors, '{method}' has none; use method='lmmse'")
        if return_std and return_interval is not None:
            raise ValueError("give return_std or return_interval, not both")
        to = number_of(target, self._domain_names())
        given = self._sources(X, source)
        probability = as_number("return_interval", return_interval)
        with_errors = return_std or probability is not None
        if len(given) == 1:
            (domain, X), = given
            translated = self._map(X, domain, missing,
                                   lambda rows: model.translate(domain, to, rows, method, iterations, tolerance))
            if return_std:
                errors = self._map(X, domain, missing, lambda rows: model.standard_errors(domain, to, rows))
            elif probability is not None:
                errors = self._map(X, domain, missing, lambda rows: model.half_widths(domain, to, rows, probability))
        else:
            if method != "lmmse" or iterations is not None or tolerance is not None:
                raise ValueError(f"'{method}' translates from one domain; from {len(given)} together only 'lmmse' "
                                 "does, which needs no iterations and no tolerance")
            found = self._translate_several(given, to, missing, with_errors, probability)
            translated, errors = found[0], found[-1]
            X = given[0][1]

        def finished(rows: Any) -> Any:
            return tables.like(X, rows, self._names(to))

        if return_std:
            return finished(translated), finished(errors)
        if probability is not None:
            return finished(translated), finished(translated - errors), finished(translated + errors)
        return finished(translated)

    def _sources(self, X: Any, source: Any) -> List[Tuple[int, Any]]:
        """(number, samples) of each domain to translate from."""
        names = self._domain_names()
        if is_dict(X):
            if source is not None:
                raise ValueError("a dict of samples says itself which domains they are of; leave source out")
            return by_number(X, names)
        if not are_several(X):
            if source is None and len(names) != 2:
                raise ValueError(f"source must say which of the {len(names)} domains the samples are of")
            source = source if isinstance(source, (list, tuple)) else [2 if source is None else source]
            X = [X]
        elif source is None:
            return by_number(X, names)
        source = source if isinstance(source, (list, tuple)) else [source]
        if len(source) != len(X):
            raise ValueError(f"source names {len(source)} of the domains, and there are {len(X)} arrays")
        return [(number_of(domain, names), rows) for domain, rows in zip(source, X)]

    def _translate_several(self, given: List[Tuple[int, Any]], to: int, missing: str, with_errors: bool,
                           probability: Optional[float]) -> Any:
        """(translation, errors where asked for) from several domains. A sample that has none is refused, or NaN."""
        as_choice("missing", missing, ("error", "pass"))
        model = self._fitted()
        self._check_rows(given)
        sources = [domain for domain, _ in given]
        arrays = [self._dense(rows, domain) for domain, rows in given]
        kept = None
        if missing == "pass" and len({len(rows) for rows in arrays}) == 1:
            absent = np.all([tables.rows_with_nan(rows) for rows in arrays], axis=0)
            if absent.any():
                kept = ~absent
                arrays = [rows[kept] for rows in arrays]
        found = (model.estimate_from(sources, arrays, to, probability) if with_errors else
                 (model.translate_from(sources, arrays, to),))
        return found if kept is None else tuple(_among(rows, kept) for rows in found)

    def _predicting(self, method: str) -> Any:
        model = self._fitted()
        if model.count != 2:
            raise ValueError(f"{method} goes from X to Y, which are two domains, and this fit has {model.count}: "
                             "use translate, from any of them to any")
        return model

    def predict(self, X: ArrayLike, *, missing: str = "error") -> Array:
        """Domain 2 from domain 1: the best linear estimate, ``translate(X, 1, 2)`` as an array. For two domains.

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
        model = self._predicting("predict")
        predicted: Array = self._map(X, 1, missing, lambda rows: model.translate(1, 2, rows, "lmmse"), strict=True)
        return predicted.ravel() if vars(self).get("_one_dimensional", False) else predicted

    def score(self, X: ArrayLike, Y: Optional[ArrayLike] = None, *, y: Optional[ArrayLike] = None,
              sample_weight: Optional[ArrayLike] = None) -> float:
        """R² of ``predict(X)``, the mean over the features of Y: 1 is perfect, 0 is what the mean would attain.

        It is what ``scoring="r2"`` computes, and can be compared between covariances, numbers of components, ranks and
        ridges; `GridSearchCV` uses it. ``sample_weight`` weighs the samples of the score.
        """
        self._predicting("score")
        Y = self._second(Y, y)
        self._check_rows([(1, X), (2, Y)], sample_weight)
        expected = self._finite(Y, 2)
        found = self.predict(X)
        if len(found) != len(expected):
            raise ValueError(f"domain 1 has {len(found)} samples and domain 2 has {len(expected)}; "
                             "matched pairs need as many of each")
        return float(r2_score(expected, found, sample_weight=sample_weight))

    def verify(self, X: Any, Y: Optional[ArrayLike] = None, *,
               sample_weight: Optional[ArrayLike] = None) -> dict[str, Any]:
        """What the maps attain on given matched samples, from these and the maps alone.

        X and Y, or a list or dict of all domains, and ``sample_weight`` are those of `fit`.

        Returns
        -------
        dict
            ``objective`` is the mean squared distance of the mapped pairs, ``covariance_trace`` its scale (that of
            pairs that have nothing to do with each other), ``constraint_residuals`` and ``mean_residuals`` how far
            covariance and mean of each map's output are from what was prescribed, ``samples`` the number of matched
            samples, ``total_weight`` the sum of their weights. ``best_objective`` is what no maps with these
            covariances can go below on these samples; ``proof`` says what that rests on, ``gap`` how far the maps may
            be from it, and ``certified`` whether they attain it. All of these are computed anew. ``claims`` has, for
            all else that the model holds and the samples can tell (means, variances, loadings, correlations, ranks,
            bound), how far it is from what was computed anew: rounding errors, or the model was tampered with.
        """
        names = self._domain_names()
        if Y is None and are_several(X):
            arrays = in_all_domains(X, names, "verify")
        elif len(names) != 2:
            raise ValueError(f"verify(X, Y) is for two domains, and this fit has {len(names)}: give a list or a dict "
                             "of all of them")
        else:
            arrays = [X, self._second(Y, None)]
        self._check_rows(list(enumerate(arrays, start=1)), sample_weight)
        arrays = [self._finite(rows, domain) for domain, rows in enumerate(arrays, start=1)]
        return self._fitted().attained(arrays, tables.weights_of(sample_weight, len(arrays[0])))

    @property
    def feature_names_y_(self) -> Optional[NDArray[np.object_]]:
        """Names of domain 2's features; None where Y had none. Those of domain 1 are in ``feature_names_in_``."""
        self._check_two("feature_names_y_", "feature_names_ has those of every domain")
        names = self._names(2)
        return np.array(names, dtype=object) if names else None

    @property
    def feature_names_(self) -> Tuple[Optional[List[str]], ...]:
        """Names of each domain's features; None where there are none."""
        names = [self._names(domain) for domain in range(1, len(self._domain_names()) + 1)]
        return tuple(list(one) if one else None for one in names)


def _among(rows: Array, kept: Any) -> Array:
    """The rows where `kept` says so, rows of NaN elsewhere."""
    result = np.full((len(kept), rows.shape[1]), np.nan)
    result[kept] = rows
    return result
