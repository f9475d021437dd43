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
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _core
from .._data import tables
from .._data.array_files import ArrayFiles
from .._data.domains import by_number, is_dict, names_of_new, number_of
from .._estimators import CGMCA, MCA
from .._tune import TuneResult, tune_folds
from .parts import Recipe, check_version, named

__all__ = ["fit", "fuse", "summarize", "transform", "translate", "tune"]

Estimator = Union[CGMCA, MCA]
Columns = Union[str, Sequence[str]]


def summarize(frame: Any, X: Any = None, Y: Optional[Columns] = None, *, weight: Optional[str] = None,
              accumulate: str = "auto", depth: Optional[int] = None) -> _core.Summary:
    """The `Summary` of all rows of a Spark data frame, computed now.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame, str, or list or dict of str
        Or the path of a Parquet file, or of a folder of them, which the driver and all executors can read: a local or
        shared one, or any that ``pyarrow.dataset.dataset`` takes. Or the paths of .npy, .npz, .h5, .mat, .csv or .idx
        files, one for each domain; X, Y and weight are not given then.
    X, Y : str or list of str; X also a list or dict of them, one for each domain
        The columns of each domain: a column of arrays, of ML vectors or of numbers, or a list of number columns. A list
        of names without Y is one domain for each: ``["optical", "radar", "infrared"]``.
    weight : str, optional
        A column that says how often each row counts.
    accumulate : {'auto', 'qr', 'gram'}
        See `Summary`.
    depth : int, optional
        Of the tree by which the summaries are merged. By default the driver merges up to 16 of them by itself if they
        take at most 256 MB, because another stage costs Spark half a second; others are merged in a tree of depth 2.
    """
    names, source = _source(frame, X, Y, weight)
    recipe = Recipe(source.widths(), names=names, accumulate=accumulate, feature_names=source.feature_names())
    summary: _core.Summary = _reduced(source, recipe, depth)
    return summary


def fit(estimator: Estimator, frame: Any, X: Any = None, Y: Optional[Columns] = None, *, weight: Optional[str] = None,
        extra_X: Any = None, extra_Y: Any = None, extra: Any = None, depth: Optional[int] = None) -> Any:
    """Fit `CGMCA` or `MCA` to columns of a Spark data frame; returns the estimator.

    The parameters are those of `summarize`; ``extra_X``, ``extra_Y`` and ``extra`` are arrays in memory, as in
    `CGMCA.fit`. The result is that of ``estimator.fit`` with the same samples, to rounding.
    """
    estimator._refuse_to_calibrate("cgmca.spark.fit")
    summary = summarize(frame, X, Y, weight=weight, accumulate=estimator.accumulate, depth=depth)
    return estimator.fit_summary(summary, extra_X=extra_X, extra_Y=extra_Y, extra=extra)


def tune(frame: Any, X: Any = None, Y: Optional[Columns] = None, *, weight: Optional[str] = None,
         depth: Optional[int] = None, **settings: Any) -> TuneResult:
    """`cgmca.tune` over the matched samples of a Spark data frame, in one pass.

    ``settings`` are those of `cgmca.tune`: covariance, n_components, max_rank, ridge, criterion, folds, repeats, seed,
    rank_tol, extra_X, extra_Y, extra, graph and progress. The criteria 'classification' and 'partner' need the pairs
    themselves and are refused. Each partition is divided into folds separately, so other partitions give other folds.
    """
    names, source = _source(frame, X, Y, weight)

    def make(folds: Tuple[int, int, int]) -> _core.Folds:
        made: _core.Folds = _reduced(source, Recipe(source.widths(), folds=folds), depth)
        return made

    return tune_folds(make, names or [None] * len(source.widths()), **settings)


def transform(model: Estimator, frame: Any, columns: Columns, domain: Union[int, str] = 1, *, to: str = "z",
              missing: str = "error") -> Any:
    """The frame with one more column ``to``: samples of a domain in the common space, as array<double>."""
    number = number_of(domain, model._domain_names())
    return _mapped(model, frame, [(number, columns)], _Use("apply", {"domain": number, "missing": missing}), [to])


