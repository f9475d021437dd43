"""SciPy writes MATLAB 5 files that the library reads, and reads those that it writes.

    check_mat_scipy.py IO_CONVERT FOLDER
"""

import sys

import numpy as np
import scipy
import scipy.io
import scipy.sparse

from converting import SHAPES, Library, samples

library = Library(sys.argv[1], sys.argv[2])
folder = library.folder

TYPES = "f8 f4 i1 i2 i4 i8 u1 u2 u4 u8 ?".split()
for compressed in (False, True):
    path = folder / f"all_{compressed}.mat"
    arrays = {f"{'bool' if t == '?' else t}_{len(shape)}_{shape[0]}": samples(t, shape)
              for t in TYPES for shape in SHAPES}
    scipy.io.savemat(path, arrays, do_compression=compressed)
    for name, array in arrays.items():
        library.reads(f"{path}:{name}", array)

    path = folder / f"one_{compressed}.mat"
    array = samples("f8", (300, 70))  # longer than any buffer
    scipy.io.savemat(path, {"note": "text", "x": array, "__private": 1}, do_compression=compressed)
    library.reads(path, array)

    path = folder / f"others_{compressed}.mat"
    scipy.io.savemat(path, {"z": np.array([[1 + 2j]]), "s": scipy.sparse.csc_matrix(np.eye(3)),
                            "text": "abc", "st": {"field": 1}, "ce": np.array([1, "a"], dtype=object)},
                     do_compression=compressed)
    library.refuses(path, "2 numeric arrays", "z (complex double 1×1)", "s (sparse double 3×3)")
    library.refuses(f"{path}:z", "complex", "magnitude, power, or stack", "--complex", "complex= in Python")
    library.reads(f"{path}:s", np.eye(3))
    library.reads(f"{path}:st.field", np.ones((1, 1)))
    library.refuses(f"{path}:st.fields", "holds no 'fields', did you mean 'field'?", "field (int64 1×1)")
    library.refuses(f"{path}:text", "text")
    library.refuses(f"{path}:st", "is a struct; name a field of it", "others_", ".mat:st.field'")
    library.refuses(f"{path}:ce", "cell")

scipy.io.savemat(folder / "v4.mat", {"x": array}, format="4")
library.refuses(folder / "v4.mat", "MATLAB 4", "save -v7")

original = samples("f8", (60, 9))
for target, name in ((folder / "ours.mat", "X"), (f"{folder}/named.mat:some_name", "some_name")):
    library.writes(target, original)
    path = str(target).split(":")[0]
    loaded = scipy.io.loadmat(path)
    assert scipy.io.whosmat(path) == [(name, (60, 9), "double")], scipy.io.whosmat(path)
    assert loaded[name].dtype == np.float64 and np.array_equal(loaded[name], original, equal_nan=True)
    library.compared += 1
library.writes(folder / "none.mat", np.empty((0, 3)))
assert scipy.io.loadmat(folder / "none.mat")["X"].shape == (0, 3)
print(f"{library.compared} comparisons with SciPy {scipy.__version__}")
