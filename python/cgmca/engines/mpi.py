"""Summaries and fits of samples that the ranks of an MPI job hold, with mpi4py.

Run a script by ``mpirun -n 4 python3 -m mpi4py script.py``, in which every rank calls the same functions::

    from cgmca import MCA, mpi
    model = mpi.fit(MCA(n_components=3), X, Y)             # X, Y: the rows that this rank has
    model = mpi.fit(MCA(n_components=3), "a.npy", "b.npy") # or files, of which each rank reads its share

Each rank summarizes its own rows; a tree of ⌈log2 N⌉ rounds merges the summaries on rank 0. What fails on one rank is
raised on all of them as a `RankError` that names the rank, so that none waits for ever. Set OPENBLAS_NUM_THREADS=1, or
the cores of a machine divided by its ranks: each rank would use all cores otherwise.
"""

from __future__ import annotations

import copy
import os
import pickle
import platform
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Iterator, List, Optional

import numpy as np

from .._core import Summary, __version__
from .._data.array_files import ArrayFiles

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["RankError", "fit", "reduce", "share", "summarize"]

_PIECE = 1 << 30  # MPI counts the bytes of a message by an int


class RankError(RuntimeError):
    """What has failed on one rank, raised on all of them; on that rank its cause is the error itself."""


def share(n: int, comm: Any = None) -> slice:
    """The rows of n that this rank has to read; the shares differ by at most one row.

    >>> from cgmca import mpi
    >>> mpi.share(10)  # of one rank
    slice(0, 10, None)
    """
    comm = _world(comm)
    each, longer = divmod(n, comm.Get_size())
    first = each * comm.Get_rank() + min(comm.Get_rank(), longer)
    return slice(first, first + each + (comm.Get_rank() < longer))


def summarize(*inputs: Any, comm: Any = None, sample_weight: Optional[ArrayLike] = None,
              accumulate: str = "auto") -> Optional[Summary]:
    """The `Summary` of the samples of all ranks, on rank 0; None on the others.

    Parameters
    ----------
    *inputs : array of shape (n_samples, n_features), or path
        One a domain. Arrays are the rows that this rank has, none perhaps. Paths are files as `cgmca.read` takes them,
        of which each rank reads its share.
    comm : mpi4py communicator
        By default MPI.COMM_WORLD.
    sample_weight : array of shape (n_samples,), optional
        Of this rank's rows.
    accumulate : {'auto', 'qr', 'gram'}
        See `Summary`.
    """
    comm = _world(comm)
    _check_versions(comm)  # before hours of reading
    with _agreed(comm) as own:
        paths = [isinstance(one, (str, os.PathLike)) for one in inputs]
        if any(paths):
            if not all(paths) or sample_weight is not None:
                raise ValueError("give arrays, or paths without sample_weight")
            own.summary = _of_files([os.fspath(one) for one in inputs], accumulate, comm)
        else:
            arrays = [one if hasattr(one, "shape") else np.asarray(one) for one in inputs]
            own.summary = Summary(*(rows.shape[1] for rows in arrays), accumulate=accumulate)
            own.summary.add(*arrays, sample_weight=sample_weight)
    return reduce(own.summary, comm)


def reduce(summary: Summary, comm: Any = None) -> Optional[Summary]:
    """The summary of the samples of all ranks' summaries, on rank 0; None on the others.

    Every rank calls it. Ranks of another version of cgmca, and summaries that cannot be merged, are refused by a
    `RankError` on every rank.
    """
    comm = _world(comm).Dup()
    try:
        _check_versions(comm)
        rank, size = comm.Get_rank(), comm.Get_size()
        with _agreed(comm) as own:
            own.summary, own.failure = copy.copy(summary) if size == 1 else summary.compressed(), None
            step = 1
            while step < size:
                if rank % (2 * step):
                    _send(comm, own.failure or own.summary, rank - step)
                    break
                if rank + step < size:
                    _join(own, comm, rank + step)
                step *= 2
            if rank == 0 and own.failure:
                raise own.failure
        return own.summary if rank == 0 else None
    finally:
        comm.Free()


def fit(estimator: Any, *inputs: Any, comm: Any = None, sample_weight: Optional[ArrayLike] = None) -> Any:
    """Fit an estimator (`cgmca.CGMCA`, `cgmca.MCA`) to the samples of all ranks. Returns it, fitted on every rank.

    ``inputs`` are those of `summarize`, or one `Summary` of this rank's samples.
    """
    comm = _world(comm)
    if len(inputs) == 1 and isinstance(inputs[0], Summary):
        summary = reduce(inputs[0], comm)
    else:
        summary = summarize(*inputs, comm=comm, sample_weight=sample_weight, accumulate=estimator.accumulate)
    with _agreed(comm):
        if summary is not None:
            estimator.fit_summary(summary)
    estimator.__dict__.update(comm.bcast(estimator.__dict__ if comm.Get_rank() == 0 else None))
    return estimator


# Inner workings


class _Own:
    """What this rank has made."""

    summary: Any = None
    failure: Optional[Exception] = None


@contextmanager
def _agreed(comm: Any) -> Iterator[_Own]:
    """Work of this rank. Where it fails on any rank, all of them raise the first such rank's RankError at its end."""
    error: Optional[Exception] = None
    try:
        yield _Own()
    except Exception as caught:
        error = caught
    told: List[Optional[str]] = comm.allgather(None if error is None else _text(error, comm.Get_rank()))
    first = next((text for text in told if text is not None), None)
    if first is not None:
        raise RankError(first) from error


def _text(error: Exception, rank: int) -> str:
    return str(error) if isinstance(error, RankError) else f"rank {rank}: {error}"


def _world(comm: Any) -> Any:
    if comm is not None:
        return comm
    try:
        from mpi4py import MPI
    except ImportError:
        raise ImportError("cgmca.mpi needs mpi4py: apt install python3-mpi4py, or pip install mpi4py") from None
    return MPI.COMM_WORLD


def _check_versions(comm: Any) -> None:
    ranks = comm.allgather((__version__, platform.node()))
    for rank, (version, machine) in enumerate(ranks):
        if version != ranks[0][0]:
            raise RankError(f"rank {rank} on {machine} runs cgmca {version}, but rank 0 on {ranks[0][1]} runs "
                            f"{ranks[0][0]}; all ranks need the same version")


def _join(own: _Own, comm: Any, other: int) -> None:
    """Merges what another rank sends: its summary, or what has failed there or further away."""
    raw = _receive(comm, other)
    try:
        content = pickle.loads(raw)
        del raw  # before the merge, which needs memory too
        if isinstance(content, Exception):
            raise content
        if own.failure is None:
            own.summary.merge(content)
    except Exception as error:
        own.failure = own.failure or RankError(_text(error, other))


def _send(comm: Any, content: Any, to: int) -> None:
    raw = memoryview(pickle.dumps(content))
    comm.send(len(raw), to)
    for first in range(0, len(raw), _PIECE):
        comm.Send(raw[first:first + _PIECE], to)


def _receive(comm: Any, source: int) -> bytearray:
    raw = bytearray(comm.recv(source=source))
    for first in range(0, len(raw), _PIECE):
        comm.Recv(memoryview(raw)[first:first + _PIECE], source)
    return raw


def _of_files(paths: List[str], accumulate: str, comm: Any) -> Summary:
    files = ArrayFiles(paths)
    rows = share(files.count(), comm)
    summary = Summary(*files.features, accumulate=accumulate, feature_names=files.feature_names)
    for _, blocks in files.blocks(rows):
        summary.add(*blocks)
    return summary
