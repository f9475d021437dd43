"""cgmca.spark gives what one process gives, whatever the partitions, and when an executor dies.

    make test-engines makes an environment with PySpark, and runs this
"""

import os
import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pandas
import pytest

import cgmca
import cgmca.spark
from conftest import ROOT, make_pairs
from engines_common import Log, assert_same_model, noisy_digits

HERE = pathlib.Path(__file__).resolve().parent

NAMES = [f"x{j}" for j in range(9)]


@pytest.fixture(scope="module")
def spark():
    """Two executors that are processes of their own, each with one core."""
    from pyspark.sql import SparkSession
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    path = os.pathsep.join([str(HERE), str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    session = (SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
               .config("spark.executorEnv.PYTHONPATH", path).config("spark.executorEnv.OPENBLAS_NUM_THREADS", "1")
               .config("spark.sql.execution.arrow.maxRecordsPerBatch", "150")
               .config("spark.sql.execution.arrow.pyspark.enabled", "true")
               .config("spark.task.maxFailures", "4").getOrCreate())
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def data():
    return make_pairs(n=2000, d1=9, d2=6)


@pytest.fixture(scope="module")
def pairs(spark, data, tmp_path_factory):
    """The pairs in a Parquet file: array columns x and y, number columns x0 … x8, a weight, a row number."""
    X, Y = data
    table = pandas.DataFrame(X, columns=NAMES)
    table["row"], table["weight"] = np.arange(len(X)), np.arange(len(X)) % 3 / 2
    table["x"], table["y"] = list(X), list(Y)
    path = str(tmp_path_factory.mktemp("data") / "pairs.parquet")
    table.to_parquet(path)
    return spark.read.parquet(path).cache()


@pytest.mark.parametrize("partitions", [1, 5, 40])
def test_a_fit_is_that_of_one_process(pairs, data, partitions):
    model = cgmca.spark.fit(cgmca.CGMCA("data1", 3), pairs.repartition(partitions), "x", "y")
    assert_same_model(model, cgmca.CGMCA("data1", 3).fit(*data))


def test_number_columns_and_vectors(pairs, data):
    from pyspark.ml.functions import array_to_vector
    wanted = cgmca.MCA(3).fit(*data)
    model = cgmca.spark.fit(cgmca.MCA(3), pairs, NAMES, "y")
    assert_same_model(model, wanted)
    assert list(model.feature_names_in_) == NAMES
    vectors = pairs.select(array_to_vector("x").alias("x"), array_to_vector("y").alias("y"))
    assert_same_model(cgmca.spark.fit(cgmca.MCA(3), vectors, "x", "y"), wanted)


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    """The same pairs in a folder of two Parquet files of several row groups, one column in whole numbers."""
    X, Y = data
    table = pandas.DataFrame(X, columns=NAMES)
    table["weight"], table["count"] = np.arange(len(X)) % 3 / 2, np.arange(len(X)) % 7
    table["x"], table["y"], table["name"] = list(X), list(Y), "a"
    folder = tmp_path_factory.mktemp("files")
    table[:700].to_parquet(folder / "a.parquet", row_group_size=300)
    table[700:].to_parquet(folder / "b.parquet", row_group_size=400)
    return folder


@pytest.mark.parametrize("size, shares", [("1b", 7), ("30k", None), ("1g", None)])
def test_files_are_read_by_the_executors(spark, files, data, size, shares):
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", size)
    try:
        source = cgmca.engines.spark._source(str(files), "x", "y", None)[1]
        found = source._shares(spark, 1)
        assert len(found) >= 2 and (shares is None or len(found) == shares)  # both executors have work
        assert 2 <= len(source._shares(spark, 1000)) <= 3  # a merge would cost more than another task gains
        assert_same_model(cgmca.spark.fit(cgmca.CGMCA("data1", 3), files, "x", "y"), cgmca.CGMCA("data1", 3).fit(*data))
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)


def test_files_with_number_columns_weights_and_tuning(spark, files, data, monkeypatch):
    X, Y = data
    weight, count = np.arange(len(X)) % 3 / 2, np.arange(len(X)) % 7
    monkeypatch.chdir(files.parent)  # where the executors are not
    model = cgmca.spark.fit(cgmca.MCA(3), files.name, [*NAMES, "count"], "y", weight="weight")
    assert_same_model(model, cgmca.MCA(3).fit(np.column_stack([X, count]), Y, sample_weight=weight))
    assert list(model.feature_names_in_) == [*NAMES, "count"]
    settings = dict(covariance="data1", n_components=[1, 3], ridge=[0, 1e-3], seed=1)
    assert cgmca.spark.tune(str(files), "x", "y", **settings).params == cgmca.tune(*data, **settings).params


@pytest.mark.parametrize("size, shares", [("1b", 8), ("1g", 2)])
def test_files_of_arrays_are_read_by_the_executors(spark, data, tmp_path, monkeypatch, size, shares):
    X, Y = np.vstack([data[0]] * 20), np.vstack([data[1]] * 20)
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "y.npz", Y=Y)
    paths = {"one": str(tmp_path / "x.npy"), "two": str(tmp_path / "y.npz")}
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", size)
    try:
        assert len(cgmca.engines.spark._source(paths, None, None, None)[1]._shares(spark)) == shares
        wanted = cgmca.CGMCA("data1", 3).fit(X, Y)
        model = cgmca.spark.fit(cgmca.CGMCA("data1", 3), paths)
        assert_same_model(model, wanted)
        assert list(model._domain_names()) == ["one", "two"]
        monkeypatch.chdir(tmp_path)  # where the executors are not
        assert_same_model(cgmca.spark.fit(cgmca.CGMCA("data1", 3), ["x.npy", "y.npz"]), wanted)
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)


