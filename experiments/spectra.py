"""Calibration transfer on sugarcane: a model of a master spectrometer applied to translated spectra of another.

    PYTHONPATH=build/python /usr/bin/python3 experiments/spectra.py [--data DIR] [--splits 25] [--master Micronir1700rep1]

In each split 20 samples are for the test. The master's model, a PLS regression whose number of components is chosen by
cross-validation, is built on the other 40, and S of these are standards that the slave measured too. The error is the
root mean square over the standard deviation of the property, averaged over slaves, properties and splits. `downstream`
knows the model and the standards' spectra, but no laboratory values. Spectra are used as they are. Needs NumPy, pandas,
scikit-learn and the package. Prints a Markdown table."""

import argparse
import pathlib
import warnings

import numpy as np
import pandas as pd
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import cgmca
from field_data import SPECTRA, Sources

ROOT = pathlib.Path(__file__).resolve().parent.parent
STANDARDS = (5, 10, 15, 25, 40)


def pls(X, y):
    most = min(12, len(X) - len(X) // 5 - 2)
    return GridSearchCV(PLSRegression(), {"n_components": range(1, most + 1)}, cv=5).fit(X, y).best_estimator_


def translated(estimator, master, slave, new):
    return estimator.fit(master, slave).translate(new)


def estimates(model, master, slave, y, new, new_master):
    """(method, estimates of the property) from the standards of master and slave, their laboratory values, new spectra."""
    predict = lambda X: np.ravel(model.predict(X))
    yield "master itself", predict(new_master)
    yield "the slave's own model", np.ravel(pls(slave, y).predict(new))
    yield "direct standardization, pseudo-inverse", predict(LinearRegression().fit(slave, master).predict(new))
    count = min(12, len(slave) - 1)
    yield "direct standardization, 12 principal components", predict(
        make_pipeline(PCA(count), LinearRegression()).fit(slave, master).predict(new))
    yield "direct standardization, ridge by cross-validation", predict(
        RidgeCV(10.0 ** np.arange(-8, 5)).fit(slave, master).predict(new))
    yield "ours, default", predict(translated(cgmca.MCA(), master, slave, new))
    yield "ours, ridge auto", predict(translated(cgmca.MCA(ridge="auto"), master, slave, new))
    yield "ours, tune", predict(translated(cgmca.tune(master, slave).estimator, master, slave, new))
    chosen = cgmca.tune(master, slave, downstream=lambda X: model.predict(X))
    yield "ours, tune by downstream", predict(translated(chosen.estimator, master, slave, new))
    for ridge in (1e-4, 1e-3, 1e-2):
        yield f"(ours, ridge {ridge:g} of a grid, with hindsight)", predict(
            translated(cgmca.MCA(ridge=ridge), master, slave, new))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--splits", type=int, default=25)
    parser.add_argument("--master", default="Micronir1700rep1", choices=SPECTRA)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    spectra, numbers = Sources(options.data, ROOT / "build/field").cane(*SPECTRA)
    spectra = dict(zip(SPECTRA, spectra))
    laboratory = pd.read_csv(options.data / "sugarcane/References.csv", sep=";", index_col=0, na_values="NA ").loc[numbers]
    found = {}
    for split in range(options.splits):
        order = np.random.default_rng(split).permutation(len(numbers))
        for name in laboratory:
            y = laboratory[name].to_numpy(float)
            test, rest = ([i for i in part if np.isfinite(y[i])] for part in (order[:20], order[20:]))
            model = pls(spectra[options.master][rest], y[rest])
            slave = [one for one in SPECTRA if one != options.master][split % (len(SPECTRA) - 1)]
            for size in STANDARDS:
                chosen = rest[:size]
                arrays = [spectra[options.master][chosen], spectra[slave][chosen], y[chosen], spectra[slave][test],
                          spectra[options.master][test]]
                for method, estimate in estimates(model, *arrays):
                    error = np.sqrt(np.mean((estimate - y[test]) ** 2)) / np.nanstd(y)
                    found.setdefault(method, {}).setdefault(size, []).append(error)
    print("| | " + " | ".join(f"S {size}" for size in STANDARDS) + " |\n|---|" + "---:|" * len(STANDARDS))
    for method, errors in found.items():
        print(f"| {method} | " + " | ".join(f"{np.mean(errors[size]):.3f}" for size in STANDARDS) + " |")


if __name__ == "__main__":
    main()
