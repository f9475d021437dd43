"""What a user of NumPy and SciPy writes."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter, median_filter, uniform_filter

EPS = np.finfo(float).eps


@dataclass
class Fit:
    A1: np.ndarray
    A2: np.ndarray
    correlations: np.ndarray


class Scores:
    """What programs for canonical correlations give: the mapped samples, to any scale. n × k each"""

    def __init__(self, Z1, Z2):
        self.Z = [(Z - Z.mean(0)) / np.linalg.norm(Z - Z.mean(0), axis=0) for Z in (Z1, Z2)]
        self.correlations = np.abs((self.Z[0] * self.Z[1]).sum(0))


def whitened(X, tolerance=None):
    """U, s, V of the centred samples, by NumPy's SVD (gesdd), with MATLAB's rank rule. X: n × d"""
    n = len(X)
    S = ((X - X.mean(0)) / np.sqrt(n - 1)).T
    U, s, Vt = np.linalg.svd(S, full_matrices=False)
    r = int((s > (tolerance or max(S.shape) * EPS) * s[0]).sum())
    return U[:, :r], s[:r], Vt[:r]


def maps(U1, s1, U2, s2, B, cov):
    kind, rank = cov.split(":")
    t = int(rank)
    UB, sB, VBt = np.linalg.svd(B, full_matrices=False)
    F = U1[:, :t] * s1[:t] if kind == "data1" else np.eye(t)
    return Fit(F @ (UB[:, :t].T @ (U1 / s1).T), F @ (VBt[:t] @ (U2 / s2).T), sB)


def algorithm_1(X1, X2, cov, tolerance=None):
    U1, s1, V1 = whitened(X1, tolerance)
    U2, s2, V2 = whitened(X2, tolerance)
    return maps(U1, s1, U2, s2, V1 @ V2.T, cov)


def covariance_and_eigh(X1, X2, cov, tolerance):
    n = len(X1)
    C1, C2 = X1 - X1.mean(0), X2 - X2.mean(0)
    parts = []
    for C in (C1, C2):
        w, U = np.linalg.eigh(C.T @ C / (n - 1))
        keep = w > tolerance**2 * w[-1]
        parts.append((U[:, keep][:, ::-1], np.sqrt(w[keep][::-1])))
    (U1, s1), (U2, s2) = parts
    return maps(U1, s1, U2, s2, (U1 / s1).T @ (C1.T @ C2 / (n - 1)) @ (U2 / s2), cov)


def qr_in_blocks(path1, path2, cov):
    """Of files larger than memory: R of [1, X1, X2] block by block, then Algorithm 1 on its rows."""
    X1, X2 = np.load(path1, mmap_mode="r"), np.load(path2, mmap_mode="r")
    n, d1 = X1.shape
    R = np.zeros((0, 1 + d1 + X2.shape[1]))
    for first in range(0, n, 4096):
        block = slice(first, first + 4096)
        rows = np.hstack([np.ones((len(X1[block]), 1)), X1[block], X2[block]])
        R = np.linalg.qr(np.vstack([R, rows]), mode="r")
    S = R[1:, 1:].T / np.sqrt(n - 1)
    (U1, s1, V1), (U2, s2, V2) = (np.linalg.svd(part, full_matrices=False) for part in (S[:d1], S[d1:]))
    return maps(U1, s1, U2, s2, V1 @ V2.T, cov)


def filters(x, y):
    """wiener2, medfilt2 and ssim of many images."""

    def box(v):
        return uniform_filter(v, size=(1, 3, 3), mode="constant")

    def blur(v):
        return gaussian_filter(v, sigma=(0, 1.5, 1.5), truncate=3.5, mode="nearest")

    mean = box(x)
    variance = box(x * x) - mean * mean
    noise = variance.mean(axis=(1, 2), keepdims=True)
    x = mean + np.maximum(variance - noise, 0) / np.maximum(variance, noise) * (x - mean)
    x = median_filter(x, size=(1, 3, 3), mode="constant")
    mx, my = blur(x), blur(y)
    sxx, syy, sxy = blur(x * x) - mx * mx, blur(y * y) - my * my, blur(x * y) - mx * my
    c1, c2 = 0.01**2, 0.03**2
    return ((2 * mx * my + c1) * (2 * sxy + c2) / ((mx * mx + my * my + c1) * (sxx + syy + c2))).mean(axis=(1, 2))
