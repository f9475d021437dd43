"""Pickles of cgmca 0.2 load, whatever the modules were called then."""

import pathlib
import pickle

import numpy as np
import pytest

import cgmca


@pytest.fixture(scope="module")
def old():
    return pickle.loads((pathlib.Path(__file__).parent / "cgmca_0_2.pickle").read_bytes())


def test_estimators_of_0_2_do_what_they_did(old):
    X, Y, Z = old["samples"]
    assert type(old["fitted"]) is cgmca.CGMCA and type(old["multi"]) is cgmca.MCA
    assert np.allclose(old["fitted"].translate(Y), old["translated"], rtol=1e-12)
    assert np.allclose(old["multi"].fuse({"a": X, "c": Z}), old["fused"], rtol=1e-12)
    again = old["fitted"].fit(X, Y)
    assert np.allclose(again.translate(Y), old["translated"], rtol=1e-10)


def test_an_estimator_of_0_2_takes_in_more_pairs(old):
    X, Y, _ = old["samples"]
    model = old["one target, by partial_fit"]
    assert model.predict(X).shape == (40,)
    assert model.partial_fit(X, Y[:, 0]).n_samples_ == 80


def test_what_a_fit_of_0_2_said_is_read(old):
    X, Y, _ = old["samples"]
    assert old["certificate"].excess < 1e-12 and old["certificate"].constrained[0].ridge > 0
    assert old["tests"].significant() == 2 and old["tests"][0].wilks.p < 1e-6
    assert list(old["permutations"].p_values) == [0.1, 0.1]
    assert old["tuned"].params in [trial.params for trial in old["tuned"].trials]
    assert old["tuned"].estimator.fit(X, Y).n_samples_ == old["summary"].n_samples == 40


def test_tests_of_correlations_go_through_pickle(pairs):
    tests = cgmca.MCA().fit(*pairs).tests()
    assert pickle.loads(pickle.dumps(tests)) == tests
