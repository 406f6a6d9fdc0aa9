"""The maximum of two and of many Gaussians: quadrature, symmetries, limits, the chain's definition, increments."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adaptive.potentials.gaussian_maximum import larger, maximum, minimum
from adaptive.potentials.maximum_chain import largest_of, smallest_of
from adaptive.potentials.optimal_increments import optimal_increments


def by_quadrature(mean, covariance, message_mean=0.0, message_variance=math.inf, n=2001):
    """Moments on a grid in each half of the plane, along the difference and what is independent of it."""
    mean, s = np.asarray(mean, float), np.asarray(covariance, float)
    to_difference = np.array([1.0, -1.0])
    v = to_difference @ s @ to_difference
    gain = s @ to_difference / v
    rest = s - np.outer(gain, gain) * v  # of x given the difference: of rank one, along (1, 1)
    along = math.sqrt(max(rest[0, 0], 0.0))
    d0, sd = mean[0] - mean[1], math.sqrt(v)
    nodes, weights = np.polynomial.legendre.leggauss(400)
    points, masses = [], []
    for low, high in ((min(d0 - 12 * sd, -1e-9), 0.0), (0.0, max(d0 + 12 * sd, 1e-9))):
        d = low + (high - low) * (nodes + 1) / 2
        points.append(d)
        masses.append(weights * (high - low) / 2 * stats.norm.pdf(d, d0, sd))
    d, mass = np.concatenate(points), np.concatenate(masses)
    z = np.linspace(-12, 12, n)
    x = mean[:, None, None] + gain[:, None, None] * (d - d0)[:, None] + along * z
    joint = mass[:, None] * stats.norm.pdf(z) * (z[1] - z[0])
    top = x.max(axis=0)
    if np.isfinite(message_variance):
        joint = joint * stats.norm.pdf(message_mean, top, math.sqrt(message_variance))
    total = joint.sum()
    joint = joint / total
    centre = np.einsum("iab,ab->i", x, joint)
    spread = np.einsum("iab,jab,ab->ij", x - centre[:, None, None], x - centre[:, None, None], joint)
    m = np.sum(top * joint)
    return math.log(total), m, np.sum((top - m) ** 2 * joint), centre, spread


CASES = [
    ([0.0, 0.0], 1.0, 1.0, 0.0), ([1.0, 1.0], 1.0, 1.0, -0.5), ([1.0, -0.5], 2.0, 0.5, 0.6),
    ([0.0, 3.0], 0.3, 1.5, -0.9),
    ([0.2, 0.0], 2.0, 1.0, 0.5), ([-2.0, 1.0], 1.0, 2.0, 0.4),
]  # fmt: skip


def block(sd1, sd2, rho):
    return np.array([[sd1 * sd1, rho * sd1 * sd2], [rho * sd1 * sd2, sd2 * sd2]])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("message", [(0.0, math.inf), (2.0, 1.0), (-1.0, 0.2)])
def test_two_agree_with_quadrature(case, message):
    """To 2e-6, the fifth where the printed form divides by zero (sigma_2 = rho sigma_1)."""
    mean, covariance = case[0], block(*case[1:])
    found, exact = maximum(mean, covariance, *message), by_quadrature(mean, covariance, *message)
    for ours, theirs in zip(
        (found.log_normaliser, found.mean, found.variance, found.input_mean, found.input_covariance), exact, strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=2e-6)


finite = st.floats(-20, 20)
deviations = st.floats(1e-3, 30)
correlations = st.floats(-1, 1)


@settings(max_examples=150, deadline=None)
@given(finite, finite, deviations, deviations, correlations, finite, st.sampled_from([0.1, 3.0, math.inf]))
def test_symmetries(m1, m2, sd1, sd2, rho, message, variance):
    s = block(sd1, sd2, rho)
    scale = 1 + max(sd1, sd2) + abs(m1) + abs(m2) + abs(message)
    found = maximum([m1, m2], s, message, variance)
    assert found.variance >= 0 and np.all(found.input_covariance.diagonal() >= -1e-9 * scale**2)
    for number in (found.mean, found.variance, *found.input_mean, *found.input_covariance.ravel()):
        assert np.isfinite(number)
    close = {"rtol": 1e-6, "atol": 1e-7 * scale**2}
    swapped = maximum([m2, m1], s[::-1, ::-1], message, variance)
    if m1 != m2 or sd1 != sd2:
        np.testing.assert_allclose(swapped.mean, found.mean, **close)
        np.testing.assert_allclose(swapped.input_mean[::-1], found.input_mean, **close)
    shifted = maximum([m1 + 3, m2 + 3], s, message + 3, variance)
    np.testing.assert_allclose(shifted.mean - 3, found.mean, **close)
    scaled = maximum([2 * m1, 2 * m2], 4 * s, 2 * message, 4 * variance)
    np.testing.assert_allclose([scaled.mean / 2, scaled.variance / 4], [found.mean, found.variance], **close)
    mirrored = minimum([-m1, -m2], s, -message, variance)
    np.testing.assert_allclose([-mirrored.mean, mirrored.variance], [found.mean, found.variance], **close)


def test_perfect_correlation_returns_the_larger():
    found = maximum([1.0, 2.0], block(1.0, 1.0, 1.0))
    assert (found.mean, found.variance) == (2.0, 1.0) and found.weights.tolist() == [0.0, 1.0]
    opposite = maximum([0.0, 0.0], block(1.0, 1.0, -1.0))  # |x|
    np.testing.assert_allclose(
        [opposite.mean, opposite.variance], [math.sqrt(2 / math.pi), 1 - 2 / math.pi], atol=1e-12
    )


def by_definition(mean, s):
    """The chain in five lines: Clark's printed moments."""
    m, v, c = mean[0], s[0, 0], s[0].copy()
    for j in range(1, len(mean)):
        a = math.sqrt(v + s[j, j] - 2 * c[j])
        k = (m - mean[j]) / a
        first, density = stats.norm.cdf(k), stats.norm.pdf(k)
        second_moment = (m**2 + v) * first + (mean[j] ** 2 + s[j, j]) * (1 - first) + (m + mean[j]) * a * density
        m = m * first + mean[j] * (1 - first) + a * density
        v, c = second_moment - m**2, first * c + (1 - first) * s[j]
    return m, v, c


