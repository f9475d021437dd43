"""The same model from C++, from the command line and from Python, to the last bit of the file; and files both ways.

All three run with the same OpenBLAS kernels: the command line would restart itself with better ones than OpenBLAS picks
on a processor it does not know, and other kernels round differently.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import cgmca
from cgmca import CGMCA, MCA, Summary
from conftest import ROOT, make_pairs

PROGRAM = os.environ.get("CGMCA_PROGRAM", str(ROOT / "build" / "cgmca"))
BY_CPP = os.environ.get("CGMCA_FIT_BY_CPP", str(ROOT / "build" / "python" / "fit_by_cpp"))
OTHER_BLAS = "CGMCA_FIT_BY_CPP_OTHER_BLAS" in os.environ  # the wheel has a BLAS of its own
needs_program = pytest.mark.skipif(not pathlib.Path(PROGRAM).exists(), reason=f"no command line at {PROGRAM}")
needs_cpp = pytest.mark.skipif(not pathlib.Path(BY_CPP).exists(), reason=f"no C++ program at {BY_CPP}")


def kernels():
    try:
        flags = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return {}
    for name, needed in (("SkylakeX", ("avx512f", "avx512dq", "avx512bw", "avx512vl")), ("Haswell", ("avx2", "fma"))):
        if all(f" {flag}" in flags for flag in needed):
            return {"OPENBLAS_CORETYPE": name}
    return {}


ENVIRONMENT = {**os.environ, **kernels()}


def run(*command):
    result = subprocess.run([*map(str, command)], capture_output=True, text=True, env=ENVIRONMENT, timeout=600)
    assert result.returncode == 0, result.stderr
    return result.stdout


def arrays(path):
    """Name → (shape, bytes), read without cgmca."""
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__")
    return {name: (entry["shape"], data[8 + length + entry["data_offsets"][0]:8 + length + entry["data_offsets"][1]])
            for name, entry in header.items()}


def by_python(folder, kind, k, max_rank, ridge, out):
    run(sys.executable, "-c", f"""
