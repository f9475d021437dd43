#!/usr/bin/env python3
"""Where fused features classify better than either domain alone, and where they do not.

    make build
    PYTHONPATH=build/python OPENBLAS_NUM_THREADS=1 /usr/bin/python3 experiments/fusion.py \
        [--mfeat FILE] [--mnist DIR] [--radar DIR] [--splits 5]

The maps are fitted to matched pairs without labels, their ridge chosen without labels (`tune`, criterion "partner").
The labelled training samples, as they are, mapped or fused, then classify new ones. Every feature is divided by its
standard deviation among the training samples first, or views of other units could not stand side by side.
"""

import argparse
import functools
import pathlib
import sys
import warnings

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import cgmca

DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "data"
CLASSIFIERS = {"nearest neighbour": lambda: KNeighborsClassifier(1),
               "linear discriminant": lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")}
RIDGES = [0.01, 0.1, 1, 10]
# covariance → the ranks that tune tries. The last three weigh each direction by how well it matches, so that all are used.
FAMILIES = {"identity": [5, 10, 20, 40], "correlation": [40], "likelihood1": [], "likelihood2": []}
COLUMNS = ["domain 1", "domain 2", "side by side", "1 mapped", "2 mapped"] + [f"fused, {family}" for family in FAMILIES]


def standardized(train, test):
    scale = train.std(axis=0)
    scale[scale == 0] = 1
    return (train - train.mean(axis=0)) / scale, (test - train.mean(axis=0)) / scale


def chosen(X, Y, family):
    """An estimator of this covariance, by held-out pairs alone."""
    most = 9 * min(map(np.linalg.matrix_rank, (X, Y))) // 10  # parts of the samples may have a few directions less
    ranks = sorted({min(rank, most) for rank in FAMILIES[family]})
    return cgmca.tune(X, Y, covariance=family, n_components=ranks, max_rank=[None], ridge=RIDGES,
                      criterion="partner").estimator


def features(X, Y, new_X, new_Y):
    """What a classifier may be given: column → (training samples, new samples)."""
    (X, new_X), (Y, new_Y) = standardized(X, new_X), standardized(Y, new_Y)
    given = {"domain 1": (X, new_X), "domain 2": (Y, new_Y), "side by side": (np.c_[X, Y], np.c_[new_X, new_Y])}
    for family in FAMILIES:
        model = chosen(X, Y, family).fit(X, Y)
        given[f"fused, {family}"] = model.fuse(X, Y), model.fuse(new_X, new_Y)
        if family == "likelihood2":
            given["1 mapped"] = model.apply(X), model.apply(new_X)
            given["2 mapped"] = model.apply(Y, 2), model.apply(new_Y, 2)
    return given


def accuracies(X, Y, labels, train, test):
    """Part of the new samples named right: classifier → column → part."""
    given = features(X[train], Y[train], X[test], Y[test])
    return {name: {column: make().fit(known, labels[train]).score(new, labels[test])
                   for column, (known, new) in given.items()} for name, make in CLASSIFIERS.items()}


def table_rows(title, draw, splits):
    """draw: seed → X, Y, labels, train, test. Prints one row for each classifier as it is known."""
    found = [accuracies(*draw(seed)) for seed in range(splits)]
    rows = {}
    for name in CLASSIFIERS:
        parts = np.array([[one[name][column] for column in COLUMNS] for one in found])
        rows[name] = parts.mean(axis=0), parts.std(axis=0, ddof=1) if splits > 1 else np.zeros(len(COLUMNS))
        print(f"  {title}, {name}: " + ", ".join(f"{column} {value:.3f}" for column, value in
                                                 zip(COLUMNS, rows[name][0])), file=sys.stderr, flush=True)
    return rows


def print_tables(all_rows):
    for name in CLASSIFIERS:
        print(f"\n{name.capitalize()}:\n\n| data | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS))
        for title, rows in all_rows.items():
            mean, _ = rows[name]
            print(f"| {title} | " + " | ".join(f"{value:.3f}" for value in mean) + " |")
    spread = max(rows[name][1].max() for rows in all_rows.values() for name in CLASSIFIERS)
    print(f"\nStandard deviation over the splits at most {spread:.3f}.")


def mfeat(file):
    """UCI multiple features: six descriptions of 2,000 handwritten numerals, two at a time, 300 for training."""
    views = np.load(file)

    def draw(one, two, seed):
        order = np.random.default_rng(seed).permutation(2000)
        return views[one].astype(float), views[two].astype(float), views["label"], order[:300], order[300:]

    for one, two in (("fou", "zer"), ("fou", "kar"), ("zer", "kar"), ("fac", "fou"), ("fac", "pix")):
        yield f"mfeat {one} + {two}", functools.partial(draw, one, two)


def six_or_nine(file):
    """Of the errors of zer + kar in the first split, the part that take a 6 for a 9 or a 9 for a 6."""
    X, Y, labels, train, test = dict(mfeat(file))["mfeat zer + kar"](0)
    for column, (known, new) in features(X[train], Y[train], X[test], Y[test]).items():
        found = KNeighborsClassifier(1).fit(known, labels[train]).predict(new)
        wrong = found != labels[test]
        turned = wrong & np.isin(found, (6, 9)) & np.isin(labels[test], (6, 9))
        print(f"zer + kar, {column}: {wrong.sum()} errors, {turned.sum() / wrong.sum():.0%} between 6 and 9")


def coarse(images, side):
    """Means over blocks, side×side pixels in all."""
    width = int(np.sqrt(images.shape[1]))
    block = width // side
    return images.reshape(-1, side, block, side, block).mean(axis=(2, 4)).reshape(len(images), -1)


def mnist(folder):
    """Digits of 14×14 pixels, 300 for training: clean and noisy, and two noisy pictures (standard deviation 0.4)."""
    images = cgmca.datasets.load_mnist(folder)

    def draw(one, seed):
        random = np.random.default_rng(seed)
        order = random.permutation(len(images.data))[:1800]
        clean = coarse(images.data[order] / 255, 14)
        X = clean if one == "clean" else clean + 0.4 * random.normal(size=clean.shape)
        Y = clean + 0.4 * random.normal(size=clean.shape)
        return X, Y, images.target[order], np.arange(300), np.arange(300, 1800)

    for one, two in (("clean", "noisy"), ("noisy", "noisy again")):
        yield f"MNIST {one} + {two}", functools.partial(draw, one)


def radar(folder):
    """SAMPLE, 16×16 pixels: a synthetic and a measured chip of a vehicle from the same angle, 134 for training."""
    sample = cgmca.datasets.load_sample(folder, size=64)
    X, Y = coarse(sample.synthetic, 16), coarse(sample.measured, 16)

    def draw(seed):
        order = np.random.default_rng(seed).permutation(len(sample.target))
        return X, Y, sample.target, order[:134], order[134:]
    yield "radar synthetic + measured", draw


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mfeat", metavar="FILE", help="mfeat.npz: arrays fou, fac, kar, pix, zer, mor, label")
    parser.add_argument("--mnist", metavar="DIR", help="folder with MNIST's IDX files")
    parser.add_argument("--radar", metavar="DIR", help="folder with SAMPLE")
    parser.add_argument("--splits", type=int, default=5)
    given = parser.parse_args()
    for place in filter(None, (given.mfeat, given.mnist, given.radar)):
        if not pathlib.Path(place).exists():
            parser.error(f"no {place}")
    warnings.simplefilter("ignore", cgmca.FitWarning)
    all_rows = {}
    for source, named, usual in ((mfeat, given.mfeat, DATA / "mfeat" / "mfeat.npz"), (mnist, given.mnist, DATA / "mnist"),
                                 (radar, given.radar, DATA / "SAMPLE_dataset_public")):
        if not named and not usual.exists():
            print(f"{source.__name__} left out: give its place with --{source.__name__}")
            continue
        for title, draw in source(named or usual):
            all_rows[title] = table_rows(title, draw, given.splits)
        if source is mfeat:
            six_or_nine(named or usual)
    if all_rows:
        print_tables(all_rows)


if __name__ == "__main__":
    main()
