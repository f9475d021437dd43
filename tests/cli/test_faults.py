"""Closed pipes, full devices, folders that cannot be written, files that shrink, signals, kill -9."""

import json
import os
import resource
import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import PROGRAM, write_png
from kill_and_resume import kill_and_resume, make_pair


def test_a_closed_pipe_is_status_5_and_says_that_the_model_is_written(folder):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        result = folder.run("fit", "a.npy", "b.npy", "-o", "m", "--json", stdout=pipe)
    assert result.status == 5 and "Broken pipe" in result.err and "'m' is written" in result.err
    assert folder.names() == {"a.npy", "b.npy", "m"}
    folder.ok("verify", "m", "a.npy", "b.npy")


def test_head_that_reads_nothing_is_status_5(folder):
    folder.model()
    script = f"'{PROGRAM}' info m --json | head -c 0; echo ${{PIPESTATUS[0]}}"
    statuses = {subprocess.run(["bash", "-c", "sleep 0.1 | " + script], cwd=folder.path, capture_output=True,
                               text=True).stdout.strip() for _ in range(3)}
    assert statuses <= {"0", "5"}  # 0 where the line was in the pipe before head had gone


def test_a_full_device_is_status_5(folder):
    folder.model()
    with open("/dev/full", "w") as full:
        for arguments in (["info", "m"], ["--help"], ["--version"], ["fit", "a.npy", "b.npy", "-o", "n"]):
            result = folder.run(*arguments, stdout=full)
            assert result.status == 5 and "No space left" in result.err, arguments
    assert "No space left" in folder.fails(5, "fit", "a.npy", "b.npy", "-o", "/dev/full", "-q")
    assert folder.names() == {"a.npy", "b.npy", "m", "n"}  # n was written before its result could not be printed


def test_a_full_disk_leaves_the_old_file_and_nothing_else(folder, tmp_path_factory):
    disk = tmp_path_factory.mktemp("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small disk")
    try:
        (disk / "z.npy").write_bytes(b"old")
        np.save(folder / "big.npy", np.tile(folder.a, (100, 1)))
        folder.model()
        message = folder.fails(5, "apply", "m", "--domain", 1, "big.npy", "-o", disk / "z.npy", "-q")
        assert "No space left" in message
        assert [path.name for path in disk.iterdir()] == ["z.npy"] and (disk / "z.npy").read_bytes() == b"old"
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("arguments", [
    ["fit", "a.npy", "b.npy", "-o", "out"],
    ["summarize", "a.npy", "b.npy", "-o", "out"],
    ["merge", "s", "s", "--allow-repeats", "-o", "out"],
    ["apply", "m", "--domain", "1", "a.npy", "-o", "out.npy"],
    ["translate", "m", "--from", "1", "--to", "2", "a.npy", "-o", "out.npy"],
    ["report", "m", "-o", "out.html"],
])
def test_a_file_size_limit_leaves_the_old_file(folder, arguments):
    folder.model()
    folder.summary()
    (folder / arguments[-1]).write_bytes(b"old")
    message = folder.fails(5, *arguments, "-q",
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)))
    assert "too large" in message


def test_of_two_outputs_both_or_none_are_written(folder):
    folder.model()
    for old in (None, b"old"):
        if old:
            (folder / "c.npy").write_bytes(old)
        # The samples fit within the limit, the standard errors below a regular file do not.
        folder.fails(5, "translate", "m", "--from", 2, "--to", 1, "b.npy", "-o", "c.npy", "--stderr", "/proc/e.npy", "-q")
        assert (folder / "c.npy").exists() == bool(old)


def test_folders_that_cannot_be_written_are_status_5(folder):
    folder.fails(5, "fit", "a.npy", "b.npy", "-o", "a.npy/m")  # below a regular file
    folder.fails(5, "fit", "a.npy", "b.npy", "-o", "/proc/m", "-q")  # not even root may


def test_a_read_only_file_system_is_status_5(folder):
    locked = folder / "locked"
    locked.mkdir()
    commands = f"mount --bind locked locked && mount -o remount,ro,bind locked && '{PROGRAM}' fit a.npy b.npy -o locked/m"
    result = subprocess.run(["unshare", "-m", "bash", "-c", f"{commands}; echo status $?"], cwd=folder.path,
                            capture_output=True, text=True)
    if "mount:" in result.stderr or "unshare" in result.stderr:
        pytest.skip("needs the right to mount read-only")
    assert result.stdout == "status 5\n" and "Read-only file system" in result.stderr
    assert list(locked.iterdir()) == []


