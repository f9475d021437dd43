"""Models from and to files, which the command line and C++ share."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Sequence, Union

import numpy as np

from .. import _core
from .._data.domains import number_of
from .._estimators import CGMCA, MCA


def save(estimator: CGMCA, path: Union[str, os.PathLike[str]], *,
         domain: Union[int, str, None] = None) -> None:
    """Write a fitted estimator's maps to a safetensors file that the command line and C++ read too.

    The file appears whole or not at all. With ``domain``, a number or a name, it holds that domain's map
    alone. The file's note has what the library does not know of an estimator: that it is an `MCA`, and that y had one
    dimension.

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
    if not isinstance(estimator, CGMCA):
        raise TypeError(f"save takes a fitted CGMCA or MCA, not {type(estimator).__name__}")
    model = estimator._fitted()
    if domain is not None:
        model = model.only(number_of(domain, estimator._domain_names()))
    note: Dict[str, Any] = {}
    if isinstance(estimator, MCA):
        note["estimator"] = "MCA"
    if vars(estimator).get("_one_dimensional", False):
        note["one_dimensional"] = True
    model.save(os.fspath(path), json.dumps(note) if note else "")  # else the file is that of C++ and the command line


def load(path: Union[str, os.PathLike[str]]) -> CGMCA:
    """Read a model written by `save`, by ``cgmca fit`` or by C++, as the estimator that was saved, or as `CGMCA`.

    Its parameters are those of the fit: covariance, n_components, max_rank, ridge, rank_tol, graph, scale, towards and those of
    the search for more than two domains. A covariance given by an array, a factor or standard deviations is restored as an
    array, to rounding. ``accumulate`` belongs to the summary and is 'auto'.
    """
    model, text = _core.Model.load(os.fspath(path))
    note = _noted(text)
    settings = model.settings()
    covariances = [_covariance_of(model, domain) for domain in range(1, model.count + 1)]
    same = all(isinstance(one, str) and one == covariances[0] for one in covariances)
    search = {} if model.count == 2 else {  # which two domains do without
        "random_state": settings["seed"], "random_starts": settings["random_starts"],
        "max_sweeps": settings["max_sweeps"], "max_seconds": settings["max_seconds"] or None}
    parameters: Dict[str, Any] = {
        "n_components": next((n for n in settings["components"] if n), None),
        "max_rank": _once([rank or None for rank in settings["max_rank"]]), "ridge": _once(settings["ridge"]),
        "rank_tol": settings["rank_tol"], "calibrate": model.calibration_folds or None,
        "graph": _graph_of(model.certificate()["weights"]), "scale": settings["scale"], "towards": settings["towards"], **search}
    estimator = MCA(**parameters) if note.get("estimator") == "MCA" else CGMCA(
        covariances[0] if same else tuple(covariances), **parameters)
    estimator._model = model
    estimator._one_dimensional = note.get("one_dimensional") is True
    if model.means[0] is not None:
        estimator._keep_names(model.feature_names[0], model.features(1))
    return estimator


def _noted(text: str) -> Dict[str, Any]:
    """What `save` noted; nothing of other programs' notes.

    >>> _noted('{"estimator": "MCA"}'), _noted("from Tuesday"), _noted("")
    ({'estimator': 'MCA'}, {}, {})
    """
    try:
        note = json.loads(text)
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def _once(values: Sequence[Any]) -> Any:
    """What all domains share, or a tuple with one for each."""
    return values[0] if all(one == values[0] for one in values) else tuple(values)


def _graph_of(weights: Any) -> Any:
    """The name of a graph, or its weights where it has none.

    >>> _graph_of(np.ones((3, 3)) - np.eye(3)), _graph_of(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]))
    ('full', 'star:1')
    """
    m = len(weights)
    graphs = {"full": 1 - np.eye(m), "path": np.eye(m, k=1) + np.eye(m, k=-1)}
    for centre in range(m):
        star = np.zeros((m, m))
        star[centre] = star[:, centre] = 1
        star[centre, centre] = 0
        graphs[f"star:{centre + 1}"] = star
    return next((name for name, expected in graphs.items() if np.array_equal(weights, expected)), weights)


def _covariance_of(model: _core.Model, domain: int) -> Any:
    kind = model.settings()["covariance"][domain - 1]
    if kind != "matrix":
        return kind
    if model.means[domain - 1] is None:
        return "identity"
    M = model.mixing(domain)
    return M @ M.T
