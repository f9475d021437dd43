"""Arrays of other libraries by DLPack, and arrays that are on a GPU: what can be tested where there is none.

tests/gpu/test_python.py does the same on a GPU, with PyTorch, CuPy and JAX.
"""

import gc
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import make_pairs
from dlpack_producer import Producer

import cgmca
from cgmca import _core

X, Y = make_pairs()


def gpu_array(array, **more):
    return Producer(array, device=(2, 0), **more)


# Host memory by DLPack alone

@pytest.mark.parametrize("version", [None, (1, 0), (1, 1)])
@pytest.mark.parametrize("device", [(1, 0), (3, 0)], ids=["cpu", "pinned"])
def test_a_summary_takes_host_memory_by_dlpack_alone(version, device):
    producers = Producer(X, device, version), Producer(Y, device, version)
    found = cgmca.Summary(8, 6).add(*producers)
    np.testing.assert_array_equal(found.means[0], cgmca.Summary(8, 6).add(X, Y).means[0])
    gc.collect()
    for producer in producers:
        assert producer.given == producer.deleted > 0 and producer.used()
        assert set(producer.streams) == {None}


@pytest.mark.parametrize("array", [X.astype(np.float32), np.asfortranarray(X), X[::2, ::-1], (100 * X).astype(np.int16),
                                   X > 5], ids=["float32", "by columns", "strided", "int16", "bool"])
def test_any_type_and_strides_that_numpy_knows_are_taken(array):
    np.testing.assert_array_equal(_core.from_dlpack(Producer(array), "X"), array)


def test_a_tensor_without_strides_and_with_an_offset_is_read_where_it_begins():
    np.testing.assert_array_equal(_core.from_dlpack(Producer(X, compact=True), "X"), X)
    np.testing.assert_array_equal(_core.from_dlpack(Producer(X, offset=64), "X"), X)


def test_estimators_take_host_memory_by_dlpack_alone():
    expected = cgmca.MCA(3).fit(X, Y)
    found = cgmca.MCA(3).fit(Producer(X), Producer(Y))
    np.testing.assert_array_equal(found.A_[0], expected.A_[0])
    np.testing.assert_array_equal(found.transform(Producer(X)), expected.transform(X))
    np.testing.assert_array_equal(found.translate(Producer(Y)), expected.translate(Y))
    np.testing.assert_array_equal(found.inverse_transform(Producer(expected.transform(X))),
                                  expected.inverse_transform(expected.transform(X)))


def test_a_dlpack_of_another_major_version_is_refused_and_given_back():
    producer = Producer(X, version=(2, 0))
    with pytest.raises(BufferError, match="DLPack 2 is not known"):
        _core.from_dlpack(producer, "X")
    assert producer.deleted == 1


def test_numbers_that_numpy_does_not_know_are_named():
    with pytest.raises(TypeError, match="X holds bfloat16"):
        _core.from_dlpack(Producer(X.astype(np.float16), code=4), "X")


# Arrays on a GPU that cannot be used

def test_an_array_on_a_gpu_needs_a_summary_there():
    with pytest.raises(ValueError, match="samples on a GPU for a summary on the processor: make it with device='cuda'"):
        cgmca.Summary(8, 6).add(gpu_array(X), gpu_array(Y))
    with pytest.raises(ValueError, match="y lies on a GPU, and device is 'cpu': set device='cuda'"):
        cgmca.MCA(3).fit(X, gpu_array(Y))


@pytest.mark.parametrize("array, more, error, text", [
    (X.astype(np.float16), {}, TypeError, "X holds float16 on the GPU; float64 or float32 is needed"),
    (X.astype(np.int64), {}, TypeError, "X holds int64 on the GPU"),
    (X.astype(complex), {}, TypeError, "X holds complex128 on the GPU"),
    (X[0], {}, ValueError, "X has 1 dimension; an array of shape"),
    (np.asfortranarray(X), {}, ValueError, r"rows one after another on the GPU \(strides 1, 200\); give a contiguous"),
    (X[:, ::2], {}, ValueError, r"rows one after another on the GPU \(strides 8, 2\)"),
    (X, {"device": (2, 3)}, ValueError, "X lies on GPU 3; .* CUDA_VISIBLE_DEVICES=3"),
    (X, {"device": (10, 0)}, TypeError, "on a device of DLPack's kind 10"),
])
def test_an_array_on_a_gpu_that_cannot_be_used_is_told_why(array, more, error, text):
    producer = Producer(array, **{"device": (2, 0), **more})
    with pytest.raises(error, match=text):
        _core.from_dlpack(producer, "X")
    gc.collect()
    assert producer.deleted == producer.given


def test_the_default_stream_is_asked_for_on_a_gpu():
    producer = gpu_array(X, version=(1, 0))
    taken = _core.from_dlpack(producer, "X")
    assert producer.streams == [1] and producer.deleted == 0 and producer.used()
    assert (taken.shape, taken.dtype, taken.device) == ((200, 8), np.float64, "cuda:0")
    interface = taken.__cuda_array_interface__
    assert interface["data"] == (X.ctypes.data, False) and interface["strides"] == (64, 8)
    del taken
    assert producer.deleted == 1


