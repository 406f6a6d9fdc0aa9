"""Shots off the grid: spirals under limits, spokes, angles, pools in select and in the loop, a user's own arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive import ImageReconstructor, SequentialDesign, pool
from adaptive.images import head_scan, padded, simulate_scan
from adaptive.operators import FourierLines, adjoint_error
from designs import kspace

TURN = 2 * np.pi


def cycles(samples, n):
    """Radians per pixel as periods over the field of view."""
    return np.asarray(samples) * n / TURN


# Spirals -------------------------------------------------------------------------------------------------------------


def test_a_spiral_without_limits_is_equispaced_in_arc_length():
    k = cycles(kspace.spiral_samples(256), 256)
    assert k.shape == (3216, 2)  # pi 128^2 / 16
    phase = np.unwrap(np.angle(k[:-1, 0] + 1j * k[:-1, 1])[1:])
    radius = np.linalg.norm(k, axis=1)
    np.testing.assert_allclose(radius[-1], 128)
    lam = 256 / (4 * np.pi * 8)
    np.testing.assert_allclose(radius[1:-1], lam * phase, atol=1e-6)  # Archimedes, eight turns
    phi = radius / lam
    length = lam / 2 * (phi * np.sqrt(1 + phi**2) + np.arcsinh(phi))
    np.testing.assert_allclose(np.diff(length), length[-1] / 3215, rtol=1e-6)
    np.testing.assert_allclose(length[-1], 3223.5, atol=0.1)
    assert kspace.spiral_samples(128).shape == (804, 2)


def test_a_spiral_under_limits_keeps_to_them_and_uses_them():
    limits = kspace.GradientLimits()
    k = kspace.spiral_samples(256, limits=limits)
    assert k.shape == (3336, 2)  # 13.3 ms at 4 us
    steps = np.linalg.norm(np.diff(cycles(k, 256), axis=0), axis=1)
    assert 0.999 < steps.max() <= 1 + 1e-6
    assert 3222 < steps.sum() < 3224
    gradient = np.linalg.norm(limits.gradients(k, (256, 256)), axis=1)
    slew = np.linalg.norm(limits.slew_rates(k, (256, 256)), axis=1)
    assert 22.9 < gradient.max() < 22.95 and gradient[0] < 1
    assert 149.9 < slew.max() < 150.01
    # The slew rate is used up to |k| = v^2 / a = 38, 1.6 ms after the start; from there on the gradient.
    radius = np.linalg.norm(cycles(k, 256), axis=1)
    ramp = int(np.argmax(radius > limits.speed**2 / limits.acceleration))
    assert 37 < radius[ramp] < 40 and 1.55e-3 < ramp * 4e-6 < 1.7e-3
    assert (slew[2 : ramp - 5] > 148).all() and (gradient[ramp + 5 :] > 22.9).all()
    # Resampled at equal distances it is the curve without limits.
    same = kspace.spiral_samples(256, n_samples=3216, limits=limits)
    np.testing.assert_array_equal(same, kspace.spiral_samples(256))


@given(
    n=st.integers(16, 160),
    revolutions=st.floats(0.5, 20),
    gradient=st.floats(1, 80),
    slew=st.floats(20, 400),
    dwell=st.floats(2, 20),
)
@settings(max_examples=15, deadline=None)
def test_every_spiral_keeps_to_its_limits(n, revolutions, gradient, slew, dwell):
    limits = kspace.GradientLimits(gradient=gradient, slew=slew, dwell=dwell)
    k = kspace.spiral_samples(n, revolutions=revolutions, limits=limits)
    assert np.abs(k).max() <= np.pi
    g = np.linalg.norm(limits.gradients(k[:-1], (n, n)), axis=1)
    s = np.linalg.norm(limits.slew_rates(k[:-1], (n, n)), axis=1)
    assert g.max(initial=0) <= limits.largest_gradient * (1 + 1e-4) and limits.largest_gradient <= gradient + 1e-9
    assert s.max(initial=0) <= slew * (1 + 1e-3)
    # The curve is the same one: phase and radius belong together.
    radius, phase = np.linalg.norm(k, axis=1), np.angle(k[:, 0] + 1j * k[:, 1])
    turns = radius / np.pi * revolutions
    off = np.exp(1j * phase) - np.exp(TURN * 1j * turns)
    assert np.abs(off[(radius > 1e-3) & (radius < 3.14)]).max(initial=0) < 1e-4


def test_turned_spirals():
    base, turned = kspace.spiral_samples(64, [0.0, 0.7])[:, :-1]  # the last of the first is at pi, which is -pi
    c, s = np.cos(0.7), np.sin(0.7)
    np.testing.assert_allclose(turned, base @ np.array([[c, s], [-s, c]]), atol=1e-12)
    pool = kspace.spirals((64, 48), kspace.equispaced_angles(5))
    assert pool.samples.shape == (5, 201, 2) and pool.image_shape == (64, 48)
    assert (pool.samples < np.pi).all() and (pool.samples >= -np.pi).all()


# Angles and spokes ---------------------------------------------------------------------------------------------------


def test_angles():
    np.testing.assert_allclose(kspace.equispaced_angles(3, np.pi), [0, np.pi / 3, 2 * np.pi / 3])
    golden = np.degrees(kspace.golden_angles(4))
    np.testing.assert_allclose(np.diff(golden) % 180, 111.2461, atol=1e-4)
    for n in (5, 8, 13, 21):  # Fibonacci numbers: only two kinds of gaps
        gaps = np.diff(np.sort(np.append(kspace.golden_angles(n), kspace.golden_angles(n).min() + np.pi)))
        assert len(np.unique(gaps.round(9))) == 2
    grid = kspace.equispaced_angles(16)
    drawn = kspace.random_angles(16, grid, random_state=3)
    assert drawn[0] == 0 and set(drawn.tolist()) == set(grid.tolist())
    with pytest.raises(ValueError, match="n must be at most 16"):
        kspace.random_angles(17, grid)


def test_a_spoke_is_a_line_of_the_grid():
    rng = np.random.default_rng(0)
    u = rng.standard_normal((8, 8)) + 1j * rng.standard_normal((8, 8))
    pool = kspace.spokes((8, 8), [0.0, np.pi / 2])
    columns = FourierLines((8, 8), [4], axis=1).forward(u).ravel()
    rows = FourierLines((8, 8), [4], axis=0).forward(u).ravel()
    np.testing.assert_allclose(pool[0].forward(u), columns, atol=1e-6)
    np.testing.assert_allclose(pool[1].forward(u), rows, atol=1e-6)
    assert kspace.spoke_samples(8, 0.3)[4].tolist() == [0, 0]


# Pools ---------------------------------------------------------------------------------------------------------------


def test_a_pool_of_shots():
    shots = kspace.spirals((16, 16), kspace.equispaced_angles(6), revolutions=2)
    assert pool.length(shots) == 6 and pool.labels(shots, [2]) == [pytest.approx(TURN / 3)]
    part = pool.take(shots, [4, 1])
    assert part.angles.tolist() == [shots.names[4], shots.names[1]] and part[1] == shots[1]
    assert part[1] != shots[2] and hash(part[1]) == hash(shots[1]) and len(set(shots)) == 6
    joined = pool.concatenate([part, shots.take([0])])
    assert joined.samples.shape == (3, *shots.samples.shape[1:]) and joined.fingerprint() != shots.fingerprint()
    again = kspace.spirals((16, 16), kspace.equispaced_angles(6), revolutions=2)
    assert again.fingerprint() == shots.fingerprint()
    assert shots.positions([TURN / 3, 0.0]).tolist() == [2, 0]
    assert adjoint_error(shots[3]) < 1e-6
    with pytest.raises(ValueError, match="no shot is called 0.1 among the 6"):
        shots.positions(0.1)
    with pytest.raises(ValueError, match="only shots of images of one shape can be joined"):
        pool.concatenate([shots, kspace.spokes((8, 8), [0.0])])


def test_shots_of_different_length():
    shots = kspace.trajectories((8, 8), [np.zeros((3, 2)), np.full((5, 2), 0.3)], names=["short", "long"])
    assert [len(one) for one in shots.samples] == [3, 5] and shots[1].name == "long"
    assert shots.take([1]).samples.shape == (1, 5, 2)
    assert shots.fingerprint() != shots.take([1, 0]).fingerprint()
    with pytest.raises(ValueError, match="the names of the shots must be an array of numbers"):
        shots.angles  # noqa: B018


def test_a_users_own_trajectory_in_any_unit():
    n = 16
    grid = np.stack(np.meshgrid(np.arange(n) - n // 2, np.arange(n) - n // 2, indexing="ij"), axis=-1)
    expected = TURN / n * grid
    for units, factor in [
        (None, TURN / n),
        ("radians per pixel", TURN / n),
        ("cycles per pixel", 1 / n),
        ("cycles per field of view", 1.0),
    ]:
        np.testing.assert_allclose(kspace.trajectories((n, n), grid * factor, units=units).samples, expected)
    top = kspace.trajectories((n, n), [[8.0, 0.0]], units="cycles per field of view")
    assert top.samples[0, 0].tolist() == [-np.pi, 0]
    volume = kspace.trajectories((4, 4, 4), np.zeros((2, 3, 3)))
    assert volume.image_shape == (4, 4, 4) and len(volume) == 2


def spiral(scale):
    return kspace.spiral_samples(64)[:-1] * np.asarray(scale)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (spiral(64 / TURN), r"\[-pi, pi\), in radians per pixel, got .* cycles per field of view"),
        (spiral(1 / TURN), "they look like cycles per pixel; multiply by 2 pi"),
        (spiral([1, 1 / TURN]), r"mixed units: they reach 3.1\d* along axis 0 \(radians per pixel\) and 0.4\d* along"),
        (spiral([1, 64 / TURN]), r"mixed units: .* and 31 along axis 1 \(cycles per field of view\)"),
        (spiral(1)[:, :1], r"samples\[0\] must have shape \(samples, 2\)"),
        (np.array([[0.0, np.nan]]), r"samples\[0\] contains nan at position \(0, 1\)"),
        (np.array([[0.0, 3.3]]), r"samples must lie in \[-pi, pi\)"),
    ],
)
def test_bad_trajectories_are_refused_in_one_sentence(samples, message):
    with pytest.raises(ValueError, match=message):
        kspace.trajectories((64, 64), samples)


def test_other_bad_input_is_named():
    with pytest.raises(ValueError, match="samples reach 1.979 times the largest frequency of the image in cycles"):
        kspace.trajectories((32, 32), spiral(64 / TURN), units="cycles per field of view")
    with pytest.raises(ValueError, match="units must be one of 'radians per pixel', .*, got 'mm'"):
        kspace.trajectories((32, 32), spiral(1), units="mm")
    with pytest.raises(ValueError, match="names must hold one name for each of the 1 shots, got 2"):
        kspace.trajectories((64, 64), spiral(1), names=["a", "b"])
    with pytest.raises(ValueError, match="gradient is in mT/m and must be at least 0.5, got 0.04: mixed units"):
        kspace.GradientLimits(gradient=0.04)
    with pytest.raises(ValueError, match="slew must be > 0, got 0"):
        kspace.GradientLimits(slew=0)
    with pytest.raises(ValueError, match="shape must be the two sides of an image"):
        kspace.spirals((8, 8, 8), [0.0])
    with pytest.raises(ValueError, match="revolutions must be > 0"):
        kspace.spiral_samples(8, revolutions=0)


# In select and in the loop -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small():
    image = padded(head_scan()[12].image, 128).reshape(16, 8, 16, 8).mean(axis=(1, 3))
    scan = simulate_scan(image, largest_phase=0, random_state=0)
    shots = kspace.spirals((16, 16), kspace.equispaced_angles(4), revolutions=2, n_samples=10)
    return scan, shots


def model():
    return ImageReconstructor(
        (16, 16), noise_variance=1e-4, prior_scales=0.1, design_prior_scales=0.1, wavelet="db2", phase=None, tol=0.1
    )


def test_shots_are_designed_logged_and_replayed(small, tmp_path):
    scan, shots = small
    log = tmp_path / "shots.log"
    design = SequentialDesign(model(), shots, scan.measure, initial=[0], log=log, random_state=0).run(3)
    table = design.history_
    assert table["label"][0] == 0.0 and len(set(table["label"])) == 3
    design.close()
    again = SequentialDesign.load(log, model(), shots, scan.measure)
    assert again.history_["label"] == table["label"]
    np.testing.assert_allclose(again.estimator_.image_, design.estimator_.image_, atol=1e-6)
    again.close()
    with pytest.raises(ValueError, match="fingerprint"):
        SequentialDesign.load(log, model(), shots.take([0, 1, 2, 2]), scan.measure)


def test_a_shot_teaches_less_the_second_time(small):
    scan, shots = small
    fitted = model().fit(shots.take([0]), scan.measure(shots.take([0])))
    values, _ = fitted.predictive(shots).log_determinant()
    # A spiral and the one turned by pi are conjugate where the image has no phase: nothing new comes of it.
    assert max(values[0], values[2]) < 0.5 * min(values[1], values[3])
