"""Samples that lack domains, wrong pairs, and domains that are added later."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import cgmca


@pytest.fixture
def views():
    random = np.random.default_rng(0)
    causes = random.normal(size=(160, 3))
    return [causes @ random.normal(size=(3, d)) + 0.5 * random.normal(size=(160, d)) for d in (6, 5, 4)]


def with_gaps(views, seed=1):
    random, gaps = np.random.default_rng(seed), [view.copy() for view in views]
    for view in gaps:
        view[random.uniform(size=len(view)) < 0.4] = np.nan
    return gaps


def quiet(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def test_without_gaps_keeping_them_changes_nothing(views):
    plain, kept = (cgmca.MCA(3, ridge=0.2).fit(*views[:2], missing=missing) for missing in ("error", "keep"))
    assert np.allclose(plain.A_[0], kept.A_[0], atol=1e-9) and plain.patterns_ == ()
    assert kept.patterns_ == (((1, 2), 160, 160.0),)


def test_a_fit_to_gaps_is_the_same_in_blocks_merged_and_from_a_file(views, tmp_path):
    gaps = with_gaps(views)
    whole = quiet(cgmca.MCA(3, ridge=0.3, random_starts=0).fit, gaps, missing="keep")
    parts = [cgmca.IncompleteSummary(6, 5, 4).add(*(view[rows] for view in gaps)) for rows in (slice(90), slice(90, 160))]
    merged = parts[1].merge(parts[0])
    merged.save(tmp_path / "s")
    loaded = cgmca.IncompleteSummary.load(tmp_path / "s")
    assert loaded.n_samples == whole.n_samples_ == sum(n for _, n, _ in loaded.patterns)
    for summary in (loaded, copy.copy(merged), pickle.loads(pickle.dumps(merged))):
        again = quiet(cgmca.MCA(3, ridge=0.3, random_starts=0).fit_summary, summary)
        assert all(np.allclose(one, other, atol=1e-7) for one, other in zip(again.A_, whole.A_))
    streamed = cgmca.MCA(3, ridge=0.3, random_starts=0)
    for rows in (slice(50), slice(50, 160)):
        quiet(streamed.partial_fit, [view[rows] for view in gaps], missing="keep")
    assert np.allclose(quiet(lambda: streamed.A_[0]), whole.A_[0], atol=1e-7)


def test_gaps_help_and_the_model_verifies(views):
    X, Y = views[:2]
    few = Y.copy()
    few[40:] = np.nan
    kept = cgmca.MCA(3, ridge=0.1).fit(X, few, missing="keep")
    assert [pattern.samples for pattern in kept.patterns_] == [120, 40]
    found = kept.verify(X, few, missing="keep")
    assert abs(found["objective"] - kept.certificate_.objective) < 1e-6 and max(found["claims"].values()) < 1e-6
    cgmca_error = np.mean((kept.translate(Y) - X) ** 2)
    assert cgmca_error < np.mean((quiet(cgmca.MCA(3, ridge=0.1).fit, X, few, missing="drop").translate(Y) - X) ** 2)
    extra = cgmca.MCA(3, ridge=0.1).fit(X[:40], Y[:40], missing="keep", extra=[X[40:], None])
    assert np.allclose(extra.A_[0], kept.A_[0], atol=1e-8)
    with pytest.raises(ValueError, match="keep"):
        cgmca.MCA(3, calibrate=5).fit(X, few, missing="keep")


def test_a_robust_fit_weighs_swapped_pairs_down(views):
    X, Y = views[:2]
    swapped = Y.copy()
    swapped[10:26] = Y[10:26][::-1]
    with pytest.warns(cgmca.FitWarning, match="pairs are probably wrong"):
        robust = cgmca.MCA(3).fit(X, swapped, robust=True)
    found = {suspect.pair for suspect in robust.pair_check_.suspects}
    assert len(found & set(range(10, 26))) >= 12 and len(found - set(range(10, 26))) <= 5
    error = [np.mean((model.translate(Y) - X) ** 2) for model in (cgmca.MCA(3).fit(X, swapped), robust)]
    assert error[1] < error[0]
    with pytest.raises(ValueError, match="two domains"):
        cgmca.MCA(3).fit(views, robust=True)
    with pytest.raises(ValueError, match="too little"):
        cgmca.check_pairs(X, np.random.default_rng(3).normal(size=Y.shape))


def test_a_domain_is_added_and_the_others_stay_as_they_are(views, tmp_path):
    X, Y, new = views
    model = cgmca.MCA(3).fit({"x": X[:100], "y": Y[:100]})
    three = model.add_domain("new", new[100:], matched={"y": Y[100:], "x": X[100:]}, weights=[1, 2])
    assert three.domain_names_ == ("x", "y", "new") and model.domain_names_ == ("x", "y")
    assert all(np.array_equal(one, other) for one, other in zip(model.A_, three.A_))
    added, = three.additions_
    assert added.matched == (2, 1) and added.weights == (1, 2) and added.samples == 60
    assert added.objective == pytest.approx(added.bound, abs=1e-12 * added.scale)
    summary = cgmca.Summary(5, 6, 4, names=["y", "x", "new"]).add(Y[100:], X[100:], new[100:])
    same = model.add_domain(None, summary, matched=["y", "x"], weights=[1, 2])
    assert np.allclose(same.A_[2], three.A_[2], atol=1e-12)
    cgmca.save(three, tmp_path / "m")
    loaded = cgmca.load(tmp_path / "m")
    assert np.array_equal(loaded.translate({"new": new}, target="x"), three.translate({"new": new}, target="x"))
    assert loaded.additions_[0].objective == added.objective
    with pytest.raises(ValueError, match="already has a domain"):
        three.add_domain("x", new, matched={"y": Y})
    with pytest.raises(ValueError, match="no domain 'z'"):
        model.add_domain("new", new, matched={"z": Y})
