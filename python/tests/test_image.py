"""Image functions: every way of giving images, hand-made cases; the filters themselves are tested in C++."""

import numpy as np
import pytest

from cgmca import image

STACK = np.random.default_rng(0).uniform(size=(6, 9, 7))


@pytest.mark.parametrize("function", [image.wiener2, image.medfilt2, image.mat2gray])
def test_one_image_a_stack_and_rows_agree(function):
    whole = function(STACK)
    assert whole.shape == STACK.shape
    assert np.array_equal(np.stack([function(one) for one in STACK]), whole)
    assert np.array_equal(function(STACK.reshape(6, 63), (9, 7)).reshape(STACK.shape), whole)
    assert np.array_equal(function(STACK.astype(np.float32)), function(STACK.astype(np.float32).astype(float)))


@pytest.mark.parametrize("measure", [image.ssim, image.psnr])
def test_measures(measure):
    other = np.clip(STACK + 0.1, 0, 1)
    values = measure(STACK, other)
    assert values.shape == (6,) and isinstance(measure(STACK[0], other[0]), float)
    assert np.array_equal([measure(a, b) for a, b in zip(STACK, other)], values)
    assert np.array_equal(measure(STACK.reshape(6, 63), other.reshape(6, 63), (9, 7)), values)


def test_hand_made_cases():
    x = np.arange(1.0, 10).reshape(3, 3)
    assert np.array_equal(image.mat2gray(x), (x - 1) / 8)
    assert image.ssim(x / 9, x / 9) == 1 and np.isinf(image.psnr(x, x))
    assert np.isclose(image.psnr(x, x + 0.1), 20)
    mean = np.full((3, 3), 5.0)
    assert np.allclose(image.wiener2(0 * mean), 0)


def test_errors():
    for bad, message in [(lambda: image.wiener2(STACK.reshape(6, 63), (9, 8)), "72|63"),
                         (lambda: image.wiener2(STACK[None]), "images of 4 dimensions"),
                         (lambda: image.medfilt2(STACK, (9, 7)), "rows of pixels"),
                         (lambda: image.ssim(STACK, STACK[:5]), "both need the same")]:
        with pytest.raises(ValueError, match=message):
            bad()
