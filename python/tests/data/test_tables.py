"""Data frames, Arrow tables, sparse and complex arrays, missing values: what is taken and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import cgmca
from cgmca import MCA, Summary
from conftest import make_pairs


def frames(n=200):
    X, Y = make_pairs(n=n)
    index = [f"sample{i}" for i in range(n)]
    return (pd.DataFrame(X, columns=[f"x{j}" for j in range(8)], index=index),
            pd.DataFrame(Y, columns=[f"y{j}" for j in range(6)], index=index))


def reversed_columns(frame):
    return frame[frame.columns[::-1]]


# Names


@pytest.mark.parametrize("use", [
    lambda m, X, Y: m.translate(Y), lambda m, X, Y: m.translate(X, 1, 2), lambda m, X, Y: m.apply(X),
    lambda m, X, Y: m.apply(Y, domain=2), lambda m, X, Y: m.verify(X, Y)["objective"],
], ids=["translate", "translate back", "apply", "apply 2", "verify"])
def test_columns_in_another_order_are_put_right_with_a_warning(use):
    X, Y = frames()
    model = MCA(3).fit(X, Y)
    expected = use(model, X, Y)
    with pytest.warns(UserWarning, match="the columns of [Xy] are in another order .* put in order by name") as caught:
        found = use(model, reversed_columns(X), reversed_columns(Y))
    assert np.array_equal(found, expected)
    assert all("\n" not in str(warning.message) and warning.filename == __file__ for warning in caught)


def test_extra_samples_are_put_in_order_too():
    X, Y = frames(400)
    expected = MCA(3).fit(X[:100], Y[:100], extra=[X[100:], Y[100:]])
    with pytest.warns(UserWarning, match=r"the columns of extra\[[01]\]"):
        model = MCA(3).fit(X[:100], Y[:100], extra=[reversed_columns(X[100:]), reversed_columns(Y[100:])])
    assert np.array_equal(model.A_[0], expected.A_[0])
    by_order = cgmca.tune(X[:100], Y[:100], n_components=[2], extra=[X[100:], None])
    with pytest.warns(UserWarning, match=r"the columns of extra\[0\]"):
        by_name = cgmca.tune(X[:100], Y[:100], n_components=[2], extra=[reversed_columns(X[100:]), None])
    assert repr(by_name.trials) == repr(by_order.trials)


@pytest.mark.parametrize("use", [
    lambda m, X, Y: m.transform(X), lambda m, X, Y: m.predict(X), lambda m, X, Y: m.score(X, Y),
    lambda m, X, Y: m.partial_fit(X, Y), lambda m, X, Y: m.transform([X, Y]), lambda m, X, Y: m.partial_fit([X, Y]),
])
def test_methods_that_scikit_learn_defines_refuse_an_X_in_another_order_as_it_demands(use):
    X, Y = frames()
    model = MCA(3).partial_fit(X, Y)
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        use(model, reversed_columns(X), Y)


@pytest.mark.parametrize("use", [
    lambda m, X, Y: m.transform(X, Y), lambda m, X, Y: m.score(X, Y), lambda m, X, Y: m.partial_fit(X, Y),
    lambda m, X, Y: m.transform({1: X, 2: Y}), lambda m, X, Y: m.partial_fit([X, Y]),
])
def test_and_so_they_do_with_a_y_in_another_order(use):
    X, Y = frames()
    model = MCA(3).partial_fit(X, Y)
    with pytest.raises(ValueError, match="y: The .*(?s:.)*must be in the same order as they were in fit"):
        use(model, X, reversed_columns(Y))
    assert model.n_samples_ == 200


@pytest.mark.parametrize("use", [
    lambda m, X, Y: m.transform(X), lambda m, X, Y: m.predict(X), lambda m, X, Y: m.translate(X, 1, 2),
    lambda m, X, Y: m.apply(Y, 2), lambda m, X, Y: m.translate(Y), lambda m, X, Y: m.verify(X, Y),
    lambda m, X, Y: m.partial_fit(X, Y), lambda m, X, Y: m.summary_.add(X, Y),
    lambda m, X, Y: m.score(X.rename(columns={"age": "x3"}), Y),
])
def test_other_names_are_an_error_that_lists_them(use):
    X, Y = frames()
    model = MCA(3).partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- age.*yet now missing:\n- [xy]3"):
        use(model, X.rename(columns={"x3": "age"}), Y.rename(columns={"y3": "age"}))
    assert model.n_samples_ == 200


def test_arrays_need_no_names():
    X, Y = frames()
    model = MCA(3).fit(X, Y)
    assert np.array_equal(model.translate(Y.to_numpy()), model.translate(Y))
    unnamed = MCA(3).fit(X.to_numpy(), Y.to_numpy())
    assert unnamed.feature_names_y_ is None and not hasattr(unnamed, "feature_names_in_")
    assert np.array_equal(unnamed.apply(reversed_columns(Y), 2), unnamed.apply(reversed_columns(Y).to_numpy(), 2))


def test_a_data_frame_is_translated_to_a_data_frame():
    X, Y = frames()
    model = MCA(3).fit(X, Y)
    translated = model.translate(Y)
    assert list(translated.columns) == list(X.columns) and translated.index.equals(Y.index)
    assert list(model.translate(X, 1, 2).columns) == list(Y.columns)
    assert list(model.inverse_transform(pd.DataFrame(model.apply(Y, 2))).columns) == list(X.columns)
    samples, errors = model.translate(Y, return_std=True)
    assert isinstance(samples, pd.DataFrame) and errors.shape == samples.shape
    assert list(errors.columns) == list(X.columns)
    assert isinstance(model.translate(Y.to_numpy()), np.ndarray)
    assert isinstance(model.predict(X), np.ndarray)  # as every predict of scikit-learn
    assert list(model.feature_names_y_) == list(Y.columns)


def test_names_of_one_target_are_those_of_its_series():
    X, Y = frames()
    model = MCA().fit(X, Y["y2"])
    assert list(model.translate(X, 1, 2).columns) == ["y2"] and model.predict(X).shape == (200,)


def test_a_loaded_model_knows_the_names(tmp_path):
    X, Y = frames()
    model = MCA(3).fit(X, Y)
    cgmca.save(model, tmp_path / "model")
    again = cgmca.load(tmp_path / "model")
    assert list(again.feature_names_in_) == list(X.columns) and list(again.feature_names_y_) == list(Y.columns)
    with pytest.warns(UserWarning, match="the columns of y"):
        pd.testing.assert_frame_equal(again.translate(reversed_columns(Y)), model.translate(Y))


def test_summaries_keep_and_check_names():
    X, Y = frames()
    summary = Summary(8, 6).add(X[:100], Y[:100])
    assert summary.feature_names == (list(X.columns), list(Y.columns))
    with pytest.warns(UserWarning, match="the columns of y are in another order"):
        summary.add(X[100:], reversed_columns(Y[100:]))
    model = MCA(3).fit_summary(summary)
    assert np.allclose(model.A_[1], MCA(3).fit(X, Y).A_[1]) and list(model.feature_names_y_) == list(Y.columns)
    with pytest.raises(ValueError, match="x3.*age|age.*x3"):
        summary.merge(Summary(8, 6).add(X.rename(columns={"x3": "age"}), Y))
    assert summary.n_samples == 200
    with pytest.raises(ValueError, match="domain 2 has 6 features in this summary, the samples added have 5"):
        Summary(8, 6).add(X, Y[Y.columns[:5]])
    with pytest.raises(ValueError, match="NaN"):
        (empty := Summary(8, 6)).add(X, with_nan()[1])
    assert empty.feature_names == (None, None) and empty.n_samples == 0


# Missing values


def with_nan():
    X, Y = frames()
    X.iloc[17, 3] = X.iloc[17, 4] = np.nan
    Y.iloc[20, 1] = np.nan
    return X, Y


@pytest.mark.parametrize("fit", [MCA.fit, MCA.partial_fit])
def test_nan_is_an_error_with_count_and_place(fit):
    X, Y = with_nan()
    message = (r"domain 1 holds NaN at row 17, column 3 \('x3'\), counted from 0. It is the first of 2 NaN in 1 of the "
               "200 rows of X; missing='drop' leaves out the pairs")
    with pytest.raises(ValueError, match=message):
        fit(MCA(3), X, Y)
    with pytest.raises(ValueError, match=r"domain 2 holds NaN at row 20, column 1, counted from 0"):
        fit(MCA(3), X.fillna(0).to_numpy(), Y.to_numpy())


@pytest.mark.parametrize("fit", [MCA.fit, MCA.partial_fit])
@pytest.mark.parametrize("convert", [lambda A: A, lambda A: A.to_numpy(), lambda A: A.convert_dtypes(),
                                     lambda A: scipy.sparse.csr_matrix(A.to_numpy())],
                         ids=["frame", "array", "nullable", "sparse"])
def test_missing_drop_leaves_out_pairs_with_nan_in_any_domain(fit, convert):
    X, Y = with_nan()
    with pytest.warns(UserWarning, match="2 of 200 pairs were left out .*the first of them at row 17"):
        model = fit(MCA(3), convert(X), convert(Y), missing="drop")
    good = ~(X.isna().any(axis=1) | Y.isna().any(axis=1))
    assert model.n_samples_ == 198
    assert np.allclose(model.A_[0], MCA(3).fit(X[good].to_numpy(), Y[good].to_numpy()).A_[0], rtol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(MCA(3), X[good], Y[good], missing="drop")


def test_extra_samples_with_nan_are_left_out_too():
    X, Y = frames()
    more = pd.concat([X, with_nan()[0]])
    expected = MCA(3).fit(X, Y, extra=[more.dropna(), None])
    assert np.array_equal(MCA(3).fit(X, Y, extra=[more, None], missing="drop").A_[0], expected.A_[0])


@pytest.mark.parametrize("use", [
    lambda m, X, Y, **how: m.transform(X, **how), lambda m, X, Y, **how: m.apply(X, 1, **how),
    lambda m, X, Y, **how: m.predict(X, **how), lambda m, X, Y, **how: m.translate(X, 1, 2, **how),
])
def test_nan_rows_pass_only_when_asked_for(use):
    X, Y = frames()
    model = MCA(3).fit(X, Y)
    expected = np.array(use(model, X, Y))
    expected[17] = np.nan
    bad = with_nan()[0]
    with pytest.raises(ValueError, match=r"domain 1 holds NaN at row 17, column 3 \('x3'\).*missing='pass' makes rows"):
        use(model, bad, Y)
    found = np.array(use(model, bad, Y, missing="pass"))
    assert np.allclose(found, expected, equal_nan=True) and np.isnan(found[17]).all()
    sparse = scipy.sparse.csr_matrix(bad.to_numpy())
    with pytest.warns(UserWarning, match="valid feature names"):
        assert np.allclose(use(model, sparse, Y, missing="pass"), expected, equal_nan=True)
    with pytest.raises(ValueError, match="inf"):
        use(model, bad.replace(bad.iloc[3, 2], np.inf), Y, missing="pass")
    for check in (model.score, model.verify):
        with pytest.raises(ValueError, match=r"domain 2 holds NaN at row 20, column 1 \('y1'\)"):
            check(X, with_nan()[1])
    with pytest.raises(ValueError, match="missing is 'drop'; give 'error' or 'pass'"):
        use(model, X, Y, missing="drop")
    with pytest.raises(ValueError, match="missing is 'pass'; give 'error' or 'drop'"):
        MCA().fit(X, Y, missing="pass")


# Complex and sparse


def test_complex_samples_are_refused_with_a_way_out():
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 3)) + 1j * random.normal(size=(50, 3))
    Y = random.normal(size=(50, 2))
    for use in (lambda: MCA().fit(X, Y), lambda: MCA().fit(Y, X), lambda: MCA().fit(pd.DataFrame(X), Y),
                lambda: MCA().fit(Y, Y).transform(X), lambda: MCA().fit(Y, Y).translate(X), lambda: cgmca.tune(X, Y)):
        with pytest.raises(ValueError, match=r"Complex data not supported: .*real_features\(.*'power' or 'stack'"):
            use()
    with pytest.raises(TypeError, match=r"X holds complex128; real numbers are needed. cgmca.real_features\("):
        Summary(3, 2).add(X, Y)
    assert np.allclose(cgmca.real_features(X, "magnitude"), np.abs(X))
    assert np.allclose(cgmca.real_features(X, "power"), np.abs(X) ** 2)
    assert np.array_equal(cgmca.real_features(X, "stack"), np.c_[X.real, X.imag])
    frame = cgmca.real_features(pd.DataFrame(X, columns=list("abc")), "stack")
    assert list(frame.columns) == ["a.re", "b.re", "c.re", "a.im", "b.im", "c.im"]
    with pytest.raises(ValueError, match="how is 'phase'; give 'magnitude'"):
        cgmca.real_features(X, "phase")
    assert MCA().fit(cgmca.real_features(X, "stack"), Y).n_features_in_ == 6


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_matrix])
def test_sparse_samples_are_made_dense_block_by_block(kind, monkeypatch):
    monkeypatch.setattr(cgmca._data.tables, "_BLOCK", 700)  # 50 rows
    X, Y = make_pairs()
    X[X < 4], Y[Y > -2] = 0, 0
    expected, model = MCA(3).fit(X, Y), MCA(3).fit(kind(X), kind(Y))
    assert np.array_equal(model.A_[0], expected.A_[0])
    for use in (lambda m, X, Y: m.transform(X), lambda m, X, Y: m.translate(Y), lambda m, X, Y: m.predict(X),
                lambda m, X, Y: m.score(X, Y), lambda m, X, Y: m.verify(X, Y)["objective"]):
        assert np.allclose(use(model, kind(X), kind(Y)), use(expected, X, Y), rtol=1e-12)
    parts = MCA(3).partial_fit(kind(X), Y)
    bad = X.copy()
    bad[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN at row 399, column 0"):
        parts.partial_fit(kind(bad), Y)
    assert parts.n_samples_ == 200


# Other tables


def check_table(make):
    """make(frame) → the same as another kind of table."""
    X, Y = frames()
    model = MCA(3).fit(make(X), make(Y))
    assert list(model.feature_names_in_) == list(X.columns) and list(model.feature_names_y_) == list(Y.columns)
    expected = MCA(3).fit(X, Y)
    assert np.array_equal(model.A_[0], expected.A_[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(model.transform(make(X)), expected.transform(X))
        translated = model.translate(make(Y))
    assert type(translated) is type(make(Y))
    with pytest.warns(UserWarning, match="the columns of y"):
        again = model.translate(make(reversed_columns(Y)))
    for table in (translated, again):
        assert cgmca._data.tables.names_of(table) == list(X.columns)
        assert np.array_equal(cgmca._data.tables.plain(table), expected.translate(Y))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(make(reversed_columns(X)))
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- age"):
        model.predict(make(X.rename(columns={"x3": "age"})))
    assert Summary(8, 6).add(make(X), make(Y)).feature_names[1] == list(Y.columns)
    with pytest.warns(UserWarning, match="2 of 200 pairs"):
        assert MCA(3).fit(*map(make, with_nan()), missing="drop").n_samples_ == 198


OTHERS = {"text": ["x", "y"] * 100, "category": pd.Categorical(["x", "y"] * 100),
          "time": pd.date_range("2026-01-01", periods=200), "duration": pd.to_timedelta(range(200), "s")}


@pytest.mark.parametrize("kind", OTHERS)
def test_columns_without_numbers_are_named(pairs, kind):
    X, Y = (pd.DataFrame(rows).add_prefix("f") for rows in pairs)
    model = MCA(2).fit(X, Y)
    for work in (lambda: MCA(2).fit(X.assign(sort=OTHERS[kind]), Y), lambda: MCA(2).fit(X, Y.assign(sort=OTHERS[kind])),
                 lambda: model.transform(X.assign(f3=OTHERS[kind])),
                 lambda: cgmca.tune(X.assign(sort=OTHERS[kind]), Y),
                 lambda: cgmca.Summary(9, 6).add(X.assign(sort=OTHERS[kind]), Y)):
        with pytest.raises(ValueError, match="these columns hold no numbers:\n- (sort|f3)\n"):
            work()


def test_numbers_of_any_type_are_taken(pairs):
    X, Y = (pd.DataFrame(rows).add_prefix("f") for rows in pairs)
    X["f0"] = np.arange(200) % 7
    expected = MCA(2).fit(X, Y).coef_
    for changed in (X["f0"].astype(str), X["f0"].astype("Int64"), X["f0"].astype("category"), X["f0"].astype(object)):
        assert np.array_equal(MCA(2).fit(X.assign(f0=changed), Y).coef_, expected)
        assert np.array_equal(MCA(2).fit(X, Y).predict(X.assign(f0=changed)), MCA(2).fit(X, Y).predict(X))


def test_what_is_masked_is_missing(pairs):
    """NumPy hands out what is behind a mask."""
    X, Y = pairs
    masked = np.ma.masked_where(np.arange(X.size).reshape(X.shape) == 83, X)  # row 10, column 3
    model = MCA(2).fit(X, Y)
    for work in (lambda: MCA(2).fit(masked, Y), lambda: MCA(2).fit(Y, masked), lambda: model.transform(masked),
                 lambda: Summary(8, 6).add(masked, Y)):
        with pytest.raises(ValueError, match="row 10, column 3|sample 10|NaN"):
            work()
    with pytest.warns(UserWarning, match="1 of 200 pairs were left out"):
        dropped = MCA(2).fit(masked, Y, missing="drop")
    assert np.array_equal(dropped.coef_, MCA(2).fit(np.delete(X, 10, axis=0), np.delete(Y, 10, axis=0)).coef_)
    assert np.isnan(model.transform(masked, missing="pass")[10]).all()


def test_polars_frames():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    check_table(lambda frame: polars.DataFrame({name: frame[name].to_numpy() for name in frame}))


def test_arrow_tables():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    check_table(lambda frame: pyarrow.table({name: frame[name].to_numpy() for name in frame}))
    nulls = pyarrow.table({"a": [1, None, 3], "b": [True, False, True]})
    assert np.array_equal(cgmca._data.tables.plain(nulls), [[1, 1], [np.nan, 0], [3, 1]], equal_nan=True)
    with pytest.raises(ValueError, match="hold no numbers:\n- name"):
        MCA().fit(pyarrow.table({"name": ["x", "y"]}), [1, 2])


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrow"])
def test_parquet_and_feather_files(tmp_path, name):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    X, _ = frames()
    X = X.reset_index(drop=True)
    X.to_parquet(tmp_path / name) if name.endswith("parquet") else X.to_feather(tmp_path / name)
    assert np.array_equal(cgmca.read(tmp_path / name), X)
    assert np.array_equal(cgmca.read(str(tmp_path / name), columns=True), X.T)
    pd.testing.assert_frame_equal(cgmca.read(tmp_path / name, frame=True), X)
    parts = list(cgmca.read_blocks(tmp_path / name, 70))
    assert [len(part) for part in parts] == [70, 70, 60] and np.array_equal(np.concatenate(parts), X)
    (tmp_path / name).write_bytes(b"no table")
    with pytest.raises(ValueError, match=name):
        cgmca.read(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        cgmca.read(tmp_path / ("no" + name))


def test_without_pyarrow_its_files_say_what_to_install(tmp_path, monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not installed
    for name in ("a.parquet", "a.feather", "a.arrow"):
        with pytest.raises(ImportError, match=f"{name}' needs pyarrow: pip install pyarrow"):
            cgmca.read(tmp_path / name)


def test_read_gives_frames_with_the_names_of_text(tmp_path):
    (tmp_path / "a.csv").write_text("length,width\n1,2\n3,4\n")
    frame = cgmca.read(tmp_path / "a.csv", frame=True)
    pd.testing.assert_frame_equal(frame, pd.DataFrame({"length": [1.0, 3], "width": [2.0, 4]}))
    np.save(tmp_path / "a.npy", np.eye(2))
    assert list(cgmca.read(tmp_path / "a.npy", frame=True).columns) == [0, 1]
