"""CGMCA of Dask arrays and data frames, with any of Dask's schedulers.

Every block of rows becomes a `Summary` on the worker that has it. Summaries are merged in a tree, and one fit follows.
What uses the maps is lazy, chunk by chunk.

>>> import dask.array, numpy as np, cgmca, cgmca.dask
>>> random = dask.array.random.RandomState(0)
>>> X = random.normal(size=(10_000, 6), chunks=(1000, 6))
>>> Y = X[:, :4] + random.normal(size=(10_000, 4), chunks=(2500, 4))
>>> model = cgmca.dask.fit(cgmca.MCA(n_components=3), X, Y)
>>> cgmca.dask.translate(model, Y).mean().compute().shape
()

In place of X and y there may be a list or a dict with one array for each domain, as for `CGMCA.fit`. Frames keep their
columns' names. `docs/scale.md` says what moves between workers, and when.
"""

from __future__ import annotations

import collections
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

try:
    import dask
    import dask.array
    import dask.optimization
except ImportError as absent:
    raise ImportError("cgmca.dask needs Dask: pip install 'cgmca[dask]', or Debian's python3-dask") from absent

from .. import _core
from .._base import accepts_old_names
from .._data import tables
from .._data.domains import as_given, given, label, labels, new_domains, number_of
from .._estimators import CGMCA, intake
from .._tune import TuneResult, tune_parts
from .parts import Recipe, Use

__all__ = ["fit", "fuse", "summarize", "transform", "translate", "tune"]


@accepts_old_names
def summarize(X: Any, y: Any = None, *, sample_weight: Any = None, accumulate: str = "auto") -> _core.Summary:
    """The `Summary` of all samples, computed now.

    Parameters
    ----------
    X, y : Dask array or data frame; X also a list or dict of them, one for each domain
        Row i of all of them belongs together. Chunks of rows may differ: the others are cut into the chunks of X. Frames
        and arrays of unknown lengths must have as many partitions as X, of the same lengths. Otherwise turn frames into
        arrays of known lengths by ``to_dask_array(lengths=True)``.
    sample_weight : Dask array of shape (n_samples,), optional
        How often each sample counts, see `CGMCA.fit`.
    accumulate : {'auto', 'qr', 'gram'}
        See `Summary`.
    """
    names, domains, weights = _matched(X, y, sample_weight)
    recipe = Recipe(tuple(domain.features for domain in domains), names=names, accumulate=accumulate,
                    feature_names=tuple(domain.names for domain in domains))
    summary: _core.Summary = _reduced(recipe, domains, weights)
    return summary


@accepts_old_names
def fit(estimator: CGMCA, X: Any, y: Any = None, *, sample_weight: Any = None, extra: Any = None) -> Any:
    """Fit `CGMCA` or `MCA` to Dask arrays or data frames; returns the estimator.

    X, y and ``sample_weight`` are as in `summarize`; ``extra`` are arrays in memory, as in `CGMCA.fit`. The result is
    that of ``estimator.fit`` with the same samples, to rounding.
    """
    estimator._refuse_to_calibrate("cgmca.dask.fit")
    return estimator.fit_summary(summarize(X, y, sample_weight=sample_weight, accumulate=estimator.accumulate),
                                 extra=extra)


@accepts_old_names
def tune(X: Any, y: Any = None, *, sample_weight: Any = None, **settings: Any) -> TuneResult:
    """`cgmca.tune` over the matched samples of two or more Dask arrays or data frames, in one pass.

    ``settings`` are those of `cgmca.tune`: covariance, n_components, max_rank, ridge, criterion, folds, repeats, seed,
    rank_tol, extra, graph, scale and progress. The criteria 'classification' and 'partner' need the pairs themselves and are
    refused. Each part of the data is divided into folds separately, so other chunks give other folds.
    """
    names, domains, weights = _matched(X, y, sample_weight)
    features = tuple(domain.features for domain in domains)
    return tune_parts(lambda folds: _reduced(Recipe(features, folds=folds), domains, weights),
                      names or [None] * len(domains), [domain.names for domain in domains], **settings)


