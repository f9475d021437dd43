"""Loads with NumPy what the library wrote (tests/test_io_files.cpp): the copies equal the original.

    check_io_files.py FOLDER
"""

import pathlib
import sys

import numpy as np

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
print(f"{len(copies) + 2} files written by the library read by NumPy {np.__version__}")
