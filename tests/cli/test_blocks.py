"""apply, translate and fuse in blocks: bounded memory, every format, precision, --dry-run, progress, whole outputs."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import PROGRAM, Folder

LIMIT = 100e6  # bytes of memory at the peak, whatever the number of samples


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A model from 4 features to 64, and 250,000 samples of float32 of the first: 4 MB in, 128 MB out at double."""
    folder = Folder(tmp_path_factory.mktemp("wide"))
    random = np.random.default_rng(1)
    x = random.normal(size=(500, 4))
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", x @ random.normal(size=(4, 64)) + random.normal(size=(500, 64)))
    folder.ok("fit", "x.npy", "y.npy", "--cov", "identity:4", "-o", "model")
    folder.ok("fit", "y.npy", "y.npy", "--cov", "identity:64", "-o", "fusing")
    many = random.normal(size=(250_000, 4)).astype(np.float32)
    np.save(folder / "many.npy", many)
    np.save(folder / "some.npy", many[:100_000])
    np.save(folder / "images.npy", np.tile(many[:, :1], (1, 64)))
    return folder


def peak_of(folder, *arguments):
    """Bytes of memory at the peak of a run that succeeds. A small process starts it: the count begins with its memory."""
    script = ("import os, subprocess, sys\n"
              "process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
              "_, status, usage = os.wait4(process.pid, 0)\n"
              "print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)")
    result = subprocess.run([sys.executable, "-c", script, PROGRAM, *map(str, arguments)], cwd=folder.path,
                            capture_output=True, text=True, timeout=300)
    status, kilobytes = map(int, result.stdout.split())
    assert status == 0, result.stderr
    return 1024 * kilobytes


@pytest.mark.parametrize("target", ["out.npy", "out.npz", "out.h5", "out.mat"])
def test_translate_needs_little_memory_for_any_number_of_samples(wide, target):
    assert peak_of(wide, "translate", "model", "--from", 1, "--to", 2, "many.npy", "--precision", "double",
                   "-o", target) < LIMIT
    assert os.path.getsize(wide / target) > 250_000 * 64 * 8
    (wide / target).unlink()


def test_text_with_errors_and_limits_needs_little_memory_too(wide):
    names = [name for option, name in (("-o", "t.csv"), ("--stderr", "e.npy"), ("--lower", "l.npy"), ("--upper", "u.h5"))
             for name in (option, name)]
    assert peak_of(wide, "translate", "model", "--from", 1, "--to", 2, "some.npy", "--interval", .9, *names) < LIMIT
    for name in ("t.csv", "e.npy", "l.npy", "u.h5"):
        (wide / name).unlink()


def test_apply_and_fuse_need_little_memory(wide):
    for arguments in (("apply", "fusing", "--domain", 1, "images.npy"), ("fuse", "fusing", "images.npy", "images.npy")):
        assert peak_of(wide, *arguments, "--precision", "double", "-o", "z.npy") < LIMIT
        assert np.load(wide / "z.npy", mmap_mode="r").shape == (250_000, 64)


def test_floats_in_give_floats_out_unless_asked_otherwise(folder):
    folder.model()
    np.save(folder / "single.npy", folder.b.astype(np.float32))
    np.save(folder / "whole.npy", (100 * folder.b).astype(np.int16))
    np.savetxt(folder / "b.csv", folder.b, delimiter=",")
    for command in (("translate", "m", "--from", 2, "--to", 1), ("apply", "m", "--domain", 2), ("fuse", "m", "--domains", 2)):
        def kind(name, *options):
            folder.ok(*command, name, "-o", "out.npy", *options)
            return np.load(folder / "out.npy").dtype
        assert kind("single.npy") == np.float32
        assert kind("single.npy", "--precision", "double") == np.float64
        assert [kind(name) for name in ("b.npy", "whole.npy", "b.csv")] == 3 * [np.float64]
        assert kind("b.npy", "--precision", "single") == np.float32
    folder.ok("apply", "m", "--domain", 2, "single.npy", "-o", "z.npy")
    folder.ok("apply", "m", "--domain", 2, "single.npy", "-o", "exact.npy", "--precision", "double")
    assert np.array_equal(np.load(folder / "z.npy"), np.load(folder / "exact.npy").astype(np.float32))


