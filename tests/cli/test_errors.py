"""Every exit status, with a message to act on, nothing on stdout and no file left or changed."""

import os

import numpy as np
import pytest


@pytest.mark.parametrize("arguments, words", [
    ([], "no command is given; give one of"),
    (["ft", "a.npy"], "did you mean 'fit'"),
    (["fit", "a.npy", "b.npy", "--ouput", "m"], "did you mean '--output'"),
    (["fit", "a.npy", "b.npy", "-o", "m", "--thread", "2"], "did you mean '--threads'"),
    (["fit", "a.npy", "b.npy", "-o", "m", "--threads", "0"], "--threads"),
    (["fit", "a.npy", "-o", "m"], "two inputs"),
    (["fit", "a.npy", "b.npy"], "-o MODEL"),
    (["verify", "m", "a.npy", "b.npy", "c.npy"], "3 inputs are given"),
    (["fit", "a.npy", "b.npy", "--summary", "s", "-o", "m"], "not both"),
    (["fit", "a.npy", "b.npy", "-o", "./a.npy"], "choose another name"),
    (["summarize", "a.npy", "b.npy", "-o", "s", "--checkpoint", "./s"], "choose another name"),
    (["translate", "m", "a.npy", "--from", "1", "--to", "2", "-o", "z.npy", "--stderr", "z.npy"], "choose another name"),
    (["fit", "a.npy", "b.npy", "-o", "m", "--cov", "identiy:3"], "did you mean 'identity'"),
    (["fit", "a.npy", "b.npy", "-o", "m", "--cov", "identity:0"], "at least 1"),
    (["fit", "a.npy", "b.npy", "-o", "m", "--cov", "data1"], "':'"),
    (["fit", "a.npy", "b.npy", "-o", "m", "--cov1", "identity:2"], "--cov2"),
    (["fit", "a.npy", "b.npy", "-o", "m", "--cov", "identity:2", "--cov1", "identity:2"], "either"),
    (["fit", "a.npy", "b.npy", "-o", "m", "--accumulate", "fast"], "--accumulate"),
    (["apply", "m", "a.npy", "-o", "z.npy"], "--domain"),
    (["apply", "m", "a.npy", "-o", "z.npy", "--domain", "3"], "--domain"),
    (["translate", "m", "a.npy", "--from", "1", "--to", "1", "-o", "z.npy"], "same domain"),
    (["translate", "m", "a.npy", "--from", "1", "--to", "2", "-o", "z.npy", "--iterations", "3"], "lsqr"),
    (["translate", "m", "a.npy", "--from", "1", "--to", "2", "-o", "z.npy", "--method", "exact", "--stderr", "e.npy"], "lmmse"),
    (["summarize", "a.npy", "b.npy", "-o", "s", "--resume"], "--checkpoint"),
    (["summarize", "a.npy", "b.npy", "-o", "s", "--every", "3"], "--checkpoint"),
    (["report", "m", "a.npy", "-o", "r.html"], "both"),
    (["report", "m", "-o", "r.html", "--shape", "28"], "28x28"),
    (["info"], "FILE"),
])
def test_usage_is_status_2(folder, arguments, words):
    folder.model()
    assert words in folder.fails(2, *arguments)


def test_the_hint_names_the_command(folder):
    assert "See cgmca fit --help" in folder.fails(2, "fit", "--nonsense")


def test_unequal_inputs_show_both_files_with_their_shapes(folder):
    np.save(folder / "short.npy", folder.b[:59])
    message = folder.fails(3, "fit", "a.npy", "short.npy", "-o", "m")
    assert "'a.npy' (60 samples × 7 features)" in message and "'short.npy' (59 samples × 5 features)" in message
    np.savetxt(folder / "short.csv", folder.b[:59], delimiter=",")
    for pair in (("a.npy", "short.csv"), ("short.csv", "a.npy")):
        message = folder.fails(3, "summarize", *pair, "-o", "s")
        assert "(60 samples" in message and "(59 samples" in message


def test_features_that_are_not_the_models_show_both(folder):
    folder.model()
    message = folder.fails(3, "apply", "m", "--domain", 1, "b.npy", "-o", "z.npy")
    assert "'b.npy' (60 samples × 5 features)" in message and "domain 1 of 'm' (7 features)" in message
    assert "5 features" in folder.fails(3, "verify", "m", "b.npy", "a.npy")
    np.save(folder / "t.npy", folder.a.T)
    assert "--columns" in folder.fails(3, "apply", "m", "--domain", 1, "t.npy", "-o", "z.npy")


@pytest.mark.parametrize("value, word", [(np.nan, "missing"), (np.inf, "infinity")])
def test_nan_and_infinity_are_named_with_their_place(folder, value, word):
    folder.a[17, 3] = value
    np.save(folder / "a.npy", folder.a)
    message = folder.fails(3, "fit", "a.npy", "b.npy", "-o", "m")
    assert word in message and "row 18, column 4" in message  # as the file's user counts


