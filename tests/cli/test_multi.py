"""Three domains and more on the command line, as an independent computation with NumPy sees them."""

import json

import numpy as np
import pytest

from conftest import shared
from test_commands import rewritten, tensor

X = ["x.npy", "y.npy", "z.npy"]


class Views:
    """x.npy (120×6), y.npy (120×5) and z.npy (120×4), which share three causes, beside the folder's own files."""

    def __init__(self, folder):
        random = np.random.default_rng(7)
        causes = random.normal(size=(120, 3)) * [2, 1.5, 1]
        self.folder = folder
        self.data = [causes @ random.normal(size=(3, d)) + 0.5 * random.normal(size=(120, d)) + d for d in (6, 5, 4)]
        for name, values in zip(X, self.data):
            np.save(folder / name, values)

    def fit(self, *options, model="v"):
        return self.folder.ok("fit", *X, "-o", model, "--json", *options).json

    def mapped(self, model="v"):
        result = []
        for domain, name in enumerate(X, 1):
            self.folder.ok("apply", model, "--domain", domain, name, "-o", "mapped.npy", "-q")
            result.append(np.load(self.folder / "mapped.npy"))
        return result


@pytest.fixture
def views(folder):
    return Views(folder)


def objective(mapped, weights):
    n = len(mapped[0])
    return sum(weights[i][j] * ((mapped[i] - mapped[j]) ** 2).sum() / n for i in range(len(mapped)) for j in range(i))


def lmmse(data, to, sources, rows=slice(None)):
    """Least squares of one domain on others, with their rows given."""
    design = np.column_stack([np.ones(120), *(data[i] for i in sources)])
    coefficients = np.linalg.lstsq(design, data[to], rcond=None)[0]
    return (design @ coefficients)[rows]


FULL = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
STAR2 = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("options, weights", [
    ([], FULL),
    (["--graph", "full"], FULL),
    (["--graph", "star:2"], STAR2),
    (["--graph", "path"], STAR2),
    (["--graph", "w.csv"], [[0, 2, 0.5], [2, 0, 1], [0.5, 1, 0]]),
])
def test_a_fit_of_three_has_the_covariances_the_objective_and_a_proof(views, options, weights):
    np.savetxt(views.folder / "w.csv", weights, delimiter=",")
    found = views.fit("--cov", "identity:3", *options)
    assert (found["n"], found["dims"], found["k"]) == (120, [6, 5, 4], 3)
    assert found["weights"] == weights
    assert found["certified"] is True and found["proof"] == "identity" and abs(found["gap"]) <= 1e-9
    assert found["singular_B"] == [] and max(found["constraint_residuals"]) < 1e-10
    mapped = views.mapped()
    for values in mapped:
        assert np.allclose(np.cov(values, rowvar=False), np.eye(3), atol=1e-9)
    assert objective(mapped, weights) == pytest.approx(found["objective"], rel=1e-9)
    assert found["bound"] == pytest.approx(found["objective"], rel=1e-8)
    pairs = {tuple(entry["domains"]): entry["values"] for entry in found["common_correlations"]}
    assert set(pairs) == {(1, 2), (1, 3), (2, 3)}
    for (i, j), values in pairs.items():
        expected = [np.corrcoef(mapped[i - 1][:, p], mapped[j - 1][:, p])[0, 1] for p in range(3)]
        assert np.allclose(values, expected, atol=1e-9)
    info = views.folder.ok("info", "v", "--json").json
    assert all(info[key] == found[key] for key in found if key not in ("seconds", "notes"))


def test_no_other_feasible_maps_do_better(views):
    found = views.fit("--cov", "identity:2")
    mapped = views.mapped()
    random = np.random.default_rng(1)
    for _ in range(50):
        turned = [values @ np.linalg.qr(random.normal(size=(2, 2)))[0] for values in mapped]
        assert objective(turned, FULL) >= found["objective"] - 1e-9


def test_every_start_says_where_it_ended(views):
    starts = views.fit("--cov", "identity:3")["starts"]
    assert len(starts) >= 3 and {"kind", "value", "sweeps", "agreement"} <= set(starts[0])
    assert {"spectral", "random"} <= {start["kind"] for start in starts}
    assert any(start["agreement"] for start in starts)
    best = max(start["value"] for start in starts)
    for start in starts:
        assert start["sweeps"] >= 1 and start["value"] <= best
        assert start["below_best"] == pytest.approx((best - start["value"]) / abs(best), abs=1e-9)
    text = views.folder.ok("info", "v").out
    assert "proved: no maps can do better (identity)" in text and "ended at the same maps" in text
    assert "correlations 1–2" in text and "correlations 2–3" in text and "full: each domain with each other" in text


