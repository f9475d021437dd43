"""Tests of canonical correlations by theory, beside statsmodels; shares of variance, beside NumPy."""

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


def test_pillai_is_that_of_vegan():
    first = cgmca.MCA().fit(*data_sets()["iris"]).tests()[0]  # CCorA(iris[, 3:4], iris[, 1:2]) of vegan 2.6-4
    assert math.isclose(first.pillai.value, 0.900783003792471, rel_tol=1e-12)
    assert math.isclose(first.pillai.p, 4.12357248133034e-37, rel_tol=1e-9)


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


def standardized(A):
    return (A - A.mean(0)) / A.std(0)


@pytest.mark.parametrize("name", ["linnerud", "iris", "diabetes"])
def test_redundancy_is_that_of_cca_zoo(name):
    linear, metrics = pytest.importorskip("cca_zoo.linear"), pytest.importorskip("cca_zoo.metrics")
    X, Y = data_sets()[name]
    k = min(X.shape[1], Y.shape[1])
    scores = linear.CCA(n_components=k).fit([X, Y]).transform([X, Y])
    theirs = metrics.redundancy_index(metrics.factor_loadings([X, Y], scores), metrics.pairwise_correlations(scores))
    found = cgmca.MCA().fit(X, Y).explained_
    for of in (1, 2):
        for by in (1, 2):
            np.testing.assert_allclose(found.shares(of, by=by).standardized.alone[:k], theirs[of - 1, by - 1], rtol=1e-9)


def test_redundancy_is_the_mean_r2_of_regressions_and_sums():
    X, Y = data_sets()["diabetes"]
    found = cgmca.MCA().fit(X, Y).explained_
    for of, (target, source) in ((1, (X, Y)), (2, (Y, X))):
        target, source = standardized(target), standardized(source)
        fitted = source @ np.linalg.lstsq(source, target, rcond=None)[0]
        r2 = (fitted ** 2).sum(0) / (target ** 2).sum(0)
        shares = found.shares(of, by=3 - of)
        assert math.isclose(shares.standardized.total, r2.mean(), rel_tol=1e-10)
        np.testing.assert_allclose(found.translation[of - 1].features, r2, rtol=1e-9)
        np.testing.assert_allclose(found.shares(of, 3 - of).standardized.alone,
                                   (found.correlations(of, 3 - of) ** 2).mean(0), rtol=1e-12)
        assert math.isclose(found.importance[of - 1].sum(), 1, rel_tol=1e-12)
    assert math.isclose(found.shares(1).variance.total, 1, rel_tol=1e-12)
    np.testing.assert_allclose(found.shared(), np.corrcoef(X.T, Y.T)[:4, 4:], rtol=0, atol=1e-12)
    assert [name for name, _ in found.ranking(1)][0] in {f"feature {f}" for f in range(1, 5)}
    assert len(str(found).splitlines()) == 7


def test_r2_on_new_samples_is_that_of_the_translations():
    views = np.random.default_rng(3).normal(size=(120, 1)) + np.random.default_rng(4).normal(size=(3, 120, 4))
    model = cgmca.MCA(2, ridge=0.1).fit([view[:80] for view in views])
    new = [view[80:] for view in views]
    found = model.explain(new)
    estimate = model.translate([None, *new[1:]], target=1)
    errors, total = ((new[0] - estimate) ** 2).sum(0), ((new[0] - new[0].mean(0)) ** 2).sum(0)
    np.testing.assert_allclose(found.translation[0].features, 1 - errors / total, rtol=1e-10)
    assert math.isclose(found.translation[0].variance, 1 - errors.sum() / total.sum(), rel_tol=1e-10)
    with pytest.raises(ValueError):
        model.explain(new[:2])


def related(n, seed=0):
    random = np.random.default_rng(seed)
    causes = random.normal(size=(n, 5))
    return [causes @ random.normal(size=(5, d)) + 0.4 * random.normal(size=(n, d)) for d in (8, 6, 7)]


def test_diagnosis_finds_the_wrong_domain_of_three():
    views = related(200)
    views[2][[3, 4]] = views[2][[4, 3]]
    model = cgmca.MCA(5, ridge=0.01).fit(views)
    found = model.diagnose(views)
    assert {3, 4} <= set(found.rows("mispaired", "swapped")) and len(found.rows("mispaired", "swapped")) <= 4
    assert all(one.domain == 3 for one in found.suspects if one.sample in (3, 4) and one.partner is not None)
    parts = model.contributions(views, statistic="distance", domain=3)
    np.testing.assert_allclose(sum(part.sum(axis=1) for part in parts), found.domains[2].distance, rtol=1e-8)
    assert found.domains[0].rank.min() == 1 and np.median(found.domains[0].rank) <= 3
    with pytest.raises(ValueError, match="false discovery"):
        model.diagnose(views, false_discovery_rate=2)


def test_notes_tell_of_pairs_in_another_order():
    X, Y, _ = related(150)
    assert cgmca.MCA().fit(X, Y).notes_ == []
    assert "above chance" in cgmca.MCA().fit(X, np.random.default_rng(1).permutation(Y)).notes_[0]


def test_bootstrap_is_reproducible_and_knows_units():
    X, Y, _ = related(60)
    found = cgmca.bootstrap(X, Y, estimator=cgmca.CGMCA("data1", 2, ridge=0.1), n=40)
    again = cgmca.bootstrap(X, Y, estimator=cgmca.CGMCA("data1", 2, ridge=0.1), n=40)
    np.testing.assert_array_equal(found.domains[1].structure.lower, again.domains[1].structure.lower)
    assert found.replicas == 40 and found.correlations.estimate.shape == (2, 1)
    twice, units = [np.r_[A, A] for A in (X, Y)], np.tile(np.arange(60), 2)
    by_unit = cgmca.bootstrap(*twice, estimator=cgmca.MCA(2, ridge=0.1), n=60, groups=units)
    alone = cgmca.bootstrap(*twice, estimator=cgmca.MCA(2, ridge=0.1), n=60)
    ratio = by_unit.domains[0].structure.standard_error / alone.domains[0].structure.standard_error
    assert 1.1 < np.median(ratio) < 1.8  # copies are not independent: √2
    with pytest.raises(ValueError, match="groups"):
        cgmca.bootstrap(X, Y, groups=[1, 2])
