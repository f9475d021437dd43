"""What Python adds to the time of a fit at the paper's size: MNIST's threes, d 784+784, n 4,905, rank 550.

    PYTHONPATH=build/python /usr/bin/python3 bench/python_overhead.py [--repeats 5] [--data FOLDER]

Measured in two ways. *Inside*: the time of `CGMCA.fit` less the time that its two calls of the library take, which no load
on the machine can hide. *Beside*: the processor time of `CGMCA.fit` against that of the same fit in a C++ program, in turns;
on a machine that others use it scatters by more than the difference. One BLAS thread in both, whose time is then all there is.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402

import cgmca  # noqa: E402
from cgmca import CGMCA, _core, _estimators  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent


def inside(X, Y, rank):
    """Seconds of one fit, and of the library's two calls in it."""
    spent = []

    def timed(function):
        def call(*arguments, **more):
            start = time.perf_counter()
            result = function(*arguments, **more)
            spent.append(time.perf_counter() - start)
            return result
        return call

    class Summary:
        def __init__(self, *arguments, **more):
            self.summary = _core.Summary(*arguments, **more)

        def add(self, *arrays, **more):
            timed(self.summary.add)(*arrays, **more)
            return self.summary

        def __getattr__(self, name):
            return getattr(self.summary, name)

    class Core:
        Summary, fit = Summary, staticmethod(timed(_core.fit))

        def __getattr__(self, name):
            return getattr(_core, name)

    _estimators._core = Core()
    try:
        start = time.perf_counter()
        CGMCA("data1", rank).fit(X, Y)
        return time.perf_counter() - start, sum(spent)
    finally:
        _estimators._core = _core


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", default=ROOT.parent / "shared" / "data" / "mnist")
    parser.add_argument("--program", default=ROOT / "build" / "bench" / "bench_python_overhead")
    arguments = parser.parse_args()
    mnist = cgmca.datasets.load_mnist(arguments.data)
    X = mnist.data[mnist.target == 3][:4905] / 255
    Y = np.clip(X + np.sqrt(0.1) * np.random.default_rng(0).normal(size=X.shape), 0, 1)

    CGMCA("data1", 550).fit(X, Y)
    within = [inside(X, Y, 550) for _ in range(arguments.repeats)]
    added = [(whole - core) / core for whole, core in within]
    print(f"inside: {statistics.median(whole for whole, _ in within):.3f} s a fit, of which Python's own part is "
          f"{1000 * statistics.median(whole - core for whole, core in within):.2f} ms, "
          f"{100 * statistics.median(added):.3f} % (largest {100 * max(added):.3f} %)")

    by_python, by_cpp = [], []
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", X)
        np.save(f"{folder}/y.npy", Y)
        for _ in range(arguments.repeats):
            lines = subprocess.run([arguments.program, f"{folder}/x.npy", f"{folder}/y.npy", "550", "1"], check=True,
                                   capture_output=True, text=True).stdout.splitlines()
            by_cpp.append(float(lines[0].split()[1]))
            start = time.process_time()
            CGMCA("data1", 550).fit(X, Y)
            by_python.append(time.process_time() - start)
    ratio = statistics.median(by_python) / statistics.median(by_cpp) - 1
    print(f"beside: {statistics.median(by_python):.3f} s of processor time from Python, {statistics.median(by_cpp):.3f} s from "
          f"C++ (medians of {arguments.repeats}): {100 * ratio:+.2f} %; fastest of each {100 * (min(by_python) / min(by_cpp) - 1):+.2f} %")
    assert max(added) < 0.02, "Python's own part is above 2 %"


if __name__ == "__main__":
    main()
