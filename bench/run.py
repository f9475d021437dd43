#!/usr/bin/env python3
"""cgmca beside what users of NumPy, SciPy, scikit-learn, Octave and R write: `make bench`.

    bench/run.py [--runs 5] [--threads N] [--only WORD] [--without WORD] [--all-peers] [--out bench/results]
    bench/run.py --before OTHER_BUILD/bench/bench_worker

Every row runs ours and the peer's in turn, `runs` times each, on the same number of BLAS threads and with the same BLAS
kernels, checks that both found the same, and prints the median times and their ratio. Results: latest.json, table.md and
plot.svg in --out. docs/benchmarks.md says how to read them. Peers: bench/peers/; ours: build/bench/bench_worker. Data is
loaded before the clock starts, except where reading is the subject.
"""

import argparse
import gzip
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from measure import ROOT, Bench, script, settle_environment, timed  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="rows whose name or peer contains this")
    parser.add_argument("--without", action="append", default=[], help="not rows whose name or peer contains this")
    parser.add_argument("--all-peers", action="store_true", help="Octave, R, cca-zoo and mvlearn too")
    parser.add_argument("--before", help="bench_worker of another build in place of all peers: has a row become slower?")
    parser.add_argument("--out", default=str(ROOT / "bench" / "results"))
    return parser.parse_args()


OPTIONS = parse()
settle_environment(OPTIONS.threads)

import numpy as np  # noqa: E402  (after the environment)
import results  # noqa: E402
from peers import numpy_scipy as peer_code  # noqa: E402
from several import several_domains  # noqa: E402
from scipy.ndimage import gaussian_filter  # noqa: E402
from scipy.sparse.linalg import lsqr  # noqa: E402

# The Gram form cannot tell directions below √eps of the largest; where it is compared, both sides leave them out.
GRAM_RANK = 5e-7


# --- data --------------------------------------------------------------------------------------------------------------


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
        except ImportError:
            pass
        else:
            def load(path):
                return np.asarray(Image.open(path), float).ravel() / 255

            names = sorted(path.relative_to(root / "synth") for path in (root / "synth").glob("*/*.png"))
            partners = [root / "real" / name.parent / name.name.replace("synth", "real") for name in names]
            return np.array([load(root / "synth" / name) for name in names]), np.array([load(path) for path in partners])
    return related_pairs(np.random.default_rng(5), 1345, 60, 16384, 16384)


def related_pairs(random, n, causes, d1, d2, size=1.0):
    """Features that share causes, each of variance size², and have noise of variance 1 of their own."""
    common = size * random.normal(size=(n, causes))
    return tuple(common @ random.normal(size=(causes, d)) + random.normal(size=(n, d)) for d in (d1, d2))


def noisy(random, images):
    return np.clip(images + np.sqrt(0.1) * random.normal(size=images.shape), 0, 1)


# --- what a row needs --------------------------------------------------------------------------------------------------


class Pairs:
    """Two matrices known to both sides, and the fits of them."""

    def __init__(self, bench, names, X1, X2):
        self.bench, self.names, self.X1, self.X2 = bench, names, X1, X2
        for name, X in zip(names, (X1, X2)):
            np.save(f"{bench.folder}/{name}.npy", X)
            bench.worker("load", name, f"{bench.folder}/{name}.npy")
        self.bytes = X1.nbytes + X2.nbytes

    def fit(self, cov, how="auto"):
        return lambda: self.bench.worker("fit", *self.names, cov, how, *([GRAM_RANK] if how == "gram" else []))

    def same_correlations(self, tolerance):
        return same_correlations(self.bench, tolerance)

    def accuracy(self, cov):
        return accuracy(self.bench, self.X1, self.X2, cov)


def same_correlations(bench, tolerance):
    def check(found):
        ours, theirs = bench.worker.answer().ravel(), found.correlations
        if len(ours) < len(theirs):  # a fit of few directions of many knows no others, but for the next
            theirs = theirs[: len(ours)]
        return len(ours) == len(theirs) and close(ours, theirs, tolerance)

    return check


