"""Nothing that Python code does with the compiled module may end the process: it works, or it raises.

Each attempt runs in a child process (os.fork), so that a crash is seen, and named by what caused it.
"""

import copy
import faulthandler
import inspect
import io
import os
import pickle
import random
import resource
import signal
import sys
import threading

import numpy as np
import pytest

import cgmca
from cgmca import _core
from conftest import make_pairs

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is needed")
SECONDS, BYTES = 30, 8 << 30

CLASSES = ["BlockReader", "Covariance", "DeviceArray", "Folds", "IncompleteSummary", "Model", "Summary"]
PICKLED = ["Folds", "IncompleteSummary", "Model", "Summary"]
JUNK = [None, True, -1, 0, 1, 2, 2 ** 31, 2 ** 40, 2 ** 62, 2 ** 63 - 1, -2 ** 63, 2 ** 70, 0.5, -1.0, float("nan"),
        float("inf"), "", "x", "identity", "auto", "full", b"", b"junk", (), [], {}, [1], [1, 2], [-1, -1],
        [2 ** 62, 2 ** 62], [None], object(), print, np.float64(2), np.empty(0), np.empty((0, 0)), np.empty((0, 3)),
        np.empty((3, 0)), np.ones(3), np.ones((3, 3)), np.eye(8), np.full((3, 3), np.nan), np.full((3, 3), np.inf),
        np.full((5, 8), 1e308), np.ones((2, 2, 2)), np.array(1.0), np.ones((3, 3), complex), np.ones((3, 3), bool),
        np.ones((3, 8), np.float32), np.ones((3, 8), np.float16), np.ones((3, 8), np.int8), np.array([["a", "b"]]),
        np.array([[1, None]]), np.zeros((2, 2), "datetime64[s]"), np.zeros(3, [("a", float), ("b", int)]),
        np.ones((8, 8))[::-2, ::-2], np.broadcast_to(np.float32(1), (2, 2 ** 40)),
        np.broadcast_to(1.0, (4, 0)), [np.ones((4, 8)), np.ones((4, 6))], [np.ones((4, 8)), np.ones((3, 6))],
        [np.full((9, 8), np.nan), np.ones((9, 6))], [np.ones((4, 8))] * 40, [[[]]]]


