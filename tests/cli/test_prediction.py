"""Fusion, error bars of new samples and the likelihood covariances on the command line."""

import numpy as np
import pytest


def score_covariance(folder, name, domain):
    folder.ok("apply", name, "--domain", domain, f"{'ab'[domain - 1]}.npy", "-o", "z.npy")
    return np.cov(np.load(folder / "z.npy").T)


def test_fuse_is_the_mean_of_both_domains_and_the_estimate_of_one(folder):
    folder.model("--cov", "identity:3")
    result = folder.ok("fuse", "m", "a.npy", "b.npy", "-o", "z.npy", "--json").json
    assert (result["n"], result["k"], result["method"], result["incomplete"]) == (60, 3, "estimate", 0)
    points = {}
    for domain in (1, 2):
        folder.ok("apply", "m", "--domain", domain, f"{'ab'[domain - 1]}.npy", "-o", "p.npy")
        points[domain] = np.load(folder / "p.npy")
    both = (points[1] + points[2]) / 2
    assert np.allclose(np.load(folder / "z.npy"), both)
    folder.ok("fuse", "m", "--domains", 2, "b.npy", "-o", "z.npy")
    slope, *_ = np.linalg.lstsq(points[2], both, rcond=None)
    assert np.allclose(np.load(folder / "z.npy"), points[2] @ slope)
    folder.ok("fuse", "m", "--domains", "2,1", "b.npy", "a.npy", "--method", "mean", "-o", "z.npy")
    assert np.allclose(np.load(folder / "z.npy"), both)


def test_fuse_uses_the_other_domain_of_a_sample_that_lacks_one(folder):
    folder.model("--cov", "identity:3")
    with open(folder / "a.csv", "w") as file:
        for j, row in enumerate(folder.a):
            file.write(",".join("" if j == 4 else repr(float(x)) for x in row) + "\n")
    result = folder.ok("fuse", "m", "a.csv", "b.npy", "-o", "z.npy")
    assert "1 of 60 samples lack a domain (NaN or empty cells) and are fused from the others" in result.err
    folder.ok("fuse", "m", "--domains", 2, "b.npy", "-o", "alone.npy")
    fused, alone = np.load(folder / "z.npy"), np.load(folder / "alone.npy")
    assert np.allclose(fused[4], alone[4]) and not np.allclose(fused[5], alone[5])


def test_fuse_keeps_the_keys_of_its_samples(folder):
    folder.model("--cov", "identity:3")
    for name, X in (("a", folder.a), ("b", folder.b)):
        (folder / f"{name}.csv").write_text("\n".join([",".join(["key", *(f"{name}{i}" for i in range(X.shape[1]))]), *(
            f"p{i}," + ",".join(map(repr, row)) for i, row in enumerate(X.tolist()))]) + "\n")
    folder.ok("fuse", "m", "a.npy", "b.npy", "-o", "z.npy")
    folder.ok("fuse", "m", "a.csv", "b.csv", "--id", "key", "-o", "z.csv")
    lines = (folder / "z.csv").read_text().splitlines()
    assert lines[0] == "key,c1,c2,c3" and lines[60].startswith("p59,")
    assert np.array_equal(np.loadtxt(lines[1:], delimiter=",", usecols=(1, 2, 3)), np.load(folder / "z.npy"))
    swapped = (folder / "b.csv").read_text().replace("p7,", "q,")
    (folder / "b.csv").write_text(swapped)
    assert "'a.csv' has the key 'p7' where 'b.csv' has 'q'" in folder.fails(
        3, "fuse", "m", "a.csv", "b.csv", "--id", "key", "-o", "y.csv")
    assert "leave out --columns" in folder.fails(2, "fuse", "m", "a.csv", "--id", "key", "--columns", "-o", "y.csv")


