"""What `cgmca.dask` and `cgmca.spark` share: parts of the samples, summarized or mapped on any worker."""

from __future__ import annotations

import dataclasses
import os
import socket
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np

from .. import _core
from .._data import tables
from .._data.domains import labels

Part = Union[_core.Summary, _core.Folds]
Result = TypeVar("Result")

# A merge costs as much as adding 3,500 to 8,000 samples (docs/scale.md), and more where p, the features of all domains,
# is large. With so many samples to a part, at least the first number and the second times p, merges take a small share.
_SAMPLES_PER_PART, _SAMPLES_PER_FEATURE = 1 << 16, 16


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How samples become a part, and parts become one: sent to the workers with every task.

    A part is never changed once a task has made it, so that a task may be repeated: after a worker was lost, or because
    two workers had it. ``folds`` are the number of folds, of repeats and the seed for `tune`; without them a part is a
    `Summary`.

    >>> recipe = Recipe((2, 1), accumulate="auto")
    >>> one = recipe.added(recipe.empty(), [np.ones((3, 2)), np.zeros((3, 1))], None, "partition 0")
    >>> recipe.merged(one, one)
    Summary(2, 1) of 6 pairs
    >>> recipe.added(one, [np.array([[1, 2], [3, np.nan]]), np.zeros((2, 1))], None, "partition 5")
    Traceback (most recent call last):
    ...
    ValueError: partition 5: domain 1 holds nan at row 1, column 1, counted from 0; leave such samples out, or fill them
    in
    """

    features: Tuple[int, ...]
    names: Optional[Tuple[str, ...]] = None
    feature_names: Optional[Tuple[Optional[Tuple[str, ...]], ...]] = None
    accumulate: str = "auto"
    folds: Optional[Tuple[int, int, int]] = None
    version: str = _core.__version__

    def empty(self) -> Part:
        if self.folds is not None:
            folds, repeats, seed = self.folds
            return _core.Folds(self.features, folds, repeats, seed)
        return _core.Summary(*self.features, accumulate=self.accumulate, names=self.names,
                             feature_names=self.feature_names)

    def added(self, part: Optional[Part], arrays: Sequence[Any], weights: Any, where: str, before: int = 0,
              in_place: bool = False) -> Part:
        """The part with more samples. Messages call them rows `before`, `before` + 1, … of `where`. `in_place`: nobody
        else has the part, so that a summary needs no copy; it is lost where that fails."""
        check_version(self.version)
        part = self.empty() if part is None else part
        if all(len(rows) == 0 for rows in arrays):
            return part
        called = labels(len(arrays))
        named(where, lambda: tables.check_rows([*arrays, weights], [*called, "sample_weight"]))
        arrays = [_numbers(rows, name, where, before) for rows, name in zip(arrays, called)]
        try:
            if in_place and isinstance(part, _core.Summary):
                return part.add(*arrays, sample_weight=weights)
            return part.with_more(arrays, sample_weight=weights)
        except ValueError as problem:
            place = _first_bad(arrays, weights, before)
            raise ValueError(f"{where}: {place or problem}") from None

    def merged(self, one: Part, two: Part) -> Part:
        check_version(self.version)
        return one.merged(two)  # type: ignore[arg-type]  # both of one kind

    def finished(self, part: Part) -> Part:
        """The part as it is sent to be merged: without samples that wait as rows, most of a summary's bytes.

        >>> recipe = Recipe((2, 1))
        >>> part = recipe.added(None, [np.random.default_rng(0).normal(size=(3000, d)) for d in (2, 1)], None, "here")
        >>> len(recipe.finished(part).__getstate__()) < len(part.__getstate__()) / 10
        True
        """
        return part.compressed() if isinstance(part, _core.Summary) else part

    @property
    def largest_bytes(self) -> int:
        """Of a part that is finished: two p×p matrices, for each fold if there are folds."""
        folds, repeats, _ = self.folds or (1, 1, 0)
        return 16 * sum(self.features) ** 2 * folds * repeats

    @property
    def samples_per_part(self) -> int:
        return max(_SAMPLES_PER_PART, _SAMPLES_PER_FEATURE * sum(self.features))


class Use(NamedTuple):
    """One of a model's methods, for samples of these domains."""

    method: str
    domains: Sequence[int]
    options: Dict[str, Any]
    version: str = _core.__version__

    def __call__(self, model: Any, arrays: Sequence[Any], where: str) -> Tuple[Any, ...]:
        """What the method returns for an array of each domain, as a tuple."""
        check_version(self.version)
        call = getattr(model, self.method)
        found = named(where, lambda: call(arrays[0], *self.domains, **self.options) if self.method == "apply" else
                      call(dict(zip(self.domains, arrays)), **self.options))
        return found if isinstance(found, tuple) else (found,)


def check_version(expected: str) -> None:
    """RuntimeError if this process has another cgmca than the one that sent the work."""
    if _core.__version__ != expected:
        raise RuntimeError(f"the worker on {socket.gethostname()} (process {os.getpid()}) has cgmca "
                           f"{_core.__version__}, and the program that sends it work has {expected}; install the same "
                           "version on all machines")


def _first_bad(arrays: Sequence[Any], weights: Any, before: int) -> Optional[str]:
    """The first NaN or infinity in a sample of a weight above 0."""
    for domain, rows in enumerate(arrays, start=1):
        bad = ~np.isfinite(rows) if rows.ndim == 2 else np.empty((0, 0), bool)
        if weights is not None and len(weights) == len(bad):
            bad[np.asarray(weights) == 0] = False
        if bad.any():
            row, column = np.argwhere(bad)[0]
            return (f"domain {domain} holds {rows[row, column]} at row {before + row}, column {column}, counted from "
                    "0; leave such samples out, or fill them in")
    return None


def _numbers(rows: Any, name: str, where: str, before: int) -> Any:
    """An array of numbers; a ValueError names the first row that is of another width or holds none."""
    tables.refuse_complex(rows, name)
    rows = tables.plain(rows)
    rows = rows.toarray() if tables.is_sparse(rows) else np.asarray(rows)
    if rows.dtype != object:
        return rows
    try:
        return rows.astype(np.float64)
    except (TypeError, ValueError):
        for number, row in enumerate(rows):
            try:
                np.asarray(row, dtype=np.float64)
            except (TypeError, ValueError) as problem:
                raise ValueError(f"{where}: row {before + number} of {name} (counted from 0) holds no numbers: "
                                 f"{problem}") from None
        raise


def named(where: str, work: Callable[[], Result]) -> Result:
    """work(), with `where` before the message of a ValueError."""
    try:
        return work()
    except ValueError as problem:
        raise ValueError(f"{where}: {problem}") from None
