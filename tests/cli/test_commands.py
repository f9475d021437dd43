"""Every subcommand does what it says, as an independent computation with NumPy sees it."""

import json
import zlib

import numpy as np
import pytest


def covariance(X):
    return np.cov(X, rowvar=False)


def test_the_three_commands_of_the_readme_work_first_time(folder):
    folder.ok("fit", "a.npy", "b.npy", "-o", "m")
    folder.ok("verify", "m", "a.npy", "b.npy")
    folder.ok("translate", "m", "--from", "2", "--to", "1", "b.npy", "-o", "c.npy")
    assert folder.names() == {"a.npy", "b.npy", "c.npy", "m"}
    assert np.load(folder / "c.npy").shape == (60, 7)


def test_the_certificate_states_how_far_the_covariances_are_from_the_samples(folder):
    assert 0 < folder.ok("fit", "a.npy", "b.npy", "-o", "m", "--json").json["samples_residual"] < 1e-12
    assert "of the covariances used, from a sketch of the samples" in folder.ok("info", "m").out
    claims = folder.ok("verify", "m", "a.npy", "b.npy", "--json").json["claims"]
    assert max(claims.values()) < 1e-9 and {"loadings 1", "variance 2", "bound", "canonical correlations"} <= set(claims)
    rewritten(folder / "m", {"loadings2": -tensor(folder / "m", "loadings2")}, {})
    refused = folder.run("verify", "m", "a.npy", "b.npy")
    assert refused.status == 3 and "'loadings 2' of the model is not what these samples say" in refused.err


def test_fit_reports_the_keys_of_the_design(folder):
    result = folder.ok("fit", "a.npy", "b.npy", "-o", "m", "--json")
    assert result.err == ""
    keys = {"n", "dims", "k", "ranks", "cov_ranks", "objective", "bound", "constraint_residuals", "singular_A",
            "singular_B", "min_gap", "seconds"}
    assert keys <= set(result.json)
    assert (result.json["n"], result.json["dims"], result.json["k"]) == (60, [7, 5], 5)
    assert result.json["objective"] == pytest.approx(result.json["bound"], rel=1e-10)
    info = folder.ok("info", "m", "--json").json
    assert keys <= set(info)
    for key in keys - {"seconds"}:
        assert info[key] == result.json[key]


def test_canonical_correlations_are_those_of_numpy(folder):
    found = folder.ok("fit", "a.npy", "b.npy", "-o", "m", "--json").json["singular_B"]
    basis = [np.linalg.svd(X - X.mean(0), full_matrices=False)[0] for X in (folder.a, folder.b)]
    assert np.allclose(found, np.linalg.svd(basis[0].T @ basis[1])[1], atol=1e-12)


@pytest.mark.parametrize("spec", ["identity", "identity:3", "data1:4", "data2:2", "file:c.csv", "factor:f.npy", "sd:sd.csv"])
def test_mapped_samples_have_the_prescribed_covariance(folder, spec):
    random = np.random.default_rng(3)
    factor = random.normal(size=(6, 4))
    np.savetxt(folder / "c.csv", factor @ factor.T, delimiter=",", fmt="%.17g")
    np.save(folder / "f.npy", factor)
    np.savetxt(folder / "sd.csv", [[1, 2, 0.5]], delimiter=",")

    def best(X, rank):
        values, vectors = np.linalg.eigh(covariance(X))
        return vectors[:, -rank:] @ np.diag(values[-rank:]) @ vectors[:, -rank:].T

    expected = {"identity": np.eye(5), "identity:3": np.eye(3), "data1:4": best(folder.a, 4), "data2:2": best(folder.b, 2),
                "file:c.csv": factor @ factor.T, "factor:f.npy": factor @ factor.T, "sd:sd.csv": np.diag([1, 4, 0.25])}[spec]
    folder.ok("fit", "a.npy", "b.npy", "--cov", spec, "-o", "m")
    mapped = []
    for domain, name in ((1, "a.npy"), (2, "b.npy")):
        folder.ok("apply", "m", "--domain", domain, name, "-o", "z.npy")
        mapped.append(np.load(folder / "z.npy"))
        assert np.allclose(covariance(mapped[-1]), expected, atol=1e-9)
    objective = folder.ok("info", "m", "--json").json["objective"]
    assert np.mean(np.sum((mapped[0] - mapped[1]) ** 2, axis=1)) == pytest.approx(objective, abs=1e-9)


