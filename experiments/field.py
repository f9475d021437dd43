"""Do the choices hold in the field? Translation errors of the default, `auto` and `tune` beside what others offer.

    PYTHONPATH=build/python /usr/bin/python3 experiments/field.py [--data DIR] [--cache DIR] [--draws 3] [--part rules|unseen] [--only NAME] [-o DIR]

Each task of field_data.py is a real data set of two to six domains. A method learns from some matched samples to
estimate domain 1 from the others; its error on held-out samples is 1 - R², relative to the mean of those it learnt from.
The best in hindsight is the least error of any fixed setting of the grid. Prints a Markdown table, and with -o writes
field.csv and a figure. Needs NumPy, pandas, scikit-learn, matplotlib, Pillow and the package; field_data.py downloads
the rest."""

import argparse
import pathlib
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cgmca
from field_data import Sources, all_tasks

ROOT = pathlib.Path(__file__).resolve().parent.parent
RIDGES = [0.0, *10.0 ** np.arange(-6, 4)]
METHODS = ["default", "auto", "tune", "best", "mean", "offset", "identity", "ridge regression", "PLS"]


def error(estimate, truth, mean):
    return float(((truth - estimate) ** 2).sum() / ((truth - mean) ** 2).sum())


def series(most):
    return [rank for rank in (1, 2, 5, 10, 20, 50) if rank < most] + [most]


def translated(model, domains):
    return model.translate(domains[1] if len(domains) == 2 else [None, *domains[1:]], target=1)


