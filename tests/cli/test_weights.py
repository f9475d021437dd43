"""--weights: a weight of 2 is the pair twice, one of 0 leaves it out, in every command that reads pairs."""

import json
import signal
import struct
import subprocess
import time

import numpy as np
import pytest
import scipy.io

from conftest import PROGRAM


@pytest.fixture
def weighed(folder):
    """w.npy: 0, 1, 2, 3 in turn, one for each of the 60 pairs; aa.npy and bb.npy: the pairs as often."""
    folder.w = np.arange(60) % 4
    np.save(folder / "w.npy", folder.w)
    np.save(folder / "aa.npy", folder.a.repeat(folder.w, axis=0))
    np.save(folder / "bb.npy", folder.b.repeat(folder.w, axis=0))
    return folder


def maps(folder, model):
    folder.ok("export", model, "-o", "model.npz")
    with np.load(folder / "model.npz") as arrays:
        return {name: arrays[name] for name in arrays.files}


def assert_same_maps(folder, one, two):
    one, two = maps(folder, one), maps(folder, two)
    assert one["total_weight"] == two["total_weight"] == 90
    for name in ("A1", "b1", "A2", "b2", "correlations"):
        assert np.allclose(one[name], two[name], rtol=1e-10, atol=1e-10), name


@pytest.mark.parametrize("options", [[], ["--ridge", "auto"], ["--accumulate", "qr"], ["--accumulate", "gram"],
                                     ["--cov", "data1:3"], ["--max-rank", 4]])
def test_a_weight_of_two_is_the_pair_twice(weighed, options):
    found = weighed.ok("fit", "a.npy", "b.npy", "--weights", "w.npy", "-o", "m", "--json", *options).json
    assert found["n"] == 45 and found["total_weight"] == 90
    weighed.ok("fit", "aa.npy", "bb.npy", "-o", "mm", *options)
    assert_same_maps(weighed, "m", "mm")
    assert "45 of the weight 90" in weighed.ok("info", "m").out


@pytest.mark.parametrize("name", ["w.csv", "header.csv", "row.csv", "row.npy", "w.mat", "w.tsv", "wide.npy"])
def test_weights_are_read_from_any_format_as_a_column_or_a_row(weighed, name):
    if name == "header.csv":
        np.savetxt(weighed / name, weighed.w, header="times measured", comments="")
    elif name.startswith("row.csv"):
        np.savetxt(weighed / name, weighed.w[None], delimiter=",")
    elif name == "row.npy":
        np.save(weighed / name, weighed.w[None])
    elif name == "wide.npy":
        np.save(weighed / name, weighed.w[:, None].astype(np.float32))
    elif name == "w.mat":
        scipy.io.savemat(weighed / name, {"w": weighed.w})
    else:
        np.savetxt(weighed / name, weighed.w)
    weighed.ok("fit", "a.npy", "b.npy", "--weights", name, "-o", "m")
    weighed.ok("fit", "a.npy", "b.npy", "--weights", "w.npy", "-o", "mm")
    assert (weighed / "m").read_bytes() == (weighed / "mm").read_bytes()


def test_samples_as_columns_have_weights_too(weighed):
    scipy.io.savemat(weighed / "s.mat", {"X1": weighed.a.T, "X2": weighed.b.T, "w": weighed.w[:, None]})
    weighed.ok("fit", "s.mat:X1", "s.mat:X2", "--columns", "--weights", "s.mat:w", "-o", "m")
    weighed.ok("fit", "a.npy", "b.npy", "--weights", "w.npy", "-o", "mm")
    assert_same_maps(weighed, "m", "mm")


def test_a_model_is_verified_with_the_weights_of_its_fit(weighed):
    weighed.ok("fit", "a.npy", "b.npy", "--weights", "w.npy", "-o", "m")
    found = weighed.ok("verify", "m", "a.npy", "b.npy", "--weights", "w.npy", "--json").json
    assert found["verified"] and found["n"] == 45 and found["total_weight"] == 90
    assert weighed.run("verify", "m", "a.npy", "b.npy").status == 3
    np.save(weighed / "twice.npy", 2 * weighed.w)
    error = weighed.run("verify", "m", "a.npy", "b.npy", "--weights", "twice.npy")
    assert error.status == 3 and "weights that sum to 180 where those of the fit did to 90" in error.err
    weighed.ok("report", "m", "a.npy", "b.npy", "--weights", "w.npy", "-o", "r.html")
    assert "45 of the weight 90" in (weighed / "r.html").read_text()