@pytest.mark.parametrize("arguments, status, message", [
    (["a.npy"], 2, "the model has 2 domains, and 1 input is given; say with --domains which"),
    (["--domains", "1,1", "a.npy", "a.npy"], 2, "--domains names domain 1 twice"),
    (["--domains", "3", "a.npy"], 2, "--domains 3: the model has domains 1 to 2"),
    (["b.npy", "a.npy"], 3, "'b.npy'"),
    (["a.npy", "short.npy"], 3, "ends before"),
])
def test_fuse_says_what_is_wrong(folder, arguments, status, message):
    folder.model("--cov", "identity:3")
    np.save(folder / "short.npy", folder.b[:50])
    assert message in folder.fails(status, "fuse", "m", *arguments, "-o", "z.npy")


def test_intervals_hold_new_samples(folder):
    random = np.random.default_rng(1)
    one, two = random.normal(size=(4, 9)), random.normal(size=(4, 8))
    covered = {"closed": [], "calibrated": []}
    for _ in range(12):
        hidden = random.normal(size=(500, 4))
        X, Y = hidden @ one + random.normal(size=(500, 9)), hidden @ two + random.normal(size=(500, 8))
        for name, part in (("x", X[:100]), ("y", Y[:100]), ("new", Y[100:])):
            np.save(folder / f"{name}.npy", part)
        for how, options in (("closed", ["--cov", "identity:8"]),
                             ("calibrated", ["--cov", "identity:2", "--calibrate", 10])):
            folder.ok("fit", "x.npy", "y.npy", *options, "-o", "m", "-q")
            folder.ok("translate", "m", "--from", 2, "--to", 1, "new.npy", "-o", "t.npy", "--interval", 0.9, "--lower",
                      "low.npy", "--upper", "high.npy", "--stderr", "se.npy")
            low, high, middle = (np.load(folder / name) for name in ("low.npy", "high.npy", "t.npy"))
            assert np.allclose(high - middle, middle - low)
            ratio = (high - middle) / np.load(folder / "se.npy")
            assert np.allclose(ratio, ratio[0, 0]) and 1.64 < ratio[0, 0] < 1.68
            covered[how].append(((low <= X[100:]) & (X[100:] <= high)).mean())
    for how, shares in covered.items():
        assert 0.88 < np.mean(shares) < 0.92, how


def test_a_calibrated_model_says_so(folder):
    result = folder.ok("fit", "a.npy", "b.npy", "--cov", "identity:2", "--calibrate", 5, "-o", "m", "--json").json
    assert result["calibration_folds"] == 5
    assert folder.ok("info", "m", "--json").json["calibration_folds"] == 5
    assert "calibrated on 5 folds" in folder.ok("info", "m").out
    assert folder.ok("fit", "a.npy", "b.npy", "-o", "m", "--json").json["calibration_folds"] is None
    tuned = folder.ok("fit", "a.npy", "b.npy", "--tune", "--calibrate", 5, "-o", "m", "--json").json
    assert tuned["calibration_folds"] == 5 and "tuning" in tuned


def test_error_bars_that_cannot_be_given_are_refused(folder):
    np.save(folder / "a6.npy", folder.a[:6])
    np.save(folder / "b6.npy", folder.b[:6])
    folder.ok("fit", "a6.npy", "b6.npy", "--cov", "identity:5", "-o", "m", "-q")
    assert "no error bars: 6 matched samples are too few for the 5 directions used" in folder.fails(
        3, "translate", "m", "--from", 2, "--to", 1, "b.npy", "-o", "t.npy", "--stderr", "e.npy")
    np.save(folder / "a3.npy", folder.a[:15, :3])  # a small target, from a source of as many features as pairs less 1
    np.save(folder / "b3.npy", np.random.default_rng(0).normal(size=(15, 20)) + folder.a[:15, :1])
    folder.ok("fit", "a3.npy", "b3.npy", "-o", "saturated", "-q")
    interval = ("--interval", 0.9, "--lower", "l.npy", "--upper", "u.npy")
    assert "Measure them with --calibrate" in folder.fails(
        3, "translate", "saturated", "--from", 2, "--to", 1, "b3.npy", "-o", "t.npy", *interval)
    found = folder.ok("fit", "a3.npy", "b3.npy", "--ridge", 1, "--calibrate", 10, "-o", "few", "--json").json
    assert found["calibration_folds"] == 10
    assert folder.ok("fit", "a3.npy", "b3.npy", "--ridge", 1, "--calibrate", 40, "-o", "one", "--json"
                     ).json["calibration_folds"] == 15
    folder.ok("translate", "few", "--from", 2, "--to", 1, "b3.npy", "-o", "t.npy", *interval, "-q")
    assert (np.load(folder / "u.npy") - np.load(folder / "l.npy")).min() > 0.1
    assert "--interval P, --lower FILE and --upper FILE go together" in folder.fails(
        2, "translate", "m", "--from", 2, "--to", 1, "b.npy", "-o", "t.npy", "--interval", 0.9)
    assert "--interval is for --method lmmse" in folder.fails(
        2, "translate", "m", "--from", 2, "--to", 1, "b.npy", "-o", "t.npy", "--interval", 0.9, "--lower", "l.npy",
        "--upper", "u.npy", "--method", "exact")
    assert "give --folds 10 too" in folder.fails(2, "fit", "a.npy", "b.npy", "--tune", "--calibrate", 10, "-o", "m")
    folder.summary()
    assert "--calibrate deals the pairs to folds" in folder.fails(
        2, "fit", "--summary", "s", "--calibrate", 5, "-o", "m")


