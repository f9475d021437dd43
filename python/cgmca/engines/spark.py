"""CGMCA of Spark data frames.

Every partition becomes a `Summary` on its executor, by ``mapInArrow``. Summaries are merged in a tree, and the driver
fits the maps. What uses the maps goes from data frame to data frame, partition by partition.

    pairs = spark.read.parquet("pairs")                        # columns x and y, array<double>
    model = cgmca.spark.fit(cgmca.MCA(n_components=10), pairs, "x", "y")
    cgmca.spark.translate(model, pairs, "y", to="x_from_y").write.parquet("translated")

Given the path of Parquet files in place of a data frame, the executors read them without the JVM, which spends more on
making Arrow of its rows than a summary costs. That is more than twice as fast. Given a list or dict of files of arrays
(.npy, .npz, .h5, …), one for each domain, each task reads its share of their rows, which is faster still:

    model = cgmca.spark.fit(cgmca.MCA(n_components=10), {"clean": "clean.npy", "noisy": "noisy.npy"})

A domain's columns are given as one name, of a column that holds arrays of numbers or ML vectors, or a number; or as a
list of names of number columns. Several domains are given as a list or dict of these. `docs/scale.md` says what moves
between executors, and when. PySpark 3.4 or newer and PyArrow are needed, on the executors cgmca too.
"""

from __future__ import annotations

import os
import pickle
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _core
from .._base import accepts_old_names
from .._data import tables
from .._data.array_files import ArrayFiles
from .._data.domains import by_number, is_dict, names_of_new, number_of
from .._estimators import CGMCA
from .._tune import TuneResult, tune_parts
from .parts import Recipe, Use

__all__ = ["fit", "fuse", "summarize", "transform", "translate", "tune"]

Columns = Union[str, Sequence[str]]
Batches = Iterator[Tuple[int, List[Any], Any]]  # the number of the first row, an array for each domain, weights
Work = Callable[[Iterable[Tuple[str, Batches]]], bytes]  # of pieces of the rows, with what messages call them


@accepts_old_names
def summarize(frame: Any, X: Any = None, y: Optional[Columns] = None, *, weight: Optional[str] = None,
              accumulate: str = "auto", depth: Optional[int] = None) -> _core.Summary:
    """The `Summary` of all rows of a Spark data frame, computed now.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame, str, or list or dict of str
        Or the path of a Parquet file, or of a folder of them, which the driver and all executors can read: a local or
        shared one, or any that ``pyarrow.dataset.dataset`` takes. Or the paths of .npy, .npz, .h5, .mat, .csv or .idx
        files, one for each domain; X, y and weight are not given then.
    X, y : str or list of str; X also a list or dict of them, one for each domain
        The columns of each domain: a column of arrays, of ML vectors or of numbers, or a list of number columns. A list
        of names without y is one domain for each: ``["optical", "radar", "infrared"]``.
    weight : str, optional
        A column that says how often each row counts.
    accumulate : {'auto', 'qr', 'gram'}
        See `Summary`.
    depth : int, optional
        Of the tree by which the summaries are merged. By default the driver merges up to 16 of them by itself if they
        take at most 256 MB, because another stage costs Spark half a second; others are merged in a tree of depth 2.
    """
    names, source = _source(frame, X, y, weight)
    recipe = Recipe(source.widths, names=names, accumulate=accumulate, feature_names=source.feature_names)
    summary: _core.Summary = _reduced(source, recipe, depth)
    return summary


@accepts_old_names
def fit(estimator: CGMCA, frame: Any, X: Any = None, y: Optional[Columns] = None, *, weight: Optional[str] = None,
        extra: Any = None, depth: Optional[int] = None) -> Any:
    """Fit `CGMCA` or `MCA` to columns of a Spark data frame; returns the estimator.

    The parameters are those of `summarize`; ``extra`` are arrays in memory, as in `CGMCA.fit`. The result is that of
    ``estimator.fit`` with the same samples, to rounding.
    """
    estimator._refuse_to_calibrate("cgmca.spark.fit")
    return estimator.fit_summary(
        summarize(frame, X, y, weight=weight, accumulate=estimator.accumulate, depth=depth), extra=extra)


@accepts_old_names
def tune(frame: Any, X: Any = None, y: Optional[Columns] = None, *, weight: Optional[str] = None,
         depth: Optional[int] = None, **settings: Any) -> TuneResult:
    """`cgmca.tune` over the matched samples of a Spark data frame, in one pass.

    ``settings`` are those of `cgmca.tune`: covariance, n_components, max_rank, ridge, criterion, folds, repeats, seed,
    rank_tol, extra, graph, scale and progress. The criteria 'classification' and 'partner' need the pairs themselves and are
    refused. Each partition is divided into folds separately, so other partitions give other folds.
    """
    names, source = _source(frame, X, y, weight)
    return tune_parts(lambda folds: _reduced(source, Recipe(source.widths, folds=folds), depth),
                      names or [None] * len(source.widths), source.feature_names, **settings)


