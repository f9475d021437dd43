"""tune and permutation_test."""

import numpy as np
import pytest

import cgmca
from cgmca import CGMCA, Summary, tune
from conftest import make_pairs


def few(n=60, seed=0):
    return make_pairs(n=n, d1=90, d2=70, causes=5, noise=1, seed=seed)


def test_the_errors_are_those_of_refitting_from_the_raw_pairs():
    """One fold at a time by hand, with the estimators."""
    X, Y = few()
    settings = dict(covariance="correlation", n_components=3, max_rank=10, ridge=0.1, towards="zero")
    result = tune(X, Y, covariance="correlation", n_components=[3], max_rank=[10], ridge=[0.1], folds=len(X) // 2)
    assert len(result.trials) == 1 and result.params == settings == result.best_params
    # The folds are dealt inside; the mean over any folds of one size is near the mean over others.
    errors = []
    order = np.random.default_rng(0).permutation(len(X))
    for held in np.array_split(order, len(X) // 2):
        train = np.setdiff1d(order, held)
        model = CGMCA(**settings).fit(X[train], Y[train])
        missed = X[held] - model.translate(Y[held])
        errors.append(np.sum(missed**2) / np.sum((X[held] - X[train].mean(axis=0)) ** 2))
    mean, standard_error = result.trials[0].errors["translation"]
    assert abs(np.mean(errors) - mean) < 4 * standard_error
    assert set(result.trials[0].errors) == {"distance", "translation", "translation-to-2", "classification",
                                            "likelihood", "partner", "downstream"}


def test_it_finds_the_number_of_causes_and_beats_the_plain_fit():
    X, Y = few(160)
    train, test = slice(0, 60), slice(60, None)
    result = tune(X[train], Y[train], folds=5, seed=3)
    tuned = result.estimator.fit(X[train], Y[train])
    with pytest.warns(cgmca.FitWarning):
        plain = CGMCA().fit(X[train], Y[train])
    assert result.params["n_components"] >= 2
    assert tuned.score(X[test], Y[test]) > plain.score(X[test], Y[test]) + 0.1
    frame = result.to_frame()
    assert frame["error"].is_monotonic_increasing and len(frame) == len(result.trials)
    assert "chosen by translation" in repr(result)


def test_the_same_seed_gives_the_same_result():
    X, Y = few()
    one, two, other = (tune(X, Y, n_components=[2, 5], ridge=[0, 1], seed=seed) for seed in (1, 1, 2))
    assert one.trials[0].errors["distance"] == two.trials[0].errors["distance"]
    assert one.trials[0].errors["distance"] != other.trials[0].errors["distance"]


def test_labels_of_any_kind_choose_by_classification():
    random = np.random.default_rng(0)
    names = np.array(["tank", "truck", "bus"])
    which = random.integers(0, 3, size=90)
    centres1, centres2 = random.normal(size=(2, 3, 40))
    X = centres1[which] + 0.5 * random.normal(size=(90, 40))
    Y = centres2[which] + 0.5 * random.normal(size=(90, 40))
    more = random.integers(0, 3, size=200)
    result = tune(X[:60], Y[:60], n_components=[2, 5], ridge=[0.1, 1], labels=names[which[:60]],
                  labelled_X=centres1[more] + 0.5 * random.normal(size=(200, 40)), labelled_y=names[more])
    assert result.criterion == "classification"
    assert min(trial.errors["classification"][0] for trial in result.trials) < 0.1
    shuffled = random.permutation(names[which[:60]])
    chance = tune(X[:60], Y[:60], n_components=[2, 5], ridge=[0.1, 1], labels=shuffled)
    assert min(trial.errors["classification"][0] for trial in chance.trials) > 0.4


def test_baselines_are_scored_by_the_same_folds():
    random = np.random.default_rng(1)
    which = random.integers(0, 3, size=90)
    centres = random.normal(size=(3, 20))
    X = centres[which] + 0.5 * random.normal(size=(90, 20))
    Y = X + 0.01 * random.normal(size=X.shape)
    settings = dict(n_components=[2], ridge=[1], labels=which[:60])
    result = tune(X[:60], Y[:60], **settings)
    assert result.baselines["no_map"]["classification"][0] < 0.1 > result.baselines["target_only"]["classification"][0]
    assert result.baselines["no_map"]["translation"][0] < 0.01 and result.baselines["target_only"]["translation"][0] == 1
    assert result.params["covariance"] == "likelihood2" and result.params["n_components"] is None
    assert np.isnan(tune(X, Y[:, :5], n_components=[2], ridge=[1]).baselines["no_map"]["translation"][0])
    assert any("without a map" in remark for remark in tune(X, Y, n_components=[1], ridge=[1]).remarks)
    more = tune(X[:60], Y[:60], queries=Y[60:], query_labels=np.full(30, 9), **settings)  # a class that nobody knows
    assert more.trials[0].errors["classification"][0] > 0.3
    with pytest.raises(ValueError, match="queries and query_labels belong together"):
        tune(X[:60], Y[:60], queries=Y[60:], **settings)


def test_spectra_of_one_grid_are_chosen_by_what_is_done_with_them():
    from sklearn.linear_model import LogisticRegression, Ridge

    random = np.random.default_rng(2)
    X = random.normal(size=(40, 3)) @ random.normal(size=(3, 25)) + 0.05 * random.normal(size=(40, 25))
    Y = X + 0.3 + 0.1 * random.normal(size=(40, 3)) @ random.normal(size=(3, 25))
    wanted = X[:, :2]
    model = Ridge(1e-3).fit(X, wanted)
    by_model, by_coefficients, by_function = (
        tune(X[:8], Y[:8], n_components=[2], downstream=one, towards="identity")
        for one in (model, model.coef_, lambda X: X @ model.coef_.T))
    assert by_model.criterion == "downstream" and by_model.params["towards"] == "identity"
    for other in (by_coefficients, by_function):
        assert np.isclose(by_model.expected[0], other.expected[0])
    chosen = by_model.estimator.fit(X[:8], Y[:8])
    estimate = chosen.translate(Y[8:])
    assert np.mean((model.predict(estimate) - model.predict(X[8:]))**2) < np.mean((model.predict(Y[8:])
                                                                                 - model.predict(X[8:]))**2)
    with pytest.raises(ValueError, match="8 matched samples are too few"):
        chosen.translate(Y[8:], return_std=True)
    errors = chosen.set_params(calibrate=8).fit(X[:8], Y[:8]).translate(Y[8:], return_std=True)[1]
    assert errors.shape == estimate.shape and (errors > 0).all()
    classes = LogisticRegression().fit(X, X[:, 0] > 0)
    assert np.isfinite(tune(X[:20], Y[:20], n_components=[2], ridge=[1], downstream=classes).expected[0])
    with pytest.raises(ValueError, match="X has 25 features"):
        tune(X, Y, downstream=[1, 2])
    with pytest.raises(ValueError, match="needs downstream"):
        tune(X, Y, criterion="downstream")
    with pytest.raises(ZeroDivisionError):
        tune(X, Y, downstream=lambda X: 1 / 0)
    assert len(by_model.recommendation) == 3


def test_progress_is_told_and_may_stop_it():
    X, Y = few()
    told = []
    tune(X, Y, n_components=[2], ridge=[0.1], folds=4, repeats=1, progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1]

    class Enough(Exception):
        pass

    def stop(done):
        raise Enough

    with pytest.raises(Enough):
        tune(X, Y, n_components=[2], ridge=[0.1], progress=stop)


@pytest.mark.parametrize("change, kind, message", [
    (dict(folds=1), ValueError, "1 folds; at least 2"), (dict(folds=61), ValueError, "each fold needs at least 1"),
    (dict(criterion="beauty"), ValueError, "no criterion 'beauty': give one of 'distance'"),
    (dict(criterion="classification"), ValueError, "classification needs labels"),
    (dict(covariance="data3"), ValueError, "no covariance to tune 'data3'"),
    (dict(n_components=[0]), ValueError, "n_components is 0"), (dict(n_components=[500]), ValueError, "nothing of the grid"),
    (dict(ridge=["much"]), ValueError, "no ridge 'much'"), (dict(ridge=[None, "auto", [1]]), TypeError, "must be a number"),
    (dict(labelled_X=np.ones((3, 90))), ValueError, "need the labels of the pairs too"),
    (dict(labels=np.zeros(60), labelled_X=np.ones((3, 90))), ValueError, "one is missing"),
    (dict(labels=np.zeros(7)), ValueError, "labels"),
])
def test_errors(change, kind, message):
    with pytest.raises(kind, match=message):
        tune(*few(), **change)


def test_settings_that_cannot_be_met_are_listed():
    result = tune(*few(), n_components=[2, 30], max_rank=[10, None], ridge=[0.1])
    assert result.infeasible == [{"covariance": "identity", "n_components": 30, "max_rank": 10, "ridge": 0.1,
                                  "towards": "zero"}]
    assert len(result.trials) == 3


def test_permutations_count_the_real_correlations():
    X, Y = make_pairs(n=150, d1=6, d2=5, causes=2, noise=1)
    found = cgmca.permutation_test(X, Y, permutations=199)
    assert found.significant == 2 and not found.rotations and found.remarks == []
    assert np.all(found.p_values[:2] <= 0.05) and found.p_values[-1] > 0.05
    assert len(found.p_values) == 5 and np.all(np.diff(found.p_values) >= 0)  # of all correlations
    with pytest.warns(cgmca.FitWarning, match="assume normal data, because a summary does not keep the samples"):
        again = cgmca.permutation_test(Summary(6, 5).add(X, Y), permutations=199)
    assert again.significant == 2 and again.rotations and "assume normal data" in again.remarks[0]
    assert not cgmca.permutation_test(X[:20], Y[:20], permutations=50).rotations
    told = []
    cgmca.permutation_test(X, Y, permutations=50, max_rank=3, ridge="auto", progress=told.append)
    assert told
