"""What the tests of the Python package share."""

import importlib.util
import os
import pathlib
import subprocess
import sys

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


def make_views(n=200, features=(8, 6, 5), causes=4, noise=0.5, seed=0):
    """Views of the same causes, with means far from zero."""
    random = np.random.default_rng(seed)
    t = random.normal(size=(n, causes))
    return [t @ random.normal(size=(causes, d)) + noise * random.normal(size=(n, d)) + 5 for d in features]


def load_experiment(name):
    """experiments/NAME.py as a module, under a name that shadows no package."""
    spec = importlib.util.spec_from_file_location(f"experiment_{name}", ROOT / "experiments" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def interrupt(setup, work, after="", seconds=0.5):
    """Runs Python lines in a process of its own and sends it Ctrl-C `seconds` into `work`. Returns what it printed:
    "finished", or "interrupted", how long it took to stop, and what the lines `after` that printed."""
    lines = ["import os, signal, threading, time",
             "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it",
             "import numpy as np, cgmca", setup, "def interrupt():", f"    time.sleep({seconds})",
             "    sent.append(time.perf_counter())", "    os.kill(os.getpid(), signal.SIGINT)", "sent = []",
             "threading.Thread(target=interrupt, daemon=True).start()", "try:", f"    {work}",
             "except KeyboardInterrupt:", "    print('interrupted', time.perf_counter() - sent[0])", "else:",
             "    print('finished')", after]
    result = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.split()


@pytest.fixture
def pairs():
    return make_pairs()


@pytest.fixture
def views():
    return make_views()


@pytest.fixture(scope="session")
def mnist():
    import cgmca
    try:
        return cgmca.datasets.load_mnist()
    except FileNotFoundError as absent:
        pytest.skip(str(absent))
