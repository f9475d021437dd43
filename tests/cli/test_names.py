"""Names of features, names of samples, and missing values, from the files to every later use."""

import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import PROGRAM, Folder

A_NAMES = ["age", "height", "weight", "pulse", "steps", "sleep", "score"]
B_NAMES = ["b1", "b2", "b3", "b4", "b5"]


def write_csv(path, X, names=None, ids=None, id_name="id"):
    with open(path, "w") as file:
        if names is not None:
            file.write(",".join(([id_name] if ids is not None else []) + list(names)) + "\n")
        for i, row in enumerate(X):
            cells = ["" if np.isnan(value) else repr(float(value)) for value in row]
            file.write(",".join(([str(ids[i])] if ids is not None else []) + cells) + "\n")


@pytest.fixture
def named(folder):
    """a.csv and b.csv with headers, ar.csv with a's columns in another order, a model m and a summary s of them."""
    write_csv(folder / "a.csv", folder.a, A_NAMES)
    write_csv(folder / "b.csv", folder.b, B_NAMES)
    folder.order = [3, 1, 0, 2, 4, 6, 5]
    write_csv(folder / "ar.csv", folder.a[:, folder.order], [A_NAMES[i] for i in folder.order])
    folder.ok("fit", "a.csv", "b.csv", "-o", "m", "-q")
    folder.ok("summarize", "a.csv", "b.csv", "-o", "s", "-q")
    return folder


def test_apply_and_translate_put_columns_in_another_order_right_and_say_so(named):
    for command, options in (("apply", ["--domain", 1]), ("translate", ["--from", 1, "--to", 2])):
        assert named.ok(command, "m", *options, "a.csv", "-o", "right.npy").err == ""
        result = named.ok(command, "m", *options, "ar.csv", "-o", "moved.npy")
        assert result.err == "'ar.csv': 5 features are put into the order of domain 1 of 'm'\n"
        assert np.array_equal(np.load(named / "moved.npy"), np.load(named / "right.npy"))


def test_verify_report_and_extra_samples_do_too(named):
    assert "5 features" in named.ok("verify", "m", "ar.csv", "b.csv").err
    assert "5 features" in named.ok("report", "m", "ar.csv", "b.csv", "-o", "r.html").err
    first = named.ok("fit", "a.csv", "b.csv", "--extra1", "a.csv", "-o", "e", "--json").json
    second = named.ok("fit", "a.csv", "b.csv", "--extra1", "ar.csv", "-o", "e", "--json")
    assert "5 features are put into the order of domain 1" in second.err
    assert np.allclose(second.json["singular_B"], first["singular_B"], atol=1e-12)
    assert "5 features" in named.ok("fit", "--summary", "s", "--extra1", "ar.csv", "-o", "e").err
    assert "5 features" in named.ok("verify", "e", "a.csv", "b.csv", "--extra1", "ar.csv").err


def test_merge_puts_the_features_of_a_summary_in_another_order_right(named):
    write_csv(named / "ar2.csv", named.a[:, named.order] * 1.5, [A_NAMES[i] for i in named.order])
    write_csv(named / "a2.csv", named.a * 1.5, A_NAMES)
    write_csv(named / "b2.csv", named.b * 1.5, B_NAMES)
    named.ok("summarize", "ar2.csv", "b2.csv", "-o", "moved")
    named.ok("summarize", "a2.csv", "b2.csv", "-o", "plain")
    result = named.ok("merge", "s", "moved", "-o", "t")
    assert "'moved': 5 features of domain 1 are put into the order of the first summary" in result.err
    named.ok("merge", "s", "plain", "-o", "u")
    moved, plain = (named.ok("fit", "--summary", name, "-o", "n", "--json").json for name in ("t", "u"))
    assert np.allclose(moved["singular_B"], plain["singular_B"], atol=1e-12)
    assert moved["feature_names"] == [A_NAMES, B_NAMES]


