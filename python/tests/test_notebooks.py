"""The notebooks of examples/ run as they stand, and are stored with what they show."""

import importlib.machinery
import importlib.util
import json

import pytest

import cgmca
from conftest import ROOT

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
NEEDS = {"denoising_mnist.ipynb": cgmca.datasets.load_mnist, "radar_transfer.ipynb": cgmca.datasets.load_sample}


def runner():
    path = str(ROOT / "tools" / "run-notebook")
    loader = importlib.machinery.SourceFileLoader("run_notebook", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_notebook", loader))
    loader.exec_module(module)
    return module


def figures(notebook):
    return sum("image/png" in output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", []))


def test_every_notebook_is_known_here():
    assert {path.name for path in (ROOT / "examples").glob("*.ipynb")} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_it_runs_and_shows_its_figures(name):
    stored = json.loads((ROOT / "examples" / name).read_text())
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in code), "stored without outputs: tools/run-notebook --write"
    assert figures(stored) >= 4
    try:
        NEEDS[name]()
    except FileNotFoundError as absent:
        pytest.skip(str(absent))
    fresh = runner().run(ROOT / "examples" / name)
    assert figures(fresh) == figures(stored)
