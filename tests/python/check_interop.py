"""GNU Octave and h5py write files that the library reads, and read those that it writes.

    check_interop.py IO_CONVERT FOLDER

What Octave 7 can do: write and read MATLAB 5 (-v6, -v7); read MATLAB 7.3, by its HDF5 loader; not
write 7.3. Its own HDF5 files keep a matrix x as /x/value with reversed axes, so that the library
reads a two-dimensional one by columns. h5py stands in for MATLAB as a writer of 7.3, with the user
block and attributes that MATLAB writes.
"""

import subprocess
import sys

import h5py
import numpy as np

from converting import SHAPES, Library, samples

library = Library(sys.argv[1], sys.argv[2])
folder = library.folder


def octave(code):
    """Runs Octave; what it prints."""
    done = subprocess.run(["octave-cli", "--quiet", "--no-init-file", "--eval", code], cwd=folder,
                          capture_output=True, text=True)
    assert done.returncode == 0, (code, done.stdout, done.stderr)
    return done.stdout


def index_array(shape):
    """1, 2, 3, … in MATLAB's column-major order: Octave's reshape(1:n, shape)."""
    return np.arange(1, np.prod(shape) + 1).reshape(shape, order="F")


# Octave writes MATLAB 5, plain and compressed, every class and number of axes.
CLASSES = "double single int8 int16 int32 int64 uint8 uint16 uint32 uint64 logical".split()
names = [f"{c}_{n}" for c in CLASSES for n in range(len(SHAPES))]
make = "".join(f"{c}_{n} = {c}(reshape(1:{np.prod(shape)}, {list(shape)}));"
               for c in CLASSES for n, shape in enumerate(SHAPES))
variables = ", ".join(f"'{name}'" for name in names)
octave(f"{make} save('-v6', 'v6.mat', {variables}); save('-v7', 'v7.mat', {variables});")
for file in ("v6.mat", "v7.mat"):
    for c in CLASSES:
        for n, shape in enumerate(SHAPES):
            array = index_array(shape)
            library.reads(f"{folder / file}:{c}_{n}", array > 0 if c == "logical" else array)
octave("x = rand(20, 300) - 0.5; x(1) = NaN; x(2) = -Inf; x(3) = realmax; z = complex(x, 1); s = sparse(x);"
       "save('-v7', 'large.mat', 'x', 'z', 's'); save('-hdf5', 'own.h5', 'x');"
       "f = fopen('large.raw', 'w'); fwrite(f, x, 'double'); fclose(f);")
array = np.fromfile(folder / "large.raw").reshape((20, 300), order="F")
library.reads(f"{folder / 'large.mat'}:x", array)
library.refuses(f"{folder / 'large.mat'}:z", "complex", "magnitude, power, or stack")
with np.errstate(over="ignore"):
    library.reads(f"{folder / 'large.mat'}:z", array + 1j)
library.reads(f"{folder / 'large.mat'}:s", array)
library.reads(f"{folder / 'own.h5'}:/x/value", array.T)

# Sparse matrices, structs and complex numbers as Octave has them.
octave("r = mod(reshape(1:35, 7, 5), 3); l = sparse(r == 1); w = sparse(r); c = sparse(r * (1 + 2i)); n = sparse(7, 5);"
       "z = complex(r, -r); f = single(z); cfg.x = r; cfg.in.z = f; many = struct('x', {1, 2});"
       "save('-v6', 'kinds6.mat'); save('-v7', 'kinds7.mat'); save('-hdf5', 'complex.h5', 'z');")
r = np.arange(1, 36).reshape((7, 5), order="F") % 3
for file in ("kinds6.mat", "kinds7.mat"):
    for name, array in {"l": r == 1, "w": r, "c": r * (1 + 2j), "n": 0 * r, "z": r - 1j * r,
                        "f": (r - 1j * r).astype("c8"), "cfg.x": r, "cfg.in.z": r - 1j * r}.items():
        library.reads(f"{folder / file}:{name}", array)
    library.refuses(f"{folder / file}:many.x", "'many' is an array of 1×2 structs")
    library.refuses(f"{folder / file}:cfg.y", "holds no 'y'", "x (double 7×5)")
library.reads(f"{folder / 'complex.h5'}:/z/value", (r - 1j * r).T)

# Octave cannot write 7.3; if it ever can, this script must learn to read it.
assert "no 7.3" in octave("x = 1; try, save('-v7.3', 'no.mat', 'x'); disp('7.3'); catch, disp('no 7.3'); end")

# Octave and h5py read what the library writes.
original = samples("f8", (30, 7))
original.tofile(folder / "original.raw")
library.writes(f"{folder}/ours.mat:ours", original)
library.writes(folder / "ours73.mat", original, "v7.3")
library.writes(f"{folder}/ours.h5:/a/b", original)
SAME = ("f = fopen('original.raw'); y = fread(f, [7 30], 'double')'; fclose(f);"
        "assert(isa(x, 'double') && isequal(size(x), [30 7]));"
        "assert(all((x == y | (isnan(x) & isnan(y)))(:))); disp('same');")
assert "same" in octave("load('ours.mat'); x = ours;" + SAME)
assert "same" in octave("load('ours73.mat'); x = X;" + SAME)
# A plain dataset is loaded with its axes reversed: row-major there, column-major here.
assert "same" in octave("h = load('-hdf5', 'ours.h5'); x = h.a.b';" + SAME)
with h5py.File(folder / "ours.h5") as file:
    assert file["a/b"].dtype == "<f8" and np.array_equal(file["a/b"], original, equal_nan=True)
