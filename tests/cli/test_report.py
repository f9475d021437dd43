"""cgmca report for tables: features by their names, in numbers that do not depend on units."""

import html.parser
import re

import numpy as np
import pytest


class Page(html.parser.HTMLParser):
    """The lists of bars of a page: (title, [(name, value)]) in their order, the text, and each fold with its state."""

    def __init__(self, path):
        super().__init__()
        self.lists, self.text, self.folds, self.open, self.row = [], "", [], [], None
        self.source = path.read_text()
        self.feed(self.source)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "col", "img"):
            self.open.append(tag)
        if tag == "table" and ("class", "bars") in attributes:
            self.lists.append(["", []])
        if tag == "details":
            self.folds.append(["", ("open", None) in attributes])
        if tag == "th" and ("scope", "row") in attributes:
            self.row = [dict(attributes).get("title"), ""]

    def handle_startendtag(self, tag, attributes):
        pass  # of SVG

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "tr":
            self.row = None

    def handle_data(self, data):
        self.text += data
        inside = self.open[-1] if self.open else ""
        if inside == "caption":
            self.lists[-1][0] += data
        if inside == "summary":
            self.folds[-1][0] += data
        if self.row and inside == "th":
            self.row[1] += data
        if self.row and inside == "td":
            self.lists[-1][1].append((self.row[0] or self.row[1], float(data.replace("−", "-").strip("< "))))


def write_csv(path, names, values):
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    np.savetxt(path, values, delimiter=",", fmt="%.17g", header=header, comments="", encoding="utf-8")


def scores(samples, other, count):
    """The first canonical scores of both, by NumPy."""
    basis = [np.linalg.svd(X - X.mean(0), full_matrices=False)[0] for X in (samples, other)]
    U, s, Vt = np.linalg.svd(basis[0].T @ basis[1])
    return basis[0] @ U[:, :count], basis[1] @ Vt.T[:, :count], s[:count]


A_NAMES = ["age [years]", "weight, kg", "<b>bold</b> & \"quoted\"", "größe", "e", "f", "g"]
B_NAMES = ["north", "east", "south", "west", "mean of all measurements taken in the course of one year"]


@pytest.fixture
def tables(folder):
    units = np.array([1, 1e3, 1e-4, 7, 1, 1, 1])
    write_csv(folder / "a.csv", A_NAMES, folder.a * units)
    write_csv(folder / "b.csv", B_NAMES, folder.b)
    folder.ok("fit", "people=a.csv", "b.csv", "--cov", "identity:3", "-o", "m", "-q")
    return folder


def test_each_direction_lists_its_features_by_correlation(tables):
    tables.ok("report", "m", "-o", "r.html")
    page = Page(tables / "r.html")
    titles = [fold[0] for fold in page.folds]
    t1, t2, s = scores(tables.a, tables.b, 3)
    assert titles == [f"Direction {j + 1}: correlation {s[j]:.3f}" for j in range(3)]
    assert all(fold[1] for fold in page.folds)
    for j in range(3):
        signs = []
        for place, (X, t, names) in enumerate(((tables.a, t1, A_NAMES), (tables.b, t2, B_NAMES))):
            title, rows = page.lists[2 * j + place]
            assert title == ("people (domain 1)", "domain 2")[place]
            expected = {name: np.corrcoef(X[:, f], t[:, j])[0, 1] for f, name in enumerate(names)}
            sign = np.sign(expected[rows[0][0]]) * np.sign(rows[0][1])
            signs.append(sign)
            assert {name for name, _ in rows} == set(names)
            assert all(value == pytest.approx(sign * expected[name], abs=0.0051) for name, value in rows)
            sizes = [abs(expected[name]) for name, _ in rows]
            assert sizes == sorted(sizes, reverse=True)
        assert signs[0] == signs[1]  # the two domains' bars go together
    assert "<b>bold" not in page.source and "&lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot;" in page.source
    assert ">mean of all measurem… course of one year</th>" in page.source.replace("&#8288;", "")