def test_the_same_seed_gives_the_same_model(views):
    views.fit("--cov", "identity:2", "--seed", 5, model="one")
    views.fit("--cov", "identity:2", "--seed", 5, "--threads", 1, model="two")
    views.fit("--cov", "identity:2", "--seed", 5, model="again")
    one, again = ((views.folder / name).read_bytes() for name in ("one", "again"))
    assert one == again and b'"setting_seed":"5"' in one
    assert np.allclose(tensor(views.folder / "one", "weights1"), tensor(views.folder / "two", "weights1"), atol=1e-9)
    random = [[start["value"] for start in views.fit("--cov", "identity:2", "--seed", seed, "--max-sweeps", 1)["starts"]
               if start["kind"] == "random"] for seed in (5, 6)]
    assert random[0] and random[0] != random[1]


def general(views, random):
    for i in range(1, 4):
        factor = random.normal(size=(3, 3))
        np.save(views.folder / f"c{i}.npy", factor @ factor.T)
    return [word for i in range(1, 4) for word in (f"--cov{i}", f"file:c{i}.npy")]


def test_each_domain_may_have_its_own_covariance(views):
    options = general(views, np.random.default_rng(3))
    found = views.fit(*options)
    for i, values in enumerate(views.mapped(), 1):
        C = np.load(views.folder / f"c{i}.npy")
        assert np.allclose(np.cov(values, rowvar=False), C, atol=1e-9 * np.abs(C).max())
    assert found["cov_ranks"] == [3, 3, 3] and found["gap"] >= 0
    views.folder.ok("verify", "v", *X)


@pytest.mark.parametrize("spec", ["identity", "correlation:3", "data3:4", "sd:sd.csv"])
def test_one_covariance_for_all(views, spec):
    np.savetxt(views.folder / "sd.csv", [[1, 2, 0.5]], delimiter=",")
    found = views.fit("--cov", spec)
    assert found["k"] == (3 if spec in ("correlation:3", "sd:sd.csv") else 4)
    if spec == "data3:4":
        for values in views.mapped():
            assert np.allclose(np.cov(values, rowvar=False), np.cov(views.data[2], rowvar=False), atol=1e-9)
    views.folder.ok("verify", "v", *X)


def test_what_is_not_proved_is_said_plainly(folder):
    """Noise without anything in common has several nearly equal answers: that the one found is the best stays open."""
    random = np.random.default_rng(1)
    for name in X:
        np.save(folder / name, random.normal(size=(40, 5)))
    result = folder.ok("fit", *X, "--cov", "identity:4", "-o", "v", "--json")
    found = result.json
    assert found["certified"] is False and 1e-4 < found["gap"] < 0.1 and found["bound"] < found["objective"]
    assert "warning: the maps are not proven to be the best" in result.err
    assert f"what they maximize is within {100 * found['gap']:.2g} %" in result.err
    text = folder.ok("info", "v").out
    assert f"NOT PROVED: better maps may exist, by up to {100 * found['gap']:.3g} %" in text
    assert "proved: no maps" not in text
    verified = folder.ok("verify", "v", *X, "--json").json
    assert verified["verified"] is True and verified["certified"] is False
    assert verified["gap"] == pytest.approx(found["gap"], rel=0.05) and verified["claimed_gap"] == found["gap"]
    assert "NOT PROVED" in folder.ok("verify", "v", *X).out
    folder.ok("report", "v", "-o", "r.html")
    page = (folder / "r.html").read_text()
    assert "NOT PROVED" in page and f"{100 * found['gap']:.3g} %" in page
    stopped = folder.ok("fit", *X, "--cov", "identity:4", "--max-sweeps", 1, "-o", "w", "--json")
    assert "the search stopped at a limit" in stopped.err and not any(s["converged"] for s in stopped.json["starts"][:2])
    assert "a limit on sweeps, seconds or trials ended the search" in folder.ok("info", "w").out
    # maps worse than claimed are refused, and a claim that they are the best too
    for metadata in ({"gap": repr(found["gap"] / 10)}, {"certified": "true", "gap": "0"}):
        folder.ok("fit", *X, "--cov", "identity:4", "-o", "v", "-q")
        rewritten(folder / "v", {}, metadata)
        result = folder.run("verify", "v", *X)
        assert result.status == 3 and ("more than the" in result.err or "not the best" in result.err)


def test_limits_belong_to_more_than_two_domains(folder):
    for option in ("--max-sweeps", "--max-seconds"):
        assert "two have a closed form" in folder.fails(2, "fit", "a.npy", "b.npy", option, 5, "-o", "m")


def test_max_seconds_is_taken(views):
    assert views.fit("--cov", "identity:2", "--max-seconds", 60)["certified"] is True


