"""Few pairs, many features: truncation, ridge, extra samples and tuning from the command line; the radar experiment."""

import numpy as np
import pytest
from sklearn import datasets

from conftest import write_png


@pytest.fixture
def wide(folder):
    """c.npy and d.npy: 24 pairs of 40 features that share three causes, labels of the pairs, and samples without partner."""
    random = np.random.default_rng(1)
    mixing = random.normal(size=(2, 3, 40))
    causes = random.normal(size=(64, 3))
    folder.c, folder.d = (causes @ mixing[i] + 0.3 * random.normal(size=(64, 40)) for i in (0, 1))
    np.save(folder / "c.npy", folder.c[:24])
    np.save(folder / "d.npy", folder.d[:24])
    np.save(folder / "more.npy", folder.c[24:])
    np.save(folder / "labels.npy", (causes[:24, 0] > 0).astype(int))
    return folder


def scatter(X):
    return np.cov(X, rowvar=False)


def linear_part(folder, model, X):
    """A of the map, from what `apply` makes of the unit vectors."""
    np.save(folder / "units.npy", np.vstack([np.zeros(X.shape[1]), np.eye(X.shape[1])]))
    folder.ok("apply", model, "--domain", 1, "units.npy", "-o", "z.npy", "-q")
    Z = np.load(folder / "z.npy")
    return (Z[1:] - Z[0]).T


def test_a_saturated_fit_is_warned_of_and_still_written(wide):
    result = wide.ok("fit", "c.npy", "d.npy", "--cov", "identity:3", "-o", "m")
    assert "warning: the fit is saturated" in result.err and "--max-rank" in result.err
    assert wide.ok("fit", "c.npy", "d.npy", "--cov", "identity:3", "-o", "m", "-q").err == ""
    assert wide.ok("info", "m", "--json").json["warnings"]
    assert wide.ok("fit", "c.npy", "d.npy", "--cov", "identity:3", "--max-rank", 6, "-o", "m").err == ""


def test_a_half_saturated_fit_is_warned_of_first(folder):
    random = np.random.default_rng(3)
    np.save(folder / "c.npy", random.normal(size=(30, 20)))
    np.save(folder / "d.npy", random.normal(size=(30, 20)) * np.r_[1e6, np.ones(19)])
    result = folder.ok("fit", "c.npy", "d.npy", "--cov", "identity:3", "-o", "m")
    assert "11 of their 20 canonical correlations are 1 whatever the data" in result.err
    first = folder.ok("info", "m", "--json").json["warnings"][0]
    assert first.startswith("the fit is half saturated") and "--max-rank" in first


@pytest.fixture
def wine(folder):
    """w1.npy, w2.npy: chemistry of 178 wines. One feature of domain 2 is a thousand times larger than the others."""
    wines = datasets.load_wine().data
    np.save(folder / "w1.npy", wines[:, :6])
    np.save(folder / "w2.npy", wines[:, 6:])
    return folder


def test_features_are_scaled_where_units_decide(wine):
    def r2(*options):
        found = wine.ok("tune", "w1.npy", "w2.npy", "--ridges", "0.1,1,10", "--max-ranks", "all", *options, "--json").json
        return 1 - min(trial["translation"]["mean"] for trial in found["trials"]), found

    raw, told = r2()
    assert len(told["remarks"]) == 1 and "1 of the 7 features of domain 2 holds 99 %" in told["remarks"][0]
    scaled, quiet = r2("--scale")
    assert raw < 0.17 and scaled > 0.3 and quiet["remarks"] == [] and quiet["scale"] is True
    assert "use --scale, which" in wine.ok("fit", "w1.npy", "w2.npy", "--ridge", 0.1, "-o", "raw").err
    fitted = wine.ok("fit", "w1.npy", "w2.npy", "--ridge", 0.1, "--cov", "identity:3", "--scale", "-o", "m", "--json")
    assert fitted.err == "" and fitted.json["scale"] is True
    wine.ok("verify", "m", "w1.npy", "w2.npy")
    assert "features at unit variance" in wine.ok("info", "m").out
    for i in (1, 2):  # the maps take samples as they are
        w = np.load(wine / f"w{i}.npy")
        np.save(wine / f"u{i}.npy", w / w.std(axis=0, ddof=1))
        wine.ok("apply", "m", "--domain", i, f"w{i}.npy", "-o", f"z{i}.npy", "-q")
    wine.ok("fit", "u1.npy", "u2.npy", "--ridge", 0.1, "--cov", "identity:3", "-o", "u", "-q")
    for i in (1, 2):
        wine.ok("apply", "u", "--domain", i, f"u{i}.npy", "-o", "v.npy", "-q")
        assert np.allclose(np.load(wine / "v.npy"), np.load(wine / f"z{i}.npy"), atol=1e-9)
    tuned = wine.ok("fit", "w1.npy", "w2.npy", "--tune", "--ridges", "0.1,1", "--scale", "-o", "t", "--json").json
    assert tuned["scale"] is True and wine.ok("tune", "w1.npy", "w2.npy", "--scale").out.count("--scale") == 1


