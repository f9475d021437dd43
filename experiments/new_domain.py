#!/usr/bin/python3
"""A fifth instrument added to four from a few samples, beside a joint refit: sugarcane spectra.

    experiments/new_domain.py ../shared/data

The error is that of spectra of the first instrument translated from the new one, over their variance, on held-out samples.
"""

import argparse
import pathlib
import warnings

import numpy as np

import cgmca

NAMES = ("Micronir1700rep1", "Scio", "Nirscan_nano", "F750")
NEW = "Micronir2200"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--components", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    read = lambda name: np.genfromtxt(options.data / "sugarcane" / f"{name}.CSV", delimiter=";", skip_header=1)[:, 1::2]
    old, new = {name: read(name) for name in NAMES}, read(NEW)
    print(f"{'ridge':>8}{'added from 20':>16}{'joint refit of 20':>20}{'joint refit of 40':>20}{'the mean':>10}")
    for ridge in (0.001, 0.01, 0.1):
        rows = []
        for split in range(options.splits):
            order = np.random.default_rng(split).permutation(len(new))
            fitted, few, test = order[:40], order[:20], order[40:]
            four = cgmca.MCA(options.components, ridge=ridge, random_starts=0).fit(
                {name: rows[fitted] for name, rows in old.items()})
            five = four.add_domain(NEW, new[few], matched={name: rows[few] for name, rows in old.items()}, ridge=ridge)
            models = [five]
            for rows_of_fit in (few, fitted):
                models.append(cgmca.MCA(options.components, ridge=ridge, random_starts=0).fit(
                    {**{name: rows[rows_of_fit] for name, rows in old.items()}, NEW: new[rows_of_fit]}))
            true = old[NAMES[0]][test]
            scale = np.sum((true - old[NAMES[0]][fitted].mean(axis=0)) ** 2)
            rows.append([np.sum((model.translate(new[test], source=NEW, target=NAMES[0]) - true) ** 2) / scale
                         for model in models])
        added, joint, joint_all = np.mean(rows, axis=0)
        print(f"{ridge:>8}{added:>16.3f}{joint:>20.3f}{joint_all:>20.3f}{1.0:>10.3f}", flush=True)


if __name__ == "__main__":
    main()
