"""Partial Fourier: what each way gives back exactly, and which is better on a head with a smooth phase."""

import numpy as np
import pytest

from adaptive.images import head_scan, nmse, polynomial_phase, simulate_coils, simulate_scan
from adaptive.operators import FourierLines
from adaptive.scanner import partial_fourier

HEAD = head_scan()[12].image[::2, ::2]
SCAN = simulate_scan(HEAD, snr=50, random_state=0)
PART = np.where(np.arange(64)[:, None] < 40, SCAN.kspace, 0)  # 8 of the 32 lines beyond DC


def transform(image):
    return FourierLines(image.shape, range(len(image))).forward(image)


def test_all_of_k_space_gives_the_image():
    turned = HEAD * np.exp(1j * polynomial_phase(HEAD.shape, 1, 0.5, random_state=1))
    np.testing.assert_allclose(partial_fourier(transform(turned), "zero-filled"), HEAD, atol=1e-12)
    np.testing.assert_allclose(partial_fourier(transform(turned), "homodyne"), HEAD, atol=1e-2)


@pytest.mark.parametrize("method", ["homodyne", "pocs"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("mirrored", [False, True])
def test_half_is_enough_where_the_image_is_real(method, axis, mirrored):
    """One side and the band around DC tell a real image; the other side, mirrored, is the same."""
    kspace = np.moveaxis(transform(HEAD), axis, 0)
    lines = np.arange(len(kspace))
    keep = lines < len(lines) // 2 + 5 if not mirrored else lines > len(lines) // 2 - 5
    part = np.moveaxis(np.where(keep[:, None], kspace, 0), 0, axis)
    mask = np.moveaxis(np.broadcast_to(keep[:, None], kspace.shape), 0, axis)
    settings = {"n_iter": 60} if method == "pocs" else {}
    found = partial_fourier(part, method, mask=mask, axis=axis, **settings)
    assert nmse(HEAD, found) < 0.2 * nmse(HEAD, partial_fourier(part, "zero-filled", mask=mask, axis=axis))


def test_homodyne_weights_of_opposite_lines_add_up_to_two():
    # of an image without phase: the real part of what the weights leave is the image, but for line -n/2 without mirror
    smooth = np.outer(np.hanning(32), np.hanning(24))
    kspace = transform(smooth)
    mask = np.broadcast_to(np.arange(32)[:, None] < 21, kspace.shape)
    np.testing.assert_allclose(partial_fourier(kspace * mask, "homodyne", mask=mask), smooth, atol=1e-4)


def test_the_model_is_best_on_a_head_with_a_smooth_phase():
    errors = {how: nmse(HEAD, partial_fourier(PART, how)) for how in ("zero-filled", "homodyne", "pocs", "model")}
    assert errors["model"] < min(errors["homodyne"], errors["pocs"]) < errors["zero-filled"], errors


def test_several_coils():
    coils = simulate_coils(HEAD.shape, 3, random_state=0)
    scan = simulate_scan(HEAD, snr=80, coils=coils, random_state=0)
    part = np.where(np.arange(64)[:, None] < 44, scan.kspace, 0)
    for how in ("zero-filled", "homodyne"):
        each = [partial_fourier(one, how) for one in part]
        np.testing.assert_allclose(partial_fourier(part, how), np.sqrt(np.sum(np.square(each), axis=0)), atol=1e-12)
    known = partial_fourier(part, "model", coils=coils, prior_scales=0.1)
    assert nmse(HEAD, known) < nmse(HEAD, partial_fourier(part, "zero-filled"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: partial_fourier(PART, "mirror"), "method must be one of 'zero-filled', 'homodyne', 'pocs', 'model'"),
        (lambda: partial_fourier(PART[0]), r"kspace must have shape \(h, w\) or \(coils, h, w\)"),
        (lambda: partial_fourier(PART * (np.arange(64)[:, None] > 40)), "kspace must hold a band of lines around DC"),
        (
            lambda: partial_fourier(PART * (np.arange(64)[:, None] != 9), "pocs"),
            "pocs takes one contiguous side of k-space",
        ),
        (
            lambda: partial_fourier(PART, "homodyne", prior="tv"),
            "prior are settings of method='model', not of 'homodyne'",
        ),
        (lambda: partial_fourier(PART, mask=np.ones((3, 3))), r"mask must have shape \(64, 48\), got \(3, 3\)"),
        (lambda: partial_fourier(PART, axis=2), "axis must be one of '0', '1'"),
    ],
)
def test_bad_input_ends_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
