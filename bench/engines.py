"""Dask, Spark, MPI ranks and parts against `cgmca summarize` and `cgmca fit` in one process with the same cores.

    PYTHONPATH=build/python python3 bench/engines.py [dask] [spark] [spark-parquet] [spark-npy] [mpi] [parts]
        [--data generated|mnist]
        [--rows 2000000] [--features 128] [--cores 2] [--partitions 20 40 125] [--ranks 2 3 5] [--jobs 2 4 7]
        [--repeats 3] [--build build] [--folder FOLDER]

The pairs are those of `mpi_summarize make`, of the canonical correlations 0.95, 0.9, …, 0.2: 2,000,000 rows of 128+128
features are 4.1 GB. Or they are the 60,000 digits of MNIST, 784 pixels each, and the same with noise. They go to x1.npy
and x2.npy; for Spark to a Parquet file too. `spark` fits a data frame read from it, `spark-parquet` gives cgmca its path
and `spark-npy` those of the .npy files; both make four tasks for each core at most, however many partitions are asked
for.

In turns, the command line summarizes and fits the .npy files in one process with --cores threads, and each engine fits
the same samples with --cores workers of one thread: for Dask and Spark with each number of partitions, by each number
of MPI ranks, and in each number of parts, --cores at a time. Sessions of Dask and Spark are started before and their
start is not counted, because a cluster is running already. Prints the least wall-clock and processor times of all
repeats, as Markdown; processor times count the threads of all processes, and what MPI ranks spend waiting for each
other. `spark-parquet` also shows what reading the Parquet file takes, without Spark and without a fit. Fails where maps,
correlations, objective or bound differ by more than 1e-10.
"""

import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

os.environ.update(OPENBLAS_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

import numpy as np  # noqa: E402

import cgmca  # noqa: E402

COMPONENTS = 16
NAMES = ("x1", "x2")


def digits(folder):
    """Clean and noisy digits, as doubles from 0 to 255."""
    root = pathlib.Path(__file__).resolve().parent.parent
    found = subprocess.run([root / "tools" / "get-mnist"], check=True, text=True, stdout=subprocess.PIPE, cwd=root)
    clean = cgmca.datasets.load_mnist(root / found.stdout.strip()).data
    noise = np.random.default_rng(0).normal(0, 50, clean.shape)
    np.save(folder / "x1.npy", clean.astype(np.float64))
    np.save(folder / "x2.npy", np.clip(clean + noise, 0, 255).round())


def to_parquet(folder):
    """In row groups of 128 MB, as Spark writes them."""
    import pyarrow
    import pyarrow.parquet
    arrays = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in NAMES]
    step = 2**27 // (8 * sum(array.shape[1] for array in arrays))
    schema = pyarrow.schema([(name, pyarrow.list_(pyarrow.float64())) for name in NAMES])
    with pyarrow.parquet.ParquetWriter(folder / "pairs.parquet", schema, compression="none",
                                       use_dictionary=False) as file:
        for first in range(0, len(arrays[0]), step):
            columns = []
            for rows in (array[first:first + step] for array in arrays):
                ends = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
                columns.append(pyarrow.ListArray.from_arrays(ends, pyarrow.array(rows.ravel())))
            file.write_table(pyarrow.table(columns, schema=schema))


def read_parquet(folder, first, step):
    """Every `step`-th row group from `first` on, as cgmca.spark reads it."""
    import pyarrow.dataset

    import cgmca.spark
    for fragment in pyarrow.dataset.dataset(folder / "pairs.parquet", format="parquet").get_fragments():
        widths = cgmca.spark._source(fragment.path, list(NAMES), None, None)[1].widths()
        for group in range(first, len(fragment.row_groups), step):
            for _ in cgmca.spark._batches(fragment, group, NAMES, cgmca.spark._rows_at_a_time(sum(widths))):
                pass


def only_reading(folder, cores):
    """Seconds by the clock that `cores` processes need to read the Parquet file, and to do nothing with it."""
    with concurrent.futures.ProcessPoolExecutor(cores) as processes:
        def read():
            for job in [processes.submit(read_parquet, folder, first, cores) for first in range(cores)]:
                job.result()

        read()  # what is loaded once
        return timed(read)[1][0]