def test_other_names_are_an_error_that_lists_them(named):
    write_csv(named / "other.csv", named.a, ["Age", *A_NAMES[1:]])
    for arguments in (["apply", "m", "--domain", 1, "other.csv", "-o", "z.npy"],
                      ["translate", "m", "--from", 1, "--to", 2, "other.csv", "-o", "z.npy"],
                      ["verify", "m", "other.csv", "b.csv"],
                      ["report", "m", "other.csv", "b.csv", "-o", "r.html"],
                      ["fit", "a.csv", "b.csv", "--extra1", "other.csv", "-o", "n"]):
        message = named.fails(3, *arguments)
        assert "'other.csv' against domain 1" in message and "'age' missing, 'Age' not expected" in message
    named.ok("summarize", "other.csv", "b.npy", "-o", "o")
    message = named.fails(3, "merge", "s", "o", "-o", "t")
    assert "'s' and 'o'" in message and "'Age' not expected" in message
    write_csv(named / "many.csv", named.a, [f"x{i}" for i in range(7)])
    assert "'x0', 'x1', 'x2', 'x3', 'x4' and 2 more not expected" in named.fails(
        3, "apply", "m", "--domain", 1, "many.csv", "-o", "z.npy")
    write_csv(named / "less.csv", named.a[:, 1:], A_NAMES[1:])
    message = named.fails(3, "apply", "m", "--domain", 1, "less.csv", "-o", "z.npy")
    assert "6 features" in message and "'age' missing" in message


def test_files_and_models_without_names_pass(named):
    named.ok("verify", "m", "a.npy", "b.npy")
    named.ok("fit", "a.npy", "b.npy", "-o", "n")
    assert named.ok("apply", "n", "--domain", 1, "ar.csv", "-o", "z.npy").err == ""


def test_outputs_carry_names(named):
    named.ok("translate", "m", "--from", 2, "--to", 1, "b.csv", "-o", "t.csv", "--stderr", "e.csv")
    assert (named / "t.csv").read_text().splitlines()[0] == ",".join(A_NAMES)
    assert (named / "e.csv").read_text().splitlines()[0] == ",".join(A_NAMES)
    named.ok("apply", "m", "--domain", 1, "a.csv", "-o", "z.csv")
    assert (named / "z.csv").read_text().splitlines()[0] == "c1,c2,c3,c4,c5"
    named.ok("apply", "m", "--domain", 1, "a.npy", "-o", "z.csv")
    assert len((named / "z.csv").read_text().splitlines()) == 60  # no header, as the input has none
    # what was written is read with its names
    named.ok("fit", "t.csv", "b.csv", "-o", "n")
    assert named.ok("info", "n", "--json").json["feature_names"] == [A_NAMES, B_NAMES]
    named.ok("translate", "m", "--from", 2, "--to", 1, "b.csv", "-o", "t.npz")
    named.ok("fit", "t.npz", "b.csv", "-o", "n")
    assert named.ok("info", "n", "--json").json["feature_names"] == [A_NAMES, B_NAMES]


@pytest.fixture
def gaps(named):
    """a.csv lacks a value of pair 13, b.csv of pairs 13 and 20; am.npy and bm.npy likewise."""
    named.am, named.bm = named.a.copy(), named.b.copy()
    named.am[13, 0] = named.bm[13, 1] = named.bm[20, 4] = np.nan
    write_csv(named / "a.csv", named.am, A_NAMES)
    write_csv(named / "b.csv", named.bm, B_NAMES)
    np.save(named / "am.npy", named.am)
    np.save(named / "bm.npy", named.bm)
    named.complete = np.delete(np.arange(60), [13, 20])
    np.save(named / "ac.npy", named.a[named.complete])
    np.save(named / "bc.npy", named.b[named.complete])
    return named


