"""What the scripts that compare with other programs share: the library, reached by io_convert."""

import pathlib
import subprocess

import numpy as np


class Library:
    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.compared = 0

    def run(self, source, target, *option):
        arguments = [self.program, str(source), str(target), *option]
        return subprocess.run(arguments, capture_output=True, text=True)

    def convert(self, source, target, *option):
        done = self.run(source, target, *option)
        assert done.returncode == 0 and done.stderr == "", (source, done.returncode, done.stderr)

    def reads(self, source, array):
        """The library reads `source` as `array`, by rows and by columns, complex numbers each way, to the last bit."""
        array = np.atleast_1d(array)
        for columns in (False, True):
            n = array.shape[-1 if columns else 0]
            samples = array.reshape(-1, n).T if columns else array.reshape(n, -1)
            readings = {"": samples}
            if samples.dtype.kind == "c":
                z = samples.astype(complex)
                readings = {"magnitude": np.hypot(z.real, z.imag), "power": z.real**2 + z.imag**2,
                            "stack": np.hstack([z.real, z.imag])}
            for reading, expected in readings.items():
                self.convert(source, self.folder / "read.npy", *["columns"] * columns, *[reading] * bool(reading))
                found = np.load(self.folder / "read.npy")
                same = found.shape == expected.shape and np.array_equal(
                    found, expected.astype(float), equal_nan=expected.dtype.kind == "f")
                assert same, (source, columns, reading, found, expected)
                self.compared += 1

    def refuses(self, source, *words):
        done = self.run(source, self.folder / "read.npy")
        assert done.returncode == 1 and all(word in done.stderr for word in words), (source, done)
        self.compared += 1

    def writes(self, target, array, *option):
        """The library writes `array`, samples as rows, to `target`."""
        np.save(self.folder / "write.npy", array)
        self.convert(self.folder / "write.npy", target, *option)


def samples(dtype, shape):
    """Numbers of one type, its ends among them."""
    random = np.random.default_rng(1)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        array = random.integers(info.min, info.max, shape, dtype=dtype.newbyteorder("="), endpoint=True)
        array.flat[0], array.flat[-1] = info.min, info.max
        return array.astype(dtype)
    array = random.standard_normal(shape).astype(dtype)
    array.flat[:4] = [np.nan, np.inf, -np.inf, np.finfo(dtype).max]
    return array


SHAPES = [(5, 4), (3, 4, 2), (2, 3, 2, 4), (1, 7), (7, 1)]