def test_parts_of_rows_are_used_where_they_are():
    part = _core.from_dlpack(gpu_array(X[::2, 2:5]), "X")
    assert part.__cuda_array_interface__["strides"] == (128, 8) and part.shape == (100, 3)


def test_methods_that_work_in_host_memory_say_so():
    model = cgmca.MCA(3).fit(X, Y)
    for call in (lambda: model.fuse(gpu_array(X), gpu_array(Y)), lambda: model.score(gpu_array(X), gpu_array(Y)),
                 lambda: model.verify(gpu_array(X), gpu_array(Y))):
        with pytest.raises(TypeError, match="lies on a GPU; here arrays in host memory are needed"):
            call()
    with pytest.raises(TypeError, match="lies on a GPU; an array in host memory is needed"):
        _core.Summary(8, 6).with_more([gpu_array(X), gpu_array(Y)])


def test_without_a_gpu_the_reason_is_told():
    model = cgmca.MCA(3).fit(X, Y)
    if cgmca._core.cuda_device()[0]:
        pytest.skip("there is a GPU")
    with pytest.raises(RuntimeError, match="Use the device cpu"):
        model.transform(gpu_array(X))


# What is handed out

def test_a_device_array_goes_to_numpy_without_a_copy_and_outlives_its_owner():
    array = _core.to_device(X, "cpu")
    assert array.shape == X.shape and len(array) == 200 and array.ndim == 2 and array.device == "cpu"
    assert array.__dlpack_device__() == (1, 0) and not hasattr(array, "__cuda_array_interface__")
    view = np.from_dlpack(array)
    again = np.from_dlpack(array)
    assert view.ctypes.data == again.ctypes.data
    del array, again
    gc.collect()
    np.testing.assert_array_equal(view, X)


def test_a_capsule_that_nobody_takes_frees_its_numbers():
    array = _core.to_device(X, "cpu")
    for version in (None, (1, 0)):
        array.__dlpack__(max_version=version)
    with pytest.raises(BufferError, match="without a copy"):
        array.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="another device"):
        array.__dlpack__(dl_device=(2, 0))


def test_numpy_is_told_how_to_get_a_device_array():
    array = _core.to_device(X, "cpu")
    with pytest.raises(TypeError, match=r"numpy\(\) copies it to host memory"):
        np.asarray(array)
    np.testing.assert_array_equal(array.numpy(), X)


def test_results_for_a_device_array_stay_on_its_device():
    model = cgmca.CGMCA("data1", 3).fit(X, Y)
    there = _core.to_device(Y, "cpu")
    for method in ("lmmse", "exact", "mahalanobis", "lsqr"):
        found = model.translate(there, method=method)
        assert isinstance(found, _core.DeviceArray)
        np.testing.assert_allclose(found.numpy(), model.translate(Y, method=method), rtol=1e-12, atol=1e-12)
    found = model.transform(_core.to_device(X, "cpu"))
    np.testing.assert_allclose(found.numpy(), model.transform(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(found).numpy(), model.inverse_transform(model.transform(X)),
                               rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="takes 6 features, the samples given have 8"):
        model.translate(_core.to_device(X, "cpu"))


def test_missing_values_of_a_device_array_are_found_or_passed():
    model = cgmca.MCA(3).fit(X, Y)
    holes = X.copy()
    holes[7, 2] = np.nan
    there = _core.to_device(holes, "cpu")
    with pytest.raises(ValueError, match="domain 1 holds NaN at row 7, column 2"):
        model.transform(there)
    np.testing.assert_allclose(model.transform(there, missing="pass").numpy(), model.transform(holes, missing="pass"),
                               rtol=1e-12, atol=1e-12)


# A device that is none, see tests/fake_device.cpp: its arrays are in host memory, which it alone reads.

@pytest.fixture
def on_fake(tmp_path):
    if "CGMCA_FAKE_DEVICE" not in os.environ:
        pytest.skip("needs the fake device of the build: CGMCA_FAKE_DEVICE and CGMCA_LIBRARY")
    for library in pathlib.Path(os.environ["CGMCA_LIBRARY"]).parent.glob("libcgmca*.so.0"):
        shutil.copy(library, tmp_path)
    shutil.copy(os.environ["CGMCA_FAKE_DEVICE"], tmp_path)
    here = pathlib.Path(__file__).resolve().parent

    def run(code, **more):
        program = """
            import numpy as np, cgmca
            from cgmca import _core
            from conftest import make_pairs
            from dlpack_producer import Producer
            assert _core.cuda_device() == (True, "a fake device"), _core.cuda_device()
            X, Y = make_pairs()
            def gpu(array): return Producer(array, device=(2, 0), version=(1, 0))
            """
        environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), **more,
                       "PYTHONPATH": f"{here}:{here.parent}:{os.environ.get('PYTHONPATH', '')}"}
        result = subprocess.run([sys.executable, "-c", textwrap.dedent(program) + textwrap.dedent(code)],
                                env=environment, cwd=tmp_path, text=True, capture_output=True)
        assert result.returncode == 0, result.stderr
        return result.stdout
    return run


