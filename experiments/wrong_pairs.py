#!/usr/bin/python3
"""How well `cgmca.check_pairs` finds wrong pairs, on data of several kinds.

    experiments/wrong_pairs.py ../shared/data     a table: false alarms, and precision and recall with swapped pairs
"""

import argparse
import pathlib
import time
import warnings

import numpy as np

import cgmca


def simulated(n, d, causes, noise, random):
    hidden = random.normal(size=(n, causes))
    return [hidden @ random.normal(size=(causes, d)) + noise * random.normal(size=(n, d)) for _ in range(2)]


def spectra(folder, *names):
    return [np.genfromtxt(folder / "sugarcane" / name, delimiter=";", skip_header=1)[:, 1:] for name in names]


def kinds(folder, random):
    data = np.load(folder / "mfeat" / "mfeat.npz")
    some = random.permutation(2000)[:600]
    heavy = random.standard_t(3, size=(400, 10))
    return {
        "simulated, 1000": simulated(1000, 20, 5, 1.0, random),
        "simulated, 200 of 50 features": simulated(200, 50, 5, 1.0, random),
        "mfeat pix, zer": [data["pix"][some].astype(float), data["zer"][some]],
        "mfeat fou, kar": [data["fou"][some], data["kar"][some]],
        "mfeat fac, kar": [data["fac"][some].astype(float), data["kar"][some]],
        "spectra SCIO, MicroNIR": spectra(folder, "Scio.CSV", "Micronir1700rep1.CSV"),
        "spectra NIRscan, F750": spectra(folder, "Nirscan_nano.CSV", "F750.CSV"),
        "heavy tails": [heavy, heavy @ random.normal(size=(10, 8)) + random.standard_t(3, size=(400, 8))],
    }


def swapped(Y, share, random):
    rows = random.choice(len(Y), int(round(share * len(Y))), replace=False)
    wrong, Y = np.zeros(len(Y), bool), Y.copy()
    Y[rows], wrong[rows] = Y[np.roll(rows, 1)], True
    return Y, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'data':<32}{'false alarms':>13}{'10 %: precision, recall':>26}{'30 %':>14}{'seconds':>10}{'plain fits':>12}")
    for name, (X, Y) in kinds(options.data, np.random.default_rng(5)).items():
        found, seconds = {}, []
        for share in (0.0, 0.1, 0.3):
            rows = []
            for repeat in range(options.repeats):
                Ys, wrong = swapped(Y, share, np.random.default_rng(repeat))
                start = time.perf_counter()
                check = cgmca.check_pairs(X, Ys, seed=repeat + 1)
                seconds.append(time.perf_counter() - start)
                named = np.zeros(len(Y), bool)
                named[[suspect.pair for suspect in check.suspects]] = True
                hits = (named & wrong).sum()
                rows.append((named[~wrong].mean(), hits / max(named.sum(), 1), hits / max(wrong.sum(), 1)))
            found[share] = np.mean(rows, axis=0)
        start = time.perf_counter()
        cgmca.MCA(2, ridge=0.1).fit(X, Y)
        plain = time.perf_counter() - start
        print(f"{name:<32}{found[0.0][0]:>13.3f}{found[0.1][1]:>18.2f}{found[0.1][2]:>8.2f}{found[0.3][1]:>8.2f}"
              f"{found[0.3][2]:>6.2f}{np.mean(seconds):>10.2f}{np.mean(seconds) / plain:>12.0f}", flush=True)


if __name__ == "__main__":
    main()
