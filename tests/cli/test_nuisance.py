"""Nuisances on the command line: --nuisance and --blind."""

import csv

import numpy as np
import pytest


@pytest.fixture
def labs(folder):
    """z.csv: laboratory and age of each of the 60 pairs; z.npy: the same as numbers; ra.npy, rb.npy: without them."""
    random = np.random.default_rng(1)
    lab, age = np.where(np.arange(60) % 3 == 0, "north", "south"), random.uniform(20, 60, 60)
    shift = 3.0 * (lab == "north")[:, None] + age[:, None] / 10
    folder.a, folder.b = folder.a + shift * random.normal(size=7), folder.b + shift * random.normal(size=5)
    np.save(folder / "a.npy", folder.a)
    np.save(folder / "b.npy", folder.b)
    with open(folder / "z.csv", "w", newline="") as file:
        csv.writer(file).writerows([("lab", "age"), *zip(lab, age)])
    Z = np.column_stack([lab == "north", lab == "south", age]).astype(float)
    np.save(folder / "z.npy", Z)
    for name, x in (("ra.npy", folder.a), ("rb.npy", folder.b)):
        np.save(folder / name, x - Z @ np.linalg.lstsq(Z, x, rcond=None)[0])
    return folder


FIT = ("fit", "a.npy", "b.npy", "--cov", "identity:3")


def test_a_nuisance_equals_regressing_first(labs):
    found = labs.ok(*FIT, "--nuisance", "z.csv", "-o", "m", "--json").json
    plain = labs.ok("fit", "ra.npy", "rb.npy", "--cov", "identity:3", "-o", "plain", "--json").json
    assert np.allclose(found["singular_B"], plain["singular_B"], rtol=1e-10)
    assert found["nuisance"]["names"] == ["lab=north", "lab=south", "age"] and found["nuisance"]["rank"] == 2
    numbers = labs.ok(*FIT, "--nuisance", "z.npy", "-o", "m2", "--json").json
    assert np.allclose(found["singular_B"], numbers["singular_B"], rtol=1e-12)
    assert "3 values of rank 2" in labs.ok("info", "m").out
    labs.ok("apply", "m", "--domain", 1, "a.npy", "--nuisance", "z.csv", "-o", "z1.npy")
    Z = np.load(labs / "z1.npy")
    assert np.allclose(np.cov(Z.T) * 59 / 57, np.eye(3), atol=1e-9)


def test_translations_and_fusions_take_the_values_of_new_samples(labs):
    labs.ok(*FIT, "--nuisance", "z.csv", "-o", "m")
    labs.ok("translate", "m", "--from", 2, "--to", 1, "b.npy", "--nuisance", "z.csv", "-o", "t.npy", "--stderr", "e.npy")
    estimate, error = np.load(labs / "t.npy"), np.load(labs / "e.npy")
    assert np.linalg.norm(estimate - labs.a) < 0.5 * np.linalg.norm(labs.a - labs.a.mean(axis=0)) and error.min() > 0
    labs.ok("fuse", "m", "a.npy", "b.npy", "--nuisance", "z.csv", "-o", "f.npy")
    for domain, name in ((1, "a.npy"), (2, "b.npy")):
        labs.ok("apply", "m", "--domain", domain, name, "--nuisance", "z.csv", "-o", f"z{domain}.npy")
    assert np.allclose(np.load(labs / "f.npy"), (np.load(labs / "z1.npy") + np.load(labs / "z2.npy")) / 2)
    assert "give its values" in labs.run("apply", "m", "--domain", 1, "a.npy", "-o", "x.npy").err
    assert "give its values" in labs.run("translate", "m", "--from", 2, "--to", 1, "b.npy", "-o", "x.npy").err
    (labs / "other.csv").write_text("lab,age\n" + "west,30\n" * 60)
    assert "'west' of column 'lab'" in labs.run("apply", "m", "--domain", 1, "a.npy", "--nuisance", "other.csv", "-o",
                                                "x.npy").err


def test_blind_maps_need_no_values(labs):
    labs.ok(*FIT, "--nuisance", "z.csv", "--blind", "-o", "m")
    labs.ok("apply", "m", "--domain", 1, "a.npy", "-o", "z1.npy")
    Z, values = np.load(labs / "z1.npy"), np.load(labs / "z.npy")
    assert np.abs((Z - Z.mean(axis=0)).T @ (values - values.mean(axis=0))).max() < 1e-8
    labs.ok("translate", "m", "--from", 2, "--to", 1, "b.npy", "-o", "t.npy")
    assert "blind" in labs.ok("info", "m").out
    assert labs.run("apply", "m", "--domain", 1, "a.npy", "--nuisance", "z.csv", "-o", "x.npy").status != 0
    assert labs.run(*FIT, "--blind", "-o", "x").status != 0


def test_summaries_parts_and_verification(labs):
    labs.ok(*FIT, "--nuisance", "z.csv", "-o", "m")
    for part in (1, 2):
        labs.ok("summarize", "a.npy", "b.npy", "--nuisance", "z.npy", "--part", f"{part}/2", "-o", f"s{part}")
    labs.ok("merge", "s1", "s2", "-o", "s")
    one = labs.ok("fit", "--summary", "s", "--cov", "identity:3", "-o", "m2", "--json").json
    assert np.allclose(one["singular_B"], labs.ok("info", "m", "--json").json["singular_B"], rtol=1e-9)
    assert labs.ok("verify", "m", "a.npy", "b.npy", "--nuisance", "z.csv", "--json").json["verified"]
    assert "give its values" in labs.run("verify", "m", "a.npy", "b.npy").err
    Z = np.load(labs / "z.npy")
    Z[3, 2] += 1
    np.save(labs / "z.npy", Z)
    assert labs.run("verify", "m", "a.npy", "b.npy", "--nuisance", "z.npy").status == 3


def test_calibration_and_order_of_names(labs):
    labs.ok(*FIT, "--nuisance", "z.csv", "--calibrate", 5, "-o", "m")
    labs.ok("translate", "m", "--from", 2, "--to", 1, "b.npy", "--nuisance", "z.csv", "-o", "t.csv", "--interval", 0.9,
            "--lower", "low.npy", "--upper", "high.npy")
    inside = (np.load(labs / "low.npy") <= labs.a) & (labs.a <= np.load(labs / "high.npy"))
    assert 0.8 < inside.mean() < 1
    rows = [line.split(",") for line in (labs / "z.csv").read_text().split()]
    (labs / "z2.csv").write_text("\n".join(",".join(reversed(row)) for row in rows) + "\n")
    for name in ("z.csv", "z2.csv"):
        labs.ok("apply", "m", "--domain", 1, "a.npy", "--nuisance", name, "-o", f"{name}.npy")
    assert np.array_equal(np.load(labs / "z.csv.npy"), np.load(labs / "z2.csv.npy"))