def test_chain_is_its_definition():
    rng = np.random.default_rng(0)
    for n in (2, 3, 5, 20):
        root = rng.standard_normal((n, n))
        mean, s = rng.standard_normal(n), root @ root.T
        found = largest_of(mean, s)
        m, v, c = by_definition(mean, s)
        np.testing.assert_allclose([found.mean, found.variance], [m, v], atol=1e-5)
        np.testing.assert_allclose(found.covariances, c, atol=1e-5)
        np.testing.assert_allclose(found.weights @ s, found.covariances, atol=1e-9)
        assert found.weights.sum() == pytest.approx(1.0)
        low = smallest_of(-mean, s)
        np.testing.assert_allclose([-low.mean, low.variance], [found.mean, found.variance])


def test_chain_without_a_message_leaves_the_inputs_alone_and_with_one_comes_close_to_sampling():
    rng = np.random.default_rng(1)
    mean, s = np.array([0.0, 0.3, -0.5, 0.1]), 0.5 * np.eye(4) + 0.5
    found = largest_of(mean, s)
    np.testing.assert_allclose(found.input_mean, mean, atol=1e-9)
    np.testing.assert_allclose(found.input_variance, np.diag(s), atol=1e-9)
    draws = rng.multivariate_normal(mean, s, 400_000)
    weights = stats.norm.pdf(draws.max(axis=1), 2.0, 0.5)
    weights /= weights.sum()
    told = largest_of(mean, s, 2.0, 0.25)
    np.testing.assert_allclose(told.input_mean, weights @ draws, atol=0.06)
    np.testing.assert_allclose(told.input_variance, weights @ (draws - weights @ draws) ** 2, atol=0.08)
    assert told.mean == pytest.approx(weights @ draws.max(axis=1), abs=0.03)
    pair = largest_of(mean[:2], s[:2, :2], 2.0, 0.25)
    exact = maximum(mean[:2], s[:2, :2], 2.0, 0.25)
    np.testing.assert_allclose(pair.input_mean, exact.input_mean, atol=1e-12)


@pytest.mark.parametrize("branching", [2, 5, 9, 200])
def test_increments_are_chains(branching):
    table = optimal_increments(branching, 3)
    mean, variance = 0.0, 0.0
    for left in (1, 2, 3):
        chain = (largest_of if left % 2 else smallest_of)(np.full(branching, mean), (variance + 1) * np.eye(branching))
        mean, variance = chain.mean, chain.variance
        np.testing.assert_allclose(table[0 if left % 2 else 1, left], [mean, variance], atol=1e-12)
    np.testing.assert_allclose(table[0, :, 0], -table[1, :, 0])  # mirrored players


def test_increments_of_the_specification():
    six, five = optimal_increments(5, 6)[0, 6], optimal_increments(5, 6)[1, 5]
    np.testing.assert_allclose([six, five], [[0.2625, 0.7194], [-1.2617, 0.7139]], atol=1e-4)
    one_player = optimal_increments(lambda left, player: left, 3, alternate=False, drift=(0.5, 0.0))
    assert one_player[0, 1].tolist() == [0.5, 1.0] and one_player[0, 3, 0] > one_player[0, 2, 0]


@settings(max_examples=200)
@given(
    st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.integers(-320, 3), st.integers(-320, 3), st.floats(-0.99, 0.99)
)  # fmt: skip
def test_numbers_that_are_all_but_known_leave_no_nan(m1, m2, power1, power2, rho):
    """Variances down to the smallest numbers there are: as ends of a game become certain."""
    v1, v2 = 10.0**power1, 10.0**power2
    mean, variance, first = larger(m1, v1, m2, v2, rho * math.sqrt(v1) * math.sqrt(v2))
    assert math.isfinite(mean) and 0.0 <= variance < math.inf and 0.0 <= first <= 1.0
    assert mean >= max(m1, m2) - 1e-9 * (1 + abs(m1) + abs(m2))
