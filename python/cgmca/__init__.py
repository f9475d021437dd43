"""Covariance-generalized matching component analysis (CGMCA).

From matched samples of two or more kinds of measurement it finds affine maps into one common space that bring them as
close together as possible while each map's output has exactly the covariance you prescribe.

>>> import numpy as np, cgmca
>>> random = np.random.default_rng(0)
>>> causes = random.normal(size=(300, 3))
>>> X = causes @ random.normal(size=(3, 8)) + 0.1 * random.normal(size=(300, 8))
>>> Y = causes @ random.normal(size=(3, 6)) + 0.1 * random.normal(size=(300, 6))
>>> model = cgmca.CGMCA(covariance="data1", n_components=3).fit(X, Y)
>>> Zx, Zy = model.transform(X, Y)                  # the pairs in the common space
>>> X_from_Y, error = model.translate(Y, return_std=True)
>>> bool(np.mean((X_from_Y - X) ** 2) < 0.05 * np.var(X))
True
>>> model.certificate_.excess < 1e-12               # no other maps can bring them closer
True

More than two domains are given as a list or a dict, ``fit([X1, X2, X3])``, and each method takes them so:

>>> names = {"clean": X, "noisy": X + random.normal(size=X.shape), "other": Y}
>>> three = cgmca.MCA(n_components=3).fit(names)
>>> three.certificate_.certified                    # proven to be the best, here too
True
>>> three.translate({"noisy": names["noisy"], "other": Y}, target="clean").shape
(300, 8)

Estimators: `CGMCA`, `MCA`. Data larger than memory, or in several places: `Summary`; on a cluster: `cgmca.dask` and
`cgmca.spark`, which are imported by themselves. Files: `read`, `read_blocks`,
`write`; `load` and `save` for models, which the command line `cgmca` shares. Complex data: `real_features`. Covariances
by factor or standard deviations: `Covariance`. Choosing ranks and ridge: `tune`; how many correlations are real:
`permutation_test`; which pairs are wrong: `check_pairs`; errors and intervals: `bootstrap`.
 Images: `cgmca.image`. Data to try it on: `cgmca.datasets`.
Pictures: `plot_correlations`, `plot_graph`, `plot_starts`, `plot_translation`, `plot_scores`, `plot_circle`,
`plot_biplot`, `plot_cross_correlations`, `plot_scree`, `plot_shares`, `plot_weights`, `plot_diagnosis`.
"""

import sys as _sys

from . import _tune, datasets, image
from ._core import IncompleteSummary, InfeasibleError, InternalError, Summary, __version__, blas_description, set_threads, threads
from ._data.files import read, read_blocks, write
from ._data.tables import real_features
from ._estimators import CGMCA, MCA, certificate, correlation_tests, fitting, settings
from ._estimators.certificate import Addition, Certificate, FitWarning, Pattern, Regularized, Start
from ._estimators.correlation_tests import CorrelationTest, CorrelationTests
from ._estimators.diagnosis import Diagnosis, DomainDiagnosis, Suspect
from ._estimators.explained import Explained, Shares, SharesOfVariance, TranslationR2
from ._estimators.pairs import Displacement, PairCheck, SuspectPair, check_pairs
from ._estimators.settings import Covariance, SearchProgress
from ._model.files import load, save
from ._model.onnx import to_onnx
from ._model.plotting import plot_correlations, plot_graph, plot_starts, plot_translation
from ._model.statistics_plots import (plot_biplot, plot_circle, plot_cross_correlations, plot_diagnosis, plot_scores,
                                       plot_scree, plot_shares, plot_weights)
from ._tune import (Bootstrap, Bootstrapped, DomainBootstrap, PermutationTest, TuneResult, bootstrap, permutation_test,
                    tune)

# Pickles of cgmca 0.2 name its modules.
_sys.modules.update({f"cgmca.{name}": module for name, module in (
    ("_certificate", certificate), ("_matching", fitting), ("_settings", settings), ("_tests", correlation_tests),
    ("_tuning", _tune))})

__all__ = [
    "Addition", "Bootstrap", "Bootstrapped", "Certificate", "CGMCA", "CorrelationTest", "CorrelationTests",
    "Covariance", "Diagnosis", "Displacement", "DomainBootstrap", "DomainDiagnosis", "Explained", "FitWarning",
    "IncompleteSummary", "InfeasibleError", "InternalError", "MCA", "PairCheck", "Pattern", "PermutationTest",
    "Regularized", "SearchProgress", "Shares", "SharesOfVariance", "Start", "Summary", "Suspect", "SuspectPair",
    "TranslationR2", "TuneResult", "__version__", "blas_description", "bootstrap", "check_pairs", "datasets", "image",
    "load", "permutation_test", "plot_biplot", "plot_circle", "plot_correlations", "plot_cross_correlations",
    "plot_diagnosis", "plot_graph", "plot_scores", "plot_scree", "plot_shares", "plot_starts", "plot_translation",
    "plot_weights", "read", "read_blocks", "real_features", "save", "set_threads", "threads", "to_onnx", "tune",
    "write",
]
