"""Reading and writing matrices in common file formats."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterator, Literal, Optional, Tuple, Union, overload

import numpy as np

from .. import _core
from .._base import as_choice
from . import tables

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Path = Union[str, "os.PathLike[str]"]

_ARROW = (".parquet", ".feather", ".arrow")
_COMPLEX = ("refuse", "magnitude", "power", "stack")


@overload
def read(source: Path, *, columns: bool = ..., frame: Literal[False] = ...,
         complex: str = ..., id: str = ...) -> NDArray[np.float64]: ...
@overload
def read(source: Path, *, columns: bool = ..., frame: Literal[True], complex: str = ..., id: str = ...) -> Any: ...
def read(source: Path, *, columns: bool = False, frame: bool = False, complex: str = "refuse", id: str = "") -> Any:
    """The matrix of a file, samples as rows, as the command line reads it.

    Parameters
    ----------
    source : path, or ``path:member`` where a file holds several arrays
        .npy, .npz, .csv, .tsv, IDX (plain or .gz), .mat (v5, v7.3), .h5, a folder of PNG images, or .parquet, .feather
        and .arrow, for which pyarrow must be installed. Arrays of more than two dimensions are flattened per sample.
        Numbers are not scaled.
    columns : bool
        Samples are the file's columns, as MATLAB users often store them.
    frame : bool
        Return a pandas DataFrame, which has the names of the features where the file has them.
    complex : {'refuse', 'magnitude', 'power', 'stack'}
        What complex numbers are read as: an error, ``|x|``, ``|x|²``, or real parts and imaginary parts as separate features.
    id : str
        Of .csv and .tsv: the column that names the samples, by its header or its place from 1; it is not a feature.
        ``"none"``: all columns are features. If empty, a first column without a name names the samples if it can, as
        the row numbers that pandas' ``to_csv`` and R's ``write.csv`` write; a warning says so.

    Returns
    -------
    ndarray of shape (n_samples, n_features), or DataFrame

    Examples
    --------
    >>> import os, tempfile, cgmca
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> _ = open(path, "w").write("length,width\\n1,2\\n3,4\\n5,6\\n")
    >>> cgmca.read(path)
    array([[1., 2.],
           [3., 4.],
           [5., 6.]])
    >>> list(cgmca.read(path, frame=True).columns)
    ['length', 'width']
    """
    as_choice("complex", complex, _COMPLEX)
    path = os.fspath(source)
    if path.endswith(_ARROW):
        _check_no_id(path, id)
        X, names = _read_arrow(path)
        X, names = (np.ascontiguousarray(X.T), None) if columns else (X, names)
    elif frame:
        X, names = _read_named(path, columns, complex, id)
    else:
        return _core.read(path, columns, complex, id)
    if not frame:
        return X
    import pandas
    return pandas.DataFrame(X, columns=names)


def read_blocks(source: Path, size: int = 4096, *, columns: bool = False,
                complex: str = "refuse", id: str = "") -> Iterator[NDArray[np.float64]]:
    """The same in blocks of at most ``size`` samples, in bounded memory where the format allows.

    Examples
    --------
    >>> import os, tempfile, numpy as np, cgmca
    >>> folder = tempfile.mkdtemp()
    >>> for name in "ab":
    ...     np.save(os.path.join(folder, name + ".npy"), np.random.default_rng(0).normal(size=(100, 3)))
    >>> summary = cgmca.Summary(3, 3)
    >>> for X, Y in zip(*(cgmca.read_blocks(os.path.join(folder, name + ".npy"), 30) for name in "ab")):
    ...     summary = summary.add(X, Y)
    >>> summary
    Summary(3, 3) of 100 pairs
    """
    if size < 1:
        raise ValueError(f"blocks of {size} samples; at least 1 is needed")
    as_choice("complex", complex, _COMPLEX)
    path = os.fspath(source)
    if path.endswith(_ARROW):
        _check_no_id(path, id)
    if path.endswith(".parquet") and not columns:
        pyarrow = _pyarrow(path)
        for batch in _parquet(path).iter_batches(size):
            yield tables.plain(pyarrow.Table.from_batches([batch]))
    elif path.endswith(_ARROW):
        X = read(path, columns=columns)
        yield from (X[first:first + size] for first in range(0, len(X), size))
    else:
        reader = _core.BlockReader(path, columns, complex, id=id)
        while len(block := reader.next(size)):
            yield block


def write(target: Path, X: ArrayLike, *, columns: bool = False) -> None:
    """Write samples (rows) to .npy, .csv, .tsv, .npz, .mat or .h5; the file appears whole or not at all.

    ``f.mat:Z`` (or .npz, .h5) adds Z to a file, or replaces it there. The names of a table's columns become the header
    of a text file, and are stored beside the array as ``Z_features`` elsewhere. With ``columns`` samples are the
    file's columns.
    """
    names = tables.names_of(X)
    _core.write(os.fspath(target), tables.plain(X), [] if names is None else list(names), columns)


def _check_no_id(path: str, id: str) -> None:
    if id not in ("", "none"):
        raise ValueError(f"'{path}' has no ID column '{id}': only text files (.csv, .tsv) have one")


def _read_named(path: str, columns: bool, complex: str, id: str) -> Tuple[Any, Optional[list[str]]]:
    reader = _core.BlockReader(path, columns, complex, id=id)
    parts = []
    while len(block := reader.next(1 << 16)):
        parts.append(block)
    X = np.concatenate(parts) if parts else np.empty((0, reader.features))
    return X, reader.feature_names or None


def _pyarrow(path: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"'{path}' needs pyarrow: pip install pyarrow") from None
    return pyarrow


def _parquet(path: str) -> Any:
    pyarrow = _pyarrow(path)
    import pyarrow.parquet
    try:
        return pyarrow.parquet.ParquetFile(path)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"'{path}': {error}") from None


def _read_arrow(path: str) -> Tuple[Any, Optional[list[str]]]:
    pyarrow = _pyarrow(path)
    if path.endswith(".parquet"):
        table = _parquet(path).read()
    else:
        import pyarrow.feather
        try:
            table = pyarrow.feather.read_table(path)
        except pyarrow.ArrowInvalid as error:
            raise ValueError(f"'{path}': {error}") from None
    try:
        return tables.plain(table), tables.names_of(table)
    except ValueError as error:
        raise ValueError(f"'{path}': {error}") from None