def test_two_domains_are_reported_as_before_and_more(folder):
    found = folder.ok("fit", "a.npy", "b.npy", "-o", "m", "--json").json
    new = {"weights", "certified", "gap", "proof", "starts", "common_correlations", "samples_residual", "scale", "notes"}
    assert list(key for key in found if key not in new) == [
        "n", "total_weight", "dims", "feature_names", "names", "k", "ranks", "cov_ranks", "covariances", "objective",
        "bound", "constraint_residuals", "constrained", "calibration_folds", "warnings", "singular_A", "singular_B",
        "min_gap", "route", "seconds"]
    assert (found["weights"], found["certified"], found["gap"]) == ([[0, 1], [1, 0]], True, 0)
    assert (found["proof"], found["starts"]) == ("closed form", [])
    assert np.allclose(found["common_correlations"][0]["values"], found["singular_B"], atol=1e-10)
    np.savetxt(folder / "w.csv", [[0, 3], [3, 0]], delimiter=",")
    scaled = folder.ok("fit", "a.npy", "b.npy", "--graph", "w.csv", "-o", "n", "--json").json
    assert scaled["objective"] == pytest.approx(3 * found["objective"])
    folder.ok("verify", "n", "a.npy", "b.npy")


def test_names_ridges_ranks_and_extra_samples_by_domain(views):
    np.save(views.folder / "more.npy", views.data[2] * 1.1)
    found = views.folder.ok("fit", "optical=x.npy", "y.npy", "thermal=z.npy", "--cov", "identity:2", "--max-rank", "4,3,2",
                            "--ridge", "0,0.1,auto", "--extra3", "more.npy", "-o", "v", "--json").json
    assert found["names"] == ["optical", None, "thermal"] and found["ranks"] == [4, 3, 2]
    assert [entry["samples"] for entry in found["constrained"]] == [120, 120, 240]
    assert found["constrained"][0]["ridge"] == 0 and found["constrained"][1]["ridge"] > 0
    views.folder.ok("verify", "v", *X, "--extra3", "more.npy")
    assert "give --extra3" in views.folder.run("verify", "v", *X).err
    assert "optical" in views.folder.ok("info", "v").out


def test_summaries_of_three_merge_and_fit(views):
    for i, rows in enumerate((slice(0, 50), slice(50, 120))):
        for name, values in zip(X, views.data):
            np.save(views.folder / f"{i}{name}", values[rows])
        views.folder.ok("summarize", *(f"{i}{name}" for name in X), "-o", f"s{i}")
    assert views.folder.ok("merge", "s0", "s1", "-o", "s", "--json").json["dims"] == [6, 5, 4]
    merged = views.folder.ok("fit", "--summary", "s", "--cov", "identity:3", "-o", "w", "--json").json
    whole = views.fit("--cov", "identity:3")
    assert merged["objective"] == pytest.approx(whole["objective"], rel=1e-9)
    views.folder.ok("verify", "w", *X)
    assert views.folder.ok("fit", *X, "--dry-run", "--json").json["dims"] == [6, 5, 4]
    assert "'z.npy' (120 samples × 4 features)" in views.folder.ok("summarize", *X, "--dry-run").out
    options = general(views, np.random.default_rng(3))
    views.folder.ok("fit", "--summary", "s", *options, "-o", "w")
    assert "there are 3 domains" in views.folder.fails(2, "fit", "--summary", "s", "--cov", "data4:2", "-o", "q")


def test_weights_missing_values_and_keys_of_three(views):
    folder = views.folder
    counts = np.arange(120) % 3
    np.save(folder / "w.npy", counts)
    for name, values in zip(X, views.data):
        np.save(folder / f"r{name}", np.repeat(values, counts, axis=0))
    weighted = views.fit("--cov", "identity:2", "--weights", "w.npy")
    repeated = folder.ok("fit", *(f"r{name}" for name in X), "--cov", "identity:2", "-o", "w", "--json").json
    assert weighted["objective"] == pytest.approx(repeated["objective"], rel=1e-9)
    folder.ok("verify", "v", *X, "--weights", "w.npy")
    gap = views.data[1].copy()
    gap[4, 2] = np.nan
    np.save(folder / "gap.npy", gap)
    message = folder.fails(3, "fit", "x.npy", "gap.npy", "z.npy", "-o", "q")
    assert "1 of 120 matched samples has missing values: 'gap.npy' at row 5, column 3" in message
    assert folder.ok("fit", "x.npy", "gap.npy", "z.npy", "--missing", "drop", "-o", "q", "--json").json["n"] == 119
    order = np.random.default_rng(2).permutation(120)
    for name, values, rows in (("kx.csv", views.data[0], range(120)), ("ky.csv", views.data[1], order),
                               ("kz.csv", views.data[2], range(10, 120))):
        lines = [",".join(["id", *(f"f{f}" for f in range(values.shape[1]))])]
        lines += [",".join([f"k{j}", *(repr(float(value)) for value in values[j])]) for j in rows]
        (folder / name).write_text("\n".join(lines) + "\n")
    result = folder.ok("fit", "kx.csv", "ky.csv", "kz.csv", "--id", "id", "-o", "q", "--json")
    assert result.json["n"] == 110 and "10 samples of 'kx.csv' have no partner" in result.err
    for name, values in zip(X, views.data):
        np.save(folder / name, values[10:])
    folder.ok("verify", "q", *X)


