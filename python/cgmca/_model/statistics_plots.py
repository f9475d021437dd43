"""Pictures of scores, features, shares, samples and intervals. matplotlib is imported only here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple

import numpy as np

from .._estimators import intake
from .plotting import _called, _pyplot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._estimators.diagnosis import Diagnosis
    from .._tune.bootstrap import Bootstrap


def _scores(estimator: Any, X: Any, y: Any) -> Sequence[Any]:
    """Canonical scores of all domains: unit variance, whatever the covariance of the common space."""
    model = estimator._fitted()
    arrays = intake.all_finite(estimator, X, y, "the picture")
    return [(rows - mean) @ model.weights(number).T
            for number, (rows, mean) in enumerate(zip(arrays, model.means), start=1)]


def _names(estimator: Any, domain: int) -> Sequence[str]:
    names = estimator.feature_names_[domain - 1]
    return names or [f"x{domain}_{f + 1}" for f in range(estimator._fitted().features(domain))]


def _titled(estimator: Any) -> Sequence[str]:
    """Names of the domains that tell what they are: "domain 1" where none was given."""
    return [f"domain {number}" if called == str(number) else called
            for number, called in enumerate(_called(estimator), start=1)]


def _whole_ticks(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


class _Labels:
    """Writes names beside points, but not upon each other; those that have no room are left out."""

    def __init__(self, ax: Any, width: float, height: float) -> None:
        self._ax, self._width, self._height = ax, width, height
        self._taken: List[Tuple[float, float, float]] = []

    def add(self, name: str, at: Any, color: Any) -> None:
        name = _shortened(name)
        right = at[0] + len(name) * self._width
        if any(at[0] < other and right > left and abs(at[1] - height) < self._height
               for left, other, height in self._taken):
            return
        self._taken.append((at[0], right, at[1]))
        self._ax.annotate(name, at, xytext=(3, 3), textcoords="offset points", fontsize="x-small", color=color)


def _shortened(name: str, most: int = 22) -> str:
    return name if len(name) <= most else name[:most // 2] + "…" + name[-(most - most // 2 - 1):]


def _plane(directions: Tuple[int, int], c: int) -> Tuple[int, int]:
    one, two = directions
    if not (1 <= one <= c and 1 <= two <= c and one != two):
        raise ValueError(f"directions {directions}: two different numbers from 1 to {c} are needed")
    return one - 1, two - 1


def plot_scores(estimator: Any, X: Any, y: Optional[ArrayLike] = None, labels: Optional[ArrayLike] = None, *,
                domain: int = 1, directions: Tuple[int, int] = (1, 2), arrows: bool = False, ax: Any = None) -> Any:
    """Samples by two canonical scores, coloured by label, with an ellipse around each label.

    The ellipses hold 95 % of a normal distribution with the mean and covariance of a label's samples. ``arrows`` draws
    a line from each sample to its partners in the other domains. Returns the matplotlib axes.
    """
    ax = _pyplot().gca() if ax is None else ax
    scores = _scores(estimator, X, y)
    i, j = _plane(directions, scores[domain - 1].shape[1])
    own = scores[domain - 1][:, [i, j]]
    if arrows:
        for number, other in enumerate(scores, start=1):
            if number != domain:
                ends = other[:, [i, j]]
                ax.plot(np.c_[own[:, 0], ends[:, 0]].T, np.c_[own[:, 1], ends[:, 1]].T, color="0.75", linewidth=0.6,
                        zorder=1)
                ax.scatter(*ends.T, s=10, marker="x", color="0.5", zorder=2, label=_titled(estimator)[number - 1])
    classes = np.zeros(len(own), int) if labels is None else np.asarray(labels)
    if len(classes) != len(own):
        raise ValueError(f"{len(classes)} labels for {len(own)} samples")
    for label in np.unique(classes):
        marks = own[classes == label]
        called = str(label) if labels is not None else _titled(estimator)[domain - 1] if arrows else None
        points = ax.scatter(*marks.T, s=14, alpha=0.8, zorder=3, label=called)
        if labels is not None and len(marks) > 2:
            ax.plot(*_ellipse(marks), color=points.get_facecolor()[0], linewidth=1.2, zorder=2)
    if labels is not None or arrows:
        ax.legend(fontsize="small")
    ax.set(xlabel=f"score {i + 1}", ylabel=f"score {j + 1}", title=_titled(estimator)[domain - 1])
    return ax


def _ellipse(marks: Any) -> Tuple[Any, Any]:
    values, axes = np.linalg.eigh(np.cov(marks.T))
    angle = np.linspace(0, 2 * np.pi, 100)
    circle = np.c_[np.cos(angle), np.sin(angle)] * np.sqrt(5.991 * np.maximum(values, 0))  # χ²_2 at .95
    x, y = (marks.mean(axis=0) + circle @ axes.T).T
    return x, y


def _circle(estimator: Any, domain: int, i: int, j: int) -> Any:
    """Correlations with score i, and with what score i leaves of score j: a ridge makes them correlated."""
    model, found = estimator._fitted(), estimator.explained_
    a = found.correlations(domain)[:, [i, j]]
    alpha, beta, _ = model.certificate()["constrained"][domain - 1]
    T = model.weights(domain)[[i, j]]
    G = (np.eye(2) - beta * T @ T.T) / alpha if alpha > 0 else np.full((2, 2), np.nan)
    r = G[0, 1] / np.sqrt(G[0, 0] * G[1, 1])
    return np.c_[a[:, 0], (a[:, 1] - r * a[:, 0]) / np.sqrt(1 - r * r)]


def _strongest(size: Any, most: int) -> Any:
    order = np.argsort(-np.nan_to_num(size, nan=-1.0), kind="stable")[:most]
    return order[np.isfinite(size[order])]


def plot_circle(estimator: Any, *, directions: Tuple[int, int] = (1, 2), n_features: int = 12, ax: Any = None) -> Any:
    """Correlation circle: the strongest features of each domain by their correlations with two canonical scores.

    No feature leaves the circle. Returns the matplotlib axes.
    """
    ax = _pyplot().gca() if ax is None else ax
    angle = np.linspace(0, 2 * np.pi, 200)
    for radius in (1, 0.5):
        ax.plot(radius * np.cos(angle), radius * np.sin(angle), color="0.7", linewidth=1)
    ax.axhline(0, color="0.85", linewidth=1, zorder=0)
    ax.axvline(0, color="0.85", linewidth=1, zorder=0)
    labels = _Labels(ax, 0.035, 0.07)
    for domain, called in enumerate(_titled(estimator), start=1):
        i, j = _plane(directions, estimator._fitted().weights(domain).shape[0])
        a, names = _circle(estimator, domain, i, j), _names(estimator, domain)
        chosen = _strongest(np.hypot(*a.T), n_features)
        points = ax.scatter(*a[chosen].T, s=16, label=called)
        for f in chosen:
            labels.add(names[f], a[f], points.get_facecolor()[0])
    ax.legend(fontsize="small")
    ax.set(xlim=(-1.08, 1.08), ylim=(-1.08, 1.08), aspect="equal", xlabel=f"correlation with score {directions[0]}",
           ylabel=f"correlation with score {directions[1]}")
    return ax


def plot_biplot(estimator: Any, X: Any, y: Optional[ArrayLike] = None, labels: Optional[ArrayLike] = None, *,
                domain: int = 1, directions: Tuple[int, int] = (1, 2), n_features: int = 5, ax: Any = None) -> Any:
    """Samples by two scores of a domain, and the strongest features of every domain as arrows. Returns the axes."""
    ax = plot_scores(estimator, X, y, labels, domain=domain, directions=directions, ax=ax)
    size = max(np.abs([ax.get_xlim(), ax.get_ylim()]).min(axis=1)) * 0.9
    texts = _Labels(ax, *(share * np.ptp(limits) for share, limits in ((0.018, ax.get_xlim()), (0.035, ax.get_ylim()))))
    for number in range(1, estimator.n_domains_ + 1):
        i, j = _plane(directions, estimator._fitted().weights(number).shape[0])
        a, names = _circle(estimator, number, i, j), _names(estimator, number)
        for f in _strongest(np.hypot(*a.T), n_features):
            ax.annotate("", size * a[f], (0, 0), arrowprops={"arrowstyle": "->", "color": f"C{number}"})
            texts.add(names[f], size * a[f], f"C{number}")
    return ax


def plot_cross_correlations(estimator: Any, *, domains: Tuple[int, int] = (1, 2), ax: Any = None) -> Any:
    """What the common directions say of the correlations of the features of two domains, as a map. Returns the axes."""
    ax = _pyplot().gca() if ax is None else ax
    values = estimator.explained_.shared(*domains)
    image = ax.imshow(values, aspect="auto", interpolation="nearest", cmap="RdBu_r", vmin=-1, vmax=1)
    ax.figure.colorbar(image, ax=ax, label="correlation")
    for axis, domain, count in ((ax.yaxis, domains[0], values.shape[0]), (ax.xaxis, domains[1], values.shape[1])):
        if count <= 40:
            axis.set_ticks(range(count))
            axis.set_ticklabels([_shortened(name) for name in _names(estimator, domain)], fontsize="x-small",
                                rotation=90 if axis is ax.xaxis else 0)
    called = _titled(estimator)
    ax.set(xlabel=f"features of {called[domains[1] - 1]}", ylabel=f"features of {called[domains[0] - 1]}")
    return ax


def plot_scree(estimator: Any, X: Any = None, y: Optional[ArrayLike] = None, *, permutations: int = 50, seed: int = 1,
               level: float = 0.05, ax: Any = None) -> Any:
    """Correlations in turn and, if samples are given, the band of those that shuffled samples give.

    The estimator's settings are fitted again to samples whose partners are shuffled; the band ends at the 1 - ``level``
    quantile. Of more than two domains it is the mean correlation of all pairs. Returns the axes.
    """
    from sklearn.base import clone

    def correlations(fitted: Any) -> Any:
        if fitted.n_domains_ == 2:
            return np.asarray(fitted.canonical_correlations_)[:fitted._fitted().weights(1).shape[0]]
        m = fitted.n_domains_
        return fitted.common_correlations_[np.triu_indices(m, 1)].mean(axis=0)

    ax = _pyplot().gca() if ax is None else ax
    values = correlations(estimator)
    if X is not None:
        arrays, random = intake.all_finite(estimator, X, y, "plot_scree"), np.random.default_rng(seed)
        band = []
        for _ in range(permutations):
            shuffled = [arrays[0], *(rows[random.permutation(len(rows))] for rows in arrays[1:])]
            again = clone(estimator)
            found = correlations(again.fit(*shuffled) if len(shuffled) == 2 else again.fit(shuffled))
            band.append(np.r_[found, np.full(max(0, len(values) - len(found)), np.nan)][:len(values)])
        high = np.nanquantile(band, 1 - level, axis=0)
        ax.fill_between(np.arange(1, len(values) + 1), 0, high, color="0.85",
                        label=f"{100 * (1 - level):g} % of {permutations} permutations")
    ax.plot(np.arange(1, len(values) + 1), values, marker="." if len(values) <= 60 else None, label="correlations")
    ax.legend(fontsize="small")
    ax.set(xlabel="direction", ylabel="correlation", ylim=(0, 1.03))
    _whole_ticks(ax.xaxis)
    return ax


def plot_shares(estimator: Any, *, domain: int = 1, n_directions: int = 10, by_variance: bool = False,
                ax: Any = None) -> Any:
    """The share of a domain's variance that each of its scores carries, and that those of the others explain."""
    ax = _pyplot().gca() if ax is None else ax
    found, m = estimator.explained_, estimator.n_domains_
    width = 0.8 / m
    for place, by in enumerate([domain, *(i for i in range(1, m + 1) if i != domain)]):
        shares = found.shares(domain, by)
        alone = (shares.variance if by_variance else shares.standardized).alone[:n_directions]
        label = "own scores" if by == domain else f"scores of {_titled(estimator)[by - 1]}"
        ax.bar(np.arange(1, len(alone) + 1) - 0.4 + (place + 0.5) * width, alone, width * 0.94, label=label)
    ax.legend(fontsize="small")
    ax.set(xlabel="direction", ylabel="share of variance", title=_titled(estimator)[domain - 1])
    _whole_ticks(ax.xaxis)
    return ax