@accepts_old_names
def transform(model: CGMCA, X: Any, y: Any = None, *, missing: str = "error") -> Any:
    """Domain 1, and domain 2 if given, in the common space, lazily; or each domain of a list or dict.

    An array for an array, a data frame for a data frame. See `CGMCA.transform`.
    """
    names, out = model._domain_names(), list(model.get_feature_names_out())
    found = {number: _mapped(model, [(number, rows)], "apply", {"missing": missing}, out)[0]
             for number, rows in given(X, y, names)}
    return as_given(X, y, found, names)


def translate(model: CGMCA, X: Any, source: Any = None, target: Union[int, str] = 1, method: str = "lmmse",
              return_std: bool = False, *, return_interval: Optional[float] = None, missing: str = "error") -> Any:
    """Samples of one domain, or of several together, as samples of another, lazily.

    A data frame gives a data frame with the names of the target's features. See `CGMCA.translate`.
    """
    to = number_of(target, model._domain_names())
    if return_std and return_interval is not None:
        raise ValueError("give return_std or return_interval, not both")
    options = {"target": to, "method": method, "missing": missing, "return_std": return_std,
               "return_interval": return_interval}
    out = list(model._names(to) or [f"x{j}" for j in range(model._fitted().features(to))])
    results = 2 if return_std else 3 if return_interval is not None else 1
    found = _mapped(model, intake.sources(model, X, source), "translate", options, out, results)
    return found[0] if results == 1 else tuple(found)


@accepts_old_names
def fuse(model: CGMCA, X: Any = None, y: Any = None, *, method: str = "estimate") -> Any:
    """One point of the common space for each sample, from whatever domains are given, lazily. See `CGMCA.fuse`."""
    present = [(number, rows) for number, rows in given(X, y, model._domain_names(), "fuse") if rows is not None]
    if not present:
        raise ValueError("fuse needs samples of at least one domain")
    return _mapped(model, present, "fuse", {"method": method}, list(model.get_feature_names_out()))[0]


# Samples as blocks of rows

class _Domain(NamedTuple):
    rows: Any  # a Dask array in which each block has all columns
    names: Optional[Tuple[str, ...]]

    @property
    def features(self) -> int:
        return int(self.rows.shape[1])


def _is_frame(data: Any) -> bool:
    return hasattr(data, "map_partitions") and hasattr(data, "to_dask_array")


def _matched(X: Any, y: Any, weights: Any) -> Tuple[Optional[Tuple[str, ...]], List[_Domain], Any]:
    """The domains' names, their samples and the weights, all cut into the same blocks of rows."""
    domain_names, frames = new_domains(X, y, "cgmca.dask")
    called = labels(len(frames))
    _check_rows([*frames, weights], [*called, "sample_weight"])
    arrays = [_as_array(rows, name) for rows, name in zip(frames, called)]
    if weights is not None:
        arrays.append(_as_array(weights, "sample_weight"))
    arrays = _cut_alike(arrays, [*called, "sample_weight"])
    names = [tables.names_of(rows) if _is_frame(rows) else None for rows in frames]
    domains = [_Domain(rows, tuple(own) if own else None) for rows, own in zip(arrays, names)]
    return tuple(domain_names) if domain_names else None, domains, arrays[-1] if weights is not None else None


def _check_rows(data: Sequence[Any], names: Sequence[str]) -> None:
    """As `tables.check_rows`: row labels are read first, and compared partition by partition where that is enough."""
    frames = [(name, rows) for name, rows in zip(names, data) if rows is not None and _is_frame(rows)]
    if len(frames) < 2:
        return
    indexes = [rows.index for _, rows in frames]
    if len({index.npartitions for index in indexes}) == 1:
        equal = dask.delayed(_equal_labels, pure=False)
        if all(dask.compute(*(equal(*parts) for parts in zip(*(index.to_delayed() for index in indexes))))):
            return
    import pandas
    tables.check_rows([pandas.Series(0, index=index) for index in dask.compute(*indexes)], [name for name, _ in frames])


def _equal_labels(first: Any, *others: Any) -> bool:
    return all(first.equals(other) for other in others)


