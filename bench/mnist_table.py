"""The paper's table by cgmca and by the same pipeline in NumPy and SciPy, in one run; checks that they agree.

    /usr/bin/python3 bench/mnist_table.py [--digits 0-9] [--data FOLDER] [--program build/cgmca]

NumPy's Algorithm 1, scipy.sparse.linalg.lsqr image by image, scipy.ndimage filters over all images of a digit at once.
Both read the same files, make the same noise (Philox4x32-10, below) and the same splits, and use the BLAS, threads and
OPENBLAS_CORETYPE of the environment. Reading the files is not part of either time. On a machine that others use, the
processor times tell more. Debian: python3-numpy python3-scipy.
"""

import argparse
import gzip
import json
import os
import pathlib
import resource
import subprocess
import time

import numpy as np
import scipy.linalg
import scipy.ndimage
import scipy.special
from scipy.sparse.linalg import lsqr

SPLIT, NOISE = 1, 2  # what random words are for
PAPER_RANK = [500, 500, 500, 550, 550, 550, 500, 500, 500, 500]


def philox(counter, key):
    """counter: four arrays of 32-bit words in uint64, key: two numbers. Four arrays of words."""
    mask = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    c = [np.asarray(word, dtype=np.uint64) for word in counter]
    k = list(key)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> half) ^ c[1] ^ np.uint64(k[0]), p1 & mask, (p0 >> half) ^ c[3] ^ np.uint64(k[1]), p0 & mask]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def normal(seed, images, pixels):
    """Standard normal numbers, images × pixels."""
    block, item = np.meshgrid(np.arange(pixels // 4), images)
    zero = np.zeros_like(item)
    words = philox([block, item, zero + NOISE, zero], (seed & 0xFFFFFFFF, seed >> 32))
    words = np.stack(words, axis=-1).reshape(len(images), pixels)
    return scipy.special.ndtri((words.astype(float) + 0.5) / 2**32)


def permutation(seed, digit, n):
    words = iter(np.stack(philox([np.arange(n), np.full(n, digit), np.full(n, SPLIT), np.zeros(n, int)],
                                 (seed & 0xFFFFFFFF, seed >> 32)), axis=-1).ravel().tolist())
    order = list(range(n))
    for k in range(n, 1, -1):
        product = next(words) * k
        while product & 0xFFFFFFFF < (2**32 - k) % k:
            product = next(words) * k
        order[k - 1], order[product >> 32] = order[product >> 32], order[k - 1]
    return np.array(order)


def svd(S):
    try:
        return np.linalg.svd(S, full_matrices=False)
    except np.linalg.LinAlgError:  # gesdd fails on some of these matrices
        return scipy.linalg.svd(S, full_matrices=False, lapack_driver="gesvd")


def algorithm_1(X1, X2, t):
    """MCA's and CGMCA's maps (A1, A2), and the means. X: d × n"""
    factors = []
    for X in (X1, X2):
        mean = X.mean(axis=1, keepdims=True)
        U, s, Vt = svd((X - mean) / np.sqrt(X.shape[1] - 1))
        r = int((s > max(X.shape) * np.finfo(float).eps * s[0]).sum())
        factors.append((mean, U[:, :r], s[:r], Vt[:r]))
    (mean1, U1, s1, V1), (mean2, U2, s2, V2) = factors
    UB, _, VBt = svd(V1 @ V2.T)
    T1 = UB[:, :t].T @ (U1 / s1).T  # c × d: canonical scores of identity covariance
    T2 = VBt[:t] @ (U2 / s2).T
    F = U1[:, :t] * s1[:t]  # C1 = C2 = F Fᵀ, so that Ū_A = V̄_A = I
    return {"mca": (T1, T2), "cgmca": (F @ T1, F @ T2)}, mean1, mean2


def translate(A1, A2, mean1, mean2, X2):
    Y = A2 @ (X2 - mean2) + A1 @ mean1
    steps = min(*A1.shape, 20)
    return np.stack([lsqr(A1, y, atol=1e-6, btol=1e-6, conlim=0, iter_lim=steps)[0] for y in Y.T], axis=1)


def box(x):
    return scipy.ndimage.uniform_filter(x, size=(1, 3, 3), mode="constant")


def filtered(x):
    """wiener2, medfilt2, mat2gray. x: n × 28 × 28"""
    mean = box(x)
    variance = box(x * x) - mean * mean
    noise = variance.mean(axis=(1, 2), keepdims=True)
    x = mean + np.maximum(variance - noise, 0) / np.maximum(variance, noise) * (x - mean)
    x = scipy.ndimage.median_filter(x, size=(1, 3, 3), mode="constant")
    low, high = x.min(axis=(1, 2), keepdims=True), x.max(axis=(1, 2), keepdims=True)
    return (x - low) / (high - low)


def blur(x):
    return scipy.ndimage.gaussian_filter(x, sigma=(0, 1.5, 1.5), truncate=3.5, mode="nearest")


def ssim(x, y):
    mx, my = blur(x), blur(y)
    sxx, syy, sxy = blur(x * x) - mx * mx, blur(y * y) - my * my, blur(x * y) - mx * my
    c1, c2 = 0.01**2, 0.03**2
    return ((2 * mx * my + c1) * (2 * sxy + c2) / ((mx * mx + my * my + c1) * (sxx + syy + c2))).mean()


def scipy_row(images, labels, digit, seed):
    places = np.flatnonzero(labels == digit)
    places = places[permutation(seed, digit, len(places))]
    clean = images[places] / 255
    noisy = np.clip(clean + np.sqrt(0.1) * normal(seed, places, clean.shape[1]), 0, 1)
    n = (8 * len(places) + 5) // 10
    maps, mean1, mean2 = algorithm_1(clean[:n].T, noisy[:n].T, PAPER_RANK[digit])
    truth = clean[n:].reshape(-1, 28, 28)
    row = {}
    for name, (A1, A2) in maps.items():
        x = translate(A1, A2, mean1, mean2, noisy[n:].T).T.reshape(-1, 28, 28)
        row[name] = ssim(filtered(x), truth)
    return row


def idx(folder, name, header):
    path = folder / name
    data = path.read_bytes() if path.exists() else gzip.decompress((folder / (name + ".gz")).read_bytes())
    return np.frombuffer(data, np.uint8, offset=header)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--digits", default="0-9")
    parser.add_argument("--data", default="../shared/data/mnist", type=pathlib.Path)
    parser.add_argument("--program", default="build/cgmca")
    parser.add_argument("--seed", default=1, type=int)
    options = parser.parse_args()

    command = [options.program, "reproduce", "mnist", "--data", options.data, "--digits", options.digits, "--seed",
               str(options.seed), "--json"]
    ours = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    our_processor = children.ru_utime + children.ru_stime  # with reading the files
    print(f"cgmca: {ours['seconds']:.1f} s, {our_processor:.1f} s of processor time (with the exact and lmmse translations, "
          "which SciPy's run leaves out)", flush=True)

    images = idx(options.data, "train-images-idx3-ubyte", 16).reshape(-1, 784)
    labels = idx(options.data, "train-labels-idx1-ubyte", 8)
    print("digit   cgmca: MCA  CGMCA    SciPy: MCA  CGMCA   seconds")
    total, worst = 0.0, 0.0
    processor_before = time.process_time()
    for row in ours["rows"]:
        start = time.perf_counter()
        theirs = scipy_row(images, labels, row["digit"], options.seed)
        seconds = time.perf_counter() - start
        total += seconds
        worst = max(worst, *(abs(theirs[name] - row[name]) / row[name] for name in ("mca", "cgmca")))
        print(f"{row['digit']:5}       {row['mca']:.5f} {row['cgmca']:.5f}       {theirs['mca']:.5f} {theirs['cgmca']:.5f}"
              f"   {seconds:.1f}", flush=True)
    tests = sum(row["n_test"] for row in ours["rows"])
    load = os.getloadavg()
    processor = time.process_time() - processor_before
    print(f"SciPy: {total:.1f} s, {processor:.1f} s of processor time; {tests} test images; load average {load[0]:.1f} on {os.cpu_count()} cores")
    print(f"largest relative difference of a table entry: {worst:.1e}")
    if worst > 0.01:
        raise SystemExit("the answers do not agree; no ratio")
    print(f"cgmca is {total / ours['seconds']:.1f} times as fast, and takes {processor / our_processor:.1f} times less "
          "processor time")


if __name__ == "__main__":
    main()
