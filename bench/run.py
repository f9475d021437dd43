#!/usr/bin/env python3
"""cgmca beside what NumPy, SciPy and scikit-learn users write: `make bench`.

    bench/run.py [--runs 5] [--threads N] [--only WORD] [--without WORD] [--all-peers] [--out bench/results]

Every row runs ours and the peer's in turn, `runs` times each, on the same number of BLAS threads and with the same BLAS
kernels, checks that both found the same, and prints the median times and their ratio. Results: latest.json, table.md and
plot.svg in --out. The peers run in this process, ours in build/bench/bench_worker; data is loaded before the clock starts.
"""

import argparse
import gzip
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--without", action="append", default=[], help="not rows whose name or peer contains this")
    parser.add_argument("--all-peers", action="store_true", help="Octave and R too")
    parser.add_argument("--out", default=str(ROOT / "bench" / "results"))
    return parser.parse_args()


OPTIONS = parse()


def settle_environment():
    """Threads and kernels for both sides, before NumPy is loaded: OpenBLAS does not know every CPU (see README)."""
    wanted = {"OPENBLAS_NUM_THREADS": str(OPTIONS.threads), "OMP_NUM_THREADS": str(OPTIONS.threads)}
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    if "OPENBLAS_CORETYPE" not in os.environ:
        if "avx512f" in flags and "avx512dq" in flags:
            wanted["OPENBLAS_CORETYPE"] = "SkylakeX"
        elif "avx2" in flags and "fma" in flags:
            wanted["OPENBLAS_CORETYPE"] = "Haswell"
    if any(os.environ.get(key) != value for key, value in wanted.items()):
        os.environ.update(wanted)
        os.execv(sys.executable, [sys.executable, *sys.argv])


settle_environment()

import numpy as np  # noqa: E402  (after the environment)
from scipy.ndimage import gaussian_filter, median_filter, uniform_filter  # noqa: E402
from scipy.sparse.linalg import lsqr  # noqa: E402

# The Gram form cannot tell directions below √eps of the largest; where it is compared, both sides leave them out.
GRAM_RANK = 1e-6
EPS = np.finfo(float).eps


# --- the peers: what a user of NumPy writes ----------------------------------------------------------------------------


def whitened(X, tolerance=None):
    """U, s, V of the centred samples, by NumPy's SVD (gesdd), with MATLAB's rank rule. X: n × d"""
    n = len(X)
    S = ((X - X.mean(0)) / np.sqrt(n - 1)).T
    U, s, Vt = np.linalg.svd(S, full_matrices=False)
    r = int((s > (tolerance or max(S.shape) * EPS) * s[0]).sum())
    return U[:, :r], s[:r], Vt[:r]


def finish(U1, s1, V1, U2, s2, V2, cov):
    kind, rank = cov.split(":")
    t = int(rank)
    UB, sB, VBt = np.linalg.svd(V1 @ V2.T)
    F = U1[:, :t] * s1[:t] if kind == "data1" else np.eye(t)
    return F @ (UB[:, :t].T @ (U1 / s1).T), F @ (VBt[:t] @ (U2 / s2).T), sB


def algorithm_1(X1, X2, cov, tolerance=None):
    return finish(*whitened(X1, tolerance), *whitened(X2, tolerance), cov)


def covariance_and_eigh(X1, X2, cov):
    n = len(X1)
    C1, C2 = X1 - X1.mean(0), X2 - X2.mean(0)
    parts = []
    for C in (C1, C2):
        w, U = np.linalg.eigh(C.T @ C / (n - 1))
        keep = w > GRAM_RANK**2 * w[-1]
        parts.append((U[:, keep][:, ::-1], np.sqrt(w[keep][::-1])))
    (U1, s1), (U2, s2) = parts
    B = (U1 / s1).T @ (C1.T @ C2 / (n - 1)) @ (U2 / s2)
    UB, sB, VBt = np.linalg.svd(B)
    t = int(cov.split(":")[1])
    F = U1[:, :t] * s1[:t] if cov.startswith("data1") else np.eye(t)
    return F @ (UB[:, :t].T @ (U1 / s1).T), F @ (VBt[:t] @ (U2 / s2).T), sB


