"""The reference's figures of the paper's table, and more of them: NumPy's own splits and noise, in NumPy throughout.

    /usr/bin/python3 bench/mnist_reference.py --digit 0 --splits 20 [--first 0] [--data FOLDER] [--noise imnoise]

Split s of digit d comes from numpy.random.default_rng(1000 s + d): a permutation, then the noise. Splits 0 to 4 are those
of tests/fixtures/oracle/mnist_table.json, whose figures this prints again, up to what LSQR makes of rounding. Nothing
of cgmca takes part, so that a difference from `cgmca reproduce mnist` beyond chance would be an error of one of them.
Prints [MCA, CGMCA] of each split, then mean and standard deviation. Debian: python3-numpy python3-scipy.
"""

import argparse
import pathlib

import numpy as np

from mnist_table import PAPER_RANK, algorithm_1, filtered, idx, ssim


def lsqr(A, Y, steps=20):
    """Paige and Saunders' LSQR, all right-hand sides at once; 20 steps never reach the tolerance of 1e-6 here."""
    U, X = Y.copy(), np.zeros((A.shape[1], Y.shape[1]))
    beta = np.linalg.norm(U, axis=0)
    U /= beta
    V = A.T @ U
    alpha = np.linalg.norm(V, axis=0)
    V /= alpha
    W, phi_bar, rho_bar = V.copy(), beta, alpha
    for _ in range(steps):
        U = A @ V - alpha * U
        beta = np.linalg.norm(U, axis=0)
        U /= beta
        V = A.T @ U - beta * V
        alpha = np.linalg.norm(V, axis=0)
        V /= alpha
        rho = np.hypot(rho_bar, beta)
        c, s = rho_bar / rho, beta / rho
        X += c * phi_bar / rho * W
        W = V - s * alpha / rho * W
        rho_bar, phi_bar = -c * alpha, s * phi_bar
    return X


def row(images, labels, digit, split, noise):
    random = np.random.default_rng(1000 * split + digit)
    places = np.flatnonzero(labels == digit)
    clean = images[places][random.permutation(len(places))] / 255
    normal = random.standard_normal(clean.shape)
    noisy = np.clip(clean + np.sqrt(0.1) * normal, 0, 1) if noise == "imnoise" else clean + 0.1 * normal
    n = round(0.8 * len(places))
    maps, mean1, mean2 = algorithm_1(clean[:n].T, noisy[:n].T, PAPER_RANK[digit])
    truth = clean[n:].reshape(-1, 28, 28)
    scores = []
    for A1, A2 in (maps["mca"], maps["cgmca"]):
        x = lsqr(A1, A2 @ (noisy[n:].T - mean2) + A1 @ mean1)
        scores.append(ssim(filtered(x.T.reshape(-1, 28, 28)), truth))
    return scores


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--digit", type=int, default=0)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--noise", choices=["imnoise", "additive"], default="imnoise")
    parser.add_argument("--data", default="../shared/data/mnist", type=pathlib.Path)
    options = parser.parse_args()
    images = idx(options.data, "train-images-idx3-ubyte", 16).reshape(-1, 784)
    labels = idx(options.data, "train-labels-idx1-ubyte", 8)
    runs = []
    for split in range(options.first, options.first + options.splits):
        runs.append(row(images, labels, options.digit, split, options.noise))
        print(f"{split:4} {runs[-1][0]:.6f} {runs[-1][1]:.6f}", flush=True)
    for name, scores in zip(("MCA", "CGMCA"), np.transpose(runs)):
        print(f"{name}: {scores.mean():.4f} ± {scores.std(ddof=1) if len(scores) > 1 else 0:.4f}")


if __name__ == "__main__":
    main()