def estimates(train, test, fixed):
    """(method, estimate of domain 1) of each method; those of the grid are called 'fixed'."""
    same = len(train) == 2 and train[0].shape[1] == train[1].shape[1]
    yield "mean", train[0].mean(0)
    if same:
        yield "identity", test[1]
        yield "offset", test[1] + train[0].mean(0) - train[1].mean(0)
    X, Z, y = np.hstack(train[1:]), np.hstack(test[1:]), train[0]
    yield "ridge regression", make_pipeline(StandardScaler(), RidgeCV(10.0 ** np.arange(-6, 7))).fit(X, y).predict(Z)
    most = min(15, len(X) - len(X) // 5 - 2, X.shape[1])
    counts = {"n_components": range(1, most + 1)} if len(X) <= 2000 else {"n_components": [most]}
    yield "PLS", GridSearchCV(PLSRegression(), counts, cv=5).fit(X, y).predict(Z)
    default = cgmca.MCA().fit(train)
    most = min(default.ranks_)
    yield "default", translated(default, test)
    yield "auto", translated(cgmca.MCA(ridge="auto").fit(train), test)
    chosen = cgmca.tune(*train) if len(train) == 2 else cgmca.tune(train)
    yield "tune", (translated(chosen.estimator.fit(train), test), chosen)
    summary = cgmca.Summary(*(part.shape[1] for part in train))
    summary.add(*train)
    for towards in ("zero", "identity") if same else ("zero",):
        for ridge in RIDGES if fixed else [0.0, 0.01, 1.0]:
            for rank in series(most) if towards == "zero" and len(train) == 2 and fixed else [most]:
                model = cgmca.MCA(rank, ridge=ridge, towards=towards).fit_summary(summary)
                yield f"fixed {towards} {ridge:g} {rank}", translated(model, test)


def measured(domains, count, draws):
    """The errors of one task: method -> one for each draw; what `tune` promised, and how long it took."""
    found, promised, seconds = {}, [], []
    for draw in range(draws if count <= 5000 else 1):
        order = np.random.default_rng(draw).permutation(len(domains[0]))
        train, test = ([X[part] for X in domains] for part in (order[:count], order[count:count + 500]))
        begun = time.time()
        for name, estimate in estimates(train, test, fixed=count <= 1000):
            if name == "tune":
                estimate, chosen = estimate
                promised.append(chosen.expected)
                seconds.append(time.time() - begun)
            found.setdefault(name, []).append(error(estimate, test[0], train[0].mean(0)))
            begun = time.time()
    fixed = {name: np.mean(errors) for name, errors in found.items() if name.startswith("fixed")}
    best = min(fixed, key=fixed.get)
    row = {name: np.mean(found[name]) if name in found else np.nan for name in METHODS}
    row.update(best=fixed[best], setting=best[6:], spread=np.std(found["tune"]) / np.sqrt(len(found["tune"])),
               seconds=np.mean(seconds), promised=np.mean([one[0] for one in promised]),
               promised_se=np.mean([one[1] for one in promised]))
    return row


def as_table(rows):
    lines = ["| task | pairs | " + " | ".join(METHODS) + " | tune promised | s |", "|---|" + "---:|" * (len(METHODS) + 3)]
    for row in rows:
        cells = ["–" if np.isnan(row[name]) else f"{row[name]:.3f}" if row[name] < 10 else ">10" for name in METHODS]
        if row["best"] * 1.15 < row["tune"]:
            cells[METHODS.index("tune")] = f"**{cells[METHODS.index('tune')]}**"
        lines.append(f"| {row['task']}{'' if row['unseen'] else ' *'} | {row['pairs']} | " + " | ".join(cells)
                     + f" | {row['promised']:.3f} ± {row['promised_se']:.3f} | {row['seconds']:.1f} |")
    return "\n".join(lines)


def summary_of(table):
    lines = []
    for name, part in (("all", table), ("unseen", table[table.unseen]), ("used for the rules", table[~table.unseen])):
        if part.empty:
            continue
        best = np.minimum(part.best, 1)
        regret = {method: part[method] / best - 1 for method in ("default", "auto", "tune", "ridge regression", "PLS")}
        lines.append(f"{name} ({len(part)} tasks): " + "; ".join(
            f"{method} {np.minimum(of, 9).mean():+.1%} in the mean, {of.median():+.1%} in the median, "
            f"{(of > 0.15).sum()} above 15 %" for method, of in regret.items()))
        lines.append(f"    worse than the mean by more than 2 %: auto {(part.auto > 1.02).sum()}, tune {(part.tune > 1.02).sum()}; "
                     f"tune / promised: {np.exp(np.log(part.tune / part.promised).mean()):.3f}")
    return "\n".join(lines)


def figure(table, path):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    table = table.sort_values("tune", key=lambda tune: tune / np.minimum(table.best, 1))
    axes = plt.subplots(figsize=(8, 9), layout="constrained")[1]
    places = np.arange(len(table))
    for method, marker in (("default", "x"), ("ridge regression", "+"), ("PLS", "1"), ("auto", "s"), ("tune", "o")):
        axes.plot(np.minimum(table[method] / np.minimum(table.best, 1), 4), places, marker, label=method, fillstyle="none")
    axes.set(yticks=places, yticklabels=table.task, xscale="log", xlabel="error / error of the best setting in hindsight")
    axes.set_xticks([1, 1.15, 1.5, 2, 3, 4], ["1", "1.15", "1.5", "2", "3", "4 or more"])
    axes.minorticks_off()
    axes.grid(axis="y", linewidth=0.3)
    axes.axvline(1, linewidth=0.8, color="grey")
    axes.legend()
    plt.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "build/field")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--part", choices=("rules", "unseen"), help="only the tasks that rules were chosen on, or the others")
    parser.add_argument("--only", default="", help="tasks whose name holds this")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, unseen, count, domains in all_tasks(Sources(options.data, options.cache)):
        if options.only in name and options.part in (None, "unseen" if unseen else "rules"):
            rows.append({"task": name, "unseen": unseen, "pairs": count, **measured(domains, count, options.draws)})
            print(as_table(rows[-1:]).splitlines()[-1], flush=True)
    table = pd.DataFrame(rows)
    print("\n" + as_table(rows) + "\n\n" + summary_of(table))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        table.to_csv(options.output / "field.csv", index=False, float_format="%.5g")
        figure(table, options.output / "field.svg")


if __name__ == "__main__":
    main()