def transform(model: CGMCA, frame: Any, columns: Columns, domain: Union[int, str] = 1, *, to: str = "z",
              missing: str = "error") -> Any:
    """The frame with one more column ``to``: samples of a domain in the common space, as array<double>."""
    number = number_of(domain, model._domain_names())
    return _mapped(model, frame, [(number, columns)], "apply", {"missing": missing}, [to])


def translate(model: CGMCA, frame: Any, columns: Any, source: Any = None, target: Union[int, str] = 1, *, to: str,
              std: Optional[str] = None, method: str = "lmmse", missing: str = "error") -> Any:
    """The frame with one more column ``to``: samples of one domain, or of several together, as those of another.

    Parameters
    ----------
    columns : str or list of str; for several domains a dict by their names
    source, target : int or str
        Numbers or names of domains. Default: domain 2 of two domains, to domain 1.
    to, std : str
        The columns that the estimates and, if given, their standard errors go to, as array<double>.
    method, missing
        As for `CGMCA.translate`.
    """
    names = model._domain_names()
    if is_dict(columns):
        given = by_number(columns, names)
    else:
        given = [(number_of(2 if source is None and len(names) == 2 else source, names), columns)]
    options = {"target": number_of(target, names), "method": method, "missing": missing, "return_std": std is not None}
    return _mapped(model, frame, given, "translate", options, [to] if std is None else [to, std])


@accepts_old_names
def fuse(model: CGMCA, frame: Any, X: Any, y: Optional[Columns] = None, *, to: str = "fused",
         method: str = "estimate") -> Any:
    """The frame with one more column ``to``: one point of the common space for each row, as array<double>.

    X and y are columns as in `summarize`, None for a domain that is absent; for more domains X is a list or dict of
    them. A row whose domain is null or holds NaN is fused from the others.
    """
    given = by_number(X, model._domain_names()) if y is None and (is_dict(X) or isinstance(X, (list, tuple))) else [
        (number, columns) for number, columns in ((1, X), (2, y)) if columns is not None]
    if not given:
        raise ValueError("fuse needs the columns of at least one domain")
    return _mapped(model, frame, given, "fuse", {"method": method}, [to])


# Columns as arrays

def _domains_of(X: Any, y: Any) -> Tuple[Optional[Tuple[str, ...]], List[List[str]]]:
    """The names of the domains, if a dict gives them, and the columns of each.

    >>> _domains_of("x", ["a", "b"])
    (None, [['x'], ['a', 'b']])
    >>> _domains_of({"optical": "x", "radar": ["a", "b"]}, None)
    (('optical', 'radar'), [['x'], ['a', 'b']])
    """
    if y is not None:
        return None, [_listed(X), _listed(y)]
    if X is None or isinstance(X, str) or len(X) < 2:
        raise ValueError("give the columns of X and y, or as X a list or dict with those of at least two domains")
    names = names_of_new(X)
    return tuple(names) if names else None, [_listed(one) for one in (X.values() if is_dict(X) else X)]


def _listed(columns: Any) -> List[str]:
    listed = [columns] if isinstance(columns, str) else list(columns)
    if not listed or not all(isinstance(name, str) for name in listed):
        raise TypeError(f"the columns of a domain are given by their names, not by {columns!r}")
    return listed


class _Columns(NamedTuple):
    """The columns of each domain, and that of the weights."""

    domains: List[List[str]]
    weight: Optional[str]

    def all(self) -> List[Tuple[str, bool]]:
        """(name, whether it must hold numbers rather than arrays) of all columns, those of the weights last."""
        return [(name, len(names) > 1) for names in self.domains for name in names] + (
            [(self.weight, True)] if self.weight is not None else [])

    def feature_names(self) -> Tuple[Optional[Tuple[str, ...]], ...]:
        """Of each domain; None if one column holds its features."""
        return tuple(tuple(names) if len(names) > 1 else None for names in self.domains)

    def first(self, domain: int) -> int:
        """The place of a domain's first column."""
        return sum(len(names) for names in self.domains[:domain])

    def of_frame(self, frame: Any) -> List[Any]:
        """These columns of a frame, all of them double or array<double>."""
        return [_column(frame, name, number).alias(f"cgmca_input_{k}") for k, (name, number) in enumerate(self.all())]

    def read(self, batches: Iterable[Sequence[Any]], widths: Sequence[int], where: str, row: int = 0) -> Batches:
        """The numbers of Arrow batches that hold these columns in this order. Messages count rows from `row` on."""
        for columns in batches:
            arrays = [_array_of(columns[self.first(k):self.first(k + 1)], names[0], widths[k], where, row)
                      for k, names in enumerate(self.domains)]
            yield row, arrays, None if self.weight is None else tables._numbers(columns[self.first(len(self.domains))])
            row += len(columns[0])