def test_the_ridge_holds_for_the_regularized_covariance(wide):
    found = wide.ok("fit", "c.npy", "d.npy", "--cov", "identity:3", "--ridge", "0.5,auto", "--max-rank", "10,8", "-o", "m",
                    "--json").json
    assert found["ranks"] == [10, 8] and max(found["constraint_residuals"]) < 1e-11
    theta = scatter(wide.c[:24])
    ridge = 0.5 * np.trace(theta) / 40
    assert found["constrained"][0] == {"data": 1.0, "ridge": pytest.approx(ridge), "samples": 24}
    assert found["constrained"][1]["data"] == 1 and found["constrained"][1]["ridge"] > 0
    A = linear_part(wide, "m", wide.c)
    assert np.allclose(A @ (theta + ridge * np.eye(40)) @ A.T, np.eye(3), atol=1e-10)
    wide.ok("verify", "m", "c.npy", "d.npy")
    text = wide.ok("info", "m").out
    assert "(Θ: their covariance)" in text and "shrunk by" in text and "domain 1 33.3 %" in text
    wide.ok("fit", "c.npy", "d.npy", "--cov", "identity:3", "-o", "plain")
    assert "hold for" not in wide.ok("info", "plain").out
    wide.ok("report", "m", "-o", "r.html")
    assert "whitened with" in (wide / "r.html").read_text()


def test_extra_samples_count_for_their_domain(wide):
    wide.ok("fit", "c.npy", "d.npy", "--cov", "identity:2", "--max-rank", 5, "--extra1", "more.npy", "-o", "m", "-q")
    A = linear_part(wide, "m", wide.c)
    assert np.allclose(A @ scatter(wide.c) @ A.T, np.eye(2), atol=1e-10)
    wide.ok("verify", "m", "c.npy", "d.npy", "--extra1", "more.npy")
    result = wide.run("verify", "m", "c.npy", "d.npy")
    assert result.status == 3 and "--extra1" in result.err
    message = wide.fails(3, "fit", "a.npy", "b.npy", "--extra1", "more.npy", "-o", "m2")
    assert "40 features" in message and "7" in message


def test_correlation_covariance(wide):
    found = wide.ok("fit", "c.npy", "d.npy", "--cov", "correlation:3", "--max-rank", 6, "-o", "m", "--json").json
    A = linear_part(wide, "m", wide.c)
    assert np.allclose(A @ scatter(wide.c[:24]) @ A.T, np.diag(np.square(found["singular_B"][:3])), atol=1e-10)
    message = wide.fails(4, "fit", "c.npy", "d.npy", "--cov", "correlation:7", "--max-rank", 6, "-o", "m2")
    assert "correlation:6" in message


