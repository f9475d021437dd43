"""Error bars on new samples, fusion and the likelihood covariances, as a Python user has them."""

import warnings

import numpy as np
import pytest
from scipy import stats

import cgmca
from cgmca import CGMCA, MCA


def draw(random, n, d1=12, d2=10, causes=4):
    one, two = random.normal(size=(causes, d1)), random.normal(size=(causes, d2))

    def samples(count):
        hidden = random.normal(size=(count, causes))
        return hidden @ one + random.normal(size=(count, d1)), hidden @ two + random.normal(size=(count, d2))

    return samples(n), samples(400)


@pytest.mark.parametrize("calibrate", [None, 10])
def test_ninety_per_cent_intervals_hold_nine_of_ten_new_values(calibrate):
    random = np.random.default_rng(1)
    covered = []
    for _ in range(20):
        (X, Y), (new_X, new_Y) = draw(random, 100)
        model = MCA(4 if calibrate else None, calibrate=calibrate).fit(X, Y)
        translated, lower, upper = model.translate(new_Y, return_interval=0.9)
        assert (lower < translated).all() and np.allclose(upper - translated, translated - lower)
        covered.append(((lower <= new_X) & (new_X <= upper)).mean())
    assert 0.88 < np.mean(covered) < 0.92


# Features of target and source, pairs, ridge, components, and whether the formula may be trusted.
@pytest.mark.parametrize("d1, d2, n, ridge, k, given", [
    (10, 10, 200, 0.1, None, True), (40, 40, 40, 0.1, 2, True), (200, 2, 40, 0.1, None, True), (200, 200, 60, 1, 2, True),
    (5, 5, 40, "auto", None, True), (30, 12, 60, 10, None, True), (2, 200, 40, 0.1, None, False),
    (3, 100, 60, 0.01, None, False), (3, 100, 60, "auto", 2, False), (2, 30, 40, 0, None, False), (3, 40, 35, 0, None, False),
])
def test_intervals_by_formula_hold_or_are_not_given(d1, d2, n, ridge, k, given):
    random, covered = np.random.default_rng(d1 + d2), []
    for _ in range(12):
        (X, Y), (new_X, new_Y) = draw(random, n, d1, d2, 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cgmca.FitWarning)  # some fits are saturated
            model = MCA(k, ridge=ridge).fit(X, Y)
        if not given:
            with pytest.raises(ValueError, match="no error bars.* the option calibrate"):
                model.translate(new_Y, return_interval=0.9)
            return
        _, lower, upper = model.translate(new_Y, return_interval=0.9)
        covered.append(((lower <= new_X) & (new_X <= upper)).mean())
    assert 0.86 < np.mean(covered) < 0.95


def test_few_pairs_are_calibrated_with_fewer_in_each_fold():
    covered = []
    for seed in range(20):
        (X, Y), (new_X, new_Y) = draw(np.random.default_rng([8, seed]), 15, 3, 40)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cgmca.FitWarning)
            model = MCA(2, ridge=1, calibrate=10).fit(X, Y)  # 10 folds of one or two pairs
        _, lower, upper = model.translate(new_Y, return_interval=0.9)
        covered.append(((lower <= new_X) & (new_X <= upper)).mean())
    assert 0.85 < np.mean(covered) < 0.95


def test_calibration_bears_features_that_rarely_vary():
    """As pixels that are dark in nearly all images: a few samples have a leverage of thousands."""
    covered = []
    for seed in range(5):
        random = np.random.default_rng([7, seed])
        rare = (random.random((600, 20)) < 0.01) * np.exp(2 * random.normal(size=(600, 20)))
        X = np.c_[random.normal(size=(600, 5)), rare]
        Y = X[:, :5] @ random.normal(size=(5, 15)) + random.normal(size=(600, 15))
        model = MCA(calibrate=10).fit(X[:300], Y[:300])
        _, lower, upper = model.translate(X[300:], 1, 2, return_interval=0.9)
        covered.append(((lower <= Y[300:]) & (Y[300:] <= upper)).mean())
    assert 0.88 < np.mean(covered) < 0.92 and min(covered) > 0.85


def test_intervals_are_standard_errors_times_students_quantile():
    (X, Y), (_, new_Y) = draw(np.random.default_rng(2), 60)
    model = MCA(3, calibrate=5).fit(X, Y)
    translated, errors = model.translate(new_Y, return_std=True)
    _, lower, _ = model.translate(new_Y, return_interval=0.95)
    assert np.allclose(translated - lower, stats.t.ppf(0.975, 59) * errors)


