"""Batch queues: summarize --part I/N, index, merge, and the example job-array script."""

import gzip
import os
import signal
import struct
import subprocess
import time

import numpy as np
import pytest
import scipy.io

from conftest import PROGRAM, ROOT, shared, write_png
from same_fit import assert_same_fit

FORMATS = ["npy", "npz", "compressed.npz", "csv", "tsv", "idx", "idx.gz", "mat", "png"]


def idx_bytes(X):
    return b"\0\0\x08\x02" + struct.pack(">II", *X.shape) + X.astype(np.uint8).tobytes()


def write_as(folder, name, X, form):
    """Whole numbers from 0 to 255 as a file of the given form; what the command line calls it."""
    path = folder / f"{name}.{form}"
    if form == "npy":
        np.save(path, X)
    elif form == "npz":
        np.savez(path, X)
    elif form == "compressed.npz":
        np.savez_compressed(path, X)
    elif form in ("csv", "tsv"):
        np.savetxt(path, X, delimiter="," if form == "csv" else "\t", header=(",\t"[form == "tsv"]).join(
            f"{name}{i}" for i in range(X.shape[1])), comments="")
    elif form == "idx":
        path.write_bytes(idx_bytes(X))
    elif form == "idx.gz":
        path.write_bytes(gzip.compress(idx_bytes(X)))
    elif form == "png":
        path.mkdir()
        for i, row in enumerate(X):
            write_png(path / f"{i}.png", row[None, :])
    elif form == "mat":
        scipy.io.savemat(path, {"X": X})
    return path.name


def parts(folder, count, *arguments, name="part"):
    """Summarizes the inputs in `count` jobs; the names of their summaries."""
    names = [f"{name}{number}" for number in range(1, count + 1)]
    for number, output in enumerate(names, start=1):
        folder.ok("summarize", *arguments, "--part", f"{number}/{count}", "-o", output, "-q")
    return names


def whole_numbers(rows, features, seed):
    random = np.random.default_rng(seed)
    return np.clip(random.normal(100, 30, size=(rows, features)).round(), 0, 255)


@pytest.mark.parametrize("form", FORMATS)
def test_parts_of_every_format_merge_to_the_summary_of_the_whole(folder, form):
    pair = [write_as(folder, name, whole_numbers(101, features, seed), form)
            for seed, (name, features) in enumerate([("one", 6), ("two", 4)])]
    folder.ok("summarize", *pair, "-o", "whole")
    for count in (1, 3, 7):
        names = parts(folder, count, *pair)
        sizes = [folder.ok("info", name, "--json").json["n"] for name in names]
        assert sum(sizes) == 101 and max(sizes) - min(sizes) <= 1
        folder.ok("merge", *names, "-o", "merged", "-q")
        assert_same_fit(folder, "whole", "merged")
        assert folder.ok("info", "merged", "--json").json["inputs"] == pair


def test_parts_of_hdf5_merge_to_the_summary_of_the_whole(folder):
    folder.model()
    for domain, name in ((1, "a"), (2, "b")):
        folder.ok("apply", "m", "--domain", domain, f"{name}.npy", "-o", f"{name}.h5", "-q")
    folder.ok("summarize", "a.h5", "b.h5", "-o", "whole", "-q")
    folder.ok("merge", *parts(folder, 4, "a.h5", "b.h5"), "-o", "merged", "-q")
    assert_same_fit(folder, "whole", "merged")


def test_three_domains_with_weights_and_missing_values_in_parts(folder):
    random = np.random.default_rng(1)
    c = folder.a[:, :3] + random.normal(size=(60, 3))
    c[[5, 40], 1] = np.nan
    np.save(folder / "c.npy", c)
    weights = random.integers(0, 3, size=60).astype(float)
    weights[:20] = 0  # all of part 1 of 3
    np.savetxt(folder / "w.csv", weights)
    inputs = ["a.npy", "b.npy", "third=c.npy", "--weights", "w.csv", "--missing", "drop"]
    folder.ok("summarize", *inputs, "-o", "whole", "-q")
    names = parts(folder, 3, *inputs)
    assert [folder.ok("info", name, "--json").json["n"] for name in names][0] == 0
    folder.ok("merge", *names, "-o", "merged", "-q")
    assert_same_fit(folder, "whole", "merged")
    assert "weight" in folder.fails(3, "summarize", "a.npy", "b.npy", "--weights", "c.npy", "--part", "1/2", "-o", "x")


