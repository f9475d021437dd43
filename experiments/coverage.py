#!/usr/bin/env python3
"""Do 90 % intervals hold 90 % of new values?

    make build
    PYTHONPATH=build/python OPENBLAS_NUM_THREADS=1 /usr/bin/python3 experiments/coverage.py [--mnist DIR] [--radar DIR]

Prints Markdown tables of the part of new values that lie within their 90 % intervals, for
- in-sample: ± 1.645 times the root mean square residual of the training pairs, which is what one has without a theory,
- closed form: `translate(..., return_interval=0.9)` of a plain fit, docs/method.md (29),
- cross-fitted: the same of a fit with `calibrate=5` or `calibrate=10`, docs/method.md (30).

Required, or the exit status is 1 and the rows are named: cross-fitted by tenths .88 to .92 with 100 pairs or more; the
closed form .89 to .91 on simulated data where all directions of the source are used.

Simulated features are alike and count alike. Of images each pixel counts by its variance among the training pairs. A
constant pixel then counts nothing: its interval has no width, and holding a constant is no merit. A pixel that is dark
in nearly all images counts little: ± 1.645 standard deviations of such a two-valued quantity hold 97 or 99 % of it,
whatever the method. The last column counts all pixels alike that vary among the training pairs.
"""

import argparse
import pathlib
import sys
import warnings
from statistics import NormalDist

import numpy as np

import cgmca
from cgmca import CGMCA, MCA

METHODS = {"in-sample": None, "closed form": None, "calibrate=5": 5, "calibrate=10": 10}
CROSS_FITTED, CLOSED_FORM = (0.88, 0.92), (0.89, 0.91)
DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "data"
MNIST_RANKS = [500, 500, 500, 550, 550, 550, 500, 500, 500, 500]  # the paper's, digit by digit


def limits(model, method, pairs, new, source, target):
    """Lower and upper limits of new samples' target features, and None where there are none."""
    if method == "in-sample":
        missed = pairs[target - 1] - model.translate(pairs[source - 1], source, target)
        width = NormalDist().inv_cdf(0.95) * np.sqrt((missed**2).sum(axis=0) / (len(missed) - 1))
        middle = model.translate(new[source - 1], source, target)
        return middle - width, middle + width
    try:
        return model.translate(new[source - 1], source, target, return_interval=0.9)[1:]
    except ValueError:  # too few pairs for the closed form
        return None


def coverage(estimator, pairs, new, methods, directions=((2, 1),)):
    """The part of new values within their intervals: {(source, target): {method: (by variance, all that vary)}}."""
    covered = {direction: {} for direction in directions}
    plain = estimator().fit(*pairs)
    for method in methods:
        model = plain if METHODS[method] is None else estimator(calibrate=METHODS[method]).fit(*pairs)
        for source, target in directions:
            found = limits(model, method, pairs, new, source, target)
            if found is None:
                covered[source, target][method] = (np.nan, np.nan)
                continue
            held = ((found[0] <= new[target - 1]) & (new[target - 1] <= found[1])).mean(axis=0)
            variance = pairs[target - 1].var(axis=0)
            covered[source, target][method] = (held @ variance / variance.sum(), held[variance > 0].mean())
    return covered


class Requirements:
    def __init__(self):
        self.failures = []

    def check(self, row, least, most, wanted):
        if not (wanted[0] <= least and most <= wanted[1]):
            self.failures.append(f"{row}: {least:.3f} to {most:.3f}, wanted {wanted[0]} to {wanted[1]}")


# Simulated data: 40 + 30 features, five causes, noise of variance 1.


def simulated_draw(n, components, repetition, new=200):
    random = np.random.default_rng([n, components, repetition])
    one, two = random.normal(size=(5, 40)), random.normal(size=(5, 30))
    causes = random.normal(size=(n + new, 5))
    X = causes @ one + random.normal(size=(n + new, 40))
    Y = causes @ two + random.normal(size=(n + new, 30))
    return (X[:n], Y[:n]), (X[n:], Y[n:])


def simulated(n, components, repetitions, methods=tuple(METHODS)):
    """Mean coverage by each method, and the standard error of that mean."""
    rows = []
    for repetition in range(repetitions):
        pairs, new = simulated_draw(n, components, repetition)
        found = coverage(lambda **more: MCA(components, **more), pairs, new, methods)[2, 1]
        rows.append([found[method][1] for method in methods])
    return (dict(zip(methods, part)) for part in (np.mean(rows, axis=0), np.std(rows, axis=0) / np.sqrt(repetitions)))


def simulated_table(repetitions, required):
    print("Simulated, 40 + 30 features, five causes, domain 2 as domain 1:\n")
    print("| pairs | directions used | " + " | ".join(METHODS) + " |\n|---|---|" + "---|" * len(METHODS))
    largest = 0
    for n in (60, 100, 200, 500):
        for components in (5, 20, 30):
            mean, error = simulated(n, components, repetitions)
            largest = max(largest, *error.values())
            row = f"{n} pairs, {components} directions"
            if n >= 100:
                required.check(f"{row}, calibrate=10", *[mean["calibrate=10"]] * 2, CROSS_FITTED)
            if components == 30:
                required.check(f"{row}, closed form", *[mean["closed form"]] * 2, CLOSED_FORM)
            print(f"| {n} | {components}{' (all)' if components == 30 else ''} | "
                  + " | ".join(f"{mean[method]:.3f}" for method in METHODS) + " |", flush=True)
    print(f"\nMeans of {repetitions} repetitions; Monte Carlo standard error at most {largest:.4f}.\n", flush=True)
    required.check("Monte Carlo standard error", largest, largest, (0, 0.005))


