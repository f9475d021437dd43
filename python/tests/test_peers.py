"""tests/peers/run.py, which `make test-peers` runs: its comparison of what failed with what is listed."""

import sys

import pytest

from conftest import ROOT

LISTED = {"test_a[CCA-*]": "another convention", "test_b": "another one"}
FAILED = {"f.py::test_a[CCA-1]": "failed", "f.py::test_a[CCA-2]": "failed", "f.py::test_b": "failed",
          "f.py::test_c": "passed", "f.py::test_d": "skipped"}


@pytest.fixture
def run(monkeypatch):
    folder = ROOT / "tests" / "peers"
    if not folder.exists():
        pytest.skip("the tests of the source tree are not here")
    monkeypatch.syspath_prepend(str(folder))
    yield __import__("run")
    for name in ("run", "exceptions"):
        sys.modules.pop(name, None)


def test_what_is_listed_and_fails_is_no_error(run):
    assert run.compare(FAILED, LISTED) == ([], {"test_a[CCA-*]": 2, "test_b": 1})


@pytest.mark.parametrize("endings, error", [
    ({"f.py::test_c": "failed"}, "failed and is not listed: test_c"),
    ({"f.py::test_a[CCA-2]": "passed"}, "passed and is listed as 'test_a[CCA-*]': test_a[CCA-2]"),
    ({"f.py::test_b": "passed"}, "passed and is listed as 'test_b': test_b"),
    ({"f.py::test_b": "skipped"}, "listed, and no such test failed: test_b"),
    ({"f.py::test_a[PLS-1]": "failed"}, "failed and is not listed: test_a[PLS-1]"),
])
def test_everything_else_is_one(run, endings, error):
    assert error in run.compare({**FAILED, **endings}, LISTED)[0]


def test_every_exception_has_a_reason_and_every_peer_an_adapter(run):
    for peer, listed in run.EXCEPTIONS.items():
        assert (run.HERE / f"with_{peer}.py").exists()
        assert all(len(reason) > 20 for reason in listed.values())
    assert set(run.suites(ROOT / "build")) == set(run.EXCEPTIONS)
