"""Inside the object: what is the head is found, and errors outside of it do not count."""

import numpy as np
import pytest

from adaptive.images import foreground, head_scan, nmse, psnr, ssim


def test_a_head_is_inside_with_what_it_encloses_and_noisy_air_is_not():
    image = head_scan()[12].image
    rng = np.random.default_rng(0)
    noisy = np.abs(image + 0.02 * rng.standard_normal(image.shape))
    inside = foreground(noisy)
    assert 0.2 < inside.mean() < 0.7
    assert inside[64, 48] and not inside[:8].any() and not inside[-8:].any()
    assert (inside == foreground(3 * noisy)).all()


def test_only_errors_inside_count():
    image = head_scan()[12].image
    inside = foreground(image)
    outside = np.where(inside, image, image + 0.5)
    assert nmse(image, outside, inside=inside) == 0 and psnr(image, outside, inside=inside) == np.inf
    assert nmse(image, outside) > 0.1
    worse = image + np.where(inside, 0.1, 0.0)
    share = 0.01 * inside.sum() / np.sum(image[inside] ** 2)
    assert nmse(image, worse, inside=inside) == pytest.approx(share)
    assert psnr(image, worse, inside=inside) == pytest.approx(20.0)
    everywhere = np.ones(image.shape, bool)
    assert ssim(image, worse, inside=everywhere) != ssim(image, worse)  # at borders windows are not whole
    assert ssim(image, image, inside=inside) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: foreground(np.zeros((4, 4))), "image must be one of two axes that is not zero"),
        (lambda: foreground(np.ones((4, 4)), 1.0), "share must lie between 0 and 1"),
        (
            lambda: nmse(np.ones((4, 4)), np.ones((4, 4)), inside=np.zeros((4, 4), bool)),
            "inside must be True",
        ),
        (lambda: psnr(np.ones((4, 4)), np.ones((4, 4)), inside=np.ones((4, 3), bool)), r"of shape \(4, 4\)"),
    ],
)
def test_what_is_no_region_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
