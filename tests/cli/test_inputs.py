"""A domain in many files, compressed by gzip, or on standard input; what stays with Python."""

import gzip
import io
import subprocess

import numpy as np
import pytest
from conftest import PROGRAM


def cut(folder, name, X, lengths):
    """X as NAME-1.npy, NAME-2.npy, … of these lengths; numbers of one digit and of two, so that natural order counts."""
    first = 0
    for number, length in enumerate(lengths, 1):
        np.save(folder / f"{name}-{number}.npy", X[first:first + length])
        first += length
    assert first == len(X)


def gzipped(folder, name, text):
    with gzip.open(folder / name, "wb") as file:
        file.write(text)


def csv_of(X, header=None):
    text = io.StringIO()
    np.savetxt(text, X, delimiter=",", header=header or "", comments="", fmt="%r")
    return text.getvalue().encode()


def same_model(folder, one, other):
    """The same maps, to the bit."""
    for name in (one, other):
        folder.ok("export", name, "-o", f"{name}.npz")
    a, b = np.load(folder / f"{one}.npz"), np.load(folder / f"{other}.npz")
    assert set(a.files) == set(b.files)
    for array in a.files:
        assert np.array_equal(a[array], b[array]), array


@pytest.fixture
def shards(folder):
    cut(folder, "a", folder.a, [5] * 12)
    cut(folder, "b", folder.b, [31, 1, 28])
    folder.model()
    return folder


def test_a_domain_in_many_files_is_the_domain_in_one(shards):
    """The two domains are cut differently, and a-10 comes after a-9."""
    shards.ok("fit", "a-*.npy", "b-*.npy", "-o", "many")
    same_model(shards, "m", "many")
    (shards / "lists").mkdir()
    (shards / "lists" / "a.txt").write_text("# in this order\n" + "".join(f"../a-{i}.npy\n" for i in range(1, 13)))
    shards.ok("fit", "@lists/a.txt", "b.npy", "-o", "listed")
    same_model(shards, "m", "listed")


def test_shards_work_in_every_command(shards):
    whole = shards.ok("summarize", "a.npy", "b.npy", "-o", "s", "--json").json
    many = shards.ok("summarize", "a-*.npy", "b-*.npy", "-o", "s2", "--json").json
    assert many["n"] == whole["n"] == 60
    for command in (("translate", "m", "--from", 2, "--to", 1), ("apply", "m", "--domain", 2), ("fuse", "m", "--domains", 2)):
        shards.ok(*command, "b.npy", "-o", "one.npy")
        shards.ok(*command, "b-*.npy", "-o", "other.npy")
        assert (shards / "one.npy").read_bytes() == (shards / "other.npy").read_bytes()
    assert shards.ok("info", "b-*.npy", "--json").json["arrays"][0]["shape"] == [60, 5]
    shards.ok("tune", "a-*.npy", "b-*.npy", "--folds", 3, "-o", "tuned")
    shards.ok("verify", "m", "a-*.npy", "b-*.npy")


def test_parts_of_shards_are_parts_of_the_whole(shards):
    for i in range(1, 5):
        shards.ok("summarize", "a-*.npy", "b-*.npy", "--part", f"{i}/4", "-o", f"part{i}")
    shards.ok("merge", *(f"part{i}" for i in range(1, 5)), "-o", "all")
    shards.ok("fit", "--summary", "all", "-o", "merged")
    shards.ok("export", "m", "-o", "1.npz"), shards.ok("export", "merged", "-o", "2.npz")
    one, other = np.load(shards / "1.npz"), np.load(shards / "2.npz")
    assert np.allclose(one["A1"], other["A1"], rtol=1e-10) and np.allclose(one["A2"], other["A2"], rtol=1e-10)
    assert shards.run("merge", "part1", "part1", "-o", "x").status == 3


def test_mistakes_in_shards_name_the_file(shards):
    assert "no file fits the pattern 'c-*.npy'" in shards.fails(5, "fit", "c-*.npy", "b.npy", "-o", "x")
    np.save(shards / "a-13.npy", np.zeros((5, 6)))
    message = shards.fails(3, "fit", "a-*.npy", "b.npy", "-o", "x")
    assert "'a-13.npy' has 6 features" in message and "'a-1.npy' has 7" in message
    bad = shards.a[55:].copy()
    bad[3, 2] = np.inf
    (shards / "a-13.npy").unlink()
    np.save(shards / "a-12.npy", bad)
    assert "row 4, column 3 of 'a-12.npy'" in shards.fails(3, "fit", "a-*.npy", "b.npy", "-o", "x")
    assert "is also an input" in shards.fails(2, "translate", "m", "--from", 2, "--to", 1, "b-*.npy", "-o", "b-2.npy")
    (shards / "empty.txt").write_text("# nothing\n")
    assert "names no file" in shards.fails(3, "fit", "@empty.txt", "b.npy", "-o", "x")


def test_text_in_shards_keeps_names_ids_and_lines(folder):
    rows = [f"s{i}," + ",".join(repr(float(x)) for x in row) for i, row in enumerate(folder.b)]
    head = "who,u,v,w,x,y\n"
    (folder / "t-1.csv").write_text(head + "\n".join(rows[:20]) + "\n")
    (folder / "t-2.csv").write_text(head + "\n".join(rows[20:]) + "\n")
    folder.model()
    folder.ok("translate", "m", "--from", 2, "--to", 1, "t-*.csv", "--id", "who", "-o", "c.csv")
    assert [line.split(",")[0] for line in (folder / "c.csv").read_text().splitlines()][-60:] == [f"s{i}" for i in range(60)]
    (folder / "t-2.csv").write_text(head + "\n".join([*rows[20:], "s60,1,2,oops,4,5"]) + "\n")
    assert "t-2.csv', line 42, column 'w'" in folder.fails(3, "apply", "m", "--domain", 2, "t-*.csv", "--id", "who", "-o", "x.csv")


