"""Where a phase has errors lines come from one side of k-space, then mirrors from the centre outwards."""

import numpy as np

from adaptive import ImageReconstructor
from adaptive.estimators.imaging.scores.grid_scores import OneSide
from adaptive.images import head_scan, padded, simulate_scan
from designs import kspace

HEAD = padded(head_scan()[12].image, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3))


def test_free_pairs_follow_the_fuller_side_and_others_keep_their_scores():
    rng = np.random.default_rng(0)
    measured = np.isin(np.arange(16), [7, 8, 9, 11, 12])  # frequencies -1, 0, 1, 3, 4
    values = rng.random(16)
    after = OneSide(measured)(values)
    for line in range(16):
        mirror = (16 - line) % 16
        if line in (2, 1, 3, 6):  # -6, -7, -5, -2: free, as their mirrors are
            assert after[line] < after[mirror] and after[line] <= values[line]
        elif line not in (4, 5):  # -4 and -3, whose mirrors were measured
            assert after[line] == values[line]
    assert after[5] == max(values[4], values[5]) and after[4] == min(values[4], values[5])


def test_points_have_sides_too():
    measured = np.zeros((8, 8), bool)
    measured[4:6, 4] = True  # DC, and (1, 0)
    side = OneSide(measured)
    values = np.arange(64.0)
    after = side(values).reshape(8, 8)
    assert after[4, 2] < after[4, 6] and after[2, 6] < after[6, 2]  # the first frequency that is not zero decides
    assert after[3, 4] == values[3 * 8 + 4] and after[0, 0] == 0


def test_a_design_takes_the_half_plane_and_then_the_centre():
    scan = simulate_scan(HEAD, snr=200, random_state=1)
    pool, chosen = kspace.lines((32, 32)), kspace.central(32, 6).tolist()
    model = ImageReconstructor((32, 32), check=False).fit(pool.take(chosen), scan.measure(pool.take(chosen)))
    for _ in range(14):
        further = model.select(pool, exclude=chosen)
        chosen += further.tolist()
        model.partial_fit(pool.take(further), scan.measure(pool.take(further)))
    sides = {np.sign(line - 16) for line in chosen[6:] if (32 - line) % 32 not in chosen and line}
    assert sides == {-1}
    mirrored = [line - 16 for line in chosen[6:] if line > 16]
    assert mirrored == sorted(mirrored)  # the central ones first
    for settings in ({"phase": scan.phase}, {"phase": "estimate"}):
        known = ImageReconstructor((32, 32), check=False, **settings)
        known.fit(pool.take(chosen[:6]), scan.measure(pool.take(chosen[:6])))
        first, second = known.predictive(pool).log_determinant()[0][[8, 24]]
        assert abs(first / second - 1) > 1e-5  # as the samples are
