"""Canonical correlations against independent implementations of canonical correlation analysis, to 1e-8."""

import numpy as np
import pytest

from cgmca import MCA
from conftest import make_pairs


def correlations_by_qr(X, Y):
    """Björck and Golub (1973): singular values of Q1ᵀ Q2, the QR factors' of the centred data."""
    Q1, Q2 = (np.linalg.qr(A - A.mean(axis=0))[0] for A in (X, Y))
    return np.linalg.svd(Q1.T @ Q2, compute_uv=False)


RANDOM = {
    "well conditioned": lambda: make_pairs(n=500, d1=20, d2=15, causes=6),
    "no relation": lambda: make_pairs(n=300, d1=10, d2=10, causes=1, noise=5),
    "large means": lambda: tuple(A + 1e4 for A in make_pairs(n=1000)),
    "unlike scales": lambda: tuple(A * np.logspace(-4, 3, A.shape[1]) for A in make_pairs(n=1000, noise=1)),
    "few samples": lambda: make_pairs(n=30, d1=12, d2=9),
}


@pytest.mark.parametrize("kind", RANDOM)
def test_random_data(kind):
    X, Y = RANDOM[kind]()
    model = MCA().fit(X, Y)
    assert np.abs(model.canonical_correlations_ - correlations_by_qr(X, Y)).max() < 1e-8


@pytest.mark.parametrize("kind", RANDOM)
def test_random_data_against_statsmodels(kind):
    multivariate = pytest.importorskip("statsmodels.multivariate.cancorr")
    X, Y = RANDOM[kind]()
    theirs = multivariate.CanCorr(X, Y).cancorr
    assert np.abs(MCA().fit(X, Y).canonical_correlations_ - theirs).max() < 1e-8


def halves(mnist):
    """Left and right halves of the fours, the pixels that vary independently enough for a QR without pivoting."""
    images = mnist.data[mnist.target == 4].reshape(-1, 28, 28) / 255.0
    parts = images[:, 6:22, 7:14].reshape(len(images), -1), images[:, 6:22, 14:21].reshape(len(images), -1)
    return [part[:, part.std(axis=0) > 0.05] for part in parts]


def test_real_data(mnist):
    X, Y = halves(mnist)
    assert min(X.shape[1], Y.shape[1]) > 90 and len(X) > 5000
    assert np.abs(MCA().fit(X, Y).canonical_correlations_ - correlations_by_qr(X, Y)).max() < 1e-8


def test_real_data_against_statsmodels(mnist):
    multivariate = pytest.importorskip("statsmodels.multivariate.cancorr")
    X, Y = halves(mnist)
    theirs = multivariate.CanCorr(X, Y).cancorr
    assert np.abs(MCA().fit(X, Y).canonical_correlations_ - theirs).max() < 1e-8


def test_projections_are_those_of_scikit_learns_cca():
    from sklearn.cross_decomposition import CCA
    X, Y = make_pairs(n=500, noise=0.5)
    Zx, Zy = MCA(3).fit(X, Y).transform(X, Y)
    theirs_x, theirs_y = CCA(3, scale=False, max_iter=10000, tol=1e-14).fit(X, Y).transform(X, Y)
    for ours, theirs in ((Zx, theirs_x), (Zy, theirs_y)):
        for j in range(3):
            assert abs(np.corrcoef(ours[:, j], theirs[:, j])[0, 1]) > 1 - 1e-6


@pytest.mark.parametrize("n", [8, 300, 5000])
def test_units_matter_as_little_as_to_scikit_learn(n):
    """Farad, ohm and hertz in one table: all directions, and each feature translated in its own unit."""
    from sklearn.cross_decomposition import CCA
    X, Y = make_pairs(n=n, d1=4, d2=3, causes=3, noise=0.5)
    units_x, units_y = np.array([1e-7, 1, 1e7, 1e3]), np.array([1e-12, 1, 1e2])
    plain, model = MCA().fit(X, Y), MCA().fit(X * units_x, Y * units_y)
    assert np.allclose(model.canonical_correlations_, plain.canonical_correlations_, rtol=0, atol=1e-12)
    assert np.allclose(model.translate(Y * units_y) / units_x, plain.translate(Y), rtol=0, atol=1e-11)
    theirs = CCA(3, max_iter=100000, tol=1e-14).fit(X * units_x, Y * units_y).transform(X * units_x, Y * units_y)
    found = [np.corrcoef(a, b)[0, 1] for a, b in zip(theirs[0].T, theirs[1].T)]
    assert np.allclose(model.canonical_correlations_, found, rtol=0, atol=1e-6)
