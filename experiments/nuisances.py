#!/usr/bin/python3
"""What removing a nuisance does: intervals, p values, radar images by azimuth, digits of two laboratories.

    experiments/nuisances.py [coverage] [null] [radar] [laboratories]
"""

import os
import pathlib
import re
import sys
import warnings

import numpy as np

import cgmca

DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def drawn(random, n, q, d=4, shared=2):
    causes, Z = random.normal(size=(n, shared)), random.normal(size=(n, q))
    return [causes @ random.normal(size=(shared, d)) + Z @ random.normal(size=(q, d)) + random.normal(size=(n, d))
            for _ in "XY"] + [Z]


def coverage(sets=100):
    """The part of intervals of 90 % that hold new values: with the nuisance, and of a fit to what regression left."""
    print("coverage of 90 %: n, q, with the nuisance, residuals as if they were samples")
    for n in (60, 100, 300):
        for q in (1, 5, 10, 25):
            held, naive = [], []
            for seed in range(sets):
                X, Y, Z = drawn(np.random.default_rng(seed), n + 50, q)
                model = cgmca.MCA(4).fit(X[:n], Y[:n], nuisance=Z[:n])
                _, low, high = model.translate(Y[n:], return_interval=0.9, nuisance=Z[n:])
                held.append(np.mean((low <= X[n:]) & (X[n:] <= high)))
                design = np.c_[np.ones(n + 50), Z]
                rest = [part - design @ np.linalg.lstsq(design[:n], part[:n], rcond=None)[0] for part in (X, Y)]
                plain = cgmca.MCA(4).fit(rest[0][:n], rest[1][:n])
                _, low, high = plain.translate(rest[1][n:], return_interval=0.9)
                naive.append(np.mean((low <= rest[0][n:]) & (rest[0][n:] <= high)))
            print(f"{n:4d} {q:3d}   {np.mean(held):.3f}   {np.mean(naive):.3f}", flush=True)


def null(sets=200):
    """p values where two domains share a nuisance and nothing else."""
    from scipy.stats import kstest
    wilks, permuted, plain = [], [], []
    for seed in range(sets):
        random = np.random.default_rng(seed)
        X, Y, Z = drawn(random, 60, 3, shared=0)
        wilks.append(cgmca.MCA(4).fit(X, Y, nuisance=Z).tests()[0].wilks.p)
        plain.append(cgmca.MCA(4).fit(X, Y).tests()[0].wilks.p)
        permuted.append(cgmca.permutation_test(X, Y, nuisance=Z, permutations=99, seed=seed + 1).p_values[0])
    print(f"confounded null, {sets} sets: Wilks p < .05 in {np.mean(np.array(wilks) < .05):.3f} (Kolmogorov p "
          f"{kstest(wilks, 'uniform').pvalue:.2f}), permutations in {np.mean(np.array(permuted) <= .05):.3f}; "
          f"without the nuisance {np.mean(np.array(plain) < .05):.3f}")


def nearest(references, labels, queries, truth):
    squares = (references ** 2).sum(axis=1) - 2 * queries @ references.T
    return np.mean(labels[np.argmin(squares, axis=1)] == truth)


def azimuths(root):
    """Degrees of each image, in the order of load_sample: vehicles and files by name."""
    names = [name.name for vehicle in sorted((root / "png_images/qpm/real").iterdir())
             for name in sorted(vehicle.glob("*.png"))]
    return np.array([float(re.search(r"azCenter_(\d+)", name).group(1)) for name in names])


def radar(draws=5):
    """SAMPLE: the azimuth is a harmless nuisance; with the class it is not one, but what is sought."""
    places = [pathlib.Path(os.environ.get("CGMCA_DATA", "")), DATA, pathlib.Path.home() / ".cache/cgmca"]
    roots = [place / "SAMPLE_dataset_public" for place in places]
    root = next((folder for folder in roots if folder.is_dir()), roots[-1])
    sample = cgmca.datasets.load_sample(root, size=32)
    azimuth_of = azimuths(root)
    angle = azimuth_of * np.pi / 180
    plain, azimuth, crossed = [], [], []
    for draw in range(draws):
        order = np.random.default_rng(draw).permutation(len(sample.target))
        known, new = order[:300], order[300:]
        waves = np.c_[azimuth_of, np.cos(2 * angle), np.sin(2 * angle)]
        kinds = (sample.target[:, None] == np.unique(sample.target)).astype(float)
        both = np.hstack([kinds, kinds * (azimuth_of - azimuth_of.mean())[:, None]])
        for found, Z in ((plain, None), (azimuth, waves), (crossed, both)):
            model = cgmca.MCA(30, ridge=1).fit(sample.synthetic[known], sample.measured[known],
                                                nuisance=None if Z is None else Z[known])
            one, two = ({} if Z is None else {"nuisance": Z[rows]} for rows in (slice(None), new))
            found.append(nearest(model.apply(sample.synthetic, **one), sample.target,
                                 model.apply(sample.measured[new], 2, **two), sample.target[new]))
    print(f"radar, {draws} draws of 300 pairs, nearest synthetic image: plain {np.mean(plain):.3f}, without azimuth "
          f"{np.mean(azimuth):.3f}, without class x azimuth {np.mean(crossed):.3f}")


def laboratories(draws=10):
    """Digits measured in two laboratories, whose instruments add a pattern each."""
    from sklearn.datasets import load_digits
    digits = load_digits()
    images, labels = digits.images / 16, digits.target
    optical = images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
    acoustic = np.hstack([images.sum(axis=2), images.sum(axis=1)])
    found = {name: [] for name in ("no laboratories", "known", "blind", "plain")}
    for draw in range(draws):
        random = np.random.default_rng(draw)
        order = random.permutation(len(labels))
        known, new = order[:600], order[600:]
        lab = (random.uniform(size=len(labels)) < 0.5).astype(float)
        X, Y = (domain + 2 * domain.std() * np.outer(lab, random.normal(size=16)) for domain in (optical, acoustic))
        Z = lab[:, None]

        def accuracy(model, one, two, **nuisance):
            options = [{key: value[rows] for key, value in nuisance.items()} for rows in (known, new)]
            return nearest(model.apply(one[known], **options[0]), labels[known], model.apply(two[new], 2, **options[1]),
                           labels[new])

        settings = {"n_components": 10, "ridge": 0.01}
        model = cgmca.MCA(**settings).fit(optical[known], acoustic[known])
        found["no laboratories"].append(accuracy(model, optical, acoustic))
        found["plain"].append(accuracy(cgmca.MCA(**settings).fit(X[known], Y[known]), X, Y))
        model = cgmca.MCA(**settings).fit(X[known], Y[known], nuisance=Z[known])
        found["known"].append(accuracy(model, X, Y, nuisance=Z))
        blind = cgmca.MCA(nuisance_unknown=True, **settings).fit(X[known], Y[known], nuisance=Z[known])
        found["blind"].append(accuracy(blind, X, Y))
    print(f"laboratories, {draws} draws: " + ", ".join(f"{name} {np.mean(one):.3f}" for name, one in found.items()))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or ["coverage", "null", "radar", "laboratories"]:
        {"coverage": coverage, "null": null, "radar": radar, "laboratories": laboratories}[name]()