def test_samples_matched_by_key_or_by_name_come_in_parts_too(folder):
    rows = [(f"k{i}", *np.random.default_rng(i).normal(size=3)) for i in range(30)]
    for name, picked in (("p.csv", rows), ("q.csv", rows[::-1][:25])):
        (folder / name).write_text("key,x,y,z\n" + "\n".join(",".join(map(str, row)) for row in picked) + "\n")
    np.savetxt(folder / "w.csv", np.arange(1, 31))
    inputs = ["p.csv", "q.csv", "--id", "key", "--weights", "w.csv"]
    folder.ok("summarize", *inputs, "-o", "whole", "-q")
    folder.ok("merge", *parts(folder, 4, *inputs), "-o", "merged", "-q")
    assert_same_fit(folder, "whole", "merged")
    for side, seed in (("real", 0), ("synth", 1)):
        (folder / side).mkdir()
        for i in range(40):
            write_png(folder / side / f"{i}_{side}.png", whole_numbers(1, 4, 100 * seed + i))
    inputs = ["real", "synth", "--match", "real/synth"]
    folder.ok("summarize", *inputs, "-o", "whole", "-q")
    folder.ok("merge", *parts(folder, 3, *inputs), "-o", "merged", "-q")
    assert_same_fit(folder, "whole", "merged")


def test_more_parts_than_samples_are_fine(folder):
    for name in "ab":
        np.save(folder / f"few_{name}.npy", np.random.default_rng(ord(name)).normal(size=(3, 2)))
    folder.ok("summarize", "few_a.npy", "few_b.npy", "-o", "whole", "-q")
    folder.ok("merge", *parts(folder, 5, "few_a.npy", "few_b.npy"), "-o", "merged", "-q")
    assert folder.ok("info", "merged", "--json").json["n"] == 3
    assert_same_fit(folder, "whole", "merged")


def test_a_missing_part_is_refused_by_name(folder):
    names = parts(folder, 4, "a.npy", "b.npy")
    message = folder.fails(3, "merge", names[0], names[1], names[3], "-o", "s")
    assert "part 3 of 4 of 'a.npy' and 'b.npy' is missing" in message
    folder.ok("merge", names[0], names[1], names[3], "--allow-missing", "-o", "some", "-q")
    assert folder.ok("info", "some", "--json").json["inputs"] == [
        "a.npy (parts 1 to 2 and 4 of 4)", "b.npy (parts 1 to 2 and 4 of 4)"]
    assert "warning: 'some' is not all of its inputs: part 3 of 4" in folder.ok(
        "fit", "--summary", "some", "-o", "m").err
    folder.ok("merge", "some", names[2], "-o", "s", "-q")
    folder.ok("summarize", "a.npy", "b.npy", "-o", "whole", "-q")
    assert_same_fit(folder, "whole", "s")


def test_a_part_that_is_there_twice_is_refused_by_name(folder):
    names = parts(folder, 3, "a.npy", "b.npy")
    message = folder.fails(3, "merge", *names, names[1], "-o", "s")
    assert "'part2' and 'part2': both summaries hold part 2 of 3 of 'a.npy'" in message
    folder.ok("summarize", "a.npy", "b.npy", "-o", "whole", "-q")
    message = folder.fails(3, "merge", names[0], "whole", "-o", "s")
    assert "'part1' and 'whole'" in message and "all of 'a.npy'" in message and "part 1 of 3" in message
    other = parts(folder, 2, "a.npy", "b.npy", name="half")
    message = folder.fails(3, "merge", names[0], other[1], "-o", "s")
    assert "'part1' and 'half2'" in message and "part 1 of 3 and part 2 of 2 of 'a.npy' overlap" in message


