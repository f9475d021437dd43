"""experiments/coverage.py in short: 90 % intervals hold about nine of ten new values."""

import sys

import numpy as np
import pytest

from cgmca import MCA
from conftest import load_experiment

experiment = load_experiment("coverage")
# 20 repetitions of 200 new samples: a standard error of about .003.
REPETITIONS = 20


@pytest.mark.parametrize("n, components", [(100, 5), (100, 20), (100, 30), (200, 20)])
def test_cross_fitted_intervals_hold(n, components):
    mean, error = experiment.simulated(n, components, REPETITIONS, ["calibrate=10"])
    assert error["calibrate=10"] < 0.005
    assert 0.875 < mean["calibrate=10"] < 0.925


def test_the_closed_form_holds_where_all_directions_are_used_and_in_sample_errors_do_not():
    for n in (60, 100):
        mean, _ = experiment.simulated(n, 30, REPETITIONS, ["in-sample", "closed form"])
        assert 0.885 < mean["closed form"] < 0.915
        assert mean["in-sample"] < 0.8


def test_features_count_by_their_variance_and_constant_ones_do_not():
    pairs, new = experiment.simulated_draw(100, 5, 0)
    plain = experiment.coverage(lambda **more: MCA(5, **more), pairs, new, ["closed form"])[2, 1]["closed form"]
    pairs, new = ((np.c_[X, np.full(len(X), 3.0)], Y) for X, Y in (pairs, new))
    again = experiment.coverage(lambda **more: MCA(5, **more), pairs, new, ["closed form"])[2, 1]["closed form"]
    assert np.allclose(again, plain)


def test_what_is_not_as_required_is_named_and_the_exit_status_is_1(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(experiment, "CLOSED_FORM", (0.99, 1.0))  # which nothing meets
    monkeypatch.setattr(experiment, "DATA", tmp_path)
    monkeypatch.setattr(sys, "argv", ["coverage.py", "--repetitions", "3"])
    assert experiment.main() == 1
    shown = capsys.readouterr()
    assert "not as required: 100 pairs, 30 directions, closed form: 0." in shown.err
    assert "mnist left out: give its folder with --mnist" in shown.out
    assert shown.out.count("\n| ") == 13  # the head and twelve rows


def test_a_folder_that_is_not_there_is_an_error(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["coverage.py", "--mnist", str(tmp_path / "absent")])
    with pytest.raises(SystemExit):
        experiment.main()
    assert "no folder" in capsys.readouterr().err
