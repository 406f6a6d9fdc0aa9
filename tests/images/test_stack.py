"""Stacks of images: scaled when they are looked at, padded and cropped about their centre; the head of nibabel."""

import subprocess
import sys

import numpy as np
import pytest

from adaptive import images

pytest.importorskip("nibabel", reason="needs nibabel: pip install 'adaptive-designs[mri]'")


def test_scaling_ignores_a_few_bright_pixels_and_negative_values():
    stored = np.full((50, 50), 10.0)
    stored[0, :3] = 1e6, -5.0, np.float64(5)
    image = images.scaled(stored)
    assert image.max() == 1 and image[0].tolist()[:3] == [1.0, 0.0, 0.5]
    spike = np.zeros((50, 50))
    spike[3, 3] = 7
    assert images.scaled(spike)[3, 3] == 1  # the percentile is 0: the brightest pixel decides
    assert images.scaled(np.ones((3, 3), bool)).dtype == float


def test_padding_and_cropping_keep_the_centre():
    image = np.arange(1.0, 16.0).reshape(3, 5)
    grown = images.padded(image, 4)
    assert grown.shape == (4, 8) and grown.sum() == image.sum()
    np.testing.assert_array_equal(images.padded(grown, 4), grown)
    for shape in [(3, 5), (4, 6), (7, 8), (2, 9), (1, 1), (3, 4)]:
        other = images.fitted(image, shape)
        assert other.shape == shape and other[shape[0] // 2, shape[1] // 2] == image[1, 2]
        if shape[0] >= 3 and shape[1] >= 5:
            np.testing.assert_array_equal(images.fitted(other, image.shape), image)
    with pytest.raises(ValueError, match="two axes can be fitted to two sides"):
        images.fitted(image, (3, 3, 3))
    with pytest.raises(ValueError, match="shape must be at least 1, got 0"):
        images.fitted(image, (0, 3))
    part = images.Slice(image, "an image", 2, True)
    for changed, shape in ((part.padded(2), (4, 6)), (part.fitted((2, 2)), (2, 2))):
        assert changed.image.shape == shape
        assert (changed.title, changed.index, changed.anatomical) == ("an image", 2, True)


def test_stacks_are_sequences():
    stack = images.ImageStack(np.ones((4, 3, 3)), "ones.npy")
    assert [part.index for part in stack] == [0, 1, 2, 3] and stack[-1].index == 3
    assert [part.index for part in stack[1:3]] == [1, 2]
    assert [stack.neighbour(k) for k in range(4)] == [1, 2, 3, 2]
    assert images.ImageStack(np.ones((1, 3, 3)), "one.png").neighbour(0) is None


def test_the_head_scan_that_nibabel_ships():
    stack = images.head_scan()
    assert len(stack) == 24 and stack.middle == 12
    head = stack[stack.middle]
    assert head.image.shape == (128, 96) and head.image.min() == 0 and head.image.max() == 1
    assert 0.001 < np.mean(head.image == 1) < 0.004  # what is above the 99.8 percentile
    beside = stack[stack.neighbour(stack.middle)].image
    assert 0 < np.linalg.norm(beside - head.image) < 0.25 * np.linalg.norm(head.image)  # alike, not the same


def test_head_scan_needs_no_test_runner():
    """A newcomer has nibabel, and not what nibabel's own tests import."""
    code = "import sys; sys.modules['pytest'] = None; from adaptive.images import head_scan; print(len(head_scan()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "24\n", done.stderr