def test_bad_files_of_arrays_are_named(spark, data, tmp_path):
    X, Y = data[0].copy(), data[1]
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y[:-1])
    paths = [str(tmp_path / name) for name in ("x.npy", "y.npy")]
    with pytest.raises(ValueError, match="as many rows in every file, not '.*x.npy' 2000, '.*y.npy' 1999"):
        cgmca.spark.summarize(paths)
    with pytest.raises(ValueError, match="at least two domains"):
        cgmca.spark.summarize(paths[:1])
    with pytest.raises(ValueError, match="without columns and weights"):
        cgmca.spark.summarize(paths, "x", "y")
    X[1234, 4] = np.nan
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    with pytest.raises(Exception, match="x.npy' holds nan at row 1235, column 5"):
        cgmca.spark.summarize(paths)


def test_bad_files_are_named(spark, files, data, tmp_path):
    for columns, message in [(("x", "z"), "no column 'z'; there are 'x0'"),
                             ((["x0", "x"], "y"), "column 'x' holds list<.*>; a number is needed"),
                             (("x", "name"), "column 'name' holds string; numbers or lists of numbers")]:
        with pytest.raises(ValueError, match=message):
            cgmca.spark.summarize(str(files), *columns)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        cgmca.spark.summarize(str(tmp_path / "nowhere"), "x", "y")
    X, Y = data[0].copy(), list(data[1])
    X[1234, 4] = np.nan
    Y[1300] = Y[1300][:3]
    table = pandas.DataFrame({"x": list(X), "y": Y})
    for rows, message in [(table[:1300], "bad.parquet: domain 1 holds nan at row 1234, column 4"),
                          (table[1236:], "bad.parquet: row 64 of column 'y' .* holds 3 numbers; the domain has 6")]:
        rows.to_parquet(tmp_path / "bad.parquet", row_group_size=50)
        with pytest.raises(Exception, match=message):
            cgmca.spark.summarize(tmp_path / "bad.parquet", "x", "y")


