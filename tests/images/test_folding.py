"""An image of twice the field of view: every other line of it is a line of the scan that wraps around."""

import numpy as np
import pytest

from adaptive.images import folded, unfolded
from adaptive.operators import FourierLines

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape, axis", [((6, 8), -1), ((8, 6), -2), ((4, 6, 10), -2)])
def test_folding_takes_back_what_was_unfolded(shape, axis):
    sets = RNG.standard_normal((2, 3, *shape)) + 1j * RNG.standard_normal((2, 3, *shape))
    wide = unfolded(sets, axis)
    assert wide.shape[axis] == 2 * shape[axis]
    np.testing.assert_allclose(folded(wide, axis), sets.sum(axis=0))
    assert unfolded(sets.astype(np.complex64), axis).dtype == folded(wide.astype(np.complex64), axis).dtype == "c8"


@pytest.mark.parametrize("axis", [0, 1])
def test_lines_of_the_scan_are_every_other_line_of_the_larger_image(axis):
    shape = (6, 10)
    sets = RNG.standard_normal((2, *shape))
    wide = unfolded(sets, axis - 2)
    lines = np.array([0, 2, 5])
    np.testing.assert_allclose(
        FourierLines(wide.shape, 2 * lines, axis).forward(wide),
        FourierLines(shape, lines, axis).forward(sets.sum(axis=0)),
    )
    # any image of that size, not only what was unfolded: folding is what the scan does
    other = RNG.standard_normal(wide.shape)
    np.testing.assert_allclose(
        FourierLines(wide.shape, 2 * lines, axis).forward(other),
        FourierLines(shape, lines, axis).forward(folded(other, axis - 2)),
    )


def test_what_does_not_fold_is_refused():
    with pytest.raises(ValueError, match="sets must be two"):
        unfolded(np.ones((3, 4, 4)))
    with pytest.raises(ValueError, match="even side"):
        unfolded(np.ones((2, 4, 5)))
    with pytest.raises(ValueError, match="divisible by four"):
        folded(np.ones((4, 6)))
    with pytest.raises(ValueError, match="finite"):
        folded(np.full((4, 4), np.nan))