def accuracy(bench, X1, X2, cov):
    """‖A Θ Aᵀ - C‖ / ‖C‖, the larger of both domains, and |objective - bound| / bound's traces, of the peer's maps or scores (or of
    the worker's last model), from the data. The bound is by the peer's own correlations if it has a proof of them; of scores
    alone it is by ours."""
    n, (kind, rank) = len(X1), cov.split(":")
    centred = [(X - X.mean(0)) / np.sqrt(n - 1) for X in (X1, X2)]
    if kind == "data1":
        w, U = np.linalg.eigh(centred[0].T @ centred[0])
        w, U = w[::-1][: int(rank)], U[:, ::-1][:, : int(rank)]
        C = (U * w) @ U.T
    else:
        w, C = np.ones(int(rank)), np.eye(int(rank))

    def of(found):
        sigma = bench.worker.answer().ravel()
        if isinstance(found, peer_code.Scores):
            Z = found.Z
        elif found is not None:
            Z, sigma = [S @ A.T for S, A in zip(centred, (found.A1, found.A2))], found.correlations
        else:
            both = bench.worker.answer("maps").T  # file: a row for each feature of both domains
            Z = [S @ A.T for S, A in zip(centred, (both[:, : X1.shape[1]], both[:, X1.shape[1] :]))]
        residual = max(np.linalg.norm(z.T @ z - C) / np.linalg.norm(C) for z in Z)
        bound = 2 * w.sum() - 2 * w @ sigma[: len(w)]
        return residual, abs(np.linalg.norm(Z[0] - Z[1]) ** 2 - bound) / (2 * w.sum())

    return of


def close(found, expected, tolerance):
    return float(np.max(np.abs(np.asarray(found) - np.asarray(expected)))) <= tolerance


# --- the rows ----------------------------------------------------------------------------------------------------------


def paper_size(bench, pairs):
    """MNIST digit 3."""
    name, cov = "fit, MNIST digit 3 (784+784, n 4905)", "data1:550"
    a, b = pairs.X1, pairs.X2
    bench.compare(f"{name}, {cov}", "NumPy Algorithm 1", 3.5, pairs.fit(cov), lambda: peer_code.algorithm_1(a, b, cov),
                  pairs.same_correlations(1e-9), pairs.bytes, pairs.accuracy(cov))
    bench.compare(f"{name}, {cov}, gram", "NumPy Algorithm 1", 3, pairs.fit(cov, "gram"),
                  lambda: peer_code.algorithm_1(a, b, cov, GRAM_RANK), pairs.same_correlations(1e-6), pairs.bytes,
                  pairs.accuracy(cov))
    sklearn_cca(bench, pairs, f"{name}, identity:10, gram")
    if not OPTIONS.all_peers:
        for other in ("Octave", "R cancor", "cca-zoo CCA"):
            bench.skip(name, other, "give PEERS=all")
        return
    octave(bench, pairs, f"{name}, {cov}", cov)
    cancor(bench, pairs, f"{name}, identity:550")
    cca_zoo(bench, pairs, f"{name}, identity:10, gram", 4, 10, "gram")
    cca_zoo(bench, pairs, f"{name}, identity:10", 2.5, 10, "auto")


def sklearn_cca(bench, pairs, work):
    peer_name = "scikit-learn CCA, 10"
    try:
        from sklearn.cross_decomposition import CCA
    except ImportError:
        return bench.skip(work, peer_name, "scikit-learn is not installed")
    a, b = pairs.X1, pairs.X2

    def peer():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that its iteration did not converge
            return CCA(n_components=10).fit(a, b)

    def scores(model):
        return peer_code.Scores(*model.transform(a, b))

    def check(model):
        # Its iteration stops early, at correlations that are not always the largest: none may be above our largest.
        largest, ours = scores(model).correlations.max(), bench.worker.answer().ravel()[0]
        return 0.99 * ours < largest <= ours + 1e-6

    of = pairs.accuracy("identity:10")
    bench.compare(work, peer_name, 150, pairs.fit("identity:10", "gram"), peer, check, pairs.bytes,
                  lambda found: of(found and scores(found)))


