"""--device and --version where there is no GPU: a clear error and nothing written, or the processor."""

import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest


@pytest.fixture
def without_gpu(folder):
    if "\ncuda: NVIDIA" in folder.ok("--version").out:
        pytest.skip("there is a GPU")
    return folder


def test_version_says_what_was_found_or_why_not(folder):
    line = folder.ok("--version").out.splitlines()[-1]
    assert line.startswith("cuda: ")
    assert "GiB" in line or "cannot be loaded" in line or "no NVIDIA driver" in line or "no CUDA device" in line


@pytest.mark.parametrize("arguments", [
    ["fit", "a.npy", "b.npy", "-o", "n"],
    ["summarize", "a.npy", "b.npy", "-o", "t"],
    ["apply", "m", "--domain", 1, "a.npy", "-o", "z.npy"],
    ["translate", "m", "--from", 1, "--to", 2, "a.npy", "-o", "z.npy"],
])
def test_a_gpu_that_is_not_there_is_an_error_that_names_the_way_out(without_gpu, arguments):
    without_gpu.model()
    assert "Use the device cpu" in without_gpu.fails(1, *arguments, "--device", "cuda")


def test_auto_takes_the_processor_and_gives_the_same_bytes(without_gpu):
    without_gpu.ok("fit", "a.npy", "b.npy", "-o", "one", "-q")
    without_gpu.ok("fit", "a.npy", "b.npy", "-o", "two", "-q", "--device", "auto")
    assert (without_gpu / "one").read_bytes() == (without_gpu / "two").read_bytes()


def test_a_device_of_another_name_is_refused(folder):
    assert "cpu" in folder.fails(2, "fit", "a.npy", "b.npy", "-o", "n", "--device", "tpu")


# A device that is none: a library that the core takes for the CUDA back end, see tests/fake_device.cpp.

@pytest.fixture
def fake(folder, tmp_path_factory):
    """Runs the program with a copy of its libraries that finds the fake device beside itself."""
    if "CGMCA_FAKE_DEVICE" not in os.environ:
        pytest.skip("needs the fake device of the build: CGMCA_FAKE_DEVICE, CGMCA_LIBRARY and CGMCA_WHICH_DEVICE")
    libraries = tmp_path_factory.mktemp("libraries")
    built = pathlib.Path(os.environ["CGMCA_LIBRARY"])
    for library in built.parent.glob("libcgmca*.so.0"):
        shutil.copy(library, libraries)
    shutil.copy(os.environ["CGMCA_FAKE_DEVICE"], libraries)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries)}
    folder.on_fake = {"env": environment}
    folder.lost_after = lambda count: {"env": {**environment, "CGMCA_FAKE_DEVICE_FAILS_AFTER": str(count)}}
    assert "cuda: a fake device" in folder.ok("--version", **folder.on_fake).out
    return folder


COMMANDS = {
    "fit": ["fit", "a.npy", "b.npy", "--cov", "identity:3", "-q", "-o", "out"],
    "summarize": ["summarize", "a.npy", "b.npy", "-q", "-o", "out"],
    "apply": ["apply", "m", "--domain", 1, "a.npy", "-q", "-o", "out.npy"],
    "translate": ["translate", "m", "--from", 1, "--to", 2, "a.npy", "-q", "-o", "out.npy"],
    "lsqr": ["translate", "m", "--from", 1, "--to", 2, "a.npy", "--method", "lsqr", "-q", "-o", "out.npy"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_device_that_is_lost_in_mid_run_is_an_error_and_leaves_nothing_behind(fake, command):
    fake.model()
    arguments = [*COMMANDS[command], "--device", "cuda"]
    lost = 0
    for count in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144]:
        result = fake.run(*arguments, **fake.lost_after(count))
        if result.status == 0:
            break
        assert "the fake device was lost in mid-run" in fake.fails(1, *arguments, **fake.lost_after(count))
        lost += 1
    assert lost >= 3
    fake.ok(*arguments, **fake.on_fake)
    assert fake.names() & {"out", "out.npy"}


def test_a_file_that_was_there_stays_as_it_was_when_the_device_is_lost(fake):
    fake.model()
    before = (fake / "m").read_bytes()
    fake.fails(1, "fit", "b.npy", "a.npy", "-o", "m", "--device", "cuda", **fake.lost_after(20))
    assert (fake / "m").read_bytes() == before


@pytest.mark.parametrize("command", ["apply", "translate", "lsqr"])
def test_results_on_a_device_are_those_of_the_processor(fake, command):
    fake.model()
    fake.ok(*COMMANDS[command], "--device", "cuda", **fake.on_fake)
    there = np.load(fake / "out.npy")
    (fake / "out.npy").unlink()
    fake.ok(*COMMANDS[command])
    np.testing.assert_allclose(there, np.load(fake / "out.npy"), rtol=1e-9, atol=1e-9)


def which_device(program, here):
    """What a program that holds the core finds, called by its name alone in the folder `here`."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    environment["PATH"] = f"{program.parent}:{environment['PATH']}"
    return subprocess.run([program.name], cwd=here, env=environment, text=True, stdout=subprocess.PIPE).stdout.strip()


def test_the_back_end_is_looked_for_beside_the_program_and_not_in_the_current_folder(fake, tmp_path):
    programs, here = tmp_path / "programs", tmp_path / "here"
    programs.mkdir()
    here.mkdir()
    program = pathlib.Path(shutil.copy(os.environ["CGMCA_WHICH_DEVICE"], programs / "which_device"))
    shutil.copy(os.environ["CGMCA_FAKE_DEVICE"], here)
    assert which_device(program, here) != "a fake device"
    shutil.copy(os.environ["CGMCA_FAKE_DEVICE"], programs)
    assert which_device(program, here) == "a fake device"
    assert which_device(program, tmp_path) == "a fake device"