def test_translate_from_several_is_least_squares(views):
    views.folder.ok("fit", "optical=x.npy", "radar=y.npy", "thermal=z.npy", "--cov1", "identity:4", "--cov2", "identity:4",
                    "--cov3", "identity:4", "-o", "v")
    views.folder.ok("translate", "v", "--from", "2,3", "--to", 1, "y.npy", "z.npy", "-o", "t.npz", "--stderr", "e.npy")
    translated = np.load(views.folder / "t.npz")["X1_from_2_3"]
    # domain 2 enters by four of its five directions, so not better than all, and better than domain 3 alone
    errors = [((views.data[0] - guess) ** 2).sum() for guess in
              (lmmse(views.data, 0, [1, 2]), translated, lmmse(views.data, 0, [2]))]
    assert errors[0] <= errors[1] * (1 + 1e-9) and errors[1] < errors[2]
    assert np.load(views.folder / "e.npy").shape == (120, 6)
    result = views.folder.ok("translate", "v", "--from", "thermal,radar", "--to", "optical", "z.npy", "y.npy", "-o", "u.npy")
    assert "domains 3 and 2 as samples of domain 1" in result.out
    assert np.allclose(np.load(views.folder / "u.npy"), translated, atol=1e-9)


def test_translate_from_all_directions_is_the_regression(views):
    """Four directions of domain 3 are all it has: from it alone, the translation is least squares."""
    views.fit("--cov", "identity:4")
    views.folder.ok("translate", "v", "--from", 3, "--to", 2, "z.npy", "-o", "t.npy", "--interval", 0.9, "--lower", "l.npy",
                    "--upper", "u.npy")
    assert np.allclose(np.load(views.folder / "t.npy"), lmmse(views.data, 1, [2]), atol=1e-8)
    low, high = np.load(views.folder / "l.npy"), np.load(views.folder / "u.npy")
    assert 0.8 < ((low <= views.data[1]) & (views.data[1] <= high)).mean() < 0.97


def test_a_sample_that_lacks_a_domain_is_translated_from_the_others(views):
    views.fit("--cov", "identity:4")
    gap = views.data[1].copy()
    gap[4, 2] = np.nan
    np.save(views.folder / "gap.npy", gap)
    work = ["translate", "v", "--from", "2,3", "--to", 1, "gap.npy", "z.npy", "-o", "t.npy", "--stderr", "e.npy"]
    assert "'gap.npy' at row 5, column 3" in views.folder.fails(3, *work)
    result = views.folder.ok(*work, "--missing", "pass", "--json")
    assert "the other inputs are used" in result.err and result.json["missing"] == 1
    both, errors = np.load(views.folder / "t.npy"), np.load(views.folder / "e.npy")
    assert np.allclose(both[4], lmmse(views.data, 0, [2])[4], atol=1e-8) and not np.isnan(both).any()
    assert errors[4].mean() > 1.05 * np.delete(errors, 4, axis=0).mean()
    views.folder.ok(*work, "--missing", "drop")
    assert np.load(views.folder / "t.npy").shape == (119, 6)
    none = views.data[2].copy()
    none[4] = np.nan
    np.save(views.folder / "z.npy", none)
    result = views.folder.ok(*work, "--missing", "pass")
    assert "1 that no input has is NaN in the result" in result.err
    assert np.isnan(np.load(views.folder / "t.npy")[4]).all() and np.isnan(np.load(views.folder / "t.npy")).sum() == 6


def test_exact_and_lsqr_translate_from_one(views):
    views.fit("--cov", "identity:3")
    for method in ("exact", "mahalanobis", "lsqr"):
        views.folder.ok("translate", "v", "--from", 3, "--to", 1, "z.npy", "-o", "t.npy", "--method", method)
        assert "translates from one domain; from 2 together only lmmse does" in views.folder.fails(
            2, "translate", "v", "--from", "2,3", "--to", 1, "y.npy", "z.npy", "-o", "t.npy", "--method", method)


