"""CanCorr of statsmodels, by ours: correlations and coefficients. Its tests of them are its own."""

import numpy as np
import statsmodels.multivariate.cancorr

import cgmca

NAMES = r"\bCanCorr\b"


class CanCorr(statsmodels.multivariate.cancorr.CanCorr):
    def _fit(self, tolerance=1e-8):
        model = cgmca.MCA().fit(self.exog, self.endog)
        for rank, samples, name in zip(model.ranks_, (self.exog, self.endog), ("exog", "endog")):
            if rank < samples.shape[1]:
                raise ValueError(f"{name} is collinear.")
        self.cancorr = model.canonical_correlations_
        per_sample = np.sqrt(len(self.exog) - 1)  # their scores have length 1, ours variance 1
        self.x_cancoef, self.y_cancoef = (A.T / per_sample for A in model.A_)


OURS = (CanCorr,)


def replace():
    statsmodels.multivariate.cancorr.CanCorr = CanCorr