# Linnerud's 20 men, as in scikit-learn: chins, situps, jumps; weight, waist, pulse.
LINNERUD = np.array("""5 162 60 191 36 50 2 110 60 189 37 52 12 101 101 193 38 58 12 105 37 162 35 62 13 155 58 189 35 46
    4 101 42 182 36 56 8 101 38 211 38 56 6 125 40 167 34 60 15 200 40 176 31 74 17 251 250 154 33 56 17 120 38 169 34 50
    13 210 115 166 33 52 14 215 105 154 34 64 1 50 50 247 46 50 6 70 31 193 36 46 12 210 120 202 37 62 4 60 25 176 37 54
    11 230 80 157 32 52 15 225 73 156 33 54 2 110 43 138 33 68""".split(), dtype=float).reshape(20, 6)


def test_linnerud_has_the_correlations_of_the_textbooks(folder):
    write_csv(folder / "exercise.csv", ["Chins", "Situps", "Jumps"], LINNERUD[:, :3])
    write_csv(folder / "physiological.csv", ["Weight [lb]", "Waist [in]", "Pulse [1/min]"], LINNERUD[:, 3:])
    folder.ok("fit", "exercise=exercise.csv", "physiological=physiological.csv", "-o", "m", "-q")
    folder.ok("report", "m", "exercise.csv", "physiological.csv", "-o", "r.html")
    page = Page(folder / "r.html")
    # The canonical structure that the manual of SAS's CANCORR procedure prints, 0.7276, 0.8177, ..., but for the sign.
    assert [title for title, _ in page.folds] == [f"Direction {j}: correlation {s}" for j, s in
                                                  ((1, "0.796"), (2, "0.201"), (3, "0.073"))]
    assert page.lists[0] == ["exercise (domain 1)", [("Situps", 0.82), ("Chins", 0.73), ("Jumps", 0.16)]]
    assert page.lists[1] == ["physiological (domain 2)",
                             [("Waist [in]", -0.93), ("Weight [lb]", -0.62), ("Pulse [1/min]", 0.33)]]


def regression_r2(X, t):
    residual = X - X.mean(0) - t @ np.linalg.lstsq(t, X - X.mean(0), rcond=None)[0]
    return 1 - (residual ** 2).sum(0) / ((X - X.mean(0)) ** 2).sum(0)


@pytest.mark.parametrize("pairs", [[], ["a.csv", "b.csv"]])
def test_r2_of_each_feature_both_ways(tables, pairs):
    tables.ok("report", "m", *pairs, "-o", "r.html")
    page = Page(tables / "r.html")
    t1, t2, _ = scores(tables.a, tables.b, 3)
    assert page.lists[-2][0] == "people (domain 1), from domain 2"
    assert page.lists[-1][0] == "domain 2, from people (domain 1)"
    for (_, rows), X, t, names in zip(page.lists[-2:], (tables.a, tables.b), (t2, t1), (A_NAMES, B_NAMES)):
        expected = dict(zip(names, regression_r2(X, t)))
        assert [name for name, _ in rows] == sorted(names, key=lambda name: -expected[name])
        assert all(value == pytest.approx(expected[name], abs=0.0051) for name, value in rows)
        assert f"Mean of {len(names)} features: {np.mean(list(expected.values())):.2f}." in page.text
    assert ("measured on the 60 pairs given" in page.text) == bool(pairs)


def test_r2_of_held_out_pairs_is_that_of_their_translation(tables):
    for name, X, names in (("a", tables.a, A_NAMES), ("b", tables.b, B_NAMES)):
        write_csv(tables / f"{name}1.csv", names, X[:15])
        write_csv(tables / f"{name}2.csv", names, X[15:])
    tables.ok("fit", "a1.csv", "b1.csv", "-o", "m", "-q")
    tables.ok("report", "m", "a2.csv", "b2.csv", "-o", "r.html")
    tables.ok("translate", "m", "--from", 1, "--to", 2, "a2.csv", "-o", "x.npy", "-q")
    X = tables.b[15:]
    expected = 1 - ((X - np.load(tables / "x.npy")) ** 2).sum(0) / ((X - X.mean(0)) ** 2).sum(0)
    rows = dict(Page(tables / "r.html").lists[-1][1])
    assert [rows[name] for name in B_NAMES] == pytest.approx(expected, abs=0.0051)