def other_program(bench, pairs, work, peer_name, target, program, path, cov, how, read, tolerance, arguments=()):
    """A peer that is a script of bench/peers/. `read` gives what it found from what it left in the folder."""
    if shutil.which(program[0]) is None:
        return bench.skip(work, peer_name, f"{program[0]} is not installed")
    run = script(program, path, bench.folder, *arguments)

    def peer():
        seconds, rise, _ = run()
        return seconds, rise, read()

    peer.measures_itself = True

    def check(found):
        count = len(found.correlations)
        return close(bench.worker.answer().ravel()[:count], found.correlations, tolerance)

    bench.compare(work, peer_name, target, pairs.fit(cov, how), peer, check, pairs.bytes, pairs.accuracy(cov))


def octave(bench, pairs, work, cov):
    from scipy.io import loadmat, savemat

    if bench.wanted(f"{work} Octave"):
        savemat(f"{bench.folder}/pairs.mat", {"a": pairs.X1, "b": pairs.X2})

    def read():
        found = loadmat(f"{bench.folder}/octave.mat")
        return peer_code.Fit(found["A1"], found["A2"], found["correlations"].ravel())

    other_program(bench, pairs, work, "Octave", 4, ["octave-cli", "-q"], "algorithm_1.m", cov, "auto", read, 1e-9)


def cancor(bench, pairs, work):
    if bench.wanted(f"{work} R cancor"):
        for name, X in (("a.bin", pairs.X1), ("b.bin", pairs.X2)):
            X.tofile(f"{bench.folder}/{name}")
        pathlib.Path(bench.folder, "shape.txt").write_text(f"{len(pairs.X1)} {pairs.X1.shape[1]} {pairs.X2.shape[1]}\n")
    read = lambda: peer_code.Scores(*np.fromfile(f"{bench.folder}/cancor.bin").reshape(2, 550, -1).transpose(0, 2, 1))  # noqa: E731
    other_program(bench, pairs, work, "R cancor", 5, ["Rscript"], "cancor.R", "identity:550", "auto", read, 1e-6)


def cca_zoo(bench, pairs, work, target, components, how):
    python = ROOT / "build" / "peers" / "bin" / "python"
    read = lambda: peer_code.Scores(*np.load(f"{bench.folder}/cca_zoo.npy"))  # noqa: E731
    if not python.exists():
        return bench.skip(work, "cca-zoo CCA", "not installed (build/peers; PyPI was not reachable)")
    other_program(bench, pairs, work, "cca-zoo CCA", target, [str(python)], "cca_zoo_cca.py", f"identity:{components}", how, read,
                  1e-3, (*pairs.names, components))


def translations(bench, pairs, test, everything):
    """From noisy to clean, by the model of digit 3."""
    a, b = pairs.X1, pairs.X2
    np.save(f"{bench.folder}/corrupted.npy", test)
    bench.worker("load", "corrupted", f"{bench.folder}/corrupted.npy")
    bench.by_each(pairs.fit("data1:550"))
    maps = bench.worker.answer("maps").T
    A1, A2 = maps[:, :784], maps[:, 784:]

    def by_lsqr():
        Z = (test - b.mean(0)) @ A2.T + A1 @ a.mean(0)
        return np.array([lsqr(A1, z, atol=1e-6, btol=1e-6, iter_lim=20)[0] for z in Z])

    # LSQR amplifies rounding (docs/experiments.md), so the images agree to per cents only.
    bench.compare(f"LSQR translation, {len(test)} images, 20 steps", "scipy lsqr an image", 15,
                  lambda: bench.worker("lsqr", "corrupted"),
                  by_lsqr,
                  lambda found: np.median(np.linalg.norm(bench.worker.answer() - found, axis=1) /
                                          np.linalg.norm(found, axis=1)) < 0.2, 2 * test.nbytes)
    S = ((b - b.mean(0)) / np.sqrt(len(b) - 1)) @ A2.T
    L = np.linalg.lstsq(S, (a - a.mean(0)) / np.sqrt(len(a) - 1), rcond=1e-12)[0].T @ A2
    shift = a.mean(0) - L @ b.mean(0)
    bench.compare("lmmse translation, 60,000 images", "NumPy product", 1, lambda: bench.worker("lmmse", "all_noisy"),
                  lambda: everything @ L.T + shift, lambda found: close(bench.worker.answer(), found, 1e-6),
                  2 * everything.nbytes)