def test_missing_values_are_an_error_with_count_place_and_advice(gaps):
    for arguments in (["fit", "-o", "n"], ["summarize", "-o", "n"], ["tune"]):
        command, *rest = arguments
        message = gaps.fails(3, command, "a.csv", "b.csv", *rest)
        assert "2 of 60 pairs have missing values" in message and "--missing drop" in message
        assert "'a.csv' at line 15, column 'age'" in message and "'b.csv' at line 22, column 'b5'" in message
    message = gaps.fails(3, "fit", "am.npy", "bm.npy", "-o", "n")
    assert "2 of 60 pairs" in message and "'am.npy' at row 14, column 1" in message
    np.save(gaps / "at.npy", gaps.am.T)
    np.save(gaps / "bt.npy", gaps.bm.T)
    assert "'at.npy' at row 1, column 14" in gaps.fails(3, "fit", "at.npy", "bt.npy", "--columns", "-o", "n")


def test_missing_drop_leaves_matched_samples_out(gaps):
    gaps.ok("fit", "ac.npy", "bc.npy", "-o", "c")
    expected = gaps.ok("info", "c", "--json").json
    result = gaps.ok("fit", "a.csv", "b.csv", "--missing", "drop", "-o", "n", "--json")
    assert "2 of 60 pairs have missing values: 'a.csv' at line 15" in result.err and "left out" in result.err
    assert result.json["n"] == 58 and np.allclose(result.json["singular_B"], expected["singular_B"], atol=1e-12)
    gaps.ok("verify", "c", "am.npy", "bm.npy", "--missing", "drop")
    gaps.ok("report", "c", "am.npy", "bm.npy", "--missing", "drop", "-o", "r.html")
    assert gaps.ok("summarize", "a.csv", "b.csv", "--missing", "drop", "-o", "t", "--json").json["n"] == 58
    np.savetxt(gaps / "labels.csv", np.arange(60) % 2, fmt="%d")
    found = gaps.ok("tune", "a.csv", "b.csv", "--missing", "drop", "--labels", "labels.csv", "--ridges", "0.1", "--json")
    assert "2 of 60 pairs" in found.err


def test_a_stopped_run_that_drops_goes_on_where_it_was(named):
    random = np.random.default_rng(4)
    for name in ("x", "y"):
        X = random.normal(size=(60_000, 100))
        X[[5, 50_000], 3] = np.nan
        np.save(named / f"{name}.npy", X)
    work = ["summarize", "x.npy", "y.npy", "--missing", "drop", "--accumulate", "qr"]
    named.ok(*work, "-o", "whole")
    work += ["-o", "w", "--checkpoint", "c"]
    process = subprocess.Popen([PROGRAM, *work, "--every", "0"], cwd=named.path, stderr=subprocess.PIPE, text=True)
    while not (named / "c").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    result = named.ok(*work, "--resume")
    assert "going on after" in result.err and "2 of 60000 pairs have missing values" in result.err
    assert (named / "w").read_bytes() == (named / "whole").read_bytes()


def test_infinity_is_named_with_its_place_and_never_dropped(gaps):
    gaps.a[17, 3] = np.inf
    np.save(gaps / "inf.npy", gaps.a)
    for options in ([], ["--missing", "drop"]):
        message = gaps.fails(3, "fit", "inf.npy", "b.npy", "-o", "n", *options)
        assert "'inf.npy' holds infinity at row 18, column 4" in message


@pytest.mark.parametrize("command, options", [("apply", ["--domain", 1]), ("translate", ["--from", 1, "--to", 2])])
def test_mapping_missing_samples_fails_passes_or_drops(gaps, command, options):
    gaps.ok(command, "m", *options, "a.npy", "-o", "all.npy")
    expected = np.load(gaps / "all.npy")
    work = [command, "m", *options, "a.csv"]
    message = gaps.fails(3, *work, "-o", "z.npy")
    assert "1 of 60 samples has missing values: 'a.csv' at line 15, column 'age'" in message
    result = gaps.ok(*work, "-o", "z.npy", "--missing", "pass", "--json")
    assert "1 of 60 samples has missing values" in result.err and result.json["missing"] == 1
    passed = np.load(gaps / "z.npy")
    assert np.isnan(passed[13]).all() and np.allclose(np.delete(passed, 13, 0), np.delete(expected, 13, 0))
    assert "left out" in gaps.ok(*work, "-o", "z.npy", "--missing", "drop").err
    assert np.allclose(np.load(gaps / "z.npy"), np.delete(expected, 13, 0))


