"""How the peers' settings are said in ours."""

import numpy as np

MOST = 1e10  # a ridge beside which the covariance hardly counts: partial least squares


def ridge_of(shrinkage, theta):
    """Our ridge, a share of tr(Θ)/d, that is as (1 - shrinkage) Θ + shrinkage I up to a factor."""
    if shrinkage == 0:
        return 0.0
    share = np.trace(theta) / len(theta)
    return float(shrinkage / (1 - shrinkage) / share) if shrinkage < 1 else MOST


def length_of(shrinkage, theta):
    """What our weights, of unit length under Θ + b I, are multiplied by for unit length under theirs, (1 - shrinkage) Θ +
    shrinkage I."""
    if shrinkage < 1:
        return 1 / np.sqrt(1 - shrinkage)
    return np.sqrt(ridge_of(shrinkage, theta) * np.trace(theta) / len(theta))


def uncentered(views):
    """Samples of mean 0 that have the views' second moments about 0: x and -x, each."""
    return [np.vstack([X, -X]) for X in views]