class CommandLine:
    """The program, in one process or in several."""

    def __init__(self, build, folder, cores):
        self.program, self.folder, self.cores = str(build / "cgmca"), folder, cores
        self.inputs = [f"{name}.npy" for name in NAMES]

    def run(self, *arguments, before=(), threads=1):
        subprocess.run([*before, self.program, *map(str, arguments), "--quiet"], check=True, cwd=self.folder,
                       env={**os.environ, "OPENBLAS_NUM_THREADS": str(threads)})

    def fit(self):
        self.run("fit", "--summary", "summary", "-o", "model", "--cov", f"identity:{COMPONENTS}", threads=self.cores)
        return cgmca.load(self.folder / "model")

    def alone(self):
        self.run("summarize", *self.inputs, "-o", "summary", threads=self.cores)
        return self.fit()

    def by_ranks(self, ranks):
        self.run("summarize", *self.inputs, "-o", "summary", before=["mpirun", "--oversubscribe", "-n", str(ranks)])
        return self.fit()

    def by_parts(self, count):
        names = [f"part{number}" for number in range(1, count + 1)]
        with concurrent.futures.ThreadPoolExecutor(self.cores) as queue:
            for job in [queue.submit(self.run, "summarize", *self.inputs, "--part", f"{number}/{count}", "-o", name)
                        for number, name in enumerate(names, start=1)]:
                job.result()
        self.run("merge", *names, "-o", "summary", threads=self.cores)
        return self.fit()