def test_summaries_keep_weights_and_merge(weighed):
    for part, rows in ((1, slice(0, 22)), (2, slice(22, 60))):
        for name, X in (("a", weighed.a), ("b", weighed.b), ("w", weighed.w)):
            np.save(weighed / f"{name}{part}.npy", X[rows])
        weighed.ok("summarize", f"a{part}.npy", f"b{part}.npy", "--weights", f"w{part}.npy", "-o", f"s{part}")
    weighed.ok("merge", "s1", "s2", "-o", "s")
    assert "45 of the weight 90" in weighed.ok("info", "s").out
    weighed.ok("fit", "--summary", "s", "-o", "m")
    weighed.ok("fit", "aa.npy", "bb.npy", "-o", "mm")
    assert_same_maps(weighed, "m", "mm")


def test_files_mention_weights_only_where_there_are_any(weighed):
    weighed.ok("summarize", "a.npy", "b.npy", "-o", "plain")
    weighed.ok("summarize", "a.npy", "b.npy", "--weights", "w.npy", "-o", "weighted")
    for name in ("plain", "weighted"):
        data = (weighed / name).read_bytes()
        header = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])
        assert header["__metadata__"]["version"] == "4" and ("weights" in header) == (name == "weighted")
    np.save(weighed / "ones.npy", np.ones(60))
    weighed.ok("summarize", "a.npy", "b.npy", "--weights", "ones.npy", "-o", "ones")
    assert (weighed / "ones").read_bytes() == (weighed / "plain").read_bytes()


def test_weights_stay_with_their_pair_where_others_are_dropped(weighed):
    a = weighed.a.copy()
    a[[5, 9, 30], 2] = np.nan
    a[[4, 8], 1] = np.nan  # of weight 0: left out anyway
    np.save(weighed / "gaps.npy", a)
    result = weighed.ok("fit", "gaps.npy", "b.npy", "--weights", "w.npy", "--missing", "drop", "-o", "m")
    assert "3 of 60 pairs have missing values" in result.err
    kept = np.setdiff1d(np.arange(60), [4, 5, 8, 9, 30])
    np.save(weighed / "a1.npy", weighed.a[kept])
    np.save(weighed / "b1.npy", weighed.b[kept])
    np.save(weighed / "w1.npy", weighed.w[kept])
    weighed.ok("fit", "a1.npy", "b1.npy", "--weights", "w1.npy", "-o", "mm")
    assert (weighed / "m").read_bytes() == (weighed / "mm").read_bytes()
    a[[5, 9, 30], 2] = 0
    np.save(weighed / "gaps.npy", a)
    weighed.ok("fit", "gaps.npy", "b.npy", "--weights", "w.npy", "-o", "m")  # only pairs of weight 0 have gaps


def test_weights_follow_x1_where_pairs_are_matched_by_key(weighed):
    random = np.random.default_rng(2)
    order = random.permutation(60)[:50]
    for name, X, rows in (("k1.csv", weighed.a, range(60)), ("k2.csv", weighed.b, order)):
        with open(weighed / name, "w") as file:
            file.write("id," + ",".join(f"{name[1]}{j}" for j in range(X.shape[1])) + "\n")
            file.writelines(f"s{i}," + ",".join(map(repr, map(float, X[i]))) + "\n" for i in rows)
    weighed.ok("fit", "k1.csv", "k2.csv", "--id", "id", "--weights", "w.npy", "-o", "m")
    kept = np.sort(order)
    for name, X in (("a1", weighed.a), ("b1", weighed.b), ("w1", weighed.w)):
        np.save(weighed / f"{name}.npy", X[kept])
    weighed.ok("fit", "a1.npy", "b1.npy", "--weights", "w1.npy", "-o", "mm")
    one, two = maps(weighed, "m"), maps(weighed, "mm")
    assert np.allclose(one["A1"], two["A1"], rtol=1e-12)
    message = weighed.fails(3, "fit", "k1.csv", "k2.csv", "--id", "id", "--weights", "w1.npy", "-o", "m2", "-q")
    assert "'w1.npy' holds 50 weights for 60 samples of 'k1.csv'" in message


def test_tuning_and_calibration_take_weights(weighed):
    found = weighed.ok("tune", "a.npy", "b.npy", "--weights", "w.npy", "--permutations", 19, "--json").json
    assert found["n"] == 45 and found["permutation_test"]["kind"] == "permutations"  # of the copies of whole weights
    np.save(weighed / "half.npy", weighed.w + 0.1 * np.arange(60))
    text = weighed.ok("tune", "a.npy", "b.npy", "--weights", "half.npy", "--permutations", 19).out
    assert "random rotations; p =" in text
    assert "note: the p values assume normal data, because weights that are not whole numbers" in text
    labels = (weighed.a[:, 0] > 5).astype(int)
    np.save(weighed / "labels.npy", labels)
    weighed.ok("tune", "a.npy", "b.npy", "--weights", "w.npy", "--labels", "labels.npy", "--covs", "identity")
    weighed.ok("tune", "a.npy", "b.npy", "--weights", "w.npy", "--criterion", "partner")
    weighed.ok("fit", "a.npy", "b.npy", "--weights", "w.npy", "--tune", "-o", "m")
    found = weighed.ok("fit", "a.npy", "b.npy", "--weights", "w.npy", "--cov", "identity:2", "--calibrate", 5, "--json",
                       "-o", "m").json
    assert found["calibration_folds"] == 5 and found["total_weight"] == 90
    kept = weighed.w > 0  # of weight 0 is left out: the folds are those of the others
    for name, X in (("a1", weighed.a), ("b1", weighed.b), ("w1", weighed.w)):
        np.save(weighed / f"{name}.npy", X[kept])
    weighed.ok("fit", "a1.npy", "b1.npy", "--weights", "w1.npy", "--cov", "identity:2", "--calibrate", 5, "-o", "mm")
    assert (weighed / "m").read_bytes() == (weighed / "mm").read_bytes()


