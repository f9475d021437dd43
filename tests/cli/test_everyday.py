"""JSON when all is done, merging once, one file for several results, info of data, export, messages for operators."""

import json
import os
import re
import signal
import subprocess

import numpy as np
import pytest

from conftest import PROGRAM, ROOT


def failure(folder, *arguments, **more):
    """The one JSON object on stderr, and nothing on stdout."""
    result = folder.run(*arguments, "--json", **more)
    assert not result.out
    found = json.loads(result.err)
    assert set(found) == {"error", "message", "status"} and found["status"] == result.status != 0
    return found


def test_with_json_errors_are_one_object(folder):
    folder.model()
    assert failure(folder, "fit", "a.npy", "-o", "n")["error"] == "usage"
    assert failure(folder, "fit", "a.npy", "b.npy", "--ouput", "n")["error"] == "usage"
    assert failure(folder, "predict", "a.npy")["status"] == 2
    found = failure(folder, "fit", "a.npy", "missing.npy", "-o", "n")
    assert (found["error"], found["status"]) == ("files", 5) and "missing.npy" in found["message"]
    assert failure(folder, "apply", "m", "--domain", 1, "b.npy", "-o", "z.npy")["error"] == "data"
    assert failure(folder, "fit", "a.npy", "b.npy", "--cov", "identity:6", "-o", "n")["error"] == "infeasible"
    (folder / "broken.npy").write_bytes(b"\x93NUMPY\x01\x00 nonsense")
    assert failure(folder, "fit", "broken.npy", "b.npy", "-o", "n")["error"] == "format"
    np.save(folder / "other.npy", folder.a[::-1])
    result = folder.run("verify", "m", "other.npy", "b.npy", "--json")
    assert result.json["verified"] is False and json.loads(result.err)["error"] == "refuted"


