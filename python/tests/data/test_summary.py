"""Summary: blocks, merges, files, processes."""

import concurrent.futures
import pickle

import joblib
import numpy as np
import pytest

import cgmca
from cgmca import MCA, Summary
from conftest import make_pairs


def summarize(X, Y):
    return Summary(X.shape[1], Y.shape[1]).add(X, Y)


def same(one, two):
    return pickle.dumps(one) == pickle.dumps(two)


@pytest.mark.parametrize("accumulate, n, form", [("auto", 20, "rows"), ("qr", 500, "qr"), ("gram", 500, "gram")])
def test_blocks_of_any_size_give_the_same_bits(accumulate, n, form):
    X, Y = make_pairs(n=n)
    whole = Summary(8, 6, accumulate=accumulate).add(X, Y)
    parts = Summary(8, 6, accumulate=accumulate)
    for rows in np.array_split(np.arange(n), 7):
        parts.add(X[rows], Y[rows])
    assert whole.form == form and whole.accumulate == accumulate and same(whole, parts)
    assert whole.n_samples == n and whole.n_features == (8, 6)
    assert np.allclose(whole.means[0], X.mean(axis=0)) and np.allclose(whole.means[1], Y.mean(axis=0))


def test_more_than_one_block_is_added_whole_or_not_at_all():
    random = np.random.default_rng(0)
    n = 200_000  # blocks of the binding hold 2^16 samples
    X, Y = random.normal(size=(n, 2)).astype(np.float32), random.normal(size=(n, 1))
    summary = Summary(2, 1).add(X, Y)
    assert summary.n_samples == n
    assert np.allclose(summary.means[0], X.mean(axis=0, dtype=float))
    before = pickle.dumps(summary)
    Y[-1] = np.nan
    with pytest.raises(ValueError, match=f"NaN at row {2 * n - 1}, column 0"):
        summary.add(X, Y)
    assert pickle.dumps(summary) == before


def test_merging_is_adding():
    X, Y = make_pairs(n=600)
    merged = summarize(X[:250], Y[:250]).merge(summarize(X[250:], Y[250:]))
    assert merged.n_samples == 600
    expected, got = MCA().fit(X, Y), MCA().fit_summary(merged)
    assert np.allclose(got.canonical_correlations_, expected.canonical_correlations_, rtol=0, atol=1e-12)
    assert np.allclose(got.A_[0], expected.A_[0], rtol=0, atol=1e-9)
    assert summarize(X, Y).merge(Summary(8, 6)).n_samples == 600
    twice = summarize(X, Y)
    assert twice.merge(twice).n_samples == 1200


def test_summaries_come_back_from_joblib_and_other_processes():
    X, Y = make_pairs(n=900)
    parts = [(X[rows], Y[rows]) for rows in np.array_split(np.arange(900), 4)]
    by_joblib = joblib.Parallel(n_jobs=2)(joblib.delayed(summarize)(*part) for part in parts)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        by_pool = list(pool.map(summarize, *zip(*parts)))
    for summaries in (by_joblib, by_pool):
        total = summaries[0]
        for more in summaries[1:]:
            total.merge(more)
        model = MCA().fit_summary(total)
        assert model.n_samples_ == 900
        assert np.allclose(model.canonical_correlations_, MCA().fit(X, Y).canonical_correlations_, atol=1e-12)


def test_files_bring_back_every_bit(tmp_path):
    summary = summarize(*make_pairs(n=500))
    path = str(tmp_path / "monday.cgs")
    summary.save(path, note="sensor 3")
    again = Summary.load(path)
    assert same(summary, again)
    assert repr(again) == "Summary(8, 6) of 500 pairs"


def test_errors(tmp_path, pairs):
    X, Y = pairs
    for bad, kind, message in [
        (lambda: Summary(0, 3), ValueError, "0 and 3 features; both need at least 1"),
        (lambda: Summary(8, 6).add(X, Y[:, :5]), ValueError, "domain 2 has 6 features in this summary"),
        (lambda: Summary(8, 6).add(X, Y[:7]), ValueError, "domain 1 has 200 samples and domain 2 has 7"),
        (lambda: Summary(8, 6).add(X[0], Y), ValueError, r"X has 1 dimension; an array of shape \(samples"),
        (lambda: Summary(8, 6).add(X, Y.astype(complex)), TypeError, "y holds complex128; real numbers"),
        (lambda: Summary(8, 6).add(X, "words"), TypeError, "y holds"),
        (lambda: Summary(8, 6).merge(Summary(8, 5)), ValueError, "cannot merge"),
        (lambda: MCA().fit_summary(Summary(8, 6)), ValueError, "0 matched pairs; a covariance needs"),
        (lambda: Summary.load(str(tmp_path / "none")), FileNotFoundError, "none"),
        (lambda: Summary.load(str(tmp_path)), OSError, "not a regular file"),
        (lambda: Summary(8, 6).save(str(tmp_path / "no" / "where")), OSError, "cannot"),
    ]:
        with pytest.raises(kind, match=message):
            bad()
    (tmp_path / "text").write_text("this is no summary at all")
    with pytest.raises(ValueError, match="not a safetensors file"):
        Summary.load(str(tmp_path / "text"))
    cgmca.save(MCA().fit(X, Y), tmp_path / "model")
    with pytest.raises(ValueError, match="a cgmca-model, not a cgmca-summary"):
        Summary.load(str(tmp_path / "model"))


def test_merging_puts_features_in_another_order_right_and_warns():
    X = np.random.default_rng(8).normal(size=(60, 3))
    one = cgmca.Summary(3, feature_names=[["a", "b", "c"]]).add(X[:30])
    two = cgmca.Summary(3, feature_names=[["c", "b", "a"]]).add(X[30:, ::-1])
    with pytest.warns(UserWarning, match="2 features of the other summary are put into the order of this one"):
        one.merge(two)
    assert np.allclose(one.means[0], X.mean(axis=0))
    with pytest.raises(ValueError, match="other names"):
        one.merge(cgmca.Summary(3, feature_names=[["a", "b", "d"]]).add(X))


def test_files_are_named_by_text_or_path(tmp_path):
    summary = cgmca.Summary(2, 1).add(np.ones((3, 2)), np.ones((3, 1)))
    summary.save(tmp_path / "by path")
    summary.save(str(tmp_path / "by text"))
    for name in ("by path", "by text"):
        assert same(cgmca.Summary.load(tmp_path / name), summary)
        assert same(cgmca.Summary.load(str(tmp_path / name)), summary)
    with pytest.raises(FileNotFoundError, match="absent"):
        cgmca.Summary.load(tmp_path / "absent")
