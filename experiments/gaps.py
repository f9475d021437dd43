#!/usr/bin/python3
"""Translation from incomplete samples: EM beside complete samples only, on mfeat and sugarcane spectra.

    experiments/gaps.py ../shared/data        prints a table; each method has its best ridge of a grid

The error is that of each view translated from all others, over its variance, on held-out samples; the mean of the views.
"""

import argparse
import pathlib
import warnings

import numpy as np

import cgmca

RIDGES = (0.01, 0.1, 1.0, 10.0)


def mfeat(folder):
    data = np.load(folder / "mfeat" / "mfeat.npz")
    return [data[name].astype(float) / data[name].std() for name in ("fou", "kar", "zer")]


def spectra(folder):
    return [np.genfromtxt(folder / "sugarcane" / name, delimiter=";", skip_header=1)[:, 1::4]
            for name in ("Scio.CSV", "Micronir1700rep1.CSV", "Tellspec.CSV")]


def gaps(views, n, share, random):
    """n training samples of which each view is missing with this share, and the samples held out."""
    order = random.permutation(len(views[0]))
    train, test = [[view[rows].copy() for view in views] for rows in (order[:n], order[n:n + 500])]
    missing = random.uniform(size=(n, len(views))) < share
    missing[missing.all(axis=1), 0] = False
    for view, gone in zip(train, missing.T):
        view[gone] = np.nan
    return train, test


def error(model, test):
    errors = []
    for target in range(len(test)):
        sources = [None if i == target else view for i, view in enumerate(test)]
        estimate = model.translate(sources, target=target + 1)
        errors.append(np.sum((estimate - test[target]) ** 2) / np.sum((test[target] - test[target].mean(axis=0)) ** 2))
    return np.mean(errors)


def best(train, test, missing):
    found = []
    for ridge in RIDGES:
        try:
            model = cgmca.MCA(ridge=ridge, random_starts=0, max_sweeps=50).fit(train, missing=missing)
            found.append(error(model, test))
        except ValueError:  # too few complete samples
            continue
    return min(found, default=np.nan)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--splits", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'data':<12}{'n':>6}{'missing':>9}{'complete only':>15}{'EM':>8}{'nothing missing':>17}")
    for name, views, settings in (("mfeat", mfeat(options.data), ((400, 0.5), (400, 0.75), (1500, 0.5), (1500, 0.75))),
                                  ("spectra", spectra(options.data), ((45, 0.5),))):
        for n, share in settings:
            rows = []
            for split in range(options.splits):
                train, test = gaps(views, n, share, np.random.default_rng(split))
                whole, _ = gaps(views, n, 0.0, np.random.default_rng(split))
                rows.append([best(train, test, "drop"), best(train, test, "keep"), best(whole, test, "error")])
            drop, keep, full = np.nanmean(rows, axis=0)
            print(f"{name:<12}{n:>6}{share:>9}{drop:>15.3f}{keep:>8.3f}{full:>17.3f}", flush=True)


if __name__ == "__main__":
    main()
