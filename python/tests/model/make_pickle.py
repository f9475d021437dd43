"""Writes a file: one of each object that users pickle, and what two of them return.

    PYTHONPATH=build/python python3 python/tests/model/make_pickle.py FILE

cgmca_0_2.pickle was written by a cgmca 0.2 whose package had all its modules in one folder.
"""

import pathlib
import pickle
import sys

import numpy as np

import cgmca

random = np.random.default_rng(0)
X = random.normal(size=(40, 3))
Y, Z = X[:, :2] + random.normal(size=(40, 2)), X + random.normal(size=X.shape)
fitted = cgmca.CGMCA(cgmca.Covariance.diagonal([1, 2]), ridge=0.1).fit(X, Y)
multi = cgmca.MCA(2).fit({"a": X, "b": Y, "c": Z})
things = {
    "samples": (X, Y, Z), "fitted": fitted, "multi": multi, "one target, by partial_fit": cgmca.MCA(1).partial_fit(X, Y[:, 0]),
    "translated": fitted.translate(Y), "fused": multi.fuse([X, None, Z]), "summary": cgmca.Summary(3, 2).add(X, Y),
    "certificate": fitted.certificate_, "tests": cgmca.MCA().fit(X, Y).tests(), "tuned": cgmca.tune(X, Y, ridge=[0, 1]),
    "permutations": cgmca.permutation_test(X, Y, permutations=9),
}
pathlib.Path(sys.argv[1]).write_bytes(pickle.dumps(things))