@contextlib.contextmanager
def dask_session(folder, cores):
    import dask.array
    from distributed import Client, LocalCluster

    import cgmca.dask

    def fit(partitions):
        lazy = [blocks(str(folder / f"{name}.npy"), partitions) for name in NAMES]
        return cgmca.dask.fit(cgmca.MCA(COMPONENTS), *lazy)

    def blocks(path, partitions):
        array = np.load(path, mmap_mode="r")
        rows = -(-len(array) // partitions)
        counts = tuple(min(rows, len(array) - first) for first in range(0, len(array), rows))
        return dask.array.map_blocks(read, path, dtype=np.float64, meta=np.empty((0, 0)),
                                     chunks=(counts, array.shape[1:]))

    def read(path, block_info=None):
        first, end = block_info[None]["array-location"][0]
        return np.load(path, mmap_mode="r")[first:end]

    with LocalCluster(n_workers=cores, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        yield fit


@contextlib.contextmanager
def spark_session(folder, cores, files=None):
    from pyspark.sql import SparkSession

    import cgmca.spark
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if files != "npy" and not (folder / "pairs.parquet").exists():
        to_parquet(folder)
    size = sum(os.path.getsize(folder / f"{name}.npy") for name in NAMES)
    session = (SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
               .config("spark.ui.showConsoleProgress", "false")
               .config("spark.driver.memory", "4g").config("spark.driver.maxResultSize", "2g").getOrCreate())
    session.sparkContext.setLogLevel("ERROR")

    def fit(partitions):
        session.conf.set("spark.sql.files.maxPartitionBytes", -(-size // partitions))
        session.conf.set("spark.sql.files.openCostInBytes", 0)
        if files == "npy":
            return cgmca.spark.fit(cgmca.MCA(COMPONENTS), [str(folder / f"{name}.npy") for name in NAMES])
        pairs = str(folder / "pairs.parquet")
        return cgmca.spark.fit(cgmca.MCA(COMPONENTS), pairs if files else session.read.parquet(pairs), *NAMES)

    yield fit
    session.stop()


def processor_time():
    """Seconds of user and system time of this process and all that it has started."""
    stat, children = {}, {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended
        stat[int(path.parent.name)] = sum(map(int, fields[11:15]))
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    ticks, left = 0, [os.getpid()]
    while left:
        process = left.pop()
        ticks += stat.get(process, 0)
        left += children.get(process, [])
    return ticks / os.sysconf("SC_CLK_TCK")


def children_time():
    """The same of the processes that have ended: workers of an idle session that end meanwhile do not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(work, used=processor_time):
    """The result, and the seconds by the clock and of the processor."""
    start, before = time.perf_counter(), used()
    result = work()
    return result, np.array([time.perf_counter() - start, used() - before])


def apart(found, wanted):
    """The largest difference of maps, correlations and objective, relative to their size."""
    assert found.n_samples_ == wanted.n_samples_, (found.n_samples_, wanted.n_samples_)
    maps = max(np.abs(A - B).max() / np.abs(B).max() for A, B in zip(found.A_, wanted.A_))
    ours, theirs = found.certificate_, wanted.certificate_
    assert ours.ranks == theirs.ranks and ours.certified == theirs.certified
    return max(maps, np.abs(found.canonical_correlations_ - wanted.canonical_correlations_).max(),
               abs(ours.objective - theirs.objective) / theirs.covariance_trace,
               abs(ours.bound - theirs.bound) / theirs.covariance_trace)


def compare(engine, ways, alone, repeats):
    """Rows of the table: one process, then the engine in each of its ways. Alone first, so that files are in memory."""
    best, differences = {}, {}
    for _ in range(repeats):
        wanted, best["one process"] = least(best.get("one process"), *timed(alone, children_time))
        for name, work in ways.items():
            found, best[name] = least(best.get(name), *timed(work))
            differences[name] = max(differences.get(name, 0), apart(found, wanted))
    own = best["one process"]
    for name, seconds in best.items():
        times = "" if name == "one process" else f" | {seconds[0] / own[0]:.2f} | {seconds[1] / own[1]:.2f} | " \
                                                 f"{differences[name]:.0e}"
        print(f"| {engine} | {name} | {seconds[0]:.2f} | {seconds[1]:.2f}{times or ' | | | '} |", flush=True)
    return max(differences.values())


def least(before, result, seconds):
    return result, seconds if before is None else np.minimum(before, seconds)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sessions = {"dask": dask_session, "spark": spark_session,
                "spark-parquet": lambda folder, cores: spark_session(folder, cores, "parquet"),
                "spark-npy": lambda folder, cores: spark_session(folder, cores, "npy")}
    engines = [*sessions, "mpi", "parts"]
    options.add_argument("engines", nargs="*", metavar="|".join(engines), default=engines)
    options.add_argument("--data", choices=("generated", "mnist"), default="generated")
    options.add_argument("--rows", type=int, default=2_000_000)
    options.add_argument("--features", type=int, default=128)
    options.add_argument("--cores", type=int, default=2)
    options.add_argument("--partitions", type=int, nargs="+", default=[20, 40, 125])
    options.add_argument("--ranks", type=int, nargs="+", default=[2, 3, 5])
    options.add_argument("--jobs", type=int, nargs="+", default=[2, 4, 7])
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent / "build")
    options.add_argument("--folder", type=pathlib.Path)
    given = options.parse_args()
    if wrong := set(given.engines) - set(engines):
        options.error(f"no engine {', '.join(sorted(wrong))}; there are {', '.join(engines)}")

    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = pathlib.Path(name)
        if given.data == "mnist":
            digits(folder)
        else:
            subprocess.run([given.build / "bench" / "mpi_summarize", "make", folder, str(given.rows),
                            str(given.features)], check=True)
        rows, features = np.load(folder / "x1.npy", mmap_mode="r").shape
        print(f"{rows} pairs of {features}+{features} features ({given.data}), {16e-9 * rows * features:.2f} GB, "
              f"{given.cores} cores, least of {given.repeats}\n")
        print("| engine | division | time, s | processor, s | times one process | processor, times | differs by |")
        print("|---|---|---|---|---|---|---|", flush=True)
        program = CommandLine(given.build.resolve(), folder, given.cores)
        largest = 0.0
        for engine in given.engines:
            with contextlib.ExitStack() as stack:
                if engine in sessions:
                    fit = stack.enter_context(sessions[engine](folder, given.cores))
                    cgmca.set_threads(given.cores)  # of this process, which fits while workers wait
                    fit(given.partitions[0])  # what is loaded and compiled once
                    ways = {f"{count} partitions": lambda count=count: fit(count) for count in given.partitions}
                elif engine == "mpi":
                    ways = {f"{count} ranks": lambda count=count: program.by_ranks(count) for count in given.ranks}
                else:
                    ways = {f"{count} parts": lambda count=count: program.by_parts(count) for count in given.jobs}
                largest = max(largest, compare(engine, ways, program.alone, given.repeats))
                if engine == "spark-parquet":
                    print(f"| {engine} | only reading | {only_reading(folder, given.cores):.2f} | | | | |", flush=True)
    if largest > 1e-10:
        sys.exit(f"engines.py: the answers differ by {largest:.0e}")


if __name__ == "__main__":
    main()
