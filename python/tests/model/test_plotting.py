"""Pictures: they show what they should, and say what is missing without matplotlib."""

import subprocess
import sys

import numpy as np
import pytest

import cgmca
from cgmca import MCA

pyplot = pytest.importorskip("matplotlib.pyplot")


def test_correlations(pairs):
    model = MCA(2).fit(*pairs)
    figure, ax = pyplot.subplots()
    assert cgmca.plot_correlations(model, ax, label="pairs") is ax
    assert np.array_equal(ax.lines[0].get_ydata(), model.canonical_correlations_)
    assert [text.get_text() for text in ax.texts] == ["2 used"]
    assert ax.get_xlabel() == "canonical direction"
    cgmca.plot_correlations(model)
    pyplot.close("all")


def test_translation(tmp_path):
    images = np.random.default_rng(0).uniform(size=(5, 12))
    figure = cgmca.plot_translation([("given", images), ("wanted", 1 - images)], (3, 4), n_images=4)
    assert len(figure.axes) == 8
    assert figure.axes[0].get_ylabel() == "given" and figure.axes[4].get_ylabel() == "wanted"
    assert np.array_equal(figure.axes[5].images[0].get_array(), (1 - images[1]).reshape(3, 4))
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000
    with pytest.raises(ValueError, match="no images"):
        cgmca.plot_translation([], (3, 4))
    pyplot.close("all")


def test_matplotlib_is_needed_only_for_pictures():
    script = """
import sys
sys.modules["matplotlib"] = sys.modules["matplotlib.pyplot"] = None
import numpy as np, cgmca
X = np.random.default_rng(0).normal(size=(30, 3))
model = cgmca.MCA().fit(X, X[:, :2])
try:
    cgmca.plot_correlations(model)
except ImportError as problem:
    assert "needs matplotlib" in str(problem)
    print("told")
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout == "told\n", result.stderr


def test_pictures_of_statistics(tmp_path):
    random = np.random.default_rng(2)
    causes = random.normal(size=(60, 3))
    X, Y = (causes @ random.normal(size=(3, d)) + 0.3 * random.normal(size=(60, d)) for d in (5, 4))
    model, labels = MCA(3, ridge=0.1).fit(X, Y), np.arange(60) % 3
    found, drawn = model.diagnose(X, Y), cgmca.bootstrap(X, Y, estimator=MCA(2), n=20)
    pictures = [lambda ax: cgmca.plot_scores(model, X, Y, labels, arrows=True, ax=ax), lambda ax: cgmca.plot_circle(model, ax=ax),
                lambda ax: cgmca.plot_biplot(model, X, Y, ax=ax), lambda ax: cgmca.plot_cross_correlations(model, ax=ax),
                lambda ax: cgmca.plot_scree(model, X, Y, permutations=5, ax=ax), lambda ax: cgmca.plot_shares(model, ax=ax),
                lambda ax: cgmca.plot_weights(drawn, ax=ax), lambda ax: cgmca.plot_diagnosis(found, ax=ax)]
    figure, axes = pyplot.subplots(2, 4, figsize=(20, 10))
    for draw, ax in zip(pictures, axes.ravel()):
        assert draw(ax) is ax and ax.get_xlabel()
    circle = np.vstack([points.get_offsets() for points in axes[0, 1].collections])
    assert len(circle) == 9 and np.hypot(*circle.T).max() <= 1 + 1e-12
    assert np.allclose([bar.get_height() for bar in axes[1, 1].patches[:3]], model.explained_.shares(1).standardized.alone)
    figure.savefig(tmp_path / "pictures.png")
    with pytest.raises(ValueError, match="directions"):
        cgmca.plot_circle(model, directions=(1, 9))
    with pytest.raises(ValueError, match="labels"):
        cgmca.plot_scores(model, X, Y, labels[:5])
    pyplot.close("all")
