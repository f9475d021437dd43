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
