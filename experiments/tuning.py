"""Does the choice of `tune` with labels hold up? Its accuracy on new samples beside that of fixed settings.

    PYTHONPATH=build/python /usr/bin/python3 experiments/tuning.py [--data DIR] [--pairs 100] [--draws 3]

From some matched pairs and 1,000 labelled samples of domain 1, 700 samples of domain 2, which have no partners there, are
named by their nearest neighbour. UCI multiple features and MNIST are looked for in DIR (default: ../shared/data beside
this tree), Fashion-MNIST where Debian's package dataset-fashion-mnist puts it; what is absent is left out, and said.
Needs NumPy, scikit-learn and the package. Prints a Markdown table."""

import argparse
import gzip
import pathlib
import warnings

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import cgmca

ROOT = pathlib.Path(__file__).resolve().parent.parent
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
VIEWS = [("fac", "zer"), ("pix", "fou"), ("kar", "fou"), ("fou", "pix")]
RIDGES = [0.1, 1, 10, 100]


def read_idx(folder):
    """2,000 test images in [0, 1] as squares, and their classes."""
    images = gzip.decompress((folder / "t10k-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((folder / "t10k-labels-idx1-ubyte.gz").read_bytes())
    chosen = np.random.default_rng(0).permutation(10_000)[:2000]
    return (np.frombuffer(images, np.uint8, offset=16).reshape(-1, 28, 28)[chosen] / 255.0,
            np.frombuffer(labels, np.uint8, offset=8)[chosen].astype(int))


def cases(data):
    """(name, domain 1, domain 2, classes)"""
    random = np.random.default_rng(0)
    if (data / "mfeat/mfeat.npz").exists():
        views = np.load(data / "mfeat/mfeat.npz")
        for one, two in VIEWS:
            X, Y = ((V - V.mean(0)) / V.std(0) for V in (views[one].astype(float), views[two].astype(float)))
            yield f"mfeat {one} → {two}", X, Y, views["label"]
    else:
        print(f"{data / 'mfeat'} is not there: multiple features are left out\n")
    if (data / "mnist").is_dir():
        images, labels = read_idx(data / "mnist")
        X = images.reshape(2000, -1)
        yield "MNIST clean → noisy", X, np.clip(X + 0.6 * random.normal(size=X.shape), 0, 1), labels
    else:
        print(f"{data / 'mnist'} is not there: MNIST is left out\n")
    if FASHION.is_dir():
        images, labels = read_idx(FASHION)
        coarse = images.reshape(-1, 14, 2, 14, 2).mean((2, 4)).reshape(2000, -1)
        yield ("Fashion clean → coarse, noisy", images.reshape(2000, -1), coarse + 0.3 * random.normal(size=coarse.shape),
               labels)
        yield "Fashion top → bottom", images[:, :14].reshape(2000, -1), images[:, 14:].reshape(2000, -1), labels
    else:
        print(f"{FASHION} is not there: Fashion-MNIST is left out\n")
    labels = random.integers(0, 6, 2000)
    causes = random.normal(size=(6, 8))[labels] + 0.7 * random.normal(size=(2000, 8))
    X, Y = (causes @ random.normal(size=(8, d)) + 1.5 * random.normal(size=(2000, d)) for d in (60, 50))
    yield "simulated", X, Y, labels


def accuracy(references, of_references, queries, of_queries):
    return KNeighborsClassifier(1).fit(references, of_references).score(queries, of_queries)


def draw(X, Y, labels, pairs, seed):
    """The accuracy of each way."""
    order = np.random.default_rng(100 + seed).permutation(len(X))
    matched, known, new = order[:pairs], order[:1000], order[1000:1700]

    def by(**settings):
        model = cgmca.CGMCA(**settings).fit(X[matched], Y[matched])
        return accuracy(model.apply(X[known], 1), labels[known], model.apply(Y[new], 2), labels[new])

    most = min(X.shape[1], Y.shape[1], pairs - 2)
    found = {"target alone": accuracy(Y[matched], labels[matched], Y[new], labels[new]),
             "identity:n/4": by(covariance="identity", n_components=min(pairs // 4, most), ridge=1),
             "correlation": by(covariance="correlation", n_components=most, ridge=1)}
    for ridge in RIDGES:
        found[f"likelihood2, {ridge:g}"] = by(covariance="likelihood2", ridge=ridge)
    found["by partner"] = by(**cgmca.tune(X[matched], Y[matched], criterion="partner").params)
    more = order[pairs:1000]
    found["tuned"] = by(**cgmca.tune(X[matched], Y[matched], labels=labels[matched], labelled_X=X[more],
                                     labelled_y=labels[more]).params)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--draws", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", cgmca.FitWarning)
    header = None
    for name, X, Y, labels in cases(arguments.data):
        draws = [draw(X, Y, labels, arguments.pairs, seed) for seed in range(arguments.draws)]
        means = {way: np.mean([found[way] for found in draws]) for way in draws[0]}
        if header is None:
            header = list(means)
            print(f"{arguments.pairs} pairs, mean of {arguments.draws} draws; ridge 1 where none is named\n")
            print("| | " + " | ".join(header) + " |\n|" + "---|" * (len(header) + 1))
        print(f"| {name} | " + " | ".join(f"{means[way]:.3f}" for way in header) + " |", flush=True)


if __name__ == "__main__":
    main()
