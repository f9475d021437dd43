#!/usr/bin/env python3
"""The test suites of scikit-learn (CCA), statsmodels (CanCorr), mvlearn (CCA, MCCA) and cca-zoo (its linear models), run
against our estimators in place of theirs.   usage: run.py BUILD_DIR [PEER ...]

`tools/install-peers tests` has put the packages there, from PyPI; nothing of theirs is in this repository. An adapter,
with_PEER.py, gives our estimators the constructors and methods of theirs, and plugin.py puts it in place before their
tests are imported. What does not apply is in exceptions.py with its reason. A test that fails and is not listed there is
an error, and so is one that is listed and does not fail.
"""

import collections
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

from exceptions import EXCEPTIONS

HERE = pathlib.Path(__file__).resolve().parent


def suites(build):
    """Of each peer: Python, folder to start in, pytest's arguments, folders to import from."""
    installed = build / "peers-tests"
    python = str(installed / "venv/bin/python")
    source = next(iter(sorted(installed.glob("cca_zoo-*/tests"))), installed / "cca_zoo/tests").parent
    mvlearn = build / "peers-mvlearn"
    return {
        "sklearn": (python, installed, ["--pyargs", "sklearn.cross_decomposition.tests.test_pls"], []),
        "statsmodels": (python, installed, ["--pyargs", "statsmodels.multivariate.tests.test_cancorr"], []),
        "mvlearn": ("/usr/bin/python3", mvlearn, ["tests/embed/test_cca.py", "tests/embed/test_mcca.py"], [mvlearn]),
        "cca_zoo": (python, source, ["-o", "addopts=", "-m", "not slow", "tests"], []),
    }


def run(peer, build):
    """How each test ended: name → 'passed', 'failed' or 'skipped'; how many were left out; and pytest's output."""
    python, folder, arguments, folders = suites(build)[peer]
    with tempfile.TemporaryDirectory() as work:
        results = pathlib.Path(work) / "results.json"
        environment = {**os.environ, "CGMCA_PEER": f"with_{peer}", "CGMCA_PEER_RESULTS": str(results),
                       "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
                       "PYTHONPATH": os.pathsep.join(map(str, [build / "python", HERE, *folders]))}
        done = subprocess.run([python, "-m", "pytest", "-q", "--tb=short", "-p", "plugin", "-p", "no:cacheprovider",
                               *arguments], cwd=folder, env=environment, capture_output=True, text=True)
        output = done.stdout + done.stderr
        if done.returncode not in (0, 1) or not results.exists():
            sys.exit(f"{peer}: pytest ended with {done.returncode}\n{output}")
        found = json.loads(results.read_text())
        return found["endings"], found["left_out"], output


def compare(endings, listed):
    """The errors, and how many tests each exception accounts for."""
    errors, used = [], collections.Counter()
    for test, ending in sorted(endings.items()):
        name = test.partition("::")[2]
        rows = [pattern for pattern in listed if fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))]
        if ending == "failed" and not rows:
            errors.append(f"failed and is not listed: {name}")
        if ending == "passed" and rows:
            errors.append(f"passed and is listed as '{rows[0]}': {name}")
        if ending == "failed" and rows:
            used[rows[0]] += 1
    errors += [f"listed, and no such test failed: {pattern}" for pattern in listed if not used[pattern]]
    return errors, used


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    wrong = 0
    for peer in sys.argv[2:] or EXCEPTIONS:
        endings, left_out, output = run(peer, build)
        errors, used = compare(endings, EXCEPTIONS[peer])
        counts = collections.Counter(endings.values())
        print(f"{peer}: {counts['passed']} of {len(endings) - counts['skipped']} pass"
              + (f", {counts['skipped']} skipped for want of a package or setting" if counts["skipped"] else "")
              + f"; {left_out} of its other estimators and functions left out")
        for pattern, number in used.items():
            print(textwrap.fill(f"{number} × {pattern}: {EXCEPTIONS[peer][pattern]}", 120, initial_indent="  ",
                                subsequent_indent="      "))
        for error in errors:
            print(f"  ERROR: {error}")
        if errors:
            print(output)
        wrong += len(errors)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