def test_a_foreign_part_is_refused_by_name(folder):
    names = parts(folder, 3, "a.npy", "b.npy")
    # The same name, other contents: the file has changed between two jobs.
    np.save(folder / "a.npy", folder.a + 1)
    folder.ok("summarize", "a.npy", "b.npy", "--part", "3/3", "-o", "changed", "-q")
    message = folder.fails(3, "merge", *names[:2], "changed", "-o", "s")
    assert "'changed'" in message and "other options, or beside other inputs" in message  # b.npy is the same
    np.save(folder / "b.npy", folder.b + 1)
    folder.ok("summarize", "a.npy", "b.npy", "--part", "3/3", "-o", "other", "-q")
    message = folder.fails(3, "merge", *names[:2], "other", "-o", "s")
    assert "part 3 of 3 of 'a.npy' and 'b.npy'" in message and "parts 1 to 2 of 3" in message
    assert "'part1', 'part2'" in message and "against" in message and "'other'" in message
    # Other options would have dealt other samples to the parts.
    folder.ok("summarize", "a.npy", "b.npy", "--part", "1/3", "-o", "p1", "-q")
    folder.ok("summarize", "a.npy", "b.npy", "--part", "2/3", "--missing", "drop", "-o", "p2", "-q")
    assert "other options" in folder.fails(3, "merge", "p1", "p2", "-o", "s")


@pytest.mark.parametrize("part", ["0/4", "5/4", "1", "1/", "/4", "a/b", "1/4x", "-1/4", "1/0"])
def test_what_is_no_part_is_status_2(folder, part):
    assert f"--part {part} is not a part" in folder.fails(2, "summarize", "a.npy", "b.npy", f"--part={part}", "-o", "s")


def test_a_part_reads_only_its_rows(folder):
    """The other rows hold NaN, which the part would refuse."""
    a = folder.a.copy()
    a[:30] = np.nan
    np.save(folder / "a.npy", a)
    np.savez(folder / "a.npz", a)
    folder.ok("summarize", "a.npy", "b.npy", "--part", "2/2", "-o", "s", "-q")
    folder.ok("summarize", "a.npz", "b.npy", "--part", "2/2", "-o", "s", "-q")
    message = folder.fails(3, "summarize", "a.npy", "b.npy", "--part", "1/2", "-o", "t")
    assert "30 of 30 pairs have missing values: 'a.npy' at row 1, column 1" in message
    message = folder.fails(3, "summarize", "a.npy", "b.npy", "--part", "3/5", "-o", "t")
    assert "6 of 12 pairs have missing values: 'a.npy' at row 25, column 1" in message


def test_text_is_read_by_an_index(folder):
    for name, X in (("a", folder.a), ("b", folder.b)):
        np.savetxt(folder / f"{name}.csv", X, delimiter=",")
    folder.ok("summarize", "a.csv", "b.csv", "-o", "whole", "-q")
    found = folder.ok("index", "a.csv", "b.csv", "--json").json["indexes"]
    assert [(one["index"], one["rows"]) for one in found] == [("a.csv.rows", 60), ("b.csv.rows", 60)]
    folder.ok("merge", *parts(folder, 7, "a.csv", "b.csv"), "-o", "merged", "-q")
    assert_same_fit(folder, "whole", "merged")
    with open(folder / "a.csv", "a") as file:
        file.write("1,2,3,4,5,6,7\n")
    message = folder.fails(3, "summarize", "a.csv", "b.csv", "--part", "1/2", "-o", "s")
    assert "'a.csv.rows'" in message and "cgmca index" in message
    (folder / "a.csv.rows").unlink()
    assert "(61 samples × 7 features)" in folder.fails(3, "summarize", "a.csv", "b.csv", "--part", "1/2", "-o", "s")
    assert "needs no index" in folder.fails(3, "index", "a.npy")


