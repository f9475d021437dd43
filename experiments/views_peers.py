#!/usr/bin/env python3
"""`cgmca reproduce views` beside cca-zoo's MCCA and GCCA, on the same draws.

    make bench PEERS=all    # or tools/install-peers: cca-zoo into build/peers
    PYTHONPATH=build/python /usr/bin/python3 experiments/views_peers.py [--data FILE] [--draws 5]
    build/peers/bin/python experiments/views_peers.py [--data FILE] [--draws 5]

The first prints our rows, the second cca-zoo's: they need different versions of NumPy, and a seed gives both the same
draws. Every method has the same input: each view's first 20 principal components among the matched samples, features
divided by their standard deviation. Accuracies are those of experiments/views.hpp; where cca-zoo fuses it takes the mean
of the views' scores, and where it translates it predicts the missing view from that mean.
"""

import argparse
import itertools
import pathlib
import warnings

import numpy as np

DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "mfeat" / "mfeat.npz"
NAMES = ("fou", "fac", "kar", "pix", "zer", "mor")
MAX_RANK = 20


class Ours:
    def __init__(self, views, k, fusion):
        import cgmca

        warnings.simplefilter("ignore", cgmca.FitWarning)
        self.model, self.fusion = cgmca.MCA(k).fit(views), fusion

    def map(self, i, view):
        return self.model.apply(view, i + 1)

    def fuse(self, views):
        return self.model.fuse(views, method=self.fusion)

    def translate(self, views, i):
        return self.model.translate(views, target=i + 1)

    def proof(self):
        certificate = self.model.certificate_
        return certificate.gap


class CcaZoo:
    def __init__(self, views, k, kind):
        import cca_zoo.linear

        self.model = getattr(cca_zoo.linear, kind)(n_components=k).fit(views)

    def map(self, i, view):
        return (view - self.model.means_[i]) @ self.model.weights_[i]

    def fuse(self, views):
        return np.mean([self.map(i, view) for i, view in enumerate(views) if view is not None], axis=0)

    def translate(self, views, i):
        return self.model.predict(views)[i]

    def proof(self):
        return np.nan


def methods():
    try:
        import cgmca  # noqa: F401
    except ImportError:
        return {f"cca-zoo {kind}": lambda views, k, kind=kind: CcaZoo(views, k, kind) for kind in ("MCCA", "GCCA")}
    return {"cgmca": lambda views, k: Ours(views, k, "estimate"), "cgmca, plain mean": lambda views, k: Ours(views, k, "mean")}


def principal(train, test):
    """Scores of both along the first directions of the training samples, at most 20 and no more than there are."""
    scale = train.std(axis=0)
    scale[scale == 0] = 1
    mean = train.mean(axis=0)
    train, test = (train - mean) / scale, (test - mean) / scale
    _, s, Vt = np.linalg.svd(train, full_matrices=False)
    rank = min(MAX_RANK, int((s > 1e-9 * s[0]).sum()))
    return train @ Vt[:rank].T, test @ Vt[:rank].T


def accuracy(references, labels, queries, truth):
    distance = (references**2).sum(1) - 2 * queries @ references.T
    return (labels[distance.argmin(1)] == truth).mean()


def scores(model, train, test, labels, truth):
    """What one draw gives: accuracies by the number of views fused, of translations, and the views' covariances."""
    m, by_number, translated, residuals = len(train), [], [], []
    for count in range(1, m + 1):
        values = []
        for chosen in itertools.combinations(range(m), count):
            def pick(views, chosen=chosen):
                return [view if i in chosen else None for i, view in enumerate(views)]
            values.append(accuracy(model.fuse(pick(train)), labels, model.fuse(pick(test)), truth))
        by_number.append(np.mean(values))
    for i in range(m):
        missing = [None if j == i else view for j, view in enumerate(test)]
        Z = model.map(i, train[i])
        translated.append(accuracy(Z, labels, model.map(i, model.translate(missing, i)), truth))
        k = Z.shape[1]
        residuals.append(np.linalg.norm(np.cov(Z.T) - np.eye(k)) / np.sqrt(k))
    return by_number, np.mean(translated), residuals, model.proof()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=str(DATA), metavar="FILE", help="mfeat.npz: arrays fou, fac, …, label")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--matched", type=int, nargs="*", default=[100, 300, 1000])
    given = parser.parse_args()
    if not pathlib.Path(given.data).exists():
        parser.error(f"no {given.data}; give mfeat.npz with --data")
    with np.load(given.data) as archive:
        views, labels = [archive[name].astype(float) for name in NAMES], archive["label"]
    print("| matched, fit | method | one view | two | three | four | five | six | one translated | "
          "covariance off, least to most | gap |\n|" + "---|" * 11)
    for matched in given.matched:
        for k, used in ((5, range(6)), (10, range(5))):
            found = {name: [] for name in methods()}
            for seed in range(given.draws):
                order = np.random.default_rng(seed).permutation(len(labels))
                train, test = order[:matched], order[matched:]
                both = [principal(views[i][train], views[i][test]) for i in used]
                known, new = [one for one, _ in both], [two for _, two in both]
                for name, method in methods().items():
                    found[name].append(scores(method(known, k), known, new, labels[train], labels[test]))
            for name, draws in found.items():
                numbers = [f"{value:.3f}" for value in np.mean([draw[0] for draw in draws], axis=0)] + [""] * (6 - len(used))
                off = np.array([draw[2] for draw in draws]).max(axis=0)
                gap = max(draw[3] for draw in draws)
                print(f"| {matched}, {len(used)} views, k {k} | {name} | {' | '.join(numbers)} | "
                      f"{np.mean([draw[1] for draw in draws]):.3f} | {off.min():.0e} … {off.max():.0e} | "
                      f"{'' if np.isnan(gap) else f'{gap:.0e}'} |", flush=True)


if __name__ == "__main__":
    main()