def test_bad_data_is_status_3(folder):
    folder.model()
    (folder / "broken.npy").write_bytes(b"\x93NUMPY\x01\x00 nonsense")
    folder.fails(3, "fit", "broken.npy", "b.npy", "-o", "n")
    folder.fails(3, "info", "broken.npy")
    folder.fails(3, "merge", "m", "-o", "t")
    np.save(folder / "one.npy", folder.a[:1])
    assert "at least 2" in folder.fails(3, "fit", "one.npy", "one.npy", "-o", "n")
    np.save(folder / "constant.npy", np.ones((60, 3)))
    folder.fails(3, "fit", "constant.npy", "b.npy", "-o", "n")
    np.savetxt(folder / "c.csv", [[1, 2], [0, 1]], delimiter=",")
    message = folder.fails(3, "fit", "a.npy", "b.npy", "--cov", "file:c.csv", "-o", "n")
    assert "c.csv" in message and "not symmetric" in message
    np.savetxt(folder / "minus.csv", [[1, -1]], delimiter=",")
    assert "-1" in folder.fails(3, "fit", "a.npy", "b.npy", "--cov", "sd:minus.csv", "-o", "n")


def test_summaries_of_other_features_do_not_merge(folder):
    folder.summary()
    folder.ok("summarize", "b.npy", "b.npy", "-o", "t")
    message = folder.fails(3, "merge", "s", "t", "-o", "u")
    assert "'s'" in message and "'t'" in message and "7+5" in message and "5+5" in message


def test_a_misspelt_member_suggests_the_near_one(folder):
    np.savez(folder / "both.npz", clean=folder.a, noisy=folder.b)
    folder.ok("fit", "both.npz:clean", "both.npz:noisy", "-o", "m")
    assert "clean" in folder.fails(3, "fit", "both.npz:claen", "both.npz:noisy", "-o", "n")


def test_infeasible_is_status_4_and_names_the_ranks(folder):
    message = folder.fails(4, "fit", "a.npy", "b.npy", "--cov", "identity:6", "-o", "m")
    assert "rank 5" in message and "rank 6" in message and "rank 5 at most" in message
    assert "data1:7" in folder.fails(4, "fit", "a.npy", "b.npy", "--cov", "data1:9", "-o", "m")


def test_what_cannot_be_read_or_written_is_status_5(folder):
    folder.model()
    assert "No such file" in folder.fails(5, "fit", "missing.npy", "b.npy", "-o", "n")
    folder.fails(5, "info", "missing")
    folder.fails(5, "fit", "--summary", "missing", "-o", "n")
    assert "no folder" in folder.fails(5, "fit", "a.npy", "b.npy", "-o", "nowhere/m")
    assert "folder" in folder.fails(5, "fit", "a.npy", "b.npy", "-o", ".")


def test_mem_limit_refuses_early(folder):
    message = folder.fails(3, "fit", "a.npy", "b.npy", "-o", "m", "--mem-limit", "20M")
    assert "20 MB" in message
    folder.ok("fit", "a.npy", "b.npy", "-o", "m", "--mem-limit", "4G")


def test_complex_numbers_are_refused_with_advice_whether_named_or_not(folder):
    scipy_io = pytest.importorskip("scipy.io")
    scipy_io.savemat(folder / "z.mat", {"Z": folder.a + 1j})
    for name in ("z.mat", "z.mat:Z"):
        assert "choose with --complex" in folder.fails(3, "fit", name, "b.npy", "-o", "m")


def with_broken_lapack(info):
    if "CGMCA_BROKEN_LAPACK" not in os.environ:
        pytest.skip("needs CGMCA_BROKEN_LAPACK, which ctest sets")
    return {**os.environ, "LD_PRELOAD": os.environ["CGMCA_BROKEN_LAPACK"], "LAPACK_INFO": str(info)}


def test_our_own_mistakes_are_status_1_and_not_called_bad_data(folder):
    message = folder.fails(1, "fit", "a.npy", "b.npy", "-o", "m", env=with_broken_lapack(-3))
    assert "internal error, please report it: " in message and "argument 3 is illegal" in message


def test_no_convergence_is_status_1_and_not_called_our_mistake(folder):
    message = folder.fails(1, "fit", "a.npy", "b.npy", "-o", "m", env=with_broken_lapack(3))
    assert "info = 3" in message and "internal" not in message


def test_control_characters_of_files_do_not_reach_the_terminal(folder):
    title = "\x1b]0;owned\x07"
    (folder / "a.csv").write_text(f"{title},b\n" + "\n".join(f"{i},{i * i}" for i in range(9)))
    shown = folder.ok("info", "a.csv").out + folder.fails(5, "fit", f"{title}.npy", "a.csv", "-o", "m")
    assert "\x1b" not in shown and "\x07" not in shown and shown.count("\\x1b]0;owned\\x07") >= 2
