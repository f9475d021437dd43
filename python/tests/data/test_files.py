"""read, read_blocks, write; the data sets."""

import gzip
import warnings

import numpy as np
import pytest

import cgmca
from cgmca import datasets
from conftest import SHARED


@pytest.mark.parametrize("name", ["a.npy", "a.csv", "a.tsv", "a.mat", "a.h5"])
def test_what_is_written_is_read(tmp_path, name):
    A = np.random.default_rng(0).normal(size=(11, 3))
    cgmca.write(tmp_path / name, A)
    assert np.array_equal(cgmca.read(tmp_path / name), A)
    assert np.array_equal(cgmca.read(str(tmp_path / name), columns=True), A.T)
    assert np.array_equal(np.concatenate(list(cgmca.read_blocks(tmp_path / name, 4))), A)


def test_members_and_images(tmp_path):
    A = np.random.default_rng(0).integers(0, 255, size=(5, 4, 3)).astype(np.uint8)
    np.savez(tmp_path / "a.npz", images=A, other=np.zeros((2, 2)))
    assert np.array_equal(cgmca.read(f"{tmp_path}/a.npz:images"), A.reshape(5, 12))


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        cgmca.read(tmp_path / "absent.npy")
    (tmp_path / "a.npy").write_bytes(b"no array")
    with pytest.raises(ValueError, match="a.npy"):
        cgmca.read(tmp_path / "a.npy")
    (tmp_path / "a.csv").write_text("1,2\n3,x\n")
    with pytest.raises(ValueError, match="line 2"):
        cgmca.read(tmp_path / "a.csv")
    with pytest.raises(ValueError):
        cgmca.write(tmp_path / "a.unknown", np.zeros((2, 2)))
    with pytest.raises(ValueError, match="blocks of 0 samples"):
        next(cgmca.read_blocks(tmp_path / "a.csv", 0))
    with pytest.raises(OSError):
        cgmca.write(tmp_path / "no" / "where.npy", np.zeros((2, 2)))


def test_mnist(mnist):
    assert mnist.data.shape == (60000, 784) and mnist.data.dtype == np.uint8 and mnist.shape == (28, 28)
    assert list(mnist.target[:5]) == [5, 0, 4, 1, 9]
    test = datasets.load_mnist(subset="test")
    assert test.data.shape == (10000, 784) and list(test.target[:3]) == [7, 2, 1]


def test_sample():
    try:
        sample = datasets.load_sample(size=16)
    except FileNotFoundError as absent:
        pytest.skip(str(absent))
    assert sample.synthetic.shape == sample.measured.shape == (1345, 256) and len(sample.target_names) == 10
    assert 0 <= sample.measured.min() and sample.measured.max() <= 1 and sample.target.max() == 9
    whole = datasets.load_sample(SHARED / "data" / "SAMPLE_dataset_public", size=128)
    assert np.array_equal(whole.measured.reshape(-1, 128, 128)[:, 56:72, 56:72].reshape(-1, 256), sample.measured)


def test_absent_or_other_data_come_with_advice(tmp_path, monkeypatch):
    monkeypatch.setenv("CGMCA_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(FileNotFoundError, match="tools/get-mnist"):
        datasets.load_mnist()
    with pytest.raises(FileNotFoundError, match="SAMPLE_dataset_public: clone"):
        datasets.load_sample()
    # Another data set in MNIST's format
    header = b"\0\0\x08\x03" + (2).to_bytes(4, "big") + (3).to_bytes(4, "big") * 2
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(header + bytes(range(18))))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + (2).to_bytes(4, "big") + b"\7\1")
    with pytest.raises(ValueError, match="checksum differs"):
        datasets.load_mnist(tmp_path)
    other = datasets.load_mnist(tmp_path, verify=False)
    assert other.data.shape == (2, 9) and list(other.target) == [7, 1] and other.shape == (3, 3)
    with pytest.raises(ValueError, match="subset is 'all'; give 'train' or 'test'"):
        datasets.load_mnist(subset="all")


def test_complex_numbers_are_read_as_asked(tmp_path):
    Z = np.array([[3 + 4j, 1j], [0, -2]])
    np.save(tmp_path / "z.npy", Z)
    with pytest.raises(ValueError, match="complex.*magnitude, power, or stack"):
        cgmca.read(tmp_path / "z.npy")
    assert np.array_equal(cgmca.read(tmp_path / "z.npy", complex="magnitude"), np.abs(Z))
    assert np.allclose(cgmca.read(tmp_path / "z.npy", complex="power"), np.abs(Z) ** 2)
    assert np.array_equal(cgmca.read(tmp_path / "z.npy", complex="stack"), np.hstack([Z.real, Z.imag]))
    assert np.array_equal(next(cgmca.read_blocks(tmp_path / "z.npy", complex="magnitude")), np.abs(Z))


def test_names_of_a_frame_are_written_and_read_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["length", "width"])
    for name in ("f.csv", "f.npz:Z", "f.mat:Z", "f.h5:Z"):
        cgmca.write(str(tmp_path / name), frame)
        assert cgmca.read(str(tmp_path / name), frame=True).equals(frame), name
    cgmca.write(str(tmp_path / "f.mat:W"), frame, columns=True)
    assert np.array_equal(cgmca.read(str(tmp_path / "f.mat:W"), columns=True), frame.to_numpy())
    assert cgmca.read(str(tmp_path / "f.mat:Z"), frame=True).equals(frame)


def test_row_numbers_of_to_csv_are_no_feature(tmp_path):
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(3)
    X, Y = random.normal(size=(2, 200, 3))
    for name, table in (("x.csv", X), ("y.csv", Y)):
        pandas.DataFrame(table, columns=["a", "b", "c"]).to_csv(tmp_path / name)
    with pytest.warns(UserWarning, match="the first column has no name"):
        read = [cgmca.read(tmp_path / name) for name in ("x.csv", "y.csv")]
    assert np.array_equal(read[0], X) and np.array_equal(read[1], Y)
    assert cgmca.MCA(1).fit(*read).canonical_correlations_[0] < 0.4
    with pytest.warns(UserWarning, match="--id none"):
        assert list(cgmca.read(tmp_path / "x.csv", frame=True).columns) == ["a", "b", "c"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cgmca.read(tmp_path / "x.csv", id="none").shape == (200, 4)
        assert np.array_equal(np.vstack(list(cgmca.read_blocks(tmp_path / "x.csv", 30, id="1"))), X)
    with pytest.raises(ValueError, match="no ID column 'b'"):
        cgmca.read(tmp_path / "x.parquet", id="b")
