"""experiments/fusion.py in short, on scikit-learn's digits: where fusing helps neighbours, and where it does not."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

from conftest import load_experiment

experiment = load_experiment("fusion")


def views(kind):
    images, target = load_digits(return_X_y=True)
    images = images / 16
    random = np.random.default_rng(5)
    square = images.reshape(-1, 8, 8)
    X, Y = {
        "halves": lambda: (square[:, :, :4].reshape(-1, 32), square[:, :, 4:].reshape(-1, 32)),
        "two noisy pictures": lambda: (images + 0.5 * random.normal(size=images.shape),
                                       images + 0.5 * random.normal(size=images.shape)),
        "Fourier and pixels": lambda: (np.abs(np.fft.fft2(square))[:, :, :5].reshape(len(images), -1), images),
    }[kind]()
    return X, Y, target


def neighbours(kind, monkeypatch):
    """Accuracy of the nearest neighbour, mean of two splits."""
    monkeypatch.setattr(experiment, "FAMILIES", {"correlation": [40]})
    X, Y, target = views(kind)
    found = []
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(target))
        found.append(experiment.accuracies(X, Y, target, order[:300], order[300:])["nearest neighbour"])
    return {column: np.mean([one[column] for one in found]) for column in found[0]}


@pytest.mark.parametrize("kind", ["halves", "two noisy pictures"])
def test_fused_features_beat_either_domain_alone(kind, monkeypatch):
    accuracy = neighbours(kind, monkeypatch)
    assert accuracy["fused, correlation"] > max(accuracy["domain 1"], accuracy["domain 2"]) + 0.02


def test_and_what_is_noise_in_both_is_left_out(monkeypatch):
    accuracy = neighbours("two noisy pictures", monkeypatch)
    assert accuracy["fused, correlation"] > accuracy["side by side"] + 0.05


def test_they_do_not_where_one_domain_knows_all_that_the_other_does(monkeypatch):
    accuracy = neighbours("Fourier and pixels", monkeypatch)
    assert accuracy["fused, correlation"] < accuracy["domain 2"]


def test_the_script_says_what_it_left_out(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(experiment, "DATA", tmp_path)
    monkeypatch.setattr(sys, "argv", ["fusion.py"])
    experiment.main()
    assert capsys.readouterr().out.count("left out: give its place with --") == 3
    monkeypatch.setattr(sys, "argv", ["fusion.py", "--mfeat", str(tmp_path / "absent.npz")])
    with pytest.raises(SystemExit):
        experiment.main()
