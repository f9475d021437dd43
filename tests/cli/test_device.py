"""--device and --version where there is no GPU: a clear error and nothing written, or the processor."""

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
    ["translate", "m", "--from", 1, "a.npy", "-o", "z.npy"],
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
