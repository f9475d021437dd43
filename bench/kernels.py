#!/usr/bin/env python3
"""What the wheel's OpenBLAS gains on a processor that Debian's OpenBLAS does not know.

    bench/kernels.py PYTHON_WITH_THE_WHEEL [--runs 3] [--threads 2]

Debian's OpenBLAS takes a processor that is newer than itself for a Prescott of 2004. Here it is told to
(OPENBLAS_CORETYPE), so that the figure can be had on any machine. Both sides fit MNIST's threes and noisy ones, in
turn, and the best of three fits counts; their correlations must agree. Run it on an idle machine, after `make` and
`make wheel`.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = """
import json, time, warnings
import numpy as np
warnings.simplefilter("ignore")
import cgmca
digits = cgmca.datasets.load_mnist({data!r})
clean = digits.data[digits.target == 3].astype(float)
noisy = clean + np.random.default_rng(0).normal(size=clean.shape) * clean.std()
seconds = []
for _ in range(3):  # the first fit also gets its memory from the system
    start = time.perf_counter()
    model = cgmca.CGMCA(covariance="data1", n_components=500).fit(clean, noisy)
    seconds.append(time.perf_counter() - start)
print(json.dumps([min(seconds), cgmca.blas_description(), model.canonical_correlations_[:20].tolist()]))
"""


def run(python, data, threads, **environment):
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "OPENBLAS_CORETYPE")}
    clean |= {"OPENBLAS_NUM_THREADS": str(threads), **environment}
    return json.loads(subprocess.run([python, "-c", WORK.format(data=data)], env=clean, check=True, text=True,
                                     stdout=subprocess.PIPE).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    data = subprocess.run([ROOT / "tools" / "get-mnist"], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()
    sides = {"Debian": lambda: run("/usr/bin/python3", data, options.threads, PYTHONPATH=str(ROOT / "build" / "python"),
                                   OPENBLAS_CORETYPE="Prescott"),
             "wheel": lambda: run(options.python, data, options.threads)}
    seconds = {name: [] for name in sides}
    found = {}
    for _ in range(options.runs):
        for name, side in sides.items():
            elapsed, kernels, correlations = side()
            seconds[name].append(elapsed)
            found[name] = correlations
            print(f"{name:7} {elapsed:7.2f} s  {kernels}", flush=True)
    difference = max(abs(one - two) for one, two in zip(*found.values()))
    if difference > 1e-9:
        raise SystemExit(f"the correlations differ by {difference:.1e}; no ratio is given")
    ratio = statistics.median(seconds["Debian"]) / statistics.median(seconds["wheel"])
    print(f"the wheel is {ratio:.1f} times as fast; correlations differ by {difference:.0e}")


if __name__ == "__main__":
    main()
