"""Loads with NumPy and SciPy what the library wrote (tests/io/test_io_files.cpp): the copies equal the original.

    check_io_files.py FOLDER
"""

import pathlib
import sys

import numpy as np
import scipy.io

folder = pathlib.Path(sys.argv[1])
original = np.load(folder / "original.npy")
copies = {
    "copy.npy": np.load(folder / "copy.npy"),
    "copy.csv": np.loadtxt(folder / "copy.csv", delimiter=",", ndmin=2),
    "copy.tsv": np.loadtxt(folder / "copy.tsv", delimiter="\t", ndmin=2),
}
for name, copy in copies.items():
    assert copy.dtype == np.float64 and copy.flags.c_contiguous, (name, copy.dtype)
    # Bit for bit, but that a nan need not keep its sign in text.
    same = np.array_equal(copy, original, equal_nan=True)
    assert same and np.array_equal(np.signbit(copy), np.signbit(original)), name
assert np.load(folder / "part.npy").tolist() == original[2:5, 1:4].tolist()
assert np.load(folder / "none.npy").shape == (0, 3)
assert np.load(folder / "copy_none.npy").shape == (0, 3)

NAMES = ["größe", "b", "c", "d", "e", "f", "水"]


def same(a, b):
    return a.dtype == np.float64 and np.array_equal(a, b, equal_nan=True)


archive = np.load(folder / "named.npz")
assert sorted(archive.files) == ["first", "first_features", "second", "turned", "turned_features"], archive.files
variables = scipy.io.loadmat(folder / "named.mat", chars_as_strings=True)
for holder in (archive, variables):
    assert same(holder["first"], original) and same(holder["second"], original[:, :2])
    assert same(holder["turned"], original.T)
    for name in ("first_features", "turned_features"):
        assert [str(np.squeeze(text)) for text in np.ravel(holder[name])] == NAMES, holder[name]
assert (folder / "named.csv").read_text().splitlines()[0] == ",".join(NAMES)
print(f"{len(copies) + 5} files written by the library read by NumPy {np.__version__} and SciPy {scipy.__version__}")
