"""Where scikit-learn's users expect what its CCA does: predict, score, attributes, settings."""

import pickle

import numpy as np
import pytest
from sklearn import datasets
from sklearn.base import clone, is_regressor
from sklearn.cross_decomposition import CCA
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cgmca
from cgmca import CGMCA, MCA, Covariance
from conftest import make_pairs


def linnerud():
    return datasets.load_linnerud(return_X_y=True)


def diabetes():
    """Four blood measurements from age, sex, body mass, blood pressure, cholesterol and the rest."""
    data = datasets.load_diabetes(return_X_y=True)[0]
    return data[:, :6], data[:, 6:]


DATA = {
    "simulated": lambda: make_pairs(n=300, noise=1.0), "noisy": lambda: make_pairs(n=200, noise=4.0),
    "no relation": lambda: make_pairs(n=300, d1=5, d2=4, causes=1, noise=20),
    "linnerud": linnerud, "diabetes": diabetes,
}


def cca(k, X, Y):
    return CCA(k, scale=False, max_iter=100_000, tol=1e-15).fit(X, Y)


@pytest.mark.parametrize("kind", DATA)
def test_predicts_r2_is_never_below_that_of_cca(kind):
    X, Y = DATA[kind]()
    for k in range(1, min(X.shape[1], Y.shape[1]) + 1):
        ours = MCA(k).fit(X, Y).score(X, Y)
        for theirs in (cca(k, X, Y), CCA(k, max_iter=100_000).fit(X, Y)):
            assert ours >= theirs.score(X, Y) - 1e-9, k


def test_nor_is_it_on_halves_of_digits(mnist):
    images = mnist.data[mnist.target == 4][:1500].reshape(-1, 28, 28) / 255.0
    X, Y = images[:, 6:22:2, 8:14:2].reshape(1500, -1), images[:, 6:22:2, 14:20:2].reshape(1500, -1)
    k = 24  # all of them: the directions are the same however far CCA has converged
    assert MCA().fit(X, Y).n_components_ == X.shape[1] == Y.shape[1] == k
    assert MCA(k).fit(X, Y).score(X, Y) > CCA(k, scale=False).fit(X, Y).score(X, Y) + 0.01


def test_it_is_above_it_where_correlations_are_not_1():
    X, Y = DATA["noisy"]()
    assert MCA().fit(X, Y).score(X, Y) > cca(6, X, Y).score(X, Y) + 0.01


def test_predict_is_least_squares_with_all_components(pairs):
    X, Y = pairs
    model = MCA().fit(X, Y)
    one = np.c_[np.ones(len(X)), X]
    expected = one @ np.linalg.lstsq(one, Y, rcond=None)[0]
    assert np.allclose(model.predict(X), expected)
    assert np.array_equal(model.predict(X), model.translate(X, source=1, target=2))
    assert np.isclose(model.score(X, Y), r2_score(Y, expected))
    assert np.isclose(model.score(X, y=Y), model.score(X, Y))
    with pytest.raises(ValueError, match="domain 1 has 199 samples and domain 2 has 200"):
        model.score(X[1:], Y)


@pytest.mark.parametrize("estimator", [MCA(), MCA(2), CGMCA("data1", 3), CGMCA("data2", 2, ridge=0.1),
                                       MCA(2, max_rank=3)])
def test_coef_and_intercept_are_predict(pairs, estimator):
    X, Y = pairs
    model = estimator.fit(X, Y)
    assert model.coef_.shape == (6, 8) and model.intercept_.shape == (6,)
    assert np.allclose(X @ model.coef_.T + model.intercept_, model.predict(X), rtol=1e-12)


def test_one_target_gives_one_dimension_as_it_came(pairs):
    X, Y = pairs
    assert MCA().fit(X, Y[:, 0]).predict(X).shape == (200,) and MCA().fit(X, Y[:, :1]).predict(X).shape == (200, 1)
    assert MCA().partial_fit(X, Y[:, 0]).predict(X).shape == (200,)
    model = pickle.loads(pickle.dumps(MCA().fit(X, Y[:, 0])))
    assert model.predict(X).shape == (200,) and np.isclose(model.score(X, Y[:, 0]), model.score(X, Y[:, :1]))


