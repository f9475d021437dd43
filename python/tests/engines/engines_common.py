"""What the tests of `cgmca.dask` and `cgmca.spark` share."""

import os
import pathlib
import signal
import time

import numpy as np

LIMIT = 1e-10


def assert_same_model(found, wanted, limit=LIMIT):
    """Maps, correlations and certificate of two fits agree; no sample is lost or counted twice."""
    assert found.n_samples_ == wanted.n_samples_
    for A, B in zip(found.A_, wanted.A_):
        assert np.abs(A - B).max() <= limit * np.abs(B).max()
    for mean, other in zip(found.means_, wanted.means_):
        assert np.abs(mean - other).max() <= limit * max(1.0, np.abs(other).max())
    assert np.abs(found.common_correlations_ - wanted.common_correlations_).max() <= limit
    ours, theirs = found.certificate_, wanted.certificate_
    assert ours.ranks == theirs.ranks and ours.certified == theirs.certified
    assert abs(ours.objective - theirs.objective) <= limit * theirs.covariance_trace
    assert abs(ours.bound - theirs.bound) <= limit * theirs.covariance_trace
    assert ours.proof == theirs.proof and max(ours.constraint_residuals) <= limit


def noisy_digits(digits, width):
    """Pairs of clean and noisy digits, averaged to width × width pixels."""
    step = 28 // width
    clean = digits.reshape(-1, width, step, width, step).mean(axis=(2, 4)).reshape(len(digits), -1) / 255
    return clean, clean + 0.3 * np.random.default_rng(0).normal(size=clean.shape)


class Log:
    """Which block was read by which process, in a file that all processes append to."""

    def __init__(self, folder, pause=0.0):
        self.path, self.pause = str(pathlib.Path(folder) / "log"), pause
        pathlib.Path(self.path).touch()

    def note(self, block, process=None):
        with open(self.path, "a") as file:
            file.write(f"{block} {process or os.getpid()}\n")
        time.sleep(self.pause)

    def entries(self):
        """(block, process) in the order they were read."""
        lines = [line.split() for line in pathlib.Path(self.path).read_text().splitlines()]
        return [(line[0], int(line[1])) for line in lines if len(line) == 2]

    def kill_one(self, processes, blocks, seconds=120):
        """SIGKILL to one of these processes, once it has read so many blocks; returns which."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            read = [process for _, process in self.entries()]
            for process in set(read) & set(processes()):
                if read.count(process) >= blocks:
                    os.kill(process, signal.SIGKILL)
                    return process
            time.sleep(0.02)
        raise AssertionError("no process has read so many blocks")
