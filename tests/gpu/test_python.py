#!/usr/bin/env python3
"""The Python package on a GPU: arrays of PyTorch, CuPy and JAX that are there, and results that stay there.

    PYTHONPATH=build/python tests/gpu/test_python.py
"""

import gc
import importlib
import sys

import numpy as np

import cgmca
from cgmca import _core
from running import Skipped, run


def pairs(n=3000, d1=120, d2=90, seed=0):
    random = np.random.default_rng(seed)
    causes = random.normal(size=(n, 60))
    X = causes @ random.normal(size=(60, d1)) / 8 + 0.3 * random.normal(size=(n, d1)) + 5
    Y = causes @ random.normal(size=(60, d2)) / 8 + 0.3 * random.normal(size=(n, d2)) - 3
    return X, Y


X, Y = pairs()


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Skipped(error) from None


def torch_cuda(array):
    return library("torch").as_tensor(array, device="cuda")


def close(found, expected, tolerance=1e-9):
    scale = np.linalg.norm(expected)
    distance = np.linalg.norm(np.asarray(found) - expected) / scale
    assert distance <= tolerance, f"differs by {distance:.2e}"


def fails(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), f"{error!r} does not say {text!r}"
    else:
        raise AssertionError(f"nothing raised, {kind.__name__} expected: {text}")


def same_fit(found, expected, tolerance=1e-9):
    assert found.certificate_.route.startswith("cuda"), found.certificate_.route
    for domain in (0, 1):
        close(found.A_[domain], expected.A_[domain], tolerance)
        close(found.means_[domain], expected.means_[domain], tolerance)
    assert found.ranks_ == expected.ranks_


def test_version_says_what_was_found():
    usable, description = _core.cuda_device()
    assert usable and "GiB" in description


def test_a_summary_of_torch_tensors_is_that_of_the_processor():
    summary = cgmca.Summary(120, 90, device="cuda")
    for part in (slice(0, 1000), slice(1000, 3000)):
        summary.add(torch_cuda(X[part]), torch_cuda(Y[part]))
    assert (summary.device, summary.n_samples) == ("cuda", 3000)
    here = cgmca.Summary(120, 90).add(X, Y)
    close(summary.means[0], here.means[0])
    same_fit(cgmca.MCA(40).fit_summary(summary), cgmca.MCA(40).fit_summary(here))


def test_a_summary_of_cupy_arrays_is_that_of_the_processor():
    cupy = library("cupy")
    summary = cgmca.Summary(120, 90, device="cuda").add(cupy.asarray(X), cupy.asarray(Y))
    same_fit(cgmca.MCA(40).fit_summary(summary), cgmca.MCA(40).fit(X, Y))


def test_estimators_fit_torch_tensors_where_they_are():
    for covariance in ("identity", "data1"):
        found = cgmca.CGMCA(covariance, 40, device="cuda").fit(torch_cuda(X), torch_cuda(Y))
        same_fit(found, cgmca.CGMCA(covariance, 40).fit(X, Y))
    assert found.n_features_in_ == 120


def test_float32_tensors_are_widened_on_the_device():
    single = X.astype(np.float32), Y.astype(np.float32)
    found = cgmca.MCA(40, device="cuda").fit(*map(torch_cuda, single))
    same_fit(found, cgmca.MCA(40).fit(*single))


def test_parts_of_a_tensor_are_used_without_a_copy():
    wide = torch_cuda(np.hstack([X, Y]))
    found = cgmca.MCA(40, device="cuda").fit(wide[::2, :120], wide[::2, 120:])
    same_fit(found, cgmca.MCA(40).fit(X[::2], Y[::2]))


def test_host_and_device_mix_and_partial_fits_add_up():
    found = cgmca.MCA(40, device="cuda")
    found.partial_fit(torch_cuda(X[:1700]), Y[:1700]).partial_fit(X[1700:], torch_cuda(Y[1700:]))
    same_fit(found, cgmca.MCA(40).fit(X, Y))


