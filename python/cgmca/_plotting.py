"""Two pictures that answer the first questions about a fit. matplotlib is imported only here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Tuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as problem:
        raise ImportError("this picture needs matplotlib: install it with your package manager or pip") from problem
    return pyplot


def plot_correlations(estimator: Any, ax: Any = None, *, label: Optional[str] = None) -> Any:
    """Canonical correlations of a fitted estimator, and how many of them its common space uses.

    Returns the matplotlib axes.
    """
    values = estimator.canonical_correlations_
    ax = _pyplot().gca() if ax is None else ax
    ax.plot(np.arange(1, len(values) + 1), values, marker="." if len(values) <= 60 else None, label=label)
    used = max(estimator.certificate_.covariance_ranks)
    if used < len(values):
        ax.axvline(used + 0.5, color="0.6", linestyle=":", linewidth=1)
        ax.annotate(f"{used} used", (used + 0.5, 0.02), xytext=(3, 0), textcoords="offset points", color="0.4",
                    fontsize="small")
    ax.set(xlabel="canonical direction", ylabel="correlation", ylim=(0, 1.03))
    return ax


def plot_translation(rows: Sequence[Tuple[str, ArrayLike]], shape: Tuple[int, int], *, n_images: int = 10,
                     figure: Any = None) -> Any:
    """Images one below the other: what was given, what it was translated to, what it should be.

    Parameters
    ----------
    rows : list of (name, images)
        Images as rows of pixels, the same ones in the same order under each name.
    shape : (height, width)
    n_images : int
        How many of them to show.

    Returns the matplotlib figure.
    """
    arrays = [(name, np.asarray(images)) for name, images in rows]
    if not arrays:
        raise ValueError("no images to show")
    n = min([n_images] + [len(images) for _, images in arrays])
    pyplot = _pyplot()
    if figure is None:
        figure = pyplot.figure(figsize=(0.85 * n + 1.2, 0.9 * len(arrays)))
    axes = figure.subplots(len(arrays), n, squeeze=False)
    for (name, images), line in zip(arrays, axes):
        low, high = np.percentile(images[:n], [0.5, 99.5])
        for image, ax in zip(images, line):
            ax.imshow(image.reshape(shape), cmap="gray", vmin=low, vmax=high)
            ax.set(xticks=[], yticks=[])
        line[0].set_ylabel(name, rotation=0, ha="right", va="center")
    return figure