def test_a_resumed_summary_has_the_same_weights(weighed):
    random = np.random.default_rng(3)
    n = 200_000  # four blocks
    for name in ("c", "d"):
        np.save(weighed / f"{name}.npy", random.normal(size=(n, 20)).astype(np.float32))
    np.save(weighed / "v.npy", random.integers(0, 3, size=n))
    command = ["summarize", "c.npy", "d.npy", "--accumulate", "qr"]
    weighed.ok(*command, "--weights", "v.npy", "-o", "whole")
    command += ["-o", "s", "--checkpoint", "part"]
    process = subprocess.Popen([PROGRAM, *command, "--weights", "v.npy", "--every", "0", "-q"], cwd=weighed.path)
    while not (weighed / "part").exists():
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    command.append("--resume")
    assert "there were --weights then" in weighed.fails(3, *command)
    np.save(weighed / "other.npy", np.ones(n))
    assert "weights hash_of_ends" in weighed.fails(3, *command, "--weights", "other.npy")
    assert "missing" not in weighed.ok(*command, "--weights", "v.npy").err  # those of weight 0 are none
    assert (weighed / "s").read_bytes() == (weighed / "whole").read_bytes()


def save(folder, values):
    np.save(folder / "bad.npy", np.asarray(values, dtype=float))


@pytest.mark.parametrize("place, value, said", [(7, -1, "holds -1 at row 8"), (3, np.nan, "holds NaN"),
                                                (0, np.inf, "holds inf at row 1"), (59, 1e101, "at row 60")])
def test_a_bad_weight_is_named_with_its_place(weighed, place, value, said):
    weights = np.ones(60)
    weights[place] = value
    save(weighed, weights)
    for command in (["fit", "a.npy", "b.npy", "-o", "m"], ["summarize", "a.npy", "b.npy", "-o", "s"],
                    ["tune", "a.npy", "b.npy"]):
        assert said in weighed.fails(3, *command, "--weights", "bad.npy")


def test_another_number_of_weights_tells_both(weighed):
    save(weighed, np.ones(59))
    message = weighed.fails(3, "fit", "a.npy", "b.npy", "--weights", "bad.npy", "-o", "m")
    assert "'bad.npy' holds 59 weights for 60 pairs" in message
    for name, X in (("a.csv", weighed.a), ("b.csv", weighed.b)):  # text tells its length only at its end
        np.savetxt(weighed / name, X, delimiter=",")
    for count in (59, 61):
        np.savetxt(weighed / "bad.csv", np.ones(count))
        assert f"'bad.csv' holds {count} weights for 60 pairs" in weighed.fails(
            3, "fit", "a.csv", "b.csv", "--weights", "bad.csv", "-o", "m")


def test_weights_that_leave_nothing_are_refused(weighed):
    save(weighed, np.zeros(60))
    for command in (["fit", "a.npy", "b.npy", "-o", "m"], ["summarize", "a.npy", "b.npy", "-o", "s"],
                    ["tune", "a.npy", "b.npy"]):
        assert "'bad.npy': all 60 weights are 0" in weighed.fails(3, *command, "--weights", "bad.npy")
    save(weighed, np.full(60, 1 / 60))
    assert "the weights sum to 1; a covariance needs more than 1" in weighed.fails(
        3, "fit", "a.npy", "b.npy", "--weights", "bad.npy", "-o", "m")
    save(weighed, np.ones((3, 20)))
    message = weighed.fails(3, "fit", "a.npy", "b.npy", "--weights", "bad.npy", "-o", "m")
    assert "weights are one column, or one row" in message


def test_weights_without_pairs_make_no_sense(weighed):
    weighed.summary()
    assert "--weights" in weighed.fails(2, "fit", "--summary", "s", "--weights", "w.npy", "-o", "m")
    weighed.model()
    assert "--weights" in weighed.fails(2, "report", "m", "--weights", "w.npy", "-o", "r.html")
    assert "input" in weighed.fails(2, "fit", "a.npy", "b.npy", "--weights", "w.npy", "-o", "w.npy")