def all_images(bench, pairs):
    name, cov = "fit, all 60,000 MNIST images (784+784)", "data1:550"
    X, Y = pairs.X1, pairs.X2
    bench.compare(f"{name}, {cov}", "NumPy Algorithm 1", 8, pairs.fit(cov), lambda: peer_code.algorithm_1(X, Y, cov),
                  pairs.same_correlations(1e-9), pairs.bytes, pairs.accuracy(cov))
    bench.compare(f"{name}, {cov}, gram", "NumPy covariance+eigh", 1, pairs.fit(cov, "gram"),
                  lambda: peer_code.covariance_and_eigh(X, Y, cov, GRAM_RANK), pairs.same_correlations(1e-6), pairs.bytes,
                  pairs.accuracy(cov))
    few = "identity:10"
    bench.compare(f"{name}, {few}, gram", "NumPy covariance+eigh", 1.5, pairs.fit(few, "gram"),
                  lambda: peer_code.covariance_and_eigh(X, Y, few, GRAM_RANK), pairs.same_correlations(1e-6), pairs.bytes,
                  pairs.accuracy(few))


def many_features(bench, random):
    work, cov = "fit, 4,000+4,000 features (n 20,000), identity:20", "identity:20"
    if not any(bench.wanted(f"{work} {peer}") for peer in ("NumPy covariance+eigh", "cca-zoo CCA")):
        return
    pairs = Pairs(bench, ("many1", "many2"), *related_pairs(random, 20000, 60, 4000, 4000, 60**-0.5))
    bench.compare(work, "NumPy covariance+eigh", 3, pairs.fit(cov),
                  lambda: peer_code.covariance_and_eigh(pairs.X1, pairs.X2, cov, GRAM_RANK), pairs.same_correlations(1e-9),
                  pairs.bytes, pairs.accuracy(cov))
    if OPTIONS.all_peers:
        cca_zoo(bench, pairs, work, 4, 20, "auto")
    else:
        bench.skip(work, "cca-zoo CCA", "give PEERS=all")


def wide(bench):
    work, cov = "fit, wide (16384+16384, n 1345), identity:100", "identity:100"
    if not bench.wanted(f"{work} NumPy Algorithm 1"):
        return
    pairs = Pairs(bench, ("one", "two"), *radar())
    bench.compare(work, "NumPy Algorithm 1", 3, pairs.fit(cov), lambda: peer_code.algorithm_1(pairs.X1, pairs.X2, cov),
                  pairs.same_correlations(1e-9), pairs.bytes, pairs.accuracy(cov))


def small(bench, random):
    n, cov = 300, "identity:10"
    pairs = Pairs(bench, ("small1", "small2"), *related_pairs(random, 1000 * n, 10, 50, 40))
    blocks = [slice(first, first + n) for first in range(0, 1000 * n, n)]

    def peer():
        return [peer_code.algorithm_1(pairs.X1[block], pairs.X2[block], cov) for block in blocks]

    def worst(found):  # of the first hundred fits
        each = []
        for k, block in enumerate(blocks[:100]):
            part = pairs.X1[block], pairs.X2[block]
            if found is None:
                Pairs(bench, ("block1", "block2"), *part).fit(cov)()
            each.append(accuracy(bench, *part, cov)(None if found is None else found[k]))
        return tuple(np.max(each, axis=0))

    bench.compare("1,000 fits (50+40, n 300), identity:10", "the same in NumPy", 5,
                  lambda: bench.worker("small", "small1", "small2", 50, 40, n, 10), peer,
                  lambda found: close(bench.worker.answer(), [fit.correlations[:10] for fit in found], 1e-9), pairs.bytes,
                  worst)


def images(bench, random):
    references = np.clip(4 * gaussian_filter(random.standard_normal((12000, 28, 28)), (0, 2, 2)), 0, 1)
    pictures = references + 0.3 * random.standard_normal(references.shape)
    pairs = Pairs(bench, ("pictures", "references"), pictures, references)
    bench.compare("wiener2 + medfilt2 + ssim, 12,000 images", "scipy.ndimage", 5,
                  lambda: bench.worker("filters", "pictures", "references", 28, 28),
                  lambda: peer_code.filters(pictures, references),
                  lambda found: close(bench.worker.answer().ravel(), found, 1e-10), pairs.bytes)


