"""Values of a nuisance: numbers as they are, texts as categories."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from . import tables


def _columns(nuisance: Any) -> List[Tuple[str, Any]]:
    """(name, values) of each column; columns without names are numbered from 1."""
    names = tables.names_of(nuisance)
    if names is not None:
        is_arrow = hasattr(nuisance, "column_names")
        return [(name, (nuisance.column(name) if is_arrow else nuisance[name]).to_numpy()) for name in names]
    name = getattr(nuisance, "name", None)
    values = np.asarray(nuisance, dtype=object) if isinstance(nuisance, (list, tuple)) else np.asarray(nuisance)
    if values.ndim not in (1, 2):
        raise ValueError(f"nuisance has {values.ndim} dimensions; give a row for each sample")
    if values.ndim == 1:
        return [(name if isinstance(name, str) else "1", values)]
    return [(str(column + 1), values[:, column]) for column in range(values.shape[1])]


def _numbers(values: Any) -> Any:
    """In float64; None for texts, also of digits, which are categories."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind in "USMm" or any(isinstance(value, str) for value in values.tolist()):
        return None
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return None


def encoded(nuisance: Any, expected: Optional[Sequence[str]] = None) -> Tuple[Any, Optional[List[str]]]:
    """Values as an array with a row for each sample, and their names: 'batch=A' tells samples whose batch is A.

    `expected` are the names of a fit; a category that it did not have is an error.

    >>> encoded(["b", "a", "b"])
    (array([[0., 1.],
           [1., 0.],
           [0., 1.]]), ['1=a', '1=b'])
    """
    blocks, names, any_text = [], [], False
    for name, values in _columns(nuisance):
        numbers = _numbers(values)
        if numbers is not None:
            blocks.append(numbers[:, None])
            names.append(name)
            continue
        if any(value is None or value != value for value in values.tolist()):
            raise ValueError(f"nuisance: column '{name}' has missing values; leave such samples out")
        any_text, texts = True, np.array([str(value) for value in values.tolist()])
        known = [one[len(name) + 1:] for one in expected or [] if one.startswith(f"{name}=")] or sorted(set(texts))
        unknown = sorted(set(texts) - set(known))
        if unknown:
            raise ValueError(f"nuisance: '{unknown[0]}' of column '{name}' is not among the {len(known)} values of the fit")
        blocks.append((texts[:, None] == np.array(known)).astype(np.float64))
        names += [f"{name}={value}" for value in known]
    values = np.hstack(blocks)
    if not np.isfinite(values).all():
        raise ValueError(f"nuisance holds NaN or infinity at row {np.argmin(np.isfinite(values).all(axis=1))} (counted "
                         "from 0); leave such samples out")
    named = any_text or tables.names_of(nuisance) is not None
    if expected is not None and named:
        tables.check_names(names, expected, "nuisance")
        values, names = values[:, [names.index(name) for name in expected]], list(expected)
    return np.ascontiguousarray(values), names if named else None