@pytest.mark.parametrize("options", [(), ("--columns-out",)])
def test_every_format_holds_the_same_numbers(folder, options):
    folder.model()
    folder.ok("apply", "m", "--domain", 1, "a.npy", "-o", "z.npy", *options)
    expected = np.load(folder / "z.npy")
    assert expected.shape == ((60, 5) if not options else (5, 60))
    for target in ("z.csv", "z.tsv", "z.npz", "z.mat", "z.h5", "two.h5:u", "two.h5:v", "two.mat:u", "two.mat:v"):
        folder.ok("apply", "m", "--domain", 1, "a.npy", "-o", target, *options)
    assert np.array_equal(np.loadtxt(folder / "z.csv", delimiter=","), expected)
    assert np.array_equal(np.loadtxt(folder / "z.tsv", delimiter="\t"), expected)
    assert np.array_equal(np.load(folder / "z.npz")["Z1"], expected)
    scipy_io = pytest.importorskip("scipy.io")
    assert np.array_equal(scipy_io.loadmat(folder / "z.mat")["Z1"], expected)
    two = scipy_io.loadmat(folder / "two.mat")
    assert np.array_equal(two["u"], expected) and np.array_equal(two["v"], expected)
    # HDF5 by our own reader: the same text, whatever the file it is made of.
    columns = ["--columns"] if options else []
    folder.ok("fit", "z.npy", "z.npy", "--cov", "identity:2", "-o", "own", *columns)
    for source, text in (("z.npy", "1.csv"), ("z.h5", "2.csv"), ("two.h5:u", "3.csv"), ("two.h5:v", "4.csv")):
        folder.ok("apply", "own", "--domain", 1, source, "-o", text, *columns)
        assert (folder / text).read_text() == (folder / "1.csv").read_text()


def test_a_mistake_in_the_last_row_leaves_the_old_output(folder):
    folder.model()
    b = np.tile(folder.b, (4000, 1))
    b[-1, 2] = np.inf
    np.save(folder / "long.npy", b)
    (folder / "t.npy").write_bytes(b"old")
    before = folder.names()
    message = folder.fails(3, "translate", "m", "--from", 2, "--to", 1, "long.npy", "-o", "t.npy")
    assert "infinity at row 240000, column 3" in message
    assert (folder / "t.npy").read_bytes() == b"old" and folder.names() == before


def test_all_outputs_appear_or_none(folder):
    """The last of three cannot be added to; the first two are as they were."""
    folder.model()
    (folder / "c.npy").write_bytes(b"old")
    (folder / "u.h5").write_bytes(b"no HDF5")
    before = folder.names()
    folder.fails(3, "translate", "m", "--from", 2, "--to", 1, "b.npy", "-o", "c.npy", "--interval", .9, "--lower",
                 "l.npy", "--upper", "u.h5:x")
    assert (folder / "c.npy").read_bytes() == b"old" and folder.names() == before


def test_progress_counts_what_is_written(wide):
    err = wide.ok("translate", "model", "--from", 1, "--to", 2, "many.npy", "-o", "p.npy", "--progress", "plain").err
    assert "250000 of 250000 samples written (100 %)" in err
    err = wide.ok("translate", "model", "--from", 1, "--to", 2, "many.npy", "-o", "p.h5", "--progress", "plain").err
    assert "250000 of 250000 samples put in place in 'p.h5' (100 %)" in err


def test_dry_runs_tell_memory_and_sizes_and_write_nothing(wide):
    before = wide.names()
    for arguments in (("translate", "model", "--from", 1, "--to", 2, "many.npy"),
                      ("apply", "model", "--domain", 1, "many.npy"), ("fuse", "model", "--domains", 1, "many.npy")):
        result = wide.ok(*arguments, "-o", "d.npy", "--dry-run", "--json").json
        assert result["n"] == 250_000 and 0 < result["memory_bytes"] <= 120e6
        text = wide.ok(*arguments, "-o", "d.npy", "--dry-run").out
        assert "'d.npy' (250000 samples ×" in text and "memory" in text
    text = wide.ok("translate", "model", "--from", 1, "--to", 2, "many.npy", "-o", "d.npy", "--dry-run").out
    assert "64 features, 64 MB)" in text  # of floats
    assert "--mem-limit of 1 MB" in wide.run("apply", "model", "--domain", 1, "many.npy", "-o", "d.npy", "--mem-limit",
                                             "1M").err
    assert wide.names() == before