def test_three_domains_and_weights_on_the_device():
    third = X[:, :50] + Y[:, :50]
    found = cgmca.MCA(20, device="cuda").fit([torch_cuda(X), torch_cuda(Y), torch_cuda(third)])
    expected = cgmca.MCA(20).fit([X, Y, third])
    close(found.certificate_.objective, expected.certificate_.objective)
    weights = np.arange(3000.0) % 4
    found = cgmca.MCA(40, device="cuda").fit(torch_cuda(X), torch_cuda(Y), sample_weight=weights)
    same_fit(found, cgmca.MCA(40).fit(X, Y, sample_weight=weights))


def test_torch_gets_its_results_as_tensors_on_the_device_without_a_copy():
    torch = library("torch")
    model = cgmca.MCA(40).fit(X, Y)
    Z = model.transform(torch_cuda(X))
    assert isinstance(Z, torch.Tensor) and Z.is_cuda and Z.dtype == torch.float64
    close(Z.cpu(), model.transform(X))
    both = model.transform(torch_cuda(X), torch_cuda(Y))
    close(both[1].cpu(), model.apply(Y, 2))
    for method in ("lmmse", "exact", "mahalanobis", "lsqr"):
        found = model.translate(torch_cuda(Y), method=method)
        assert found.is_cuda
        close(found.cpu(), model.translate(Y, method=method))
    close(model.predict(torch_cuda(X.astype(np.float32))).cpu(), model.predict(X.astype(np.float32)))
    close(model.inverse_transform(Z).cpu(), model.inverse_transform(model.transform(X)))


def test_a_device_array_shares_its_memory_with_torch_and_cupy():
    torch = library("torch")
    model = cgmca.MCA(40).fit(X, Y)
    result = model._fitted().apply(1, torch_cuda(X))
    assert isinstance(result, _core.DeviceArray) and result.device == "cuda:0"
    one, two = torch.from_dlpack(result), torch.from_dlpack(result)
    address = result.__cuda_array_interface__["data"][0]
    assert one.data_ptr() == two.data_ptr() == address
    one[0, 0] = 42
    assert float(two[0, 0]) == 42
    cupy = library("cupy")
    assert cupy.from_dlpack(result).data.ptr == address
    assert cupy.asarray(result).data.ptr == address  # by __cuda_array_interface__


def test_cupy_and_jax_get_their_own_arrays():
    model = cgmca.MCA(40).fit(X, Y)
    cupy = library("cupy")
    found = model.transform(cupy.asarray(X))
    assert isinstance(found, cupy.ndarray)
    close(cupy.asnumpy(found), model.transform(X))
    with cupy.cuda.Stream(non_blocking=True):
        shifted = cupy.asarray(X) + 1
        found = model.transform(shifted)
    close(cupy.asnumpy(found), model.transform(X + 1))


def test_jax_arrays():
    jax = library("jax")
    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        raise Skipped("JAX sees no GPU")
    model = cgmca.MCA(40).fit(X, Y)
    found = model.transform(jax.numpy.asarray(X))
    assert isinstance(found, jax.Array), type(found)
    close(found, model.transform(X))


def test_work_queued_in_another_stream_is_waited_for():
    torch = library("torch")
    model = cgmca.MCA(40).fit(X, Y)
    stream = torch.cuda.Stream()
    there = torch_cuda(X)
    torch.cuda.synchronize()
    for _ in range(20):
        with torch.cuda.stream(stream):
            big = torch.randn(4000, 4000, device="cuda")
            for _ in range(5):
                big = big @ big / 100
            late = there + 0 * big[0, 0].nan_to_num().to(torch.float64)
            found = model.transform(late)
            close(found.cpu(), model.transform(X))