def test_a_bad_row_of_text_is_told_by_its_line(folder):
    lines = [",".join(map(str, row)) for row in folder.a]
    lines[50] = lines[50].replace(",", ",x", 1)
    (folder / "a.csv").write_text("\n".join(lines) + "\n")
    folder.ok("summarize", "a.csv", "b.npy", "--part", "1/2", "-o", "s", "-q")
    assert "'a.csv', line 51, column 2" in folder.fails(3, "summarize", "a.csv", "b.npy", "--part", "2/2", "-o", "t")


def test_a_part_goes_on_from_its_checkpoint(folder):
    random = np.random.default_rng(0)
    for name in ("x", "y"):
        np.save(folder / f"{name}.npy", random.standard_normal((120_000, 60), dtype=np.float32))
    options = ["summarize", "x.npy", "y.npy", "--accumulate", "qr", "-q"]
    folder.ok(*options, "--part", "2/3", "-o", "whole")
    kept = [*options, "--checkpoint", "c", "--every", "0", "--resume", "--part", "2/3", "-o", "part"]
    process = subprocess.Popen([PROGRAM, *kept], cwd=folder.path)
    while process.poll() is None and not (folder / "c").exists():
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if (folder / "c").exists():  # else it was faster than the signal
        other = [*kept[:-3], "1/3", "-o", "part"]
        assert "other inputs or options (part: \"2/3\" then, \"1/3\" now)" in folder.fails(3, *other)
        assert "there was a --part then" in folder.fails(3, *kept[:-4], "-o", "part")
    folder.ok(*kept)
    assert (folder / "part").read_bytes() == (folder / "whole").read_bytes()
    assert not (folder / "c").exists()


def mnist_pair(folder):
    """The 60,000 images of MNIST at 14×14 pixels, and the same with noise; bench/engines.py takes all 28×28."""
    images = shared("data/mnist/train-images-idx3-ubyte.gz")
    pixels = np.frombuffer(gzip.decompress(images.read_bytes()), np.uint8, offset=16)
    pixels = pixels.reshape(60000, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(60000, 196)
    noise = np.random.default_rng(0).normal(0, 50, pixels.shape)
    np.save(folder / "noisy.npy", np.clip(pixels + noise, 0, 255).astype(np.uint8))
    (folder / "clean.idx").write_bytes(idx_bytes(pixels))
    return ["clean.idx", "noisy.npy"]


def test_mnist_in_parts_is_the_same_fit(folder):
    pair = mnist_pair(folder)
    folder.ok("summarize", *pair, "-o", "whole", "-q")
    for count in (2, 3, 7):
        folder.ok("merge", *parts(folder, count, *pair), "-o", "merged", "-q")
        assert_same_fit(folder, "whole", "merged")


def test_the_example_of_a_job_array_runs(folder):
    """examples/job_array.sh, with a queue of one machine in place of Slurm."""
    for name, X in (("a", folder.a), ("b", folder.b)):
        np.savetxt(folder / f"{name}.csv", X, delimiter=",")
    script = ROOT / "examples" / "job_array.sh"
    queue = folder / "sbatch"
    queue.write_text("""#!/bin/bash
# sbatch --parsable [--array=1-N] [--dependency=…] [--wrap=COMMAND | SCRIPT ARGUMENT…], all at once.
for argument; do
  shift
  case $argument in
    --array=*) last=${argument#--array=1-} ;;
    --wrap=*) bash -c "${argument#--wrap=}" >&2 || exit 1 ;;
    --*) ;;
    *) script=$argument; break ;;
  esac
done
if [ -n "$script" ]; then
  for i in $(seq 1 "$last"); do
    SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_COUNT=$last bash "$script" "$@" >&2 || exit 1
  done
fi
echo 1
""")
    queue.chmod(0o755)
    (folder / "cgmca").symlink_to(PROGRAM)
    environment = {**os.environ, "PATH": f"{folder.path}:{os.environ['PATH']}"}
    result = subprocess.run(["bash", script, "a.csv", "b.csv"], cwd=folder.path, capture_output=True, text=True,
                            env=environment, timeout=120)
    assert result.returncode == 0, result.stderr
    folder.ok("summarize", "a.csv", "b.csv", "-o", "whole", "-q")
    assert_same_fit(folder, "whole", "s")