def test_files_compressed_by_gzip_are_read(folder):
    folder.model()
    gzipped(folder, "b.npy.gz", (folder / "b.npy").read_bytes())
    gzipped(folder, "b.csv.gz", csv_of(folder.b, "u,v,w,x,y"))
    gzipped(folder, "b.tsv.gz", csv_of(folder.b).replace(b",", b"\t"))
    folder.ok("apply", "m", "--domain", 2, "b.npy", "-o", "z.npy")
    expected = np.load(folder / "z.npy")
    for name in ("b.npy.gz", "b.csv.gz", "b.tsv.gz"):
        folder.ok("apply", "m", "--domain", 2, name, "-o", "g.npy")
        assert np.array_equal(np.load(folder / "g.npy"), expected), name
        assert "60" in folder.ok("info", name).out
    gzipped(folder, "bad.csv.gz", csv_of(folder.b) + b"1,2,x,4,5\n")
    assert "line 61, column 3" in folder.fails(3, "apply", "m", "--domain", 2, "bad.csv.gz", "-o", "x.npy")
    (folder / "cut.npy.gz").write_bytes((folder / "b.npy.gz").read_bytes()[:-100])
    assert "truncated" in folder.fails(3, "apply", "m", "--domain", 2, "cut.npy.gz", "-o", "x.npy")
    for i in (1, 2, 3, 4):
        folder.ok("summarize", "a.npy", "b.csv.gz", "--part", f"{i}/4", "-o", f"p{i}")
    folder.ok("merge", "p1", "p2", "p3", "p4", "-o", "all")


def test_standard_input_is_text_that_is_read_once(folder):
    folder.model()
    text = csv_of(folder.b, "u,v,w,x,y")

    def run(*arguments, given=text):
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder.path, input=given, capture_output=True, timeout=60)

    folder.ok("apply", "m", "--domain", 2, "b.npy", "-o", "z.npy")
    assert run("apply", "m", "--domain", 2, "-", "-o", "s.npy").returncode == 0
    assert np.array_equal(np.load(folder / "s.npy"), np.load(folder / "z.npy"))
    assert run("fit", "a.npy", "-", "-o", "piped").returncode == 0
    for name in ("m", "piped"):
        folder.ok("export", name, "-o", f"{name}.npz")
    assert np.array_equal(np.load(folder / "m.npz")["A2"], np.load(folder / "piped.npz")["A2"])
    for command in (("summarize", "a.npy", "-", "-o", "s"), ("translate", "m", "--from", 2, "--to", 1, "-", "-o", "t.npy"),
                    ("fuse", "m", "--domains", 2, "-", "-o", "f.npy"), ("info", "-"),
                    ("tune", "a.npy", "-", "--folds", 3, "-o", "tuned")):
        result = run(*command)
        assert result.returncode == 0, result.stderr
    assert b"one input only" in run("fit", "-", "-", "-o", "x").stderr
    np.save(folder / "long.npy", np.tile(folder.a, (500, 1)))
    long = csv_of(np.tile(folder.b, (500, 1)))
    result = run("summarize", "long.npy", "-", "--part", "1/2", "-o", "x", given=long)
    assert result.returncode == 3 and b"cannot be counted beforehand" in result.stderr
    assert b"goes with no checkpoint" in run("summarize", "a.npy", "-", "--checkpoint", "c", "-o", "x").stderr
    packed = run("apply", "m", "--domain", 2, "-", "-o", "x.npy", given=gzip.compress(text))
    assert packed.returncode == 3 and b"pipe it through zcat" in packed.stderr
    bad = run("apply", "m", "--domain", 2, "-", "-o", "x.npy", given=text + b"1,2,3,x,5\n")
    assert bad.returncode == 3 and b"'standard input', line 62, column 'x'" in bad.stderr


def test_standard_input_needs_little_memory(folder):
    """100 MB of text: no more than a block of it is kept."""
    folder.model()
    line = ",".join(5 * ["0.12345678901234567"]) + "\n"
    reading = f"import sys\nfor _ in range(1000): sys.stdout.write({line!r} * 1000)"
    writer = subprocess.Popen(["python3", "-c", reading], stdout=subprocess.PIPE)
    script = ("import os, sys, subprocess\n"
              "process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
              "_, status, usage = os.wait4(process.pid, 0)\n"
              "print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)")
    result = subprocess.run(["python3", "-c", script, PROGRAM, "apply", "m", "--domain", "2", "-", "-o", "z.npy"],
                            cwd=folder.path, stdin=writer.stdout, capture_output=True, text=True, timeout=120)
    writer.wait()
    status, peak = map(int, result.stdout.split())
    assert status == 0 and peak * 1024 < 150e6, result.stderr
    assert np.load(folder / "z.npy", mmap_mode="r").shape == (1_000_000, 5)


def test_parquet_and_zarr_stay_with_python_and_the_message_says_so(folder):
    (folder / "t.parquet").write_bytes(b"PAR1\x15\x04")
    assert "the Python package reads it" in folder.fails(3, "fit", "t.parquet", "b.npy", "-o", "x")
    (folder / "z.zarr").mkdir()
    (folder / "z.zarr" / ".zarray").write_text("{}")
    message = folder.run("fit", "z.zarr", "b.npy", "-o", "x").err
    assert "Zarr array" in message and "Python package reads it" in message