def test_keys_of_several_inputs_must_agree(views):
    views.fit("--cov", "identity:3")
    for name, values, keys in (("ky.csv", views.data[1], range(120)), ("kz.csv", views.data[2], [1, 0, *range(2, 120)])):
        (views.folder / name).write_text("".join(f"k{key}," + ",".join(map(repr, map(float, row))) + "\n"
                                                 for key, row in zip(keys, values)))
    work = ["translate", "v", "--from", "2,3", "--to", 1, "ky.csv", "kz.csv", "--id", 1, "-o", "t.csv"]
    assert "'ky.csv' has the key 'k0' where 'kz.csv' has 'k1'" in views.folder.fails(3, *work)
    text = (views.folder / "kz.csv").read_text().splitlines(keepends=True)
    (views.folder / "kz.csv").write_text("".join([text[1], text[0], *text[2:]]))
    views.folder.ok(*work)
    assert (views.folder / "t.csv").read_text().splitlines()[1].startswith("k1,")


def test_fuse_takes_the_domains_that_are_there(views):
    views.folder.ok("fit", "optical=x.npy", "y.npy", "thermal=z.npy", "--cov", "identity:3", "-o", "v")
    views.folder.ok("fuse", "v", *X, "-o", "f.npy")
    assert np.allclose(np.load(views.folder / "f.npy"), np.mean(views.mapped(), axis=0), atol=1e-9)
    views.folder.ok("fuse", "v", "--domains", "1,3", "x.npy", "z.npy", "-o", "f.npy")
    mapped = views.mapped()
    design = np.column_stack([mapped[0], mapped[2]])
    expected = design @ np.linalg.lstsq(design, np.mean(mapped, axis=0), rcond=None)[0]
    assert np.allclose(np.load(views.folder / "f.npy"), expected, atol=1e-8)
    views.folder.ok("fuse", "v", "--domains", "thermal,optical", "z.npy", "x.npy", "-o", "g.npy")
    assert np.allclose(np.load(views.folder / "g.npy"), expected, atol=1e-8)
    views.folder.ok("apply", "v", "--domain", "thermal", "z.npy", "-o", "g.npy")
    assert np.allclose(np.load(views.folder / "g.npy"), mapped[2])


def test_calibration_of_three(views):
    assert views.fit("--cov", "identity:2", "--calibrate", 5)["calibration_folds"] == 5
    views.folder.ok("translate", "v", "--from", "2,3", "--to", 1, "y.npy", "z.npy", "-o", "t.npy", "--stderr", "e.npy")
    missed = np.sqrt(((views.data[0] - np.load(views.folder / "t.npy")) ** 2).mean(axis=0))
    assert np.allclose(np.load(views.folder / "e.npy").mean(axis=0), missed, rtol=0.2)


def test_verify_of_three_recomputes_everything(views):
    found = views.fit("--cov", "identity:3")
    verified = views.folder.ok("verify", "v", *X, "--json").json
    assert verified["verified"] is True and verified["certified"] is True and verified["proof"] == "identity"
    assert len(verified["constraint_residuals"]) == len(verified["mean_residuals"]) == 3
    assert verified["objective"] == pytest.approx(found["objective"], rel=1e-9)
    assert verified["best_objective"] == pytest.approx(found["objective"], rel=1e-8)
    np.save(views.folder / "other.npy", views.data[2][::-1])
    result = views.folder.run("verify", "v", "x.npy", "y.npy", "other.npy", "--json")
    assert result.status == 3 and result.json["verified"] is False
    # feasible maps that are not the best, with their own objective
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    mapped = views.mapped()
    mapped[0] = mapped[0] @ turn.T
    rewritten(views.folder / "v", {"weights1": turn @ tensor(views.folder / "v", "weights1")},
              {"objective": repr(objective(mapped, FULL))})
    result = views.folder.run("verify", "v", *X, "--json")
    assert result.status == 3 and max(result.json["constraint_residuals"]) < 1e-9
    assert result.json["shortfall"] > 1e-3 and "not the best" in result.err


def test_export_of_three(views):
    found = views.fit("--cov", "identity:3", "--graph", "path")
    shapes = views.folder.ok("export", "v", "-o", "v.npz", "--json").json["arrays"]
    arrays = np.load(views.folder / "v.npz")
    assert shapes["A3"] == [3, 4] and "correlations" not in shapes
    assert arrays["graph"].tolist() == found["weights"] and arrays["certified"].item() == 1
    assert np.allclose(arrays["correlations_1_3"].reshape(-1), found["common_correlations"][1]["values"])
    mapped = views.mapped()
    for i, values in enumerate(views.data):
        assert np.allclose(values @ arrays[f"A{i + 1}"].T + arrays[f"b{i + 1}"].reshape(-1), mapped[i], atol=1e-9)