def test_extra_samples_with_gaps_are_dropped_or_refused(gaps):
    work = ["fit", "ac.npy", "bc.npy", "--extra1", "am.npy", "-o", "n"]
    assert "1 of 60 samples" in gaps.fails(3, *work)
    assert "left out" in gaps.ok(*work, "--missing", "drop").err


def test_pairing_by_key_needs_no_order_and_lists_what_is_left_out(named):
    keys = [f"p{i}" for i in range(60)]
    order = np.random.default_rng(5).permutation(60)
    write_csv(named / "ka.csv", named.a, A_NAMES, keys)
    write_csv(named / "kb.csv", named.b[order], B_NAMES, [keys[i] for i in order])
    named.ok("fit", "ka.csv", "kb.csv", "--id", "id", "-o", "k")
    named.ok("verify", "k", "a.npy", "b.npy")
    named.ok("verify", "k", "ka.csv", "kb.csv", "--id", "1")
    assert named.ok("summarize", "ka.csv", "kb.csv", "--id", "id", "-o", "t", "--json").json["n"] == 60
    # seven keys of one file and one of the other have no partner
    write_csv(named / "kb.csv", np.vstack([named.b[7:], named.b[:1]]), B_NAMES, [*keys[7:], "new"])
    result = named.ok("fit", "ka.csv", "kb.csv", "--id", "id", "-o", "k", "--json")
    assert result.json["n"] == 53
    assert "7 samples of 'ka.csv' have no partner: 'p0', 'p1', 'p2', 'p3', 'p4' and 2 more" in result.err
    assert "1 sample of 'kb.csv' has no partner: 'new'" in result.err
    write_csv(named / "kb.csv", named.b, B_NAMES, ["p1", *keys[1:]])
    assert "'kb.csv': the key 'p1' occurs twice" in named.fails(3, "fit", "ka.csv", "kb.csv", "--id", "id", "-o", "n")
    write_csv(named / "kb.csv", named.b, B_NAMES, [f"q{i}" for i in range(60)])
    assert "no key" in named.fails(3, "fit", "ka.csv", "kb.csv", "--id", "id", "-o", "n")


def test_mapped_samples_keep_their_keys(named):
    keys = [f"p{i}" for i in range(60)]
    write_csv(named / "ka.csv", named.a, A_NAMES, keys)
    named.ok("apply", "m", "--domain", 1, "ka.csv", "--id", "id", "-o", "z.csv")
    lines = (named / "z.csv").read_text().splitlines()
    assert lines[0] == "id,c1,c2,c3,c4,c5" and lines[1].startswith("p0,") and lines[60].startswith("p59,")
    named.ok("translate", "m", "--from", 1, "--to", 2, "ka.csv", "--id", "1", "-o", "t.csv")
    assert (named / "t.csv").read_text().splitlines()[0] == "id," + ",".join(B_NAMES)
    named.ok("translate", "m", "--from", 2, "--to", 1, "t.csv", "--id", "id", "-o", "back.npy")
    assert np.load(named / "back.npy").shape == (60, 7)


@pytest.fixture
def noise(tmp_path):
    """Two files of independent noise, as R's write.csv and pandas' to_csv write them, and the same without row numbers."""
    random = np.random.default_rng(7)
    folder = Folder(tmp_path)
    x, y = random.normal(size=(200, 3)), random.normal(size=(200, 2))
    rows = [f"{i}," + ",".join(map(repr, row)) for i, row in enumerate(x.tolist())]
    (folder / "pandas.csv").write_text("\n".join([",x1,x2,x3", *rows]) + "\n")
    rows = [f'"{i + 1}",' + ",".join(map(repr, row)) for i, row in enumerate(y.tolist())]
    (folder / "r.csv").write_text("\n".join(['"","y1","y2"', *rows]) + "\n")
    write_csv(folder / "x.csv", x, ["x1", "x2", "x3"])
    write_csv(folder / "y.csv", y, ["y1", "y2"])
    folder.x, folder.y = x, y
    return folder


