#!/usr/bin/env python3
"""The pictures of the pages, drawn by the package itself: docs/figures.py FOLDER"""

import pathlib
import sys

import matplotlib
import numpy as np
from sklearn.datasets import load_digits

import cgmca

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def denoised(path):
    """tutorials/denoising.md: clean, noisy and cleaned digits of the test set."""
    random = np.random.default_rng(0)
    images = load_digits().images.reshape(-1, 64) / 16
    clean = images[random.permutation(len(images))]
    noisy = np.clip(clean + np.sqrt(0.1) * random.normal(size=clean.shape), 0, 1)
    model = cgmca.CGMCA(covariance="data1", n_components=30).fit(clean[:1400], noisy[:1400])
    cleaned = np.clip(model.translate(noisy[1400:]), 0, 1)
    cgmca.plot_translation([("clean", clean[1400:]), ("noisy", noisy[1400:]), ("cleaned", cleaned)], (8, 8))
    plt.savefig(path, bbox_inches="tight")
    plt.close("all")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    denoised(folder / "denoised.svg")