def _array_of(columns: Sequence[Any], name: str, width: int, where: str, before: int) -> Any:
    """Rows of numbers from one column of lists, or from columns of numbers. Nulls become NaN."""
    import pyarrow
    column = columns[0]
    if not (pyarrow.types.is_list(column.type) or pyarrow.types.is_large_list(column.type)):
        return np.column_stack([tables._numbers(one) for one in columns])
    lengths = np.diff(column.offsets.to_numpy())
    null = column.is_null().to_numpy(zero_copy_only=False)
    ragged = (lengths != width) & ~null
    if ragged.any():
        row = int(ragged.argmax())
        raise ValueError(f"{where}: row {before + row} of column '{name}' (counted from 0) holds {lengths[row]} "
                         f"numbers; the domain has {width} features")
    values = tables._numbers(column.flatten()).reshape(-1, width)
    if not null.any():
        return values
    rows = np.full((len(column), width), np.nan)
    rows[~null] = values
    return rows


def _no_column(name: str, columns: Sequence[str]) -> str:
    return f"no column '{name}'; there are {', '.join(map(repr, columns[:20]))}"


def _column(frame: Any, name: str, number_only: bool) -> Any:
    from pyspark.sql import functions, types
    if name not in frame.columns:
        raise ValueError(_no_column(name, frame.columns))
    kind = frame.schema[name].dataType
    column = functions.col(f"`{name}`")
    if isinstance(kind, types.NumericType) or isinstance(kind, types.BooleanType):
        return column.cast("double")
    if number_only:
        raise ValueError(f"column '{name}' holds {kind.simpleString()}; a number is needed here")
    if isinstance(kind, types.ArrayType) and isinstance(kind.elementType, types.NumericType):
        return column.cast("array<double>")
    if kind.typeName() in ("vectorudt", "udt") or "VectorUDT" in type(kind).__name__:
        from pyspark.ml.functions import vector_to_array
        return vector_to_array(column)
    raise ValueError(f"column '{name}' holds {kind.simpleString()}; numbers, array<double> or ML vectors are needed")


# Where rows come from. mapped(work) is an RDD of what work((where, batches), …) makes of each partition or task.

class _Frame:
    """A data frame: the JVM makes Arrow batches of its rows."""

    def __init__(self, frame: Any, columns: _Columns):
        from pyspark.sql import functions, types
        self.inputs, self.columns, self.feature_names = frame.select(*columns.of_frame(frame)), columns, columns.feature_names()
        widths = [len(names) for names in columns.domains]
        for domain, (name, *_) in enumerate(columns.domains):
            own = self.inputs.columns[columns.first(domain)]
            if isinstance(self.inputs.schema[own].dataType, types.ArrayType):
                row = self.inputs.where(functions.col(own).isNotNull()).select(functions.size(own)).first()
                widths[domain] = _width(None if row is None else int(row[0]), name)
        self.widths = tuple(widths)

    def mapped(self, work: Work) -> Any:
        columns, widths = self.columns, self.widths

        def partition(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow
            where = _partition()
            made = work([(where, columns.read((batch.columns for batch in batches), widths, where))])
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([made], pyarrow.binary())], ["part"])

        return self.inputs.mapInArrow(partition, "part binary").rdd.map(lambda row: bytes(row[0]))