@pytest.mark.parametrize("inputs", [[], X])
def test_the_report_of_three_shows_graph_correlations_starts_and_gap(views, inputs):
    found = views.folder.ok("fit", "optical=x.npy", "y.npy", "z.npy", "--cov", "identity:3", "--graph", "star:1",
                            "--calibrate", 4, "-o", "v", "--json").json
    views.folder.ok("report", "v", *inputs, "-o", "r.html")
    page = (views.folder / "r.html").read_text()
    for part in ("Graph: which domains are compared", "Compared: 1–2, 1–3.", "Correlations of the common directions",
                 "Agreement of the starts", "may fall short of the best by", "Optimum proved", "optical (domain 1)",
                 "Error bars", "R² of each feature", "Direction 3: correlations", "domain 3, from all others"):
        assert part in page, part
    for entry in found["common_correlations"]:
        assert all(f"{value:.3f}" in page for value in entry["values"])
    assert "Canonical correlations" not in page and "nan" not in page
    assert (">found<" in page) == bool(inputs)
    assert ("Matched samples in the first common directions" in page) == bool(inputs)


def test_measured_r2_of_three_is_that_of_the_translation(views):
    from test_report import Page
    views.fit("--cov", "identity:3")
    views.folder.ok("report", "v", *X, "-o", "r.html")
    views.folder.ok("report", "v", "-o", "claimed.html")
    views.folder.ok("translate", "v", "--from", "1,2", "--to", 3, "x.npy", "y.npy", "-o", "t.npy")
    truth = views.data[2]
    expected = 1 - ((truth - np.load(views.folder / "t.npy")) ** 2).sum(0) / ((truth - truth.mean(0)) ** 2).sum(0)
    for name in ("r.html", "claimed.html"):
        title, rows = Page(views.folder / name).lists[-1]
        assert title == "domain 3, from all others"
        assert sorted(value for _, value in rows) == pytest.approx(sorted(expected), abs=0.0051)


@pytest.mark.parametrize("status, words, arguments", [
    (2, "two inputs or more", ["fit", "x.npy", "-o", "q"]),
    (5, "nothing.npy", ["fit", "x.npy", "y.npy", "nothing.npy", "-o", "q"]),
    (3, "domain 3: 'short.npy' (100 samples × 4 features)", ["fit", "x.npy", "y.npy", "short.npy", "-o", "q"]),
    (3, "--graph apart.csv: no path of positive weights connects domain 3", ["fit", *X, "--graph", "apart.csv", "-o", "q"]),
    (3, "weights must not be negative", ["fit", *X, "--graph", "minus.csv", "-o", "q"]),
    (3, "weight (1, 2) is 1 but weight (2, 1) is 2", ["fit", *X, "--graph", "skew.csv", "-o", "q"]),
    (3, "3 domains need 3×3", ["fit", *X, "--graph", "small.csv", "-o", "q"]),
    (3, "from 1 to 3", ["fit", *X, "--graph", "star:4", "-o", "q"]),
    (2, "did you mean 'full'", ["fit", *X, "--graph", "ful", "-o", "q"]),
    (3, "domain 2", ["fit", "x.npy", "constant.npy", "z.npy", "-o", "q"]),
    (4, "rank 4 at most", ["fit", *X, "--cov", "identity:5", "-o", "q"]),
    (2, "--cov2", ["fit", *X, "--cov1", "identity:2", "--cov3", "identity:2", "-o", "q"]),
    (2, "--cov4 is given, but there are 3 domains", ["fit", *X, "--cov4", "identity:2", "-o", "q"]),
    (2, "--extra4 is given, but there are 3 domains", ["fit", *X, "--extra4", "x.npy", "-o", "q"]),
    (2, "3 as in A,B,C", ["fit", *X, "--ridge", "1,2", "-o", "q"]),
    (2, "two folders", ["fit", *X, "--match", "a/b", "-o", "q"]),
    (3, "compares the samples of two domains; there are 3", ["fit", *X, "--cov", "likelihood2", "-o", "q"]),
    (2, "--covs likelihood2 compares two domains; there are 3", ["tune", *X, "--covs", "identity,likelihood2"]),
    (2, "--criterion partner compares two domains; there are 3", ["fit", *X, "--tune", "--criterion", "partner", "-o", "q"]),
    (2, "--reference compares two domains; there are 3", ["tune", *X, "--labels", "l.csv", "--reference", "x.npy",
                                                          "--reference-labels", "l.csv"]),
    (3, "from 1 to 3", ["tune", "absent.npy", "y.npy", "z.npy", "--graph", "star:4"]),
    (2, "--extra4 is given, but there are 3 domains", ["tune", *X, "--extra4", "x.npy"]),
    (3, "'short.csv' holds 5 labels for 120 matched samples", ["tune", *X, "--labels", "short.csv"]),
    (2, "the model has 3 domains, and 2 inputs are given", ["verify", "v", "x.npy", "y.npy"]),
    (2, "2 inputs are given; give all, or none", ["report", "v", "x.npy", "y.npy", "-o", "r.html"]),
    (2, "2 inputs are given; say with --domains", ["fuse", "v", "x.npy", "y.npy", "-o", "f.npy"]),
    (2, "--domains names 2 domains for 1 inputs", ["fuse", "v", "--domains", "1,3", "x.npy", "-o", "f.npy"]),
    (2, "--from names 2 domains for 1 input", ["translate", "v", "--from", "2,3", "--to", "1", "y.npy", "-o", "t.npy"]),
    (2, "same domain", ["translate", "v", "--from", "1,3", "--to", "1", "x.npy", "z.npy", "-o", "t.npy"]),
    (2, "--to names one domain", ["translate", "v", "--from", "3", "--to", "1,2", "z.npy", "-o", "t.npy"]),
    (2, "--from names domain 2 twice", ["translate", "v", "--from", "2,2", "--to", "1", "y.npy", "y.npy", "-o", "t.npy"]),
    (2, "or as optical; there is no 'optica', did you mean", ["apply", "v", "--domain", "optica", "x.npy", "-o", "t.npy"]),
    (2, "the model has domains 1 to 3", ["apply", "v", "--domain", "4", "x.npy", "-o", "t.npy"]),
    (3, "ends before", ["translate", "v", "--from", "1,3", "--to", "2", "x.npy", "short.npy", "-o", "t.npy"]),
])
def test_errors_say_what_and_where(views, status, words, arguments):
    folder = views.folder
    folder.ok("fit", "optical=x.npy", "y.npy", "z.npy", "--cov", "identity:2", "-o", "v", "-q")
    np.save(folder / "short.npy", views.data[2][:100])
    np.save(folder / "constant.npy", np.ones((120, 3)))
    np.savetxt(folder / "short.csv", np.zeros(5), fmt="%d")
    for name, weights in (("apart", [[0, 1, 0], [1, 0, 0], [0, 0, 0]]), ("minus", [[0, 1, -1], [1, 0, 1], [-1, 1, 0]]),
                          ("skew", [[0, 1, 1], [2, 0, 1], [1, 1, 0]]), ("small", [[0, 1], [1, 0]])):
        np.savetxt(folder / f"{name}.csv", weights, delimiter=",")
    assert words in folder.fails(status, *arguments)