def translate(model: Estimator, frame: Any, columns: Any, source: Any = None, target: Union[int, str] = 1, *, to: str,
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
    options = {"source": [number for number, _ in given], "target": number_of(target, names), "method": method,
               "missing": missing, "return_std": std is not None}
    return _mapped(model, frame, given, _Use("translate", options), [to] if std is None else [to, std])


def fuse(model: Estimator, frame: Any, X: Any, Y: Optional[Columns] = None, *, to: str = "fused",
         method: str = "estimate") -> Any:
    """The frame with one more column ``to``: one point of the common space for each row, as array<double>.

    X and Y are columns as in `summarize`, None for a domain that is absent; for more domains X is a list or dict of
    them. A row whose domain is null or holds NaN is fused from the others.
    """
    names = model._domain_names()
    given = by_number(X, names) if Y is None and (is_dict(X) or isinstance(X, (list, tuple))) else [
        (number, columns) for number, columns in ((1, X), (2, Y)) if columns is not None]
    if not given:
        raise ValueError("fuse needs the columns of at least one domain")
    return _mapped(model, frame, given, _Use("fuse", {"method": method, "domains": [number for number, _ in given]}),
                   [to])


# Columns as arrays

def _domains_of(X: Any, Y: Any) -> Tuple[Optional[Tuple[str, ...]], List[List[str]]]:
    """The names of the domains, if a dict gives them, and the columns of each.

    >>> _domains_of("x", ["a", "b"])
    (None, [['x'], ['a', 'b']])
    >>> _domains_of({"optical": "x", "radar": ["a", "b"]}, None)
    (('optical', 'radar'), [['x'], ['a', 'b']])
    """
    if Y is not None:
        return None, [_listed(X), _listed(Y)]
    if isinstance(X, str) or len(X) < 2:
        raise ValueError("give the columns of X and Y, or as X a list or dict with those of at least two domains")
    names = names_of_new(X)
    return tuple(names) if names else None, [_listed(one) for one in (X.values() if is_dict(X) else X)]


def _listed(columns: Any) -> List[str]:
    listed = [columns] if isinstance(columns, str) else list(columns)
    if not listed or not all(isinstance(name, str) for name in listed):
        raise TypeError(f"the columns of a domain are given by their names, not by {columns!r}")
    return listed


class _Reader(NamedTuple):
    """The arrays of each domain, and the weights, of Arrow columns that hold them one after another."""

    domains: List[List[str]]
    weight: Optional[str]

    def columns(self, frame: Any) -> List[Any]:
        """These columns of a frame, all of them double or array<double>."""
        chosen = [_column(frame, name, len(names) > 1) for names in self.domains for name in names]
        if self.weight is not None:
            chosen.append(_column(frame, self.weight, True))
        return [column.alias(f"cgmca_input_{k}") for k, column in enumerate(chosen)]

    def first(self, domain: int) -> int:
        """The place of a domain's first column; of the weights' after the last domain."""
        return sum(len(names) for names in self.domains[:domain])

    def arrays(self, columns: Sequence[Any], widths: Sequence[int], where: str, before: int) -> List[Any]:
        return [_array_of(columns[self.first(k):self.first(k + 1)], names[0], widths[k], where, before)
                for k, names in enumerate(self.domains)]

    def feature_names(self) -> Tuple[Optional[Tuple[str, ...]], ...]:
        """Of each domain; None where one column holds its features."""
        return tuple(tuple(names) if len(names) > 1 else None for names in self.domains)

    def weights(self, columns: Sequence[Any]) -> Any:
        return None if self.weight is None else tables._numbers(columns[self.first(len(self.domains))])


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


# Where rows come from

class _Piece(NamedTuple):
    """Rows that follow one another: what they are called in messages, and the number of the first."""

    where: str
    first: int
    batches: Iterator[Any]


class _Frame:
    """A data frame: the JVM makes Arrow batches of its rows."""

    def __init__(self, frame: Any, reader: _Reader):
        self.inputs, self.reader = frame.select(*reader.columns(frame)), reader

    def feature_names(self) -> Any:
        return self.reader.feature_names()

    def widths(self) -> Tuple[int, ...]:
        """Features of each domain: the number of its columns, or the length of the first array in its one column."""
        from pyspark.sql import functions, types
        widths = [len(names) for names in self.reader.domains]
        for domain in range(len(widths)):
            name = self.inputs.columns[self.reader.first(domain)]
            if isinstance(self.inputs.schema[name].dataType, types.ArrayType):
                row = self.inputs.where(functions.col(name).isNotNull()).select(functions.size(name)).first()
                widths[domain] = _width(None if row is None else int(row[0]), self.reader.domains[domain][0])
        return tuple(widths)

    def mapped(self, work: Callable[[Iterator[_Piece]], bytes]) -> Any:
        """An RDD: what `work` makes of each partition."""

        def partition(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow
            made = work(iter([_Piece(_partition(), 0, (batch.columns for batch in batches))]))
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([made], pyarrow.binary())], ["part"])

        return self.inputs.mapInArrow(partition, "part binary").rdd.map(lambda row: bytes(row[0]))


