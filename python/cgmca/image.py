"""Filters and quality measures for images, as MATLAB's Image Processing Toolbox defines them.

Images come as (n, height, width), as one (height, width), or as rows of pixels (n, height·width) with ``size`` saying
(height, width). Results have the shape that was given.

>>> import numpy as np
>>> from cgmca import image
>>> image.medfilt2(np.arange(1.0, 10).reshape(3, 3))
array([[0., 2., 0.],
       [2., 5., 3.],
       [0., 5., 0.]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Tuple

import numpy as np

from . import _core

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

__all__ = ["mat2gray", "medfilt2", "psnr", "ssim", "wiener2"]


def _rows(images: Any, size: Optional[Tuple[int, int]]) -> Tuple[Any, int, int]:
    """Rows of pixels, height and width."""
    images = np.asarray(images)
    if size is not None:
        if images.ndim != 2:
            raise ValueError(f"with size, images are rows of pixels; these have {images.ndim} dimensions")
        return images, int(size[0]), int(size[1])
    if images.ndim not in (2, 3):
        raise ValueError(f"images of {images.ndim} dimensions; (n, height, width) or (height, width) is needed")
    height, width = images.shape[-2:]
    return images.reshape(-1, height * width), height, width


def wiener2(images: ArrayLike, size: Optional[Tuple[int, int]] = None) -> Array:
    """Adaptive 3×3 Wiener filter with zero padding; the noise is the mean of the local variances."""
    rows, height, width = _rows(images, size)
    return _core.wiener2(rows, height, width).reshape(np.shape(images))


def medfilt2(images: ArrayLike, size: Optional[Tuple[int, int]] = None) -> Array:
    """3×3 median filter with zero padding."""
    rows, height, width = _rows(images, size)
    return _core.medfilt2(rows, height, width).reshape(np.shape(images))


def mat2gray(images: ArrayLike, size: Optional[Tuple[int, int]] = None) -> Array:
    """Each image scaled to [0, 1] by its smallest and largest value; a constant image is clipped."""
    rows, _, _ = _rows(images, size)
    return _core.mat2gray(rows).reshape(np.shape(images))


def ssim(images: ArrayLike, references: ArrayLike, size: Optional[Tuple[int, int]] = None) -> Any:
    """Structural similarity of each image with its reference, for a dynamic range of 1: 1 for equal images.

    Returns an array of shape (n,), or a number for one (height, width) image.

    >>> import numpy as np
    >>> from cgmca import image
    >>> picture = np.random.default_rng(0).uniform(size=(28, 28))
    >>> image.ssim(picture, picture)
    1.0
    """
    return _measured(_core.ssim, images, references, size, True)


def psnr(images: ArrayLike, references: ArrayLike, size: Optional[Tuple[int, int]] = None) -> Any:
    """Peak signal-to-noise ratio in dB for a dynamic range of 1; infinite for equal images."""
    return _measured(_core.psnr, images, references, size, False)


def _measured(measure: Any, images: Any, references: Any, size: Optional[Tuple[int, int]], shaped: bool) -> Any:
    if np.shape(images) != np.shape(references):
        raise ValueError(f"the images have the shape {np.shape(images)} and the references {np.shape(references)}; "
                         "both need the same")
    rows, height, width = _rows(images, size)
    values = measure(rows, _rows(references, size)[0], *((height, width) if shaped else ()))
    return float(values[0]) if size is None and np.ndim(images) == 2 else values
