"""CCA of scikit-learn, by ours."""

import sklearn.cross_decomposition
import sklearn.cross_decomposition._pls

import cgmca

NAMES = r"\bCCA\b"


class CCA(cgmca.MCA):
    """`cgmca.MCA` with the constructor of scikit-learn's CCA, whose `fit_transform` returns both domains. Units of the
    features do not change the directions (`scale`), and there is no iteration (`max_iter`, `tol`)."""

    def __init__(self, n_components=2, *, scale=True, max_iter=500, tol=1e-6, copy=True):
        super().__init__(n_components)
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X, y)

    def transform(self, X, y=None, copy=True):
        return super().transform(X, y)

    def predict(self, X, copy=True):
        return super().predict(X)


OURS = (CCA,)


def replace():
    sklearn.cross_decomposition.CCA = sklearn.cross_decomposition._pls.CCA = CCA