def test_with_json_an_interrupt_is_one_object_too(folder):
    random = np.random.default_rng(0)
    for name in ("x.npy", "y.npy"):
        np.save(folder / name, random.normal(size=(100_000, 150)).astype(np.float32))
    process = subprocess.Popen([PROGRAM, "fit", "x.npy", "y.npy", "-o", "m", "--accumulate", "qr", "--json", "--progress",
                                "plain"], cwd=folder.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "pairs read" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 143 and out == ""
    found = json.loads(err.splitlines()[-1])
    assert found["error"] == "interrupted" and found["status"] == 143
    assert "stopping" not in err


def small_disk(folder, tmp_path_factory, size="64k"):
    disk = tmp_path_factory.mktemp("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small disk")
    return disk


def test_a_full_disk_gives_an_error_and_no_result(folder, tmp_path_factory):
    disk = small_disk(folder, tmp_path_factory)
    try:
        np.save(folder / "big.npy", np.tile(folder.a, (100, 1)))
        folder.model()
        found = failure(folder, "apply", "m", "--domain", 1, "big.npy", "-o", disk / "z.npy")
        assert found["error"] == "files" and "No space left" in found["message"]
        wide = np.random.default_rng(0).normal(size=(200, 60))
        np.save(folder / "w.npy", wide)
        for command in ("fit", "summarize"):
            assert "No space left" in failure(folder, command, "w.npy", "w.npy", "-o", disk / "out")["message"]
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("arguments", [
    ["fit", "a.npy", "b.npy", "-o", "out"],
    ["summarize", "a.npy", "b.npy", "-o", "out"],
    ["merge", "s", "-o", "out"],
    ["apply", "m", "--domain", "1", "a.npy", "-o", "out.npy"],
    ["translate", "m", "--from", "1", "--to", "2", "a.npy", "-o", "out.npy"],
    ["report", "m", "-o", "out.html"],
])
def test_where_stdout_fails_the_error_says_that_the_file_is_written(folder, arguments):
    folder.model()
    folder.summary()
    with open("/dev/full", "w") as full:
        result = folder.run(*arguments, "--json", stdout=full)
    assert result.status == 5 and (folder / arguments[-1]).exists()
    assert f"'{arguments[-1]}' is written all the same" in json.loads(result.err)["message"]


def parts(folder):
    for i, rows in enumerate((slice(0, 25), slice(25, 60))):
        np.save(folder / f"a{i}.npy", folder.a[rows])
        np.save(folder / f"b{i}.npy", folder.b[rows])
        folder.ok("summarize", f"a{i}.npy", f"b{i}.npy", "-o", f"p{i}", "-q")


def test_the_same_pairs_are_merged_once(folder):
    parts(folder)
    message = folder.fails(3, "merge", "p0", "p0", "p1", "-o", "t")
    assert "'p0' and 'p0'" in message and "'a0.npy'" in message and "--allow-repeats" in message
    assert folder.ok("merge", "p0", "p0", "p1", "--allow-repeats", "-o", "t", "--json").json["n"] == 85
    folder.ok("merge", "p0", "p1", "-o", "both")
    message = folder.fails(3, "merge", "both", "p1", "-o", "t")
    assert "'both' and 'p1'" in message and "'a1.npy'" in message
    # a copy under another name, and later, is the same
    (folder / "copy.npy").write_bytes((folder / "a0.npy").read_bytes())
    folder.ok("summarize", "copy.npy", "b0.npy", "-o", "again", "-q")
    assert "'p0' and 'again'" in folder.fails(3, "merge", "p0", "again", "-o", "t")
    assert folder.ok("info", "both", "--json").json["inputs"] == ["a0.npy", "b0.npy", "a1.npy", "b1.npy"]
    assert "a0.npy" in folder.ok("info", "both").out


def test_summaries_without_identity_merge_as_before(folder):
    from test_commands import rewritten, sealed
    folder.summary()
    content = (folder / "s").read_bytes()
    header = json.loads(content[8:8 + int.from_bytes(content[:8], "little")])
    del header["__metadata__"]["inputs"]
    text = json.dumps(header, separators=(",", ":")).encode()
    (folder / "old").write_bytes(
        sealed(len(text).to_bytes(8, "little") + text + content[8 + int.from_bytes(content[:8], "little"):]))
    assert folder.ok("merge", "old", "old", "s", "-o", "t", "--json").json["n"] == 180
    rewritten(folder / "s", {}, {"inputs": "no list"})
    assert "inputs" in folder.fails(3, "info", "s")


def test_a_transposed_input_hints_at_columns(folder):
    np.save(folder / "at.npy", folder.a.T)
    np.save(folder / "bt.npy", folder.b.T)
    assert "say --columns" in folder.fails(3, "fit", "at.npy", "bt.npy", "-o", "m")
    np.save(folder / "square.npy", folder.a[:5])
    assert "leave --columns out" in folder.fails(3, "fit", "a.npy", "b.npy", "--columns", "-o", "m")
    np.save(folder / "x.npy", np.ones((60, 8)))
    np.save(folder / "y.npy", np.ones((8, 60)))
    assert "one of them seems to hold samples as columns" in folder.fails(3, "fit", "x.npy", "y.npy", "-o", "m")


def test_an_output_that_is_an_input_is_called_so(folder):
    assert "the output './a.npy' is also an input" in folder.fails(2, "fit", "a.npy", "b.npy", "-o", "./a.npy")
    folder.model()
    assert "is also another output" in folder.fails(2, "translate", "m", "a.npy", "--from", 1, "--to", 2, "-o", "z.npy",
                                                    "--stderr", "./z.npy")


@pytest.mark.parametrize("word, command", [
    ("predict", "translate"), ("transform", "apply"), ("train", "fit"), ("convert", "translate"), ("inverse", "translate"),
    ("evaluate", "verify"), ("combine", "merge"), ("show", "info"), ("fusion", "fuse")])
def test_an_unknown_command_is_suggested_by_meaning(folder, word, command):
    assert f"there is no command '{word}', that is '{command}' here" in folder.fails(2, word, "a.npy")


def test_plain_progress_has_time_job_and_a_last_line(folder):
    np.savetxt(folder / "a.csv", folder.a, delimiter=",")
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    for name, total in (("a.npy", "60 of 60"), ("a.csv", "60 of 60")):
        lines = folder.ok("fit", name, "b.npy", "-o", "m", "--progress", "plain").err.splitlines()
        assert all(re.match(stamp + " fit -o m: ", line) for line in lines)
        assert f"{total} pairs read (100 %)" in lines[-1]


def test_a_full_disk_for_checkpoints_warns_once_and_the_work_goes_on(folder, tmp_path_factory):
    disk = small_disk(folder, tmp_path_factory, "16k")
    try:
        random = np.random.default_rng(0)
        for name in ("x.npy", "y.npy"):
            np.save(folder / name, random.normal(size=(60_000, 80)))
        result = folder.ok("summarize", "x.npy", "y.npy", "-o", "s", "--checkpoint", disk / "c", "--every", 0, "--json")
        assert result.err.count("warning: no checkpoint now") == 1 and "No space left" in result.err
        assert result.json["n"] == 60_000 and list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_options_are_called_as_on_the_command_line(folder):
    np.save(folder / "x.npy", folder.a[:6])
    np.save(folder / "y.npy", folder.b[:6])
    result = folder.ok("fit", "x.npy", "y.npy", "--cov", "identity:2", "-o", "m", "--json")
    assert "--max-rank" in result.err and "max_rank" not in result.err
    assert "max_rank" not in folder.ok("info", "m").out


def test_results_have_telling_names_and_share_a_file(folder):
    scipy_io = pytest.importorskip("scipy.io")
    folder.model()
    folder.ok("apply", "m", "--domain", 1, "a.npy", "-o", "r.mat")
    folder.ok("apply", "m", "--domain", 2, "b.npy", "-o", "r.mat:Z2")
    folder.ok("translate", "m", "--from", 2, "--to", 1, "b.npy", "-o", "r.mat:Y", "--stderr", "r.mat:E")
    found = scipy_io.loadmat(folder / "r.mat")
    assert {"Z1", "Z2", "Y", "E"} <= set(found) and found["Z1"].shape == (60, 5) and found["Y"].shape == (60, 7)
    folder.ok("translate", "m", "--from", 2, "--to", 1, "b.npy", "-o", "t.npz", "--stderr", "e.npz")
    assert np.load(folder / "t.npz")["X1_from_2"].shape == (60, 7)
    assert np.load(folder / "e.npz")["X1_from_2_stderr"].shape == (60, 7)
    # a member may be added to the input's own file, but nothing may replace the input
    np.savez(folder / "d.npz", x=folder.a)
    folder.ok("apply", "m", "--domain", 1, "d.npz:x", "-o", "d.npz:Z1")
    assert np.array_equal(np.load(folder / "d.npz")["x"], folder.a)
    assert "is also an input" in folder.fails(2, "apply", "m", "--domain", 1, "d.npz:x", "-o", "d.npz")


def test_columns_holds_for_outputs_too(folder):
    folder.model()
    np.save(folder / "at.npy", folder.a.T)
    folder.ok("apply", "m", "--domain", 1, "at.npy", "--columns", "-o", "zt.npy")
    folder.ok("apply", "m", "--domain", 1, "a.npy", "-o", "z.npy")
    folder.ok("apply", "m", "--domain", 1, "a.npy", "--columns-out", "-o", "zt2.npy")
    assert np.array_equal(np.load(folder / "zt.npy"), np.load(folder / "z.npy").T)
    assert np.array_equal(np.load(folder / "zt2.npy"), np.load(folder / "z.npy").T)
    assert "output" in folder.ok("apply", "--help").out


@pytest.mark.parametrize("choice, read", [
    ("magnitude", np.abs), ("power", lambda z: np.abs(z) ** 2), ("stack", lambda z: np.hstack([z.real, z.imag]))])
def test_complex_numbers_are_read_as_asked(folder, choice, read):
    scipy_io = pytest.importorskip("scipy.io")
    z = folder.a + 1j * np.random.default_rng(3).normal(size=folder.a.shape)
    scipy_io.savemat(folder / "z.mat", {"Z": z})
    np.save(folder / "r.npy", read(z))
    assert "--complex" in folder.fails(3, "fit", "z.mat", "b.npy", "-o", "m")
    folder.ok("fit", "z.mat", "b.npy", "--complex", choice, "-o", "m")
    folder.ok("verify", "m", "r.npy", "b.npy")
    folder.ok("verify", "m", "z.mat", "b.npy", "--complex", choice)
    folder.ok("apply", "m", "--domain", 1, "z.mat", "--complex", choice, "-o", "z.npy")


def test_info_lists_the_arrays_of_a_data_file(folder):
    folder.a[3, 2] = np.nan
    np.savez(folder / "d.npz", x=folder.a, y=folder.b.astype(np.float32))
    text = folder.ok("info", "d.npz").out
    assert "x" in text and "60 × 7" in text and "float64" in text and "1 missing" in text
    found = folder.ok("info", "d.npz", "--json").json
    assert [array["name"] for array in found["arrays"]] == ["x", "y"]
    assert found["arrays"][0]["shape"] == [60, 7] and found["arrays"][0]["missing"] == 1
    assert found["arrays"][1]["type"] == "float32" and found["arrays"][1]["missing"] == 0
    (folder / "t.csv").write_text("age,height\n1,2\n3,\n")
    found = folder.ok("info", "t.csv", "--json").json["arrays"][0]
    assert found["feature_names"] == ["age", "height"] and found["missing"] == 1
    (folder / "page.html").write_text("<!DOCTYPE html><html></html>")
    assert "HTML" in folder.fails(3, "info", "page.html")


@pytest.mark.parametrize("target", ["x.mat", "x.npz", "x.h5"])
def test_an_exported_model_maps_as_apply_does(folder, target):
    folder.ok("fit", "a.npy", "b.npy", "--cov", "data1:3", "-o", "m")
    folder.ok("export", "m", "-o", target)
    if target.endswith(".mat"):
        found = pytest.importorskip("scipy.io").loadmat(folder / target)
    elif target.endswith(".npz"):
        found = np.load(folder / target)
    else:
        found = {key: value[()] for key, value in pytest.importorskip("h5py").File(folder / target).items()}
    info = folder.ok("info", "m", "--json").json
    for domain, X in ((1, folder.a), (2, folder.b)):
        folder.ok("apply", "m", "--domain", domain, f"{'ab'[domain - 1]}.npy", "-o", "z.npy")
        A, b = np.asarray(found[f"A{domain}"]), np.asarray(found[f"b{domain}"]).reshape(-1)
        assert A.shape == (info["k"], X.shape[1])
        assert np.allclose(X @ A.T + b, np.load(folder / "z.npy"), atol=1e-9)
        assert np.allclose(np.asarray(found[f"mean{domain}"]).reshape(-1), X.mean(0))
        assert np.allclose(A @ np.cov(X, rowvar=False) @ A.T, np.asarray(found[f"covariance{domain}"]), atol=1e-8)
    assert np.asarray(found["objective"]).item() == pytest.approx(info["objective"])
    assert np.asarray(found["bound"]).item() == pytest.approx(info["bound"])
    assert np.allclose(np.asarray(found["correlations"]).reshape(-1), info["singular_B"])


def test_a_model_is_exported_as_text_one_file_an_array(folder):
    names = ["1100", "1102", "x", "y", "z", "u", "v"]
    np.savetxt(folder / "a.csv", folder.a, delimiter=",", header=",".join(names), comments="", fmt="%.17g")
    folder.ok("fit", "a.csv", "b.npy", "--cov", "identity:3", "-o", "m")
    result = folder.ok("export", "m", "-o", "t.csv", "--json").json
    assert set(result["files"]) == {f"t.{name}.csv" for name in result["arrays"]} <= folder.names()
    folder.ok("apply", "m", "--domain", 1, "a.csv", "-o", "z.npy")
    lines = (folder / "t.A1.csv").read_text().splitlines()
    assert lines[0] == ",".join(names)
    A, b = np.loadtxt(lines[1:], delimiter=","), np.loadtxt(folder / "t.b1.csv")
    assert np.allclose(folder.a @ A.T + b, np.load(folder / "z.npy"), atol=1e-9)
    folder.ok("export", "m", "--only", "A1", "-o", "one.tsv")
    assert np.array_equal(np.loadtxt(folder / "one.tsv", skiprows=1), A)
    folder.ok("export", "m", "--only", "A1,b1", "-o", "two.npz")
    assert set(np.load(folder / "two.npz").files) == {"A1", "A1_features", "b1"}
    assert "the model has no 'a1', did you mean 'A1'?" in folder.fails(2, "export", "m", "--only", "a1", "-o", "no.csv")
    # none of them where one cannot be written
    (folder / "half.bound.csv").mkdir()
    assert "it is a folder" in folder.fails(5, "export", "m", "-o", "half.csv")


def test_info_of_a_member_shows_only_that(folder):
    np.savez(folder / "two.npz", x=folder.a, xy=folder.b)
    found = folder.ok("info", "two.npz:x", "--json").json
    assert [array["name"] for array in found["arrays"]] == ["x"]
    fixtures = ROOT / "tests" / "fixtures"
    found = folder.ok("info", fixtures / "object.mat", "--json").json["arrays"]
    assert {"m5spec.data", "m5spec.name"} <= {array["name"] for array in found}
    found = folder.ok("info", f"{fixtures / 'object.mat'}:m5spec", "--json").json["arrays"]
    assert [array["name"] for array in found] == ["m5spec.name", "m5spec.data", "m5spec.axisscale"]
    found = folder.ok("info", f"{fixtures / 'octave.h5'}:flat", "--json").json["arrays"]
    assert [(array["name"], array["shape"]) for array in found] == [("/flat/type", []), ("/flat/value", [2, 12])]
    assert "holds no 'z'; it holds 'x', 'xy'" in folder.fails(3, "info", "two.npz:z")


def test_octave_reads_an_exported_model(folder):
    import shutil
    if shutil.which("octave-cli") is None:
        pytest.skip("no octave-cli")
    folder.model()
    folder.ok("export", "m", "-o", "x.mat")
    folder.ok("apply", "m", "--domain", 1, "a.npy", "-o", "z.mat")
    folder.ok("apply", "m", "--domain", 1, "a.npy", "-o", "z.csv")
    np.savetxt(folder / "a.csv", folder.a, delimiter=",", fmt="%.17g")
    script = "load x.mat; load z.mat; X = csvread('a.csv'); printf('%g', max(max(abs(A1*X' + b1 - Z1'))))"
    result = subprocess.run(["octave-cli", "--eval", script], cwd=folder.path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) < 1e-10


def test_a_model_is_no_mat_file(folder):
    for name in ("m.mat", "m.npz", "m.h5", "m.csv", "m.npy"):
        message = folder.fails(2, "fit", "a.npy", "b.npy", "-o", name)
        assert "cgmca export" in message
    folder.model()
    assert "-o" in folder.fails(2, "export", "m")
    assert ".mat" in folder.fails(2, "export", "m", "-o", "m.txt")
    os.rename(folder / "m", folder / "x.npz")
    folder.ok("info", "x.npz")  # a model is told by its content
