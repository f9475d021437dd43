"""Python threads, the GIL, and Ctrl-C."""

import _thread
import signal
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cgmca
from cgmca import CGMCA, MCA, Summary
from conftest import interrupt, make_pairs


def test_eight_threads_at_once_agree_with_one():
    X, Y = make_pairs(n=3000, d1=120, d2=80, causes=40)
    model = CGMCA("data1", 40).fit(X, Y)

    def work(rows):
        return [model.transform(X[rows]), *model.transform(X[rows], Y[rows]), model.translate(Y[rows]),
                model.translate(Y[rows], method="exact"), model.translate(X[rows], 1, 2, method="lsqr"),
                model.inverse_transform(model.apply(Y[rows], 2))]

    parts = [slice(first, first + 200) for first in range(0, 3000, 200)] * 4
    alone = [work(part) for part in parts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(work, parts))
    for one, other in zip(alone, together):
        for a, b in zip(one, other):
            assert np.abs(a - b).max() <= 1e-12 * np.abs(a).max()


def test_eight_threads_fitting_at_once_agree_with_one():
    data = [make_pairs(n=300, d1=30, d2=20, seed=seed) for seed in range(8)]
    alone = [MCA().fit(X, Y).A_[0] for X, Y in data]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda pair: MCA().fit(*pair).A_[0], data))
    for a, b in zip(alone, together):
        assert np.allclose(a, b, rtol=0, atol=1e-9)


def test_threads_may_share_a_summary():
    X, Y = make_pairs(n=4000)
    summary = Summary(8, 6)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda rows: summary.add(X[rows], Y[rows]), np.array_split(np.arange(4000), 80)))
    assert summary.n_samples == 4000
    assert np.allclose(MCA().fit_summary(summary).canonical_correlations_, MCA().fit(X, Y).canonical_correlations_)


def test_other_threads_run_while_a_fit_is_at_work():
    X, Y = make_pairs(n=2500, d1=500, d2=400, causes=100, noise=1)
    done = threading.Event()
    fitting = threading.Thread(target=lambda: (MCA().fit(X, Y), done.set()))
    fitting.start()
    turns, longest, last = 0, 0.0, time.perf_counter()
    while not done.is_set():
        time.sleep(0.001)
        now = time.perf_counter()
        turns, longest, last = turns + 1, max(longest, now - last), now
    fitting.join()
    # A fit that kept the GIL would leave no more than a few turns, before and after it.
    assert turns > 20, f"{turns} turns, the longest took {longest:.2f} s"


@pytest.mark.parametrize("work", [
    "cgmca.Summary(600, 600, accumulate='qr').add(X, X)",
    "cgmca.MCA(5).fit(X, X[:, :100])",
    "model.transform(X)",
    "model.translate(X, 1, 2)",
    "cgmca.image.wiener2(X, (20, 30))",
    "cgmca.image.ssim(X, X, (20, 30))",
])
def test_ctrl_c_stops_long_work(work):
    """A loop that takes many seconds, interrupted after the first half second or so of it."""
    said, seconds = interrupt(textwrap.dedent("""
        base = np.random.default_rng(0).normal(size=(4000, 600))
        # 400,000 samples that take no memory: windows over the same numbers
        X = np.lib.stride_tricks.as_strided(base, (400_000, 600), (8, 8), writeable=False)
        model = cgmca.MCA(300).fit(base, base[:, :400] + np.random.default_rng(1).normal(size=(4000, 400)))
        """), work)
    # One block of the work; generous, for machines that others use too.
    assert said == "interrupted" and float(seconds) < 10


@pytest.mark.parametrize("again", [False, True])
def test_ctrl_c_stops_one_long_factorization(again):
    """Of 1,400 + 1,400 features: seconds within LAPACK, which cannot be asked to stop. What it was doing may go on, but
    not after the program has ended, and the summary can be used again."""
    said, seconds, *more = interrupt(textwrap.dedent("""
        X, Y = np.random.default_rng(0).normal(size=(2, 3000, 1400))
        summary = cgmca.Summary(1400, 1400).add(X, Y)
        """), "cgmca.MCA().fit_summary(summary)",
        "print(cgmca.MCA(2).fit_summary(summary).n_features_in_)" if again else "", seconds=0.3)
    assert said == "interrupted" and float(seconds) < 2
    assert more == (["1400"] if again else [])


def test_an_interrupted_summary_is_as_it_was():
    X = np.random.default_rng(0).normal(size=(60000, 300))
    summary = Summary(300, 300, accumulate="qr").add(X[:100], X[:100])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            for _ in range(1000):
                summary.add(X, X)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert (summary.n_samples - 100) % 60000 == 0


def test_the_number_of_blas_threads_can_be_set():
    before = cgmca.threads()
    if before == 0:
        pytest.skip("this BLAS does not tell its threads")
    try:
        cgmca.set_threads(1)
        assert cgmca.threads() == 1
    finally:
        cgmca.set_threads(before)
    with pytest.raises(ValueError, match="0 threads asked for"):
        cgmca.set_threads(0)
    assert cgmca.blas_description()