def test_the_two_covariances_may_differ(folder):
    np.savetxt(folder / "sd.csv", [[1, 2, 0.5]], delimiter=",")
    result = folder.ok("fit", "a.npy", "b.npy", "--cov1", "identity:3", "--cov2", "sd:sd.csv", "-o", "m", "--json").json
    assert result["cov_ranks"] == [3, 3]
    folder.ok("verify", "m", "a.npy", "b.npy")


def test_rank_tol_lowers_the_rank(folder):
    assert folder.ok("fit", "a.npy", "b.npy", "-o", "m", "--rank-tol", "0.3", "--json").json["ranks"][0] < 7


def test_summaries_of_parts_merge_into_that_of_the_whole(folder):
    for i, rows in enumerate((slice(0, 25), slice(25, 60))):
        np.save(folder / f"a{i}.npy", folder.a[rows])
        np.save(folder / f"b{i}.npy", folder.b[rows])
        folder.ok("summarize", f"a{i}.npy", f"b{i}.npy", "-o", f"s{i}")
    assert folder.ok("merge", "s0", "s1", "-o", "s", "--json").json["n"] == 60
    assert folder.ok("info", "s", "--json").json["dims"] == [7, 5]
    merged = folder.ok("fit", "--summary", "s", "-o", "m", "--json").json
    whole = folder.ok("fit", "a.npy", "b.npy", "-o", "w", "--json").json
    assert np.allclose(merged["singular_B"], whole["singular_B"], atol=1e-12)
    folder.ok("verify", "m", "a.npy", "b.npy")


def test_merge_may_replace_one_of_its_inputs(folder):
    folder.summary()
    folder.ok("merge", "s", "s", "--allow-repeats", "-o", "s")
    assert folder.ok("info", "s", "--json").json["n"] == 120


@pytest.mark.parametrize("method", ["lmmse", "exact", "mahalanobis", "lsqr"])
def test_translate_by_every_method(folder, method):
    folder.model()
    result = folder.ok("translate", "m", "--from", 2, "--to", 1, "b.npy", "-o", "c.npy", "--method", method, "--json")
    assert result.json["method"] == method and result.json["n"] == 60
    translated = np.load(folder / "c.npy")
    assert translated.shape == (60, 7)
    if method == "lmmse":  # the regression of a on b, as k = 5 keeps all of b
        design = np.column_stack([np.ones(60), folder.b])
        assert np.allclose(translated, design @ np.linalg.lstsq(design, folder.a, rcond=None)[0], atol=1e-9)


def test_standard_errors_are_those_of_the_regression(folder):
    folder.model()
    folder.ok("translate", "m", "--from", 2, "--to", 1, "b.npy", "-o", "c.npy", "--stderr", "e.csv")
    residual = folder.a - np.load(folder / "c.npy")
    centred = folder.b - folder.b.mean(axis=0)
    leverage = 1 / 60 + (centred * np.linalg.solve(centred.T @ centred, centred.T).T).sum(axis=1)
    expected = np.sqrt(np.outer(1 + leverage, (residual**2).sum(axis=0) / (59 - 5)))  # of a new sample
    assert np.allclose(np.loadtxt(folder / "e.csv", delimiter=","), expected, rtol=1e-8)


def test_iterations_limit_lsqr(folder):
    folder.model()
    outputs = []
    for count in (1, 5):
        folder.ok("translate", "m", "--from", 1, "--to", 2, "a.npy", "-o", "c.npy", "--method", "lsqr", "--iterations", count)
        outputs.append(np.load(folder / "c.npy"))
    assert not np.allclose(*outputs)


