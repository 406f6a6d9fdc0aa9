"""The prior itself: its parameters, what learning makes of them, and exact denoising against quadrature."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad

from adaptive.estimators.imaging.trees import TreeMixture, exact_denoising
from adaptive.estimators.imaging.trees.learning import learnt_parameters, starting_parameters
from adaptive.operators import Wavelet


def prior_of(shape=(16, 16), components="laplace", level=2, **options):
    return TreeMixture.generic(Wavelet(shape, "haar", level), 0.1, components, **options)


@pytest.mark.parametrize("components", ["laplace", "student_t"])
def test_exact_denoising_is_quadrature_and_enumeration(components):
    """Two rows of two pixels: 2^4 states, each a product of four one-dimensional integrals."""
    prior = prior_of((2, 2), components, level=1)
    chances = np.array([[0.3, 0.3], [0.6, 0.6]])
    prior = prior.with_parameters(chances=chances)
    noise, y = 0.02, np.array([[0.3, 0.1], [-0.2, 0.4]])
    w = prior.wavelet.forward(y).ravel()

    def moment(power, state, j):
        def density(s):
            potential = prior.potentials[state]
            prior_value = float(np.exp(potential.log_density(np.full(4, s))[j]))
            return s**power * prior_value * np.exp(-0.5 * (w[j] - s) ** 2 / noise) / np.sqrt(2 * np.pi * noise)

        peaks = sorted({0.0, float(w[j])})
        return quad(density, -8, 8, points=peaks, limit=400, epsabs=1e-13)[0]

    integrals = np.array([[[moment(k, state, j) for j in range(4)] for state in (0, 1)] for k in (0, 1)])
    chance = chances[prior.forest.levels, 0]
    total, wide, mean = 0.0, np.zeros(4), np.zeros(4)
    for states in itertools.product([0, 1], repeat=4):
        d = np.array(states)
        weight = np.prod(np.where(d == 1, chance, 1 - chance)) * np.prod(integrals[0, d, np.arange(4)])
        total += weight
        wide += weight * d
        mean += weight * integrals[1, d, np.arange(4)] / integrals[0, d, np.arange(4)]
    exact = exact_denoising(y, noise, prior)
    assert exact.log_evidence == pytest.approx(np.log(total), abs=1e-8)
    np.testing.assert_allclose(exact.wide.ravel(), wide / total, atol=1e-8)
    np.testing.assert_allclose(prior.wavelet.forward(exact.mean).ravel(), mean / total, atol=1e-8)


def test_exact_denoising_covers_images_of_its_own_prior():
    prior, noise, inside = prior_of((32, 32), level=3), 0.01, []
    for seed in range(5):
        u = prior.sample(seed)
        exact = exact_denoising(u + 0.1 * np.random.default_rng(100 + seed).standard_normal(u.shape), noise, prior)
        gap = prior.wavelet.forward(u - exact.mean) / np.sqrt(exact.coefficient_variances)
        inside.append(np.mean(gap**2))
    assert np.mean(inside) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("components", ["laplace", "student_t"])
@pytest.mark.parametrize("factorial", [False, True])
def test_learnt_parameters_maximise_the_bound(components, factorial):
    prior = prior_of(components=components, factorial=factorial)
    rng = np.random.default_rng(0)
    r = np.abs(prior.wavelet.forward(prior.sample(1)).ravel()) + 0.01
    beliefs = prior.beliefs(prior.log_potentials(r) + rng.standard_normal((2, 256)))

    def value(p):
        return p.expected_log_density(r, beliefs.wide) - p.divergence(beliefs)

    learnt = learnt_parameters(prior, r, beliefs)
    best = value(learnt)
    assert best > value(prior)
    for name in ("wide",) if factorial else ("narrow", "wide", "chances"):
        for factor in (0.97, 1.03):
            parameter = getattr(learnt, name)
            for index in np.ndindex(parameter.shape):
                changed = parameter.copy()
                changed[index] = min(changed[index] * factor, 0.9999 if name == "chances" else np.inf)
                if name == "chances" and index[0] in (0, 2):
                    changed[index[0]] = changed[index]  # no parents: one number
                moved = value(learnt.with_parameters(**{name: changed}))
                assert moved <= best + 1e-9


@pytest.mark.parametrize("components", ["laplace", "student_t"])
def test_states_that_would_change_places_share_the_best_scale(components):
    prior = prior_of(components=components)
    rng = np.random.default_rng(0)
    wide = np.where(np.arange(256) % 2, 0.9, 0.1)
    r = np.where(wide < 0.5, 2.0, 0.2) * rng.uniform(0.5, 1.5, 256)  # those believed narrow are the large ones
    beliefs = prior.beliefs(np.stack([np.log1p(-wide), np.log(wide)]) * 20)
    learnt = learnt_parameters(prior, r, beliefs)
    assert np.all(learnt.narrow <= learnt.wide)
    shared = learnt.narrow == learnt.wide
    assert shared.any()

    def value(p):
        return p.expected_log_density(r, beliefs.wide)

    for level in np.flatnonzero(shared):
        for narrow, broad in ((0.99, 0.99), (1.01, 1.01), (0.98, 1.0), (1.0, 1.02), (0.98, 1.02)):
            moved = [learnt.narrow.copy(), learnt.wide.copy()]
            moved[0][level] *= narrow
            moved[1][level] *= broad
            assert value(learnt.with_parameters(narrow=moved[0], wide=moved[1])) <= value(learnt) + 1e-9


@pytest.mark.parametrize("components", ["laplace", "student_t"])
def test_a_prior_is_found_again_from_many_of_its_coefficients(components):
    truth = prior_of((256, 256), components, level=3)
    s = truth.wavelet.forward(truth.sample(0)).ravel()
    start = truth.with_parameters(narrow=0.5 * truth.narrow, wide=2 * truth.wide)
    found = starting_parameters(start, s)
    for _ in range(30):
        found = learnt_parameters(found, np.abs(s), found.beliefs(found.log_potentials(np.abs(s))))
    np.testing.assert_allclose(found.narrow[1:3], truth.narrow[1:3], rtol=0.1)
    np.testing.assert_allclose(found.wide[1:3], truth.wide[1:3], rtol=0.1)
    np.testing.assert_allclose(found.chances[1:3], truth.chances[1:3], atol=0.05)


def test_samples_have_the_scales_they_were_given():
    prior = prior_of((64, 64), factorial=True)
    s = prior.wavelet.forward(prior.sample(0))
    assert np.mean(np.abs(s[32:, 32:])) == pytest.approx(prior.wide[1], rel=0.1)


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"wide": np.ones(2)}, r"wide must have shape \(3,\) for 2 levels"),
        ({"narrow": np.zeros(3)}, "narrow must be"),
        ({"chances": np.ones((3, 2))}, "chances must lie below 1"),
        ({"components": "gaussian"}, "components must be"),
    ],
)
def test_parameters_that_fit_no_tree_are_refused(change, sentence):
    prior = prior_of()
    arguments = {name: getattr(prior, name) for name in ("wavelet", "components", "narrow", "wide", "chances")}
    with pytest.raises(ValueError, match=sentence):
        TreeMixture(**{**arguments, **change})