# Images. A row is the mean over subjects (digits, or draws of radar pairs), and the least and most of them.

IMAGE_METHODS = ("in-sample", "closed form", "calibrate=10")


def image_header(title):
    print(f"{title}:\n\n| pairs | fit | direction | in-sample | closed form | calibrate=10 | least, most "
          "| all that vary |\n|---|---|---|---|---|---|---|---|")


def image_row(name, pairs, fit, subjects, required):
    """subjects: for each a list of coverages, one a draw."""
    for source, target in ((2, 1), (1, 2)):
        values = np.array([[[one[source, target][method] for method in IMAGE_METHODS] for one in draws]
                           for draws in subjects]).mean(axis=1)  # subject, method, kind of mean
        mean, fitted = values.mean(axis=0), values[:, 2, 0]
        shown = ["none" if np.isnan(value) else f"{value:.3f}" for value in mean[:, 0]]
        print(f"| {pairs} | {fit} | {source} → {target} | {' | '.join(shown)} | {fitted.min():.3f}, {fitted.max():.3f} "
              f"| {mean[2, 1]:.3f} |", flush=True)
        required.check(f"{name}, {pairs} pairs, {fit}, {source} → {target}", fitted.min(), fitted.max(), CROSS_FITTED)


def digit_draw(images, n, seed):
    """Clean and noisy images of a digit as in the paper's experiment: Gaussian noise of variance 0.1, clipped."""
    random = np.random.default_rng(seed)
    clean = images[random.permutation(len(images))] / 255
    noisy = np.clip(clean + np.sqrt(0.1) * random.normal(size=clean.shape), 0, 1)
    n = n or round(0.8 * len(clean))
    return (clean[:n], noisy[:n]), (clean[-1000:], noisy[-1000:])


def mnist_table(folder, required):
    mnist = cgmca.datasets.load_mnist(folder)
    image_header("MNIST, clean (1) and noisy (2), ten digits")
    fits = [
        (100, "identity:20, max_rank 40", 3, lambda digit: lambda **more: MCA(20, max_rank=40, **more)),
        (100, "identity, ridge 1", 3, lambda digit: lambda **more: MCA(ridge=1.0, **more)),
        (400, "identity:40, max_rank 100", 3, lambda digit: lambda **more: MCA(40, max_rank=100, **more)),
        (None, "data1:t", 1, lambda digit: lambda **more: CGMCA("data1", MNIST_RANKS[digit], **more)),
    ]
    for n, fit, draws, estimator in fits:
        subjects = []
        for digit in range(10):
            images = mnist.data[mnist.target == digit]
            subjects.append([coverage(estimator(digit), *digit_draw(images, n, [digit, draw]), IMAGE_METHODS,
                                      ((2, 1), (1, 2))) for draw in range(draws)])
        image_row("MNIST", n or "80 %", fit, subjects, required)
    print("\nThe last rows are the paper's experiment: 80 % of a digit's images, its rank t.\n", flush=True)


def radar_table(folder, required):
    sample = cgmca.datasets.load_sample(folder)
    image_header("Radar, synthetic (1) and measured (2), three draws")
    for n, fit, estimator in (
            (134, "identity:20, max_rank 40", lambda **more: MCA(20, max_rank=40, **more)),
            (134, "identity, ridge 1", lambda **more: MCA(ridge=1.0, **more)),
            (336, "identity:40, max_rank 100", lambda **more: MCA(40, max_rank=100, **more)),
            (336, "identity, ridge 1", lambda **more: MCA(ridge=1.0, **more))):
        subjects = []
        for draw in range(3):
            order = np.random.default_rng(draw).permutation(len(sample.target))
            pairs, new = ((sample.synthetic[part], sample.measured[part]) for part in (order[:n], order[n:]))
            subjects.append([coverage(estimator, pairs, new, IMAGE_METHODS, ((2, 1), (1, 2)))])
        image_row("radar", n, fit, subjects, required)
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnist", metavar="DIR", help="folder with MNIST's IDX files")
    parser.add_argument("--radar", metavar="DIR", help="folder with SAMPLE's png_images")
    parser.add_argument("--repetitions", type=int, default=200, help="of the simulated rows (default 200)")
    given = parser.parse_args()
    for folder in filter(None, (given.mnist, given.radar)):
        if not pathlib.Path(folder).is_dir():
            parser.error(f"no folder {folder}")
    warnings.simplefilter("ignore", cgmca.FitWarning)
    required = Requirements()
    simulated_table(given.repetitions, required)
    for option, folder, usual, table in (("--mnist", given.mnist, "mnist", mnist_table),
                                         ("--radar", given.radar, "SAMPLE_dataset_public", radar_table)):
        if folder or (DATA / usual).exists():
            table(folder or DATA / usual, required)
        else:
            print(f"{usual} left out: give its folder with {option}\n")
    for failure in required.failures:
        print(f"not as required: {failure}", file=sys.stderr)
    return 1 if required.failures else 0


if __name__ == "__main__":
    sys.exit(main())