def residual(A, X, C):
    S = X - X.mean(0)
    Z = S @ A.T
    return np.linalg.norm(Z.T @ Z / (len(X) - 1) - C) / np.linalg.norm(C)


def qr_in_blocks(path1, path2):
    X1, X2 = np.load(path1, mmap_mode="r"), np.load(path2, mmap_mode="r")
    R = np.zeros((0, 1 + X1.shape[1] + X2.shape[1]))
    for first in range(0, len(X1), 4096):
        block = slice(first, first + 4096)
        rows = np.hstack([np.ones((len(X1[block]), 1)), X1[block], X2[block]])
        R = np.linalg.qr(np.vstack([R, rows]), mode="r")
    d1 = X1.shape[1]
    S = R[1:, 1:].T
    (_, _, V1), (_, _, V2) = (np.linalg.svd(part, full_matrices=False) for part in (S[:d1], S[d1:]))
    return np.linalg.svd(V1 @ V2.T)[1]


def filters(x, y):
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


# --- measuring ---------------------------------------------------------------------------------------------------------


class Worker:
    """build/bench/bench_worker, which keeps data and models between commands."""

    def __init__(self):
        self.process = subprocess.Popen([ROOT / "build" / "bench" / "bench_worker"], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def __call__(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise SystemExit(f"bench_worker: {answer['error']}")
        return answer

    def answer(self, folder, command="write"):
        path = f"{folder}/answer.npy"
        self(command, path)
        return np.load(path)


def memory(field):
    for line in open("/proc/self/status"):
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    return 0


def timed(work):
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = memory("VmRSS:")
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, memory("VmHWM:") - before, found


def close(found, expected, tolerance):
    return float(np.max(np.abs(np.asarray(found) - np.asarray(expected)))) <= tolerance


RESULTS = []


def wanted(name, peer_name):
    text = f"{name} {peer_name}"
    return OPTIONS.only in text and not any(word in text for word in OPTIONS.without)


def compare(name, peer_name, target, ours, peer, check, flops=0, accuracy=None, runs=None):
    """Interleaved runs of both; check(result of the peer) says whether ours is the same."""
    if not wanted(name, peer_name):
        return
    our_times, peer_times, our_memory, peer_memory, last = [], [], [], [], {}
    for _ in range(runs or OPTIONS.runs):
        last = ours()
        our_times.append(last["seconds"])
        our_memory.append(last["memory"])
        seconds, rise, found = timed(peer)
        peer_times.append(seconds)
        peer_memory.append(rise)
    if not check(found):
        raise SystemExit(f"{name} against {peer_name}: the answers do not agree; no time is given")
    mine, theirs = statistics.median(our_times), statistics.median(peer_times)
    row = {"work": name, "peer": peer_name, "ours_s": mine, "peer_s": theirs, "ratio": theirs / mine, "target": target,
           "ours_mb": max(our_memory) / 1e6, "peer_mb": max(peer_memory) / 1e6, "runs": len(our_times),
           "residual": last.get("residual"), "gap": last.get("gap"), "route": last.get("route"),
           "peer_residual": accuracy(found) if accuracy else None,
           "share_of_dgemm": flops / LIMITS["dgemm"] / mine if flops else None}
    RESULTS.append(row)
    share = f", {100 * row['share_of_dgemm']:.0f} % of dgemm" if flops else ""
    print(f"{name:<46} {peer_name:<22} {mine:8.3f} s {theirs:8.3f} s  {row['ratio']:6.1f}  (target {target})"
          f"  {row['ours_mb']:.0f} / {row['peer_mb']:.0f} MB{share}", flush=True)


def skip(name, peer, why):
    if not OPTIONS.only or OPTIONS.only in f"{name} {peer}":
        print(f"{name:<46} {peer:<22} skipped: {why}", flush=True)
        RESULTS.append({"work": name, "peer": peer, "skipped": why})


def limits():
    """What this machine can do at most, measured as we use it."""
    A = np.random.default_rng(0).normal(size=(2000, 2000))
    rate = max(2 * 2000**3 / timed(lambda: A @ A)[0] for _ in range(5))
    source = np.ones(50_000_000)
    target = np.empty_like(source)
    copy = max(2 * source.nbytes / timed(lambda: np.copyto(target, source))[0] for _ in range(5))
    return {"dgemm": rate, "copy": copy}


def svd_flops(m, n):
    q = min(m, n)
    return 6 * m * n * q + 20 * q**3


# --- the rows ----------------------------------------------------------------------------------------------------------


def mnist():
    """All 60,000 training images and their labels, or None."""
    found = subprocess.run([ROOT / "tools" / "get-mnist"], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    folder = pathlib.Path(ROOT, found.stdout.strip())
    if found.returncode or not found.stdout.strip():
        return None

    def idx(name, skip_bytes):
        path = next(path for path in (folder / name, folder / f"{name}.gz") if path.exists())
        data = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
        return np.frombuffer(data[skip_bytes:], np.uint8)

    return idx("train-images-idx3-ubyte", 16).reshape(-1, 784) / 255.0, idx("train-labels-idx1-ubyte", 8)


def radar():
    """SAMPLE's chips, 128×128, or pairs of the same size and conditioning."""
    root = ROOT.parent / "shared" / "data" / "SAMPLE_dataset_public" / "png_images" / "qpm"
    if root.is_dir():
        try:
            from PIL import Image

            names = sorted(path.relative_to(root / "synth") for path in (root / "synth").glob("*/*.png"))
            load = lambda path: np.asarray(Image.open(path), float).ravel() / 255  # noqa: E731
            partner = lambda name: root / "real" / name.parent / name.name.replace("synth", "real")  # noqa: E731
            return np.array([load(root / "synth" / name) for name in names]), np.array([load(partner(name)) for name in names])
        except ImportError:
            pass
    random = np.random.default_rng(5)
    causes = random.normal(size=(1345, 60))
    return tuple(causes @ random.normal(size=(60, 16384)) + random.normal(size=(1345, 16384)) for _ in range(2))


def run(folder):
    worker = Worker()
    random = np.random.default_rng(1)

    def keep(name, X):
        np.save(f"{folder}/{name}.npy", X)
        worker("load", name, f"{folder}/{name}.npy")

    def fit(one, two, cov, how="auto"):
        return lambda: worker("fit", one, two, cov, how, *([GRAM_RANK] if how == "gram" else []))

    def same_correlations(tolerance):
        def check(found):
            ours = worker.answer(folder)[0]
            return len(ours) == len(found[2]) and close(ours, found[2], tolerance)

        return check

    images = mnist()
    if images is None:
        for name in ("fit, MNIST digit 3", "fit, all 60,000 MNIST images", "translation"):
            skip(name, "NumPy", "no MNIST to be had")
    else:
        X, labels = images
        three = random.permutation(np.flatnonzero(labels == 3))
        a, test = X[three[:4905]], X[three[4905:]]
        noisy = lambda x: np.clip(x + np.sqrt(0.1) * random.normal(size=x.shape), 0, 1)  # noqa: E731
        b, corrupted = noisy(a), noisy(test)
        keep("a", a), keep("b", b), keep("corrupted", corrupted)
        active = int((a.std(0) > 0).sum()) + 784
        paper = svd_flops(active - 784, active - 784) + svd_flops(active - 784, 784) + 2 * len(a) * active**2
        C = np.cov(a, rowvar=False)
        w, U = np.linalg.eigh(C)
        C550 = (U[:, -550:] * w[-550:]) @ U[:, -550:].T
        accuracy = lambda found: residual(found[0], a, C550)  # noqa: E731
        name = "fit, MNIST digit 3 (784+784, n 4905, rank 550)"
        peer = lambda: algorithm_1(a, b, "data1:550")  # noqa: E731
        compare(name, "NumPy Algorithm 1", 2, fit("a", "b", "data1:550"), peer, same_correlations(1e-9), paper, accuracy)
        compare(name + ", gram", "NumPy Algorithm 1", 3, fit("a", "b", "data1:550", "gram"),
                lambda: algorithm_1(a, b, "data1:550", GRAM_RANK), same_correlations(1e-6),
                paper - len(a) * active**2, accuracy)
        sklearn_cca(name, a, b, worker, folder)
        if OPTIONS.all_peers:
            octave(name, folder, worker)
            cancor(name, folder, worker)
        else:
            for other in ("Octave", "R cancor"):
                skip(name, other, "give PEERS=all")

        # Translation, with the model of the last fit: CGMCA of rank 550.
        worker("fit", "a", "b", "data1:550", "auto")
        maps = worker.answer(folder, "maps").T  # file: one row for each of 784+784 features
        A1, A2 = maps[:, :784], maps[:, 784:]
        Z = (corrupted - b.mean(0)) @ A2.T + A1 @ a.mean(0)
        compare(f"LSQR translation, {len(corrupted)} images, 20 steps", "scipy lsqr an image", 15,
                lambda: worker("lsqr", "corrupted"),
                lambda: np.array([lsqr(A1, z, atol=1e-6, btol=1e-6, iter_lim=20)[0] for z in Z]),
                lambda found: np.median(np.linalg.norm(worker.answer(folder) - found, axis=1) /
                                        np.linalg.norm(found, axis=1)) < 0.2)  # LSQR amplifies rounding: docs/experiments.md
        keep("all_noisy", noisy(X))
        S = ((b - b.mean(0)) / np.sqrt(len(b) - 1)) @ A2.T
        L = np.linalg.lstsq(S, (a - a.mean(0)) / np.sqrt(len(a) - 1), rcond=1e-12)[0].T @ A2
        everything = np.load(f"{folder}/all_noisy.npy")
        shift = a.mean(0) - L @ b.mean(0)
        compare("lmmse translation, 60,000 images", "NumPy product", 1, lambda: worker("lmmse", "all_noisy"),
                lambda: everything @ L.T + shift, lambda found: close(worker.answer(folder), found, 1e-6),
                2 * 60000 * 784**2)
        # All images.
        keep("X", X), keep("Y", everything)
        name = "fit, all 60,000 MNIST images (784+784)"
        active = int((X.std(0) > 0).sum()) + 784
        peer = lambda: covariance_and_eigh(X, everything, "data1:550")  # noqa: E731
        compare(name + ", gram", "NumPy covariance+eigh", 1, fit("X", "Y", "data1:550", "gram"), peer, same_correlations(1e-6),
                60000 * active**2)
        peer = lambda: algorithm_1(X, everything, "data1:550", GRAM_RANK)  # noqa: E731
        compare(name + ", gram", "NumPy Algorithm 1", 6, fit("X", "Y", "data1:550", "gram"), peer, same_correlations(1e-6),
                60000 * active**2)
        peer = lambda: algorithm_1(X, everything, "data1:550")  # noqa: E731
        compare(name, "NumPy Algorithm 1", 6, fit("X", "Y", "data1:550"), peer, same_correlations(1e-9),
                2 * 60000 * active**2)
        del everything, X

    one, two = radar()
    keep("one", one), keep("two", two)
    compare("fit, wide (16384+16384, n 1345, k 100)", "NumPy Algorithm 1", 3, fit("one", "two", "identity:100"),
            lambda: algorithm_1(one, two, "identity:100"), same_correlations(1e-9), 2 * 16384 * 1345**2)
    del one, two

    causes = random.normal(size=(300000, 10))
    small1 = causes @ random.normal(size=(10, 50)) + random.normal(size=(300000, 50))
    small2 = causes @ random.normal(size=(10, 40)) + random.normal(size=(300000, 40))
    keep("small1", small1), keep("small2", small2)
    compare("1,000 fits (50+40, n 300, k 10)", "the same in NumPy", 5, lambda: worker("small", "small1", "small2", 50, 40, 300, 10),
            lambda: np.array([algorithm_1(small1[f : f + 300], small2[f : f + 300], "identity:10")[2][:10]
                              for f in range(0, 300000, 300)]),
            lambda found: close(worker.answer(folder), found, 1e-9))

    references = np.clip(4 * gaussian_filter(random.standard_normal((12000, 28, 28)), (0, 2, 2)), 0, 1)
    pictures = references + 0.3 * random.standard_normal(references.shape)
    keep("pictures", pictures), keep("references", references)
    compare("wiener2 + medfilt2 + ssim, 12,000 images", "scipy.ndimage", 5,
            lambda: worker("filters", "pictures", "references", 28, 28), lambda: filters(pictures, references),
            lambda found: close(worker.answer(folder).ravel(), found, 1e-10))

    if not OPTIONS.only or "2 GB" in OPTIONS.only:
        n = 976_562  # two files of 1 GB
        for path in (f"{folder}/big1.npy", f"{folder}/big2.npy"):
            big = np.lib.format.open_memmap(path, mode="w+", dtype=float, shape=(n, 128))
            for first in range(0, n, 65536):
                big[first : first + 65536] = random.normal(size=big[first : first + 65536].shape)
            del big
        compare("2 GB of .npy (128+128) in blocks, QR", "NumPy memmap + QR", 1.5,
                lambda: worker("summarize", f"{folder}/big1.npy", f"{folder}/big2.npy"),
                lambda: qr_in_blocks(f"{folder}/big1.npy", f"{folder}/big2.npy"),
                lambda found: close(worker.answer(folder).ravel()[: len(found)], found, 1e-9), 2 * n * 256**2)
    grow(worker, keep, random)


def sklearn_cca(name, a, b, worker, folder):
    try:
        from sklearn.cross_decomposition import CCA
    except ImportError:
        return skip(name, "scikit-learn CCA, 10", "scikit-learn is not installed")

    def peer():
        model = CCA(n_components=10, max_iter=500).fit(a, b)
        x, y = model.transform(a, b)
        return np.array([np.corrcoef(x[:, j], y[:, j])[0, 1] for j in range(10)])

    compare(name, "scikit-learn CCA, 10", 50, lambda: worker("fit", "a", "b", "data1:550", "auto"), peer,
            # An iteration that stops early: it finds correlations, not always the largest.
            lambda found: found.max() <= worker.answer(folder)[0, 0] + 1e-6, runs=min(OPTIONS.runs, 5))


def script_peer(name, peer, target, program, code, folder, worker):
    """A peer that is another program: it prints its own seconds and its correlations."""
    if shutil.which(program[0]) is None:
        return skip(name, peer, f"{program[0]} is not installed")
    for which in ("a", "b"):
        np.savetxt(f"{folder}/{which}.txt", np.load(f"{folder}/{which}.npy"))
    path = pathlib.Path(folder, "script")
    path.write_text(code.replace("FOLDER", str(folder)))
    ours, theirs, found = [], [], None
    for _ in range(OPTIONS.runs):
        ours.append(worker("fit", "a", "b", "data1:550", "auto")["seconds"])
        words = subprocess.run([*program, str(path)], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        theirs.append(float(words[0]))
        found = np.array(words[1:], float)
    if not close(worker.answer(folder)[0, : len(found)], found, 1e-6):
        raise SystemExit(f"{name} against {peer}: the answers do not agree; no time is given")
    mine, other = statistics.median(ours), statistics.median(theirs)
    RESULTS.append({"work": name, "peer": peer, "ours_s": mine, "peer_s": other, "ratio": other / mine, "target": target,
                    "runs": len(ours)})
    print(f"{name:<46} {peer:<22} {mine:8.3f} s {other:8.3f} s  {other / mine:6.1f}  (target {target})", flush=True)


def octave(name, folder, worker):
    script_peer(name, "Octave", 4, ["octave-cli", "-q"], """
a = load('FOLDER/a.txt')'; b = load('FOLDER/b.txt')';
tic; n = columns(a);
S1 = (a - mean(a, 2)) / sqrt(n - 1); S2 = (b - mean(b, 2)) / sqrt(n - 1);
[U1, D1, V1] = svd(S1, 'econ'); [U2, D2, V2] = svd(S2, 'econ'); s1 = diag(D1); s2 = diag(D2);
r1 = sum(s1 > max(size(S1)) * eps * s1(1)); r2 = sum(s2 > max(size(S2)) * eps * s2(1));
[UB, SB, VB] = svd(V1(:, 1:r1)' * V2(:, 1:r2));
F = U1(:, 1:550) * diag(s1(1:550));
A1 = F * (UB(:, 1:550)' * (U1(:, 1:r1) ./ s1(1:r1)')'); A2 = F * (VB(:, 1:550)' * (U2(:, 1:r2) ./ s2(1:r2)')');
printf('%.6f', toc); printf(' %.12g', diag(SB)(1:20)); printf('\\n');
""", folder, worker)


def cancor(name, folder, worker):
    script_peer(name, "R cancor", 5, ["Rscript"], """
a <- as.matrix(read.table('FOLDER/a.txt')); b <- as.matrix(read.table('FOLDER/b.txt'))
a <- a[, apply(a, 2, sd) > 0]
t <- system.time(r <- cancor(a, b))
cat(t[['elapsed']], r$cor[1:20])
""", folder, worker)


def grow(worker, keep, random):
    """How our own cost grows: with n, with d, with threads."""
    if OPTIONS.only and "growth" not in OPTIONS.only:
        return
    growth = []
    causes = random.normal(size=(80000, 20))
    X = causes @ random.normal(size=(20, 200)) + random.normal(size=(80000, 200))
    Y = causes @ random.normal(size=(20, 200)) + random.normal(size=(80000, 200))
    for n, d in ((10000, 200), (20000, 200), (40000, 200), (80000, 200), (20000, 50), (20000, 100)):
        keep("gx", X[:n, :d]), keep("gy", Y[:n, :d])
        seconds = statistics.median(worker("fit", "gx", "gy", "identity:10", "qr")["seconds"] for _ in range(OPTIONS.runs))
        growth.append({"n": n, "d": d, "seconds": seconds})
        print(f"growth: n {n:6d}, d {d}+{d}: {seconds:.3f} s", flush=True)
    RESULTS.append({"work": "growth", "rows": growth})


def write_results():
    folder = pathlib.Path(OPTIONS.out)
    folder.mkdir(parents=True, exist_ok=True)
    rows = [row for row in RESULTS if "ratio" in row]
    machine = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    (folder / "latest.json").write_text(json.dumps(
        {"machine": machine, "threads": OPTIONS.threads, "kernels": os.environ.get("OPENBLAS_CORETYPE", "OpenBLAS's choice"),
         "dgemm_gflops": LIMITS["dgemm"] / 1e9, "copy_gbytes": LIMITS["copy"] / 1e9, "rows": RESULTS}, indent=1) + "\n")
    lines = ["| work | peer | ours, s | peer, s | ratio | target | memory, MB: ours / peer | share of dgemm |", "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        share = row.get("share_of_dgemm")
        rise = f"{row['ours_mb']:.0f} / {row['peer_mb']:.0f}" if "ours_mb" in row else ""
        lines.append(f"| {row['work']} | {row['peer']} | {row['ours_s']:.3f} | {row['peer_s']:.3f} | {row['ratio']:.1f} | "
                     f"{row['target']} | {rise} | {f'{100 * share:.0f} %' if share else ''} |")
    (folder / "table.md").write_text("\n".join(lines) + "\n")
    height = 24 * len(rows) + 40
    bars = []
    for k, row in enumerate(rows):
        y = 24 * k + 8
        scale = lambda ratio: 60 * np.log2(max(ratio, 1 / 4) * 4)  # noqa: E731
        bars.append(f'<text x="452" y="{y + 12}" text-anchor="end">{row["work"]} · {row["peer"]}</text>'
                    f'<rect x="460" y="{y}" width="{scale(row["ratio"]):.1f}" height="16" fill="#1f5fd0"/>'
                    f'<line x1="{460 + scale(row["target"]):.1f}" x2="{460 + scale(row["target"]):.1f}" y1="{y - 2}" y2="{y + 18}" '
                    f'stroke="#d1480c" stroke-width="2"/>'
                    f'<text x="{466 + scale(row["ratio"]):.1f}" y="{y + 12}">{row["ratio"]:.1f}</text>')
    (folder / "plot.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1060 {height}" font-family="sans-serif" font-size="11">'
        f'<rect width="1060" height="{height}" fill="white"/>{"".join(bars)}'
        f'<text x="460" y="{height - 12}">peer time / our time, logarithmic; red: target</text></svg>\n')


LIMITS = limits()
print(f"dgemm {LIMITS['dgemm'] / 1e9:.0f} Gflop/s, copy {LIMITS['copy'] / 1e9:.1f} GB/s, {OPTIONS.threads} threads", flush=True)
with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as temporary:
    run(temporary)
write_results()
missed = [row for row in RESULTS if "ratio" in row and row["ratio"] < row["target"]]
for row in missed:
    print(f"below target: {row['work']} against {row['peer']}: {row['ratio']:.2f} of {row['target']}")