def test_likelihood_prescribes_a_covariance_for_each_domain(folder):
    result = folder.ok("fit", "a.npy", "b.npy", "--cov", "likelihood2", "-o", "m", "--json").json
    assert result["covariances"] == ["likelihood2", "likelihood2"]
    s = np.array(result["singular_B"])
    assert np.allclose(score_covariance(folder, "m", 2), np.diag(1 / (1 - s**2)), rtol=1e-6, atol=1e-6)
    assert np.allclose(score_covariance(folder, "m", 1), np.diag(s**2 / (1 - s**2)), rtol=1e-6, atol=1e-6)
    folder.ok("verify", "m", "a.npy", "b.npy")
    assert "takes no number" in folder.fails(2, "fit", "a.npy", "b.npy", "--cov", "likelihood2:3", "-o", "n")
    np.save(folder / "a5.npy", folder.a[:5])
    np.save(folder / "b5.npy", folder.b[:5])
    assert "likelihood2 needs correlations below 1" in folder.fails(
        3, "fit", "a5.npy", "b5.npy", "--cov", "likelihood2", "-o", "n")


def test_tune_chooses_a_ridge_without_labels(folder):
    for criterion in ("likelihood", "partner"):
        result = folder.ok("tune", "a.npy", "b.npy", "--covs", "likelihood2", "--ridges", "0.01,1,100", "--max-ranks",
                           "all", "--criterion", criterion, "--json").json
        assert result["chosen"]["cov"] == "likelihood2" and result["chosen"]["rank"] is None
        assert len(result["trials"]) == 3 and result["criterion"] == criterion


def test_more_samples_of_domain_1_make_the_place_of_the_partner_finer(folder):
    np.save(folder / "more.npy", np.random.default_rng(3).normal(size=(300, folder.a.shape[1])))
    command = ["tune", "a.npy", "b.npy", "--covs", "likelihood2", "--ridges", "1", "--criterion"]
    alone = folder.ok(*command, "partner", "--json").json
    among = folder.ok(*command, "partner", "--reference", "more.npy", "--json").json
    error = [found["trials"][0]["partner"]["mean"] for found in (alone, among)]
    assert error[0] != error[1]
    assert "--reference and --reference-labels go together" in folder.fails(
        2, *command, "likelihood", "--reference", "more.npy")
    assert "--reference-labels needs --labels of the pairs" in folder.fails(
        2, *command, "partner", "--reference", "more.npy", "--reference-labels", "more.npy")
    np.save(folder / "narrow.npy", np.ones((4, 2)))
    assert "2 features" in folder.fails(3, *command, "partner", "--reference", "narrow.npy")


