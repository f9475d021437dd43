"""cgmca on the reference's own splits and noise, beside the reference's own figures, run by run.

    PYTHONPATH=build/python /usr/bin/python3 tests/check_mnist_reference.py [--digits 0,1] [--data FOLDER] [--oracle FILE]

The reference drew split s of digit d from numpy.random.default_rng(1000 s + d): a permutation, then the noise (see
bench/mnist_reference.py). With the same images there is no chance left: every figure must be the reference's but for what
20 steps of LSQR make of rounding. Five splits of ten digits, two methods: 100 figures. Fails where a mean over five splits
differs by more than 3 standard errors of the difference, or a single figure by more than 10 %.
"""

import argparse
import json
import pathlib
import statistics
import sys

import numpy as np

import cgmca

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
from mnist_table import PAPER_RANK, idx  # noqa: E402


def scores(images, labels, digit, split):
    random = np.random.default_rng(1000 * split + digit)
    places = np.flatnonzero(labels == digit)
    clean = images[places][random.permutation(len(places))] / 255
    noisy = np.clip(clean + np.sqrt(0.1) * random.standard_normal(clean.shape), 0, 1)
    n = round(0.8 * len(places))
    found = []
    for covariance in ("identity", "data1"):
        model = cgmca.CGMCA(covariance=covariance, n_components=PAPER_RANK[digit]).fit(clean[:n], noisy[:n])
        x = model.translate(noisy[n:], source=2, target=1, method="lsqr")
        x = cgmca.image.mat2gray(cgmca.image.medfilt2(cgmca.image.wiener2(x, (28, 28)), (28, 28)), (28, 28))
        found.append(float(np.mean(cgmca.image.ssim(x, clean[n:], (28, 28)))))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--digits", default="0,1,2,3,4,5,6,7,8,9")
    parser.add_argument("--data", default="../shared/data/mnist", type=pathlib.Path)
    parser.add_argument("--oracle", default=pathlib.Path(__file__).resolve().parent / "fixtures/oracle/mnist_table.json")
    options = parser.parse_args()
    images = idx(options.data, "train-images-idx3-ubyte", 16).reshape(-1, 784)
    labels = idx(options.data, "train-labels-idx1-ubyte", 8)
    oracle = json.load(open(options.oracle))["imnoise"]
    failures = 0
    print("digit method     ours               reference          difference  3 standard errors  largest of a run")
    for digit in map(int, options.digits.split(",")):
        ours = [scores(images, labels, digit, split) for split in range(5)]
        for place, method in enumerate(("mca", "cgmca")):
            mine = [run[place] for run in ours]
            theirs = [run[place] for run in oracle[str(digit)]]
            sd = [statistics.stdev(values) for values in (mine, theirs)]
            limit = 3 * ((sd[0] ** 2 + sd[1] ** 2) / 5) ** 0.5
            difference = statistics.mean(mine) - statistics.mean(theirs)
            largest = max(abs(a / b - 1) for a, b in zip(mine, theirs))
            fine = abs(difference) <= limit and largest < 0.1
            failures += not fine
            print(f"{digit:5} {method:6} {statistics.mean(mine):.4f} ± {sd[0]:.4f}    {statistics.mean(theirs):.4f} ± {sd[1]:.4f}"
                  f"    {difference:+.5f}    {limit:.4f}             {100 * largest:.1f} %{'' if fine else '   OUTSIDE'}", flush=True)
    print(f"{failures} outside" if failures else "all within")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