def test_an_unreadable_file_is_status_5(folder):
    (folder / "dir.npy").mkdir()
    (folder / "loop.npy").symlink_to("loop.npy")
    for name in ("loop.npy", "/proc/self/mem"):
        result = folder.run("fit", name, "b.npy", "-o", "m")
        assert result.status in (3, 5) and not (folder / "m").exists()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A pair whose summary takes a second or so."""
    folder = tmp_path_factory.mktemp("large")
    return make_pair(folder, 100_000, 150)


def start(folder, pair, *options):
    """Summarizing, with at least one checkpoint written."""
    process = subprocess.Popen([PROGRAM, "summarize", *map(str, pair), "-o", "s", "--accumulate", "qr", "--checkpoint", "c",
                                "--every", "0", *options], cwd=folder.path, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    while not (folder / "c").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.001)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_cleanly_and_resume_ends_with_the_same_bytes(folder, large, number):
    (folder / "s").write_bytes(b"old")
    process = start(folder, large)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number and out == ""
    assert "in the checkpoint 'c'" in err and "no output file has changed" in err
    assert (folder / "s").read_bytes() == b"old"
    assert folder.names() == {"a.npy", "b.npy", "s", "c"}
    assert "the checkpoint 'c' exists already" in folder.fails(2, "summarize", *large, "-o", "s", "--checkpoint", "c")
    assert "going on after" in folder.ok("summarize", *large, "-o", "s", "--accumulate", "qr", "--checkpoint", "c",
                                         "--resume").err
    folder.ok("summarize", *large, "-o", "whole", "--accumulate", "qr")
    assert (folder / "s").read_bytes() == (folder / "whole").read_bytes()
    assert not (folder / "c").exists()


def test_a_signal_without_checkpoint_stops_too(folder, large):
    process = subprocess.Popen([PROGRAM, "fit", *map(str, large), "-o", "m", "--accumulate", "qr", "--progress", "plain"],
                               cwd=folder.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "pairs read" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == "" and "stopping" in err
    assert folder.names() == {"a.npy", "b.npy"}


@pytest.mark.parametrize("number, as_json", [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_a_signal_ends_a_long_factorization_at_once(folder, number, as_json):
    """Seconds within LAPACK, which cannot be asked to stop; nothing has been written yet."""
    X = np.random.default_rng(0).normal(size=(3000, 2800))
    np.save(folder / "x.npy", X[:, :1400])
    np.save(folder / "y.npy", X[:, 1400:])
    folder.ok("summarize", "x.npy", "y.npy", "-o", "s")
    process = subprocess.Popen([PROGRAM, "fit", "--summary", "s", "-o", "m", "-v", *["--json"] * as_json], cwd=folder.path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "in the form" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.2)
    sent = time.perf_counter()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert time.perf_counter() - sent < 2
    assert process.returncode == 128 + number and out == "" and "no output file has changed" in err
    if as_json:
        assert json.loads(err.splitlines()[-1])["status"] == 143
    assert folder.names() == {"a.npy", "b.npy", "x.npy", "y.npy", "s"}


def test_a_file_that_shrinks_is_an_error_and_the_checkpoint_stays(folder, large):
    pair = [folder / "x1.npy", folder / "x2.npy"]
    for source, copy in zip(large, pair):
        copy.write_bytes(source.read_bytes())
    process = start(folder, pair)
    os.truncate(pair[1], pair[1].stat().st_size // 4)
    out, err = process.communicate(timeout=60)
    assert process.returncode in (3, 5) and out == "" and "x2.npy" in err, err
    assert not (folder / "s").exists() and (folder / "c").exists()


def test_resuming_against_other_or_changed_inputs_is_refused_with_figures(folder, large):
    pair = [folder / "x1.npy", folder / "x2.npy"]
    for source, copy in zip(large, pair):
        copy.write_bytes(source.read_bytes())
    process = start(folder, pair)
    process.kill()
    process.communicate()
    resume = ["-o", "s", "--checkpoint", "c", "--resume"]
    assert "accumulate: \"qr\" then, \"auto\" now" in folder.fails(3, "summarize", *pair, *resume)
    resume += ["--accumulate", "qr"]
    assert "X1" in folder.fails(3, "summarize", *pair[::-1], *resume)
    for leftover in folder.path.glob(".c.*"):
        leftover.unlink()
    np.save(folder / "short.npy", np.zeros((4, 150), np.float32))
    assert "bytes" in folder.fails(3, "summarize", "short.npy", "short.npy", *resume)
    with open(pair[0], "r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(b"\0\0\0\0")
    message = folder.fails(3, "summarize", *pair, *resume)
    assert "modified_ns" in message and "hash_of_ends" in message
    folder.summary()
    assert "not a checkpoint" in folder.fails(3, "summarize", *pair, "-o", "t", "--checkpoint", "s", "--resume")


def test_resuming_notices_a_changed_image_in_a_folder_below(folder):
    random = np.random.default_rng(0)
    below = folder / "images" / "below"
    below.mkdir(parents=True)
    for i in range(60):  # 49 of these make a block
        write_png(below / f"{i}.png", random.integers(0, 256, (200, 200)))
    (below / "59.png").write_bytes(b"damaged")
    np.save(folder / "y.npy", random.normal(size=(60, 1)))
    work = ["summarize", "images", "y.npy", "-o", "s", "--checkpoint", "c"]
    assert "59.png" in folder.run(*work, "--every", 0).err and (folder / "c").exists()
    result = folder.run(*work, "--resume")
    assert "going on after 49 pairs" in result.err and "59.png" in result.err

    image = (below / "3.png").read_bytes()
    write_png(below / "3.png", random.integers(0, 256, (200, 200)))
    message = folder.fails(3, *work, "--resume")
    assert "is of other inputs" in message and "X1 modified_ns" in message
    # Of two images with each other's names, only names, sizes and times taken together tell.
    (below / "3.png").write_bytes(image)
    folder.path.joinpath("c").unlink()
    assert "59.png" in folder.run(*work, "--every", 0).err
    (below / "3.png").rename(below / "x")
    (below / "4.png").rename(below / "3.png")
    (below / "x").rename(below / "4.png")
    message = folder.fails(3, *work, "--resume")
    assert "hash_of_names_sizes_and_times" in message and "modified_ns:" not in message


def test_killed_at_random_moments_and_resumed_the_summary_is_the_same(folder, large):
    work = folder / "work"
    work.mkdir()
    assert sum(kill_and_resume(PROGRAM, work, large, rounds=2, seed=5)) > 0


def test_resume_without_a_checkpoint_starts(folder):
    folder.ok("summarize", "a.npy", "b.npy", "-o", "s", "--checkpoint", "c", "--resume")
    assert folder.names() == {"a.npy", "b.npy", "s"}


@pytest.mark.parametrize("megabytes", range(120, 701, 20))
def test_little_address_space_is_refused_with_the_figure_or_enough(folder, megabytes):
    """ulimit -v: OpenBLAS would ask for its memory for ever."""
    limit = megabytes << 20
    process = subprocess.Popen([PROGRAM, "summarize", "a.npy", "b.npy", "-o", "s"], cwd=folder.path, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    try:
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    if process.returncode == 0:
        assert (folder / "s").exists()
        return
    assert folder.names() == {"a.npy", "b.npy"}
    if process.returncode == 1:
        assert "not enough memory" in err or f"ulimit -v allows the process {limit / 1e6:.3g} MB" in err
    else:  # the program could not even be loaded
        assert process.returncode == 127 or process.returncode < 0, err


def stuck(folder):
    """A run that waits for a reader of its output for ever, which no signal interrupts."""
    folder.model()
    os.mkfifo(folder / "pipe.csv")
    process = subprocess.Popen([PROGRAM, "apply", "m", "--domain", "1", "a.npy", "-o", "pipe.csv"], cwd=folder.path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    return process


def test_five_seconds_after_a_signal_the_process_ends(folder):
    process = stuck(folder)
    sent = time.perf_counter()
    _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM and 4 < time.perf_counter() - sent < 15
    assert "in 5 seconds at most" in err and "stopping at once by kill" in err


def test_a_second_signal_ends_the_process_at_once(folder):
    process = stuck(folder)
    time.sleep(0.2)
    sent = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGINT and time.perf_counter() - sent < 3 and "Ctrl-C" in err