@pytest.mark.parametrize("graph, words", [
    ("apart.csv", "--graph apart.csv: no path of positive weights connects domain 3 with domain 1"),
    ("minus.csv", "--graph minus.csv: weight (1, 3) is -1; weights must not be negative"),
    ("skew.csv", "--graph skew.csv: weight (1, 2) is 1 but weight (2, 1) is 2"),
    ("small.csv", "--graph small.csv: the weights are 2×2, but 3 domains need 3×3"),
    ("star:4", "graph 'star:4': the centre of a star must be a domain from 1 to 3"),
])
def test_a_graph_that_cannot_be_is_told_before_anything_is_read(views, graph, words):
    for name, weights in (("apart", [[0, 1, 0], [1, 0, 0], [0, 0, 0]]), ("minus", [[0, 1, -1], [1, 0, 1], [-1, 1, 0]]),
                          ("skew", [[0, 1, 1], [2, 0, 1], [1, 1, 0]]), ("small", [[0, 1], [1, 0]])):
        np.savetxt(views.folder / f"{name}.csv", weights, delimiter=",")
    error = views.folder.fails(3, "fit", "absent.npy", "y.npy", "z.npy", "--graph", graph, "-o", "q")
    assert words in error and "absent.npy" not in error
    assert error.count(graph) == 1
    views.folder.ok("summarize", *X, "-o", "s", "-q")
    error = views.folder.fails(3, "fit", "--summary", "s", "--extra1", "absent.npy", "--graph", graph, "-o", "q")
    assert words in error


