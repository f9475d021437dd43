"""Nuisances, removed from all domains."""

import pickle

import numpy as np
import pandas
import pytest

import cgmca


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    causes, batch = random.normal(size=(200, 3)), random.choice(["A", "B", "C"], 200)
    age = random.uniform(20, 80, 200)
    effect = {"A": 0, "B": 2, "C": -3}
    shift = np.array([effect[one] for one in batch])[:, None] + age[:, None] / 20
    X = causes @ random.normal(size=(3, 6)) + 0.5 * random.normal(size=(200, 6)) + shift * random.normal(size=6)
    Y = causes @ random.normal(size=(3, 5)) + 0.5 * random.normal(size=(200, 5)) + shift * random.normal(size=5)
    return X, Y, pandas.DataFrame({"batch": batch, "age": age})


def residuals(X, nuisance):
    Z = np.column_stack([pandas.get_dummies(nuisance["batch"]).to_numpy(float), nuisance["age"]])
    return X - Z @ np.linalg.lstsq(Z, X, rcond=None)[0]


def test_a_nuisance_equals_regressing_first(data):
    X, Y, nuisance = data
    model = cgmca.MCA(3).fit(X, Y, nuisance=nuisance)
    plain = cgmca.MCA(3).fit(residuals(X, nuisance), residuals(Y, nuisance))
    assert np.allclose(model.canonical_correlations_, plain.canonical_correlations_, atol=1e-10)
    assert model.nuisance_["names"] == ["batch=A", "batch=B", "batch=C", "age"] and model.nuisance_["rank"] == 3
    Z = model.transform(X, nuisance=nuisance)
    assert np.allclose(Z, residuals(X, nuisance) @ model.A_[0].T, atol=1e-9)
    assert np.allclose(np.cov(Z.T) * 199 / 196, np.eye(3), atol=1e-9)
    values = np.column_stack([pandas.get_dummies(nuisance["batch"]).to_numpy(float), nuisance["age"]])
    predicted = model.predict(X, nuisance=nuisance)
    assert np.allclose(predicted, np.hstack([X, values]) @ model.coef_.T + model.intercept_)
    assert predicted.shape == Y.shape and model.score(X, Y, nuisance=nuisance) > 0.8


def test_new_samples_need_the_values_and_known_categories(data):
    X, Y, nuisance = data
    model = cgmca.MCA(3).fit(X[:150], Y[:150], nuisance=nuisance[:150])
    with pytest.raises(ValueError, match="give its values"):
        model.transform(X)
    with pytest.raises(ValueError, match="'D' of column 'batch'"):
        model.transform(X[:1], nuisance=pandas.DataFrame({"batch": ["D"], "age": [30.0]}))
    some = nuisance[150:][["age", "batch"]]                 # the order of columns does not matter, nor a missing category
    one = model.translate(Y[150:151], nuisance=some[:1])
    assert np.allclose(model.translate(Y[150:], nuisance=some)[:1], one)
    estimate, error = model.translate(Y[150:], nuisance=some, return_std=True)
    assert estimate.shape == error.shape == (50, 6)
    assert model.fuse(X[150:], Y[150:], nuisance=some).shape == (50, 3)
    assert len(model.diagnose(X, Y, nuisance=nuisance).pair_p) == 200
    plain = cgmca.MCA(3).fit(X, Y)
    with pytest.raises(ValueError, match="need no nuisance"):
        plain.transform(X, nuisance=nuisance)
    with pytest.raises(ValueError, match="100 rows"):
        cgmca.MCA(3).fit(X, Y, nuisance=nuisance[:100])


def test_blind_maps_need_no_values(data):
    X, Y, nuisance = data
    model = cgmca.MCA(2, nuisance_unknown=True).fit(X, Y, nuisance=nuisance)  # 2 of 5 features are left of Y
    assert model.nuisance_["unknown"]
    for A, effects in zip(model.A_, model.nuisance_["effects"]):
        assert np.abs(A @ effects).max() < 1e-12
    assert model.transform(X).shape == (200, 2) and model.translate(Y).shape == X.shape
    with pytest.raises(ValueError, match="nuisance_unknown"):
        cgmca.MCA(3, nuisance_unknown=True).fit(X, Y)


def test_the_same_in_blocks_pickles_and_verified(data, tmp_path):
    X, Y, nuisance = data
    whole = cgmca.MCA(3).fit(X, Y, nuisance=nuisance)
    blocks = cgmca.MCA(3)
    for part in np.array_split(np.arange(200), 4):
        blocks.partial_fit(X[part], Y[part], nuisance=nuisance.iloc[part])
    assert np.allclose(blocks.canonical_correlations_, whole.canonical_correlations_, atol=1e-9)
    again = pickle.loads(pickle.dumps(whole))
    assert np.array_equal(again.transform(X, nuisance=nuisance), whole.transform(X, nuisance=nuisance))
    found = whole.verify(X, Y, nuisance=nuisance)
    assert found["certified"] and max(found["claims"].values()) < 1e-8
    with pytest.raises(ValueError, match="nuisance"):
        whole.verify(X, Y)
    with pytest.raises(ValueError, match="first samples"):
        blocks.partial_fit(X, Y)
    calibrated = cgmca.MCA(3, calibrate=5).fit(X, Y, nuisance=nuisance)
    ratio = calibrated.translate(Y, nuisance=nuisance, return_std=True)[1] / whole.translate(
        Y, nuisance=nuisance, return_std=True)[1]
    assert 0.7 < ratio.mean() < 1.4


def test_what_two_domains_share_with_a_nuisance_alone_is_not_significant():
    random = np.random.default_rng(1)
    Z = random.normal(size=(60, 2))
    X, Y = (Z @ random.normal(size=(2, 3)) + random.normal(size=(60, 3)) for _ in "XY")
    assert cgmca.permutation_test(X, Y, permutations=99).significant >= 1
    assert cgmca.permutation_test(X, Y, permutations=199, nuisance=Z).p_values[0] > 0.02
    assert cgmca.MCA(3).fit(X, Y, nuisance=Z).tests()[0].wilks.p > 0.02
    assert cgmca.MCA(3).fit(X, Y).tests()[0].wilks.p < 1e-4
