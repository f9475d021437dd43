"""Graphs of to_onnx, run by ONNX Runtime, beside the estimators (make onnx)."""

import numpy as np
import pytest

import cgmca

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def three(n=80, seed=0, offset=0.0):
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(n, 3))
    return {name: hidden @ random.normal(size=(3, d)) + 0.4 * random.normal(size=(n, d)) + offset
            for name, d in (("optical", 6), ("radar", 5), ("text", 4))}


def run(graph, arrays):
    """Every output of the graph, by name."""
    onnx.checker.check_model(graph, full_check=True)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    dtype = {"tensor(double)": np.float64, "tensor(float)": np.float32}[session.get_inputs()[0].type]
    feeds = {one.name: np.asarray(arrays[one.name], dtype) for one in session.get_inputs()}
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, feeds)))


def close(found, expected, dtype="float64"):
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    assert found.shape == expected.shape
    assert np.linalg.norm(found - expected) <= tolerance * np.linalg.norm(expected)


SETTINGS = [{}, {"ridge": 0.1, "calibrate": 5}, {"calibrate": 5}, {"max_rank": 4, "calibrate": 5}]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_two_domains(settings, dtype):
    data, new = three(), three(n=7, seed=5)
    model = cgmca.CGMCA("data1", 3, **settings).fit(data["optical"], data["radar"])
    inputs = {"X1": new["optical"], "X2": new["radar"]}
    for number, name in ((1, "optical"), (2, "radar")):
        found = run(cgmca.to_onnx(model, "apply", domain=number, dtype=dtype), inputs)
        close(found["mapped"], model.apply(new[name], domain=number), dtype)
        to = 3 - number
        found = run(cgmca.to_onnx(model, target=to, return_std=True, return_interval=0.9, dtype=dtype), inputs)
        expected, error = model.translate(new[name], source=number, target=to, return_std=True)
        _, lower, upper = model.translate(new[name], source=number, target=to, return_interval=0.9)
        for ours, theirs in ((found["translated"], expected), (found["standard_error"], error), (found["lower"], lower),
                             (found["upper"], upper)):
            close(ours, theirs, dtype)
    for domains in ([1], [2], [2, 1], None):
        given = [new["optical"] if domains is None or 1 in domains else None,
                 new["radar"] if domains is None or 2 in domains else None]
        close(run(cgmca.to_onnx(model, "fuse", domains=domains, dtype=dtype), inputs)["fused"], model.fuse(given), dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_three_named_domains(dtype):
    data, new = three(offset=1000.0), three(n=7, seed=5, offset=1000.0)
    if dtype == "float32":  # what the graph is given
        new = {name: X.astype(np.float32).astype(float) for name, X in new.items()}
    model = cgmca.MCA(2, calibrate=5).fit(data)
    graph = cgmca.to_onnx(model, target="text", return_std=True, dtype=dtype)
    assert [one.name for one in graph.graph.input] == ["optical", "radar"]
    found = run(graph, new)
    given = {"optical": new["optical"], "radar": new["radar"]}
    expected, error = model.translate(given, target="text", return_std=True)
    close(found["translated"], expected, dtype)
    close(found["standard_error"], error, dtype)
    one = run(cgmca.to_onnx(model, source="radar", target="text", dtype=dtype), new)
    close(one["translated"], model.translate({"radar": new["radar"]}, target="text"), dtype)
    for present in (["text"], ["radar", "optical"], ["optical", "radar", "text"]):
        fused = run(cgmca.to_onnx(model, "fuse", domains=present, dtype=dtype), new)["fused"]
        close(fused, model.fuse({name: new[name] for name in present}), dtype)


def test_the_graph_has_standard_operators_of_one_opset_and_an_open_number_of_samples():
    data = three()
    model = cgmca.MCA(2).fit(data["optical"], data["radar"])
    graph = cgmca.to_onnx(model)
    assert [(one.domain, one.version) for one in graph.opset_import] == [("", 17)]
    assert {one.domain for one in graph.graph.node} == {""}
    for n in (1, 50):
        assert run(graph, {"X2": data["radar"][:n]})["translated"].shape == (n, 6)


def test_what_cannot_be_exported_is_refused():
    X, Y = np.random.default_rng(0).normal(size=(2, 8, 9))
    with pytest.warns(cgmca.FitWarning):
        model = cgmca.MCA().fit(X, Y)  # saturated: no degrees of freedom for errors
    with pytest.raises(ValueError, match="no error bars|calibrate"):
        cgmca.to_onnx(model, return_std=True)
    with pytest.raises(ValueError, match="what is 'maps'"):
        cgmca.to_onnx(model, "maps")
    with pytest.raises(ValueError, match="dtype"):
        cgmca.to_onnx(model, dtype="int8")
    with pytest.raises(ValueError, match="only a translation"):
        cgmca.to_onnx(model, "apply", return_std=True)
    with pytest.raises(ValueError, match="once"):
        cgmca.to_onnx(model, "fuse", domains=[1, 1])