class _Files:
    """Parquet files, which PyArrow reads on the executors."""

    def __init__(self, path: str, reader: _Reader):
        import pyarrow.dataset
        self.dataset, self.reader = pyarrow.dataset.dataset(_absolute(path), format="parquet"), reader
        self.names = [name for names in reader.domains for name in names] + ([reader.weight] if reader.weight else [])
        for name in self.names:
            if name not in self.dataset.schema.names:
                raise ValueError(_no_column(name, self.dataset.schema.names))
        for names in reader.domains:
            for name in names:
                self._check_kind(name, len(names) > 1)
        if reader.weight is not None:
            self._check_kind(reader.weight, True)

    def _check_kind(self, name: str, number_only: bool) -> None:
        from pyarrow import types
        kind = self.dataset.schema.field(name).type
        listed = types.is_list(kind) or types.is_large_list(kind)
        inner = kind.value_type if listed and not number_only else kind
        if not (types.is_integer(inner) or types.is_floating(inner) or types.is_decimal(inner)
                or types.is_boolean(inner)):
            raise ValueError(f"column '{name}' holds {kind}; " + ("a number is needed here" if number_only else
                             "numbers or lists of numbers are needed in a file; read others as a data frame"))

    def feature_names(self) -> Any:
        return self.reader.feature_names()

    def widths(self) -> Tuple[int, ...]:
        return tuple(self._width(names) for names in self.reader.domains)

    def _width(self, names: List[str]) -> int:
        from pyarrow import types
        if types.is_nested(self.dataset.schema.field(names[0]).type):
            lengths = (row.as_py() for fragment in self.dataset.get_fragments()
                       for batch in _batches(fragment, None, names[:1], rows=1000) for row in batch[0].value_lengths())
            return _width(next((length for length in lengths if length is not None), None), names[0])
        return len(names)

    def mapped(self, work: Callable[[Iterator[_Piece]], bytes]) -> Any:
        """An RDD: what `work` makes of each task's share of the files."""
        from pyspark.sql import SparkSession
        session, names, features = SparkSession.builder.getOrCreate(), self.names, sum(self.widths())
        rows = _rows_at_a_time(features)

        def task(groups: List[Any]) -> bytes:
            return work(_Piece(fragment.path, first, _batches(fragment, row_group, names, rows))
                        for fragment, row_group, first in groups)

        shares = self._shares(session, features)
        return session.sparkContext.parallelize(shares, max(1, len(shares))).map(task)

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


class _AsTheyAre:
    """The reader of batches that are arrays already."""

    def arrays(self, columns: Sequence[Any], widths: Sequence[int], where: str, before: int) -> Any:
        return columns

    def weights(self, columns: Sequence[Any]) -> None:
        return None


