"""Models from and to files, which the command line and C++ share."""

from __future__ import annotations

import os
import re
from typing import Any, Optional, Tuple, Union

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

    Its parameters are those of the fit as far as the file tells; a covariance given as an array is restored to
    rounding.
    """
    model = _core.Model.load(os.fspath(path))
    settings = [_setting_of(model, domain) for domain in (1, 2)]
    (covariance1, n1), (covariance2, n2) = settings
    if isinstance(covariance1, str) and covariance1 == covariance2 and n1 == n2:
        estimator = CGMCA(covariance=covariance1, n_components=n1)
    else:
        estimator = CGMCA(covariance=(covariance1, covariance2), n_components=n1 if n1 is not None else n2)
    estimator._model = model
    if model.has(1):
        estimator.n_features_in_ = model.features(1)
        _keep_names(estimator, model.feature_names(1))
    return estimator


def _setting_of(model: _core.Model, domain: int) -> Tuple[Any, Optional[int]]:
    words = re.fullmatch(r"(identity|data1|data2|correlation)(?::(\d+))?", model.covariances[domain - 1])
    if words:
        return words[1], int(words[2]) if words[2] else None
    if not model.has(domain):
        return "identity", None
    M = model.mixing(domain)
    return M @ M.T, None