def ending(work):
    """How work() ends a child process: '' if it returned or raised, else the signal's name, or 'hangs'."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS)
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            sys.stderr = io.StringIO()
            faulthandler.disable()
            try:
                work()
            except Exception:  # as it should be
                pass
            status = 0
        finally:
            os._exit(status)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return "hangs" if os.WTERMSIG(status) == signal.SIGALRM else signal.Signals(os.WTERMSIG(status)).name
    return f"exit {os.WEXITSTATUS(status)}" if os.WEXITSTATUS(status) else ""


def culprits(attempts):
    """(name, ending) of the attempts, pairs of a name and a function, that end a process. They are tried together;
    where that fails, in halves."""
    def all_of_them():
        for _, work in attempts:
            try:
                work()
            except Exception:
                pass

    end = ending(all_of_them) if attempts else ""
    if not end:
        return []
    if len(attempts) == 1:
        return [(attempts[0][0], end)]
    half = len(attempts) // 2
    return (culprits(attempts[:half]) + culprits(attempts[half:]) or
            [(f"{attempts[0][0]} … {attempts[-1][0]} one after another", end)])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("no_crash") / "table.csv"
    np.savetxt(path, np.arange(30000.0).reshape(-1, 3), delimiter=",")
    return str(path)


def example(name, table):
    """An object of a compiled class."""
    X, Y = make_pairs(n=40)
    return {"Model": lambda: cgmca.MCA(2).fit(X, Y)._model, "Summary": lambda: cgmca.Summary(8, 6).add(X, Y),
            "IncompleteSummary": lambda: cgmca.IncompleteSummary(8, 6).add(X, Y),
            "Folds": lambda: _core.Folds([8, 6], 5, 1, 1).with_more([X, Y]),
            "Covariance": lambda: _core.Covariance.parse("identity:2"), "DeviceArray": lambda: _core.to_device(X, "cpu"),
            "BlockReader": lambda: _core.BlockReader(table)}[name]()


def shown(values):
    return ", ".join(f"array{value.shape}{value.dtype}" if isinstance(value, np.ndarray) else repr(value)[:60]
                     for value in values)


def calls(name, function, own, tries, seed):
    """Attempts to call a function with `own` first and then junk, as many arguments as come."""
    draw = random.Random(f"{name} {seed}")
    attempts = [(f"{name}({shown(own)})", lambda: function(*own))]
    for _ in range(tries):
        given = [draw.choice(JUNK) for _ in range(draw.choice([1, 1, 2, 2, 3, 4, 6]))]
        attempts.append((f"{name}({shown([*own, *given])})", lambda given=given: function(*own, *given)))
    return attempts


def members(one):
    return [name for name in dir(one) if name not in dir(object) or name in ("__repr__", "__reduce__", "__getstate__")]


def test_every_compiled_class_is_tried():
    compiled = [name for name, one in vars(_core).items() if inspect.isclass(one) and not issubclass(one, Exception)]
    assert sorted(compiled) == CLASSES


@pytest.mark.parametrize("name", CLASSES)
def test_every_protocol_pickles_or_raises(name, table):
    one = example(name, table)
    attempts = [("__reduce__", one.__reduce__), ("copy", lambda: copy.copy(one)),
                ("deepcopy", lambda: copy.deepcopy(one)), ("__reduce_ex__(-1)", lambda: one.__reduce_ex__(-1))]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        attempts += [(f"pickle {protocol}", lambda p=protocol: pickle.loads(pickle.dumps(one, protocol=p))),
                     (f"__reduce_ex__({protocol})", lambda p=protocol: one.__reduce_ex__(p)),
                     (f"pickle in Python {protocol}", lambda p=protocol: pickle._dumps(one, protocol=p))]
    assert culprits(attempts) == []
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for dumps in (pickle.dumps, pickle._dumps):
            if name in PICKLED:
                assert pickle.loads(dumps(one, protocol=protocol)).__getstate__() == one.__getstate__()
            else:
                with pytest.raises(TypeError, match=f"cannot pickle 'cgmca._core.{name}' object"):
                    dumps(one, protocol=protocol)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("by_parts", [False, True])
def test_estimators_pickle_by_every_protocol(pairs, protocol, by_parts):
    X, Y = pairs
    model = cgmca.MCA(2).partial_fit(X, Y) if by_parts else cgmca.MCA(2).fit(X, Y)
    attempts = [("pickle", lambda: pickle.dumps(model, protocol=protocol)), ("reduce", model.__reduce__)]
    assert culprits(attempts) == []
    again = pickle.loads(pickle.dumps(model, protocol=protocol))
    assert np.array_equal(again.transform(X), model.transform(X))


@pytest.mark.parametrize("by_parts", [False, True])
def test_joblib_brings_an_estimator_back(pairs, tmp_path, by_parts):
    import joblib
    X, Y = pairs
    model = cgmca.MCA(2).partial_fit(X, Y) if by_parts else cgmca.MCA(2).fit(X, Y)
    for compress in (0, 3):
        joblib.dump(model, tmp_path / "model", compress=compress)
        assert np.array_equal(joblib.load(tmp_path / "model").transform(X), model.transform(X))


@pytest.mark.parametrize("by_parts", [False, True])
def test_skops_brings_an_estimator_back(pairs, by_parts):
    skops = pytest.importorskip("skops.io", reason="skops is not installed (PyPI has it)")
    X, Y = pairs
    for model in (cgmca.MCA(2), cgmca.CGMCA("data1", 2, ridge="auto")):
        model = model.partial_fit(X, Y) if by_parts else model.fit(X, Y)
        assert culprits([("skops", lambda: skops.dumps(model))]) == []
        bytes_ = skops.dumps(model)
        again = skops.loads(bytes_, trusted=skops.get_untrusted_types(data=bytes_))
        assert type(again) is type(model) and np.array_equal(again.transform(X), model.transform(X))


@pytest.mark.parametrize("name", CLASSES)
def test_half_built_objects_raise(name, table):
    """What __new__ alone makes, and a subclass that forgets its base's __init__."""
    kind = type(example(name, table))
    forgetful = type("Forgetful", (kind,), {"__init__": lambda self: None})
    half = [lambda: kind.__new__(kind), lambda: object.__new__(kind), kind.__base__, forgetful,
            lambda: forgetful.__new__(forgetful)]
    attempts = []
    for i, make in enumerate(half):
        for member in members(kind):
            attempts.append((f"half {i} {member}", lambda make=make, member=member: getattr(make(), member)))
            if callable(getattr(kind, member)):
                attempts += calls(f"half {i} {member}", lambda *given, make=make, member=member:
                                  getattr(make(), member)(*given), (), 12, 1)
                attempts.append((f"{member}(half {i})", lambda make=make, member=member:
                                 getattr(example(name, table), member)(make())))
        attempts.append((f"half {i} given to all", lambda make=make: give_to_all(make())))
    assert culprits(attempts) == []


def give_to_all(one):
    for function in (_core.fit, _core.tune_folds, _core.permutation_test, _core.calibrate, cgmca.MCA().fit_summary):
        for more in ((), (None,), ([],)):
            try:
                function(one, *more)
            except Exception:
                pass
    try:
        _core.fit(cgmca.Summary(2, 2).add(np.eye(5)[:, :2], np.eye(5)[:, 1:3]), covariances=[one, one])
    except Exception:
        pass


