"""cgmca reproduce: the paper's experiment on a small data set in MNIST's format."""

import json
import os
import struct
import subprocess

import numpy as np
import pytest

from conftest import ROOT, shared

CLASSES, IMAGES, PIXELS = 2, 60, 28


@pytest.fixture
def data(folder):
    """A folder with images of two classes: blobs at two heights."""
    random = np.random.default_rng(2)
    rows, columns = np.mgrid[0:PIXELS, 0:PIXELS]
    images, labels = [], []
    for k in range(CLASSES * IMAGES):
        label = k % CLASSES
        top, left = 9 + 9 * label + random.normal(), 14 + 2 * random.normal()
        images.append(np.clip(300 * np.exp(-((rows - top) ** 2 + (columns - left) ** 2) / 20), 0, 255))
        labels.append(label)
    path = folder / "data"
    path.mkdir()
    header = struct.pack(">4B3I", 0, 0, 8, 3, len(images), PIXELS, PIXELS)
    (path / "train-images-idx3-ubyte").write_bytes(header + np.array(images).astype(np.uint8).tobytes())
    (path / "train-labels-idx1-ubyte").write_bytes(struct.pack(">4BI", 0, 0, 8, 1, len(labels)) + bytes(labels))
    return path


def test_the_table_has_the_keys_of_the_design(folder, data):
    before = folder.names()
    result = folder.ok("reproduce", "mnist", "--data", "data", "--digits", "0,1", "--repeat", 2, "--json").json
    assert [row["digit"] for row in result["rows"]] == [0, 1]
    for row in result["rows"]:
        assert {"digit", "t", "n_train", "n_test", "ranks", "mca", "cgmca", "exact", "lmmse", "noisy"} <= set(row)
        assert (row["n_train"], row["n_test"], len(row["ranks"]), len(row["runs"])) == (48, 12, 2, 2)
        assert -1 <= row["noisy"] < row["lmmse"] <= 1
    assert {"mca", "cgmca", "exact", "lmmse", "noisy"} <= set(result["mean"]) and result["seconds"] > 0
    assert folder.names() == before  # no report was asked for


def test_the_same_seed_gives_the_same_table_on_any_number_of_threads(folder, data):
    def noisy(*options):
        rows = folder.ok("reproduce", "mnist", "--data", "data", "--digits", "0", "--json", *options).json["rows"]
        return rows[0]["noisy"]  # the noise and the split alone

    assert noisy("--threads", 1) == noisy("--threads", 2) != noisy("--seed", 2)
    assert noisy("--noise", "additive") > noisy()


def test_the_report_and_its_pictures_appear_in_a_folder_that_is_made(folder, data):
    result = folder.ok("reproduce", "mnist", "--data", "data", "--digits", "0-1", "--out", "new/out", "--progress", "plain")
    assert "lmmse" in result.out and "of 2 classes done" in result.err
    assert {path.name for path in (folder / "new" / "out").iterdir()} == {"report.html", "one_image.png", "classes.png"}
    page = (folder / "new" / "out" / "report.html").read_text()
    assert "<svg" in page and "data:image/png;base64," in page


def test_what_cannot_be_meant_read_or_written(folder, data):
    mnist = ["reproduce", "mnist", "--data", "data"]
    assert "EXPERIMENT" in folder.fails(2, "reproduce", "minst")
    assert "1,3" in folder.fails(2, *mnist, "--digits", "one")
    assert "--noise" in folder.fails(2, *mnist, "--noise", "salt")
    assert "did you mean '--digits'" in folder.fails(2, *mnist, "--digit", "3")
    assert "class 7" in folder.fails(3, *mnist, "--digits", "7")
    (data / "train-labels-idx1-ubyte").write_bytes(b"nothing of the kind")
    folder.fails(3, *mnist)
    assert "nowhere" in folder.fails(5, "reproduce", "mnist", "--data", "nowhere")
    assert "a.npy" in folder.fails(5, *mnist, "--out", "a.npy/out")


def test_where_the_table_gets_nowhere_the_error_says_that_the_report_is_written(folder, data):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        result = folder.run("reproduce", "mnist", "--data", "data", "--digits", "0-1", "--out", "out", stdout=pipe)
    assert result.status == 5 and "'out' is written" in result.err and (folder / "out" / "report.html").exists()


def test_a_full_disk_leaves_the_old_report(folder, data, tmp_path_factory):
    disk = tmp_path_factory.mktemp("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", disk], capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small disk")
    try:
        (disk / "classes.png").write_bytes(b"old")
        result = folder.run("reproduce", "mnist", "--data", "data", "--digits", "0-1", "--out", disk, "-q")
        assert result.status == 5 and "No space left" in result.err
        assert [path.name for path in disk.iterdir()] == ["classes.png"] and (disk / "classes.png").read_bytes() == b"old"
    finally:
        subprocess.run(["umount", disk], check=True)


def test_cgmca_beats_mca_on_the_real_digits_within_the_references_spread(folder):
    """Digit 1, one split: the table's entry lies where single splits of the reference lie."""
    oracle = json.loads((ROOT / "tests/fixtures/oracle/mnist_table.json").read_text())["imnoise"]["1"]
    mnist = shared("data/mnist")
    row = folder.ok("reproduce", "mnist", "--data", mnist, "--digits", "1", "--json").json["rows"][0]
    assert row["t"] == 500 and row["n_train"] + row["n_test"] == 6742
    for place, method in enumerate(("mca", "cgmca")):
        runs = [run[place] for run in oracle]
        assert abs(row[method] - np.mean(runs)) < 5 * np.std(runs, ddof=1)
    assert row["cgmca"] > row["mca"]
