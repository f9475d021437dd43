"""Pictures that answer the first questions about a fit. matplotlib is imported only here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple

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
    """Correlations that a fitted estimator found.

    Of two domains: the canonical correlations, and how many of them the common space uses; ``label`` is that of the
    line. Of more: a map of colours with the correlation of every pair of domains along each coordinate of the common
    space; pairs that the graph does not compare are in brackets.

    Returns the matplotlib axes.
    """
    ax = _pyplot().gca() if ax is None else ax
    if estimator.n_domains_ > 2:
        if label is not None:
            raise ValueError("label is for the one line that a plot of two domains has; leave it out, because "
                             f"this fit has {estimator.n_domains_}")
        return _plot_pairs(estimator, ax)
    values = estimator.canonical_correlations_
    ax.plot(np.arange(1, len(values) + 1), values, marker="." if len(values) <= 60 else None, label=label)
    used = max(estimator.certificate_.covariance_ranks)
    if used < len(values):
        ax.axvline(used + 0.5, color="0.6", linestyle=":", linewidth=1)
        ax.annotate(f"{used} used", (used + 0.5, 0.02), xytext=(3, 0), textcoords="offset points", color="0.4",
                    fontsize="small")
    ax.set(xlabel="canonical direction", ylabel="correlation", ylim=(0, 1.03))
    return ax


def _called(estimator: Any) -> List[str]:
    return [name or str(number) for number, name in enumerate(estimator.domain_names_, start=1)]


def _plot_pairs(estimator: Any, ax: Any) -> Any:
    correlations, weights, names = estimator.common_correlations_, estimator.certificate_.weights, _called(estimator)
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    values = np.array([correlations[pair] for pair in pairs])
    image = ax.imshow(values, aspect="auto", interpolation="nearest", cmap="viridis", vmin=min(0, values.min()), vmax=1)
    ax.figure.colorbar(image, ax=ax, label="correlation")
    labels = [f"{names[i]} – {names[j]}" for i, j in pairs]
    ax.set_yticks(range(len(pairs)))
    ax.set_yticklabels([text if weights[pair] > 0 else f"({text})" for text, pair in zip(labels, pairs)])
    ax.set(xlabel="coordinate of the common space", ylabel="pair of domains", title=_stated(estimator.certificate_))
    return ax


def _stated(certificate: Any) -> str:
    """What a certificate says, in a line."""
    if certificate.certified:
        return f"proven to be the best ({certificate.proof})"
    return f"within {100 * certificate.gap:.2g} % of the best ({certificate.proof})"


def plot_starts(estimator: Any, ax: Any = None) -> Any:
    """Where every ascent of the search for more than two domains ended, and how far above that the best may be.

    A start's height is by which part its value is below the best one found: at the bottom where they agree. The dashed
    line is the gap, by which part the best one found may be below the best there is.

    Returns the matplotlib axes.
    """
    certificate = estimator.certificate_
    if not certificate.starts:
        raise ValueError("two domains are fitted in closed form, without a search: there are no starts to show")
    ax = _pyplot().gca() if ax is None else ax
    floor = 1e-16  # that a logarithmic axis can show
    below = [max(start.f_below_best, floor) for start in certificate.starts]
    ax.semilogy(range(1, len(below) + 1), below, "o")
    ax.axhline(max(certificate.gap, floor), color="0.4", linestyle="--", linewidth=1, label="gap")
    ax.set_xticks(range(1, len(below) + 1))
    ax.set_xticklabels([start.kind for start in certificate.starts], rotation=45, ha="right")
    ax.set(ylabel="part below the best start", ylim=(floor / 3, 1), title=_stated(certificate))
    ax.legend()
    return ax


def plot_graph(estimator: Any, ax: Any = None) -> Any:
    """The domains of a fitted estimator, and which of them it compared: wider lines have larger weights.

    The number at a line is the mean correlation of its two domains over the coordinates of the common space.

    Returns the matplotlib axes.
    """
    weights, names = estimator.certificate_.weights, _called(estimator)
    means = estimator.common_correlations_.mean(axis=2)
    m = len(names)
    angles = np.pi / 2 - 2 * np.pi * np.arange(m) / m
    places = np.c_[np.cos(angles), np.sin(angles)]
    ax = _pyplot().gca() if ax is None else ax
    for i in range(m):
        for j in range(i + 1, m):
            if weights[i, j] > 0:
                ax.plot(*places[[i, j]].T, color="0.6", linewidth=1 + 4 * weights[i, j] / weights.max(), zorder=1)
                ax.annotate(f"{means[i, j]:.2f}", places[[i, j]].mean(axis=0), ha="center", va="center", fontsize="small",
                            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    ax.scatter(*places.T, s=120, zorder=2)
    for name, place in zip(names, places):
        ax.annotate(name, 1.18 * place, ha="center", va="center")
    ax.set(xlim=(-1.5, 1.5), ylim=(-1.4, 1.4), aspect="equal")
    ax.set_axis_off()
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
