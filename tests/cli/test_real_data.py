"""Real digits and real radar images, where they are beside the checkout."""

import gzip
import shutil

import numpy as np

from conftest import shared


def test_mnist_streams_from_compressed_idx(folder):
    images = shared("data/mnist/t10k-images-idx3-ubyte.gz")
    pixels = np.frombuffer(gzip.open(images).read(), np.uint8, offset=16).reshape(-1, 784) / 255
    noisy = np.clip(pixels + 0.316 * np.random.default_rng(0).standard_normal(pixels.shape), 0, 1)
    np.save(folder / "noisy.npy", noisy.astype(np.float32))
    result = folder.ok("fit", images, "noisy.npy", "--cov", "data1:40", "-o", "m", "--json").json
    assert result["n"] == 10000 and result["dims"] == [784, 784]
    assert max(result["constraint_residuals"]) < 1e-9
    folder.ok("verify", "m", images, "noisy.npy")
    folder.ok("translate", "m", "--from", 2, "--to", 1, "noisy.npy", "-o", "clean.npy")
    clean = np.load(folder / "clean.npy") / 255
    assert np.mean((clean - pixels) ** 2) < 0.5 * np.mean((noisy - pixels) ** 2)


def test_image_folders_are_paired_by_name(folder):
    source = shared("data/SAMPLE_dataset_public") / "png_images" / "qpm"
    for kind in ("real", "synth"):
        (folder / kind).mkdir()
        for image in sorted((source / kind / "bmp2").iterdir())[:12]:
            shutil.copy(image, folder / kind / image.name)
    extra = sorted((folder / "real").iterdir())[3]
    partner = folder / "synth" / extra.name.replace("real", "synth")
    partner.unlink()
    result = folder.ok("summarize", "real", "synth", "--match", "real/synth", "-o", "s", "--json")
    assert result.json["n"] == 11 and extra.name in result.err
    folder.ok("fit", "real", "synth", "--match", "real/synth", "-o", "m")
    folder.ok("verify", "m", "real", "synth", "--match", "real/synth")
    assert "no image" in folder.fails(3, "fit", "real", "synth", "--match", "foo/bar", "-o", "n")
    folder.fails(3, "fit", "real", "synth", "-o", "n")