class _Arrays:
    """Files of arrays, one for each domain, of which each task reads some rows."""

    def __init__(self, paths: Sequence[str]):
        self.files, self.reader = ArrayFiles([_absolute(path) for path in paths]), _AsTheyAre()

    def feature_names(self) -> Any:
        return tuple(self.files.feature_names)

    def widths(self) -> Tuple[int, ...]:
        return self.files.features

    def mapped(self, work: Callable[[Iterator[_Piece]], bytes]) -> Any:
        """An RDD: what `work` makes of each task's rows."""
        from pyspark.sql import SparkSession
        session, paths, names = SparkSession.builder.getOrCreate(), self.files.paths, ", ".join(self.files.paths)
        shares = self._shares(session)

        def task(rows: range) -> bytes:
            return work(iter([_Piece(names, rows.start, ArrayFiles(paths).blocks(rows))]))

        return session.sparkContext.parallelize(shares, max(1, len(shares))).map(task)

    def _shares(self, session: Any) -> List[range]:
        count, features = self.files.count(), sum(self.files.features)
        parts = max(1, round(8 * features * count / max(1, _share_bytes(session, 8 * features * count, features))))
        return [range(k * count // parts, (k + 1) * count // parts) for k in range(parts)]


def _absolute(path: Any) -> str:
    """A local path, perhaps with `:member`, as executors need it, which work in folders of their own; an address of
    another kind as it is."""
    return os.path.abspath(path) if os.path.exists(_core.file_of(str(path))) else str(path)


def _share_bytes(session: Any, whole: int, features: int) -> int:
    """Bytes for a task: as many as Spark gives a partition. More where each core would have over four tasks, because one
    costs Spark as much as some 20,000 samples, or where they had fewer than 32 samples for each feature, because a merge
    costs as much as several; less where a core had none."""
    one_each = -(-whole // session.sparkContext.defaultParallelism)
    asked = _bytes_of(session.conf.get("spark.sql.files.maxPartitionBytes"))
    return min(max(asked, one_each // 4, 32 * features * 8 * features), one_each)


Source = Union[_Frame, _Files, _Arrays]


def _source(frame: Any, X: Any, Y: Any, weight: Optional[str]) -> Tuple[Optional[Tuple[str, ...]], Source]:
    """The names of the domains, if a dict gives them, and where their samples come from."""
    if isinstance(frame, (list, tuple)) or is_dict(frame):
        if X is not None or Y is not None or weight is not None:
            raise ValueError("files of arrays are given alone, one for each domain, without columns and weights")
        if len(frame) < 2:
            raise ValueError("give the files of at least two domains")
        names = names_of_new(frame)
        return tuple(names) if names else None, _Arrays(list(frame.values()) if is_dict(frame) else frame)
    if X is None:
        raise ValueError("give the columns of X and Y, or as X a list or dict with those of at least two domains")
    domain_names, domains = _domains_of(X, Y)
    reader = _Reader(domains, weight)
    by_path = isinstance(frame, (str, os.PathLike))
    return domain_names, _Files(str(frame), reader) if by_path else _Frame(frame, reader)


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


def _rows_at_a_time(features: int) -> int:
    """Some 4 MB. Larger batches need new memory, which takes longer than reading them."""
    return max(64, 2**19 // features)


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
    reader = source.reader

    def summarized(pieces: Iterator[_Piece]) -> bytes:
        part = recipe.empty()
        for where, row, batches in pieces:
            for columns in batches:
                arrays = reader.arrays(columns, recipe.features, where, row)
                part = recipe.added(part, arrays, reader.weights(columns), where, row, in_place=True)
                row += len(columns[0])
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

class _Use(NamedTuple):
    """One of a model's methods."""

    method: str
    options: Dict[str, Any]

    def __call__(self, model: Any, arrays: List[Any]) -> Tuple[Any, ...]:
        options = dict(self.options)
        if self.method == "fuse":
            samples: List[Any] = [None] * len(model._domain_names())
            for number, rows in zip(options.pop("domains"), arrays):
                samples[number - 1] = rows
            return (model.fuse(samples, **options),)
        if self.method == "translate" and len(arrays) == 1:
            options["source"] = options["source"][0]
        found = getattr(model, self.method)(arrays if len(arrays) > 1 else arrays[0], **options)
        return found if isinstance(found, tuple) else (found,)


def _mapped(model: Estimator, frame: Any, given: Sequence[Tuple[int, Any]], use: _Use, names: Sequence[str]) -> Any:
    """The frame with more columns, of arrays, which `use` makes of the domains given."""
    from pyspark.sql import functions, types
    kept = list(frame.columns)
    for name in names:
        if name in kept:
            raise ValueError(f"the frame has a column '{name}' already; give another name")
    reader = _Reader([_listed(columns) for _, columns in given], None)
    inputs = frame.select(*(functions.col(f"`{name}`") for name in kept), *reader.columns(frame))
    widths = [model._fitted().features(number) for number, _ in given]
    arrays_of_doubles = [types.StructField(name, types.ArrayType(types.DoubleType())) for name in names]
    version, shared = _core.__version__, pickle.dumps(model)

    def mapped(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        check_version(version)
        where, own, row = _partition(), pickle.loads(shared), 0
        for batch in batches:
            if batch.num_rows == 0:
                continue
            arrays = reader.arrays(batch.columns[len(kept):], widths, where, row)
            found = named(f"{where}, in its {batch.num_rows} rows from {row} on", lambda: use(own, arrays))
            yield pyarrow.RecordBatch.from_arrays(batch.columns[:len(kept)] + [_lists(values) for values in found],
                                                  kept + list(names))
            row += batch.num_rows

    return inputs.mapInArrow(mapped, types.StructType(list(frame.schema.fields) + arrays_of_doubles))


def _lists(values: Any) -> Any:
    """Rows of an array as an Arrow column of lists."""
    import pyarrow
    ends = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
    return pyarrow.ListArray.from_arrays(ends, pyarrow.array(np.ascontiguousarray(values).ravel()))
