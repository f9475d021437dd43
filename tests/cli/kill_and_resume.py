#!/usr/bin/python3
"""kill -9 at random moments, resume until done, compare with an uninterrupted run byte for byte.

    tests/cli/kill_and_resume.py [--program build/cgmca] [--rounds 10] [--samples 200000] [--features 150] [--seed N]
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import time


def make_pair(folder, samples, features, seed=0):
    import numpy as np

    generator = np.random.default_rng(seed)
    causes = generator.standard_normal((samples, 8), dtype=np.float32)
    for name in ("x1.npy", "x2.npy"):
        weights = generator.standard_normal((8, features), dtype=np.float32)
        np.save(folder / name, causes @ weights + generator.standard_normal((samples, features), dtype=np.float32))
    return folder / "x1.npy", folder / "x2.npy"


def summarize(program, pair, output, *options):
    return [str(part) for part in (program, "summarize", *pair, "-o", output, "--accumulate", "qr", "-q", *options)]


def kill_and_resume(program, folder, pair, rounds, seed):
    """Returns the number of kills of each round. Raises AssertionError where a summary differs."""
    moments = random.Random(seed)
    whole, resumed, checkpoint = folder / "whole", folder / "resumed", folder / "checkpoint"
    start = time.monotonic()
    subprocess.run(summarize(program, pair, whole), check=True)
    duration = time.monotonic() - start
    kills = []
    for _ in range(rounds):
        resumed.unlink(missing_ok=True)
        kills.append(0)
        while True:
            process = subprocess.Popen(
                summarize(program, pair, resumed, "--checkpoint", checkpoint, "--every", "0", "--resume"))
            if kills[-1] == 0:  # once at least, however fast the machine has become since the duration was measured
                while process.poll() is None and not checkpoint.exists():
                    time.sleep(0.001)
            try:
                process.wait(timeout=0 if kills[-1] == 0 else moments.uniform(0.02, 0.8) * duration)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills[-1] += 1
                assert not resumed.exists() or resumed.read_bytes() == whole.read_bytes(), "a half-written summary"
        assert process.returncode == 0, f"status {process.returncode}"
        assert resumed.read_bytes() == whole.read_bytes(), "the resumed summary differs from the uninterrupted one"
        left = sorted(path.name for path in folder.iterdir())
        assert not checkpoint.exists(), f"the checkpoint is still there: {left}"
    return kills


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--program", default=root / "build" / "cgmca")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--samples", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=150)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pair = make_pair(folder, options.samples, options.features)
        kills = kill_and_resume(options.program, folder, pair, options.rounds, options.seed)
    print(f"seed {options.seed}: {options.rounds} rounds of {options.samples} pairs of {options.features} + "
          f"{options.features} features, killed {sum(kills)} times ({', '.join(map(str, kills))}); "
          "every summary equal to the uninterrupted one, byte for byte")


if __name__ == "__main__":
    sys.exit(main())
