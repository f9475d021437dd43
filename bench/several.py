"""Rows of bench/run.py with more than two domains, beside the multiset methods of cca-zoo, mvlearn and R's RGCCA.

All are given the same views and asked for k directions that correlate most between views. What they constrain differs:

- ours: in every view the k directions have the identity as covariance
- cca-zoo, mvlearn: only the sum of the views' covariances is the identity, a weaker constraint
- RGCCA: that of ours, but one direction after the other

Two figures make them comparable. f, the mean correlation of a direction between two views, is of maps *made feasible*:
scores replaced in each view by the nearest ones of identity covariance. The peer's own criterion is the same mean where
only the sum over views is fixed. Our maps satisfy that constraint too, so neither side can surpass its optimum, which is
the sum of the leading eigenvalues of the views' whitened cross-covariances and is computed here.
"""

import pathlib
import shutil
import subprocess

import numpy as np
from scipy.sparse.linalg import eigsh
from measure import ROOT, script

PEERS = ("cca-zoo MCCA", "mvlearn MCCA", "RGCCA")
VIEWS = ("fou", "fac", "kar", "pix", "zer", "mor")
INTERPRETERS = {"cca-zoo": [str(ROOT / "build" / "peers" / "bin" / "python")],
                "mvlearn": ["env", f"PYTHONPATH={ROOT / 'build' / 'peers-mvlearn'}", "/usr/bin/python3"]}