class _Files:
    """Parquet files, which PyArrow reads on the executors."""

    def __init__(self, path: str, columns: _Columns):
        import pyarrow.dataset
        self.dataset, self.columns = pyarrow.dataset.dataset(_absolute(path), format="parquet"), columns
        self.feature_names = columns.feature_names()
        for name, number in columns.all():
            self._check_kind(name, number)
        self.widths = tuple(self._width(names) for names in columns.domains)

    def _check_kind(self, name: str, number_only: bool) -> None:
        from pyarrow import types
        if name not in self.dataset.schema.names:
            raise ValueError(_no_column(name, self.dataset.schema.names))
        kind = self.dataset.schema.field(name).type
        listed = types.is_list(kind) or types.is_large_list(kind)
        inner = kind.value_type if listed and not number_only else kind
        if not any(check(inner) for check in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)):
            raise ValueError(f"column '{name}' holds {kind}; " + ("a number is needed here" if number_only else
                             "numbers or lists of numbers are needed in a file; read others as a data frame"))

    def _width(self, names: List[str]) -> int:
        from pyarrow import types
        if not types.is_nested(self.dataset.schema.field(names[0]).type):
            return len(names)
        lengths = (row.as_py() for fragment in self.dataset.get_fragments()
                   for batch in _batches(fragment, None, names[:1], rows=1000) for row in batch[0].value_lengths())
        return _width(next((length for length in lengths if length is not None), None), names[0])

    def mapped(self, work: Work) -> Any:
        session, columns, widths, names = _session(), self.columns, self.widths, [name for name, _ in self.columns.all()]
        rows = max(64, 2**19 // sum(widths))  # some 4 MB: larger batches need new memory, which takes longer than reading

        def task(groups: List[Any]) -> bytes:
            return work((fragment.path, columns.read(_batches(fragment, row_group, names, rows), widths, fragment.path, first))
                        for fragment, row_group, first in groups)

        return _by_tasks(session, self._shares(session, sum(widths)), task)

    def _shares(self, session: Any, features: int) -> List[Any]:
        """Row groups in order."""
        sizes, groups = [], []
        for fragment in self.dataset.get_fragments():
            first = 0
            for row_group in fragment.row_groups:
                groups.append((fragment, row_group.id, first))
                sizes.append(row_group.total_byte_size)
                first += row_group.num_rows
        limit = _share_bytes(session, sum(sizes), features)
        shares: List[Any] = []
        used = 0
        for group, size in zip(groups, sizes):
            if not shares or used + size > limit:
                shares.append([])
                used = 0
            shares[-1].append(group)
            used += size
        return shares


class _Arrays:
    """Files of arrays, one for each domain, of which each task reads some rows."""

    def __init__(self, paths: Sequence[str]):
        self.files = ArrayFiles([_absolute(path) for path in paths])
        self.widths, self.feature_names = self.files.features, tuple(self.files.feature_names)

    def mapped(self, work: Work) -> Any:
        session, paths, where = _session(), self.files.paths, ", ".join(self.files.paths)

        def task(rows: range) -> bytes:
            return work([(where, ((row, arrays, None) for row, arrays in ArrayFiles(paths).blocks(rows)))])

        return _by_tasks(session, self._shares(session), task)

    def _shares(self, session: Any) -> List[range]:
        count, features = self.files.count(), sum(self.widths)
        parts = max(1, round(8 * features * count / max(1, _share_bytes(session, 8 * features * count, features))))
        return [range(k * count // parts, (k + 1) * count // parts) for k in range(parts)]


def _session() -> Any:
    from pyspark.sql import SparkSession
    return SparkSession.builder.getOrCreate()


def _by_tasks(session: Any, shares: List[Any], task: Callable[[Any], bytes]) -> Any:
    return session.sparkContext.parallelize(shares, max(1, len(shares))).map(task)


def _absolute(path: Any) -> str:
    """A local path, perhaps with `:member`, from the root, because executors work in other folders; an address as it is."""
    return os.path.abspath(path) if os.path.exists(_core.file_of(str(path))) else str(path)


def _share_bytes(session: Any, whole: int, features: int) -> int:
    """Bytes for a task: as many as Spark gives a partition, but at least one task for each core.

    They are more if each core would have over four tasks, because a task costs Spark as much as some 20,000 samples, or
    if tasks had fewer than 32 samples for each feature, because a merge costs as much as several.
    """
    one_each = -(-whole // session.sparkContext.defaultParallelism)
    asked = _bytes_of(session.conf.get("spark.sql.files.maxPartitionBytes"))
    return min(max(asked, one_each // 4, 32 * features * 8 * features), one_each)


Source = Union[_Frame, _Files, _Arrays]


def _source(frame: Any, X: Any, y: Any, weight: Optional[str]) -> Tuple[Optional[Tuple[str, ...]], Source]:
    """The names of the domains, if a dict gives them, and where their samples come from."""
    if isinstance(frame, (list, tuple)) or is_dict(frame):
        if X is not None or y is not None or weight is not None:
            raise ValueError("files of arrays are given alone, one for each domain, without columns and weights")
        if len(frame) < 2:
            raise ValueError("give the files of at least two domains")
        names = names_of_new(frame)
        return tuple(names) if names else None, _Arrays(list(frame.values()) if is_dict(frame) else frame)
    domain_names, domains = _domains_of(X, y)
    columns = _Columns(domains, weight)
    by_path = isinstance(frame, (str, os.PathLike))
    return domain_names, _Files(str(frame), columns) if by_path else _Frame(frame, columns)


def _batches(fragment: Any, row_group: Optional[int], names: Sequence[str], rows: int = 10_000) -> Iterator[List[Any]]:
    """Columns of a file, or of one of its row groups, some rows at a time."""
    import pyarrow.fs
    import pyarrow.parquet
    local = isinstance(fragment.filesystem, pyarrow.fs.LocalFileSystem)
    files = pyarrow.fs.LocalFileSystem(use_mmap=True) if local else fragment.filesystem
    with files.open_input_file(fragment.path) as opened:
        file = pyarrow.parquet.ParquetFile(opened)
        groups = range(file.num_row_groups) if row_group is None else [row_group]
        for batch in file.iter_batches(rows, list(groups), list(dict.fromkeys(names)), use_threads=False):
            yield [batch.column(name) for name in names]


def _bytes_of(setting: str) -> int:
    """
    >>> _bytes_of("134217728b"), _bytes_of("64m"), _bytes_of("1000")
    (134217728, 67108864, 1000)
    """
    number = setting.lower().rstrip("kmgb")
    return int(number) << {"": 0, "b": 0, "k": 10, "m": 20, "g": 30}[setting.lower()[len(number):][:1]]


def _width(length: Optional[int], name: str) -> int:
    if length is None:
        raise ValueError(f"column '{name}' has no rows, so that nothing says how many features it has")
    return length


def _partition() -> str:
    from pyspark import TaskContext
    context = TaskContext.get()
    return f"partition {context.partitionId() if context is not None else 0}"


# Parts and their reduction

def _reduced(source: Source, recipe: Recipe, depth: Optional[int]) -> Any:
    """The part of all rows: one for each partition, merged in a tree."""
    def summarized(pieces: Iterable[Tuple[str, Batches]]) -> bytes:
        part = recipe.empty()
        for where, batches in pieces:
            for row, arrays, weights in batches:
                part = recipe.added(part, arrays, weights, where, row, in_place=True)
        return pickle.dumps(recipe.finished(part))

    def merged(one: Optional[bytes], two: Optional[bytes]) -> Optional[bytes]:
        if one is None or two is None:
            return two if one is None else one
        return pickle.dumps(recipe.merged(pickle.loads(one), pickle.loads(two)))

    parts = source.mapped(summarized)
    if depth is None:
        count = parts.getNumPartitions()
        depth = 1 if count <= 16 and count * recipe.largest_bytes <= 2**28 else 2
    # treeReduce, but None where there are no partitions at all
    whole = parts.treeAggregate(None, merged, merged, depth)
    return recipe.empty() if whole is None else pickle.loads(whole)


# Maps, partition by partition

def _mapped(model: CGMCA, frame: Any, given: Sequence[Tuple[int, Any]], method: str, options: Dict[str, Any],
            names: Sequence[str]) -> Any:
    """The frame with more columns, of arrays: what model.method makes of the domains given."""
    from pyspark.sql import functions, types
    kept = list(frame.columns)
    for name in names:
        if name in kept:
            raise ValueError(f"the frame has a column '{name}' already; give another name")
    columns = _Columns([_listed(own) for _, own in given], None)
    inputs = frame.select(*(functions.col(f"`{name}`") for name in kept), *columns.of_frame(frame))
    widths = [model._fitted().features(number) for number, _ in given]
    arrays_of_doubles = [types.StructField(name, types.ArrayType(types.DoubleType())) for name in names]
    use, shared = Use(method, [number for number, _ in given], options), pickle.dumps(model)

    def mapped(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        where, own, row = _partition(), pickle.loads(shared), 0
        for batch in batches:
            for _, arrays, _ in columns.read([batch.columns[len(kept):]] if batch.num_rows else [], widths, where, row):
                found = use(own, arrays, f"{where}, in its {batch.num_rows} rows from {row} on")
                yield pyarrow.RecordBatch.from_arrays(batch.columns[:len(kept)] + [_lists(values) for values in found],
                                                      kept + list(names))
            row += batch.num_rows

    return inputs.mapInArrow(mapped, types.StructType(list(frame.schema.fields) + arrays_of_doubles))


def _lists(values: Any) -> Any:
    """Rows of an array as an Arrow column of lists."""
    import pyarrow
    ends = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
    return pyarrow.ListArray.from_arrays(ends, pyarrow.array(np.ascontiguousarray(values).ravel()))
