"""Files of arrays, one for each domain, of which a process reads its share: what `cgmca.mpi` and `cgmca.spark` share."""

from __future__ import annotations

from typing import Any, Iterator, List, Sequence, Tuple

import numpy as np

from .._core import BlockReader, block_samples

_BYTES = 1 << 23  # that are read at a time


class ArrayFiles:
    """Matched samples in files that `cgmca.read` reads: rows of the same number belong together.

    >>> import os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> paths = [os.path.join(folder.name, name) for name in ("x.npy", "y.npy")]
    >>> np.save(paths[0], np.arange(12.0).reshape(4, 3))
    >>> np.save(paths[1], np.arange(8.0).reshape(4, 2))
    >>> files = ArrayFiles(paths)
    >>> files.features, files.count()
    ((3, 2), 4)
    >>> first, blocks = next(files.blocks(range(1, 3)))
    >>> first, [block.tolist() for block in blocks]
    (1, [[[3.0, 4.0, 5.0], [6.0, 7.0, 8.0]], [[2.0, 3.0], [4.0, 5.0]]])
    >>> folder.cleanup()
    """

    def __init__(self, paths: Sequence[str]):
        self.paths = [str(path) for path in paths]
        self._readers = [BlockReader(path, share=True) for path in self.paths]
        self.features: Tuple[int, ...] = tuple(reader.features for reader in self._readers)
        self.feature_names = [tuple(reader.feature_names) or None for reader in self._readers]

    def count(self) -> int:
        """The number of samples. ValueError if it is not the same in all files."""
        counts = [reader.count_samples() for reader in self._readers]
        if len(set(counts)) > 1:
            shapes = ", ".join(f"'{path}' {count}" for path, count in zip(self.paths, counts))
            raise ValueError(f"matched samples need as many rows in every file, not {shapes}")
        return int(counts[0])

    def blocks(self, rows: range) -> Iterator[Tuple[int, List[Any]]]:
        """The number of the first row, and an array of each file, for some of these rows at a time.

        Once, because files are read forwards. ValueError for NaN and infinity, with their place.
        """
        for reader in self._readers:
            reader.skip(rows.start)
        size = block_samples(sum(self.features), _BYTES)
        for first in range(rows.start, rows.stop, size):
            blocks = [reader.next(min(size, rows.stop - first)) for reader in self._readers]
            for path, reader, block in zip(self.paths, self._readers, blocks):
                with np.errstate(over="ignore", invalid="ignore"):
                    suspicious = not np.isfinite(block.sum())
                if suspicious and not np.isfinite(block).all():
                    row, column = np.argwhere(~np.isfinite(block))[0]
                    raise ValueError(f"'{path}' holds {block[row, column]} at {reader.place(first + row, column)}; "
                                     "remove or mend such samples first")
            yield first, blocks
