"""What the C interface gives is what the command line gives, to the bit; its examples run; what must be shipped."""

import ctypes as c
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORACLE = ROOT / "tests" / "fixtures" / "oracle"
LIBRARY = pathlib.Path(os.environ["CGMCA_C"])
CASES = [path for path in sorted([*ORACLE.glob("*.json"), *ORACLE.glob("multi/*.json")])
         if "cov" in json.loads(path.read_text())]


class View(c.Structure):
    _fields_ = [("data", c.c_void_p), ("rows", c.c_int64), ("columns", c.c_int64), ("row_stride", c.c_int64),
                ("column_stride", c.c_int64), ("is_float", c.c_int)]


class FitOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("covariance", c.c_char_p), ("covariances", c.POINTER(c.c_char_p)),
                ("matrices", c.POINTER(View)), ("matrix_count", c.c_int64), ("ridge", c.c_void_p),
                ("max_rank", c.c_void_p), ("rank_tol", c.c_double), ("weights", c.c_void_p), ("extra", c.c_void_p),
                ("names", c.c_void_p), ("accumulate", c.c_char_p), ("graph", c.c_char_p),
                ("graph_weights", c.c_void_p), ("seed", c.c_uint64), ("random_starts", c.c_int64),
                ("max_sweeps", c.c_int64), ("max_seconds", c.c_double), ("calibrate", c.c_int64), ("stop", c.c_void_p),
                ("user", c.c_void_p), ("scale", c.c_int), ("towards", c.c_char_p), ("missing", c.c_char_p)]


lib = c.CDLL(str(LIBRARY))
lib.cgmca_last_message.restype = c.c_char_p
lib.cgmca_model_dimension.restype = c.c_int64


def check(status):
    assert status == 0, lib.cgmca_last_message().decode()


def view(array):
    return View(array.ctypes.data, *array.shape)


def command(*arguments):
    subprocess.run([os.environ["CGMCA_PROGRAM"], *map(str, arguments)], check=True, capture_output=True)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_models_points_and_translations_are_those_of_the_command_line(case, tmp_path):
    answer = json.loads(case.read_text())
    paths = [path for i in range(1, 9) if (path := case.with_name(f"{case.stem}.x{i}.npy")).exists()]
    arrays = [np.ascontiguousarray(np.load(path), np.float64) for path in paths]
    specs, matrices, words = [], [], []
    for i, spec in enumerate(answer["cov"]):
        if spec.startswith("file:"):
            matrices.append(np.ascontiguousarray(np.load(case.with_name(pathlib.Path(spec[5:]).name)), np.float64))
            specs.append(f"file:{len(matrices)}".encode())
            spec = "file:" + str(case.with_name(pathlib.Path(spec[5:]).name))
        else:
            specs.append(spec.encode())
        words += [f"--cov{i + 1}", spec]
    graph = np.array(answer["weights"], np.float64) if len(arrays) > 2 else None
    if graph is not None:
        np.save(tmp_path / "graph.npy", graph)
        words += ["--graph", tmp_path / "graph.npy"]
    command("fit", *paths, *words, "-o", tmp_path / "by-command")

    X = (View * len(arrays))(*map(view, arrays))
    covariances = (View * max(1, len(matrices)))(*map(view, matrices))
    options = FitOptions(c.sizeof(FitOptions), None, (c.c_char_p * len(specs))(*specs), covariances, len(matrices))
    if graph is not None:
        options.graph_weights = graph.ctypes.data
    model = c.c_void_p()
    check(lib.cgmca_fit(X, len(arrays), c.byref(options), c.byref(model)))
    check(lib.cgmca_model_save(model, str(tmp_path / "by-c").encode()))
    assert (tmp_path / "by-c").read_bytes() == (tmp_path / "by-command").read_bytes()

    k = lib.cgmca_model_dimension(model)
    Z, Y = np.empty((len(arrays[1]), k)), np.empty_like(arrays[0])
    check(lib.cgmca_apply(model, 2, c.byref(view(arrays[1])), c.byref(view(Z))))
    command("apply", tmp_path / "by-command", "--domain", 2, paths[1], "-o", tmp_path / "z.npy")
    assert np.array_equal(Z, np.load(tmp_path / "z.npy"))
    translation, source = c.c_void_p(), c.c_int(2)
    check(lib.cgmca_translation_new(model, c.byref(source), 1, 1, None, c.c_int64(0), c.byref(translation)))
    check(lib.cgmca_translate(translation, c.byref(view(arrays[1])), c.byref(view(Y)), None, c.c_double(0), None))
    command("translate", tmp_path / "by-command", "--from", 2, "--to", 1, paths[1], "-o", tmp_path / "y.npy")
    assert np.array_equal(Y, np.load(tmp_path / "y.npy"))
    lib.cgmca_translation_free(translation)
    lib.cgmca_model_free(model)


def doubles(*values):
    return c.cast((c.c_double * len(values))(*values), c.c_void_p)


def integers(*values):
    return c.cast((c.c_int64 * len(values))(*values), c.c_void_p)


