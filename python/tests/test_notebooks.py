"""The notebooks of examples/ run, and are stored with what they show.

They run as they stand where CGMCA_WHOLE_NOTEBOOKS is set, as in `make docs-test`; otherwise what is repeated for
several random draws is done for one. To store what they show now, run this file as a program:
PYTHONPATH=build/python python3 python/tests/test_notebooks.py
"""

import os
import sys

import pytest

import cgmca
from conftest import ROOT

for module in ("matplotlib", "pandas", "ipykernel"):
    pytest.importorskip(module)
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
QUICK = {"radar_transfer.ipynb": ("for seed in range(1, 6):", "for seed in range(1, 2):")}
NEEDS = {"denoising_mnist.ipynb": cgmca.datasets.load_mnist, "radar_transfer.ipynb": cgmca.datasets.load_sample}


def read(name):
    return nbformat.read(ROOT / "examples" / name, as_version=4)


def shorten(notebook, name):
    long, quick = QUICK[name]
    sources = [cell["source"] for cell in notebook["cells"]]
    assert sum(source.count(long) for source in sources) == 1
    for cell, source in zip(notebook["cells"], sources):
        cell["source"] = source.replace(long, quick)


def run(name, monkeypatch, whole=True):
    """The notebook with fresh outputs, by this Python. The kernel itself chooses how figures are shown."""
    monkeypatch.delenv("MPLBACKEND", raising=False)
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # or the kernel warns that it cannot be debugged
    notebook = read(name)
    if not whole and name in QUICK:
        shorten(notebook, name)
    client = nbclient.NotebookClient(notebook, timeout=600)
    manager = client.create_kernel_manager()
    manager.kernel_spec.argv[0] = sys.executable
    client.execute()
    return notebook


def figures(notebook):
    return sum("image/png" in output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", []))


def test_every_notebook_is_known_here():
    assert {path.name for path in (ROOT / "examples").glob("*.ipynb")} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_it_runs_and_shows_its_figures(name, monkeypatch):
    stored = read(name)
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in code), "stored without outputs: run this file as a program"
    assert figures(stored) >= 4
    try:
        NEEDS[name]()
    except FileNotFoundError as absent:
        pytest.skip(str(absent))
    assert figures(run(name, monkeypatch, whole="CGMCA_WHOLE_NOTEBOOKS" in os.environ)) == figures(stored)


def main():
    for name in NEEDS:
        with pytest.MonkeyPatch.context() as monkeypatch:
            nbformat.write(run(name, monkeypatch), ROOT / "examples" / name)


if __name__ == "__main__":
    main()
