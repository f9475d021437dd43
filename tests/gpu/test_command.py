#!/usr/bin/env python3
"""The command line on a GPU: the same answers as on the processor, and nothing left behind where the GPU is lost.

    CGMCA_PROGRAM=build/cgmca [CGMCA_LOSE_DEVICE=build/tests/gpu/liblose_device.so] tests/gpu/test_command.py
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from running import Skipped, run

PROGRAM = os.path.abspath(os.environ.get("CGMCA_PROGRAM", "build/cgmca"))


def call(folder, *arguments, **environment):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, text=True, capture_output=True, timeout=300,
                          env={**os.environ, **environment})


def ok(folder, *arguments):
    result = call(folder, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def new_folder():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cgmca-gpu-"))
    random = np.random.default_rng(0)
    causes = random.normal(size=(3000, 60))
    for name, d in (("a", 120), ("b", 90), ("c", 50)):
        np.save(folder / f"{name}.npy",
                causes @ random.normal(size=(60, d)) / 8 + 0.3 * random.normal(size=(3000, d)) + 5)
    return folder


def close(found, expected, tolerance=1e-9):
    distance = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    assert distance <= tolerance, f"differs by {distance:.2e}"


def on_both(folder, *arguments):
    """What a command writes with --device cuda and with --device cpu."""
    results = []
    for device in ("cuda", "cpu"):
        ok(folder, *arguments, "-q", "-o", f"{device}.npy", "--device", device)
        results.append(np.load(folder / f"{device}.npy"))
        (folder / f"{device}.npy").unlink()
    return results


def test_version_names_the_gpu():
    line = ok(".", "--version").splitlines()[-1]
    print(line)
    assert line.startswith("cuda: ") and "GiB" in line


def test_fit_on_the_gpu_gives_the_maps_of_the_processor():
    folder = new_folder()
    for spec in ("identity:40", "data1:30", "correlation:20"):
        for device in ("cuda", "cpu"):
            out = ok(folder, "fit", "a.npy", "b.npy", "--cov", spec, "-o", device, "--device", device)
            assert ("cuda" in ok(folder, "info", device)) == (device == "cuda"), out
        for domain, name in ((1, "a"), (2, "b")):
            found, expected = (np.asarray(applied(folder, model, domain, name)) for model in ("cuda", "cpu"))
            close(found, expected)


def applied(folder, model, domain, name):
    ok(folder, "apply", model, "--domain", domain, f"{name}.npy", "-q", "-o", "z.npy")
    result = np.load(folder / "z.npy")
    (folder / "z.npy").unlink()
    return result


def test_summaries_of_both_devices_merge_and_fit():
    folder = new_folder()
    for name, rows in (("1", slice(0, 1400)), ("2", slice(1400, 3000))):
        for one in "ab":
            np.save(folder / f"{one}{name}.npy", np.load(folder / f"{one}.npy")[rows])
    ok(folder, "summarize", "a1.npy", "b1.npy", "-q", "-o", "s1", "--device", "cuda")
    ok(folder, "summarize", "a2.npy", "b2.npy", "-q", "-o", "s2", "--device", "cpu")
    ok(folder, "merge", "s1", "s2", "-q", "-o", "s")
    ok(folder, "fit", "--summary", "s", "--cov", "identity:40", "-q", "-o", "merged", "--device", "cuda")
    ok(folder, "fit", "a.npy", "b.npy", "--cov", "identity:40", "-q", "-o", "whole")
    close(applied(folder, "merged", 1, "a"), applied(folder, "whole", 1, "a"))


def test_apply_and_translate_on_the_gpu_are_those_of_the_processor():
    folder = new_folder()
    ok(folder, "fit", "a.npy", "b.npy", "--cov", "identity:40", "-q", "-o", "m")
    close(*on_both(folder, "apply", "m", "--domain", 1, "a.npy"))
    for method in ("lmmse", "exact", "mahalanobis", "lsqr"):
        close(*on_both(folder, "translate", "m", "--from", 2, "--to", 1, "b.npy", "--method", method))


def test_three_domains_on_the_gpu():
    folder = new_folder()
    for device in ("cuda", "cpu"):
        ok(folder, "fit", "a.npy", "b.npy", "c.npy", "--cov", "identity:20", "-q", "-o", device, "--device", device)
    close(applied(folder, "cuda", 3, "c"), applied(folder, "cpu", 3, "c"), 1e-7)


def test_a_gpu_lost_in_mid_run_is_an_error_and_leaves_nothing_behind():
    if "CGMCA_LOSE_DEVICE" not in os.environ:
        raise Skipped("CGMCA_LOSE_DEVICE names no library to preload")
    folder = new_folder()
    ok(folder, "fit", "a.npy", "b.npy", "--cov", "identity:40", "-q", "-o", "m")
    before = {entry.name: entry.read_bytes() for entry in folder.iterdir()}
    commands = {"fit": ["fit", "a.npy", "b.npy", "--cov", "identity:40", "-q", "-o", "out"],
                "summarize": ["summarize", "a.npy", "b.npy", "-q", "-o", "out"],
                "apply": ["apply", "m", "--domain", 1, "a.npy", "-q", "-o", "out.npy"],
                "translate": ["translate", "m", "--from", 2, "--to", 1, "b.npy", "-q", "-o", "out.npy"]}
    for name, arguments in commands.items():
        for launch in (1, 2, 3) if name != "fit" else (1, 3, 8, 15, 25):
            result = call(folder, *arguments, "--device", "cuda", LD_PRELOAD=os.environ["CGMCA_LOSE_DEVICE"],
                          CGMCA_LOSE_DEVICE_AT=str(launch))
            if "lose_device: " not in result.stderr:  # it has fewer kernels of our own
                assert launch > 1 and result.returncode == 0, (name, launch, result.stderr)
                (folder / arguments[-1]).unlink()
                continue
            print(name, launch, result.returncode, result.stderr.strip().splitlines()[-1])
            assert result.returncode == 1, (name, launch, result.returncode, result.stderr)
            assert "cgmca: " in result.stderr and ("lost in mid-run" in result.stderr or "failed" in result.stderr)
            after = {entry.name: entry.read_bytes() for entry in folder.iterdir()}
            assert after == before, (name, launch, sorted(after))


def without_gpu():
    line = ok(".", "--version").splitlines()[-1]
    return "" if "GiB" in line else line


if __name__ == "__main__":
    sys.exit(run(sys.modules[__name__], without_gpu))
