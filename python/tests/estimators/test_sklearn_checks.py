"""scikit-learn's own suite for estimators, every check of the installed version, for both estimators."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from cgmca import CGMCA, MCA

# check → why it is expected to fail. Nothing is: the list is empty and stays so, or says why not.
EXPECTED_FAILURES = {}


@parametrize_with_checks([CGMCA(), MCA(), CGMCA(n_components=1), CGMCA(covariance="data2", n_components=1)])
def test_scikit_learns_checks(estimator, check):
    name = getattr(check, "func", check).__name__
    if name in EXPECTED_FAILURES:
        pytest.xfail(EXPECTED_FAILURES[name])
    check(estimator)