OPTIONS = {
    "missing": (["--missing", "keep", "--ridge", "0.1"], {"missing": b"keep", "ridge": doubles(.1, .1)}),
    "towards": (["--towards", "identity", "--ridge", "auto"], {"towards": b"identity", "ridge": doubles(-1, -1)}),
    "scale": (["--scale", "--max-rank", "3"], {"scale": 1, "max_rank": integers(3, 3)}),
    "gram": (["--accumulate", "gram", "--rank-tol", "1e-6"], {"accumulate": b"gram", "rank_tol": 1e-6}),
    "calibrate": (["--calibrate", "4"], {"calibrate": 4}),
    "weights": (["--weights", "w.npy"], {"weights": "w.npy"}),
    "extra": (["--extra2", "more.npy", "--ridge", "2,0"], {"extra": "more.npy", "ridge": doubles(2, 0)}),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_are_those_of_the_command_line(name, tmp_path):
    random = np.random.default_rng(1)
    X = random.normal(size=(40, 5))
    arrays = [X, X + .1 * random.normal(size=(40, 5))]
    if name == "missing":
        arrays[1][:6, 2] = np.nan
    np.save(tmp_path / "w.npy", random.integers(0, 3, size=(40, 1)).astype(float))
    np.save(tmp_path / "more.npy", random.normal(size=(30, 5)))
    for path, array in zip("ab", arrays):
        np.save(tmp_path / f"{path}.npy", array)
    words, fields = OPTIONS[name]
    words = [tmp_path / word if word.endswith(".npy") else word for word in words]
    command("fit", tmp_path / "a.npy", tmp_path / "b.npy", "--cov", "data1:2", *words, "-o", tmp_path / "by-command")
    kept = {key: np.load(tmp_path / value) for key, value in fields.items() if isinstance(value, str)}
    fields = {key: value for key, value in fields.items() if key not in kept}
    options = FitOptions(c.sizeof(FitOptions), b"data1:2", **fields)
    if "weights" in kept:
        options.weights = kept["weights"].ctypes.data
    if "extra" in kept:
        extra = (View * 2)(View(), view(kept["extra"]))
        options.extra = c.cast(extra, c.c_void_p)
    model = c.c_void_p()
    check(lib.cgmca_fit((View * 2)(*map(view, arrays)), 2, c.byref(options), c.byref(model)))
    check(lib.cgmca_model_save(model, str(tmp_path / "by-c").encode()))
    lib.cgmca_model_free(model)
    assert (tmp_path / "by-c").read_bytes() == (tmp_path / "by-command").read_bytes()


def built(source, tmp_path):
    program = tmp_path / source.stem
    where = ["-L", LIBRARY.parent]
    if source.suffix == ".rs":
        arguments = ["rustc", "-O", source, *where, "-l", "cgmca_c", "-C", f"link-arg=-Wl,-rpath,{LIBRARY.parent}",
                     "-C", f"link-arg=-Wl,-rpath-link,{LIBRARY.parent}", "-o", program]
    else:
        arguments = ["cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", source,
                     *where, "-lcgmca_c", f"-Wl,-rpath,{LIBRARY.parent}", "-o", program]
    subprocess.run(list(map(str, arguments)), check=True)
    return program


def output_of(*words):
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout


def test_the_example_in_c_runs_and_needs_the_core_alone(tmp_path):
    program = built(ROOT / "examples" / "c" / "translate.c", tmp_path)
    assert "less than 5 standard errors" in output_of(program)
    needed = output_of("ldd", program)
    for absent in ("hdf5", "png", "zip", "python", "cgmca_io"):
        assert absent not in needed


def shipped_with(library, path):
    """What the dynamic loader needs beside the C library, as files."""
    needed = [line.split()[2] for line in output_of("ldd", library).splitlines() if "=> /" in line]
    c_library = ("libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so")
    return [path / name for name in needed if not pathlib.Path(name).name.startswith(c_library)]


@pytest.mark.skipif(shutil.which("strip") is None or b"__asan" in LIBRARY.read_bytes(), reason="no strip, or sanitizers")
def test_what_must_be_shipped_has_the_size_that_the_page_states(tmp_path):
    ours, all_of_it = 0, 0
    for path in {file.resolve() for file in [LIBRARY, *shipped_with(LIBRARY, pathlib.Path("/"))]}:
        shutil.copy(path, tmp_path / path.name)
        subprocess.run(["strip", tmp_path / path.name], check=True)
        size = (tmp_path / path.name).stat().st_size / 1e6
        all_of_it += size
        ours += size if path.name.startswith("libcgmca") else 0
    page = (ROOT / "docs" / "start" / "c.md").read_text()
    stated = re.search(r"`libcgmca`,\s+stripped ([0-9.]+)\s+MB together", page)
    everything = re.search(r"needs ([0-9]+)\s+MB in all on\s+Debian 12", page)
    assert abs(ours - float(stated[1])) < .2, ours
    if "12" in pathlib.Path("/etc/debian_version").read_text()[:2]:
        assert abs(all_of_it - float(everything[1])) < 3, all_of_it


def test_the_examples_in_python_and_rust_run(tmp_path):
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 50, 4))
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    out = output_of(sys.executable, ROOT / "examples" / "c" / "ctypes_fit.py", LIBRARY, tmp_path / "a.npy",
                    tmp_path / "b.npy", tmp_path / "m")
    command("verify", tmp_path / "m", tmp_path / "a.npy", tmp_path / "b.npy")
    assert out.startswith("objective ")
    if shutil.which("rustc") is None:
        pytest.skip("no rustc")
    point = json.loads(output_of(built(ROOT / "examples" / "c" / "apply.rs", tmp_path), tmp_path / "m"))
    np.save(tmp_path / "ones.npy", np.ones((1, 4)))
    command("apply", tmp_path / "m", "--domain", 1, tmp_path / "ones.npy", "-o", tmp_path / "z.npy")
    assert np.allclose(point, np.load(tmp_path / "z.npy")[0], rtol=1e-13, atol=0)