def files(bench, random):
    work, peer_name = "2 GB of .npy (128+128) in blocks", "NumPy memmap + QR"
    if not bench.wanted(f"{work}, QR {peer_name}"):
        return
    n = 976_562  # two files of 1 GB
    paths = (f"{bench.folder}/big1.npy", f"{bench.folder}/big2.npy")
    for path in paths:
        big = np.lib.format.open_memmap(path, mode="w+", dtype=float, shape=(n, 128))
        for first in range(0, n, 65536):
            big[first : first + 65536] = random.normal(size=big[first : first + 65536].shape)
        del big
    X1, X2 = np.load(paths[0]), np.load(paths[1])
    # By default, where the data's conditioning proves sums of products safe, and by QR as the peer.
    for how, name, target in (("auto", work, 4), ("qr", f"{work}, QR", 1.5)):
        bench.compare(name, peer_name, target, lambda: bench.worker("summarize", *paths, how),
                      lambda: peer_code.qr_in_blocks(*paths, "identity:10"), same_correlations(bench, 1e-9),
                      X1.nbytes + X2.nbytes, accuracy(bench, X1, X2, "identity:10"))


def growth(bench, random):
    """How our cost grows, beside the memory of NumPy's Algorithm 1: with n, with d, with threads."""
    if not bench.wanted("growth"):
        return []
    X, Y = related_pairs(random, 80000, 20, 400, 400)
    rows = []

    def measure(what, n, d, threads):
        bench.worker("threads", threads)
        pairs = Pairs(bench, ("gx", "gy"), np.ascontiguousarray(X[:n, :d]), np.ascontiguousarray(Y[:n, :d]))
        bench.trim()
        runs = [pairs.fit("identity:10", "qr")() for _ in range(OPTIONS.runs)]
        row = {"what": what, "n": n, "d": d, "threads": threads, "seconds": statistics.median(r["seconds"] for r in runs),
               "ours_mb": max(r["memory"] for r in runs) / 1e6}
        if threads == OPTIONS.threads:
            row["peer_mb"] = timed(lambda: peer_code.algorithm_1(pairs.X1, pairs.X2, "identity:10"))[1] / 1e6
        rows.append(row)
        print(f"growth: n {n:6d}, d {d}+{d}, {threads} threads: {row['seconds']:.3f} s, {row['ours_mb']:.0f} MB"
              + (f" / {row['peer_mb']:.0f} MB" if "peer_mb" in row else ""), flush=True)

    for n in (10000, 20000, 40000, 80000):
        measure("n", n, 200, OPTIONS.threads)
    for d in (50, 100, 200, 400):
        measure("d", 20000, d, OPTIONS.threads)
    for threads in range(1, OPTIONS.threads + 1):
        measure("threads", 80000, 400, threads)
    return rows


def run(bench):
    random = np.random.default_rng(1)
    loaded = mnist()
    if loaded is None:
        for work in ("fit, MNIST digit 3", "fit, all 60,000 MNIST images", "translation"):
            bench.skip(work, "all", "no MNIST to be had")
    else:
        X, labels = loaded
        three = random.permutation(np.flatnonzero(labels == 3))
        a, test = X[three[:4905]], X[three[4905:]]
        digit = Pairs(bench, ("a", "b"), a, noisy(random, a))
        everyone = Pairs(bench, ("all_clean", "all_noisy"), X, noisy(random, X))
        paper_size(bench, digit)
        translations(bench, digit, noisy(random, test), everyone.X2)
        all_images(bench, everyone)
        del everyone, X, loaded
    many_features(bench, random)
    wide(bench)
    small(bench, random)
    images(bench, random)
    files(bench, random)
    several_domains(bench, random)
    return growth(bench, random)


with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as temporary:
    BENCH = Bench(OPTIONS, temporary)
    GROWTH = run(BENCH)
    if not OPTIONS.before:
        results.write(BENCH, GROWTH)
for complaint in BENCH.complaints:
    print(f"short of what is wanted: {complaint}")
