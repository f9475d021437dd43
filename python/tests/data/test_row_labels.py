"""Matched samples are paired by position; row labels of pandas that say something else are an error or a warning."""

import warnings

import numpy as np
import pandas
import pytest

import cgmca
from cgmca import MCA
from conftest import make_pairs, make_views

LABELS = {
    "default": list(range(40)), "text": [f"s{i:02}" for i in range(40)],
    "dates": list(pandas.date_range("2026-01-01", periods=40)), "pairs": [(i // 5, i % 5) for i in range(40)],
}


def index(kind):
    labels = LABELS[kind]
    return (pandas.RangeIndex(40) if kind == "default" else
            pandas.MultiIndex.from_tuples(labels) if kind == "pairs" else pandas.Index(labels))


def frames(kind, m=2):
    """The same samples of m domains, the last in another order; its name in messages."""
    views = make_views(n=40, features=(5, 4, 3)[:m])
    labelled = [pandas.DataFrame(X, index=index(kind)) for X in views]
    shuffled = labelled[-1].iloc[np.random.default_rng(1).permutation(40)]
    return labelled, [*labelled[:-1], shuffled], "y" if m == 2 else f"X{m}"


def uses(m):
    """What takes matched samples of m domains: name → function(domains, weights)."""
    views = make_views(n=40, features=(5, 4, 3)[:m])
    weights, labels = np.ones(40), np.arange(40) % 2
    fitted = MCA(2).fit(views)
    given = {
        "fit": lambda domains: MCA(2).fit(domains),
        "fit, calibrated": lambda domains: MCA(2, calibrate=5).fit(domains),
        "partial_fit": lambda domains: MCA(2).partial_fit(domains),
        "partial_fit again": lambda domains: MCA(2).partial_fit(views).partial_fit(domains),
        "tune": lambda domains: cgmca.tune(domains, ridge=[1], n_components=[1], repeats=1),
        "tune by labels": lambda domains: cgmca.tune(domains, labels=labels, ridge=[1], n_components=[1], repeats=1),
        "permutation_test": lambda domains: cgmca.permutation_test(domains, permutations=9),
        "verify": lambda domains: fitted.verify(domains),
        "fuse": lambda domains: fitted.fuse(domains),
        "summary": lambda domains: cgmca.Summary(*(X.shape[1] for X in domains)).add(*domains),
        "weighted": lambda domains: MCA(2).fit(domains, sample_weight=weights),
    }
    if m == 2:
        given |= {
            "fit(X, Y)": lambda domains: MCA(2).fit(*domains), "score": lambda domains: fitted.score(*domains),
            "fit_transform": lambda domains: MCA(2).fit_transform(*domains),
            "tune(X, Y)": lambda domains: cgmca.tune(*domains, ridge=[1], n_components=[1], repeats=1),
            "permutation_test(X, Y)": lambda domains: cgmca.permutation_test(*domains, permutations=9),
            "fuse(X, Y)": lambda domains: fitted.fuse(*domains), "verify(X, Y)": lambda domains: fitted.verify(*domains),
            "fit_summary": lambda domains: MCA(2).fit_summary(cgmca.Summary(5, 4).add(*domains))}
    else:
        given["translate"] = lambda domains: fitted.translate([None, *domains[1:]], target=1)
    return given


@pytest.mark.parametrize("m, use", [(m, use) for m in (2, 3) for use in uses(m)])
def test_the_same_labels_in_another_order_are_an_error_that_names_both_ways(m, use):
    function = uses(m)[use]
    for kind in LABELS:
        right, wrong, name = frames(kind, m)
        first = "X2" if use == "translate" else "X" if m == 2 else "X1"
        with pytest.raises(ValueError, match="in another order") as refused:
            function(wrong)
        assert f"give {name}.loc[{first}.index]" in str(refused.value)
        assert f"give {name}.to_numpy()" in str(refused.value)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            function(right)
            function([*right[:-1], wrong[-1].loc[right[0].index]])
            function([*wrong[:-1], wrong[-1].to_numpy()])


def test_the_first_rows_that_differ_are_named():
    X, Y = (pandas.DataFrame(rows, index=list("abcd")) for rows in np.random.default_rng(0).normal(size=(2, 4, 2)))
    with pytest.raises(ValueError, match="row 2 is 'c' in X and 'd' in y"):
        MCA(1).fit(X, Y.loc[list("abdc")])


def test_weights_and_labels_are_compared_too(pairs):
    X, Y = (pandas.DataFrame(rows) for rows in pairs)
    series = pandas.Series(np.arange(200.0), name="weight")
    with pytest.raises(ValueError, match="X and sample_weight have the same row labels in another order"):
        MCA().fit(X, Y, sample_weight=series[::-1])
    with pytest.raises(ValueError, match="X and sample_weight have the same"):
        MCA().fit(X, Y).score(X, Y, sample_weight=series[::-1])
    with pytest.raises(ValueError, match="X and sample_weight have the same"):
        cgmca.Summary(8, 6).add(X, Y, sample_weight=series[::-1])
    with pytest.raises(ValueError, match="X and labels have the same"):
        cgmca.tune(X, Y, labels=series[::-1] % 2)
    one = MCA().fit(X, Y, sample_weight=series[::-1].loc[X.index])
    assert np.array_equal(one.coef_, MCA().fit(*pairs, sample_weight=np.arange(200.0)).coef_)


def test_labels_that_occur_twice_are_compared_as_a_whole(pairs):
    X, Y = (pandas.DataFrame(rows, index=np.arange(200) // 2) for rows in pairs)
    with pytest.raises(ValueError, match="same row labels in another order.*sort both by more than their index"):
        MCA().fit(X, Y[::-1])
    assert np.array_equal(MCA().fit(X, Y).coef_, MCA().fit(*pairs).coef_)


def test_some_labels_at_other_places_are_a_warning(pairs):
    """As where dropna() left out other rows of X than of Y."""
    X, Y = (pandas.DataFrame(rows, index=[f"s{i}" for i in range(200)]) for rows in pairs)
    with pytest.warns(UserWarning, match="paired by position.*row 6 is 's6' in X and 's7' in y") as told:
        MCA().fit(X.drop("s7"), Y.drop("s5"))
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MCA().fit(X.drop("s7"), Y.drop("s5").to_numpy())
        MCA().fit(X, Y.set_axis([f"t{i}" for i in range(200)], axis=0))  # labels that have nothing to do with each other


def test_a_default_index_says_nothing_beside_other_labels(pairs):
    X, Y = pairs
    some = np.random.default_rng(2).permutation(1000)[:200]
    expected = MCA().fit(X, Y).coef_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for one, two in ((pandas.DataFrame(X, index=some), pandas.DataFrame(Y)),
                         (pandas.DataFrame(X), pandas.DataFrame(Y, index=some)), (pandas.DataFrame(X, index=some), Y)):
            assert np.array_equal(MCA().fit(one, two).coef_, expected)


def test_numbers_are_the_same_labels_whatever_their_type(pairs):
    X, Y = pairs
    one, two = pandas.DataFrame(X), pandas.DataFrame(Y, index=np.arange(200.0))
    assert np.array_equal(MCA().fit(one, two).coef_, MCA().fit(X, Y).coef_)
    with pytest.raises(ValueError, match="another order"):
        MCA().fit(one, two[::-1])


def test_a_part_of_a_cluster_compares_its_rows():
    from cgmca.engines.parts import Recipe
    X, Y = (pandas.DataFrame(rows, columns=[f"f{j}" for j in range(rows.shape[1])]) for rows in make_pairs(n=30))
    recipe = Recipe((8, 6))
    with pytest.raises(ValueError, match="partition 3: X and y have the same row labels in another order"):
        recipe.added(None, [X, Y[::-1]], None, "partition 3")


# A fit that fails

def state(model):
    return {key: value for key, value in vars(model).items() if key.endswith("_") or key == "_one_dimensional"}


@pytest.mark.parametrize("fit", ["fit", "partial_fit", "fit_summary"])
def test_a_fit_that_fails_leaves_the_model_as_it_was(fit):
    X, Y = make_pairs()
    old = pandas.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    new = pandas.DataFrame(X[:, :5], columns=[f"new{j}" for j in range(5)])
    model = MCA(3).fit(old, Y[:, :4])
    before, expected = state(model), model.transform(old)
    model.n_components = 99 if fit != "partial_fit" else "three"
    failing = {"fit": lambda: model.fit(new, Y), "partial_fit": lambda: model.partial_fit(new, Y),
               "fit_summary": lambda: model.fit_summary(cgmca.Summary(5, 6).add(new, Y))}[fit]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            with pytest.raises((ValueError, TypeError)):
                failing()
    model.n_components = 3
    assert {key: list(np.ravel(value)) for key, value in state(model).items()} == {
        key: list(np.ravel(value)) for key, value in before.items()}
    assert model.n_features_in_ == 8 and list(model.feature_names_in_) == list(old.columns)
    assert np.array_equal(model.transform(old), expected)


def test_bad_settings_do_not_count_the_samples_of_partial_fit(pairs):
    X, Y = pairs
    model = MCA(2).partial_fit(X[:100], Y[:100])
    with pytest.raises(TypeError):
        model.set_params(ridge=object()).partial_fit(X[100:], Y[100:])
    assert model.summary_.n_samples == 100
    model.set_params(ridge=0.0).partial_fit(X[100:], Y[100:])
    assert model.summary_.n_samples == 200 and np.allclose(model.coef_, MCA(2).fit(X, Y).coef_)


# Files bring the estimator back as it was

@pytest.mark.parametrize("estimator", [MCA(), cgmca.CGMCA(), MCA(1, ridge=0.1, calibrate=5),
                                       cgmca.CGMCA("data1", 2, max_rank=3)])
@pytest.mark.parametrize("target", [slice(None), slice(0, 1), 0])
def test_a_file_keeps_class_and_shape(pairs, tmp_path, estimator, target):
    X, Y = pairs
    Y = Y[:, target]
    if Y.ndim == 1 or Y.shape[1] == 1:
        estimator = estimator.set_params(n_components=1)
    model = estimator.fit(X, Y)
    cgmca.save(model, tmp_path / "model")
    again = cgmca.load(tmp_path / "model")
    assert type(again) is type(model)
    assert again.predict(X).shape == model.predict(X).shape == Y.shape
    assert np.array_equal(again.predict(X), model.predict(X)) and again.score(X, Y) == model.score(X, Y)
    assert again.get_params() == model.get_params()
    cgmca.save(again, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    refitted = again.fit(X, Y)  # from its parameters
    assert np.allclose(refitted.predict(X), model.predict(X))


def test_a_subclass_comes_back_as_its_base(pairs, tmp_path):
    class Ours(MCA):
        pass

    cgmca.save(Ours(2).fit(*pairs), tmp_path / "model")
    assert type(cgmca.load(tmp_path / "model")) is MCA