@pytest.mark.parametrize("kind", ["simulated", "noisy", "linnerud", "diabetes"])
def test_rotations_point_where_those_of_cca_do(kind):
    X, Y = DATA[kind]()
    k = min(X.shape[1], Y.shape[1], 4)
    ours, theirs = MCA(k).fit(X, Y), cca(k, X, Y)
    compared = 0
    for j in range(k):
        # CCA has converged where its scores have the canonical correlation.
        scores = ((X - X.mean(0)) @ theirs.x_rotations_)[:, j], ((Y - Y.mean(0)) @ theirs.y_rotations_)[:, j]
        if abs(np.corrcoef(*scores)[0, 1] - ours.canonical_correlations_[j]) > 1e-13:
            continue
        for a, b in ((ours.x_rotations_, theirs.x_rotations_), (ours.y_rotations_, theirs.y_rotations_)):
            cosine = a[:, j] @ b[:, j] / np.linalg.norm(a[:, j]) / np.linalg.norm(b[:, j])
            assert abs(abs(cosine) - 1) < 1e-6, j
        compared += 1
    assert compared >= 2


def test_rotations_weights_and_loadings_are_what_they_say(pairs):
    X, Y = pairs
    model = CGMCA("data1", 3).fit(X, Y)
    for Z, rotations, weights, loadings, mean in (
            (X, model.x_rotations_, model.x_weights_, model.x_loadings_, model.means_[0]),
            (Y, model.y_rotations_, model.y_weights_, model.y_loadings_, model.means_[1])):
        d = Z.shape[1]
        assert rotations.shape == weights.shape == loadings.shape == (d, 3)
        scores = (Z - mean) @ rotations
        assert np.allclose(np.cov(scores.T), np.eye(3))
        assert np.allclose(np.linalg.norm(weights, axis=0), 1)
        assert np.allclose(weights * np.linalg.norm(rotations, axis=0), rotations)
        assert np.allclose(loadings, np.cov(Z.T, scores.T)[:d, d:])
    Zx, Zy = ((Z - m) @ R for Z, m, R in zip((X, Y), model.means_, (model.x_rotations_, model.y_rotations_)))
    assert np.allclose([np.corrcoef(Zx[:, j], Zy[:, j])[0, 1] for j in range(3)], model.canonical_correlations_[:3])
    plain = MCA(3).fit(X, Y)
    assert np.allclose(plain.x_rotations_, plain.A_[0].T)
    assert not hasattr(plain, "n_iter_")  # in closed form


@pytest.mark.parametrize("estimator", [MCA(3, ridge=0.5), CGMCA("likelihood2", ridge=(1.0, 0.2)), CGMCA("likelihood1"),
                                       CGMCA("correlation", 3, ridge=0.1)])
def test_with_a_ridge_they_are_those_of_the_covariance_that_was_whitened(pairs, estimator):
    model = estimator.fit(*pairs)
    for Z, used, rotations, loadings in zip(pairs, model.certificate_.constrained,
                                            (model.x_rotations_, model.y_rotations_),
                                            (model.x_loadings_, model.y_loadings_)):
        whitened = used.data * np.cov(Z.T) + used.ridge * np.eye(Z.shape[1])
        assert np.allclose(rotations.T @ whitened @ rotations, np.eye(rotations.shape[1]))
        assert np.allclose(loadings, whitened @ rotations)
    assert np.allclose(pairs[0] @ model.coef_.T + model.intercept_, model.predict(pairs[0]))


def test_r2_scores_a_grid_search_and_is_the_default(pairs):
    X, Y = pairs
    grid = {"n_components": [1, 2, 4]}
    by_name = GridSearchCV(MCA(), grid, cv=4, scoring="r2").fit(X, Y)
    by_default = GridSearchCV(MCA(), grid, cv=4).fit(X, Y)
    assert np.isfinite(by_name.cv_results_["mean_test_score"]).all() and by_name.best_params_ == {"n_components": 4}
    assert np.allclose(by_name.cv_results_["mean_test_score"], by_default.cv_results_["mean_test_score"])
    assert np.isfinite(cross_val_score(MCA(), X, Y[:, 0], scoring="r2")).all()
    assert np.isfinite(cross_val_score(make_pipeline(StandardScaler(), MCA(2)), X, Y,
                                       scoring="neg_mean_squared_error")).all()


def test_fit_transform_is_one_array_so_that_pipelines_go_on(pairs):
    X, Y = pairs
    from sklearn.linear_model import LinearRegression
    after = make_pipeline(MCA(4), LinearRegression()).fit(X, Y)
    assert isinstance(MCA(4).fit_transform(X, Y), np.ndarray) and after.score(X, Y) > 0.9
    with pytest.raises((ValueError, TypeError)):
        make_pipeline(CCA(4), LinearRegression()).fit(X, Y)


