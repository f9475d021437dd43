"""Writes files of every kind with NumPy, SciPy and pandas, and what must be read from them.

    make_io_files.py FOLDER

FOLDER/cases.json lists the cases: the source's name, whether its columns are samples, how complex numbers are
read, and the matrix, samples as rows, with numbers as text so that none is rounded and nan has a place. Cases of
tables also have the ID column to ask for, the IDs and the names of the features.
"""

import csv
import gzip
import json
import pathlib
import struct
import sys

import numpy as np
import pandas
import scipy.io
import scipy.sparse

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
random = np.random.default_rng(1)
cases = []


READINGS = {
    "magnitude": lambda z: np.hypot(z.real, z.imag),
    "power": lambda z: z.real**2 + z.imag**2,
    "stack": lambda z: np.hstack([z.real, z.imag]),
}


def case(source, array, columns=False, **more):
    """`array` as NumPy holds it: what reading `source` must give, by the rule of io.hpp."""
    array = np.asarray(array)
    if columns:
        samples = array.reshape(-1, array.shape[-1]).T
    else:
        samples = array.reshape(len(array), int(np.prod(array.shape[1:])))
    readings = {"refuse": samples}
    if samples.dtype.kind == "c":
        samples = samples.astype(complex)
        readings = {name: reading(samples) for name, reading in READINGS.items()}
    for name, read in readings.items():
        rows = [[repr(float(x)) for x in row] for row in read]
        cases.append({"source": str(source), "columns": columns, "complex": name, "features": read.shape[1],
                      "rows": rows, **more})


def both_ways(source, array):
    case(source, array)
    case(source, array, columns=True)