@pytest.mark.parametrize("count", [20, 64, 2000])
def test_of_many_features_the_largest_are_shown_and_the_others_counted(folder, count):
    random = np.random.default_rng(1)
    causes = random.normal(size=(300, 8))
    X = causes @ random.normal(size=(8, count)) + 2 * random.normal(size=(300, count))
    names = [f"expression_of_gene_ENSG{i:08d}_in_liver_tissue_mean" for i in range(count)]
    write_csv(folder / "x.csv", names, X)
    Y = causes @ random.normal(size=(8, 9)) + random.normal(size=(300, 9))
    write_csv(folder / "y.csv", list("abcdefghi"), Y)
    folder.ok("fit", "x.csv", "y.csv", "--cov", "identity:8", "--ridge", "0.1", "-o", "m", "-q")
    folder.ok("report", "m", "-o", "r.html")
    page = Page(folder / "r.html")
    assert [fold[1] for fold in page.folds[:8]] == [True] * 6 + [False] * 2
    rows = page.lists[0][1]
    assert len(rows) == 12 and {name for name, _ in rows} <= set(names)
    assert abs(rows[0][1]) == max(abs(value) for _, value in rows)
    note = re.search(rf"{count - 12} more features left out, none above (0\.\d\d) in size\.", page.text)
    assert float(note[1]) <= abs(rows[-1][1]) + 0.005
    labels = re.findall(r'title="expression[^"]*" aria-label="[^"]*">([^<]*)</th>', page.source.replace("&#8288;", ""))
    assert len(labels) > 12 and max(map(len, labels)) <= 40
    assert len(set(labels)) == len(set(re.findall(r'title="(expression[^"]*)"', page.source)))  # none look alike
    shown = min(count, 100)
    assert ("features left out, none above" in page.text.split("R² of each")[1]) == (count > shown)
    assert len(page.source) < 300_000


def test_small_tables_without_names_are_numbered_and_pixels_are_not(folder):
    folder.model()
    folder.ok("report", "m", "-o", "r.html")
    assert {name for name, _ in Page(folder / "r.html").lists[0][1]} == {f"feature {f}" for f in range(1, 8)}
    folder.ok("report", "m", "--shape", "7x1", "-o", "r.html")
    page = Page(folder / "r.html")
    assert {name for _, rows in page.lists for name, _ in rows} == {f"feature {f}" for f in range(1, 6)}
    assert "data:image/png" in page.source
    random = np.random.default_rng(0)
    np.save(folder / "p.npy", random.normal(size=(60, 65)) + folder.a[:, :1])
    folder.ok("fit", "p.npy", "p.npy", "--max-rank", 9, "-o", "m", "-q")
    folder.ok("report", "m", "-o", "r.html")
    page = Page(folder / "r.html")
    assert not page.lists and "covariance of each feature with the first canonical scores" in page.text


def test_a_constant_feature_is_counted_and_not_listed(folder):
    names = list("abcdefg")
    X = folder.a.copy()
    X[:, 2] = 4
    write_csv(folder / "a.csv", names, X)
    folder.ok("fit", "a.csv", "b.npy", "--cov", "identity:2", "--ridge", "0.1", "-o", "m", "-q")
    for pairs in ([], ["a.csv", "b.npy"]):
        folder.ok("report", "m", *pairs, "-o", "r.html")
        page = Page(folder / "r.html")
        assert "c" not in dict(page.lists[0][1]) and "1 feature does not vary measurably." in page.text
        assert "nan" not in page.source


def test_equal_eigenvalues_are_said_and_not_plotted(folder):
    folder.model("--cov", "identity:3")
    folder.ok("report", "m", "-o", "r.html")
    page = (folder / "r.html").read_text()
    assert "are all equal (3 of domain 1, 3 of domain 2)" in page and 'aria-label="Covariance spectrum"' not in page
    folder.model("--cov", "data1:3")
    folder.ok("report", "m", "-o", "r.html")
    page = (folder / "r.html").read_text()
    assert "are all equal" not in page and 'aria-label="Covariance spectrum"' in page


