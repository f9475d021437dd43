"""cgmca.mpi under mpirun: the same fit as one process, and errors that no rank waits on for ever."""

import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import cgmca
from conftest import ROOT, make_pairs
from engines_common import noisy_digits

MPIRUN = shutil.which("mpirun")
pytest.importorskip("mpi4py", reason="needs mpi4py")
pytestmark = pytest.mark.skipif(MPIRUN is None, reason="needs mpirun")

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OPENBLAS_NUM_THREADS": "1"}


def mpirun(folder, ranks, script, *arguments):
    """Runs a script, or the lines of one, by so many ranks."""
    if not os.path.exists(script):
        path = folder / "script.py"
        path.write_text("import numpy as np, cgmca\nfrom cgmca import mpi\nfrom mpi4py import MPI\n"
                        "rank = MPI.COMM_WORLD.Get_rank()\ntold = open(f'told{rank}', 'w')\n" + textwrap.dedent(script))
        script = path
    return subprocess.run([MPIRUN, "--oversubscribe", "-n", str(ranks), sys.executable, "-m", "mpi4py", script, *arguments],
                          cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)


def told(folder, rank):
    """The lines a rank wrote to its own file `told`: mpirun mixes what ranks print."""
    return (folder / f"told{rank}").read_text().splitlines()


def assert_same(model, other):
    for A, B in zip(model.A_, other.A_):
        assert np.abs(A - B).max() <= 1e-10 * np.abs(A).max()
    assert np.abs(model.canonical_correlations_ - other.canonical_correlations_).max() <= 1e-10
    assert abs(model.certificate_.excess - other.certificate_.excess) <= 1e-10


@pytest.fixture
def files(tmp_path):
    X, Y = make_pairs(n=301)
    np.save(tmp_path / "x.npy", X)
    np.savetxt(tmp_path / "y.csv", Y, delimiter=",")
    return tmp_path


# Communicators of 1, 2, 3 and 5 ranks within one job, because starting Python costs more than these fits.
SIZES = (1, 2, 3, 5)
FOR_EACH_SIZE = """
world = MPI.COMM_WORLD
for size in {sizes}:
    comm = world.Split(0 if rank < size else MPI.UNDEFINED, rank)
    if comm != MPI.COMM_NULL:
        work(comm, size)
"""


def by_sizes(folder, script, sizes=SIZES):
    result = mpirun(folder, max(sizes), textwrap.dedent(script) + FOR_EACH_SIZE.format(sizes=sizes))
    assert result.returncode == 0, result.stderr


def test_arrays_and_files_of_all_ranks_give_the_fit_of_one_process(files):
    by_sizes(files, """
        X, Y = np.load("x.npy"), np.loadtxt("y.csv", delimiter=",")
        def work(comm, size):
            mine = mpi.share(len(X), comm)
            models = {"arrays": mpi.fit(cgmca.MCA(), X[mine], Y[mine], comm=comm),
                      "files": mpi.fit(cgmca.MCA(), "x.npy", "y.csv", comm=comm),
                      "summaries": mpi.fit(cgmca.MCA(), cgmca.Summary(8, 6).add(X[mine], Y[mine]), comm=comm)}
            if rank == size - 1:  # fitted on every rank
                for name, model in models.items():
                    cgmca.save(model, f"{name}{size}.cgm")
            weights = np.arange(len(X)) % 3
            summary = mpi.summarize(X[mine], Y[mine], sample_weight=weights[mine], comm=comm)
            assert (summary is None) == (rank > 0)
            if summary is not None:
                summary.save(f"weighted{size}.cgs")
        """)
    X, Y = np.load(files / "x.npy"), np.loadtxt(files / "y.csv", delimiter=",")
    alone = cgmca.MCA().fit(X, Y)
    alone_weighted = cgmca.MCA().fit(X, Y, sample_weight=np.arange(301) % 3)
    for size in SIZES:
        for name in ("arrays", "files", "summaries"):
            assert_same(alone, cgmca.load(files / f"{name}{size}.cgm"))
        weighted = cgmca.Summary.load(str(files / f"weighted{size}.cgs"))
        assert_same(alone_weighted, cgmca.MCA().fit_summary(weighted))