def first_correlation(result):
    return result.json["singular_B"][0]


def test_row_numbers_are_no_feature_unless_it_is_said(noise):
    plain = noise.ok("fit", "x.csv", "y.csv", "-o", "plain", "--json")
    assert first_correlation(plain) < 0.4 and not plain.err
    result = noise.ok("fit", "pandas.csv", "r.csv", "-o", "m", "--json")
    assert result.json["dims"] == [3, 2] and first_correlation(result) == first_correlation(plain)
    for file, cells in [("pandas.csv", "0, 1, 2"), ("r.csv", "1, 2, 3")]:
        assert f"'{file}': the first column has no name ({cells}, …): it is taken for the samples' names" in result.err
    assert "--id none" in result.err
    assert noise.ok("summarize", "pandas.csv", "r.csv", "-o", "s", "--json").json["dims"] == [3, 2]
    noise.ok("verify", "m", "pandas.csv", "r.csv")
    noise.ok("tune", "pandas.csv", "r.csv", "--ranks", "1", "--ridges", "0", "--folds", "2",
             "--repeats", "1")
    for command in (["apply", "m", "--domain", "1", "pandas.csv"], ["fuse", "m", "pandas.csv", "r.csv"],
                    ["translate", "m", "--from", "1", "--to", "2", "pandas.csv"]):
        told = noise.ok(*command, "-o", "with.npy")
        assert "the first column has no name" in told.err
        silent = noise.ok(*(word.replace("pandas", "x").replace("r.csv", "y.csv") for word in command), "-o", "out.npy")
        assert not silent.err
        assert np.array_equal(np.load(noise / "with.npy"), np.load(noise / "out.npy"))
    info = noise.ok("info", "pandas.csv", "--json").json["arrays"][0]
    assert info["shape"] == [200, 3] and "the first column has no name" in info["type"]
    # said otherwise: the row numbers are features, which match perfectly
    result = noise.ok("fit", "pandas.csv", "r.csv", "--id", "none", "-o", "old", "--json")
    assert result.json["dims"] == [4, 3] and first_correlation(result) > 1 - 1e-12 and not result.err


def test_a_model_fitted_with_row_numbers_still_reads_them(noise):
    noise.ok("fit", "pandas.csv", "r.csv", "--id", "none", "-o", "old")
    result = noise.ok("apply", "old", "--domain", "1", "pandas.csv", "-o", "z.npy")
    assert "is a feature of domain 1 of 'old'. Fit again without it" in result.err
    noise.ok("apply", "old", "--domain", "1", "pandas.csv", "--id", "none", "-o", "same.npy")
    assert np.array_equal(np.load(noise / "z.npy"), np.load(noise / "same.npy"))
    noise.ok("verify", "old", "pandas.csv", "r.csv")


def test_numbers_that_are_the_same_in_all_inputs_name_the_samples(noise):
    ids = [f"{i}" for i in np.random.default_rng(1).permutation(5000)[:200]]
    write_csv(noise / "kx.csv", noise.x, ["x1", "x2", "x3"], ids)
    write_csv(noise / "ky.csv", noise.y, ["y1", "y2"], ids)
    plain = noise.ok("fit", "x.csv", "y.csv", "-o", "plain", "--json")
    result = noise.ok("fit", "kx.csv", "ky.csv", "-o", "m", "--json")
    assert result.json["dims"] == [3, 2] and first_correlation(result) == first_correlation(plain)
    assert f"'kx.csv': the first column ({', '.join(ids[:3])}, …) is the same in all inputs" in result.err
    assert "--id none makes it a feature, --id 1 matches by it" in result.err
    noise.ok("verify", "m", "kx.csv", "ky.csv")
    noise.ok("summarize", "kx.csv", "ky.csv", "--part", "2/3", "-o", "part")
    # one file alone: the model has its other features, by name
    told = noise.ok("apply", "m", "--domain", "2", "ky.csv", "-o", "z.npy")
    assert "the first column 'id' is taken for the samples' names: domain 2 of 'm' has only the other" in told.err
    noise.ok("apply", "m", "--domain", "2", "y.csv", "-o", "same.npy")
    assert np.array_equal(np.load(noise / "z.npy"), np.load(noise / "same.npy"))
    noise.ok("fuse", "m", "--domains", "2", "ky.csv", "-o", "f.npy")
    for files in (["kx.csv", "ky.csv"], ["kx.csv", "ky.csv", "--id", "none"]):
        dims = noise.ok("fit", *files, "-o", "n", "--json").json["dims"]
        noise.ok("verify", "n", *files[:2])
        assert dims == ([4, 3] if "none" in files else [3, 2])


