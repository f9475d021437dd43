"""CGMCA and MCA: the identities of the method, and scikit-learn's manners."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cgmca
from cgmca import CGMCA, MCA
from conftest import make_pairs


def relative(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


def best_of_rank(C, rank):
    values, vectors = np.linalg.eigh(C)
    return (vectors[:, -rank:] * values[-rank:]) @ vectors[:, -rank:].T


# The method


@pytest.mark.parametrize("setting", ["identity", "data1", "data2", "array", "pair", "mixed"])
def test_each_maps_output_has_the_prescribed_covariance(pairs, setting):
    X, Y = pairs
    random = np.random.default_rng(1)
    F, G = random.normal(size=(2, 7, 3))
    covariance, n, C1, C2 = {
        "identity": ("identity", 5, np.eye(5), np.eye(5)),
        "data1": ("data1", 3, best_of_rank(np.cov(X.T), 3), best_of_rank(np.cov(X.T), 3)),
        "data2": ("data2", 3, best_of_rank(np.cov(Y.T), 3), best_of_rank(np.cov(Y.T), 3)),
        "array": (F @ F.T, None, F @ F.T, F @ F.T),
        "pair": ((F @ F.T, G @ G.T), None, F @ F.T, G @ G.T),
        "mixed": (("identity", np.diag([1.0, 2, 3])), None, np.eye(3), np.diag([1.0, 2, 3])),
    }[setting]
    model = CGMCA(covariance=covariance, n_components=n).fit(X, Y)
    Zx, Zy = model.transform(X, Y)
    assert relative(np.cov(Zx.T), C1) < 1e-10 and relative(np.cov(Zy.T), C2) < 1e-10
    assert np.abs(Zx.mean(axis=0)).max() < 1e-12 * np.abs(Zx).max() * len(X)
    certificate = model.certificate_
    assert max(certificate.constraint_residuals) < 1e-10 and certificate.excess < 1e-10
    assert np.isclose(np.mean(np.sum((Zx - Zy) ** 2, axis=1)), certificate.objective, rtol=1e-10)
    assert model.n_components_ == len(C1)


def test_transform_is_the_affine_map_that_the_attributes_show(pairs):
    X, Y = pairs
    model = CGMCA("data1", 4).fit(X, Y)
    (A1, A2), (mean1, mean2) = model.A_, model.means_
    Zx, Zy = model.transform(X, Y)
    assert A1.shape == (8, 8) and A2.shape == (8, 6)
    assert np.allclose(mean1, X.mean(axis=0)) and np.allclose(mean2, Y.mean(axis=0))
    assert np.allclose(Zx, (X - mean1) @ A1.T) and np.allclose(Zy, (Y - mean2) @ A2.T)
    assert np.array_equal(model.apply(Y, domain=2), Zy)


def test_lmmse_is_least_squares_regression_on_the_other_domains_map(pairs):
    X, Y = pairs
    model = MCA(3).fit(X, Y)
    Z = model.apply(Y, domain=2)
    coefficients, *_ = np.linalg.lstsq(Z, X - X.mean(axis=0), rcond=None)
    translated, error = model.translate(Y, return_std=True)
    expected = X.mean(axis=0) + Z @ coefficients
    assert relative(translated, expected) < 1e-10
    residual = ((X - expected) ** 2).sum(axis=0) / (len(X) - 1 - 3)
    leverage = 1 / len(X) + (Z**2).sum(axis=1) / (len(X) - 1)  # Z has unit covariance
    assert np.allclose(error, np.sqrt(np.outer(1 + leverage, residual)))


def test_the_inverse_maps_back_to_where_it_came_from(pairs):
    X, Y = pairs
    model = MCA(3).fit(X, Y)
    Zx, Zy = model.transform(X, Y)
    for method in ("exact", "mahalanobis"):
        X_back, Y_back = model.inverse_transform(Zx, Zy, method=method)
        assert np.allclose(model.transform(X_back, Y_back)[0], Zx) and np.allclose(model.apply(Y_back, 2), Zy)
        assert np.allclose(model.inverse_transform(Zy, method=method), model.translate(Y, method=method))
    assert np.allclose(model.inverse_transform(Zy, method="lmmse"), model.translate(Y))
    many = model.inverse_transform(Zx, method="lsqr", iterations=50, tolerance=1e-14)
    assert np.allclose(model.transform(many), Zx)


def test_both_directions_are_translated(pairs):
    X, Y = pairs
    model = MCA().fit(X, Y)
    assert relative(model.translate(Y, 2, 1), X) < 0.2 and relative(model.translate(X, 1, 2), Y) < 0.2
    swapped = MCA().fit(Y, X)
    assert np.allclose(swapped.translate(X, 2, 1), model.translate(X, 1, 2))


def test_score_is_one_for_a_function_and_zero_for_the_mean():
    X, Y = make_pairs(noise=0, causes=3)
    assert np.isclose(MCA().fit(X, Y).score(X, Y), 1)
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(5000, 3)), random.normal(size=(5000, 2))
    assert abs(MCA().fit(X, Y).score(X, Y)) < 0.01


def test_verify_tells_what_is_attained_on_given_pairs(pairs):
    X, Y = pairs
    model = MCA(3).fit(X[:150], Y[:150])
    attained = model.verify(X[:150], Y[:150])
    assert np.isclose(attained["objective"], model.certificate_.objective)
    assert max(attained["constraint_residuals"]) < 1e-10
    assert max(model.verify(X[150:], Y[150:])["constraint_residuals"]) > 1e-3


# Few pairs, many features


def few():
    return make_pairs(n=40, d1=60, d2=50, causes=8, noise=0.5)


def test_a_saturated_fit_warns_and_says_what_to_do():
    with pytest.warns(cgmca.FitWarning, match="the fit is saturated: with 40 pairs .* give a ridge"):
        model = MCA(5).fit(*few())
    assert np.allclose(model.canonical_correlations_, 1)


def test_truncation_keeps_only_the_leading_principal_directions():
    X, Y = few()
    model = MCA(5, max_rank=(10, 8)).fit(X, Y)
    assert model.ranks_ == (10, 8) and len(model.canonical_correlations_) == 8
    leading = [np.linalg.svd(A - A.mean(axis=0), full_matrices=False) for A in (X, Y)]
    U1, U2 = leading[0][0][:, :10], leading[1][0][:, :8]
    expected = np.linalg.svd(U1.T @ U2, compute_uv=False)
    assert np.allclose(model.canonical_correlations_, expected, rtol=0, atol=1e-10)
    assert MCA(5, max_rank=8).fit(X, Y).ranks_ == (8, 8)


@pytest.mark.parametrize("ridge", [0.1, "auto", (0.5, "auto")])
def test_a_ridge_prescribes_the_regularized_covariance(ridge):
    X, Y = few()
    model = MCA(5, ridge=ridge).fit(X, Y)
    assert model.certificate_.excess < 1e-10 and max(model.certificate_.constraint_residuals) < 1e-10
    for A, Z, constrained in zip(model.A_, (X, Y), model.certificate_.constrained):
        theta = constrained.data * np.cov(Z.T) + constrained.ridge * np.eye(Z.shape[1])
        assert relative(A @ theta @ A.T, np.eye(5)) < 1e-10 and constrained.samples == 40
    by_one = ridge if isinstance(ridge, tuple) else (ridge, ridge)
    for Z, setting, constrained in zip((X, Y), by_one, model.certificate_.constrained):
        if setting == "auto":
            steps = 20 * np.log10(constrained.ridge / np.var(Z, axis=0, ddof=1).mean())
            assert constrained.data == 1 and np.isclose(steps, round(steps)) and model.canonical_correlations_[0] < 1
        else:
            assert np.isclose(constrained.ridge, setting * np.var(Z, axis=0, ddof=1).mean())


@pytest.mark.parametrize("settings", [dict(ridge=0.5), dict(max_rank=4), dict(covariance="data1"), dict(ridge="auto")])
@pytest.mark.parametrize("domains", [2, 3])
def test_scaled_fits_do_not_depend_on_units(settings, domains):
    raw = [X * 10.0 ** np.random.default_rng(i).integers(-4, 5, X.shape[1]) for i, X in
           enumerate([*make_pairs(), make_pairs(seed=5)[0]][:domains])]
    unit = [X / X.std(axis=0, ddof=1) for X in raw]
    scaled = CGMCA(n_components=3, scale=True, **{"covariance": "identity", **settings}).fit(raw)
    plain = CGMCA(n_components=3, **{"covariance": "identity", **settings}).fit(unit)
    for own, others in zip(scaled.transform(raw), plain.transform(unit)):
        assert relative(own, others) < 1e-8
    if domains == 2:
        size = raw[1].std(axis=0, ddof=1)
        assert relative(scaled.predict(raw[0]) / size, plain.predict(unit[0])) < 1e-8
        found, expected = (model.translate(X[1], return_std=True)[1] for model, X in ((scaled, raw), (plain, unit)))
        assert relative(found / raw[0].std(axis=0, ddof=1), expected) < 1e-6


def test_units_that_decide_are_told_and_scale_mends_them():
    wines = load_wine().data
    X, Y = wines[:, :6], wines[:, 6:]
    with pytest.warns(cgmca.FitWarning, match="1 of the 7 features of domain 2 holds 99 % of its variance.* scale"):
        MCA(3, ridge=0.1).fit(X, Y)
    MCA(3, ridge=0.1, scale=True).fit(X, Y)  # a warning would be an error
    raw, scaled = (cgmca.tune(X, Y, ridge=[0.1, 1, 10], max_rank=[None], scale=scale) for scale in (False, True))
    r2 = [1 - min(trial.errors["translation"][0] for trial in found.trials) for found in (raw, scaled)]
    assert r2[0] < 0.17 and r2[1] > 0.3
    assert "scale" in raw.remarks[0] and scaled.remarks == [] and scaled.estimator.scale is True
    test = cgmca.permutation_test(X, Y * 1e-3, ridge=0.1, permutations=50, scale=True)
    unit = cgmca.permutation_test(*(rows / rows.std(axis=0, ddof=1) for rows in (X, Y)), ridge=0.1, permutations=50)
    assert np.allclose(test.p_values, unit.p_values)


def test_extra_samples_better_a_domains_mean_and_covariance():
    X, Y = make_pairs(n=400)
    model = MCA(3).fit(X[:100], Y[:100], extra=[X[100:].astype(np.float32), None])
    all_of_X = np.r_[X[:100], X[100:].astype(np.float32)]
    assert np.allclose(model.means_[0], all_of_X.mean(axis=0)) and np.allclose(model.means_[1], Y[:100].mean(axis=0))
    assert relative(np.cov(model.transform(all_of_X).T), np.eye(3)) < 1e-10
    assert model.n_samples_ == 100 and [entry.samples for entry in model.certificate_.constrained] == [400, 100]
    summary = cgmca.Summary(8, 6).add(X[:100], Y[:100])
    again = MCA(3).fit_summary(summary, extra=[X[100:].astype(np.float32), None])
    assert np.array_equal(again.A_[0], model.A_[0])
    plain = MCA(3).fit(X, Y)
    assert np.array_equal(MCA(3).fit(X, Y, extra=[X[:0], None]).A_[0], plain.A_[0])


def test_correlation_spreads_each_direction_as_its_pair_is_correlated(pairs):
    X, Y = pairs
    model = CGMCA("correlation", 4).fit(X, Y)
    expected = np.diag(model.canonical_correlations_[:4] ** 2)
    assert relative(np.cov(model.transform(X).T), expected) < 1e-10


# What goes in


def test_partial_fit_in_blocks_is_fit_to_the_bit():
    X, Y = make_pairs(n=3000)
    whole = CGMCA("data1", 3).fit(X, Y)
    parts = CGMCA("data1", 3)
    for first in range(0, 3000, 700):
        assert parts.partial_fit(X[first:first + 700], Y[first:first + 700]) is parts
    assert parts.n_samples_ == 3000 and parts.summary_.n_samples == 3000
    for a, b in zip(whole.A_ + whole.means_, parts.A_ + parts.means_):
        assert np.array_equal(a, b)
    assert np.array_equal(clone(parts).fit_summary(parts.summary_).A_[0], whole.A_[0])


def test_partial_fit_computes_the_maps_only_when_they_are_needed(pairs):
    X, Y = pairs
    model = MCA().partial_fit(X[:1], Y[:1])  # no covariance of one pair
    with pytest.raises(ValueError, match="1 matched pair; a covariance needs at least 2"):
        model.transform(X)
    before = model.partial_fit(X[1:], Y[1:]).transform(X)
    assert np.allclose(before, MCA().fit(X, Y).transform(X))
    assert not np.allclose(model.partial_fit(2 * X, Y).transform(X), before)
    with pytest.warns(cgmca.FitWarning, match="partial_fit begins anew"):
        assert MCA().fit(X, Y).partial_fit(X[:50], Y[:50]).n_samples_ == 50
    assert "summary_" not in vars(model.fit(X, Y))


@pytest.mark.parametrize("convert", [
    lambda A: A.astype(np.float32), lambda A: np.asfortranarray(A), lambda A: np.repeat(A, 2, axis=1)[:, ::2],
    lambda A: A[::-1][::-1], lambda A: pd.DataFrame(A), lambda A: A.tolist(), lambda A: A.astype(">f8"),
    lambda A: A.astype(object), lambda A: np.round(A * 100).astype(np.int16),
], ids=["float32", "fortran", "strided", "reversed", "pandas", "list", "big-endian", "object", "int16"])
def test_every_kind_of_array_gives_the_model_of_its_float64_values(pairs, convert):
    given = [convert(A) for A in pairs]
    as_float64 = [np.ascontiguousarray(np.asarray(A), dtype=np.float64) for A in given]
    expected, model = MCA(3).fit(*as_float64), MCA(3).fit(*given)
    assert np.array_equal(model.A_[0], expected.A_[0])
    assert np.array_equal(np.asarray(model.transform(given[0])), expected.transform(as_float64[0]))
    assert np.array_equal(model.translate(given[1]), expected.translate(as_float64[1]))


def test_a_single_feature_of_domain_2_may_be_one_dimensional(pairs):
    X, Y = pairs
    one, two = MCA().fit(X, Y[:, 0]), MCA().fit(X, Y[:, :1])
    assert np.array_equal(one.A_[1], two.A_[1])
    assert np.array_equal(one.apply(Y[:, 0], 2), two.apply(Y[:, :1], 2))


def test_parameters_of_0_2_are_told_their_new_names(pairs):
    X, Y = pairs
    model = MCA(2).fit(X[:100], Y[:100], extra=[X[100:], None])
    with pytest.warns(FutureWarning, match="Y of cgmca 0.2 is now called y") as told:
        assert np.array_equal(MCA().fit(X, Y=Y).transform(X), MCA().fit_transform(X, y=Y))
    assert told[0].filename == __file__
    with pytest.warns(FutureWarning, match=r"extra_X and extra_Y of cgmca 0.2 is now called extra=\[more_X, more_y\]"):
        assert np.array_equal(MCA(2).fit(X[:100], Y[:100], extra_X=X[100:]).A_[0], model.A_[0])
    with pytest.warns(FutureWarning):
        assert np.array_equal(model.fuse(Y=Y), model.fuse(y=Y)) and model.score(X, Y=Y) == model.score(X, Y)
    with pytest.warns(FutureWarning):
        old, new = cgmca.tune(X, Y=Y, extra_Y=Y[:9], ridge=[0]), cgmca.tune(X, Y, extra=[None, Y[:9]], ridge=[0])
    assert repr(old.trials) == repr(new.trials)
    with pytest.raises(TypeError, match="multiple values for argument 'y'"), pytest.warns(FutureWarning):
        MCA().fit(X, Y, Y=Y)
    with pytest.raises(TypeError, match="Y and y are two names of the same thing"):
        MCA().fit(X, y=Y, Y=Y)


# Manners


def test_names_of_features_are_kept_and_checked(pairs):
    X, Y = (pd.DataFrame(A, columns=[f"{letter}{j}" for j in range(A.shape[1])]) for letter, A in zip("xy", pairs))
    model = MCA(2).fit(X, Y)
    assert list(model.feature_names_in_) == list(X.columns) and model.n_features_in_ == 8
    assert list(model.get_feature_names_out()) == ["mca0", "mca1"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(X[X.columns[::-1]])
    frame = model.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == ["mca0", "mca1"] and frame.index.equals(X.index)
    assert list(CGMCA("data1", 2).fit(X, Y).get_feature_names_out()) == [f"cgmca{j}" for j in range(8)]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))],
                         ids=["copy", "deepcopy", "pickle"])
@pytest.mark.parametrize("by_parts", [False, True])
def test_copies_and_pickles_are_the_same_to_the_bit(pairs, copied, by_parts):
    X, Y = pairs
    model = CGMCA("data1", 3)
    model = model.partial_fit(X, Y) if by_parts else model.fit(X, Y)
    again = copied(model)
    assert np.array_equal(again.transform(X), model.transform(X))
    assert again.certificate_.objective == model.certificate_.objective
    if by_parts:
        assert copied(model).partial_fit(X, Y).n_samples_ == 2 * len(X)


def test_clone_keeps_the_parameters_untouched(pairs):
    C = np.eye(3)
    model = CGMCA((C, "identity"), rank_tol=1e-9, accumulate="qr").fit(*pairs)
    fresh = clone(model)
    assert fresh.get_params().keys() == model.get_params().keys() and fresh.rank_tol == 1e-9
    assert model.covariance[0] is C
    with pytest.raises(NotFittedError):
        fresh.transform(pairs[0])


def test_grid_search_and_pipelines_take_them(pairs):
    X, Y = pairs
    search = GridSearchCV(CGMCA(), {"covariance": ["identity", "data1"], "n_components": [1, 2, 4]}, cv=4).fit(X, Y)
    assert search.best_params_["n_components"] == 4 and search.best_score_ > 0.85
    Z = make_pipeline(StandardScaler(), MCA(2)).fit_transform(X, Y)
    assert np.allclose(np.cov(Z.T), np.eye(2))


# Errors


@pytest.mark.parametrize("use", [
    lambda m, X: m.transform(X), lambda m, X: m.apply(X, 2), lambda m, X: m.translate(X), lambda m, X: m.A_,
    lambda m, X: m.inverse_transform(X), lambda m, X: m.score(X, X), lambda m, X: m.certificate_,
    lambda m, X: m.get_feature_names_out(), lambda m, X: cgmca.save(m, "x"), lambda m, X: m.verify(X, X),
])
def test_an_unfitted_estimator_says_so(pairs, use):
    with pytest.raises(NotFittedError):
        use(MCA(), pairs[0])


def test_a_wish_that_cannot_be_met_names_the_largest_that_can(pairs):
    X, Y = pairs
    with pytest.raises(cgmca.InfeasibleError, match="domain 2 has rank 6, but the covariance .* has rank 7") as caught:
        MCA(7).fit(X, Y)
    assert isinstance(caught.value, ValueError)
    assert (caught.value.domain, caught.value.data_rank, caught.value.covariance_rank) == (2, 6, 7)


@pytest.mark.parametrize("info, error", [(-3, "cgmca.InternalError"), (3, "numpy.linalg.LinAlgError")])
def test_our_own_mistakes_and_failures_to_converge_are_errors_of_their_own(info, error):
    if "CGMCA_BROKEN_LAPACK" not in os.environ:
        pytest.skip("needs CGMCA_BROKEN_LAPACK, which ctest sets")
    program = f"""