def test_three_domains_with_names_and_weights(pairs, data):
    X, Y = data
    model = cgmca.spark.fit(cgmca.MCA(2), pairs, {"optical": NAMES[:5], "radar": "y", "infrared": NAMES[5:]},
                            weight="weight")
    wanted = cgmca.MCA(2).fit({"optical": X[:, :5], "radar": Y, "infrared": X[:, 5:]},
                              sample_weight=np.arange(len(X)) % 3 / 2)
    assert_same_model(model, wanted, 1e-8)  # of a search, which stops when it gains no more
    both = {"radar": "y", "infrared": NAMES[5:]}
    table = cgmca.spark.translate(model, pairs, both, target="optical", to="estimate").toPandas().sort_values("row")
    assert np.allclose(np.stack(table["estimate"]), model.translate([Y, X[:, 5:]], ["radar", "infrared"], "optical"))
    table = cgmca.spark.fuse(model, pairs, both).toPandas().sort_values("row")
    assert np.allclose(np.stack(table["fused"]), model.fuse([None, Y, X[:, 5:]]))


def test_parquet_in_parquet_out(spark, pairs, data, tmp_path):
    X, Y = data
    model = cgmca.MCA(3).fit(X, Y)
    made = cgmca.spark.translate(model, pairs, "y", to="x_from_y", std="error")
    made = cgmca.spark.fuse(model, cgmca.spark.transform(model, made, "x"), "x", "y")
    made.write.parquet(str(tmp_path / "out"))
    table = spark.read.parquet(str(tmp_path / "out")).toPandas().sort_values("row")
    assert list(table)[-4:] == ["x_from_y", "error", "z", "fused"] and len(table) == len(X)
    estimate, error = model.translate(Y, return_std=True)
    for name, wanted in [("x_from_y", estimate), ("error", error), ("z", model.transform(X)),
                         ("fused", model.fuse(X, Y))]:
        assert np.allclose(np.stack(table[name]), wanted), name
    with pytest.raises(ValueError, match="the frame has a column 'z' already"):
        cgmca.spark.transform(model, made, "x")


def test_tune(pairs, data):
    settings = {"n_components": [1, 2, 4, 6], "ridge": [0, 1], "seed": 3}
    assert cgmca.spark.tune(pairs, "x", "y", **settings).params == cgmca.tune(*data, **settings).params


def test_empty_partitions_and_empty_frames(pairs, data):
    X, Y = data
    few = pairs.repartitionByRange(6, "row").where("row < 700")
    assert_same_model(cgmca.spark.fit(cgmca.MCA(3), few, "x", "y"), cgmca.MCA(3).fit(X[:700], Y[:700]))
    assert cgmca.spark.summarize(pairs.where("row < 0"), NAMES, ["x0", "x1"]).n_samples == 0
    with pytest.raises(ValueError, match="column 'x' has no rows"):
        cgmca.spark.summarize(pairs.where("row < 0"), "x", "y")


def changed(pairs, row, value):
    from pyspark.sql import functions
    # By a hash, which puts a row into the same partition each time; ranges are drawn from a sample, anew each time.
    return (pairs.repartition(4, functions.expr("int(row / 500)")).sortWithinPartitions("row")
            .withColumn("y", functions.when(functions.col("row") == row, functions.expr(value)).otherwise(pairs["y"])))


@pytest.mark.parametrize("value, message", [
    ("transform(y, v -> double('NaN'))", r"domain 2 holds nan at row {}, column 0, counted from 0"),
    ("slice(y, 1, 3)", r"row {} of column 'y' \(counted from 0\) holds 3 numbers; the domain has 6 features"),
    ("null", r"domain 2 holds nan at row {}, column 0"),
])
def test_bad_rows_name_partition_and_row(pairs, value, message):
    from pyspark.sql import functions
    bad = changed(pairs, 1777, value)
    places = bad.select("row", functions.spark_partition_id().alias("partition")).toPandas()
    partition = places["partition"][places["row"] == 1777].item()
    before = ((places["partition"] == partition) & (places["row"] < 1777)).sum()
    with pytest.raises(Exception, match=f"partition {partition}: " + message.format(before)):
        cgmca.spark.summarize(bad, "x", "y")


def test_bad_columns_are_refused(pairs):
    for call, message in [(lambda: cgmca.spark.summarize(pairs, "x", "z"), "no column 'z'; there are 'x0'"),
                          (lambda: cgmca.spark.summarize(pairs, ["x", "x0"], "y"), "column 'x' holds array<double>; a"),
                          (lambda: cgmca.spark.summarize(pairs, "x"), "give the columns of X and y")]:
        with pytest.raises(ValueError, match=message):
            call()


