"""What Dask and Spark add to the time of `cgmca summarize` and `cgmca fit` with the same cores; the maps must be equal.

    PYTHONPATH=build/python python3 bench/engines.py dask|spark [--rows 2000000] [--features 128] [--cores 2]
        [--partitions 20 40 125] [--repeats 3] [--program build/cgmca] [--folder FOLDER]

Two views of the same causes, --features each, go to X.npy and Y.npy (for Spark to a Parquet file too): 2,000,000 rows
of 128+128 are 4.1 GB. In turns, the command line summarizes and fits the .npy files in one process with --cores
threads, and the engine fits the same samples with --cores workers of one thread, for each number of partitions. The
engine's session is started before and its start is not counted, because a cluster is running already. Fails where maps,
correlations, objective or bound differ by more than 1e-10.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402

import cgmca  # noqa: E402

COMPONENTS = 10


def generate(folder, rows, features, step=50_000):
    """X.npy and Y.npy in blocks, so that memory stays small."""
    fixed = np.random.default_rng(0)
    sizes = np.linspace(1, 0.3, COMPONENTS)[:, None]  # which keep the correlations apart
    mixing = [fixed.normal(size=(COMPONENTS, features)) * sizes for _ in "XY"]
    files = [np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.float64, (rows, features)) for name in "XY"]
    for first in range(0, rows, step):
        random = np.random.default_rng(first + 1)
        count = min(step, rows - first)
        causes = random.normal(size=(count, COMPONENTS))
        for file, A in zip(files, mixing):
            file[first:first + count] = causes @ A + random.normal(size=(count, features)) + 2


def to_parquet(folder, step=20_000):
    import pyarrow
    import pyarrow.parquet
    arrays = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in "XY"]
    schema = pyarrow.schema([(name, pyarrow.list_(pyarrow.float64())) for name in "xy"])
    path = folder / "pairs.parquet"
    with pyarrow.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
        for first in range(0, len(arrays[0]), step):
            columns = []
            for rows in (array[first:first + step] for array in arrays):
                ends = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
                columns.append(pyarrow.ListArray.from_arrays(ends, pyarrow.array(rows.ravel())))
            file.write_table(pyarrow.table(columns, schema=schema))


def by_command_line(folder, program, cores):
    """Seconds, and the model."""
    start = time.perf_counter()
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(cores)}
    for command in (["summarize", folder / "X.npy", folder / "Y.npy", "-o", folder / "summary"],
                    ["fit", "--summary", folder / "summary", "-o", folder / "model",
                     "--cov", f"identity:{COMPONENTS}"]):
        subprocess.run([program, *command, "--threads", str(cores), "--quiet"], check=True, env=environment)
    return time.perf_counter() - start, cgmca.load(folder / "model")


@contextlib.contextmanager
def dask_session(folder, cores):
    import dask.array
    from distributed import Client, LocalCluster

    import cgmca.dask

    def fit(partitions):
        arrays = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in "XY"]
        rows = -(-len(arrays[0]) // partitions)
        lazy = [dask.array.map_blocks(read, str(folder / f"{name}.npy"), dtype=np.float64, meta=np.empty((0, 0)),
                                      chunks=(cut(len(array), rows), array.shape[1:]))
                for name, array in zip("XY", arrays)]
        return cgmca.dask.fit(cgmca.MCA(COMPONENTS), *lazy)

    def cut(count, rows):
        return tuple(min(rows, count - first) for first in range(0, count, rows))

    def read(path, block_info=None):
        first, end = block_info[None]["array-location"][0]
        return np.load(path, mmap_mode="r")[first:end]

    with LocalCluster(n_workers=cores, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        yield fit


@contextlib.contextmanager
def spark_session(folder, cores):
    from pyspark.sql import SparkSession

    import cgmca.spark
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    size = os.path.getsize(folder / "pairs.parquet")
    session = (SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
               .config("spark.driver.memory", "4g").config("spark.driver.maxResultSize", "2g").getOrCreate())
    session.sparkContext.setLogLevel("ERROR")

    def fit(partitions):
        session.conf.set("spark.sql.files.maxPartitionBytes", -(-size // partitions))
        session.conf.set("spark.sql.files.openCostInBytes", 0)
        pairs = session.read.parquet(str(folder / "pairs.parquet"))
        return cgmca.spark.fit(cgmca.MCA(COMPONENTS), pairs, "x", "y")

    yield fit
    session.stop()


def apart(found, wanted):
    """The largest difference of maps, correlations and objective, relative to their size."""
    assert found.n_samples_ == wanted.n_samples_, (found.n_samples_, wanted.n_samples_)
    maps = max(np.abs(A - B).max() / np.abs(B).max() for A, B in zip(found.A_, wanted.A_))
    ours, theirs = found.certificate_, wanted.certificate_
    assert ours.ranks == theirs.ranks and ours.certified == theirs.certified
    return max(maps, np.abs(found.canonical_correlations_ - wanted.canonical_correlations_).max(),
               abs(ours.objective - theirs.objective) / theirs.covariance_trace,
               abs(ours.bound - theirs.bound) / theirs.covariance_trace)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("engine", choices=("dask", "spark"))
    options.add_argument("--rows", type=int, default=2_000_000)
    options.add_argument("--features", type=int, default=128)
    options.add_argument("--cores", type=int, default=2)
    options.add_argument("--partitions", type=int, nargs="+", default=[20, 40, 125])
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--program", default=str(pathlib.Path(__file__).resolve().parent.parent / "build" / "cgmca"))
    options.add_argument("--folder", type=pathlib.Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = pathlib.Path(name)
        generate(folder, given.rows, given.features)
        if given.engine == "spark":
            to_parquet(folder)
        size = 2 * given.rows * given.features * 8
        print(f"{given.engine}: {given.rows} pairs of {given.features}+{given.features} features, {size / 1e9:.2f} GB, "
              f"{given.cores} cores", flush=True)
        session = dask_session if given.engine == "dask" else spark_session
        alone, best = np.inf, {}
        with session(folder, given.cores) as fit:
            fit(given.partitions[0])  # what is loaded and compiled once
            for _ in range(given.repeats):
                seconds, wanted = by_command_line(folder, given.program, given.cores)
                alone = min(alone, seconds)
                for partitions in given.partitions:
                    start = time.perf_counter()
                    model = fit(partitions)
                    seconds = time.perf_counter() - start
                    difference = apart(model, wanted)
                    assert difference < 1e-10, difference
                    best[partitions] = min(best.get(partitions, (np.inf, 0)), (seconds, difference))
        print(f"  summarize + fit   {alone:7.2f} s")
        for partitions, (seconds, difference) in best.items():
            print(f"  {partitions:4} partitions   {seconds:7.2f} s   {seconds / alone:5.2f} times   differs by "
                  f"{difference:.0e}", flush=True)


if __name__ == "__main__":
    main()