def test_columns_says_that_samples_are_columns(folder):
    np.save(folder / "at.npy", folder.a.T)
    np.save(folder / "bt.npy", folder.b.T)
    folder.ok("fit", "at.npy", "bt.npy", "--columns", "-o", "m")
    folder.ok("verify", "m", "a.npy", "b.npy")
    folder.ok("apply", "m", "--domain", 1, "at.npy", "--columns", "-o", "z.npy")
    assert np.load(folder / "z.npy").shape == (5, 60)


@pytest.mark.parametrize("extension", [".npy", ".csv", ".tsv", ".mat", ".h5"])
def test_outputs_in_every_format_can_be_inputs(folder, extension):
    folder.model()
    folder.ok("apply", "m", "--domain", 1, "a.npy", "-o", "z.npy")
    folder.ok("apply", "m", "--domain", 1, "a.npy", "-o", f"z{extension}")
    folder.ok("fit", "z.npy", f"z{extension}", "-o", "n")
    folder.ok("verify", "n", "z.npy", "z.npy")


def test_csv_streams_without_knowing_its_length(folder):
    np.savetxt(folder / "a.csv", folder.a, delimiter=",", fmt="%.17g")
    np.savetxt(folder / "b.csv", folder.b, delimiter=",", fmt="%.17g")
    assert folder.ok("fit", "a.csv", "b.csv", "-o", "m", "--json").json["n"] == 60
    folder.ok("verify", "m", "a.npy", "b.npy")


def test_verify_tells_what_it_found(folder):
    folder.model()
    found = folder.ok("verify", "m", "a.npy", "b.npy", "--json").json
    assert found["verified"] is True and max(found["constraint_residuals"]) < 1e-10


def test_verify_refutes_other_data_and_says_so(folder):
    folder.model()
    np.save(folder / "other.npy", np.random.default_rng(9).normal(size=(60, 7)))
    result = folder.run("verify", "m", "other.npy", "b.npy", "--json")
    assert result.status == 3 and result.json["verified"] is False and "does not fit" in result.err
    changed = folder.a.copy()
    changed[3, 2] += 0.01
    np.save(folder / "other.npy", changed)
    assert folder.run("verify", "m", "other.npy", "b.npy").status == 3
    assert folder.run("verify", "m", "other.npy", "b.npy", "--tolerance", "0.1").status == 0


def test_verify_does_not_believe_the_file(folder):
    folder.model()
    content = (folder / "m").read_bytes()
    objective = json.loads(content[8:8 + int.from_bytes(content[:8], "little")])["__metadata__"]["objective"]
    forged = content.replace(b'"objective":"' + objective.encode(), b'"objective":"' + b"0." + b"1" * (len(objective) - 2))
    assert forged != content and len(forged) == len(content)
    (folder / "m").write_bytes(forged)
    assert "the file is damaged or was changed" in folder.fails(3, "verify", "m", "a.npy", "b.npy")
    (folder / "m").write_bytes(sealed(forged))
    assert "claimed" in folder.run("verify", "m", "a.npy", "b.npy").err


def rewritten(path, arrays, metadata):
    """Puts other numbers of the same shapes, and other texts, into a safetensors file."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + length])
    data = bytearray(content[8 + length:])
    for name, values in arrays.items():
        begin, end = header[name]["data_offsets"]
        data[begin:end] = np.ascontiguousarray(values, dtype="<f8").tobytes()
    header["__metadata__"].update(metadata)
    text = json.dumps(header, separators=(",", ":")).encode()
    path.write_bytes(sealed(len(text).to_bytes(8, "little") + text + bytes(data)))


def sealed(content):
    """A file with the checksum that belongs to it: zlib's CRC-32 of all bytes, with zeros for its own digits."""
    start = b'{"__metadata__":{"checksum":"'
    place = 8 + len(start)
    assert content[8:place] == start
    zeroed = content[:place] + b"00000000" + content[place + 8:]
    return content[:place] + b"%08x" % zlib.crc32(zeroed) + content[place + 8:]