import numpy as np, cgmca
X, Y = np.load(r"{folder}/x.npy"), np.load(r"{folder}/y.npy")
model = cgmca.CGMCA({kind!r}, {k}, max_rank={max_rank or None}, ridge={ridge}).fit(X, Y)
cgmca.save(model, r"{out}")
""")


def compare(folder, kind, k, max_rank=0, ridge=0.0):
    run(BY_CPP, folder / "x.npy", folder / "y.npy", kind, k, max_rank, ridge, folder / "by_cpp")
    options = ["--max-rank", max_rank] * bool(max_rank) + ["--ridge", ridge] * bool(ridge)
    run(PROGRAM, "fit", folder / "x.npy", folder / "y.npy", "--cov", f"{kind}:{k}", *options, "-o", folder / "by_cli")
    by_python(folder, kind, k, max_rank, ridge, folder / "by_python")
    cpp, cli, python = (arrays(folder / f"by_{name}") for name in ("cpp", "cli", "python"))
    assert len(python) == 12 and python.keys() == cpp.keys() == cli.keys()
    for name in python:
        assert python[name] == cli[name], name
    if OTHER_BLAS:  # which rounds otherwise
        for name in ("singular_A", "singular_B"):
            shape, found = python[name]
            assert cpp[name][0] == shape, name
            assert np.allclose(np.frombuffer(found), np.frombuffer(cpp[name][1]), rtol=0, atol=1e-9 * np.frombuffer(found).max())
    else:
        for name in python:
            assert python[name] == cpp[name], name
        assert (folder / "by_python").read_bytes() == (folder / "by_cpp").read_bytes()


@needs_program
@needs_cpp
@pytest.mark.parametrize("kind, k", [("identity", 4), ("data1", 5), ("data2", 3)])
@pytest.mark.parametrize("n", [40, 1500])
def test_small_models(tmp_path, kind, k, n):
    X, Y = make_pairs(n=n)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    compare(tmp_path, kind, k)


def cli_takes(option):
    return pathlib.Path(PROGRAM).exists() and option in subprocess.run([PROGRAM, "fit", "--help"], capture_output=True,
                                                                        text=True).stdout


@needs_cpp
@pytest.mark.skipif(not cli_takes("--max-rank"), reason="this command line has no --max-rank")
@pytest.mark.parametrize("kind, k, max_rank, ridge", [("correlation", 5, 10, 0.0), ("identity", 8, 0, 0.1)])
def test_regularized_models(tmp_path, kind, k, max_rank, ridge):
    X, Y = make_pairs(n=50, d1=90, d2=70, causes=12)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    compare(tmp_path, kind, k, max_rank, ridge)


@needs_program
@needs_cpp
def test_a_model_of_the_papers_size(tmp_path, mnist):
    clean = mnist.data[mnist.target == 3][:4905] / 255
    noisy = np.clip(clean + np.sqrt(0.1) * np.random.default_rng(0).normal(size=clean.shape), 0, 1)
    np.save(tmp_path / "x.npy", clean)
    np.save(tmp_path / "y.npy", noisy)
    compare(tmp_path, "data1", 550)


# Files, both ways


@needs_program
def test_the_command_line_reads_pythons_model_and_python_the_command_lines(tmp_path, pairs):
    X, Y = pairs
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    model = CGMCA("data1", 3).fit(X, Y)
    cgmca.save(model, tmp_path / "model")
    run(PROGRAM, "verify", tmp_path / "model", tmp_path / "x.npy", tmp_path / "y.npy")
    run(PROGRAM, "translate", tmp_path / "model", "--from", 2, "--to", 1, tmp_path / "y.npy", "-o", tmp_path / "t.npy")
    assert np.allclose(np.load(tmp_path / "t.npy"), model.translate(Y), rtol=0, atol=1e-12)

    run(PROGRAM, "fit", tmp_path / "x.npy", tmp_path / "y.npy", "--cov", "data2:2", "-o", tmp_path / "theirs")
    theirs = cgmca.load(tmp_path / "theirs")
    assert theirs.get_params()["covariance"] == "data2" and theirs.n_components == 2 and theirs.n_features_in_ == 8
    assert np.allclose(theirs.transform(X), CGMCA("data2", 2).fit(X, Y).transform(X), rtol=0, atol=1e-11)
    assert json.loads(run(PROGRAM, "info", tmp_path / "theirs", "--json"))["objective"] == theirs.certificate_.objective

    run(PROGRAM, "summarize", tmp_path / "x.npy", tmp_path / "y.npy", "-o", tmp_path / "summary")
    assert Summary.load(str(tmp_path / "summary")).n_samples == 200
    Summary(8, 6).add(X, Y).save(str(tmp_path / "ours"))
    run(PROGRAM, "merge", tmp_path / "ours", tmp_path / "summary", "-o", tmp_path / "both")
    assert Summary.load(str(tmp_path / "both")).n_samples == 400
    # of one file, whose pairs would count twice
    summary, again = (Summary.load(str(tmp_path / "summary")) for _ in range(2))
    with pytest.raises(ValueError, match="x.npy"):
        summary.merge(again)
    assert summary.merge(again, allow_repeats=True).n_samples == 400


@pytest.mark.parametrize("covariance, n, restored", [
    ("identity", 3, "identity"), ("identity", None, "identity"), ("data1", 2, "data1"), ("correlation", 2, "correlation"),
    (("identity", "data2"), 6, ("identity", "data2")), (np.diag([3.0, 1, 2]), None, None),
])
def test_what_is_saved_is_loaded(tmp_path, pairs, covariance, n, restored):
    X, Y = pairs
    model = CGMCA(covariance, n).fit(X, Y)
    cgmca.save(model, str(tmp_path / "model"))
    again = cgmca.load(tmp_path / "model")
    for method in ("lmmse", "exact", "mahalanobis", "lsqr"):
        assert np.array_equal(again.translate(Y, method=method), model.translate(Y, method=method))
    assert again.certificate_.objective == model.certificate_.objective
    assert again.certificate_.constrained == model.certificate_.constrained
    if restored is None:
        assert np.allclose(again.covariance[0], covariance) and np.allclose(again.covariance[1], covariance)
    else:
        assert again.covariance == restored and (n is None or again.n_components == n)
    assert np.allclose(again.fit(X, Y).transform(X), model.transform(X), rtol=0, atol=1e-9)


def test_one_domains_map_can_be_shipped_alone(tmp_path, pairs):
    X, Y = pairs
    model = MCA(3).fit(X, Y)
    cgmca.save(model, tmp_path / "model", domain=2)
    alone = cgmca.load(tmp_path / "model")
    assert np.array_equal(alone.apply(Y, domain=2), model.apply(Y, domain=2))
    assert alone.A_[0] is None and np.array_equal(alone.A_[1], model.A_[1])
    with pytest.raises(ValueError, match="holds only domain 2"):
        alone.translate(Y)


def test_the_safetensors_package_reads_models_and_summaries(tmp_path, pairs):
    safetensors = pytest.importorskip("safetensors.numpy")
    model = CGMCA("data1", 3).fit(*pairs)
    cgmca.save(model, tmp_path / "model.safetensors")
    found = safetensors.load_file(tmp_path / "model.safetensors")
    assert np.allclose(found["mixing1"] @ found["weights1"], model.A_[0])
    assert np.array_equal(found["mean2"], model.means_[1])
    summary = Summary(8, 6).add(*pairs)
    summary.save(str(tmp_path / "summary"))
    assert safetensors.load_file(tmp_path / "summary")["mean"].shape == (14,)


def test_bad_files_are_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        cgmca.load(tmp_path / "absent")
    assert caught.value.filename == str(tmp_path / "absent")
    (tmp_path / "text").write_text("this is no model, whatever its name may be")
    with pytest.raises(ValueError, match="not a safetensors file"):
        cgmca.load(tmp_path / "text")
    with pytest.raises(OSError):
        cgmca.load(tmp_path)
    with pytest.raises(TypeError, match="save takes a fitted CGMCA or MCA, not dict"):
        cgmca.save({}, tmp_path / "model")
