"""The commands of the README and of the first pages, from start to end, in a folder that holds the files they name."""

import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
import scipy.io

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests"))
from tables import write_table

PAGES = ["README.md", "docs/start/matlab.md", "docs/start/command-line.md", "docs/howto/weights.md",
         "docs/howto/covariance.md"]


def blocks(page):
    text = (ROOT / page).read_text()
    return [block.replace("\\\n", " ") for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)]


@pytest.fixture
def furnished(folder):
    scipy.io.savemat(folder / "sensors.mat", {"X1": folder.a.T, "X2": folder.b.T, "cfg": {"x": folder.a}})
    lab = ["mass [g]", "length [mm]", "width [mm]", "hue", "gloss", "density", "age [d]"]
    write_table(folder / "lab.csv", folder.a, lab, range(60), {(3, 2)})
    order = np.random.default_rng(1).permutation(60)[:56]
    write_table(folder / "field.csv", folder.b, ["b1", "b2", "b3", "b4", "b5"], order, {(order[0], 1)})
    np.savetxt(folder / "times.csv", np.arange(60) % 4, fmt="%d", header="times", comments="")
    np.savetxt(folder / "classes.csv", (folder.a[:, 0] > 0).astype(int), fmt="%d", header="class", comments="")
    np.save(folder / "c.npy", folder.a[:, :4] + folder.b[:, :4])
    for part, rows in ((1, slice(0, 30)), (2, slice(30, 60))):
        np.save(folder / f"a{part}.npy", folder.a[rows])
        np.save(folder / f"b{part}.npy", folder.b[rows])
    for name, X in (("a", folder.a), ("b", folder.b)):
        for number, rows in enumerate(np.array_split(X, 3), start=1):
            np.save(folder / f"{name}-{number}.npy", rows)
    return folder


def test_there_is_a_block_for_each_kind_of_user():
    assert [len(blocks(page)) for page in PAGES] == [1, 1, 6, 1, 1]


@pytest.mark.parametrize("block", [block for page in PAGES for block in blocks(page)])
def test_the_commands_run(furnished, block):
    lines = [line for line in block.splitlines() if line.strip()]
    assert len(lines) >= 2
    for line in lines:
        program, *arguments = shlex.split(line, comments=True)
        if program == "printf":  # a list of files
            subprocess.run(line, shell=True, check=True, cwd=furnished.path)
            continue
        assert program == "cgmca"
        furnished.ok(*arguments)


def test_matlab_finds_both_results_in_one_file(furnished):
    for line in blocks("docs/start/matlab.md")[0].splitlines():
        furnished.ok(*shlex.split(line, comments=True)[1:])
    results = scipy.io.loadmat(furnished / "results.mat")
    model = scipy.io.loadmat(furnished / "model.mat")
    assert results["cleaned"].shape == (7, 60) and results["Z1"].shape == (3, 60)
    assert np.allclose(model["A1"] @ furnished.a.T + model["b1"], results["Z1"])


def test_the_table_comes_back_with_names_keys_and_limits(furnished):
    for line in blocks("docs/start/command-line.md")[1].splitlines():
        furnished.ok(*shlex.split(line, comments=True)[1:])
    header = "sample,mass [g],length [mm],width [mm],hue,gloss,density,age [d]\n"
    tables = [open(furnished / name).read() for name in ("estimated.csv", "low.csv", "high.csv")]
    assert all(table.startswith(header + "s") for table in tables)
    middle, low, high = ([row.split(",") for row in table.splitlines()[1:]] for table in tables)
    assert len(middle) == 55 and [row[0] for row in low] == [row[0] for row in middle]
    assert all(float(a) < float(b) < float(c) for one, two, three in zip(low, middle, high)
               for a, b, c in zip(one[1:], two[1:], three[1:]))
    page = open(furnished / "report.html").read()
    assert "length [mm]" in page and "synthetic" in page