def test_tune_finds_the_shared_causes_and_fit_takes_the_choice(wide):
    options = ["--ranks", "1,2,3,4,6", "--max-ranks", "4,8,all", "--ridges", "0,0.1", "--folds", "4", "--repeats", "2"]
    found = wide.ok("tune", "c.npy", "d.npy", *options, "--json", "--permutations", 99).json
    assert found["criterion"] == "translation"
    # Rank 6 with max rank 4, for either ridge, is infeasible; towards identity goes with rank 6 and all directions.
    assert (len(found["trials"]), found["infeasible"]) == (30, 2)
    means = [trial["translation"]["mean"] for trial in found["trials"]]
    best = min(found["trials"], key=lambda trial: trial["translation"]["mean"])
    assert {key: best[key] for key in ("cov", "max_rank", "ridge")} == {key: found["best"][key]
                                                                        for key in ("cov", "max_rank", "ridge")}
    assert found["chosen"]["rank"] >= 3 and min(means) < 0.5 and len(found["recommendation"]) == 3
    assert found["permutation_test"]["significant"] >= 3
    model = wide.ok("fit", "c.npy", "d.npy", "--tune", *options, "-o", "m", "--json").json
    assert model["tuning"]["chosen"] == found["chosen"]
    assert model["covariances"][0] == found["chosen"]["cov"]
    wide.ok("verify", "m", "c.npy", "d.npy")


def test_tune_with_labels_writes_a_page(wide):
    result = wide.ok("tune", "c.npy", "d.npy", "--labels", "labels.npy", "--ranks", "2,3", "--max-ranks", "5", "--ridges",
                     "0.1", "-o", "t.html")
    assert "error of classification" in result.out and "→" in result.out and "*" in result.out
    page = (wide / "t.html").read_text()
    assert page.count("<svg") == 5 and "(chosen)" in page  # one for each covariance
    assert "matched samples of domain 2 alone" in page
    np.save(wide / "few.npy", np.zeros(5))
    assert "5 labels for 24 pairs" in wide.fails(3, "tune", "c.npy", "d.npy", "--labels", "few.npy")


def test_tune_repeats_when_pairs_are_few_and_shows_the_baselines(wide):
    labels = ["--labels", "labels.npy", "--ridges", "0.1,1"]
    found = wide.ok("tune", "c.npy", "d.npy", *labels, "--json").json
    assert (found["repeats"], found["tie_break"]) == (10, "partner")
    assert found["trials"][0]["cov"] == "likelihood2" and found["chosen"]["cov"] == "likelihood2"
    assert 0 <= found["baselines"]["target_only"]["classification"]["mean"] < 1
    assert found["baselines"]["target_only"]["translation"]["mean"] == pytest.approx(1)
    text = wide.ok("tune", "c.npy", "d.npy", *labels).out
    assert "(matched samples of domain 2 alone)" in text and "likelihoods first" in text
    np.save(wide / "one.npy", np.load(wide / "c.npy")[:3])
    np.save(wide / "few.npy", np.zeros(2))
    assert "go together" in wide.fails(2, "tune", "c.npy", "d.npy", *labels, "--queries", "one.npy")
    assert "2 labels for 3 samples" in wide.fails(3, "tune", "c.npy", "d.npy", *labels, "--reference", "one.npy",
                                                  "--reference-labels", "few.npy")


def test_a_baseline_that_does_better_is_named(wide):
    """The same samples but for a little noise: no fit of 24 pairs can do better than leaving them as they are."""
    c = np.load(wide / "c.npy")
    np.save(wide / "e.npy", c + 0.01 * np.random.default_rng(0).normal(size=c.shape))
    work = ["c.npy", "e.npy", "--ranks", "2", "--ridges", "1", "--towards", "zero"]
    assert "without a map, does better" in wide.ok("tune", *work).out
    assert "without a map, does better" in wide.ok("fit", *work, "--tune", "-o", "m").out
    assert any("does better" in remark for remark in wide.ok("tune", *work, "--json").json["remarks"])