def test_report_says_what_it_wrote(folder):
    folder.model()
    found = folder.ok("report", "m", "-o", "r.html", "--json").json
    size = (folder / "r.html").stat().st_size
    assert found["report"] == "r.html" and found["bytes"] == size
    assert folder.ok("report", "m", "-o", "r.html").out == f"wrote r.html ({size / 1000:.3g} kB)\n"
    assert folder.ok("report", "m", "-o", "r.html", "-q").out == ""


def test_a_page_that_cannot_be_written_is_not_reported(folder):
    folder.model()
    assert "No space left" in folder.fails(5, "report", "m", "-o", "/dev/full")
    result = folder.run("report", "m", "-o", "/dev/full", "--json")
    assert (result.status, result.out) == (5, "") and "No space left" in result.err


@pytest.mark.parametrize("scale", [False, True])
def test_error_bars_with_a_ridge_are_parts_of_the_spread_of_the_samples(folder, scale):
    """40 pairs of 60 + 21 features: what is shown is what held-out samples show, and more ridge does not look better."""
    random = np.random.default_rng(9)
    mixing = random.normal(size=(3, 60)), random.normal(size=(3, 21))
    causes = random.normal(size=(540, 3))
    X, Y = (causes @ one + 3 * random.normal(size=(540, one.shape[1])) for one in mixing)
    for name, rows in (("x", X[:40]), ("y", Y[:40]), ("new", Y[40:])):
        np.save(folder / f"{name}.npy", rows)
    shown, true = [], []
    for ridge in (1, 3, 10):
        folder.ok("fit", "x.npy", "y.npy", "--ridge", ridge, "--calibrate", 10, *["--scale"] * scale, "-o", "m", "-q")
        folder.ok("report", "m", "-o", "r.html")
        page = (folder / "r.html").read_text()
        row = re.search(r"domain 1</t[dh]>(.*?)</tr>", page[page.index("measured on 10 held-out parts"):], re.DOTALL).group(1)
        figures = [float(figure) for figure in re.findall(r"([\d.]+) %", row)]
        shown.append(figures[-1])
        folder.ok("translate", "m", "--from", 2, "--to", 1, "y.npy", "-o", "t.npy", "-q")
        missed = X[:40] - np.load(folder / "t.npy")
        fitted = 100 * np.sqrt(np.sum(missed**2) / np.sum((X[:40] - X[:40].mean(axis=0)) ** 2))
        assert abs(figures[0] - fitted) < 0.06  # among the pairs fitted
        folder.ok("translate", "m", "--from", 2, "--to", 1, "new.npy", "-o", "t.npy", "-q")
        true.append(100 * np.sqrt(np.sum((X[40:] - np.load(folder / "t.npy")) ** 2)
                                  / np.sum((X[40:] - X[40:].mean(axis=0)) ** 2)))
    assert np.allclose(shown, true, rtol=0.1), (shown, true)
    assert min(shown) > 80


def test_error_bars_are_shown_as_promised_and_as_measured(folder):
    """Of the plain fit the translations are least squares: the three figures by NumPy."""
    folder.ok("fit", "a.npy", "b.npy", "-o", "m")
    folder.ok("report", "m", "-o", "r.html")
    assert "fit with --calibrate 10" in (folder / "r.html").read_text()
    folder.ok("fit", "a.npy", "b.npy", "--calibrate", 5, "-o", "m")
    folder.ok("report", "m", "-o", "r.html")
    page = (folder / "r.html").read_text()
    n, d = len(folder.a), folder.b.shape[1]
    design = np.c_[np.ones(n), folder.b]
    missed = folder.a - design @ np.linalg.lstsq(design, folder.a, rcond=None)[0]
    spread = np.sum((folder.a - folder.a.mean(0)) ** 2)
    fitted, promised = (100 * np.sqrt(np.sum(missed**2) / spread * (n - 1) / left) for left in (n - 1, n - 1 - d))
    row = re.search(r"domain 1</t[dh]>(.*?)</tr>", page[page.index("measured on 5 held-out parts"):], re.DOTALL).group(1)
    shown = [float(number) for number in re.findall(r"([\d.]+) %", row)]
    assert shown[:2] == [round(fitted, 1), round(promised, 1)]
    assert 0.8 * promised < shown[2] < 1.3 * promised  # of 60 pairs
    assert "If it is above the diagonal" in page
