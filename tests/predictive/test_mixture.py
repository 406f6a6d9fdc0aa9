"""Mixtures against enumeration over (component, latent), and the identities of one and of equal components."""

from functools import partial

import numpy as np
import pytest
from scipy.special import expit, gammaln, ndtr
from scipy.stats import norm

from adaptive import scorers
from adaptive.potentials import BernoulliLogit, Gaussian, Laplace, Logistic, Poisson, StudentT
from adaptive.predictive import GaussianProjections, MissingField, Mixture, Predictive, WeightedDraws

ROWS = np.array([[1.0, 0.0], [0.5, -1.0], [2.0, 1.0]])
TARGET = np.array([[1.0, 1.0], [0.0, -2.0]])
OF_OUTCOMES = (
    "information_gain", "query_by_committee", "consensus_divergence", "margin", "entropy", "uncertainty",
    "predictive_information_gain", "expected_error_reduction", "badge",
)  # fmt: skip


def node(scale, mean=(0.3, -0.2), target=None, likelihood=None):
    covariance = scale**2 * np.array([[1.0, 0.3], [0.3, 0.5]])
    return GaussianProjections.from_rows(
        ROWS, scale * np.asarray(mean), covariance=covariance, likelihood=likelihood or BernoulliLogit(), target=target
    )


def grid(scale, n=161):
    """Nodes of the weights' own Gaussian (n^2, 2), and their probabilities."""
    z = np.linspace(-8.0, 8.0, n)
    p = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    root = np.linalg.cholesky(scale**2 * np.array([[1.0, 0.3], [0.3, 0.5]]))
    weights = (
        scale * np.array([0.3, -0.2]) + np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1).reshape(-1, 2) @ root.T
    )
    return weights, np.multiply.outer(p, p).ravel()


def entropy(p):
    return -np.sum(p * np.log(np.maximum(p, 1e-300)), axis=-1)


def enumerated(weights, scales):
    """Joint weights (q,) and p(y | component, weights) (q, m, 2) of all components' grids."""
    parts = [(w, *grid(scale)) for w, scale in zip(weights, scales, strict=True)]
    chance = np.concatenate([w * p for w, _, p in parts])
    up = expit(np.concatenate([values @ ROWS.T for _, values, _ in parts]))
    return chance, np.stack([1 - up, up], axis=-1)


def test_informations_are_those_of_an_enumeration_of_component_and_weights():
    shares, scales = np.array([0.2, 0.5, 0.3]), (0.5, 1.0, 3.0)
    mixture = Mixture(shares, [node(scale) for scale in scales])
    chance, table = enumerated(shares, scales)
    marginal = np.tensordot(chance, table, axes=1)
    np.testing.assert_allclose(mixture.probabilities, marginal, atol=1e-6)
    information = entropy(marginal) - chance @ entropy(table)
    np.testing.assert_allclose(scorers.information_gain(mixture), information, atol=1e-6)
    np.testing.assert_allclose(scorers.consensus_divergence(mixture), information, atol=1e-6)
    apart = sum(w * entropy(node(s).probabilities) for w, s in zip(shares, scales, strict=True))
    assert np.all(scorers.information_gain(mixture) >= sum(
        w * scorers.information_gain(node(s)) for w, s in zip(shares, scales, strict=True)
    )) and np.all(entropy(marginal) >= apart)  # which component it is can only be learnt in addition  # fmt: skip


