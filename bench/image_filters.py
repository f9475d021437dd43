"""wiener2, medfilt2 and ssim of 12,000 images of 28×28 pixels, by cgmca and by scipy.ndimage; checks that they agree.

    /usr/bin/python3 bench/image_filters.py [PROGRAM]        build/bench/bench_image_filters unless named

scipy.ndimage filters all images in one call; it has no threads, cgmca uses as many as BLAS. Best of five of each.
"""

import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.ndimage import gaussian_filter, median_filter, uniform_filter


def box(x):
    return uniform_filter(x, size=(1, 3, 3), mode="constant")


def blur(x):
    return gaussian_filter(x, sigma=(0, 1.5, 1.5), truncate=3.5, mode="nearest")


def by_scipy(x, y):
    mean = box(x)
    variance = box(x * x) - mean * mean
    noise = variance.mean(axis=(1, 2), keepdims=True)
    x = mean + np.maximum(variance - noise, 0) / np.maximum(variance, noise) * (x - mean)
    x = median_filter(x, size=(1, 3, 3), mode="constant")
    mx, my = blur(x), blur(y)
    sxx, syy, sxy = blur(x * x) - mx * mx, blur(y * y) - my * my, blur(x * y) - mx * my
    c1, c2 = 0.01**2, 0.03**2
    return ((2 * mx * my + c1) * (2 * sxy + c2) / ((mx * mx + my * my + c1) * (sxx + syy + c2))).mean(axis=(1, 2))


random = np.random.default_rng(1)
references = np.clip(4 * gaussian_filter(random.standard_normal((12000, 28, 28)), (0, 2, 2)), 0, 1)
images = references + 0.3 * random.standard_normal(references.shape)
with tempfile.TemporaryDirectory() as folder:
    np.save(f"{folder}/x.npy", images)
    np.save(f"{folder}/y.npy", references)
    program = sys.argv[1] if len(sys.argv) > 1 else "build/bench/bench_image_filters"
    ours = float(subprocess.run([program, *(f"{folder}/{name}.npy" for name in "xys")], check=True,
                                stdout=subprocess.PIPE).stdout)
    found = np.load(f"{folder}/s.npy").ravel()
theirs = float("inf")
for _ in range(5):
    start = time.perf_counter()
    expected = by_scipy(images, references)
    theirs = min(theirs, time.perf_counter() - start)
difference = np.abs(found - expected).max()
print(f"cgmca {ours:.3f} s, scipy.ndimage {theirs:.3f} s, largest difference of an SSIM {difference:.0e}")
if difference > 1e-10:
    raise SystemExit("the answers do not agree; no ratio")
print(f"cgmca is {theirs / ours:.1f} times as fast")
