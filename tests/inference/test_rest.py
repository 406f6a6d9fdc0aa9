"""When rounds end: a geometric rise, one that creeps, one that is noisy, one that fell."""

import numpy as np
import pytest

from adaptive.inference.rest import FEWEST, at_rest


def stop(trace, tol, **how):
    return next((n for n in range(1, len(trace) + 1) if at_rest(trace[:n], tol, **how)), None)


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.99])
def test_what_is_left_is_less_than_the_tolerance_however_slowly_it_rises(rate):
    trace = -(rate ** np.arange(3000.0))
    n = stop(trace, 1e-3)
    assert n is not None and n >= FEWEST and -trace[n - 1] <= 1e-3
    assert abs(trace[n - 1] - trace[n - 2]) < 1e-4  # one round alone had said so long before


def test_a_pause_is_no_rest_and_a_fall_is_no_rise():
    pause = np.concatenate([np.arange(10.0), np.full(4, 9.0), np.arange(9.0, 20.0)])
    assert stop(pause, 0.1) is None
    assert not at_rest([0.0, 5.0, 9.0, 9.0, 4.0, 9.0], 0.1)  # its ends are alike, what is between is not
    assert at_rest([0.0, 5.0, 9.0, 9.0, 9.0, 9.0], 0.1) and not at_rest([9.0] * (FEWEST - 1), 0.1)


def test_of_samples_quarters_are_compared():
    rng = np.random.default_rng(0)
    noisy = 1.0 - 0.8 ** np.arange(200.0) + 0.05 * rng.standard_normal(200)
    assert stop(noisy, 1e-3) is None
    assert stop(noisy, 1e-3, sampled=True) is not None
