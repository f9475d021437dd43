"""CCA and MCCA of mvlearn, by ours."""

import numbers

import mvlearn.embed
import mvlearn.embed.cca
import mvlearn.embed.mcca
import numpy as np
from mvlearn.utils import check_Xs, param_as_list
from sklearn.covariance import ledoit_wolf, oas

import cgmca
from moments import MOST, uncentered

NAMES = r"\bM?CCA\b|\bcca|\bmcca\b"


def _ridge(X, reg):
    """Their (1 - reg) XᵀX + reg I, or shrinkage, as our Θ + ridge tr(Θ)/d I, X of mean 0."""
    if reg is None:
        return 0.0
    theta = X.T @ X / len(X)
    if reg in ("lw", "oas"):
        shrunk = (ledoit_wolf if reg == "lw" else oas)(X)[1]
        return float(shrunk / (1 - shrunk)) if shrunk < 1 else MOST
    return float(reg / (1 - reg) / len(X) / (np.trace(theta) / len(theta))) if reg < 1 else MOST


class _Fit:
    """Their `_fit` by `cgmca.MCA`; what follows from the loadings is theirs."""

    def _fit(self, Xs):
        Xs, self.n_views_, n, self.n_features_ = check_Xs(Xs, return_dimensions=True)
        self._refuse()
        centers = param_as_list(self.center, self.n_views_)
        ranks = param_as_list(self.signal_ranks, self.n_views_)
        regs = param_as_list(self.regs, self.n_views_)
        if self.i_mcca_method == "svd" and self.signal_ranks is not None and any(reg is not None for reg in regs):
            raise AssertionError("regularization is for the method 'gevp'")
        self.means_ = [np.mean(X, axis=0) if c else None for X, c in zip(Xs, centers)]
        Xs = [X if mean is None else X - mean for X, mean in zip(Xs, self.means_)]
        fitted = Xs if all(centers) else uncentered(Xs)
        model = cgmca.MCA(self._count(), ridge=[_ridge(X, reg) for X, reg in zip(Xs, regs)], max_rank=ranks).fit(fitted)
        # Their scores have the square norm 1 together, over all views.
        scale = 1 / np.sqrt(self.n_views_ * (n - 1))
        self.loadings_ = [A.T * scale for A in model.A_]
        scores = np.array([X @ loadings for X, loadings in zip(Xs, self.loadings_)])
        self.common_score_norms_ = np.linalg.norm(scores.sum(axis=0), axis=0)
        between = model.common_correlations_.sum(axis=(0, 1))  # of ones on the diagonal too
        self.evals_ = between / self.n_views_
        return scores, scores.sum(axis=0) / self.common_score_norms_

    def _count(self):
        most = {"min": None, "max": None, None: None}
        count = self.n_components
        return None if count in most or count > min(self.n_features_) else int(count)

    def _refuse(self):
        pass


class MCCA(_Fit, mvlearn.embed.mcca.MCCA):
    pass


class CCA(_Fit, mvlearn.embed.cca.CCA):
    def _refuse(self):
        if self.n_views_ != 2:
            raise ValueError(f"{self.n_views_} views; CCA is for two")
        if not (isinstance(self.n_components, numbers.Integral) and 1 <= self.n_components <= min(self.n_features_)):
            raise ValueError(f"n_components must be an integer in the range [1, {min(self.n_features_)}]")


OURS = (CCA, MCCA)


def replace():
    mvlearn.embed.CCA = mvlearn.embed.cca.CCA = CCA
    mvlearn.embed.MCCA = mvlearn.embed.mcca.MCCA = MCCA
