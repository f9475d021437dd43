"""CCA, RidgeCCA, PLS and MCCA of cca-zoo, by ours: fit, transform, predict and inverse_transform."""

import importlib

import cca_zoo.linear
import cca_zoo.linear._cca
import cca_zoo.linear._mcca
import cca_zoo.linear._pls
import cca_zoo.linear._ridge_cca
import numpy as np
from cca_zoo._utils._validation import perview_parameter

import cgmca
from moments import length_of, ridge_of, uncentered

NAMES = r"\b(CCA|RidgeCCA|PLS|MCCA)\b"


class _Ours:
    """Their checks of views, names and parameters come first; what is computed is ours."""

    def fit(self, views, y=None, sample_weight=None):
        centred = self._setup_fit(views, sample_weight)
        if not isinstance(self, cca_zoo.linear._mcca.MCCA) and self.n_views_ != 2:
            raise ValueError(f"{type(self).__name__} requires exactly 2 views, got {self.n_views_}.")
        shrinkage = perview_parameter("shrinkage", self.shrinkage, 0.0, self.n_views_)
        covariances = [X.T @ X / (len(X) - 1) for X in centred]
        ridge = [ridge_of(c, theta) for theta, c in zip(covariances, shrinkage)]
        # Views as arrays; names and weights have been checked.
        samples = [np.asarray(X, dtype=float) for X in views]
        if not self.center:
            samples = uncentered(samples)
            sample_weight = None if sample_weight is None else np.tile(sample_weight, 2)
        self.ours_ = cgmca.MCA(self.n_components, ridge=ridge).fit(samples, sample_weight=sample_weight)
        self.lengths_ = [length_of(c, theta) for theta, c in zip(covariances, shrinkage)]
        self.weights_ = [A.T * length for A, length in zip(self.ours_.A_, self.lengths_)]
        self._fit_maps_and_importances(centred)
        return self

    def _transform_view(self, view, centred):
        # Around 0 ours has the mean that it was fitted with, which is 0 too where theirs does not center.
        return self.ours_.apply(centred + self.ours_.means_[view], domain=view + 1) * self.lengths_[view]

    def _feature_importances(self, views):
        return [X.var(axis=0) * (weights ** 2).sum(axis=1) for X, weights in zip(views, self.weights_)]

    def predict(self, views):
        super().predict(views)  # which checks them
        observed = [None if X is None else np.asarray(X, dtype=float) for X in views]
        given = [i for i, X in enumerate(observed) if X is not None]
        found = []
        for i, X in enumerate(observed):
            others = [j for j in given if j != i] or given
            if others == [i]:  # from its own scores
                found.append(self.ours_.inverse_transform([self.ours_.apply(X, i + 1) if j == i else None
                                                           for j in range(self.n_views_)], method="mahalanobis")[i])
            else:
                found.append(self.ours_.translate([observed[j] for j in others], source=[j + 1 for j in others],
                                                  target=i + 1))
        return found

    def inverse_transform(self, scores):
        super().inverse_transform(scores)  # which checks them
        return self.ours_.inverse_transform([np.asarray(Z) / length for Z, length in zip(scores, self.lengths_)],
                                            method="mahalanobis")


class RidgeCCA(_Ours, cca_zoo.linear._ridge_cca.RidgeCCA):
    pass


class CCA(_Ours, cca_zoo.linear._cca.CCA):
    pass


class PLS(_Ours, cca_zoo.linear._pls.PLS):
    pass


class MCCA(_Ours, cca_zoo.linear._mcca.MCCA):
    pass


OURS = (CCA, RidgeCCA, PLS, MCCA)


def replace():
    # Their other models, which are made of these, keep what they are made of.
    for name in ("model_selection", "nonparametric", "sparse", "stochastic"):
        importlib.import_module(f"cca_zoo.{name}")
    for one in OURS:
        setattr(cca_zoo.linear, one.__name__, one)