import cgmca
import numpy
import numpy as np
X = np.random.default_rng(0).normal(size=(50, 4))
try:
    cgmca.MCA(2).fit(X, X)
except {error} as caught:
    print(caught)
"""
    environment = {**os.environ, "LD_PRELOAD": os.environ["CGMCA_BROKEN_LAPACK"], "LAPACK_INFO": str(info)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ("argument 3 is illegal" if info < 0 else "info = 3") in done.stdout


@pytest.mark.parametrize("change, message", [
    (dict(n_components=0), "n_components is 0; at least 1"),
    (dict(covariance="data3"), "no covariance 'data3': give 'identity'"),
    (dict(covariance="data1"), "needs n_components"),
    (dict(covariance=np.eye(3), n_components=2), "n_components is 2, but the covariance given has 3 dimensions"),
    (dict(covariance=np.array([[1, 2], [0, 1.0]])), "not symmetric"),
    (dict(covariance=np.diag([1, -1.0])), "indefinite"),
    (dict(covariance=np.ones((2, 3))), "square"),
    (dict(covariance=(np.eye(2), np.eye(3))), "different dimension"),
    (dict(covariance=("identity",) * 3), "has two entries, this one has 3"),
    (dict(rank_tol=2.0), "rank_tol is 2.0; it must be a fraction"),
    (dict(ridge=-1.0), "ridge"), (dict(ridge="automatic"), "no ridge 'automatic': give a number or 'auto'"),
    (dict(max_rank=0), "max_rank is 0; at least 1"), (dict(max_rank=(1, 2, 3)), "two entries, this one has 3"),
    (dict(covariance="correlation"), "needs n_components"),
    (dict(accumulate="fast"), "no way to accumulate 'fast'"),
])
def test_bad_settings_are_value_errors_with_figures(pairs, change, message):
    with pytest.raises(ValueError, match=message):
        CGMCA(**change).fit(*pairs)


@pytest.mark.parametrize("change", [dict(n_components=2.5), dict(n_components="many"), dict(rank_tol="small"),
                                    dict(ridge=[1]), dict(max_rank=1.5)])
def test_settings_of_the_wrong_type_are_type_errors(pairs, change):
    with pytest.raises(TypeError, match="must be a"):
        CGMCA(**change).fit(*pairs)


def test_bad_data_are_value_errors_with_the_librarys_text(pairs):
    X, Y = pairs
    Y_bad = Y.copy()
    Y_bad[17, 3] = np.nan
    for bad, message in [((X, Y_bad), "domain 2 holds NaN at row 17, column 3"),
                         ((X, Y[:-1]), "domain 1 has 200 samples and domain 2 has 199"),
                         ((X, np.ones_like(Y)), "domain 2"), ((X, None), "requires y to be passed")]:
        with pytest.raises(ValueError, match=message):
            MCA().fit(*bad)
    model = MCA().fit(X, Y)
    with pytest.raises(ValueError, match="domain 2 of this model has 6 features, the samples given have 5"):
        model.apply(Y[:, :5], 2)
    with pytest.raises(ValueError, match="only 'lmmse' has standard errors"):
        model.translate(Y, method="exact", return_std=True)
    for arguments, message in [((Y, 2, 2), "to itself"), ((Y, 3, 1), "there is no domain 3: give 1"),
                               ((Y, 2, 1, "best"), "no method 'best'")]:
        with pytest.raises(ValueError, match=message):
            model.translate(*arguments)
    with pytest.raises(ValueError, match="'lsqr'; 'lmmse' needs none"):
        model.translate(Y, iterations=3)
    with pytest.raises(ValueError, match="common space of this model has 6 dimensions"):
        model.inverse_transform(X)


def test_a_failed_partial_fit_changes_nothing(pairs):
    X, Y = pairs
    model = MCA().partial_fit(X, Y)
    expected = model.transform(X)
    bad = X.copy()
    bad[-1, -1] = np.inf
    with pytest.raises(ValueError, match="infinity at row 399, column 7"):
        model.partial_fit(bad, Y)
    assert model.n_samples_ == 200 and np.array_equal(model.transform(X), expected)