def test_a_fit_of_arrays_on_a_device_is_that_of_the_processor(on_fake):
    on_fake("""
        expected = cgmca.MCA(3).fit(X, Y)
        for one, two in ((gpu(X), gpu(Y)), (gpu(X), Y), (X, gpu(Y.astype(np.float32))), (gpu(X[:, :]), gpu(Y))):
            found = cgmca.MCA(3, device="cuda").fit(one, two)
            assert found.certificate_.route.startswith("foreign")
            np.testing.assert_allclose(found.A_[0], expected.A_[0], rtol=1e-5, atol=1e-6)
        found = cgmca.MCA(3, device="cuda").partial_fit(gpu(X[:100]), gpu(Y[:100])).partial_fit(gpu(X[100:]), gpu(Y[100:]))
        np.testing.assert_allclose(found.A_[0], expected.A_[0], rtol=1e-9, atol=1e-9)
        assert found.n_features_in_ == 8
        parts = cgmca.Summary(8, 6, device="cuda").add(gpu(X), gpu(Y), sample_weight=np.arange(200.0))
        here = cgmca.Summary(8, 6).add(X, Y, sample_weight=np.arange(200.0))
        np.testing.assert_allclose(parts.means[1], here.means[1], rtol=1e-12)
        three = cgmca.MCA(3, device="cuda").fit([gpu(X), gpu(Y), gpu(X[:, ::1] + 1)])
        assert three.n_domains_ == 3
        """)


def test_transform_and_translate_of_arrays_on_a_device_stay_there(on_fake):
    on_fake("""
        model = cgmca.MCA(3).fit(X, Y)
        for given in (X, X.astype(np.float32), X[:0], np.tile(X, (50, 1))):
            found = model.transform(gpu(given))
            assert (found.device, found.shape) == ("cuda:0", (len(given), 3)), found
            assert found.__dlpack_device__() == (2, 0) and found.__cuda_array_interface__["version"] == 3
            np.testing.assert_allclose(found.numpy(), model.apply(given) if len(given) else np.empty((0, 3)),
                                       rtol=1e-9, atol=1e-9)
        both = model.transform(gpu(X), gpu(Y))
        np.testing.assert_allclose(both[1].numpy(), model.apply(Y, 2), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(model.translate(gpu(Y)).numpy(), model.translate(Y), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(model.predict(gpu(X)).numpy(), model.predict(X), rtol=1e-9, atol=1e-9)
        """)


def test_what_cannot_be_done_with_arrays_on_a_device_is_told(on_fake):
    on_fake("""
        def fails(text, call, kind=ValueError):
            try:
                call()
            except kind as error:
                assert text in str(error), error
            else:
                raise AssertionError(text)
        fails("missing='drop' needs arrays in host memory",
              lambda: cgmca.MCA(3, device="cuda").fit(gpu(X), gpu(Y), missing="drop"))
        fails("calibrate needs arrays in host memory",
              lambda: cgmca.MCA(3, device="cuda", calibrate=5).fit(gpu(X), gpu(Y)))
        fails("200 samples", lambda: cgmca.MCA(3, device="cuda").fit(gpu(X), gpu(Y[:150])))
        holes = X.copy(); holes[3, 1] = np.nan
        fails("domain 1 holds NaN at row 3, column 1", lambda: cgmca.MCA(3, device="cuda").fit(gpu(holes), gpu(Y)))
        model = cgmca.MCA(3).fit(X, Y)
        fails("domain 1 holds NaN at row 3, column 1", lambda: model.transform(gpu(holes)))
        fails("lies on a GPU", lambda: model.translate(gpu(Y), return_std=True), TypeError)
        """)


def test_a_device_lost_in_mid_run_is_an_error_that_changes_nothing(on_fake):
    on_fake("""
        import os
        summary = cgmca.Summary(8, 6, device="cuda").add(X, Y)
        before = summary.means[0]
        os.environ["CGMCA_FAKE_DEVICE_FAILS_AFTER"] = "0"
        many = [np.tile(one, (30, 1)) for one in (X, Y)]  # enough to be compressed, which the device does
        for call in (lambda: cgmca.MCA(3).fit_summary(summary), lambda: summary.add(gpu(many[0]), gpu(many[1]))):
            try:
                call()
            except RuntimeError as error:
                assert "lost in mid-run" in str(error)
            else:
                raise AssertionError("not lost")
        assert summary.n_samples == 200 and np.array_equal(summary.means[0], before)
        """)