def test_an_executor_of_another_version_is_refused_by_name(pairs, monkeypatch):
    monkeypatch.setattr(cgmca.engines.parts.Recipe, "__init__", with_version("9.9.9", cgmca.engines.parts.Recipe.__init__))
    with pytest.raises(Exception, match=r"the worker on .* \(process \d+\) has cgmca [\d.]+, and the program that "
                                        r"sends it work has 9.9.9"):
        cgmca.spark.summarize(pairs, "x", "y")


def with_version(version, init):
    def made(self, *args, **options):
        init(self, *args, version=version, **options)
    return made


# Processes that die

def read_slowly(frame, log, fails_once=None):
    """The frame, each partition noted with its executor's process when it is read."""
    def noted(batches):
        from pyspark import TaskContext
        partition = TaskContext.get().partitionId()
        daemon = os.getppid()
        executor = int(pathlib.Path(f"/proc/{daemon}/stat").read_text().rsplit(")", 1)[1].split()[1])
        log.note(partition, executor)
        yield from batches
        if fails_once and partition == 3 and not os.path.exists(fails_once):
            open(fails_once, "w").close()
            raise OSError("a disk that answers at the second time")

    return frame.mapInArrow(noted, frame.schema)


def test_a_partition_that_fails_is_read_again_and_counts_once(pairs, data, tmp_path):
    log = Log(tmp_path)
    frame = read_slowly(pairs.select(*NAMES).repartition(6), log, str(tmp_path / "failed"))
    model = cgmca.spark.fit(cgmca.MCA(3), frame, NAMES[:5], NAMES[5:])
    assert os.path.exists(tmp_path / "failed")
    assert [block for block, _ in log.entries()].count("3") >= 2
    assert_same_model(model, halves(data))


def halves(data):
    return cgmca.MCA(3).fit(data[0][:, :5], data[0][:, 5:])


def test_an_executor_killed_in_mid_run_costs_nothing_but_time(pairs, data, tmp_path):
    log, killed = Log(tmp_path, pause=0.5), []
    frame = read_slowly(pairs.select(*NAMES).repartition(24), log)
    killer = threading.Thread(target=lambda: killed.append(log.kill_one(
        lambda: {process for _, process in log.entries()}, 4)))
    killer.start()
    model = cgmca.spark.fit(cgmca.MCA(3), frame, NAMES[:5], NAMES[5:])
    killer.join()
    assert killed and model.n_samples_ == 2000
    assert_same_model(model, halves(data))
    # What the killed one had read is read again: by the other one, or by one that took its place.
    readers = {}
    for block, process in log.entries():
        readers.setdefault(block, set()).add(process)
    assert len(readers) == 24 and all(processes - set(killed) for processes in readers.values())
    assert sum(killed[0] in processes for processes in readers.values()) >= 4


def test_all_of_mnist(spark, tmp_path):
    try:
        digits = cgmca.datasets.load_mnist().data
    except FileNotFoundError as absent:
        pytest.skip(str(absent))
    clean, noisy = noisy_digits(digits, 14)
    pandas.DataFrame({"clean": list(clean), "noisy": list(noisy)}).to_parquet(tmp_path / "digits.parquet")
    wanted = cgmca.MCA(20).fit(clean, noisy)
    assert wanted.n_samples_ == 60_000
    frame = spark.read.parquet(str(tmp_path / "digits.parquet"))
    for partitions in (2, 7, 30):
        model = cgmca.spark.fit(cgmca.MCA(20), frame.repartition(partitions), "clean", "noisy")
        assert_same_model(model, wanted)


def test_summaries_come_back_as_their_bytes():
    summary = cgmca.Summary(2, 1).add(np.eye(3, 2), np.ones((3, 1)))
    assert pickle.dumps(pickle.loads(pickle.dumps(summary))) == pickle.dumps(summary)


def test_the_example_runs(tmp_path):
    script = ROOT / "examples" / "engine_spark.py"
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600, cwd=tmp_path,
                            env={**os.environ, "PYSPARK_PYTHON": sys.executable})
    assert result.returncode == 0, result.stderr
    assert "pairs" in result.stdout