def sample(dtype, shape):
    """Numbers over the whole range of a type, its ends among them."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "c":
        return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        a = random.integers(info.min, info.max, shape, dtype=dtype.newbyteorder("="), endpoint=True)
        a.flat[0], a.flat[-1] = info.min, info.max
        return a.astype(dtype)
    a = (random.standard_normal(shape) * 10.0 ** random.integers(-3, 4, shape)).astype(dtype)
    info = np.finfo(dtype)
    specials = [np.nan, np.inf, -np.inf, -0.0, info.max, info.tiny, info.smallest_subnormal]
    a.flat[: len(specials)] = specials
    return a


TYPES = ["?", "i1", "u1"] + [order + t for order in "<>" for t in "i2 i4 i8 u2 u4 u8 f2 f4 f8".split()]
SHAPES = {"1d": (9,), "2d": (5, 4), "3d": (4, 3, 5), "4d": (3, 2, 4, 2), "one": (1, 11), "tall": (11, 1)}


def name_of(dtype):
    return dtype.replace("<", "little_").replace(">", "big_").replace("?", "bool")


# NPY: every type, shape, order and version.
for dtype in TYPES:
    for order in "CF":
        path = folder / f"{name_of(dtype)}_{order}.npy"
        array = np.asarray(sample(dtype, (6, 3, 2)), order=order)
        np.save(path, array)
        both_ways(path.name, array)
for name, shape in SHAPES.items():
    for order in "CF":
        path = folder / f"{name}_{order}.npy"
        array = np.asarray(sample("<f8", shape), order=order)
        np.save(path, array)
        both_ways(path.name, array)
for version in [(1, 0), (2, 0), (3, 0)]:
    path = folder / f"version_{version[0]}.npy"
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    both_ways(path.name, array)
np.save(folder / "none.npy", np.empty((0, 3)))
case("none.npy", np.empty((0, 3)))
wide = sample("<f8", (700, 130))  # longer than the buffers
for order in "CF":
    np.save(folder / f"wide_{order}.npy", np.asarray(wide, order=order))
    both_ways(f"wide_{order}.npy", wide)

# NPZ: stored and deflated, members named or not.
arrays = {"x": sample("<f4", (7, 5)), "y z": sample(">i4", (4, 3)), "f": np.asfortranarray(sample("f8", (4, 3, 2)))}
for save in (np.savez, np.savez_compressed):
    save(folder / f"{save.__name__}.npz", wide=wide, **arrays)
    for name, array in {"wide": wide, **arrays}.items():
        both_ways(f"{save.__name__}.npz:{name}", array)
    case(f"{save.__name__}.npz:x.npy", arrays["x"])
    save(folder / f"{save.__name__}_one.npz", arrays["x"])
    case(f"{save.__name__}_one.npz", arrays["x"])
    case(f"{save.__name__}_one.npz:arr_0", arrays["x"])

# Complex numbers, in every order and both precisions; what is longer than the buffers too.
for dtype in ("<c8", ">c8", "<c16", ">c16"):
    for order in "CF":
        for shape in [(9,), (5, 4), (4, 3, 5)]:
            path = folder / f"{name_of(dtype)}_{order}_{len(shape)}.npy"
            array = np.asarray(sample(dtype, shape), order=order)
            np.save(path, array)
            both_ways(path.name, array)
long = {order: np.asarray(sample("c16", (90, 100)), order=order) for order in "CF"}
for save in (np.savez, np.savez_compressed):
    save(folder / f"{save.__name__}_complex.npz", **long, three=np.asfortranarray(sample("c8", (4, 3, 2))))
    for order, array in long.items():
        both_ways(f"{save.__name__}_complex.npz:{order}", array)
    both_ways(f"{save.__name__}_complex.npz:three", np.load(folder / f"{save.__name__}_complex.npz")["three"])

# SciPy: sparse matrices of every kind, complex numbers and fields of structs in .mat; sparse .npz.
dense = {"real": np.round(sample("f4", (7, 5)).astype(float), 1), "complex": sample("c16", (7, 5)),
         "logical": np.ones((7, 5), bool), "zero": np.zeros((7, 5))}
for name, array in dense.items():
    array[random.random((7, 5)) < 0.7] = 0
    for make in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_matrix):
        path = folder / f"{make.__name__}_{name}.npz"
        scipy.sparse.save_npz(path, make(array), compressed=name != "real")
        both_ways(path.name, make(array).toarray())
twice = scipy.sparse.coo_matrix(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), (2, 3))
scipy.sparse.save_npz(folder / "twice.npz", twice)
both_ways("twice.npz", twice.toarray())
for compressed in (False, True):
    path = folder / f"scipy_{compressed}.mat"
    inner = {"x": sample("f8", (4, 3)), "z": sample("c8", (4, 3)), "deep": {"y": sample("i2", (3, 2, 2))}}
    variables = {"z8": sample("c8", (6, 4)), "z16": sample("c16", (6, 3, 2)), "cfg": inner,
                 **{f"sparse_{name}": scipy.sparse.csc_matrix(array) for name, array in dense.items()}}
    scipy.io.savemat(path, variables, do_compression=compressed)
    for name in ("z8", "z16"):
        both_ways(f"{path.name}:{name}", variables[name])
    for name, array in dense.items():
        both_ways(f"{path.name}:sparse_{name}", scipy.sparse.csc_matrix(array).toarray())
    both_ways(f"{path.name}:cfg.x", inner["x"])
    both_ways(f"{path.name}:cfg.z", inner["z"])
    both_ways(f"{path.name}:cfg.deep.y", inner["deep"]["y"])

# Names of features beside arrays, in both types of NumPy's texts and both kinds of cells and chars.
z = sample("c8", (4, 2))
np.savez(folder / "names.npz", z=z, z_features=np.array(["größe", "b"]), x=z.real, x_features=np.array([b"a", b"bc"]))
scipy.io.savemat(folder / "names.mat", {"z": z, "z_features": np.array(["größe", "b"], dtype=object),
                                        "x": z.real, "x_features": ["a", "bc"]})
# Sparse matrices too large to be dense.
scipy.sparse.save_npz(folder / "huge.npz", scipy.sparse.identity(100_000, format="csr"))
scipy.io.savemat(folder / "huge.mat", {"huge": scipy.sparse.identity(100_000, format="csc")})

# CSV: as numpy.savetxt, Python's csv module and a spreadsheet write it.
table = sample("f8", (8, 3))
np.savetxt(folder / "savetxt.csv", table, delimiter=",")
case("savetxt.csv", np.loadtxt(folder / "savetxt.csv", delimiter=",", ndmin=2))
np.savetxt(folder / "exact.tsv", table, delimiter="\t", fmt="%.17g", header="a\tb\tc", comments="")
both_ways("exact.tsv", table)


def write_csv(name, separator, newline, start="", quote=""):
    lines = [separator.join(quote + repr(float(x)) + quote for x in row) for row in table]
    text = start + newline.join(lines) + newline
    (folder / name).write_bytes(text.encode("utf-8"))
    both_ways(name, table)


write_csv("plain.csv", ",", "\n")
write_csv("windows.csv", ";", "\r\n", start="\ufeff\"größe, cm\";b;c\r\n\r\n")
write_csv("quoted.csv", ",", "\n\n", quote='"')
write_csv("tabs.csv", "\t", "\n", start="a\tb\tc\n")

# Tables as pandas and Python's csv module write them: IDs, names, gaps, decimal commas, encodings.
frame = pandas.DataFrame({"mass [kg]": random.standard_normal(300), "größe, cm": random.standard_normal(300) * 1e-9,
                          "count": random.integers(0, 100, 300).astype(float)},
                         index=pandas.Index([f"s{i:03}.{i % 7}, \"ä\"" for i in range(300)], name="subject"))
frame.iloc[2, 0] = frame.iloc[5, 2] = frame.iloc[299, 1] = np.nan


def write_frame(name, id="subject", **options):
    frame.to_csv(folder / name, **options)
    more = {"names": list(frame.columns) if options.get("header", True) else []}
    if options.get("index", True):
        more |= {"id": id, "ids": list(frame.index)}
    case(name, frame.to_numpy(), **more)


write_frame("frame.csv")
write_frame("frame_by_place.csv", id="1")
write_frame("frame_unnamed.csv", id="1", index_label="")
write_frame("frame_bare.csv", id="1", header=False)
write_frame("frame_plain.csv", index=False)
write_frame("frame_na.csv", na_rep="NA", quoting=csv.QUOTE_ALL, lineterminator="\r\n")
write_frame("frame_null.tsv", sep="\t", na_rep="null", encoding="utf-8-sig")
write_frame("frame_german.csv", sep=";", decimal=",", encoding="utf-8-sig", lineterminator="\r\n")
write_frame("frame_german_bare.csv", id="1", sep=";", decimal=",", header=False)
write_frame("frame_german_numbers.csv", sep=";", decimal=",", header=False, index=False)
write_frame("frame_latin1.csv", index=False, encoding="latin-1")
write_frame("frame_mac.csv", lineterminator="\r")
for encoding in "utf-16", "utf-16-le", "utf-16-be":  # the first writes a byte order mark itself
    write_frame(f"frame_{encoding}.tsv", sep="\t", decimal=",", encoding=encoding)
    if encoding != "utf-16":
        path = folder / f"frame_{encoding}.tsv"
        path.write_bytes("\ufeff".encode(encoding) + path.read_bytes())
for dialect in csv.list_dialects():  # excel, excel-tab, unix
    with open(folder / f"module_{dialect}.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, dialect)
        writer.writerow([frame.index.name, *frame.columns])
        writer.writerows([key, *("" if np.isnan(x) else x for x in row)] for key, row in
                         zip(frame.index, frame.to_numpy()))
    case(f"module_{dialect}.csv", frame.to_numpy(), id="subject", ids=list(frame.index), names=list(frame.columns))

# IDX: every type, plain and compressed.
for code, dtype in {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}.items():
    for shape in [(9,), (5, 4), (6, 3, 4)]:
        array = sample(dtype, shape)
        name = f"{code:02x}-idx{len(shape)}"
        data = struct.pack(f">BBBB{len(shape)}I", 0, 0, code, len(shape), *shape) + array.tobytes()
        (folder / name).write_bytes(data)
        (folder / f"{name}.gz").write_bytes(gzip.compress(data))
        both_ways(name, array)
        both_ways(f"{name}.gz", array)

# What the C++ test copies into other formats and check_io_files.py reads again.
np.save(folder / "original.npy", sample("f8", (50, 7)))

(folder / "cases.json").write_text(json.dumps(cases))