def _as_array(data: Any, name: str) -> Any:
    """A two-dimensional Dask array, all columns of a row in one block."""
    array = data.to_dask_array() if _is_frame(data) else data
    if not isinstance(array, dask.array.Array):
        raise TypeError(f"{name} is a {type(data).__name__}; a Dask array or data frame is needed "
                        "(dask.array.from_array makes one of an array)")
    if array.ndim == 1:
        array = array.map_blocks(_as_column, dtype=array.dtype, new_axis=1, chunks=(array.chunks[0], (1,)))
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions; samples as rows and features as columns are needed")
    return array if array.numblocks[1] == 1 else array.rechunk({1: -1})


def _as_column(values: Any) -> Any:
    return np.asarray(values).reshape(-1, 1)


def _cut_alike(arrays: Sequence[Any], names: Sequence[str]) -> List[Any]:
    """All arrays in the row blocks of the first."""
    first = arrays[0]
    cut = [first]
    for array, name in zip(arrays[1:], names[1:]):
        if np.isnan(array.shape[0]) or np.isnan(first.shape[0]):
            if array.numblocks[0] != first.numblocks[0]:
                raise ValueError(
                    f"{names[0]} has {first.numblocks[0]} partitions and {name} has {array.numblocks[0]}, of unknown "
                    "lengths, so that rows cannot be matched; to_dask_array(lengths=True) of a data frame, or "
                    "compute_chunk_sizes() of an array, finds the lengths")
        elif array.shape[0] != first.shape[0]:
            raise ValueError(f"{names[0]} has {first.shape[0]} rows and {name} has {array.shape[0]}; matched samples "
                             "need as many of each")
        elif array.chunks[0] != first.chunks[0]:
            array = array.rechunk({0: first.chunks[0]})
        cut.append(array)
    return cut


# Parts and their reduction

