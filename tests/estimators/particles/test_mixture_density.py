"""Entropies and quantiles of mixtures of very many Gaussians are those of the sums, term by term."""

import numpy as np
import pytest
from scipy import stats

from adaptive.estimators.particles.inference.compiled import log_mixture
from adaptive.estimators.particles.inference.mixture_density import mixture_densities, mixture_entropies

RNG = np.random.default_rng(0)
K = 300
MIXTURES = {
    "one noise": (RNG.normal(0, 3, K), np.full(K, 0.5)),
    "hardly a spread": (RNG.normal(0, 0.1, K), np.full(K, 0.5)),
    "a resonance": (1 / (1 + RNG.normal(0, 3, K) ** 2), np.full(K, 0.05)),
    "noise unknown": (RNG.normal(0, 3, K), np.exp(RNG.normal(0, 0.5, K))),
    "noise nearly known": (RNG.normal(0, 0.3, K), np.exp(RNG.normal(0, 0.03, K))),
    "noise over two decades": (RNG.normal(0, 1, K), np.exp(RNG.uniform(-3, 2, K))),
    "two apart": (np.array([0.0, 9.3]), np.array([1.0, 1.07])),
    "a single one": (np.array([4.0]), np.array([0.2])),
}


def brute(weights, means, deviations):
    y = np.linspace((means - 12 * deviations).min(), (means + 12 * deviations).max(), 40_001)
    density = sum(w * stats.norm.pdf(y, m, s) for w, m, s in zip(weights, means, deviations, strict=True))
    return y, density


@pytest.mark.parametrize("name", MIXTURES)
def test_entropy_and_quantiles(name):
    means, deviations = MIXTURES[name]
    weights = np.random.default_rng(1).exponential(size=len(means))
    weights /= weights.sum()
    y, density = brute(weights, means, deviations)
    exact = -np.sum(density * np.log(np.maximum(density, 1e-300))) * (y[1] - y[0])
    spread = deviations[:1, None] if np.ptp(deviations) == 0 else deviations[:, None]
    found = mixture_densities(weights, means[:, None], spread)
    fine = mixture_densities(weights, means[:, None], spread, per_deviation=6.0)
    assert abs(found.entropy[0] - exact) < 2e-4
    levels = np.array([0.02, 0.3, 0.5, 0.9])
    below = np.cumsum(density) * (y[1] - y[0])
    places = np.interp(levels, below, y)
    shares = np.interp(fine.quantiles(levels)[:, 0], y, below)
    np.testing.assert_allclose(shares, levels, atol=2e-3)
    np.testing.assert_allclose(fine.quantiles(levels)[:, 0], places, atol=0.05 * max(density.std(), deviations.max()))


def test_each_column_is_its_own_whatever_stands_beside_it():
    weights, means = np.full(K, 1 / K), RNG.normal(0, 1, (K, 4)) * [0.1, 1.0, 30.0, 3000.0]
    for deviations in (np.full((1, 1), 0.3), np.array([[0.1, 0.3, 1.0, 9.0]]), RNG.uniform(0.1, 1, (K, 1))):
        together = mixture_entropies(weights, means, deviations)
        alone = [
            mixture_entropies(weights, means[:, [j]], deviations if deviations.shape[1] == 1 else deviations[:, [j]])
            for j in range(4)
        ]
        np.testing.assert_allclose(together, np.concatenate(alone), rtol=1e-12)


def test_log_densities_of_several_channels():
    means, deviations = RNG.normal(size=(20, 2)), RNG.uniform(0.5, 1, (20, 2))
    weights, points = RNG.dirichlet(np.ones(20)), RNG.normal(size=(5, 2))
    exact = [np.log(weights @ stats.norm.pdf(point, means, deviations).prod(axis=1)) for point in points]
    np.testing.assert_allclose(log_mixture(points, np.log(weights), means, deviations), exact, rtol=1e-12)


SMALL = np.random.default_rng(2)
PLACES, SHARES = SMALL.normal(size=30), SMALL.dirichlet(np.ones(30))
NARROW = {f"{noise:g}": (PLACES, np.full(30, noise)) for noise in (1e-9, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)} | {
    "five decades": (PLACES, 10 ** SMALL.uniform(-5, 0, 30)),
    "two decades": (PLACES, 10 ** SMALL.uniform(-2, 0, 30)),
    "at one place": (np.zeros(30), 10 ** SMALL.uniform(-5, 0, 30)),
    "overlapping and narrow": (PLACES * 1e-5, 10 ** SMALL.uniform(-5, 0, 30)),
    "spikes on a hill": (PLACES, np.resize([1e-5, 1.0], 30)),
}


def by_panels(weights, means, deviations):
    """Gauss-Legendre between all points m_k + s_k z: every component has panels of its own width."""
    cuts = np.unique(means[:, None] + deviations[:, None] * np.linspace(-9, 9, 55))
    nodes, shares = np.polynomial.legendre.leggauss(6)
    half = np.diff(cuts)[:, None] / 2
    density = np.zeros(half.shape[:1] + nodes.shape)
    for w, m, s in zip(weights, means, deviations, strict=True):
        density += w * np.exp(-0.5 * ((cuts[:-1, None] - m + half * (1 + nodes)) / s) ** 2) / (s * np.sqrt(2 * np.pi))
    return -np.sum(half * shares * density * np.log(np.maximum(density, 1e-300)))


@pytest.mark.parametrize("name", NARROW)
def test_noise_of_any_width(name):
    """A prior of the noise that reaches down to nothing: entropies stay right, densities add up to one."""
    means, deviations = NARROW[name]
    found = mixture_densities(SHARES, means[:, None], deviations[:, None])
    assert abs(found.entropy[0] - by_panels(SHARES, means, deviations)) < 1e-3
    _, _, step, density = found.groups[0]
    assert density.sum() * step[0] == pytest.approx(1.0, abs=1e-5)
    below = found.quantiles(np.array([0.5]))[0, 0]
    assert means.min() - deviations.max() < below < means.max() + deviations.max()
    if np.ptp(deviations) == 0:
        assert mixture_entropies(SHARES, means[:, None], deviations[:1, None])[0] == pytest.approx(found.entropy[0])


def test_noise_below_double_precision_is_said():
    with pytest.warns(UserWarning, match="too small for double precision"):
        found = mixture_entropies(SHARES, PLACES[:, None], np.full((1, 1), 1e-17))
    assert np.isfinite(found[0])
