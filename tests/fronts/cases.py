"""The oracle cases for fronts in other languages: their samples as raw doubles, column by column, and what the command
line makes of them, to be compared bit by bit."""

import json
import os
import pathlib
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORACLE = ROOT / "tests" / "fixtures" / "oracle"


def command(program, *words):
    return subprocess.run([str(program), *map(str, words)], check=True, capture_output=True, text=True,
                          env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}).stdout


def write_raw(path, array):
    np.asfortranarray(array, np.float64).ravel("F").tofile(path)


def cases():
    """(name, paths of the samples, covariances as specs or paths of matrices, graph or None)"""
    for path in sorted([*ORACLE.glob("*.json"), *ORACLE.glob("multi/*.json")]):
        answer = json.loads(path.read_text())
        if "cov" not in answer:
            continue
        samples = [one for i in range(1, 9) if (one := path.with_name(f"{path.stem}.x{i}.npy")).exists()]
        covariances = [path.with_name(pathlib.Path(spec[5:]).name) if spec.startswith("file:") else spec
                       for spec in answer["cov"]]
        yield path.stem, samples, covariances, np.array(answer["weights"], float) if len(samples) > 2 else None


def prepare(program, folder):
    """A folder for each case with x1.raw, …, c1.raw, graph.raw, and the command line's model, z.npy and y.npy. Yields
    (folder, shapes of the samples, specs or shapes of matrices, whether there is a graph)."""
    for name, paths, covariances, graph in cases():
        here = pathlib.Path(folder) / name
        here.mkdir(parents=True)
        words, specs = [], []
        for i, one in enumerate(covariances, 1):
            words += [f"--cov{i}", one if isinstance(one, str) else f"file:{one}"]
            if not isinstance(one, str):
                write_raw(here / f"c{i}.raw", np.load(one))
            specs.append(one if isinstance(one, str) else np.load(one).shape)
        if graph is not None:
            np.save(here / "graph.npy", graph)
            write_raw(here / "graph.raw", graph)
            words += ["--graph", here / "graph.npy"]
        for i, path in enumerate(paths, 1):
            write_raw(here / f"x{i}.raw", np.load(path))
        command(program, "fit", *paths, *words, "-o", here / "by-command")
        command(program, "apply", here / "by-command", "--domain", 2, paths[1], "-o", here / "z.npy")
        command(program, "translate", here / "by-command", "--from", 2, "--to", 1, paths[1], "-o", here / "y.npy")
        yield here, [np.load(path).shape for path in paths], specs, graph is not None


def compare(here, front):
    """What the front wrote: by-FRONT, z.raw and y.raw."""
    assert (here / f"by-{front}").read_bytes() == (here / "by-command").read_bytes(), f"{here.name}: the models differ"
    for name in ("z", "y"):
        expected = np.load(here / f"{name}.npy")
        found = np.fromfile(here / f"{name}.raw").reshape(expected.shape, order="F")
        assert np.array_equal(found, expected), f"{here.name}: {name} differs by {np.abs(found - expected).max()}"