with h5py.File(folder / "ours73.mat") as file:
    assert file.userblock_size == 512 and file["X"].attrs["MATLAB_class"] == b"double"
    assert np.array_equal(file["X"], original.T, equal_nan=True)
library.compared += 5

# Members added to files of Octave, h5py and our own, with names of features; those that were there stay.
NAMES = ["größe", "水", "c", "d", "e", "f", "g"]
named = "names=" + ",".join(NAMES)
octave("kept = magic(4); cells = {1, 'two'}; save('-v7', 'more.mat');")
library.writes(f"{folder}/more.mat:added", original, named)
library.writes(f"{folder}/more.mat:second", original[:, :3])
assert "same" in octave("load('more.mat'); x = added; assert(kept, magic(4)); assert(cells, {1, 'two'});"
                        "assert(second, added(:, 1:3));"
                        "assert(added_features, {'größe', '水', 'c', 'd', 'e', 'f', 'g'});" + SAME)
library.writes(folder / "named73.mat", original, "v7.3", named)
library.writes(f"{folder}/named73.mat:second", original[:, :3])
assert "same" in octave("load('named73.mat'); x = X; assert(second, X(:, 1:3));" + SAME)
with h5py.File(folder / "named73.mat") as file:
    texts = [file[reference][()].tobytes().decode("utf-16-le") for reference in file["X_features"][:, 0]]
    assert texts == NAMES and file["X_features"].attrs["MATLAB_class"] == b"cell", texts
with h5py.File(folder / "more.h5", "w") as file:
    file["kept"] = np.arange(5)
    file["kept"].attrs["unit"] = "cm"
    file.create_dataset("packed", data=original, compression="gzip")
library.writes(f"{folder}/more.h5:/a/b", original, named)
library.writes(f"{folder}/more.h5:packed", original[:5])
with h5py.File(folder / "more.h5") as file:
    assert np.array_equal(file["a/b"], original, equal_nan=True) and list(file["a/b_features"].asstr()) == NAMES
    assert list(file["kept"]) == [0, 1, 2, 3, 4] and file["kept"].attrs["unit"] == "cm"
    assert np.array_equal(file["packed"], original[:5], equal_nan=True)
library.compared += 4

# h5py writes every type, order and kind of storage.
with h5py.File(folder / "h5py.h5", "w") as file:
    arrays = {}
    for t in "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8".split():
        for order in "<>":
            for shape in SHAPES + [(9,)]:
                name = f"{'le' if order == '<' else 'be'}/{t}/{'x'.join(map(str, shape))}"
                arrays[name] = samples(order + t, shape)
                file[name] = arrays[name]
    big = samples("f8", (200, 11, 13))
    for name, options in {"gzip": {"compression": "gzip"}, "shuffled": {"compression": 4, "shuffle": True},
                          "checked": {"fletcher32": True}, "szip": {"compression": "szip"},
                          "odd": {"compression": "gzip", "chunks": (7, 5, 3)},
                          "across": {"chunks": (200, 1, 1)}, "grows": {"maxshape": (None, 11, 13)}}.items():
        if name == "szip" and not h5py.h5z.get_filter_info(h5py.h5z.FILTER_SZIP) & h5py.h5z.FILTER_CONFIG_ENCODE_ENABLED:
            continue
        file.create_dataset(name, data=big, **options)
        arrays[name] = big
    file["flags"] = arrays["flags"] = samples("?", (6, 3))
    file["alias"] = h5py.SoftLink("/gzip")
    arrays["alias"] = big
    for t in ("<c8", ">c8", "<c16", ">c16"):
        name = f"complex/{t[1:]}{'le' if t[0] == '<' else 'be'}"
        arrays[name] = (np.arange(60) + 1j * np.arange(60, 0, -1)).reshape(5, 4, 3).astype(t)
        file.create_dataset(name, data=arrays[name], chunks=(2, 2, 3), compression="gzip")
for name, array in arrays.items():
    library.reads(f"{folder / 'h5py.h5'}:/{name}", array)

# h5py writes MATLAB 7.3 as MATLAB does, its texts ending as MATLAB's do, and as h5py's own do.
def matlab_class(data, text, as_matlab):
    if not as_matlab:
        data.attrs["MATLAB_class"] = np.bytes_(text)
        return
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(text))
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    attribute = h5py.h5a.create(data.id, b"MATLAB_class", kind, h5py.h5s.create(h5py.h5s.SCALAR))
    attribute.write(np.array(text.encode(), dtype=f"S{len(text)}"), mtype=kind)  # all letters, no end


for as_matlab in (True, False):
    path = folder / f"matlab73_{as_matlab}.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        for n, shape in enumerate(SHAPES):
            for c in CLASSES[:-1]:
                data = file.create_dataset(f"{c}_{n}", data=index_array(shape).astype(c).T)
                matlab_class(data, c, as_matlab)
            data = file.create_dataset(f"logical_{n}", data=(index_array(shape) % 2).astype("u1").T)
            matlab_class(data, "logical", as_matlab)
            data.attrs["MATLAB_int_decode"] = np.int32(1)
        data = file.create_dataset("packed", data=big.T, chunks=(2, 3, 50), compression="gzip")
        matlab_class(data, "double", as_matlab)
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116) + bytes(8) + b"\x00\x02IM")
    for n, shape in enumerate(SHAPES):
        for c in CLASSES:
            array = index_array(shape)
            library.reads(f"{path}:{c}_{n}", array % 2 == 1 if c == "logical" else array)
    library.reads(f"{path}:packed", big)

version = octave("disp(version)").strip()
print(f"{library.compared} comparisons with Octave {version} and h5py {h5py.__version__}")