def test_tags_say_that_targets_may_be_many():
    assert is_regressor(MCA())
    try:
        from sklearn.utils import get_tags
        assert get_tags(MCA()).target_tags.multi_output
    except ImportError:  # scikit-learn before 1.6
        assert MCA()._get_tags()["multioutput"]


def test_a_number_in_the_first_place_means_components_or_is_refused(pairs):
    assert MCA(3).fit(*pairs).n_components_ == 3
    with pytest.raises(TypeError, match="covariance is 3, a number; for the number of components write n_components=3"):
        CGMCA(3).fit(*pairs)


@pytest.mark.parametrize("given, C", [
    (lambda F: Covariance.factor(F), lambda F: F @ F.T), (lambda F: Covariance.matrix(F @ F.T), lambda F: F @ F.T),
    (lambda F: Covariance.diagonal([3, 1, 2]), lambda F: np.diag([9.0, 1, 4])),
    (lambda F: (F @ F.T).tolist(), lambda F: F @ F.T),
], ids=["factor", "matrix", "diagonal", "list"])
def test_covariances_by_factor_diagonal_and_array(pairs, given, C):
    F = np.random.default_rng(1).normal(size=(3, 2))
    X, Y = pairs
    model = clone(pickle.loads(pickle.dumps(CGMCA(given(F))))).fit(X, Y)
    assert np.allclose(np.cov(model.transform(X).T), C(F))
    mixed = CGMCA((given(F), "identity")).fit(X, Y) if np.linalg.matrix_rank(C(F)) == 3 else model
    assert np.allclose(np.cov(mixed.transform(X).T), C(F))


def test_covariances_that_are_none_are_refused(pairs):
    with pytest.raises(ValueError, match="standard deviations have 2 dimensions"):
        Covariance.diagonal(np.eye(2))
    with pytest.raises(ValueError, match="cannot be negative"):
        CGMCA(Covariance.diagonal([1, -1])).fit(*pairs)
    with pytest.raises(ValueError, match="n_components is 2, but the covariance given has 3"):
        CGMCA(Covariance.factor(np.ones((3, 2))), 2).fit(*pairs)
    assert repr(Covariance.factor(np.ones((3, 2)))) == "Covariance.factor(<3×2 array>)"


@pytest.mark.parametrize("settings", [
    dict(), dict(n_components=3), dict(covariance="data2", n_components=2, ridge=0.1, max_rank=5, rank_tol=1e-9),
    dict(covariance="correlation", n_components=2, ridge="auto"),
    dict(covariance=("data1", "data1"), n_components=3, ridge=(0.25, "auto"), max_rank=(None, 4)),
    dict(covariance=("identity", "correlation"), n_components=3),
    dict(n_components=2, ridge=0.1, scale=True),
])
def test_load_restores_every_setting(tmp_path, pairs, settings):
    model = CGMCA(**settings).fit(*pairs)
    cgmca.save(model, tmp_path / "model")
    again = cgmca.load(tmp_path / "model")
    expected = CGMCA(**settings).get_params()
    if expected["covariance"] == ("data1", "data1"):
        expected["covariance"] = "data1"
    assert again.get_params() == expected
    assert np.array_equal(clone(again).fit(*pairs).A_[0], model.A_[0])
    assert np.array_equal(again.coef_, model.coef_)


def test_load_restores_a_covariance_given_by_its_entries(tmp_path, pairs):
    F = np.random.default_rng(1).normal(size=(3, 2))
    cgmca.save(CGMCA((Covariance.factor(F), "identity"), 3, ridge=0.5).fit(*pairs), tmp_path / "model")
    again = cgmca.load(tmp_path / "model")
    assert np.allclose(again.covariance[0], F @ F.T) and again.covariance[1] == "identity"
    assert again.n_components == 3 and again.ridge == 0.5


def test_messages_speak_python(pairs):
    """Names of parameters as Python spells them, and rows counted from 0."""
    X, Y = pairs
    messages = []
    for change in (dict(rank_tol=2.0), dict(ridge=-1.0), dict(max_rank=0), dict(n_components=9)):
        with pytest.raises(ValueError) as caught:
            MCA(**change).fit(X, Y)
        messages.append(str(caught.value))
    assert not any("--" in message for message in messages), messages
    with pytest.warns(cgmca.FitWarning, match="Limit max_rank"):
        MCA(5).fit(*make_pairs(n=40, d1=60, d2=50))
    for name, message in zip(("rank_tol", "ridge", "max_rank", "n_components"), messages):
        assert name in message, message