def _reduced(recipe: Recipe, domains: Sequence[_Domain], weights: Any) -> Any:
    """The part of all samples. Blocks are added one after another to a part; parts are merged two by two."""
    arrays = [domain.rows for domain in domains] + ([] if weights is None else [weights])
    sources = _sources(arrays)
    lengths = arrays[0].chunks[0]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    added, merged = dask.delayed(_added, pure=False), dask.delayed(_merged, pure=False)
    shared = dask.delayed(recipe, traverse=False)  # one copy for each worker, not for each block
    parts = []
    chains = _chains(lengths, recipe.samples_per_part, _threads())
    for chain in chains:
        part = None
        for number in chain:
            first = None if np.isnan(starts[number]) else int(starts[number])
            to_merge = len(chains) > 1 and number == chain[-1]
            part = added(shared, part, number, first, to_merge, weights is not None, *sources[number])
        parts.append(part)
    if not parts:
        return recipe.empty()
    while len(parts) > 1:
        pairs = [parts[k:k + 2] for k in range(0, len(parts), 2)]
        parts = [merged(shared, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return dask.compute(parts[0])[0]


def _added(recipe: Recipe, part: Any, number: int, first: Optional[int], to_merge: bool, weighted: bool,
           *arrays: Any) -> Any:
    where = f"partition {number}" if first is None else f"partition {number} (which begins at row {first})"
    if isinstance(arrays[0], _Blocks):
        arrays = arrays[0].compute()
    weights = np.asarray(arrays[-1]).ravel() if weighted else None
    part = recipe.added(part, arrays[:-1] if weighted else arrays, weights, where)
    return recipe.finished(part) if to_merge else part


class _Blocks:
    """Blocks of rows that the task which adds them computes itself. Dask does not look inside."""

    def __init__(self, graph: Dict[Any, Any], keys: List[Any]) -> None:
        self.graph, self.keys = graph, keys

    def compute(self) -> Tuple[Any, ...]:
        return tuple(dask.core.get(self.graph, self.keys))


def _sources(arrays: Sequence[Any]) -> List[List[Any]]:
    """Each array's block number 0, 1, …: as one `_Blocks`, or as delayed objects where that is not possible.

    Dask would read blocks on any worker, some before they are wanted, and move them to the one that adds them. What
    several blocks need is read once, by Dask, and so is what the workers hold already.
    """
    held = _held_by_workers(arrays)
    arrays = dask.optimize(*arrays)  # together, so that what they share is read once
    delayed = [list(blocks) for blocks in zip(*(array.to_delayed(optimize_graph=False).ravel() for array in arrays))]
    if held:
        return delayed
    graph = {key: node for array in arrays for key, node in dict(array.__dask_graph__()).items()}
    keys = [list(block) for block in zip(*(dask.core.flatten(array.__dask_keys__()) for array in arrays))]
    needed = [dask.optimization.cull(graph, block)[0] for block in keys]
    users = collections.Counter(key for own in needed for key in own)
    return [[_Blocks(dict(own), block)] if all(users[key] == 1 for key in own) else objects
            for own, block, objects in zip(needed, keys, delayed)]


def _held_by_workers(arrays: Sequence[Any]) -> bool:
    try:
        from distributed import futures_of
    except ImportError:
        return False
    return bool(futures_of(list(arrays)))


def _merged(recipe: Recipe, one: Any, two: Any) -> Any:
    return recipe.merged(one, two)


def _chains(lengths: Sequence[float], samples_per_part: int, threads: int) -> List[List[int]]:
    """Which blocks are added to one part, one after another: enough for merges to be few, and a part for each thread.

    >>> _chains([100] * 6, 300, 2), len(_chains([5000] * 1000, 300, 2)), len(_chains([100] * 6, 300, 16))
    ([[0, 1, 2], [3, 4, 5]], 1000, 6)
    """
    count = len(lengths)
    total = sum(lengths)
    wanted = 4 * threads if np.isnan(total) else max(threads, int(total // samples_per_part))
    ends = np.linspace(0, count, min(count, max(wanted, 1)) + 1).round().astype(int)
    return [list(range(first, end)) for first, end in zip(ends, ends[1:])]


def _threads() -> int:
    """How many tasks can run at once."""
    try:
        from distributed import get_client
        return max(1, sum(get_client().nthreads().values()))
    except (ImportError, ValueError):  # no distributed, or no client
        return int(dask.config.get("num_workers", None) or dask.system.CPU_COUNT)


# Maps, chunk by chunk

def _mapped(model: CGMCA, present: Sequence[Tuple[int, Any]], method: str, options: Dict[str, Any], columns: List[str],
            results: int = 1) -> List[Any]:
    """What model.method returns for each chunk: arrays, or frames if all that is given are frames."""
    use = Use(method, [number for number, _ in present], options)
    names = [label(number, len(model._domain_names())) for number, _ in present]
    shared = dask.delayed(model, traverse=False)  # one copy for each worker, not for each chunk
    if all(_is_frame(rows) for _, rows in present):
        frames = [rows for _, rows in present]
        for frame, name in zip(frames, names):
            if frame.npartitions != frames[0].npartitions:
                raise ValueError(f"{names[0]} has {frames[0].npartitions} partitions and {name} has "
                                 f"{frame.npartitions}; repartition one as the other")
        from dask.dataframe import map_partitions
        return [map_partitions(_use_frames, *frames, model=shared, use=use, columns=columns, part=part,
                               meta={name: np.float64 for name in columns}, align_dataframes=False)
                for part in range(results)]
    arrays = _cut_alike([_as_array(rows, name) for (_, rows), name in zip(present, names)], names)
    return [dask.array.map_blocks(_use_arrays, *arrays, model=shared, use=use, width=len(columns), part=part,
                                  dtype=np.float64, chunks=(arrays[0].chunks[0], (len(columns),)),
                                  meta=np.empty((0, 0))) for part in range(results)]


def _use_arrays(*arrays: Any, model: Any, use: Use, width: int, part: int, block_id: Any = None) -> Any:
    if len(arrays[0]) == 0:
        return np.empty((0, width))
    return use(model, arrays, f"partition {block_id[0] if block_id else 0}")[part]


def _use_frames(*frames: Any, model: Any, use: Use, columns: List[str], part: int, partition_info: Any = None) -> Any:
    import pandas
    number = partition_info["number"] if partition_info else 0
    found = _use_arrays(*frames, model=model, use=use, width=len(columns), part=part, block_id=[number])
    return pandas.DataFrame(np.asarray(found), index=frames[0].index, columns=columns)
