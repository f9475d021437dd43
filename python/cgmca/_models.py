"""Models from and to files, which the command line and C++ share."""

from __future__ import annotations

import os
from typing import Any, Optional, Union

from . import _core
from ._estimators import CGMCA, MCA, _keep_names


def save(estimator: Union[CGMCA, MCA], path: Union[str, os.PathLike[str]], *, domain: Optional[int] = None) -> None:
    """Write a fitted estimator's maps to a safetensors file that the command line and C++ read too.

    The file appears whole or not at all. With ``domain`` (1 or 2) it holds that domain's map alone.

    Examples
    --------
    >>> import numpy as np, cgmca, os, tempfile
    >>> random = np.random.default_rng(0)
    >>> X, Y = random.normal(size=(50, 3)), random.normal(size=(50, 2))
    >>> path = os.path.join(tempfile.mkdtemp(), "model")
    >>> model = cgmca.MCA().fit(X, Y)
    >>> cgmca.save(model, path)
    >>> bool((cgmca.load(path).transform(X) == model.transform(X)).all())
    True
    """
    if not isinstance(estimator, (CGMCA, MCA)):
        raise TypeError(f"save takes a fitted CGMCA or MCA, not {type(estimator).__name__}")
    model = estimator._fitted()
    (model if domain is None else model.only(domain)).save(os.fspath(path))


def load(path: Union[str, os.PathLike[str]]) -> CGMCA:
    """Read a model written by `save`, by ``cgmca fit`` or by C++, as a fitted `CGMCA`.

    Its parameters are those of the fit: covariance, n_components, max_rank, ridge and rank_tol. A covariance given by
    an array, a factor or standard deviations is restored as an array, to rounding. ``accumulate`` is a matter of the
    summary, and 'auto'.
    """
    model = _core.Model.load(os.fspath(path))
    settings = model.settings()
    covariances = [_covariance_of(model, domain) for domain in (1, 2)]
    same = isinstance(covariances[0], str) and covariances[0] == covariances[1]
    n1, n2 = settings["components"]
    estimator = CGMCA(covariances[0] if same else tuple(covariances), n_components=n1 or n2 or None,
                      max_rank=_once(*(rank or None for rank in settings["max_rank"])), ridge=_once(*settings["ridge"]),
                      rank_tol=settings["rank_tol"], calibrate=model.calibration_folds or None)
    estimator._model = model
    if model.has(1):
        estimator.n_features_in_ = model.features(1)
        _keep_names(estimator, model.feature_names(1))
    return estimator


def _once(one: Any, two: Any) -> Any:
    """What both domains share, or a pair."""
    return one if one == two else (one, two)


def _covariance_of(model: _core.Model, domain: int) -> Any:
    kind = model.settings()["covariance"][domain - 1]
    if kind != "matrix":
        return kind
    if not model.has(domain):
        return "identity"
    M = model.mixing(domain)
    return M @ M.T
