"""mpirun -n N cgmca summarize: the same summary as one process, and every way it can fail."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import PROGRAM
from same_fit import assert_same_fit
from test_parts import mnist_pair

MPIRUN = shutil.which("mpirun")
MODULE = pathlib.Path(PROGRAM).parent / "cgmca-mpi.so"
pytestmark = pytest.mark.skipif(MPIRUN is None or not MODULE.exists(), reason="needs mpirun, and cgmca built with MPI")

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OPENBLAS_NUM_THREADS": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def command(ranks, *arguments):
    return [MPIRUN, "--oversubscribe", "-n", str(ranks), PROGRAM, *map(str, arguments)]


def run(folder, ranks, *arguments, **more):
    return subprocess.run(command(ranks, *arguments), cwd=folder.path, env=more.pop("env", ENVIRONMENT), text=True,
                          capture_output=True, timeout=300, **more)


def ok(folder, ranks, *arguments, **more):
    result = run(folder, ranks, *arguments, **more)
    assert result.returncode == 0, result.stderr
    return result


def test_any_number_of_ranks_gives_the_fit_of_one_process(folder):
    folder.ok("summarize", "a.npy", "b.npy", "-o", "whole", "-q")
    inputs = folder.ok("info", "whole", "--json").json["inputs"]
    for ranks in (1, 2, 3, 5):
        result = ok(folder, ranks, "summarize", "a.npy", "b.npy", "-o", "s")
        assert result.stdout.count("pairs") == 1  # rank 0 alone tells the result
        assert_same_fit(folder, "whole", "s")
        assert folder.ok("info", "s", "--json").json["inputs"] == inputs


def test_formats_domains_and_weights_in_ranks(folder):
    np.savetxt(folder / "a.csv", folder.a, delimiter=",")
    np.savez(folder / "b.npz", folder.b)
    np.save(folder / "c.npy", folder.a[:, :3] ** 2)
    np.save(folder / "w.npy", np.arange(60) % 3)
    inputs = ["a.csv", "b.npz", "third=c.npy", "--weights", "w.npy"]
    folder.ok("summarize", *inputs, "-o", "whole", "-q")
    for ranks in (2, 3, 5):
        ok(folder, ranks, "summarize", *inputs, "-o", "s", "-q")
        assert_same_fit(folder, "whole", "s")


def test_mnist_by_ranks_is_the_same_fit(folder):
    pair = mnist_pair(folder)
    folder.ok("summarize", *pair, "-o", "whole", "-q")
    for ranks in (2, 3, 5):
        ok(folder, ranks, "summarize", *pair, "-o", "s", "-q")
        assert_same_fit(folder, "whole", "s")


def test_a_bad_row_ends_all_ranks_and_is_told_by_rank_file_and_row(folder):
    a = folder.a.copy()
    a[45, 2] = np.nan
    np.save(folder / "a.npy", a)
    result = run(folder, 3, "summarize", "a.npy", "b.npy", "-o", "s")
    assert result.returncode == 3
    assert "cgmca: rank 2: 1 of 20 pairs has missing values: 'a.npy' at row 46, column 3" in result.stderr
    assert "s" not in folder.names()


def test_what_fails_on_all_ranks_is_told_once(folder):
    result = run(folder, 3, "summarize", "a.npy", "absent.npy", "-o", "s")
    assert result.returncode == 5 and result.stderr.count("cgmca: rank") == 1 and "absent.npy" in result.stderr
    result = run(folder, 2, "summarize", "a.npy", "b.npy", "--part", "1/2", "-o", "s")
    assert result.returncode == 2 and result.stderr.count("leave out --part") == 1
    assert "s" not in folder.names()


def test_another_version_on_one_rank_is_refused_by_name(folder):
    source = folder / "version.cpp"
    source.write_text("namespace cgmca { __attribute__((visibility(\"default\"))) const char* version() "
                      "{ return \"0.0.9\"; } }\n")
    other = folder / "other_version.so"
    subprocess.run([os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-o", other, source], check=True)
    arguments = [PROGRAM, "summarize", "a.npy", "b.npy", "-o", "s"]
    result = subprocess.run(
        [MPIRUN, "--oversubscribe", "-n", "2", *arguments, ":", "-n", "1", "env", f"LD_PRELOAD={other}", *arguments],
        cwd=folder.path, env=ENVIRONMENT, text=True, capture_output=True, timeout=300)
    assert result.returncode == 3, result.stderr
    assert "rank 2 on" in result.stderr and "runs cgmca 0.0.9" in result.stderr
    assert "all ranks need the same version" in result.stderr and "s" not in folder.names()


def test_ranks_that_read_other_files_are_refused(folder):
    """Two machines with files of the same name; here two folders."""
    other = folder / "other"
    other.mkdir()
    np.save(other / "a.npy", folder.a + 1)
    np.save(other / "b.npy", folder.b + 1)
    arguments = [PROGRAM, "summarize", "a.npy", "b.npy", "-o", "s"]
    result = subprocess.run([MPIRUN, "--oversubscribe", "-n", "1", *arguments, ":", "-n", "1", "--wdir", other, *arguments],
                            cwd=folder.path, env=ENVIRONMENT, text=True, capture_output=True, timeout=300)
    assert result.returncode == 3, result.stderr
    assert "part 2 of 2 of 'a.npy' and 'b.npy'" in result.stderr and "s" not in folder.names()


def test_without_its_module_cgmca_refuses_to_be_one_of_several(folder):
    alone = folder / "bin"
    alone.mkdir()
    shutil.copy(PROGRAM, alone / "cgmca")
    result = subprocess.run([alone / "cgmca", "summarize", "a.npy", "b.npy", "-o", "s"], cwd=folder.path, text=True,
                            capture_output=True, env={**ENVIRONMENT, "OMPI_COMM_WORLD_SIZE": "2"})
    assert result.returncode == 2 and "built without MPI" in result.stderr and "--part I/N" in result.stderr
    subprocess.run([alone / "cgmca", "summarize", "a.npy", "b.npy", "-o", "s"], cwd=folder.path, check=True,
                   capture_output=True, env={**ENVIRONMENT, "OMPI_COMM_WORLD_SIZE": "1"})


def pid_of_rank(job, rank):
    """The process of a rank, by the environment that mpirun has given it."""
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            environment = (path / "environ").read_bytes().split(b"\0")
            if (path / "exe").resolve() != pathlib.Path(PROGRAM).resolve():
                continue
        except OSError:
            continue
        if b"OMPI_COMM_WORLD_RANK=%d" % rank in environment and b"CGMCA_TEST_JOB=%s" % job.encode() in environment:
            return int(path.name)
    return None


def test_a_killed_rank_ends_the_job_which_goes_on_from_its_checkpoints(folder):
    random = np.random.default_rng(0)
    for name in ("x.npy", "y.npy"):
        np.save(folder / name, random.standard_normal((120_000, 80), dtype=np.float32))
    options = ["summarize", "x.npy", "y.npy", "--accumulate", "qr", "--checkpoint", "c", "--every", "0", "--resume"]
    job = str(folder.path)
    process = subprocess.Popen(command(3, *options, "-o", "s"), cwd=folder.path, text=True, stderr=subprocess.PIPE,
                               env={**ENVIRONMENT, "CGMCA_TEST_JOB": job})
    victim = None
    while process.poll() is None and victim is None:
        victim = pid_of_rank(job, 1)
    while process.poll() is None and not (folder / "c.2of3").exists():
        time.sleep(0.001)
    os.kill(victim, signal.SIGKILL)
    _, told = process.communicate(timeout=300)
    assert process.returncode != 0 and "rank 1" in told and "Killed" in told, told
    assert "s" not in folder.names() and "c.2of3" in folder.names()
    # As many ranks are needed as before, and what was read is not read again.
    result = run(folder, 2, *options, "-o", "s")
    assert result.returncode == 2 and "of a job of 3 ranks" in result.stderr
    assert "of a job of 3 ranks" in folder.fails(2, *options, "-o", "s")
    result = ok(folder, 3, *options, "-o", "s")
    assert "rank 1: going on after" in result.stderr
    assert not [name for name in folder.names() if name.startswith("c.")]
    folder.ok("summarize", "x.npy", "y.npy", "-o", "whole", "-q")
    assert_same_fit(folder, "whole", "s")
