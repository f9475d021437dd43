"""cgmca export --onnx. What needs onnx and ONNX Runtime runs in make onnx; what is said without them runs always."""

import os
import sys

import numpy as np
import pytest

PYTHON = {**os.environ, "CGMCA_PYTHON": sys.executable}


def needs_onnx():
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    pytest.importorskip("cgmca")


def run_graph(path, **samples):
    """Every output, by name. The checker has its say first."""
    import onnx
    import onnxruntime

    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    kinds = {"tensor(double)": np.float64, "tensor(float)": np.float32}
    feeds = {one.name: samples[one.name].astype(kinds[one.type]) for one in session.get_inputs()}
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, feeds)))


def close(found, path, tolerance):
    expected = np.load(path)
    assert found.shape == expected.shape
    assert np.linalg.norm(found - expected) <= tolerance * np.linalg.norm(expected)


@pytest.mark.parametrize("precision, tolerance", [("double", 1e-12), ("single", 1e-5)])
def test_graphs_give_what_the_commands_give(folder, precision, tolerance):
    needs_onnx()
    m = folder.model("--cov", "data1:3", "--calibrate", "5")
    folder.ok("translate", m, "--from", 2, "--to", 1, "b.npy", "-o", "y.npy", "--stderr", "e.npy", "--interval", .9,
              "--lower", "lo.npy", "--upper", "up.npy")
    folder.ok("apply", m, "--domain", 2, "b.npy", "-o", "z.npy")
    folder.ok("fuse", m, "a.npy", "b.npy", "-o", "f.npy")
    export = ["export", m, "--onnx", "--precision", precision, "--json"]
    said = folder.ok(*export, "--from", 2, "--to", 1, "--stderr", "--interval", .9, "-o", "t.onnx", env=PYTHON).json
    assert said["inputs"] == {"X2": 5} and said["outputs"]["standard_error"] == 7 and said["opset"] == 17
    found = run_graph(folder / "t.onnx", X2=folder.b)
    for name, path in (("translated", "y"), ("standard_error", "e"), ("lower", "lo"), ("upper", "up")):
        close(found[name], folder / f"{path}.npy", tolerance)
    folder.ok(*export, "--what", "apply", "--domain", 2, "-o", "a.onnx", env=PYTHON)
    close(run_graph(folder / "a.onnx", X2=folder.b)["mapped"], folder / "z.npy", tolerance)
    folder.ok(*export, "--what", "fuse", "-o", "f.onnx", env=PYTHON)
    close(run_graph(folder / "f.onnx", X1=folder.a, X2=folder.b)["fused"], folder / "f.npy", tolerance)
    assert not [name for name in folder.names() if name.startswith(".")]


def test_three_domains_in_a_graph(folder):
    needs_onnx()
    np.save(folder / "c.npy", folder.a[:, :3] + folder.b[:, :3])
    folder.ok("fit", "a.npy", "b.npy", "c.npy", "--cov", "identity:2", "-o", "m")
    folder.ok("translate", "m", "--from", "2,3", "--to", 1, "b.npy", "c.npy", "-o", "y.npy", "--stderr", "e.npy")
    folder.ok("fuse", "m", "--domains", "2,3", "b.npy", "c.npy", "-o", "f.npy")
    folder.ok("export", "m", "--onnx", "--stderr", "-o", "t.onnx", env=PYTHON)
    samples = {"X2": folder.b, "X3": np.load(folder / "c.npy")}
    found = run_graph(folder / "t.onnx", **samples)
    close(found["translated"], folder / "y.npy", 1e-12)
    close(found["standard_error"], folder / "e.npy", 1e-12)
    folder.ok("export", "m", "--onnx", "--what", "fuse", "--domains", "2,3", "-o", "f.onnx", env=PYTHON)
    close(run_graph(folder / "f.onnx", **samples)["fused"], folder / "f.npy", 1e-12)


def test_what_a_model_does_not_allow_is_refused(folder):
    needs_onnx()
    folder.ok("fit", "a.npy", "b.npy", "--cov", "identity:2", "-o", "m")
    folder.ok("export", "m", "--onnx", "-o", "t.onnx", env=PYTHON)
    np.save(folder / "a5.npy", folder.a[:5])
    np.save(folder / "b5.npy", folder.b[:5])
    folder.ok("fit", "a5.npy", "b5.npy", "-o", "few")
    assert "error bars" in folder.fails(3, "export", "few", "--onnx", "--stderr", "-o", "e.onnx", env=PYTHON)


def test_a_missing_python_and_missing_packages_are_named(folder):
    m = folder.model()
    said = folder.fails(5, "export", m, "--onnx", "-o", "t.onnx", env={**os.environ, "CGMCA_PYTHON": "no-such-python"})
    assert "'no-such-python' says: No such file" in said and "pip install onnx" in said
    empty = {key: value for key, value in PYTHON.items() if key != "PYTHONPATH"}
    said = folder.fails(5, "export", m, "--onnx", "-o", "t.onnx", env={**empty, "PYTHONPATH": str(folder.path)})
    assert "No module named" in said and "packages cgmca and onnx" in said


def test_options_of_graphs_are_checked(folder):
    m = folder.model()
    assert "--to is for export --onnx" in folder.fails(2, "export", m, "--to", 1, "-o", "m.npz")
    assert "writes .onnx" in folder.fails(2, "export", m, "--onnx", "-o", "m.npz")
    assert "--onnx" in folder.fails(2, "export", m, "-o", "m.onnx")
    assert "is for --what apply" in folder.fails(2, "export", m, "--onnx", "--domain", 1, "-o", "m.onnx")
    assert "--only" in folder.fails(2, "export", m, "--onnx", "--only", "A1", "-o", "m.onnx")
    assert "has domains 1 to 2" in folder.fails(2, "export", m, "--onnx", "--to", 5, "-o", "m.onnx")