def tensor(path, name):
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    entry = json.loads(content[8:8 + length])[name]
    begin, end = entry["data_offsets"]
    return np.frombuffer(content[8 + length:][begin:end], "<f8").reshape(entry["shape"])


def test_verify_refutes_feasible_maps_that_are_not_the_best(folder):
    """weights1 turned by a rotation has the right covariance, and the objective is stored as it then is."""
    folder.ok("fit", "a.npy", "b.npy", "-o", "m", "--cov", "identity:3")
    angle = 0.3
    turn = np.eye(3)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    turned = turn @ tensor(folder / "m", "weights1")
    Z1 = (folder.a - folder.a.mean(0)) @ (tensor(folder / "m", "mixing1") @ turned).T
    Z2 = (folder.b - folder.b.mean(0)) @ (tensor(folder / "m", "mixing2") @ tensor(folder / "m", "weights2")).T
    objective = ((Z1 - Z2) ** 2).sum() / 60
    rewritten(folder / "m", {"weights1": turned}, {"objective": repr(objective)})
    result = folder.run("verify", "m", "a.npy", "b.npy", "--json")
    assert result.status == 3
    assert max(result.json["constraint_residuals"]) < 1e-10
    assert result.json["objective"] == pytest.approx(objective, rel=1e-10)
    assert result.json["best_objective"] < objective and result.json["shortfall"] > 1e-3
    assert "not the best" in result.err
    folder.ok("report", "m", "a.npy", "b.npy", "-o", "r.html")
    assert f"{result.json['shortfall']:.1e}" in (folder / "r.html").read_text()