def test_what_makes_no_sense_is_refused_early(wide):
    assert "did you mean 'correlation'" in wide.fails(2, "tune", "c.npy", "d.npy", "--covs", "corelation")
    assert "--covs" in wide.fails(2, "fit", "c.npy", "d.npy", "--tune", "--cov", "identity:2", "-o", "m")
    assert "auto" in wide.fails(2, "fit", "c.npy", "d.npy", "--ridge", "strong", "-o", "m")
    assert "A,B" in wide.fails(2, "fit", "c.npy", "d.npy", "--max-rank", "1,2,3", "-o", "m")
    assert "--labels" in wide.fails(2, "tune", "c.npy", "d.npy", "--criterion", "classification")
    wide.ok("summarize", "c.npy", "d.npy", "-o", "s", "-q")
    assert "summary" in wide.fails(2, "fit", "--summary", "s", "--tune", "-o", "m")
    assert "folds" in wide.fails(3, "tune", "c.npy", "d.npy", "--folds", 25)
    assert "identity" in wide.fails(2, "fit", "c.npy", "d.npy", "--towards", "nothing", "-o", "m")
    assert "--downstream" in wide.fails(2, "tune", "c.npy", "d.npy", "--criterion", "downstream")
    np.save(wide / "short.npy", np.ones((1, 3)))
    assert "domain 1 has 40 features" in wide.fails(3, "tune", "c.npy", "d.npy", "--downstream", "short.npy")


def test_translations_of_spectra_shrink_towards_identity_and_serve_a_model(wide):
    random = np.random.default_rng(2)
    c = np.load(wide / "c.npy")
    np.save(wide / "e.npy", c + 0.5 + 0.3 * c[:, ::-1] + 0.2 * random.normal(size=c.shape))
    np.save(wide / "model.npy", random.normal(size=(2, 40)))
    found = wide.ok("tune", "c.npy", "e.npy", "--downstream", "model.npy", "--json").json
    assert found["criterion"] == "downstream" and found["expected"]["mean"] < 1
    assert "towards identity" in wide.ok("tune", "c.npy", "e.npy", "--towards", "identity", "--ridges", "0.1").out
    wide.ok("fit", "c.npy", "e.npy", "--towards", "identity", "--ridge", "1e9", "-o", "m", "-q")
    wide.ok("translate", "m", "--from", 2, "--to", 1, "e.npy", "-o", "x.npy", "-q")
    e = np.load(wide / "e.npy")
    assert np.allclose(np.load(wide / "x.npy"), e - e.mean(0) + c.mean(0), atol=1e-6)
    wide.ok("verify", "m", "c.npy", "e.npy")


@pytest.fixture
def chips(folder):
    """Three classes of bright spots, 60 pairs in the layout of SAMPLE; measured ones are shifted, darker and noisy."""
    random = np.random.default_rng(4)
    rows, columns = np.mgrid[0:16, 0:16]
    for label in range(3):
        for kind in ("real", "synth"):
            (folder / "sample" / "qpm" / kind / f"class{label}").mkdir(parents=True)
        for k in range(20):
            top, left = 5 + 3 * label + 0.4 * random.normal(), 8 + random.normal()
            spot = 200 * np.exp(-((rows - top) ** 2 + (columns - left) ** 2) / 6)
            for kind, image in (("synth", spot), ("real", 20 + 0.6 * np.roll(spot, 3, 1) + 12 * random.normal(size=spot.shape))):
                write_png(folder / "sample" / "qpm" / kind / f"class{label}" / f"c{label}_{kind}_{k}.png", np.clip(image, 0, 255))
    return folder


def test_the_radar_experiment_runs_on_its_layout(chips):
    arguments = ["reproduce", "sar", "--data", "sample", "--crop", 12, "--fractions", "0.4,0.5", "--repeat", 2]
    found = chips.ok(*arguments, "--json", "--out", "out").json
    assert [row["matched"] for row in found["rows"]] == [24, 30] and found["size"] == [12, 12]
    for row in found["rows"]:
        scores = row["accuracy"]
        assert scores["tuned"]["nearest"]["mean"] > 0.8
        assert np.sum(row["confusion_tuned"]) == 2 * row["tested"]
    assert {path.name for path in (chips / "out").iterdir()} == {"report.html", "chips.png"}
    again = chips.ok(*arguments, "--json").json
    assert again["rows"] == found["rows"]
    assert "SAMPLE" in chips.fails(5, "reproduce", "sar", "--data", "out")
    assert "--fractions" in chips.fails(2, "reproduce", "sar", "--data", "sample", "--fractions", "2")
