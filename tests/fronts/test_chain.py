"""One model through all fronts: fitted in R, verified on the command line, applied in Octave, exported to ONNX and run by
ONNX Runtime; then one of Octave in R. After make octave and make r; make test-fronts does all three."""

import os
import pathlib
import subprocess
import sys

import cases
import numpy as np
import onnxruntime
import pytest

BUILD = pathlib.Path(os.environ["CGMCA_PROGRAM"]).parent
ENVIRONMENT = {**os.environ, "R_LIBS": str(BUILD / "r" / "library"), "CGMCA_PYTHON": sys.executable}
ROWS, X, Y, K = 80, 4, 3, 2


def run(*words):
    done = subprocess.run(list(map(str, words)), env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def in_r(folder, code):
    run("Rscript", "-e", f"setwd('{folder}'); library(cgmca); raw <- function(path, d) matrix(readBin(path, 'double', {ROWS} * d), "
        f"{ROWS}); put <- function(path, Z) writeBin(as.vector(Z), path); {code}")


def in_octave(folder, code):
    script = folder / "script.m"
    script.write_text(f"function Z = raw(path, d), f = fopen(path); Z = fread(f, [{ROWS} d], 'double'); fclose(f); end\n"
                      "function put(path, Z), f = fopen(path, 'w'); fwrite(f, Z, 'double'); fclose(f); end\n"
                      f"warning('off', 'all'); addpath('{BUILD}/matlab'); cd('{folder}'); {code}")
    run("octave-cli", "--norc", "--no-history", script)


def raw(path, columns):
    return np.fromfile(path).reshape(ROWS, columns, order="F")


@pytest.fixture
def folder(tmp_path):
    random = np.random.default_rng(0)
    causes = random.normal(size=(ROWS, 2))
    for name, columns in (("x", X), ("y", Y)):
        samples = causes @ random.normal(size=(2, columns)) + .3 * random.normal(size=(ROWS, columns))
        np.save(tmp_path / f"{name}.npy", samples)
        cases.write_raw(tmp_path / f"{name}.raw", samples)
    return tmp_path


def test_a_model_of_r_goes_through_all_fronts(folder):
    in_r(folder, f"x <- raw('x.raw', {X}); y <- raw('y.raw', {Y}); m <- cgmca(x, y, covariance = 'identity:{K}'); "
                 "cgmca_write(m, 'm'); put('zr.raw', scores(m)); "
                 "p <- predict(m, y, 'response', from = 'y', to = 'x', se.fit = TRUE); put('pr.raw', p$fit); put('er.raw', p$se.fit)")
    program = BUILD / "cgmca"
    cases.command(program, "verify", folder / "m", folder / "x.npy", folder / "y.npy")
    cases.command(program, "apply", folder / "m", "--domain", 1, folder / "x.npy", "-o", folder / "z.npy")
    cases.command(program, "translate", folder / "m", "--from", 2, "--to", 1, folder / "y.npy", "-o", folder / "p.npy",
                  "--stderr", folder / "e.npy")
    in_octave(folder, f"m = cgmca.load('m'); put('zo.raw', cgmca.apply(m, 1, raw('x.raw', {X}))); "
                      f"[p, e] = cgmca.translate(m, raw('y.raw', {Y})); put('po.raw', p); put('eo.raw', e);")
    for name, columns in (("z", K), ("p", X), ("e", X)):
        expected = np.load(folder / f"{name}.npy")
        for front in "ro":
            assert np.array_equal(raw(folder / f"{name}{front}.raw", columns), expected), (name, front)

    for what, words, feed, expected in (("apply", [], {"x": "x"}, {"mapped": "z"}),
                                        ("translate", ["--stderr"], {"y": "y"}, {"translated": "p", "standard_error": "e"})):
        run(program, "export", folder / "m", "--onnx", "--what", what, *words, "-o", folder / f"{what}.onnx")
        session = onnxruntime.InferenceSession(folder / f"{what}.onnx", providers=["CPUExecutionProvider"])
        found = session.run(list(expected), {name: np.load(folder / f"{path}.npy") for name, path in feed.items()})
        for one, path in zip(found, expected.values()):
            answer = np.load(folder / f"{path}.npy")
            assert np.linalg.norm(one - answer) <= 1e-12 * np.linalg.norm(answer), (what, path)


def test_a_model_of_octave_is_one_of_r(folder):
    in_octave(folder, f"m = cgmca.fit(raw('x.raw', {X}), raw('y.raw', {Y}), 'Covariance', 'data1:2'); cgmca.save(m, 'm'); "
                      f"put('zo.raw', cgmca.apply(m, 2, raw('y.raw', {Y})));")
    in_r(folder, f"m <- cgmca_read('m'); y <- raw('y.raw', {Y}); put('zr.raw', scores(m, y, 2)); "
                 f"stopifnot(cgmca_verify(m, raw('x.raw', {X}), y)$certified); cgmca_write(m, 'again')")
    assert np.array_equal(raw(folder / "zo.raw", X), raw(folder / "zr.raw", X))
    assert (folder / "m").read_bytes() == (folder / "again").read_bytes()
