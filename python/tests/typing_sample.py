"""What a user writes, for mypy --strict."""

from typing import Any, List, Tuple

import numpy as np
from numpy.typing import NDArray

import cgmca
import cgmca.dask
import cgmca.spark
from cgmca import CGMCA, MCA, Covariance, Summary
from cgmca.image import medfilt2, ssim

Array = NDArray[np.float64]


def denoise(clean: Array, noisy: Array) -> Tuple[Array, float]:
    model: CGMCA = CGMCA(covariance="data1", n_components=5, ridge="auto").fit(clean, noisy)
    first, second = model.A_
    assert first is not None and second is not None
    products: Array = first @ first.T
    excess: float = model.certificate_.excess
    ranks: Tuple[int, ...] = model.ranks_
    mapped: Array = model.apply(noisy, domain=2)
    cgmca.save(model, "model")
    again: CGMCA = cgmca.load("model")
    correlations: Array = again.canonical_correlations_
    print(products.shape, ranks, mapped, correlations[:3])
    cleaned: Array = model.translate(noisy)
    return medfilt2(cleaned, (28, 28)), excess + float(np.mean(ssim(cleaned, clean, (28, 28))))


def predict(path: str) -> float:
    X: Array = cgmca.read(path)
    Y = X[:, :2]
    model = CGMCA(Covariance.diagonal([1.0, 2.0]), ridge=0.1).fit(X, Y, sample_weight=X[:, 0], missing="drop")
    predicted: Array = model.predict(X, missing="pass")
    directions: Array = model.x_rotations_ @ model.coef_[:, :1].T
    print(predicted - model.intercept_, directions, model.feature_names_y_)
    return model.score(X, Y)


def match(optical: Array, radar: Array, infrared: Array) -> Tuple[Array, float]:
    model = CGMCA(n_components=2, graph="star:1", ridge=[0.0, 0.1, "auto"], random_state=1)
    model = model.fit({"optical": optical, "radar": radar, "infrared": infrared})
    fused: Array = model.fuse([optical, None, infrared])
    mapped: List[Array] = model.transform([optical, radar, infrared])
    estimate, error = model.translate([radar, infrared], source=[2, "infrared"], target="optical", return_std=True)
    print(mapped[0], estimate / error, model.certificate_.starts[0].kind, model.domain_names_[0])
    print(model.verify([optical, radar, infrared])["gap"], model.apply(radar, "radar"), model.common_correlations_[0, 1])
    return fused, model.certificate_.gap


def on_a_cluster(frame: Any, X: Any, Y: Any) -> Array:
    model: MCA = cgmca.dask.fit(MCA(2), X, Y)
    summary: Summary = cgmca.spark.summarize(frame, "x", ["y1", "y2"], weight="w")
    print(summary.n_samples, cgmca.dask.tune(X, Y, ridge=[0, 1]).params, cgmca.spark.fuse(model, frame, "x", "y"))
    translated: Array = cgmca.dask.translate(model, Y).compute()
    return translated


def gather(paths: List[Tuple[str, str]]) -> MCA:
    summary = Summary(3, 2, accumulate="qr")
    for x, y in paths:
        for X, Y in zip(cgmca.read_blocks(x), cgmca.read_blocks(y)):
            summary = summary.add(X, Y, sample_weight=np.ones(len(X)))
    print(summary.n_samples + 1, summary.n_features[0], summary.total_weight / 2)
    try:
        return MCA(2).fit_summary(summary)
    except cgmca.InfeasibleError as error:
        return MCA(error.data_rank).fit_summary(summary)