def test_tensors_may_be_overwritten_as_soon_as_add_returns():
    torch = library("torch")
    expected = cgmca.MCA(40).fit(X, Y)
    summary = cgmca.Summary(120, 90, device="cuda")
    one, two = torch_cuda(X), torch_cuda(Y)
    stream = torch.cuda.Stream()
    summary.add(one, two)
    with torch.cuda.stream(stream):
        one.fill_(float("nan"))
        two.fill_(float("nan"))
    same_fit(cgmca.MCA(40).fit_summary(summary), expected)


def test_tensors_in_host_memory_pinned_or_not_are_taken():
    torch = library("torch")
    expected = cgmca.MCA(40).fit(X, Y)
    for pinned in (False, True):
        one, two = torch.as_tensor(X), torch.as_tensor(Y)
        if pinned:
            one, two = one.pin_memory(), two.pin_memory()
        close(cgmca.MCA(40).fit(one, two).A_[0], expected.A_[0])
        same_fit(cgmca.MCA(40, device="cuda").fit(one, two), expected)


def test_missing_values_on_the_device():
    holes = X.copy()
    holes[7, 2] = np.nan
    model = cgmca.MCA(40).fit(X, Y)
    fails(ValueError, "domain 1 holds NaN at row 7, column 2", lambda: model.transform(torch_cuda(holes)))
    fails(ValueError, "domain 1 holds NaN at row 7, column 2",
          lambda: cgmca.MCA(40, device="cuda").fit(torch_cuda(holes), torch_cuda(Y)))
    found = model.transform(torch_cuda(holes), missing="pass").cpu().numpy()
    assert np.isnan(found[7]).all() and not np.isnan(np.delete(found, 7, axis=0)).any()


def test_what_cannot_be_used_is_told():
    torch = library("torch")
    there, other = torch_cuda(X), torch_cuda(Y)
    fit = cgmca.MCA(40, device="cuda").fit
    fails(ValueError, "device is 'cpu': set device='cuda'", lambda: cgmca.MCA(40).fit(there, other))
    fails(ValueError, "samples on a GPU for a summary on the processor",
          lambda: cgmca.Summary(120, 90).add(there, other))
    fails(TypeError, "X holds float16 on the GPU", lambda: fit(there.half(), other))
    fails(TypeError, "X holds bfloat16 on the GPU", lambda: fit(there.bfloat16(), other))
    fails(TypeError, "X holds int64 on the GPU", lambda: fit(there.long(), other))
    fails(TypeError, "X holds complex128 on the GPU", lambda: fit(there.to(torch.complex128), other))
    fails(ValueError, "does not have its rows one after another", lambda: fit(there.T.contiguous().T, other))
    fails(ValueError, "X has 3 dimensions", lambda: fit(there[None], other))
    fails(ValueError, "Y has 1 dimension", lambda: fit(there, other[:, 0]))
    fails(ValueError, "3000", lambda: fit(there, other[:100]))
    fails(ValueError, "features", lambda: cgmca.Summary(120, 91, device="cuda").add(there, other))
    fails(BufferError, "require", lambda: fit(there.clone().requires_grad_(), other))
    model = cgmca.MCA(40).fit(X, Y)
    fails(ValueError, "takes 120 features, the samples given have 90", lambda: model.transform(other))
    fails(TypeError, "lies on a GPU", lambda: model.fuse(there, other))
    fails(TypeError, "lies on a GPU", lambda: model.translate(other, return_std=True))
    fails(TypeError, "numpy() copies it to host memory", lambda: np.asarray(model._fitted().apply(1, there)))


def test_results_free_their_memory():
    torch = library("torch")
    model = cgmca.MCA(40).fit(X, Y)
    there = torch_cuda(np.tile(X, (20, 1)))

    def used_after(calls):
        for _ in range(calls):
            model.transform(there)
        gc.collect()
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        return total - free

    before = used_after(20)
    assert used_after(400) - before < 64 << 20  # 400 results would be 7.7 GB


def without_gpu():
    usable, description = _core.cuda_device()
    return "" if usable else description


if __name__ == "__main__":
    sys.exit(run(sys.modules[__name__], without_gpu))