def test_names_of_domains_and_csv_headers_are_kept(folder):
    names = ["height", "weight, kg", 'say "x"', "d", "e", "f", "g"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    np.savetxt(folder / "a.csv", folder.a, delimiter=",", fmt="%.17g", header=header, comments="")
    folder.ok("summarize", "synthetic=a.csv", "measured=b.npy", "-o", "s")
    folder.ok("fit", "--summary", "s", "-o", "m")
    folder.ok("fit", "synthetic=a.csv", "b.npy", "-o", "n", "--tune")
    for file, name in (("s", "measured"), ("m", "measured"), ("n", None)):
        info = folder.ok("info", file, "--json").json
        assert info["names"] == ["synthetic", name]
        assert info["feature_names"] == [names, None]
    assert "synthetic" in folder.ok("info", "m").out
    folder.ok("verify", "m", "a.npy", "b.npy")
    np.save(folder / "x=a.npy", folder.a)  # a file that is called so
    assert folder.ok("fit", "x=a.npy", "b.npy", "-o", "k", "--json").json["names"] == [None, None]


def test_single_precision_is_summarized_as_the_doubles_it_is(folder):
    for name, values in (("a", folder.a), ("b", folder.b)):
        np.save(folder / f"{name}4.npy", values.astype(np.float32))
        np.save(folder / f"{name}8.npy", values.astype(np.float32).astype(np.float64))
    folder.ok("summarize", "a4.npy", "b4.npy", "-o", "s4")
    folder.ok("summarize", "a8.npy", "b8.npy", "-o", "s8")
    for name in ("s4", "s8"):  # all but what they were made of
        rewritten(folder / name, {}, {"inputs": "[]"})
    assert (folder / "s4").read_bytes() == (folder / "s8").read_bytes()


def test_a_summary_of_an_earlier_format_is_refused_by_name(folder):
    folder.ok("summarize", "a.npy", "b.npy", "-o", "s")
    rewritten(folder / "s", {}, {"version": "1"})
    message = folder.fails(3, "fit", "--summary", "s", "-o", "m")
    assert "cgmca-summary of format version 1" in message and "reads versions 2 to 4" in message


def test_verify_refutes_reordered_pairs(folder):
    folder.model()
    np.save(folder / "b.npy", folder.b[::-1])
    assert folder.run("verify", "m", "a.npy", "b.npy").status == 3


def test_dry_run_prints_shapes_route_memory_and_work_and_touches_nothing(folder):
    for command in ("fit", "summarize"):
        before = folder.names()
        result = folder.ok(command, "a.npy", "b.npy", "--dry-run", "-o", "m")
        assert "60 samples × 7 features" in result.out and "memory" in result.out and "work" in result.out
        assert folder.ok(command, "a.npy", "b.npy", "--dry-run", "--json").json["memory_bytes"] > 1e6
        assert folder.names() == before


def test_one_file_may_be_both_domains(folder):
    folder.ok("fit", "a.npy", "a.npy", "-o", "m")
    assert folder.ok("info", "m", "--json").json["objective"] == pytest.approx(0, abs=1e-10)


def test_report_is_one_page_that_needs_nothing_else(folder):
    folder.model()
    assert folder.ok("report", "m", "a.npy", "b.npy", "-o", "r.html", "--json").json["report"] == "r.html"
    page = (folder / "r.html").read_text()
    for part in ("<svg", "Certificate", "Canonical correlations", "Covariance spectrum", "Loadings", ">found<"):
        assert part in page
    assert "http://" not in page.replace("http://www.w3.org", "") and "https://" not in page
    folder.ok("report", "m", "-o", "alone.html")
    assert ">found<" not in (folder / "alone.html").read_text()


def test_report_shows_loadings_as_images(folder):
    random = np.random.default_rng(0)
    causes = random.normal(size=(40, 3))
    np.save(folder / "p.npy", causes @ random.normal(size=(3, 12)) + 0.1 * random.normal(size=(40, 12)))
    np.save(folder / "q.npy", folder.b[:40])
    folder.ok("fit", "p.npy", "q.npy", "-o", "m")
    folder.ok("report", "m", "--shape", "3x4", "-o", "r.html")
    assert "data:image/png;base64," in (folder / "r.html").read_text()
    assert "3x5 has 15 pixels" in folder.fails(3, "report", "m", "--shape", "3x5", "-o", "x.html")


def test_tests_gives_wilks_of_numpy_and_a_section_of_the_report(folder):
    correlations = np.array(folder.ok("fit", "a.npy", "b.npy", "-o", "m", "--json").json["singular_B"])
    found = folder.ok("tests", "m", "--json").json
    wilks = np.cumprod((1 - correlations**2)[::-1])[::-1]
    assert np.allclose([test["wilks"]["value"] for test in found["tests"]], wilks, rtol=1e-10)
    assert [test["wilks"]["df1"] for test in found["tests"]] == [(7 - k) * (5 - k) for k in range(5)]
    assert f"{found['significant']} of 5 correlations are not zero" in folder.ok("tests", "m").out
    folder.ok("report", "m", "-o", "r.html")
    assert "Are the correlations more than chance?" in (folder / "r.html").read_text()


def test_tests_says_why_it_does_not_test(folder):
    folder.ok("fit", "a.npy", "b.npy", "--ridge", "0.1", "-o", "m")
    refused = folder.run("tests", "m")
    assert refused.status == 3 and "ridge" in refused.err and "cgmca tune --permutations" in refused.err
    folder.ok("report", "m", "-o", "r.html")
    assert "Not tested: domain 1 was fitted with a ridge" in (folder / "r.html").read_text()


def test_explain_tells_shares_and_writes_tables(folder):
    folder.ok("fit", "a.npy", "b.npy", "-o", "m")
    found = folder.ok("explain", "m", "a.npy", "b.npy", "-o", "f.csv", "--edges", "e.tsv", "--least", "0.2", "--json").json
    corr = np.corrcoef(folder.a.T, folder.b.T)[:7, 7:]
    first = found["domains"][0]
    assert found["measured_on"] == 60 and np.isclose(first["r2"]["standardized"], first["from"][0]["standardized"]["total"])
    assert np.isclose(sum(first["importance"]), 1)
    lines = [line.split("\t") for line in (folder / "e.tsv").read_text().splitlines()[1:]]
    assert found["edges"] == len(lines) == (abs(corr) >= 0.2).sum()
    assert all(np.isclose(float(r), corr[int(f[3:]) - 1, int(g[3:]) - 1], atol=1e-5) for f, g, r in lines)
    table = np.genfromtxt(folder / "f.csv", delimiter=",", skip_header=1)[:, 1:]
    assert table.shape == (12, 3 + 5 + 5) and np.allclose(table[:7, 1], first["r2"]["features"])
    assert "measured on 60 samples" in folder.ok("explain", "m", "a.npy", "b.npy").out
    assert "--weights needs the samples" in folder.fails(2, "explain", "m", "--weights", "w.npy")


def test_diagnose_finds_swapped_pairs_and_writes_a_table(folder):
    random = np.random.default_rng(0)
    causes = random.normal(size=(300, 5))
    a, b = (causes @ random.normal(size=(5, 8)) + 0.3 * random.normal(size=(300, 8)) for _ in "ab")
    b[[10, 20]] = b[[20, 10]]
    np.save(folder / "p.npy", a)
    np.save(folder / "q.npy", b)
    folder.ok("fit", "p.npy", "q.npy", "--cov", "identity:5", "-o", "m")
    found = folder.ok("diagnose", "m", "p.npy", "q.npy", "-o", "t.csv", "--json").json
    swapped = {(one["sample"], one["partner"]) for one in found["suspects"] if one["suspicion"] == "swapped"}
    assert swapped == {(11, 21), (21, 11)}
    table = np.genfromtxt(folder / "t.csv", delimiter=",", names=True)
    assert len(table) == 300 and table["suspicion"][10] == 2 and table["rank_1"].min() == 1
    assert "swapped" in folder.ok("diagnose", "m", "p.npy", "q.npy").out
    np.save(folder / "r.npy", random.permutation(b))
    assert "no correlation is above chance" in folder.ok("fit", "p.npy", "r.npy", "-o", "m2").err
    assert "no correlation" not in folder.ok("fit", "p.npy", "q.npy", "-o", "m2").err


def test_bootstrap_tells_intervals_and_writes_a_table(folder):
    folder.ok("fit", "a.npy", "b.npy", "--cov", "identity:2", "--ridge", "0.1", "-o", "m")
    found = folder.ok("bootstrap", "m", "a.npy", "b.npy", "--replicas", "30", "-o", "t.csv", "--json").json
    correlations = found["correlations"]
    assert found["replicas"] == 30 and np.all(np.array(correlations["lower"]) <= np.array(correlations["upper"]))
    assert np.allclose(correlations["estimate"][0], folder.ok("info", "m", "--json").json["singular_B"][:2])
    table = np.genfromtxt(folder / "t.csv", delimiter=",", skip_header=1)
    assert table.shape == (12, 2 + 2 * 13)
    np.save(folder / "g.npy", np.arange(60) // 2)
    units = folder.ok("bootstrap", "m", "a.npy", "b.npy", "--replicas", "30", "--groups", "g.npy", "--json").json
    assert 25 <= units["groups"] <= 30 and units["correlations"] != correlations
    np.save(folder / "g.npy", np.arange(9))
    assert "9 groups" in folder.fails(3, "bootstrap", "m", "a.npy", "b.npy", "--groups", "g.npy")


def test_report_has_pictures_of_samples(folder):
    folder.ok("fit", "a.npy", "b.npy", "--cov", "identity:3", "-o", "m")
    (folder / "l.txt").write_text("\n".join("xyz"[k % 3] for k in range(60)))
    folder.ok("report", "m", "a.npy", "b.npy", "--labels", "l.txt", "--bootstrap", "20", "-o", "r.html")
    page = (folder / "r.html").read_text()
    for title in ("Shares of variance", "Correlation circle", "Cross-correlations", "Scores by label", "Partners", "Biplot",
                  "Diagnostics: T² and Q", "Bootstrap"):
        assert title in page
    assert "sample 60, z" in page and "<script" not in page
    assert "--labels" in folder.fails(2, "report", "m", "--labels", "l.txt", "-o", "x.html")
    (folder / "l.txt").write_text("x\ny\n")
    assert "2 labels" in folder.fails(3, "report", "m", "a.npy", "b.npy", "--labels", "l.txt", "-o", "x.html")
