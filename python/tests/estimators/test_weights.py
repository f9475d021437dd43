"""sample_weight: 2 is the pair twice, 0 leaves it out."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cgmca
from cgmca import CGMCA, MCA, Summary

TIMES = np.arange(200) % 4


def repeated(*arrays, times=TIMES):
    return [array.repeat(times, axis=0) for array in arrays]


def assert_same(one, two):
    for name in ("coef_", "intercept_", "canonical_correlations_"):
        assert np.allclose(getattr(one, name), getattr(two, name), rtol=1e-11, atol=1e-11), name
    for A, B in zip(one.A_, two.A_):
        assert np.allclose(A, B, rtol=1e-9, atol=1e-9)
    assert one.certificate_.objective == pytest.approx(two.certificate_.objective, rel=1e-10)


@pytest.mark.parametrize("estimator", [MCA(), CGMCA(covariance="data2", n_components=2), MCA(2, ridge="auto"),
                                       MCA(2, accumulate="gram"), MCA(2, accumulate="qr"),
                                       CGMCA("correlation", n_components=3, max_rank=4)])
def test_a_weight_of_two_is_the_pair_twice(pairs, estimator):
    X, Y = pairs
    weighted = clone(estimator).fit(X, Y, sample_weight=TIMES)
    assert_same(weighted, clone(estimator).fit(*repeated(X, Y)))
    found = weighted.verify(X, Y, sample_weight=TIMES)
    assert found["samples"] == 150 and found["total_weight"] == 300 and max(found["mean_residuals"]) < 1e-12
    assert max(weighted.verify(X, Y)["mean_residuals"]) > 1e-3


def test_weights_come_as_lists_series_and_in_single_precision(pairs):
    pandas = pytest.importorskip("pandas")
    X, Y = pairs
    expected = MCA().fit(X, Y, sample_weight=TIMES).coef_
    for weights in (TIMES.tolist(), pandas.Series(TIMES), TIMES.astype(np.float32), TIMES.astype(np.uint8)):
        assert np.array_equal(MCA().fit(X, Y, sample_weight=weights).coef_, expected)
    assert np.array_equal(MCA().fit(X, Y, sample_weight=np.ones(200)).coef_, MCA().fit(X, Y).coef_)
    assert np.array_equal(MCA().fit_transform(X, Y, sample_weight=TIMES),
                          MCA().fit(X, Y, sample_weight=TIMES).transform(X))


def test_weights_need_not_be_whole(pairs):
    X, Y = pairs
    w = np.random.default_rng(1).uniform(0, 2, size=200)
    model = MCA().fit(X, Y, sample_weight=w)
    mean = w @ X / w.sum()
    theta = (X - mean).T @ (w[:, None] * (X - mean)) / (w.sum() - 1)
    assert np.allclose(model.means_[0], mean)
    assert np.allclose(model.A_[0] @ theta @ model.A_[0].T, np.eye(6))


def test_partial_fit_and_summary_take_weights(pairs):
    X, Y = pairs
    whole = MCA().fit(*repeated(X, Y))
    model, summary = MCA(), Summary(8, 6)
    for rows in np.array_split(np.arange(200), 3):
        model.partial_fit(X[rows], Y[rows], sample_weight=TIMES[rows])
        assert summary.add(X[rows], Y[rows], sample_weight=TIMES[rows]) is summary
    assert_same(model, whole)
    assert_same(MCA().fit_summary(summary), whole)
    assert summary.n_samples == 150 and summary.total_weight == 300
    assert repr(summary) == "Summary(8, 6) of 150 pairs of the weight 300"
    copy = pickle.loads(pickle.dumps(summary))
    assert copy.total_weight == 300
    other = Summary(8, 6).add(X, Y).merge(copy)
    assert other.n_samples == 350 and other.total_weight == 500


def test_many_blocks_have_their_own_weights():
    random = np.random.default_rng(0)
    n = 200_000  # blocks of the binding hold 2^16 samples
    X, Y = random.normal(size=(n, 2)).astype(np.float32), random.normal(size=(n, 1))
    w = random.integers(0, 3, size=n)
    summary = Summary(2, 1).add(X, Y, sample_weight=w)
    assert summary.total_weight == w.sum() and summary.n_samples == (w > 0).sum()
    assert np.allclose(summary.means[0], w @ X.astype(float) / w.sum())
    before, w[-1] = pickle.dumps(summary), 1
    Y[-1] = np.nan
    with pytest.raises(ValueError, match=f"NaN at row {summary.n_samples + n - 1}, column 0"):
        summary.add(X, Y, sample_weight=w)
    assert pickle.dumps(summary) == before


def test_sparse_frames_and_gaps_keep_their_weights(pairs):
    pandas = pytest.importorskip("pandas")
    X, Y = pairs
    expected = MCA().fit(X, Y, sample_weight=TIMES)
    assert_same(MCA().fit(scipy.sparse.csr_matrix(X), Y, sample_weight=TIMES), expected)
    frames = pandas.DataFrame(X).add_prefix("x"), pandas.DataFrame(Y).add_prefix("y")
    assert_same(MCA().fit(*frames, sample_weight=TIMES), expected)
    gaps = X.copy()
    gaps[[5, 9, 30], 2] = np.nan
    kept = np.setdiff1d(np.arange(200), [5, 9, 30])
    with pytest.warns(UserWarning, match="3 of 200 pairs"):
        model = MCA().fit(gaps, Y, sample_weight=TIMES, missing="drop")
    assert_same(model, MCA().fit(X[kept], Y[kept], sample_weight=TIMES[kept]))
    only_zero = X.copy()
    only_zero[4] = np.nan  # of weight 0
    assert_same(MCA().fit(only_zero, Y, sample_weight=TIMES), expected)
    with pytest.raises(ValueError, match="NaN at row 5, column 2"):
        MCA().fit(gaps, Y, sample_weight=TIMES)


def test_error_bars_count_the_weights(pairs):
    X, Y = pairs
    weighted = MCA(2).fit(X, Y, sample_weight=TIMES).translate(Y, return_interval=0.9)
    twice = MCA(2).fit(*repeated(X, Y)).translate(Y, return_interval=0.9)
    for one, two in zip(weighted, twice):
        assert np.allclose(one, two, rtol=1e-9, atol=1e-9)
    kept = TIMES > 0
    one = MCA(2, calibrate=5).fit(X, Y, sample_weight=TIMES).translate(Y, return_std=True)[1]
    two = MCA(2, calibrate=5).fit(X[kept], Y[kept], sample_weight=TIMES[kept]).translate(Y, return_std=True)[1]
    assert np.array_equal(one, two)


def test_tune_and_permutation_test_take_weights(pairs):
    X, Y = pairs
    labels = (X[:, 0] > 5).astype(int)
    kept = TIMES > 0
    options = {"n_components": [1, 2, 3], "ridge": [0, 0.1]}
    for more in ({}, {"labels": labels}, {"criterion": "partner"}):
        alone = {"labels": labels[kept]} if "labels" in more else more
        one = cgmca.tune(X, Y, sample_weight=TIMES, **options, **more)
        two = cgmca.tune(X[kept], Y[kept], sample_weight=TIMES[kept], **options, **alone)
        assert one.params == two.params
        for trial, same in zip(one.trials, two.trials):
            assert trial.errors["translation"] == same.errors["translation"]
    plain = cgmca.tune(X[kept], Y[kept], **options)
    assert plain.trials[0].errors["translation"] != two.trials[0].errors["translation"]
    with pytest.warns(cgmca.FitWarning, match="weights that are not whole numbers"):
        found = cgmca.permutation_test(X, Y, sample_weight=TIMES / 2, permutations=99)
    assert found.rotations and found.significant == 4
    found = cgmca.permutation_test(X, Y, sample_weight=TIMES, permutations=99)
    rows = np.repeat(np.arange(len(X)), TIMES.astype(int))
    assert not found.rotations
    assert np.array_equal(found.p_values, cgmca.permutation_test(X[rows], Y[rows], permutations=99).p_values)
    with pytest.raises(ValueError, match="sample_weight belongs to pairs"):
        cgmca.permutation_test(Summary(8, 6).add(X, Y), sample_weight=TIMES)


def test_scikit_learn_passes_weights_on(pairs):
    X, Y = pairs
    pipeline = make_pipeline(StandardScaler(), MCA(2)).fit(X, Y, mca__sample_weight=TIMES)
    assert np.allclose(pipeline[-1].coef_, MCA(2).fit(pipeline[0].transform(X), Y, sample_weight=TIMES).coef_)
    name = "params" if _has_params() else "fit_params"
    assert np.isfinite(cross_val_score(MCA(2), X, Y, **{name: {"sample_weight": TIMES + 1}})).all()


def _has_params():
    import inspect
    return "params" in inspect.signature(cross_val_score).parameters


@pytest.mark.parametrize("bad, message", [
    (-1, "holds -1.0 at place 3"), (np.nan, "holds nan at place 3"), (np.inf, "holds inf at place 3")])
def test_bad_weights_are_named_with_their_place(pairs, bad, message):
    X, Y = pairs
    weights = np.ones(200)
    weights[[3, 7]] = bad
    for method in (MCA().fit, MCA().partial_fit, MCA().fit(X, Y).verify, cgmca.tune):
        with pytest.raises(ValueError, match=message):
            method(X, Y, sample_weight=weights)
    summary = Summary(8, 6)
    with pytest.raises(ValueError, match=r"weight 3 \(counted from 0\)"):
        summary.add(X, Y, sample_weight=weights)
    assert summary.n_samples == 0


def test_other_numbers_shapes_and_zeros_are_refused(pairs):
    X, Y = pairs
    for method in (MCA().fit, cgmca.tune, cgmca.permutation_test):
        with pytest.raises(ValueError, match="199 weights for 200 pairs"):
            method(X, Y, sample_weight=np.ones(199))
        with pytest.raises(ValueError, match="2 dimensions"):
            method(X, Y, sample_weight=np.ones((200, 2)))
        with pytest.raises(ValueError, match="all 200 weights of sample_weight are zero"):
            method(X, Y, sample_weight=np.zeros(200))
    with pytest.raises(ValueError, match="the weights sum to 0.5; a covariance needs more than 1"):
        MCA().fit(X, Y, sample_weight=np.full(200, 0.0025))
    with pytest.raises(ValueError, match="199 weights for 200 samples"):
        Summary(8, 6).add(X, Y, sample_weight=np.ones(199))
    with pytest.raises(ValueError, match="2 dimensions"):
        Summary(8, 6).add(X, Y, sample_weight=np.ones((200, 1)))
    empty = MCA().partial_fit(X, Y, sample_weight=np.zeros(200))  # a part may count nothing
    assert empty.summary_.n_samples == 0
    empty.partial_fit(X, Y)
    assert_same(empty, MCA().fit(X, Y))
