"""Matrices from and to the files people hold."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Iterator, Union

from . import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Path = Union[str, "os.PathLike[str]"]


def read(source: Path, *, columns: bool = False) -> NDArray[np.float64]:
    """The matrix of a file, samples as rows, as the command line reads it.

    Parameters
    ----------
    source : path, or ``path:member`` where a file holds several arrays
        .npy, .npz, .csv, .tsv, IDX (plain or .gz), .mat (v5, v7.3), .h5, or a folder of PNG images. Arrays of more
        than two dimensions are flattened per sample. Numbers are not scaled.
    columns : bool
        Samples are the file's columns, as MATLAB users often store them.

    Examples
    --------
    >>> import os, tempfile, cgmca
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> _ = open(path, "w").write("length,width\\n1,2\\n3,4\\n5,6\\n")
    >>> cgmca.read(path)
    array([[1., 2.],
           [3., 4.],
           [5., 6.]])
    """
    return _core.read(os.fspath(source), columns)


def read_blocks(source: Path, size: int = 4096, *, columns: bool = False) -> Iterator[NDArray[np.float64]]:
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
    reader = _core.BlockReader(os.fspath(source), columns)
    while len(block := reader.next(size)):
        yield block


def write(target: Path, X: ArrayLike) -> None:
    """Write samples (rows) to .npy, .csv, .tsv, .mat or .h5; the file appears whole or not at all."""
    _core.write(os.fspath(target), X)
