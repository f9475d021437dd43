"""Choosing settings for more than two domains, and how many of their directions are real."""

import numpy as np
import pytest

import cgmca
from cgmca import MCA, Summary


def test_permutations_count_the_directions_that_are_real(views):
    with pytest.warns(cgmca.FitWarning, match="assume normal data"):
        found = cgmca.permutation_test(Summary(8, 6, 5).add(*views), permutations=49)
    again = cgmca.permutation_test(views, permutations=49)
    assert found.rotations and not again.rotations and found.significant == again.significant == 4
    few = [rows[:30] for rows in views]
    told = []
    by_rows = cgmca.permutation_test({"a": few[0], "b": few[1], "c": few[2]}, permutations=49, graph="star:1",
                                     max_rank=[4, 4, None], ridge=0.1, progress=told.append)
    assert not by_rows.rotations and by_rows.p_values[0] == 0.02 and told
    with pytest.raises(ValueError, match="from 1 to 3"):
        cgmca.permutation_test(views, graph="star:4")
    with pytest.raises(ValueError, match="y is given too"):
        cgmca.permutation_test(views, views[0])


def test_tuning_of_three_is_that_of_refitting_by_hand(views):
    result = cgmca.tune(views, n_components=[2], max_rank=[None], ridge=[0.1], folds=10, repeats=1)
    errors = []
    for held in np.array_split(np.random.default_rng(0).permutation(len(views[0])), 10):
        train = np.setdiff1d(np.arange(len(views[0])), held)
        model = MCA(2, ridge=0.1).fit([rows[train] for rows in views])
        missed = []
        for i in range(3):
            others = [j for j in range(3) if j != i]
            found = model.translate([views[j][held] for j in others], [j + 1 for j in others], i + 1)
            missed.append(np.sum((views[i][held] - found) ** 2) /
                          np.sum((views[i][held] - views[i][train].mean(axis=0)) ** 2))
        errors.append(np.mean(missed))
    mean, standard_error = result.trials[0].errors["translation"]
    assert abs(np.mean(errors) - mean) < 4 * standard_error
    assert np.isnan(result.trials[0].errors["partner"][0])


def test_tuning_of_three_gives_an_estimator(views):
    told = []
    result = cgmca.tune({"a": views[0], "b": views[1], "c": views[2]}, n_components=[1, 3], ridge=[0, 0.1],
                        graph="star:2", progress=told.append)
    assert told[-1] == 1 and result.criterion == "translation" and result.params["n_components"] == 3
    assert result.params["graph"] == "star:2" and result.baselines["target_only"]["translation"][0] == 1
    model = result.estimator.fit(views)
    assert np.array_equal(model.certificate_.weights, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    plain = cgmca.tune(views, n_components=[1, 3], ridge=[0, 0.1])
    assert "graph" not in plain.params
    weights = np.ones(len(views[0]))
    weighted = cgmca.tune(views, n_components=[1, 3], ridge=[0, 0.1], sample_weight=weights)
    assert weighted.trials[0].errors["translation"][0] == pytest.approx(plain.trials[0].errors["translation"][0])
    extra = cgmca.tune(views, n_components=[1, 3], ridge=[0, 0.1], extra=[None, views[1][:50], None])
    assert extra.trials[0].errors["translation"] != plain.trials[0].errors["translation"]
    two = cgmca.tune(views[:2], n_components=[1, 3], ridge=[0, 0.1])
    pairs = cgmca.tune(views[0], views[1], n_components=[1, 3], ridge=[0, 0.1])
    assert [t.errors["translation"] for t in two.trials] == [t.errors["translation"] for t in pairs.trials]


def test_classes_of_three_are_told_by_fused_points():
    random = np.random.default_rng(2)
    which = np.arange(120) % 4
    names = np.array(["a", "b", "c", "d"])[which]
    views = [random.normal(size=(4, d))[which] + 0.7 * random.normal(size=(120, d)) for d in (6, 5, 4)]
    result = cgmca.tune(views, n_components=[1, 3], ridge=[0.1], labels=names)
    assert result.criterion == "classification"
    errors = {trial.params["n_components"]: trial.errors["classification"][0] for trial in result.trials
              if trial.params["covariance"] == "identity"}
    assert errors[3] < 0.15 < errors[1]
    assert errors[3] < result.baselines["target_only"]["classification"][0]
    kept = which > 0
    left_out = cgmca.tune(views, n_components=[3], ridge=[0.1], labels=names, sample_weight=kept)
    expected = cgmca.tune([rows[kept] for rows in views], n_components=[3], ridge=[0.1], labels=names[kept])
    assert left_out.trials[0].errors["classification"] == expected.trials[0].errors["classification"]


@pytest.mark.parametrize("change, message", [
    (dict(criterion="partner"), "the criterion partner compares the samples of two domains; there are 3"),
    (dict(covariance="likelihood2"), "the covariance likelihood2 compares the samples of two domains; there are 3"),
    (dict(labels=[1, 2]), "2 labels for"), (dict(graph="star:4"), "from 1 to 3"),
    (dict(labelled_X=np.ones((3, 8))), "labelled_X is for two domains; there are 3"),
    (dict(extra=[np.ones((3, 8)), None]), "samples of 2 domains; there are 3. Give an array for each"),
    (dict(y=np.ones((3, 8))), "y is given too"),
])
def test_tuning_of_three_refuses_what_only_two_have(views, change, message):
    with pytest.raises(ValueError, match=message):
        cgmca.tune(views, **change)


def test_tuning_of_two_refuses_what_only_more_have(views):
    with pytest.raises(ValueError, match="for more than two domains"):
        cgmca.tune(views[0], views[1], graph="path")
    with pytest.raises(ValueError, match="two domains or more"):
        cgmca.tune(views[0])