def mfeat():
    """The six views of UCI multiple features, or None."""
    found = subprocess.run([ROOT / "tools" / "get-mfeat"], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    if found.returncode:
        return None
    folder = pathlib.Path(ROOT, found.stdout.strip())
    if (folder / "mfeat.npz").exists():
        with np.load(folder / "mfeat.npz") as archive:
            return [archive[name].astype(float) for name in VIEWS]
    return [np.genfromtxt(folder / f"mfeat-{name}.csv", delimiter=",", skip_header=1)[:, :-1] for name in VIEWS]


def related_views(random, n, causes, sizes):
    common = random.normal(size=(n, causes))
    return [common @ random.normal(size=(causes, d)) + 4 * random.normal(size=(n, d)) for d in sizes]


class Several:
    """Views known to both sides, the fit of them, and how good k directions of them are."""

    def __init__(self, bench, prefix, views, k, accumulate):
        self.bench, self.k, self.accumulate = bench, k, accumulate
        self.names = [f"{prefix}{i + 1}" for i in range(len(views))]
        self.sizes, self.bytes = [X.shape[1] for X in views], sum(X.nbytes for X in views)
        for name, X in zip(self.names, views):
            np.save(f"{bench.folder}/{name}.npy", X)
            bench.worker("load", name, f"{bench.folder}/{name}.npy")
        self.centred = [(X - X.mean(0)) / np.sqrt(len(X) - 1) for X in views]
        self.certificate = None

    def best_own(self):
        """The optimum of the peers' criterion: Z = √m E with E the leading eigenvectors of [B_ij], B_ii = 0."""
        whitened = []
        for S, rank in zip(self.centred, self.certificate["ranks"]):
            whitened.append(np.linalg.svd(S, full_matrices=False)[0][:, :rank])
        U = np.hstack(whitened)
        B = U.T @ U
        edges = np.cumsum([0, *(part.shape[1] for part in whitened)])
        for a, b in zip(edges, edges[1:]):
            B[a:b, a:b] = 0
        values = eigsh(B, self.k, which="LA", return_eigenvectors=False)
        return values.sum() / ((len(whitened) - 1) * self.k)

    def fit(self):
        self.certificate = self.bench.worker("several", self.k, self.accumulate, *self.names)
        return self.certificate

    def our_scores(self):
        maps = np.split(self.bench.worker.answer("maps"), np.cumsum(self.sizes)[:-1])  # file: a row for each feature
        return [S @ A for S, A in zip(self.centred, maps)]

    def mean_correlation(self, Z):
        m = len(Z)
        total = sum(Z)
        return (np.sum(total * total) - sum(np.sum(z * z) for z in Z)) / (m * (m - 1) * self.k)

    def feasible(self, Z):
        """f of the nearest scores of identity covariance."""
        parts = [np.linalg.svd(z, full_matrices=False) for z in Z]
        return self.mean_correlation([U @ Vt for U, _, Vt in parts])

    def own(self, Z):
        """Where a direction's variances sum to the number of views."""
        size = np.sqrt(np.mean([np.sum(z * z, axis=0) for z in Z], axis=0))
        return self.mean_correlation([z / size for z in Z])

    def residuals(self, Z):
        """‖cov(z) - I‖ / ‖I‖ of each view, directions scaled so that their variances sum to the number of views."""
        size = np.sqrt(np.mean([np.sum(z * z, axis=0) for z in Z], axis=0))
        return [np.linalg.norm((z / size).T @ (z / size) - np.eye(self.k)) / np.sqrt(self.k) for z in Z]

    def accuracy(self, Z):
        """The largest residual, and by how much f falls short of what is proven to be out of reach."""
        Z = self.our_scores() if Z is None else Z
        ours = self.feasible(self.our_scores())
        bound = ours * (1 + self.certificate["gap_of_f"])
        return max(self.residuals(Z)), abs(bound - self.feasible(Z)) / bound

    def check(self, Z):
        """The peer solved the same problem: made feasible it is near our f and not above the bound, and by its own criterion
        neither side is above its optimum."""
        ours, f = self.our_scores(), self.feasible(Z)
        bound = self.feasible(ours) * (1 + self.certificate["gap_of_f"])
        self.best = self.best_own()
        return 0.8 * bound < f <= bound * (1 + 1e-9) and max(self.own(Z), self.own(ours)) <= self.best * (1 + 1e-9)

    def compare(self, work, peer_name, program, path, arguments, read, exact):
        """`exact`: the peer has our constraint, so that its own criterion is f."""
        run = script(program, path, self.bench.folder, *arguments)

        def peer():
            seconds, rise, _ = run()
            Z = [z - z.mean(0) for z in read()]
            self.found = [z / np.sqrt(len(z) - 1) for z in Z]
            return seconds, rise, self.found

        peer.measures_itself = True
        before = len(self.bench.rows)
        self.bench.compare(work, peer_name, 1, self.fit, peer, self.check, self.bytes, self.accuracy)
        if len(self.bench.rows) == before:
            return
        ours, theirs = self.our_scores(), self.found
        self.bench.rows[-1]["several"] = {
            "f": [self.feasible(ours), self.feasible(theirs)], "own": [self.own(ours), self.own(theirs), self.best],
            "residuals": [self.residuals(ours), self.residuals(theirs)], "exact": exact,
            **{key: self.certificate[key] for key in ("certified", "gap_of_f", "proof")}}


def rows(bench, work, several):
    """Beside each peer that is here."""
    k, m = several.k, len(several.names)

    def scores():
        return list(np.load(f"{bench.folder}/multiset.npy"))

    ranks = None
    for peer_name in PEERS[:2]:
        package = peer_name.split()[0]
        if not bench.wanted(f"{work} {peer_name}"):
            continue
        python = INTERPRETERS[package]
        importable = shutil.which(python[0]) and not subprocess.run(
            [*python, "-c", f"import {package.replace('-', '_')}"], stderr=subprocess.DEVNULL).returncode
        if not importable:
            bench.skip(work, peer_name, "not installed (PEERS=all, where PyPI can be reached)")
            continue
        ranks = ranks or several.fit()["ranks"]
        several.compare(work, peer_name, python, "multiset.py", [package, k, *ranks, *several.names], scores, False)
    if not bench.wanted(f"{work} RGCCA"):
        return
    if shutil.which("Rscript") is None or subprocess.run(["Rscript", "-e", "library(RGCCA)"], capture_output=True).returncode:
        return bench.skip(work, "RGCCA", "R or its package RGCCA (CRAN; Debian has none) is not installed")
    for name in several.names:
        np.load(f"{bench.folder}/{name}.npy").tofile(f"{bench.folder}/{name}.bin")

    def from_r():
        return list(np.fromfile(f"{bench.folder}/multiset.bin").reshape(m, k, -1).transpose(0, 2, 1))

    several.compare(work, "RGCCA", ["Rscript"], "rgcca.R", [k, *several.names, *several.sizes], from_r, True)


def several_domains(bench, random):
    def wanted(work):
        return any(bench.wanted(f"{work} {peer}") for peer in PEERS)

    work = "fit, 6 views of mfeat (6 to 240, n 2000), identity:6"
    if wanted(work):
        views = mfeat()
        if views is None:
            bench.skip(work, "all", "no UCI multiple features to be had")
        else:
            rows(bench, work, Several(bench, "mfeat", views, 6, "auto"))
    work = "fit, 4 views (500 each, n 20,000), identity:10, gram"
    if wanted(work):
        rows(bench, work, Several(bench, "view", related_views(random, 20000, 20, [500] * 4), 10, "gram"))
