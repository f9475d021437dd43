"""What the tests of the Python package share."""

import importlib.util
import os
import pathlib

import numpy as np
import pytest

ROOT = pathlib.Path(os.environ.get("CGMCA_SOURCE", pathlib.Path(__file__).resolve().parent.parent.parent))
SHARED = ROOT.parent / "shared"
os.environ.setdefault("CGMCA_DATA", str(SHARED / "data"))
os.environ.setdefault("MPLBACKEND", "Agg")


def make_pairs(n=200, d1=8, d2=6, causes=4, noise=0.3, seed=0):
    """Two views of the same causes, with means far from zero."""
    random = np.random.default_rng(seed)
    t = random.normal(size=(n, causes))
    X = t @ random.normal(size=(causes, d1)) + noise * random.normal(size=(n, d1)) + 5
    Y = t @ random.normal(size=(causes, d2)) + noise * random.normal(size=(n, d2)) - 3
    return X, Y


def load_experiment(name):
    """experiments/NAME.py as a module, under a name that shadows no package."""
    spec = importlib.util.spec_from_file_location(f"experiment_{name}", ROOT / "experiments" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def pairs():
    return make_pairs()


@pytest.fixture(scope="session")
def mnist():
    import cgmca
    try:
        return cgmca.datasets.load_mnist()
    except FileNotFoundError as absent:
        pytest.skip(str(absent))