def plot_weights(found: Bootstrap, *, domain: int = 1, direction: int = 1, kind: str = "weights", n_features: int = 15,
                 names: Optional[Sequence[str]] = None, ax: Any = None) -> Any:
    """The strongest features of a direction with their bootstrap intervals; those that hold zero are grey.

    ``found`` is what `bootstrap` gave; ``kind`` is 'weights' or 'structure'. Returns the axes.
    """
    if kind not in ("weights", "structure"):
        raise ValueError(f"there is no '{kind}'; give weights or structure")
    ax = _pyplot().gca() if ax is None else ax
    numbers = getattr(found.domains[domain - 1], kind)
    estimate, lower, upper = (part[:, direction - 1] for part in (numbers.estimate, numbers.lower, numbers.upper))
    names = [f"x{domain}_{f + 1}" for f in range(len(estimate))] if names is None else names
    chosen = _strongest(np.abs(estimate), n_features)[::-1]
    for line, f in enumerate(chosen):
        color = "C0" if lower[f] > 0 or upper[f] < 0 else "0.6"
        ax.plot([lower[f], upper[f]], [line, line], color=color, linewidth=3, alpha=0.5)
        ax.plot(estimate[f], line, "o", color=color, markersize=5)
    ax.axvline(0, color="0.4", linewidth=1)
    ax.set_yticks(range(len(chosen)))
    ax.set_yticklabels([_shortened(str(names[f])) for f in chosen], fontsize="small")
    ax.set(xlabel=f"{kind} of direction {direction}")
    return ax


def plot_diagnosis(found: Diagnosis, *, domain: int = 1, n_named: int = 10, ax: Any = None) -> Any:
    """T² within the common space beside Q outside of it; suspects in colour, the surest with their rows.

    Returns the axes.
    """
    ax = _pyplot().gca() if ax is None else ax
    own, rows = found.domains[domain - 1], found.rows()
    ax.scatter(own.T2, own.Q, s=12, color="0.6", label="samples")
    if rows:
        ax.scatter(own.T2[rows], own.Q[rows], s=20, color="C1", label="suspicious")
        for one in found.suspects[:n_named]:
            ax.annotate(str(one.sample), (own.T2[one.sample], own.Q[one.sample]), xytext=(3, 3),
                        textcoords="offset points", fontsize="x-small")
        ax.legend(fontsize="small")
    ax.set(xlabel="T² within the common space", ylabel="Q outside of it")
    return ax
