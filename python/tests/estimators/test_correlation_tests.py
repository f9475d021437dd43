"""Tests of canonical correlations by theory, beside statsmodels."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_linnerud

import cgmca


def data_sets():
    linnerud, iris, diabetes = load_linnerud(), load_iris().data, load_diabetes().data
    return {"linnerud": (linnerud.data, linnerud.target), "iris": (iris[:, :2], iris[:, 2:]),
            "diabetes": (diabetes[:, :4], diabetes[:, [4, 6, 7, 8, 9]])}


@pytest.mark.parametrize("name", ["linnerud", "iris", "diabetes"])
def test_all_four_statistics_are_those_of_statsmodels(name):
    multivariate = pytest.importorskip("statsmodels.multivariate.cancorr")
    X, Y = data_sets()[name]
    theirs = multivariate.CanCorr(Y, X).corr_test()
    tests = cgmca.MCA().fit(X, Y).tests()
    first = tests[0]
    for ours, row in zip((first.wilks, first.pillai, first.hotelling_lawley, first.roy), theirs.stats_mv.values):
        value, df1, df2, F, p = (float(number) for number in row)
        np.testing.assert_allclose([ours.value, ours.df1, ours.df2, ours.F], [value, df1, df2, F], rtol=1e-10)
        assert math.isclose(ours.p, p, rel_tol=1e-8, abs_tol=1e-300)
    # Its table of the later hypotheses takes the wrong domain's number of features into the degrees of freedom when
    # the domains differ in size (Rohwer: 174.3 where all others have 168.8), so only Wilks' statistic is compared.
    lambdas = theirs.stats["Wilks' lambda"].astype(float)
    np.testing.assert_allclose([test.wilks.value for test in tests], lambdas, rtol=1e-10)
    if X.shape[1] == Y.shape[1]:
        p = theirs.stats["Pr > F"].astype(float)
        np.testing.assert_allclose([test.wilks.p for test in tests], p, rtol=1e-8, atol=1e-300)


def test_the_table_is_readable_and_counts():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 4))
    Y = np.c_[X[:, 0] + random.normal(size=120), random.normal(size=(120, 2))]
    tests = cgmca.MCA().fit(X, Y).tests()
    assert tests.significant() == 1 and tests.significant(level=1e-300) == 0
    assert [test.first for test in tests] == [1, 2, 3]
    lines = str(tests).splitlines()
    assert len(lines) == 4 and lines[0].split() == ["from", "correlation", "Wilks", "F", "df1", "df2", "p"]


@pytest.mark.parametrize("settings, word", [({"ridge": 0.1}, "ridge"), ({"max_rank": 2}, "max_rank")])
def test_a_fit_that_the_theory_does_not_cover_names_the_permutation_test(settings, word):
    X, Y = np.random.default_rng(1).normal(size=(2, 50, 3))
    with pytest.raises(ValueError, match=rf"{word}.*permutation_test"):
        cgmca.MCA(**settings).fit(X, Y).tests()


def test_three_domains_are_refused():
    views = np.random.default_rng(1).normal(size=(3, 50, 3))
    with pytest.raises((ValueError, AttributeError), match="permutation_test"):
        cgmca.MCA(2).fit(list(views)).tests()