@pytest.mark.parametrize("name", PICKLED)
def test_states_that_are_no_states_raise(name, table):
    one = example(name, table)
    kind, state = type(one), one.__getstate__()
    wrong = JUNK + [state[:k] for k in range(0, len(state), 97)] + [
        example(other, table).__getstate__() for other in PICKLED if other != name]
    draw = random.Random(5)
    for _ in range(100):
        changed = bytearray(state)
        changed[draw.randrange(len(state) // 4)] ^= 1 << draw.randrange(8)
        wrong.append(bytes(changed))

    def use(given):
        for made in (kind.__new__(kind), example(name, table)):  # half-built, and one that is in use
            try:
                made.__setstate__(given)
            except Exception:
                pass
            for member in ("__repr__", "n_samples", "count", "certificate", "__getstate__"):
                try:
                    found = getattr(made, member)
                    found() if callable(found) else None
                except Exception:
                    pass

    assert culprits([(f"__setstate__({shown([given])})", lambda given=given: use(given)) for given in wrong]) == []


@pytest.mark.parametrize("name", CLASSES)
def test_methods_take_no_junk(name, table):
    attempts = []
    for member in members(example(name, table)):
        if member in ("save", "load", "__class__", "__init_subclass__"):
            continue
        if callable(getattr(type(example(name, table)), member, None)):
            attempts += calls(member, lambda *given, member=member: getattr(example(name, table), member)(*given), (),
                              25, 2)
    attempts += calls(name, getattr(_core, name), (), 60, 3)
    attempts += [(f"{name}.__init__ again", lambda: twice(example(name, table)))]
    assert culprits(attempts) == []


def twice(one):
    for given in ((), (2, 3), ([2, 3], 2, 1, 1), ("x",)):
        try:
            one.__init__(*given)
        except Exception:
            pass
        repr(one)


def test_functions_take_no_junk(table):
    """Those of the module, with junk alone, and with junk after arguments that are right."""
    summary, model = example("Summary", table), example("Model", table)
    X, Y = make_pairs(n=40)
    identity = _core.Covariance.parse("identity:2")
    right = {"fit": (summary,), "calibrate": (model, [X, Y]), "permutation_test": (summary, [0, 0], [0.0, 0.0]),
             "tune": (X, Y), "tune_views": ([X, Y, X],), "tune_folds": (example("Folds", table),),
             "wiener2": (X,), "medfilt2": (X,), "ssim": (X, X), "psnr": (X,), "to_device": (X,)}
    attempts = []
    for name, function in sorted(vars(_core).items()):
        if name in ("write", "match_images", "read_images", "set_threads") or not callable(function) or \
                inspect.isclass(function):
            continue
        attempts += calls(name, function, (), 25, 4)
        if name in right:
            attempts += calls(name, function, right[name], 40, 5)
    for key in ("rank_tol", "max_rank", "ridge", "extra", "graph", "seed", "random_starts", "max_sweeps", "max_seconds",
                "covariances", "scale", "progress"):
        for junk in JUNK:
            given = {"covariances": [identity, identity], key: junk}
            attempts.append((f"fit({key}={shown([junk])})", lambda given=given: _core.fit(summary, **given)))
    attempts += [(f"set_threads({n})", lambda n=n: _core.set_threads(n)) for n in (-1, 0, 2 ** 20, 2 ** 31, 2 ** 63 - 1)]
    assert culprits(attempts) == []


@pytest.mark.parametrize("estimator", [cgmca.MCA(), cgmca.CGMCA("data1", 2), cgmca.MCA(1, ridge=0.1)])
def test_estimators_take_no_junk(estimator):
    X, Y = make_pairs(n=40)
    small = [junk for junk in JUNK if not isinstance(junk, np.ndarray) or junk.size < 10 ** 6]
    attempts = [(f"fit({shown(given)})", lambda given=given: estimator.fit(*given))
                for junk in small for given in ((junk,), (junk, Y), (X, junk), ([X, Y, junk],), (junk, junk))]
    fitted = cgmca.MCA(2).fit(X, Y)
    for method in ("transform", "apply", "translate", "predict", "inverse_transform", "fuse", "score", "verify"):
        attempts += [(f"{method}({shown(given)})", lambda given=given, method=method: getattr(fitted, method)(*given))
                     for junk in small for given in ((junk,), (X, junk), (junk, junk), (X, Y, junk))]
    assert culprits(attempts) == []


def test_threads_may_share_a_reader(table):
    """Each row comes out once, whichever thread takes it."""
    expected = np.loadtxt(table, delimiter=",")

    def read():
        reader = _core.BlockReader(table)
        taken, lock = [], threading.Lock()

        def work():
            while len(block := reader.next(7)):
                with lock:
                    taken.append(block)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = np.concatenate(taken)
        if not np.array_equal(found[np.argsort(found[:, 0])], expected):
            os._exit(1)

    assert culprits([(f"round {i}", read) for i in range(3)]) == []