def test_tuning_of_three_is_that_of_refitting_by_hand(views):
    found = views.folder.ok("tune", *X, "--ranks", "2", "--max-ranks", "all", "--ridges", "0.1", "--folds", 3,
                            "--repeats", 1, "--graph", "star:2", "--permutations", 49, "-o", "t.html", "--json").json
    assert found["criterion"] == "translation" and found["n"] == 120 and found["chosen"]["cov"] == "identity:2"
    scores = found["trials"][0]
    assert set(scores) == {"cov", "rank", "max_rank", "ridge", "towards", "distance", "translation"}
    assert 0 < scores["translation"]["mean"] < 0.6 and 0 < scores["distance"]["mean"] < 0.3
    assert found["baselines"]["target_only"]["translation"]["mean"] == 1 and found["baselines"]["no_map"] == {}
    test = found["permutation_test"]
    assert test["kind"] == "permutations" and test["remarks"] == []
    assert test["significant"] == 3 and test["p_values"][0] == 0.02
    page = (views.folder / "t.html").read_text()
    assert "120 matched samples" in page and "3 common directions are beyond chance" in page
    text = views.folder.ok("tune", *X, "--ranks", "1,2,3", "--ridges", "0,0.1").out
    assert text.startswith("120 matched samples, 5 folds") and "nothing known of the other domains" in text
    assert "--cov identity:3" in text


def test_fit_of_three_takes_the_choice_of_tune(views):
    options = ["--ranks", "1,3", "--max-ranks", "all", "--ridges", "0,0.1", "--graph", "path"]
    tuned = views.fit("--tune", *options)
    chosen = views.folder.ok("tune", *X, *options, "--json").json["chosen"]
    assert tuned["tuning"]["chosen"] == chosen and tuned["weights"] == STAR2 and tuned["certified"] is True
    plain = views.fit("--cov", chosen["cov"], "--ridge", chosen["ridge"], "--graph", "path", model="w")
    assert plain["objective"] == pytest.approx(tuned["objective"], rel=1e-9)  # the folds are merged
    calibrated = views.fit("--tune", *options, "--calibrate", 5, model="c")
    assert calibrated["objective"] == pytest.approx(tuned["objective"], rel=1e-9)


def test_classes_of_three_are_told_by_fused_points(folder):
    random = np.random.default_rng(2)
    labels = np.arange(120) % 4
    for name, d in zip(X, (6, 5, 4)):
        np.save(folder / name, random.normal(size=(4, d))[labels] + 0.7 * random.normal(size=(120, d)))
    np.savetxt(folder / "classes.csv", labels, fmt="%d")
    command = ["tune", *X, "--ranks", "1,3", "--ridges", "0.1", "--labels", "classes.csv"]
    found = folder.ok(*command, "--json").json
    assert found["criterion"] == "classification" and found["tie_break"] == "translation"
    by_rank = {trial["rank"]: trial["classification"]["mean"] for trial in found["trials"]
               if trial["cov"].startswith("identity")}
    assert by_rank[3] < 0.15 < by_rank[1]
    assert by_rank[3] < found["baselines"]["target_only"]["classification"]["mean"]
    assert {trial["cov"].split(":")[0] for trial in found["trials"]} == {"identity", "correlation"}
    text = folder.ok(*command).out
    assert "(all features, no map)" in text and "(the best domain alone)" in text


def test_numbered_options_beyond_those_of_the_help_work(views):
    more = ["x.npy", "y.npy", "z.npy", "x.npy", "y.npy"]
    options = [word for i in range(1, 6) for word in (f"--cov{i}", "identity:2")]
    found = views.folder.ok("fit", *more, *options, "-o", "v", "--json").json
    assert found["covariances"] == ["identity:2"] * 5
    text = views.folder.ok("fit", "--help").out
    assert "--cov3" in text and "--cov4" not in text and "--cov4" not in views.folder.ok("man").out.replace("\\-", "-")


def test_a_summary_of_three_is_described(views):
    views.folder.ok("summarize", "optical=x.npy", "y.npy", "z.npy", "-o", "s")
    assert json.loads(views.folder.ok("info", "s", "--json").out)["names"] == ["optical", None, None]
    assert "matched samples" in views.folder.ok("info", "s").out


@pytest.mark.parametrize("case", ["identity_full", "identity_star", "many_identity", "same_path", "commuting_weighted",
                                  "unequal_ranks", "near_full"])
def test_cases_of_the_oracle(folder, case):
    known = json.loads(shared(f"oracle/multi/{case}.json").read_text())
    inputs = [shared(f"oracle/multi/{case}.x{i}.npy") for i in range(1, known["domains"] + 1)]
    np.savetxt(folder / "w.csv", known["weights"], delimiter=",")
    folder_of_files = shared("oracle/multi")
    options = [word for i, spec in enumerate(known["cov"], 1)
               for word in (f"--cov{i}", spec.replace("file:", f"file:{folder_of_files}/"))]
    found = folder.ok("fit", *inputs, *options, "--graph", "w.csv", "-o", "v", "--json").json
    assert found["objective"] == pytest.approx(known["objective"], rel=1e-9) and found["certified"] is True
    verified = folder.ok("verify", "v", *inputs, "--json").json
    assert verified["certified"] is True and verified["gap"] <= 1e-8
