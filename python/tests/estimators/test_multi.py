"""Any number of domains: lists and dicts in place of X and Y, and what the certificate says of them."""

import copy
import json
import pickle
import textwrap
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import cgmca
from cgmca import CGMCA, MCA, Covariance, FitWarning, Summary
from conftest import ROOT, interrupt, make_pairs, make_views

ORACLE = ROOT / "tests" / "fixtures" / "oracle" / "multi"
DATA_CASES = sorted(path.stem for path in ORACLE.glob("*.json"))
NAMES = ["optical", "radar", "infrared"]


def named(views):
    return dict(zip(NAMES, views))


def oracle_case(name):
    answer = json.loads((ORACLE / f"{name}.json").read_text())
    m = answer["domains"]
    views = [np.load(ORACLE / f"{name}.x{i + 1}.npy") for i in range(m)]
    covariances = [np.load(ORACLE / spec[5:]) if spec.startswith("file:") else np.eye(int(spec.partition(":")[2]))
                   for spec in answer["cov"]]
    return views, covariances, answer


@pytest.fixture
def model(views):
    return MCA(3).fit(named(views))


# Fitting


@pytest.mark.parametrize("name", DATA_CASES)
def test_oracle_cases_reach_the_objective_and_are_certified(name):
    views, covariances, answer = oracle_case(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing to say against them
        model = CGMCA(covariances, graph=np.array(answer["weights"])).fit(views)
    certificate = model.certificate_
    assert certificate.objective == pytest.approx(answer["objective"], rel=1e-9)
    assert certificate.certified and certificate.gap <= 1e-9 and certificate.excess < 1e-8
    assert max(certificate.constraint_residuals) < 1e-10
    assert np.array_equal(certificate.weights, answer["weights"])
    assert certificate.proof in ("identity", "commuting", "dense", "ADMM")
    for Z, C in zip(model.transform(views), covariances):
        assert np.allclose(np.cov(Z.T), C, atol=1e-9 * np.abs(C).max())


@pytest.mark.parametrize("settings", [dict(), dict(covariance="data2", n_components=3, ridge=0.1), dict(calibrate=5),
                                      dict(n_components=2, max_rank=[4, 5], ridge=["auto", 0.5])])
def test_a_list_of_two_is_fit_of_X_and_Y_to_the_bit(settings):
    X, Y = make_pairs()
    pair, listed = CGMCA(**settings).fit(X, Y), CGMCA(**settings).fit([X, Y])
    by_name = CGMCA(**settings).fit({"one": X, "two": Y})
    for other in (listed, by_name):
        for A, B in zip(pair.A_, other.A_):
            assert np.array_equal(A, B)
        assert np.array_equal(pair.canonical_correlations_, other.canonical_correlations_)
        assert other.certificate_.objective == pair.certificate_.objective
        assert np.array_equal(pair.translate(Y), other.translate([None, Y]))
        assert np.array_equal(pair.fuse(X, Y), other.fuse([X, Y]))
        assert np.array_equal(pair.predict(X), other.predict(X)) and pair.score(X, Y) == other.score(X, Y)
        assert pair.verify(X, Y) == other.verify([X, Y])
    assert by_name.domain_names_ == ("one", "two") and pair.domain_names_ == (None, None)
    assert np.array_equal(by_name.translate({"two": Y}, target="one"), pair.translate(Y))
    assert pair.certificate_.certified and pair.certificate_.proof == "closed form" and not pair.certificate_.starts


def test_list_tuple_dict_and_nested_lists_are_the_same_fit(views):
    expected = MCA(3).fit(views)
    for given in (tuple(views), named(views), [view.tolist() for view in views]):
        assert all(np.array_equal(A, B) for A, B in zip(MCA(3).fit(given).A_, expected.A_))
    assert expected.n_domains_ == 3 and expected.domain_names_ == (None,) * 3
    assert MCA(3).fit(named(views)).domain_names_ == tuple(NAMES)
    assert expected.n_features_in_ == 8 and expected.n_components_ == 3 and expected.n_samples_ == 200
    assert [A.shape for A in expected.A_] == [(3, 8), (3, 6), (3, 5)] and expected.ranks_ == (8, 6, 5)


def test_one_setting_for_all_or_one_each(views):
    one = CGMCA("identity", 2, ridge=0.1, max_rank=4).fit(views)
    each = CGMCA(["identity"] * 3, 2, ridge=[0.1] * 3, max_rank=(4, 4, 4)).fit(views)
    assert all(np.array_equal(A, B) for A, B in zip(one.A_, each.A_))
    mixed = CGMCA(("data3", np.eye(5), Covariance.diagonal([1, 2, 3, 4, 5])), 3, ridge=(0, "auto", 0.2),
                  max_rank=[None, 5, None]).fit(views)
    Z = mixed.apply(views[0])
    assert np.linalg.matrix_rank(np.cov(Z.T), tol=1e-9) == 3
    assert mixed.certificate_.constrained[1].ridge > 0 == mixed.certificate_.constrained[0].ridge


@pytest.mark.parametrize("graph, weights", [
    ("full", [[0, 1, 1], [1, 0, 1], [1, 1, 0]]), ("path", [[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
    ("star:3", [[0, 0, 1], [0, 0, 1], [1, 1, 0]]),
    ([[0, 2, 0], [2, 0, 3], [0, 3, 0]], [[0, 2, 0], [2, 0, 3], [0, 3, 0]]),
])
def test_graphs(tmp_path, views, graph, weights):
    model = CGMCA(n_components=2, graph=graph).fit(views)
    assert np.array_equal(model.certificate_.weights, weights)
    Z = model.transform(views)
    distance = sum(weights[i][j] * ((Z[i] - Z[j]) ** 2).sum(1).mean() for i in range(3) for j in range(i))
    assert model.certificate_.objective == pytest.approx(distance, rel=1e-9)
    cgmca.save(model, tmp_path / "model")
    assert np.array_equal(np.asarray(cgmca.load(tmp_path / "model").graph), np.asarray(graph))


def test_the_search_is_the_same_for_the_same_random_state(views):
    one, two = (MCA(3, random_state=7, random_starts=4).fit(views) for _ in range(2))
    assert all(np.array_equal(A, B) for A, B in zip(one.A_, two.A_))
    assert one.certificate_.starts == two.certificate_.starts
    assert sum(start.kind == "random" for start in one.certificate_.starts) == 4
    drawn = [MCA(3, random_state=np.random.RandomState(3)).fit(views).certificate_.starts for _ in range(2)]
    assert drawn[0] == drawn[1]
    MCA(3, random_state=None).fit(views)


def test_the_search_ends_when_its_time_is_over(views):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        certificate = MCA(3, random_starts=3000, max_seconds=0.01).fit(views).certificate_
    # It ends in the middle of a start or between two.
    assert certificate.stopped_early and len(certificate.starts) < 3000


def test_the_certificate_tells_of_every_start(model):
    certificate = model.certificate_
    assert len(certificate.starts) >= 5 and certificate.sweeps == sum(start.sweeps for start in certificate.starts)
    for start in certificate.starts:
        assert isinstance(start, cgmca.Start) and start.converged and start.f_below_best >= 0
    assert min(start.f_below_best for start in certificate.starts) == 0 and not certificate.stopped_early
    assert certificate.certified and certificate.proof == "identity" and certificate.gap <= 1e-9


def test_an_optimum_that_is_not_proven_is_a_warning():
    """Of domains that have nothing to do with each other the bound is loose."""
    views = [np.random.default_rng(seed).normal(size=(200, 10)) for seed in range(4)]
    with pytest.warns(FitWarning, match="not proven to be the best: .* within 0.63 % of .*bound: ADMM") as caught:
        model = MCA(3, max_sweeps=1, random_starts=0, max_seconds=60).fit(views)
    assert caught[0].filename == __file__
    certificate = model.certificate_
    assert not certificate.certified and 0.006 < certificate.gap < 0.007 and certificate.stopped_early
    assert not all(start.converged for start in certificate.starts) and certificate.bound < certificate.objective
    found = model.verify(views)
    assert not found["certified"] and found["gap"] == pytest.approx(certificate.gap, rel=1e-3)
    assert found["best_objective"] == pytest.approx(certificate.bound, rel=1e-6)


def test_weights_count_samples(views):
    times = np.arange(200) % 3
    weighted = MCA(3).fit(views, sample_weight=times)
    repeated = MCA(3).fit([view.repeat(times, axis=0) for view in views])
    assert all(np.allclose(A, B, atol=1e-9) for A, B in zip(weighted.A_, repeated.A_))
    assert weighted.certificate_.objective == pytest.approx(repeated.certificate_.objective, rel=1e-9)
    assert weighted.verify(views, sample_weight=times)["objective"] == pytest.approx(
        weighted.certificate_.objective, rel=1e-9)
    with pytest.raises(ValueError, match="3 weights for 200"):
        MCA(3).fit(views, sample_weight=[1, 2, 3])


def test_partial_fit_and_summaries_are_the_fit(views):
    expected = MCA(3).fit(named(views))
    parts = MCA(3)
    for rows in (slice(0, 50), slice(50, 51), slice(51, 200)):
        parts.partial_fit({name: view[rows] for name, view in named(views).items()})
    summary = Summary(8, 6, 5, names=NAMES).add(*views)
    for model in (parts, MCA(3).fit_summary(summary)):
        assert all(np.allclose(A, B, atol=1e-9) for A, B in zip(model.A_, expected.A_))
        assert model.domain_names_ == tuple(NAMES)
    assert parts.summary_.n_samples == 200
    backwards = MCA(3).partial_fit(named(views)).partial_fit(dict(reversed(list(named(views).items()))))
    assert np.allclose(backwards.means_[2], views[2].mean(0))
    again = pickle.loads(pickle.dumps(MCA(3).partial_fit(views)))  # before its fit
    assert all(np.allclose(A, B, atol=1e-9) for A, B in zip(again.A_, expected.A_))


def test_extra_samples_better_a_domain():
    every = make_views(n=700)
    views, more = [view[:200] for view in every], [view[200:] for view in every]
    by_list = MCA(3, ridge=0.1).fit(views, extra=[None, more[1], None])
    by_name = MCA(3, ridge=0.1).fit(named(views), extra={"radar": more[1]})
    from_summary = MCA(3, ridge=0.1).fit_summary(Summary(8, 6, 5).add(*views), extra=[None, more[1], None])
    assert np.allclose(by_list.means_[1], np.r_[views[1], more[1]].mean(0))
    assert by_list.certificate_.constrained[1].samples == 700 and by_list.certificate_.constrained[0].samples == 200
    for other in (by_name, from_summary):
        assert all(np.array_equal(A, B) for A, B in zip(by_list.A_, other.A_))
    X, Y = make_pairs()
    pair = MCA(2, ridge=1).fit(X, Y, extra=[None, Y[:50]])
    assert np.array_equal(pair.A_[1], MCA(2, ridge=1).fit([X, Y], extra=[None, Y[:50]]).A_[1])


# Using the maps


def test_transform_gives_as_many_arrays_as_it_gets(views, model):
    Z = model.transform(views)
    assert isinstance(Z, list) and len(Z) == 3
    for number, (rows, A, mean, name) in enumerate(zip(views, model.A_, model.means_, NAMES), start=1):
        assert np.allclose(Z[number - 1], (rows - mean) @ A.T)
        assert np.array_equal(Z[number - 1], model.apply(rows, domain=number))
        assert np.array_equal(Z[number - 1], model.apply(rows, domain=name))
        assert np.allclose(np.cov(Z[number - 1].T), np.eye(3))
    found = model.transform({"infrared": views[2], "optical": views[0]})
    assert list(found) == ["infrared", "optical"] and np.array_equal(found["infrared"], Z[2])
    part = model.transform([None, views[1], None])
    assert part[0] is None and part[2] is None and np.array_equal(part[1], Z[1])
    assert np.array_equal(model.transform(views[0]), Z[0])
    assert all(np.array_equal(a, b) for a, b in zip(MCA(3).fit_transform(views), Z))
    by_name = MCA(3).set_output(transform="pandas").fit_transform(named(views))
    assert list(by_name) == NAMES and np.array_equal(by_name["radar"], Z[1])


def test_points_go_back_to_samples(views, model):
    Z = model.transform(named(views))
    for method in ("exact", "mahalanobis"):
        back = model.inverse_transform(Z, method=method)
        for name, points in model.transform(back).items():
            assert np.allclose(points, Z[name])
    assert model.inverse_transform([None, None, Z["infrared"]])[2].shape == (200, 5)
    with pytest.raises(ValueError, match="lmmse needs to know which of 3 domains"):
        model.inverse_transform(Z, method="lmmse")


def test_correlations_of_every_pair(views, model):
    Z = model.transform(views)
    for i in range(3):
        for j in range(3):
            expected = [np.corrcoef(Z[i][:, p], Z[j][:, p])[0, 1] for p in range(3)]
            assert np.allclose(model.common_correlations_[i, j], expected)


def least_squares(inputs, target):
    one = np.c_[np.ones(len(target)), np.hstack(inputs)]
    return one @ np.linalg.lstsq(one, target, rcond=None)[0]


def test_translation_from_any_set_to_any(views):
    model = MCA().fit(named(views))  # 5 components: all of domain 3
    X1, X2, X3 = views
    found = model.translate([X2, X3], source=[2, 3], target=1)
    scores = [model.apply(X2, 2), model.apply(X3, 3)]
    assert np.allclose(found, least_squares(scores, X1))
    same = [model.translate([X3, X2], source=[3, 2]), model.translate([None, X2, X3], target=1),
            model.translate({"radar": X2, "infrared": X3}, target="optical"),
            model.translate({3: X3, "radar": X2}, target="optical"),
            model.translate([X2, X3], source=["radar", "infrared"], target="optical")]
    assert all(np.allclose(found, other) for other in same)
    for source in range(1, 4):
        for target in range(1, 4):
            if source != target:
                rows = model.translate(views[source - 1], source, target)
                assert np.allclose(rows, least_squares([model.apply(views[source - 1], source)], views[target - 1]))
                for method in ("exact", "mahalanobis", "lsqr"):
                    other = model.translate(views[source - 1], source, target, method)
                    assert other.shape == views[target - 1].shape
    assert np.linalg.norm(found - X1) < np.linalg.norm(model.translate(X2, source="radar") - X1)


def test_a_sample_that_lacks_a_domain_is_translated_and_fused_from_the_others(views, model):
    X1, X2, X3 = views
    holes = X2.copy()
    holes[::2, 1] = np.nan
    found = model.translate([holes, X3], source=[2, 3])
    assert np.allclose(found[::2], model.translate(X3[::2], source=3))
    assert np.allclose(found[1::2], model.translate([X2[1::2], X3[1::2]], source=[2, 3]))
    fused = model.fuse([X1, holes, X3])
    assert np.allclose(fused[1::2], np.mean([Z[1::2] for Z in model.transform(views)], axis=0))
    assert np.allclose(fused[::2], model.fuse([X1[::2], None, X3[::2]]))
    assert np.allclose(fused[::2], model.fuse({"infrared": X3[::2], "optical": X1[::2]}))
    assert np.allclose(model.fuse([X1, None, X3], method="mean"), (model.apply(X1) + model.apply(X3, 3)) / 2)
    # The estimate is the regression of the mean of all points on the scores that are there.
    Z1, Z2, Z3 = model.transform(views)
    assert np.allclose(model.fuse([X1, None, X3]), least_squares([Z1, Z3], (Z1 + Z2 + Z3) / 3))
    nowhere = X3.copy()
    nowhere[4] = np.nan
    with pytest.raises(ValueError, match=r"1 sample has no domain without NaN; the first is sample 4"):
        model.translate([holes, nowhere], source=[2, 3])
    passed, errors = model.translate([holes, nowhere], source=[2, 3], missing="pass", return_std=True)
    assert np.isnan(passed[4]).all() and np.isnan(errors[4]).all() and np.isfinite(np.delete(passed, 4, axis=0)).all()


def test_error_bars_hold_for_new_samples():
    views = make_views(n=2400)
    model = MCA(calibrate=10).fit([view[:400] for view in views])
    new = [view[400:] for view in views]
    found, error = model.translate(new[1:], source=[2, 3], target=1, return_std=True)
    assert 0.93 < np.sqrt(np.mean(((new[0] - found) / error) ** 2)) < 1.07
    same, low, high = model.translate(new[1:], source=[2, 3], target=1, return_interval=0.9)
    assert np.array_equal(same, found) and 0.88 < np.mean((low < new[0]) & (new[0] < high)) < 0.92
    one, one_error = model.translate(new[1], source=2, target=1, return_std=True)
    assert 0.9 < np.sqrt(np.mean(((new[0] - one) / one_error) ** 2)) < 1.1 and one_error.mean() > error.mean()


def test_verify_computes_everything_anew(views, model):
    found = model.verify(views)
    assert found == model.verify(named(views))
    assert found["objective"] == pytest.approx(model.certificate_.objective, rel=1e-9)
    assert found["certified"] and found["proof"] == "identity" and found["gap"] < 1e-8
    assert found["best_objective"] == pytest.approx(found["objective"], rel=1e-6) and found["samples"] == 200
    assert max(found["constraint_residuals"]) < 1e-10 and len(found["mean_residuals"]) == 3
    assert max(model.verify([view[:100] for view in views])["constraint_residuals"]) > 1e-3


# Tables, files, copies


def test_tables_keep_their_names(views):
    frames = {name: pd.DataFrame(view, columns=[f"{name}{j}" for j in range(view.shape[1])], index=range(7, 207))
              for name, view in named(views).items()}
    model = MCA(3).fit(frames)
    assert list(model.feature_names_in_) == list(frames["optical"].columns)
    assert model.feature_names_ == tuple(list(frame.columns) for frame in frames.values())
    turned = frames["infrared"][frames["infrared"].columns[::-1]]
    with pytest.warns(UserWarning, match="the columns of X3 are in another order"):
        found = model.translate({"radar": frames["radar"], "infrared": turned}, target="optical")
    assert list(found.columns) == list(frames["optical"].columns) and list(found.index) == list(range(7, 207))
    assert np.allclose(found, MCA(3).fit(views).translate(views[1:], source=[2, 3]))
    with pytest.raises(ValueError, match="X3: The feature names should match"):
        model.apply(frames["infrared"].rename(columns={"infrared0": "else"}), "infrared")
    sparse = MCA(3).fit([scipy.sparse.csr_matrix(view) for view in views])
    assert np.allclose(sparse.A_[2], model.A_[2], atol=1e-9)
    assert np.allclose(sparse.fuse([None, scipy.sparse.csr_matrix(views[1]), None]), model.fuse({"radar": views[1]}))


def test_missing_values(views):
    holes = [view.copy() for view in views]
    holes[2][17, 3] = np.nan
    with pytest.raises(ValueError, match="domain 3 holds NaN at row 17, column 3.* rows of X3; missing='drop' leaves"):
        MCA(3).fit(holes)
    with pytest.warns(UserWarning, match="1 of 200 samples were left out because they hold NaN"):
        dropped = MCA(3).fit(holes, missing="drop")
    assert np.array_equal(dropped.A_[0], MCA(3).fit([np.delete(view, 17, axis=0) for view in views]).A_[0])
    with pytest.raises(ValueError, match="domain 3 holds NaN at row 17"):
        dropped.transform(holes)
    assert np.isnan(dropped.transform(holes, missing="pass")[2][17]).all()


@pytest.mark.parametrize("settings", [
    dict(n_components=3), dict(covariance="correlation", n_components=2, graph="star:1", ridge="auto"),
    dict(covariance=("identity", "data2", "identity"), n_components=6, ridge=(0.25, 0.0, "auto"),
         max_rank=(None, 6, None)),
    dict(n_components=2, graph="path", random_state=5, random_starts=1, max_sweeps=700, max_seconds=30.0, rank_tol=1e-9),
    dict(n_components=2, calibrate=4),
])
def test_load_restores_every_setting(tmp_path, settings):
    views = make_views(features=(8, 6, 7))
    model = CGMCA(**settings).fit(named(views))
    cgmca.save(model, tmp_path / "model")
    again = cgmca.load(tmp_path / "model")
    assert again.get_params() == CGMCA(**settings).get_params()
    assert again.domain_names_ == tuple(NAMES) and again.certificate_.starts == model.certificate_.starts
    assert all(np.array_equal(A, B) for A, B in zip(again.A_, model.A_))
    assert np.array_equal(again.translate(views[1:], [2, 3]), model.translate(views[1:], [2, 3]))
    assert np.array_equal(clone(again).fit(views).A_[0], model.A_[0])
    cgmca.save(model, tmp_path / "one", domain="radar")
    alone = cgmca.load(tmp_path / "one")
    assert np.array_equal(alone.apply(views[1], 2), model.apply(views[1], "radar"))
    assert alone.A_[0] is None and alone.domain_names_ == (None, "radar", None)
    with pytest.raises(ValueError, match="holds only domain 2; the operation needs domain 1 too"):
        alone.apply(views[0], 1)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies(views, model, copied):
    again = copied(model)
    assert np.array_equal(again.fuse(views), model.fuse(views))
    assert again.certificate_.starts == model.certificate_.starts
    assert again.get_params() == model.get_params() == clone(model).get_params()


# What is only for two, and what is refused


@pytest.mark.parametrize("name", ["canonical_correlations_", "x_rotations_", "y_rotations_", "x_weights_", "y_weights_",
                                  "x_loadings_", "y_loadings_", "coef_", "intercept_", "feature_names_y_"])
def test_attributes_of_two_domains_say_so(model, name):
    with pytest.raises(AttributeError, match=r"_ is about two domains, and this fit has 3; \w+"):
        getattr(model, name)
    assert not hasattr(model, name) and hasattr(MCA(2).fit(*make_pairs()), name)


def test_predict_and_score_are_for_two_domains(views, model):
    for use in (lambda: model.predict(views[0]), lambda: model.score(views[0], views[1])):
        with pytest.raises(ValueError, match="goes from X to y, .* this fit has 3: use translate"):
            use()
    with pytest.raises(ValueError, match=r"fuse\(X, y\) is for two domains, and this fit has 3"):
        model.fuse(views[0], views[1])
    with pytest.raises(ValueError, match=r"verify\(X, y\) is for two domains, and this fit has 3"):
        model.verify(views[0], views[1])


@pytest.mark.parametrize("change, message", [
    (lambda v: v[:2] + [v[2][1:]], "domain 1 has 200 samples and domain 3 has 199; matched samples need as many"),
    (lambda v: v[:1], "samples of 1 domain; MCA matches those of at least 2"),
    (lambda v: [v[0], None, v[2]], "domain 2 is absent; a fit needs samples of all 3 domains"),
    (lambda v: {"a": v[0], "b": None, "c": v[2]}, r"domain 2 \('b'\) is absent"),
    (lambda v: [v[0], v[1], np.ones((200, 4))], "domain 3.*constant|variance"),
    (lambda v: [v[0], v[1], v[2] + 1j], "X3 holds complex numbers"),
    (lambda v: [v[0] + 1j, v[1], v[2]], "X1 holds complex numbers"),
    (lambda v: [v[0], np.ones((2, 2, 2)), v[2]], "dim 3"),
])
def test_samples_that_cannot_be_fitted(views, change, message):
    with pytest.raises(ValueError, match=message):
        MCA(2).fit(change(views))


@pytest.mark.parametrize("settings, message", [
    (dict(graph="circle"), "graph 'circle' is not known: use full, star:D"),
    (dict(graph="star:4"), "the centre of a star must be a domain from 1 to 3"),
    (dict(graph=np.ones((2, 2))), "the weights are 2×2, but 3 domains need 3×3"),
    (dict(graph=np.ones((3, 3))), r"weight \(1, 1\) is 1; a domain's weight with itself must be 0"),
    (dict(graph=[[0, 1, 2], [1, 0, 1], [1, 1, 0]]), r"weight \(1, 3\) is 2 but weight \(3, 1\) is 1"),
    (dict(graph=[[0, -1, 1], [-1, 0, 1], [1, 1, 0]]), r"weight \(1, 2\) is -1; weights must not be negative"),
    (dict(graph=[[0, 1, 0], [1, 0, 0], [0, 0, 0]]), "no path of positive weights connects domain 3 with domain 1"),
    (dict(covariance=["identity"] * 2), "covariance has 2 entries for 3 domains; give one for all, or one for each"),
    (dict(ridge=(0.1, 0.2)), "ridge has 2 entries for 3 domains"),
    (dict(max_rank=[1] * 4), "max_rank has 4 entries for 3 domains"),
    (dict(covariance="data4", n_components=2), "no covariance 'data4': give 'identity', 'data1' to 'data3'"),
    (dict(covariance="likelihood2", n_components=None), "compares the samples of two domains; there are 3"),
    (dict(n_components=6), "domain 3 has rank 5.*n_components is 6, at most 5 is possible"),
    (dict(random_state=-1), "random_state is -1"), (dict(random_starts=-1), "random_starts is -1"),
    (dict(max_sweeps=0), "max_sweeps is 0"), (dict(max_seconds=0), "max_seconds is 0"),
])
def test_settings_that_cannot_be(views, settings, message):
    with pytest.raises(ValueError, match=message) as caught:
        CGMCA(**{"n_components": 2, **settings}).fit(views)
    assert not hasattr(caught.value, "domain") or (caught.value.domain, caught.value.data_rank) == (3, 5)


def test_settings_of_another_kind(views):
    for settings in (dict(random_starts=1.5), dict(max_sweeps=None), dict(max_seconds="long"), dict(graph=None)):
        with pytest.raises(TypeError):
            MCA(2, **settings).fit(views)


@pytest.mark.parametrize("use, message", [
    (lambda m, v: m.transform(v[:2]), "samples of 2 domains; there are 3. Give an array for each, None for a domain"),
    (lambda m, v: m.transform({"sonar": v[0]}), "no domain 'sonar': they are called 'optical', 'radar', 'infrared'"),
    (lambda m, v: m.transform({"optical": v[0], 1: v[0]}), "domain 1 is given twice"),
    (lambda m, v: m.apply(v[0], 4), "there is no domain 4: give a number from 1 to 3"),
    (lambda m, v: m.apply(v[0], 2), "6 features|has 8"),
    (lambda m, v: m.translate(v[1]), "source must say which of the 3 domains"),
    (lambda m, v: m.translate(v[1:], [2]), "source names 1 of the domains, and there are 2 arrays"),
    (lambda m, v: m.translate(v[1:], [2, 2]), "twice|5"),
    (lambda m, v: m.translate(v, target=1), "from domain 1 to itself"),
    (lambda m, v: m.translate(v[1:], [2, 3], method="exact"), "'exact' translates from one domain; from 2 together"),
    (lambda m, v: m.translate(v[1:], [2, 3], iterations=3), "needs no iterations"),
    (lambda m, v: m.translate({"radar": v[1]}, source=2), "leave source out"),
    (lambda m, v: m.translate([v[1], v[2][1:]], [2, 3]), "200 samples of domain 2, 199 of domain 3"),
    (lambda m, v: m.fuse([None] * 3), "fuse needs samples of at least one domain"),
    (lambda m, v: m.fuse([v[0], None, v[2][1:]]), "200 samples of domain 1, 199 of domain 3"),
    (lambda m, v: m.fuse([v[0], None, v[2] * np.inf]), "domain 3 holds infinity"),
    (lambda m, v: m.verify([v[0], None, v[2]]), r"domain 2 \('radar'\) is absent; verify needs"),
    (lambda m, v: m.verify(v[:2]), "samples of 2 domains; there are 3"),
    (lambda m, v: cgmca.save(m, "x", domain="sonar"), "no domain 'sonar'"),
    (lambda m, v: MCA(2).fit(v, extra=[v[0], None]), "samples of 2 domains; there are 3"),
    (lambda m, v: MCA(2).fit(v, extra=[v[0]]), "samples of 1 domain; there are 3"),
    (lambda m, v: MCA(2).partial_fit(v).partial_fit(v[:2]), "samples of 2 domains; there are 3"),
    (lambda m, v: MCA(2).partial_fit(v).partial_fit(named(v)), "no domain 'optical': the domains have no names"),
    (lambda m, v: MCA(2).partial_fit(v).partial_fit(v[0], v[1]), "samples of 2 domains; those before were of 3"),
])
def test_uses_that_cannot_be(views, model, use, message):
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=message):
        use(model, views)


def test_several_domains_beside_a_second_are_refused(views):
    for given in (views, named(views)):
        for use in (lambda: MCA(2).fit(given, views[1]), lambda: MCA(2).partial_fit(given, y=views[1])):
            with pytest.raises(ValueError, match="X holds samples of several domains, and y is given too"):
                use()


def test_a_fit_comes_first(views):
    for use in (lambda m: m.transform(views), lambda m: m.fuse(views), lambda m: m.verify(views),
                lambda m: m.translate(views[1:], [2, 3]), lambda m: m.common_correlations_, lambda m: m.domain_names_):
        with pytest.raises(NotFittedError):
            use(MCA(2))


def test_names_are_text(views):
    with pytest.raises(TypeError, match="a dict of domains has their names as keys, and 1 is not a name"):
        MCA(2).fit({1: views[0], 2: views[1]})
    with pytest.raises(TypeError, match="by its number or its name"):
        MCA(2).fit(views).apply(views[0], 1.5)


def test_a_list_of_samples_is_still_a_list_of_samples():
    X, Y = make_pairs()
    model = MCA(2).fit(X.tolist(), Y.tolist())
    assert np.array_equal(model.transform(list(X)), model.transform(X))
    assert np.array_equal(model.transform(scipy.sparse.dok_matrix(X)), model.transform(X))  # which is a dict
    with pytest.raises(ValueError, match="requires y to be passed"):
        MCA(2).fit(X.tolist())


def test_progress_is_told_and_may_stop_the_search(views):
    told = []
    MCA(2, random_starts=2).fit(views, progress=told.append)
    assert {one.stage for one in told} >= {"spectral", "tree", "random"} and all(one.sweep >= 1 for one in told)
    assert {one.start for one in told if one.stage == "random"} == {2, 3}
    for start in {one.start for one in told if one.stage != "proof"}:
        values = [one.f for one in told if one.start == start and one.stage != "proof"]
        assert values == sorted(values)
    summary = Summary(8, 6, 5).add(*views)
    again = []
    MCA(2, random_starts=2).fit_summary(summary, progress=again.append)
    assert {one.stage for one in again} >= {"spectral", "tree", "random"}
    calibrated = []
    MCA(2, random_starts=2, calibrate=3).fit(views, progress=calibrated.append)
    assert sum(one.stage == "tree" and one.sweep == 1 for one in calibrated) == 4  # of the fit and of three folds

    class Enough(Exception):
        pass

    def stop(now):
        raise Enough

    with pytest.raises(Enough):
        MCA(2).fit(views, progress=stop)
    with pytest.raises(TypeError, match="progress must be a function, not 5"):
        MCA(2).fit(views, progress=5)
    in_thread = []
    thread = threading.Thread(target=lambda: MCA(2).fit(views, progress=in_thread.append))
    thread.start()
    thread.join()
    assert in_thread
    two = []
    MCA(2).fit(*views[:2], progress=two.append)  # a closed form
    assert two == []


def test_ctrl_c_stops_a_long_proof():
    """General covariances of noise: the proof takes far longer than the ascents."""
    said, waited, working = interrupt(textwrap.dedent("""
        random = np.random.default_rng(1)
        views = [random.normal(size=(60, 16)) for _ in range(5)]
        factors = [random.normal(size=(5, 5)) for _ in range(5)]
        stages = []
        model = cgmca.CGMCA([F @ F.T for F in factors], random_starts=0, max_sweeps=20)
        def work():
            model.fit(views, progress=lambda now: stages.append(now.stage))
        """), "work()", textwrap.dedent("""
        time.sleep(1)
        before = time.process_time()
        time.sleep(1)
        print(time.process_time() - before, stages[-1])
        """), seconds=3)[:3]
    assert said == "interrupted" and float(waited) < 2 and float(working) < 0.2


def test_ctrl_c_stops_a_long_search():
    said, waited, working = interrupt("views = [np.random.default_rng(i).normal(size=(400, 60)) for i in range(6)]",
                                      "cgmca.MCA(30, random_starts=1000).fit(views)", textwrap.dedent("""
        time.sleep(1)
        before = time.process_time()
        time.sleep(1)
        print(time.process_time() - before)  # of work that goes on
        """))
    assert said == "interrupted" and float(waited) < 2 and float(working) < 0.2


# Pictures


def test_pictures_of_several_domains(views, model):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = cgmca.plot_correlations(model, pyplot.subplots()[1])
    correlations = model.common_correlations_
    assert np.array_equal(ax.images[0].get_array(), [correlations[0, 1], correlations[0, 2], correlations[1, 2]])
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        "optical – radar", "optical – infrared", "radar – infrared"]
    assert ax.get_title() == "proven to be the best (identity)"
    with pytest.raises(ValueError, match="label is for the one line .* this fit has 3"):
        cgmca.plot_correlations(model, label="three")
    star = MCA(2, graph="star:1").fit(views)
    labels = [text.get_text() for text in cgmca.plot_correlations(star, pyplot.subplots()[1]).get_yticklabels()]
    assert labels == ["1 – 2", "1 – 3", "(2 – 3)"]
    ax = cgmca.plot_starts(model, pyplot.subplots()[1])
    assert [text.get_text() for text in ax.get_xticklabels()] == [start.kind for start in model.certificate_.starts]
    assert len(ax.lines[0].get_ydata()) == len(model.certificate_.starts) and ax.get_title().startswith("proven")
    ax = cgmca.plot_graph(star, pyplot.subplots()[1])
    assert len(ax.lines) == 2 and [text.get_text() for text in ax.texts][-3:] == ["1", "2", "3"]
    assert ax.texts[0].get_text() == f"{star.common_correlations_[0, 1].mean():.2f}"
    with pytest.raises(ValueError, match="two domains are fitted in closed form"):
        cgmca.plot_starts(MCA(2).fit(*make_pairs()))
    pyplot.close("all")
