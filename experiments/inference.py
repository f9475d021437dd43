#!/usr/bin/env python3
"""Simulations behind what docs/method.md says of tests, bootstrap and diagnostics.

    PYTHONPATH=build/python experiments/inference.py null [SETS]       p values without correlations, by theory and permutations
    PYTHONPATH=build/python experiments/inference.py count [SETS]      how many correlations are found if two are real
    PYTHONPATH=build/python experiments/inference.py coverage [SETS]   intervals of nominal .95
    PYTHONPATH=build/python experiments/inference.py swapped [SETS]    wrong pairs found, by the evidence and by T² alone

Needs SciPy. With 2,000 sets each takes some minutes.
"""

import sys

import numpy as np
import scipy.stats

import cgmca

SIZES = ((60, 4, 3), (120, 10, 6), (300, 5, 5))


def null(sets):
    for n, p, q in SIZES:
        theory, shuffled = [], []
        for seed in range(sets):
            random = np.random.default_rng(seed)
            X, Y = random.normal(size=(n, p)), random.normal(size=(n, q))
            theory.append(cgmca.MCA().fit(X, Y).tests()[0].wilks.p)
            found = cgmca.permutation_test(X, Y, permutations=99, seed=seed + 1).p_values[0]
            shuffled.append(found - random.uniform() / 100)  # p is one of 1/100, 2/100, …
        for name, p_values in (("Wilks", theory), ("permutation", shuffled)):
            print(f"n {n}, {p} + {q}: {name:<12} Kolmogorov-Smirnov p {scipy.stats.kstest(p_values, 'uniform').pvalue:.3f}")


def count(sets):
    for n, p, q in SIZES:
        found = []
        for seed in range(sets):
            random = np.random.default_rng(seed)
            X, Y = random.normal(size=(n, p)), random.normal(size=(n, q))
            Y[:, :2] = [0.8, 0.7] * X[:, :2] + np.sqrt(1 - np.square([0.8, 0.7])) * Y[:, :2]
            found.append(cgmca.MCA().fit(X, Y).tests().significant())
        print(f"n {n}, {p} + {q}: 2 in {np.mean(np.equal(found, 2)):.3f}, 1 in {np.mean(np.equal(found, 1)):.3f}, "
              f"more in {np.mean(np.greater(found, 2)):.3f}")


def coverage(sets):
    p, q, rho = 4, 3, np.array([0.8, 0.5, 0.3])
    mix = [np.random.default_rng(k).normal(size=(d, d)) for k, d in ((1, p), (2, q))]
    for factor in (20, 50):
        n, sigma, structure = factor * (p + q), [], []
        deviations = np.linalg.norm(mix[0], axis=1)
        truth = mix[0][:, :3] / deviations[:, None]  # the scores are the first causes
        for seed in range(sets):
            random = np.random.default_rng(1000 + seed)
            X, Y = random.normal(size=(n, p)), random.normal(size=(n, q))
            Y = rho * X[:, :3] + np.sqrt(1 - rho**2) * Y
            found = cgmca.bootstrap(X @ mix[0].T, Y @ mix[1].T, n=200, seed=seed + 1)
            r, s = found.correlations, found.domains[0].structure
            sigma.append((r.lower[:, 0] <= rho) & (rho <= r.upper[:, 0]))
            sides = np.sign((s.estimate * truth).sum(axis=0))
            structure.append((s.lower <= sides * truth) & (sides * truth <= s.upper))
        print(f"n {n} = {factor} (p + q): correlations {np.mean(sigma, axis=0).round(3)}, "
              f"structure {np.mean(structure, axis=(0, 1)).round(3)}")


def swapped(sets):
    for share in (0, 0.05):
        right = listed = wrong = by_t2 = any_listed = 0
        for seed in range(sets):
            random = np.random.default_rng(seed)
            causes = random.normal(size=(500, 6))
            X, Y = (causes @ random.normal(size=(6, d)) + random.normal(size=(500, d)) for d in (20, 15))
            bad = random.permutation(500)[:int(500 * share)]
            Y[bad] = Y[np.roll(bad, 1)]
            found = cgmca.MCA(6).fit(X, Y).diagnose(X, Y)
            rows = set(found.rows("mispaired", "swapped"))
            right, listed, wrong = right + len(rows & set(bad)), listed + len(rows), wrong + len(bad)
            by_t2 += len(set(found.rows("far out")) & set(bad))
            any_listed += bool(rows)
        print(f"{100 * share:g} % swapped: recall {right / max(1, wrong):.3f}, precision {right / max(1, listed):.3f}, "
              f"recall of T2 alone {by_t2 / max(1, wrong):.3f}, anything listed in {any_listed / sets:.3f} of the sets")


if __name__ == "__main__":
    {"null": null, "count": count, "coverage": coverage, "swapped": swapped}[sys.argv[1]](
        int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