def test_ranks_without_rows_are_fine(files):
    result = mpirun(files, 3, """
        X, Y = np.load("x.npy"), np.loadtxt("y.csv", delimiter=",")
        model = mpi.fit(cgmca.MCA(), X if rank == 1 else X[:0], Y if rank == 1 else Y[:0])
        if rank == 0:
            cgmca.save(model, "m")
        """)
    assert result.returncode == 0, result.stderr
    assert_same(cgmca.MCA().fit(np.load(files / "x.npy"), np.loadtxt(files / "y.csv", delimiter=",")),
                cgmca.load(files / "m"))


def test_an_error_on_one_rank_is_raised_on_all_with_rank_file_and_row(files):
    X = np.load(files / "x.npy")
    X[250, 3] = np.nan
    np.save(files / "x.npy", X)
    result = mpirun(files, 3, """
        try:
            mpi.fit(cgmca.MCA(), "x.npy", "y.csv")
        except mpi.RankError as error:
            print(error, repr(error.__cause__)[:10], sep="|", file=told)
        try:
            mpi.reduce(cgmca.Summary(3, 2 + (rank == 2)))
        except mpi.RankError as error:
            print(error, file=told)
        """)
    assert result.returncode == 0, result.stderr
    for rank, cause in enumerate(("None", "None", "ValueError")):
        fitted, reduced = told(files, rank)
        assert fitted == "rank 2: 'x.npy' holds nan at row 251, column 4; remove or mend such samples first|" + cause
        assert reduced.startswith("rank 2: cannot merge a summary of 3+2 features with one of 3+3")


def test_another_version_on_one_rank_is_refused_by_name(files):
    result = mpirun(files, 3, """
        if rank == 1:
            cgmca.engines.mpi.__version__ = "0.0.9"
        try:
            mpi.summarize("x.npy", "y.csv")
        except mpi.RankError as error:
            print(error, file=told)
        """)
    assert result.returncode == 0, result.stderr
    for rank in range(3):
        (line,) = told(files, rank)
        assert "rank 1 on" in line and "runs cgmca 0.0.9" in line


def test_a_rank_that_is_killed_ends_the_job(files):
    result = mpirun(files, 3, """
        import os, signal
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        mpi.summarize("x.npy", "y.csv")
        """)
    assert result.returncode != 0 and "rank 1" in result.stderr and "Killed" in result.stderr


def test_mnist_by_ranks_is_the_same_fit(tmp_path, mnist):
    clean, noisy = noisy_digits(mnist.data, 14)
    np.save(tmp_path / "x.npy", clean)
    np.save(tmp_path / "y.npy", noisy)
    alone = cgmca.Summary(196, 196)
    for blocks in zip(*(cgmca.read_blocks(tmp_path / name) for name in ("x.npy", "y.npy"))):
        alone.add(*blocks)
    expected = cgmca.MCA(n_components=50).fit_summary(alone)
    by_sizes(tmp_path, """
        def work(comm, size):
            model = mpi.fit(cgmca.MCA(n_components=50), "x.npy", "y.npy", comm=comm)
            if rank == 0:
                cgmca.save(model, f"m{size}")
        """, sizes=(2, 3, 5))
    for size in (2, 3, 5):
        assert_same(expected, cgmca.load(tmp_path / f"m{size}"))


def test_the_example_runs(files):
    np.save(files / "y.npy", np.loadtxt(files / "y.csv", delimiter=","))
    result = mpirun(files, 4, str(ROOT / "examples" / "mpi_fit.py"), "x.npy", "y.npy", "model")
    assert result.returncode == 0, result.stderr
    assert "correlations" in result.stdout
    assert_same(cgmca.MCA().fit(np.load(files / "x.npy"), np.load(files / "y.npy")), cgmca.load(files / "model"))
