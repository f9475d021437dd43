#!/usr/bin/env python3
"""Simulations behind what docs/method.md says of tests, bootstrap and diagnostics.

    PYTHONPATH=build/python experiments/inference.py null [SETS]       p values without correlations
    PYTHONPATH=build/python experiments/inference.py count [SETS]      how many correlations are found if two are real
    PYTHONPATH=build/python experiments/inference.py coverage [SETS]   intervals of nominal .95
    PYTHONPATH=build/python experiments/inference.py alignment [SETS]  the same after rotations of replicas
    PYTHONPATH=build/python experiments/inference.py swapped [SETS]    wrong pairs found, also by T² alone
    PYTHONPATH=build/python experiments/inference.py speed             200 replicas beside single fits

Needs SciPy; `swapped` needs ../shared/data for all but its simulations. With 2,000 sets the first three take a minute
each. Give `swapped` and `alignment` fewer, such as 40 and 200.
"""

import csv
import pathlib
import sys
import time

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
            uniform = scipy.stats.kstest(p_values, "uniform").pvalue
            print(f"n {n}, {p} + {q}: {name:<12} Kolmogorov-Smirnov p {uniform:.3f}")


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


def directions(X, Y):
    """Weights d×c of unit variance of both domains, and their correlations."""
    n, roots = len(X), []
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    for Z in (Xc, Yc):
        roots.append(np.linalg.inv(np.linalg.cholesky(Z.T @ Z / (n - 1))).T)
    U, s, V = np.linalg.svd(roots[0].T @ Xc.T @ Yc @ roots[1] / (n - 1), full_matrices=False)
    return [roots[0] @ U, roots[1] @ V.T], s


def turned(weights, target, groups):
    """By Procrustes, within groups of directions."""
    result = weights.copy()
    for group in groups:
        U, _, V = np.linalg.svd(weights[:, group].T @ target[:, group])
        result[:, group] = weights[:, group] @ U @ V
    return result


def alignment(sets):
    """Coverage of the true structure correlations, the truth being turned to the fit's directions as replicas are."""
    p, n = 5, 200
    mix = np.random.default_rng(1).normal(size=(p, p))
    deviations = np.linalg.norm(mix, axis=1)[:, None]
    for rho in (np.array([0.8, 0.7, 0.1]), np.array([0.6, 0.58, 0.2])):
        single = [[j] for j in range(3)]
        ways = {"signs": single, "rotations": [[0, 1, 2]], "rotations of the first two": [[0, 1], [2]]}
        hits = {(way, truth): [] for way in ways for truth in ("signs", "same")}
        for seed in range(sets):
            random = np.random.default_rng(seed)
            X, Y = random.normal(size=(n, p)), random.normal(size=(n, 3))
            Y = rho * X[:, :3] + np.sqrt(1 - rho**2) * Y
            fit = directions(X, Y)[0][0]  # of the causes, that a fit to X @ mix.T finds alike
            for way, groups in ways.items():
                covers = []
                for b in range(100):
                    rows = random.integers(n, size=n)
                    own = turned(directions(X[rows], Y[rows])[0][0], fit, groups)
                    covers.append(np.corrcoef((X[rows] @ mix.T).T, (X[rows] @ own).T)[:p, p:])
                low, high = np.quantile(covers, (0.025, 0.975), axis=0)
                for truth, of_truth in (("signs", single), ("same", groups)):
                    target = mix @ turned(np.eye(p, 3), fit, of_truth) / deviations
                    hits[way, truth].append((low <= target) & (target <= high))
        for (way, truth), hit in hits.items():
            print(f"correlations {rho}: replicas turned by {way:<26} truth turned by {truth:<5} "
                  f"covered {np.mean(hit, axis=(0, 1)).round(3)}")


def spectra(folder, *names):
    tables = []
    for name in names:
        rows = list(csv.reader(open(folder / "sugarcane" / f"{name}.CSV", encoding="utf-8-sig"), delimiter=";"))[1:]
        tables.append({int(row[0]): np.array(row[1:], float) for row in rows if row[0].strip()})
    common = sorted(set.intersection(*map(set, tables)))
    return [np.array([table[number] for number in common]) for table in tables]


def pairs_of(name, random, folder):
    """Matched samples, and the settings of their fit."""
    if name.startswith("simulated"):
        draw = random.normal if name == "simulated" else lambda size: random.standard_t(3, size=size)
        causes = draw(size=(500, 6))
        return [causes @ random.normal(size=(6, d)) + draw(size=(500, d)) for d in (20, 15)], {"n_components": 6}
    if name.startswith("sugarcane"):
        views = spectra(folder, *name.split()[1:])
        rows = random.permutation(len(views[0]))[:60]
        return [view[rows] / view.std() for view in views], {"ridge": 0.001}
    data = np.load(folder / "mfeat" / "mfeat.npz")
    rows = random.permutation(2000)[:500]
    return [data[view][rows].astype(float) for view in name.split()[1:]], {"ridge": 0.1}


def swapped(sets):
    folder = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    for name in ("simulated", "simulated t3", "mfeat fac zer", "mfeat pix kar", "mfeat fou zer", "mfeat fou kar",
                 "sugarcane Scio Tellspec", "sugarcane F750 Nirone22"):
        for share in (0, 0.05):
            right = listed = wrong = by_t2 = any_listed = 0
            for seed in range(sets):
                random = np.random.default_rng(seed)
                (X, Y), settings = pairs_of(name, random, folder)
                bad = random.permutation(len(X))[:max(2, int(len(X) * share)) if share else 0]
                Y[bad] = Y[np.roll(bad, 1)]
                found = cgmca.MCA(**settings).fit(X, Y).diagnose(X, Y)
                rows = set(found.rows("mispaired", "swapped"))
                right, listed, wrong = right + len(rows & set(bad)), listed + len(rows), wrong + len(bad)
                by_t2 += len(set(found.rows("far out")) & set(bad))
                any_listed += bool(rows)
            if share:
                print(f"{name}: {100 * share:g} % swapped: recall {right / wrong:.2f}, precision "
                      f"{right / max(1, listed):.2f}, recall of T2 alone {by_t2 / wrong:.2f}", flush=True)
            else:
                print(f"{name}: none swapped: something listed in {any_listed / sets:.2f} of {sets} sets, "
                      f"{listed / sets:.2f} pairs on average", flush=True)


def speed(_):
    random = np.random.default_rng(0)
    causes = random.normal(size=(20_000, 10))
    X, Y = (causes @ random.normal(size=(10, d)) + random.normal(size=(20_000, d)) for d in (100, 80))

    def seconds(work):
        times = []
        for _ in range(7):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
        return np.median(times)

    fit = seconds(lambda: cgmca.MCA(10).fit(X, Y))
    few, many = (seconds(lambda n=n: cgmca.bootstrap(X, Y, n=n)) for n in (10, 200))
    print(f"a fit {fit:.3f} s; a bootstrap of 10 replicas {few:.3f} s, of 200 {many:.3f} s: {many / fit:.1f} fits with "
          f"the pass over the samples, {(many - few) / fit * 200 / 190:.1f} without")


if __name__ == "__main__":
    {"null": null, "count": count, "coverage": coverage, "alignment": alignment, "swapped": swapped, "speed": speed}[
        sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
