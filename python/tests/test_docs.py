"""Examples in docstrings and in the README run and are right."""

import doctest
import importlib
import pathlib
import pkgutil
import re

import numpy as np
import pytest

import cgmca
from conftest import ROOT

MODULES = ["cgmca"] + [module.name for module in pkgutil.walk_packages(cgmca.__path__, "cgmca.")]
# The examples of the estimators count as those of the folder that pickles name.
WITHOUT_EXAMPLES = {"cgmca._estimators.estimator", "cgmca._estimators.fitting", "cgmca._estimators.intake",
                    "cgmca._model.plotting", "cgmca._model.statistics_plots", "cgmca.datasets", "cgmca.mpi", "cgmca.spark"}
PUBLIC = [getattr(cgmca, name) for name in cgmca.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if name.endswith(".mpi"):
        pytest.importorskip("mpi4py")
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
    assert tried > 0 or name in WITHOUT_EXAMPLES or hasattr(module, "__path__")  # a folder


def test_everything_public_is_documented():
    for thing in PUBLIC:
        assert thing.__doc__ and len(thing.__doc__) > 20, thing
    for kind in (cgmca.CGMCA, cgmca.MCA, cgmca.Summary):
        for name in dir(kind):
            if not name.startswith(("_", "set_", "get_", "n_features_in")):
                assert getattr(kind, name).__doc__, f"{kind.__name__}.{name}"


def test_the_readmes_example(tmp_path, monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    clean = random.normal(size=(500, 9)) @ random.normal(size=(9, 12)) + 0.1 * random.normal(size=(500, 12))
    noisy = clean + random.normal(size=clean.shape)
    np.save("clean.npy", clean)
    np.save("noisy.npy", noisy)
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    cleaned = names["cleaned"]
    assert np.linalg.norm(cleaned - clean) < 0.95 * np.linalg.norm(noisy - clean)
    assert pathlib.Path("model").exists()


def test_the_examples_of_the_python_page():  # other pages: tests/docs/run_blocks.py
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), flags=re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        exec(compile(block, "python.md", "exec"), {})


def test_stubs_name_what_the_module_has():
    """Every class, method and function of _core is in _core.pyi and the other way round."""
    import ast
    tree = ast.parse((pathlib.Path(cgmca.__file__).parent / "_core.pyi").read_text())
    ours = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            ours[node.name] = None
        elif isinstance(node, ast.AnnAssign) and not node.target.id.startswith("_"):
            ours[node.target.id] = None
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            ours[node.name] = {item.name for item in node.body
                               if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")}
    core = cgmca._core
    assert {name for name in dir(core) if not name.startswith("__")} == set(ours)
    for name, methods in ours.items():
        if methods:
            found = {method for method in vars(getattr(core, name)) if not method.startswith("_")}
            assert found == methods, name