def test_a_calibrated_model_is_saved_and_loaded(tmp_path):
    (X, Y), (_, new_Y) = draw(np.random.default_rng(3), 60)
    model = CGMCA("data1", 3, calibrate=5).fit(X, Y)
    cgmca.save(model, tmp_path / "model")
    again = cgmca.load(tmp_path / "model")
    assert again.calibrate == 5
    assert np.array_equal(again.translate(new_Y, return_std=True)[1], model.translate(new_Y, return_std=True)[1])


def test_what_cannot_be_calibrated_says_so():
    (X, Y), _ = draw(np.random.default_rng(4), 60)
    with pytest.raises(ValueError, match="which partial_fit does not keep; use fit"):
        MCA(3, calibrate=5).partial_fit(X, Y)
    with pytest.raises(ValueError, match="no error bars: 11 matched samples are too few for the 10 directions used"):
        MCA(10).fit(X[:11], Y[:11]).translate(Y, return_std=True)
    with pytest.raises(ValueError, match="return_std or return_interval, not both"):
        MCA(3).fit(X, Y).translate(Y, return_std=True, return_interval=0.9)


def test_fusing_is_the_mean_of_both_and_the_estimate_of_one():
    (X, Y), _ = draw(np.random.default_rng(5), 80)
    model = MCA(3).fit(X, Y)
    both = (model.apply(X) + model.apply(Y, 2)) / 2
    assert np.allclose(model.fuse(X, Y), both)
    alone = model.fuse(y=Y)
    slope, *_ = np.linalg.lstsq(model.apply(Y, 2), both, rcond=None)
    assert np.allclose(alone, model.apply(Y, 2) @ slope)
    assert np.allclose(model.fuse(X, method="mean"), model.apply(X))
    X[7, 2] = np.nan
    fused = model.fuse(X, Y)
    assert np.allclose(fused[7], alone[7]) and np.allclose(fused[8], both[8])
    with pytest.raises(ValueError, match="fuse needs X, y or both"):
        model.fuse()


def test_likelihood_makes_the_likeliest_partner_the_nearest():
    (X, Y), (new_X, new_Y) = draw(np.random.default_rng(6), 200)
    model = CGMCA("likelihood2").fit(X, Y)

    def found(estimator):
        Zx, Zy = estimator.transform(new_X, new_Y)
        distances = ((Zy[:, None, :] - Zx[None, :, :]) ** 2).sum(axis=2)
        return (distances.argmin(axis=1) == np.arange(len(Zy))).mean()

    assert found(model) > found(MCA().fit(X, Y))
    with pytest.raises(ValueError, match="likelihood2 needs correlations below 1.*Give a ridge"):
        CGMCA("likelihood2").fit(X[:8], Y[:8])
    with pytest.raises(ValueError, match="uses all directions; leave n_components out"):
        CGMCA("likelihood2", 3).fit(X, Y)
    assert CGMCA("likelihood2", ridge=1).fit(X[:8], Y[:8]).certificate_.constraint_residuals[0] < 1e-9


def test_tuning_by_likelihood_and_partner_needs_no_labels():
    (X, Y), _ = draw(np.random.default_rng(7), 60)
    for criterion in ("likelihood", "partner"):
        result = cgmca.tune(X, Y, covariance=["likelihood2"], max_rank=[None], ridge=[0.1, 1, 10], criterion=criterion)
        assert result.criterion == criterion and len(result.trials) == 3
        assert all(np.isfinite(trial.errors[criterion][0]) for trial in result.trials)


def test_the_place_of_the_partner_among_more_samples():
    (X, Y), (more, _) = draw(np.random.default_rng(7), 60)
    settings = dict(covariance=["likelihood2"], max_rank=[None], ridge=[1], criterion="partner")
    alone = cgmca.tune(X, Y, **settings).trials[0].errors["partner"][0]
    among = cgmca.tune(X, Y, references=more, **settings).trials[0].errors["partner"][0]
    assert 0 < alone < 1 and 0 < among < 1 and alone != among
    with pytest.raises(ValueError, match="references are for criterion='partner'"):
        cgmca.tune(X, Y, references=more, ridge=[1])
    with pytest.raises(ValueError, match="features; the pairs have"):
        cgmca.tune(X, Y, references=more[:, :2], **settings)