def test_equal_first_columns_that_may_be_measured_are_told_and_kept(noise):
    times = np.linspace(0.5, 9, 200)[:, None]
    write_csv(noise / "tx.csv", np.hstack([times, noise.x]), ["t", "x1", "x2", "x3"])
    write_csv(noise / "ty.csv", np.hstack([times, noise.y]), ["t", "y1", "y2"])
    result = noise.ok("fit", "tx.csv", "ty.csv", "-o", "m", "--json")
    assert result.json["dims"] == [4, 3]
    assert "is the same in all inputs. As a feature it has a correlation of 1" in result.err
    assert noise.ok("fit", "x.csv", "x.csv", "-o", "m").err.startswith("note: every correlation is 1")
    counted = np.arange(200.0)[:, None]
    np.save(noise / "nx.npy", np.hstack([counted, noise.x]))
    np.save(noise / "ny.npy", np.hstack([counted, noise.y]))
    assert "is the same in all inputs" in noise.ok("fit", "nx.npy", "ny.npy", "-o", "m").err


def test_row_names_in_another_order_are_told(noise):
    lines = (noise / "r.csv").read_text().splitlines()
    (noise / "sorted.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    result = noise.ok("fit", "pandas.csv", "sorted.csv", "-o", "m")
    assert "'sorted.csv': sample 1 is called '200', but '0' in 'pandas.csv'; samples are matched by their order" in result.err


def test_a_header_of_wavelengths_is_a_header(noise):
    names = ["1100", "1102.5", "1105"]
    (noise / "w.csv").write_text("\n".join([",".join(["", *names]), *(
        f"s{i}," + ",".join(map(repr, row)) for i, row in enumerate(noise.x.tolist()))]) + "\n")
    result = noise.ok("fit", "w.csv", "y.csv", "-o", "m", "--json")
    assert result.json["n"] == 200 and result.json["feature_names"][0] == names
    noise.ok("translate", "m", "--from", "1", "--to", "2", "w.csv", "--id", "1", "-o", "t.csv")
    assert (noise / "t.csv").read_text().splitlines()[1].startswith("s0,")


def test_numeric_names_of_features_stand_in_a_line_of_their_own(noise):
    names, ids = ["1100", "1102.5", "1105"], [f"p{i}" for i in range(200)]
    write_csv(noise / "w.csv", noise.x, names, ids)
    write_csv(noise / "k.csv", noise.y, ["y1", "y2"], ids)
    noise.ok("fit", "w.csv", "k.csv", "--id", "id", "-o", "m")
    noise.ok("translate", "m", "--from", "2", "--to", "1", "k.csv", "--id", "1", "-o", "tr.csv")
    lines = (noise / "tr.csv").read_text().splitlines()
    assert len(lines) == 201 and lines[0] == "id,1100,1102.5,1105" and lines[1].startswith("p0,")
    for id in ("id", "1"):
        noise.ok("translate", "m", "--from", "1", "--to", "2", "tr.csv", "--id", id, "-o", "back.csv")
        assert len((noise / "back.csv").read_text().splitlines()) == 201