def test_a_domain_is_added_and_the_model_of_the_fit_is_what_is_verified(folder):
    folder.model("--cov", "identity:3")
    np.save(folder / "d.npy", folder.a[:, :4] + folder.b[:, :4])
    result = folder.ok("extend", "m", "third=d.npy", "--with", "2=b.npy", "-o", "m3", "--json").json
    certificate = result["certificate"]
    assert certificate["matched_with"] == [2] and result["domain"] == 3
    assert abs(certificate["objective"] - certificate["bound"]) < 1e-12 * certificate["scale"]
    info = folder.ok("info", "m3", "--json").json
    assert info["names"] == [None, None, "third"] and len(info["additions"]) == 1
    folder.ok("verify", "m3", "a.npy", "b.npy")
    folder.ok("translate", "m3", "--from", "third", "--to", 1, "d.npy", "-o", "x.npy")
    folder.ok("report", "m3", "a.npy", "b.npy", "-o", "r.html")
    assert "Added domains" in (folder / "r.html").read_text()
    folder.ok("summarize", "b.npy", "d.npy", "-o", "bd", "-q")
    folder.ok("extend", "m", "--summary", "bd", "--with", 2, "-o", "same", "-q")
    folder.ok("translate", "same", "--from", 3, "--to", 1, "d.npy", "-o", "y.npy")
    assert np.allclose(np.load(folder / "x.npy"), np.load(folder / "y.npy"))
    assert "give the file" in folder.fails(2, "extend", "m", "d.npy", "--with", "2", "-o", "n")
    assert "already has a domain" in folder.fails(3, "extend", "m3", "third=d.npy", "--with", "2=b.npy", "-o", "n")


def test_swapped_pairs_are_found_and_count_little_in_a_robust_fit(folder):
    swapped = folder.b.copy()
    swapped[[3, 40]] = swapped[[40, 3]]
    np.save(folder / "swapped.npy", swapped)
    result = folder.ok("pairs", "a.npy", "swapped.npy", "-o", "w.npy", "--json").json
    assert sorted(suspect["pair"] for suspect in result["suspects"]) == [3, 40]
    assert np.load(folder / "w.npy").ravel()[3] < 0.5
    text = folder.ok("fit", "a.npy", "swapped.npy", "--robust", "--cov", "identity:3", "-o", "m")
    assert "2 of 60 pairs are probably wrong" in text.err
    folder.ok("report", "m", "a.npy", "swapped.npy", "-o", "r.html")
    assert "Wrong pairs" in (folder / "r.html").read_text()
    assert "two domains" in folder.fails(2, "fit", "a.npy", "b.npy", "a.npy", "--robust", "-o", "m3")


def test_samples_that_lack_domains_are_kept(folder):
    gaps = folder.b.copy()
    gaps[20:] = np.nan
    np.save(folder / "gaps.npy", gaps)
    folder.ok("fit", "a.npy", "gaps.npy", "--missing", "keep", "--ridge", 0.1, "--cov", "identity:3", "-o", "m")
    assert "20 samples with domains 1 and 2" in folder.ok("info", "m").out
    folder.ok("verify", "m", "a.npy", "gaps.npy", "--missing", "keep")
    for rows, name in ((slice(0, 30), "1"), (slice(30, 60), "2")):
        np.save(folder / f"a{name}.npy", folder.a[rows])
        np.save(folder / f"g{name}.npy", gaps[rows])
        folder.ok("summarize", f"a{name}.npy", f"g{name}.npy", "--missing", "keep", "-o", f"s{name}", "-q")
    folder.ok("merge", "s1", "s2", "-o", "s")
    patterns = folder.ok("info", "s", "--json").json["patterns"]
    assert [(one["domains"], one["n"]) for one in patterns] == [([1], 40), ([1, 2], 20)]
    folder.ok("fit", "--summary", "s", "--ridge", 0.1, "--cov", "identity:3", "-o", "same", "-q")
    for model in ("m", "same"):
        folder.ok("translate", model, "--from", 2, "--to", 1, "b.npy", "-o", f"{model}.npy")
    assert np.allclose(np.load(folder / "m.npy"), np.load(folder / "same.npy"), atol=1e-7)
    assert "whole samples" in folder.fails(2, "fit", "a.npy", "gaps.npy", "--missing", "keep", "--robust", "-o", "x")
    assert "this command needs whole" in folder.fails(2, "pairs", "a.npy", "gaps.npy", "--missing", "keep")