@pytest.mark.parametrize(("dimension", "n"), [(1, 401), (3, 65)])
def test_informations_in_one_and_three_dimensions_are_enumerated(dimension, n):
    rng = np.random.default_rng(dimension)
    rows, mean = rng.standard_normal((4, dimension)), rng.standard_normal(dimension)
    z = np.linspace(-8.0, 8.0, n)
    p = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    normals = np.stack(np.meshgrid(*[z] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    chance = np.prod(np.stack(np.meshgrid(*[p] * dimension, indexing="ij"), axis=-1), axis=-1).ravel()
    shares, scales = (0.35, 0.65), (0.4, 1.2)
    mixture = Mixture(
        shares,
        [GaussianProjections.from_rows(rows, s * mean, covariance=s**2, likelihood=BernoulliLogit()) for s in scales],
    )
    marginal, expected = 0.0, 0.0
    for share, scale in zip(shares, scales, strict=True):
        up = expit(scale * (mean + normals) @ rows.T)
        table = np.stack([1 - up, up], axis=-1)
        marginal = marginal + share * np.tensordot(chance, table, axes=1)
        expected = expected + share * (chance @ entropy(table))
    np.testing.assert_allclose(mixture.probabilities, marginal, atol=1e-7)
    np.testing.assert_allclose(scorers.information_gain(mixture), entropy(marginal) - expected, atol=1e-6)


def test_the_committee_votes_over_all_components():
    shares, scales = np.array([0.4, 0.6]), (0.5, 2.0)
    mean = [node(s).mean / np.sqrt(node(s).variance) for s in scales]
    up = sum(w * ndtr(z) for w, z in zip(shares, mean, strict=True))
    mixture = Mixture(shares, [node(s) for s in scales])
    np.testing.assert_allclose(
        scorers.query_by_committee(mixture), entropy(np.stack([up, 1 - up], axis=-1)), rtol=1e-12
    )


def test_predictive_information_is_that_of_joint_tables_over_components():
    shares, scales = np.array([0.4, 0.6]), (0.5, 2.0)
    mixture = Mixture(shares, [node(s, target=TARGET) for s in scales])
    chance = np.concatenate([w * grid(s)[1] for w, s in zip(shares, scales, strict=True)])
    values = np.concatenate([grid(s)[0] for s in scales])
    ours, theirs = expit(values @ ROWS.T), expit(values @ TARGET.T)
    found = np.zeros(len(ROWS))
    for i in range(len(ROWS)):
        for j in range(len(TARGET)):
            a, b = np.stack([ours[:, i], 1 - ours[:, i]]), np.stack([theirs[:, j], 1 - theirs[:, j]])
            joint = (a * chance) @ b.T
            found[i] += entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint.ravel())
    np.testing.assert_allclose(scorers.predictive_information_gain(mixture), found / len(TARGET), atol=1e-6)


@pytest.mark.parametrize("outcome", [-1, 1])
def test_given_weighs_components_by_what_they_said_and_asks_each(outcome):
    shares, scales = np.array([0.4, 0.6]), (0.5, 2.0)
    parts = [node(s) for s in scales]
    after = Mixture(shares, parts).given(1, outcome)
    likely = [p.outcome_probability(1, outcome) for p in parts]
    weights = shares * likely / (shares @ likely)
    np.testing.assert_allclose(after.weights, weights, rtol=1e-12)
    expected = sum(w * p.given(1, outcome).probabilities for w, p in zip(weights, parts, strict=True))
    np.testing.assert_allclose(after.probabilities, expected, rtol=1e-12)
    # against the enumeration: the components' what-ifs match moments, so that others follow to their accuracy
    chance, table = enumerated(shares, scales)
    told = chance * table[:, 1, int(outcome > 0)]
    np.testing.assert_allclose(after.probabilities, np.tensordot(told / told.sum(), table, axes=1), atol=0.01)


def test_scenarios_of_pending_outcomes_average_to_what_is_believed():
    mixture = Mixture([0.4, 0.6], [node(0.5), node(2.0)])
    assert mixture.likely_outcomes(0) == [  # whether those of all candidates were computed before or not
        pytest.approx(pair) for pair in zip(mixture.outcomes, mixture.probabilities[0], strict=True)
    ]
    with pytest.raises(ValueError, match=r"given\(0\) needs the outcome, on which the belief of Mixture depends"):
        mixture.given(0)
    first = mixture.scenarios(0)
    both = [(p * q, after) for p, one in first for q, after in one.scenarios(2)]
    assert len(both) == 4
    by_one = sum(p * after.probabilities[0] for p, after in first)
    np.testing.assert_allclose(by_one, sum(p * after.probabilities[0] for p, after in both), atol=2e-3)  # moments
    np.testing.assert_allclose(sum(p * after.probabilities for p, after in both), mixture.probabilities, atol=0.01)


@pytest.mark.parametrize("name", OF_OUTCOMES)
def test_one_component_is_that_component_to_the_bit_and_equal_ones_are_it(name):
    alone = node(1.3, target=TARGET)
    score = scorers.get(name)
    np.testing.assert_array_equal(score(Mixture([0.3], [alone]), 0), score(alone, 0))
    np.testing.assert_allclose(
        score(Mixture([0.3, 0.5], [alone, node(1.3, target=TARGET)]), 0), score(alone, 0), atol=1e-12
    )


def test_moments_and_quantiles_are_those_of_draws():
    shares, scales = np.array([0.3, 0.7]), (0.5, 2.0)
    mixture = Mixture(shares, [node(s) for s in scales])
    rng = np.random.default_rng(0)
    which = rng.choice(2, size=400_000, p=shares)
    roots = [np.linalg.cholesky(s**2 * np.array([[1.0, 0.3], [0.3, 0.5]])) for s in scales]
    drawn = np.stack([rng.standard_normal((len(which), 2)) @ root.T for root in roots])[which, np.arange(len(which))]
    latents = (drawn + np.multiply.outer(np.asarray(scales)[which], [0.3, -0.2])) @ ROWS.T
    np.testing.assert_allclose(mixture.mean, latents.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(mixture.covariance([0, 1], [2]), np.cov(latents.T)[:2, 2:], rtol=0.01, atol=0.02)
    np.testing.assert_allclose(np.diag(mixture.covariance([0, 1, 2], [0, 1, 2])), mixture.variance, rtol=1e-12)
    quantiles = mixture.quantiles([0.05, 0.5, 0.95])
    np.testing.assert_allclose(quantiles, np.quantile(latents, [0.05, 0.5, 0.95], axis=0), atol=0.05)
    one = node(1.0)
    np.testing.assert_allclose(
        Mixture([1.0], [one]).quantiles([0.9])[0], norm.ppf(0.9, one.mean, np.sqrt(one.variance))
    )
    weights, table = mixture.draws(20_000)
    np.testing.assert_allclose(np.tensordot(weights, table, axes=1), mixture.probabilities, atol=0.01)
    assert weights.sum() == pytest.approx(1.0) and len(weights) == 20_000


def test_entropies_of_gaussian_outcomes_are_those_of_the_mixture_of_densities():
    parts = [node(s, likelihood=Gaussian(n)) for s, n in ((0.3, 0.1), (4.0, 0.5))]
    shares = np.array([0.5, 0.5])
    mixture = Mixture(shares, parts)
    y = np.linspace(-80.0, 80.0, 400_001)
    for i in range(len(ROWS)):
        density = sum(
            w * norm.pdf(y, p.mean[i], np.sqrt(p.variance[i] + p.likelihood.parameters["variance"]))
            for w, p in zip(shares, parts, strict=True)
        )
        assert mixture.outcome_entropy[i] == pytest.approx(entropy(density) * (y[1] - y[0]), abs=1e-6)
    assert np.all(scorers.information_gain(mixture) > sum(
        w * scorers.information_gain(p) for w, p in zip(shares, parts, strict=True)
    ))  # fmt: skip
    after = mixture.given(0)
    np.testing.assert_array_equal(after.weights, shares)
    np.testing.assert_allclose(after.predictives[1].variance, parts[1].given(0).variance)
    told = mixture.given(0, 9.0)
    assert told.weights[1] > 0.999  # only the broad component has heard of such a number


def test_counts_are_mixed_whose_tables_end_at_different_ones():
    shares, scales = np.array([0.3, 0.7]), (0.1, 0.3)
    parts = [node(s, likelihood=Poisson(rate="exp")) for s in scales]
    assert parts[0].probabilities.shape != parts[1].probabilities.shape
    mixture, counts = Mixture(shares, parts), np.arange(400)
    z = np.linspace(-9.0, 9.0, 4001)
    p = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    marginal, expected = 0.0, 0.0
    for share, part in zip(shares, parts, strict=True):
        latent = part.mean[1] + np.sqrt(part.variance[1]) * z
        table = np.exp(counts * latent[:, None] - np.exp(latent)[:, None] - gammaln(counts + 1))
        marginal = marginal + share * (p @ table)
        expected += share * (p @ entropy(table))
    np.testing.assert_allclose(mixture.probabilities[1][:20], marginal[:20], atol=1e-7)
    assert scorers.information_gain(mixture)[1] == pytest.approx(entropy(marginal) - expected, abs=1e-6)
    told = mixture.given(1, 4)
    likely = [part.probabilities[1, 4] for part in parts]
    np.testing.assert_allclose(told.weights, shares * likely / (shares @ likely))


def test_draws_that_are_a_list_stay_one_and_are_mixed_exactly():
    tables = np.random.default_rng(2).dirichlet([1.0, 1.0], (2, 3, 2))  # two components of three draws, two candidates
    parts = [WeightedDraws([0.2, 0.3, 0.5], table, ["a", "b"]) for table in tables]
    mixture = Mixture([0.25, 0.75], parts)
    weights, table = mixture.draws()
    assert table.shape == (6, 2, 2)
    flat = WeightedDraws(weights, table, ["a", "b"])
    for name in ("information_gain", "query_by_committee", "consensus_divergence", "margin"):
        score = scorers.get(name)
        np.testing.assert_allclose(score(mixture, 0), score(flat, 0), atol=1e-12)
    np.testing.assert_allclose(mixture.given(0, "b").probabilities, flat.given(0, "b").probabilities, rtol=1e-12)


def test_what_it_does_not_have_and_what_it_refuses():
    mixture = Mixture([0.4, 0.6], [node(0.5), node(2.0)])
    assert not mixture.provides("likelihood") and not mixture.provides("log_determinant")
    with pytest.raises(MissingField, match="needs target"):
        scorers.predictive_information_gain(mixture)
    with pytest.raises(ValueError, match="weights must be one for each"):
        Mixture([1.0], [node(1.0), node(2.0)])
    with pytest.raises(ValueError, match="not all 0"):
        Mixture([0.0, 0.0], [node(1.0), node(2.0)])
    with pytest.raises(ValueError, match="weights contains nan at position 1"):
        Mixture([1.0, np.nan], [node(1.0), node(2.0)])
    told = [Predictive(1, outcomes=names, probabilities=[[0.5, 0.5]]) for names in (["no", "yes"], ["yes", "no"])]
    with pytest.raises(ValueError, match="predictives must have the same outcomes"):
        _ = Mixture([0.5, 0.5], told).probabilities
    with pytest.raises(ValueError, match="same candidates"):
        Mixture([0.5, 0.5], [Predictive(1), Predictive(2)])
    with pytest.raises(ValueError, match="between 0 and 1"):
        mixture.quantiles([0.0])


@pytest.mark.parametrize("family", [Laplace, Logistic, partial(StudentT, 4.0)])
def test_the_entropy_of_robust_noise_is_that_of_the_mixed_density(family):
    """By quadrature of densities that tilted moments give: heavy tails, components apart, and of other scales."""
    weights, scales, shifts = np.array([0.5, 0.3, 0.2]), (0.2, 0.7, 1.5), (1.0, 0.0, -1.0)
    mean, variance = np.array([0.0, 5.0]), np.array([0.01, 0.3])
    parts = [
        Predictive(2, mean=shift * mean, variance=variance, likelihood=family(scale))
        for shift, scale in zip(shifts, scales, strict=True)
    ]
    y = 0.05 * np.sinh(np.linspace(-13.0, 13.0, 1201))
    for k, found in enumerate(Mixture(weights, parts).outcome_entropy):
        logs = [one.likelihood.observe(y).tilted_moments(one.mean[k] + 0 * y, variance[k] + 0 * y)[0] for one in parts]
        density = weights @ np.exp(logs)
        assert np.trapezoid(density, y) == pytest.approx(1.0, abs=1e-3)
        assert found == pytest.approx(-np.trapezoid(density * np.log(np.maximum(density, 1e-300)), y), abs=2e-3)
    one = Mixture([1.0], parts[:1])
    assert one.outcome_entropy == pytest.approx(Mixture([0.5, 0.5], parts[:1] * 2).outcome_entropy, abs=2e-3)
