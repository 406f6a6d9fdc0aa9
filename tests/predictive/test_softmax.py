"""Softmax predictives: integrals against quadrature of the same Gaussian, what-ifs against regression."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import entr, softmax

from adaptive import scorers
from adaptive.potentials.softmax import contrasts
from adaptive.predictive import MissingField, SoftmaxProjections
from adaptive.predictive.softmax_integrals import information_error, softmax_moments


def gaussians(seed, m, c, spread):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((m, c, c)) * spread
    return rng.standard_normal((m, c)) * 2, root @ root.transpose(0, 2, 1) / np.sqrt(c)


def by_quadrature(mean, covariance, n):
    """Probabilities and expected entropy by the trapezoid rule in all c - 1 dimensions."""
    c = len(mean)
    basis = contrasts(c)
    values, vectors = np.linalg.eigh(basis.T @ covariance @ basis)
    z = np.linspace(-6.5, 6.5, n)
    grid = np.stack(np.meshgrid(*[z] * (c - 1), indexing="ij"), axis=-1).reshape(-1, c - 1)
    weights = np.exp(-0.5 * np.sum(grid**2, axis=1))
    grid, weights = grid[weights > 1e-12], weights[weights > 1e-12]
    t = grid @ (vectors * np.sqrt(np.maximum(values, 0))).T + basis.T @ mean
    p = softmax(t @ basis.T, axis=1)
    return weights @ p / weights.sum(), weights @ entr(p).sum(axis=1) / weights.sum()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(2, 1001), (3, 301)]), st.floats(0.01, 6.0))
def test_two_dimensional_integrals_to_a_millionth(seed, shape, spread):
    c, n = shape
    mean, covariance = gaussians(seed, 2, c, spread)
    p, entropy = softmax_moments(mean, covariance)
    for i in range(2):
        exact, expected = by_quadrature(mean[i], covariance[i], n)
        np.testing.assert_allclose(p[i], exact, atol=1e-6)
        np.testing.assert_allclose(entropy[i], expected, atol=1e-6)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-14)


@pytest.mark.parametrize("spread", [0.05, 0.3, 1.0, 2.5])
def test_three_dimensional_integrals_to_a_millionth(spread):
    mean, covariance = gaussians(7, 3, 4, spread)
    p, entropy = softmax_moments(mean, covariance)
    for i in range(3):
        exact, expected = by_quadrature(mean[i], covariance[i], 111)
        np.testing.assert_allclose(p[i], exact, atol=1e-6)
        np.testing.assert_allclose(entropy[i], expected, atol=1e-6)


@pytest.mark.parametrize(("c", "spread", "largest"), [(5, 1.0, 2e-3), (10, 1.0, 3e-3), (20, 1.0, 4e-3)])
def test_of_more_classes_the_stated_error_holds(c, spread, largest):
    mean, covariance = gaussians(8, 40, c, spread / np.sqrt(np.sqrt(c)))
    p, entropy = softmax_moments(mean, covariance)
    fine, exact = softmax_moments(mean, covariance, nodes=2**15)
    assert np.sqrt(np.mean((p - fine) ** 2)) < largest / 4
    assert np.abs(p - fine).max() < 4 * largest
    assert np.abs(entropy - exact).max() < 12 * largest
    rng = np.random.default_rng(0)
    drawn = rng.multivariate_normal(mean[0], covariance[0], size=40_000)
    np.testing.assert_allclose(softmax(drawn, axis=1).mean(axis=0), fine[0], atol=5e-3)


def test_extreme_gaussians_stay_probabilities():
    mean = np.array([[0.0, 0, 0, 0], [800, 0, 0, 0], [0, 0, 0, 0], [0, -900, 5, 5]])
    covariance = np.array([np.zeros((4, 4)), np.eye(4), 1e6 * np.eye(4), np.diag([0, 0, 1e-12, 400.0])])
    for c in (2, 3, 4):
        p, entropy = softmax_moments(mean[:, :c], covariance[:, :c, :c])
        assert np.isfinite(p).all() and np.isfinite(entropy).all()
        assert p.min() >= 0 and np.all(entropy <= entr(p).sum(axis=1) + 1e-12)
        np.testing.assert_allclose(p[0], 1 / c, atol=1e-9)
        np.testing.assert_allclose(p[1, 0], 1.0, atol=1e-9)
        np.testing.assert_allclose(p[2], 1 / c, atol=0.05)


@pytest.mark.parametrize("c", [3, 4])
def test_what_counts_for_little_errs_by_more_in_proportion(c):
    mean, covariance = gaussians(9, 20, c, 2.0)
    whole, same = softmax_moments(mean, covariance), softmax_moments(mean, covariance, share=1.0)
    for one, other in zip(whole, same, strict=True):
        np.testing.assert_array_equal(one, other)
    for share in (0.5, 0.1, 0.01):
        for one, other in zip(whole, softmax_moments(mean, covariance, share=share), strict=True):
            assert 0.0 < np.abs(one - other).max() <= 1e-6 / share


@pytest.mark.parametrize("c", [3, 4])
def test_scores_that_overflow_take_another_way_to_the_same_numbers(c):
    mean, covariance = gaussians(5, 20, c, 1.0)
    mean[:, 0] = 0.0
    safe, beyond = (softmax_moments(mean + shift * (np.arange(c) > 0), covariance) for shift in (200.0, 800.0))
    for one, other in zip(safe, beyond, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)
    assert np.all(safe[0][:, 0] < 1e-60)


def test_a_constant_in_the_scores_changes_nothing():
    mean, covariance = gaussians(9, 6, 4, 1.0)
    shared = np.random.default_rng(0).standard_normal((6, 1, 4))
    moved = covariance + shared + shared.transpose(0, 2, 1)  # Cov(s_k, common) on both sides
    np.testing.assert_allclose(softmax_moments(mean + 3.0, moved)[0], softmax_moments(mean, covariance)[0], atol=1e-6)


# ------------------------------------------------------------------------------------------- the predictive


def belief(c=3, m=6, r=3, target=False, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    n = (c - 1) * r
    root = rng.standard_normal((n, n)) * scale / np.sqrt(n)
    blocks = (root @ root.T + 0.2 * np.eye(n)).reshape(c - 1, r, c - 1, r)
    rows, inputs = rng.standard_normal((m, r)) * 1.5, rng.standard_normal((2, r))
    return SoftmaxProjections.from_rows(
        rows, rng.standard_normal((c - 1, r)), blocks, contrasts=contrasts(c), outcomes=list("abcdefgh"[:c]),
        target=inputs if target else None, random_state=3,
    )  # fmt: skip


def joint_tilted(predictive, i, code, n=400_000):
    """Probabilities of all candidates given outcome ``code`` at ``i``, by weighted joint draws."""
    weights, table = predictive.draws(n)
    weights = weights * table[:, i, code]
    return np.tensordot(weights / weights.sum(), table, axes=1)


@pytest.mark.parametrize("c", [2, 3, 5])
def test_what_ifs_come_near_bayes_rule(c):
    predictive = belief(c)
    for i, code in [(0, 0), (3, c - 1)]:
        after = predictive.given(i, predictive.outcomes[code])
        np.testing.assert_allclose(after.probabilities, joint_tilted(predictive, i, code, 100_000), atol=0.02)
        assert after.probabilities[i, code] > predictive.probabilities[i, code]


def test_what_ifs_match_the_moments_of_the_row_and_regress_the_others():
    predictive = belief(3, target=True)
    after = predictive.given(2, "b")
    mean, variance = predictive._tilted(
        predictive._source.mean(0)[2], predictive._source.variance(0)[2], predictive.likelihood.code("b")
    )
    np.testing.assert_allclose(after._source.mean(0)[2], mean, atol=1e-10)
    np.testing.assert_allclose(after._source.variance(0)[2], variance, atol=1e-10)
    # the regression of candidate 4 on candidate 2, from the dense covariance of both
    k = 2
    cross = predictive._source.cross(0, [4], 0, [2])[0, 0]
    gain = cross @ np.linalg.inv(predictive._source.variance(0)[2])
    moved = predictive._source.mean(0)[4] + gain @ (mean - predictive._source.mean(0)[2])
    np.testing.assert_allclose(after._source.mean(0)[4], moved, atol=1e-10)
    shrunk = predictive._source.variance(0)[4] - gain @ (predictive._source.variance(0)[2] - variance) @ gain.T
    np.testing.assert_allclose(after._source.variance(0)[4], shrunk, atol=1e-10)
    np.testing.assert_allclose(after._source.cross(0, [4], 0, [4])[0, 0], shrunk, atol=1e-10)
    assert shrunk.shape == (k, k)
    draws = after._source.draw(60_000, np.random.default_rng(0))[0][:, 4]
    np.testing.assert_allclose(draws.mean(axis=0), moved, atol=0.03)
    np.testing.assert_allclose(np.cov(draws.T), shrunk, atol=0.05)
    np.testing.assert_allclose(after.target.score_mean, after.scenarios(0)[0][1].target.score_mean, atol=2.0)


def test_two_classes_are_the_binary_what_if():
    from adaptive.potentials import BernoulliLogit
    from adaptive.predictive import GaussianProjections

    predictive = belief(2)
    rows, covariance = predictive._source._rows[0], predictive._source._blocks[0, :, 0, :]
    binary = GaussianProjections.from_rows(  # ln p(a) - ln p(b) = sqrt(2) t
        np.sqrt(2) * rows, predictive._source._mean[0], covariance=covariance, likelihood=BernoulliLogit()
    )
    np.testing.assert_allclose(predictive.probabilities[:, 0], binary.probabilities[:, 1], atol=1e-7)
    np.testing.assert_allclose(predictive.expected_entropy, binary.expected_entropy, atol=1e-6)
    ours, theirs = predictive.given(1, "a").given(4, "b"), binary.given(1, 1).given(4, -1)
    np.testing.assert_allclose(ours.probabilities[:, 0], theirs.probabilities[:, 1], atol=1e-3)


def test_information_about_inputs_is_that_of_nested_draws():
    predictive = belief(3, target=True)
    source = predictive._source
    k, rng = 2, np.random.default_rng(1)
    inputs = source.cross(1, slice(None), 1, slice(None)).transpose(0, 2, 1, 3).reshape(2 * k, 2 * k)
    cross = source.cross(0, slice(None), 1, slice(None)).transpose(0, 2, 1, 3).reshape(-1, k, 2 * k)
    information = scorers.information_gain(predictive)
    for i in (0, 4):
        gain = cross[i] @ np.linalg.inv(inputs)
        explained = gain @ cross[i].T
        left = np.linalg.cholesky(source.variance(0)[i] - explained)
        outer = rng.multivariate_normal(source.mean(0)[i], explained, size=800)
        inner = rng.standard_normal((400, k)) @ left.T
        p = softmax((outer[:, None] + inner) @ contrasts(3).T, axis=2).mean(axis=1)
        nested = entr(p.mean(axis=0)).sum() - entr(p).sum(axis=1).mean()
        assert information[i] == pytest.approx(nested, abs=0.02)
    everything = scorers.information_gain(belief(3))
    assert np.all(information <= everything + 1e-3) and information.min() >= 0


@pytest.mark.parametrize("c", [3, 5])
def test_information_is_that_of_joint_draws(c):
    predictive = belief(c)
    weights, table = predictive.draws(40_000)
    by_draws = entr(weights @ table.reshape(len(weights), -1)).reshape(-1, c).sum(axis=1)
    by_draws -= weights @ entr(table).sum(axis=2)
    np.testing.assert_allclose(scorers.information_gain(predictive), by_draws, atol=0.012)


def test_scorers_of_two_outcomes_are_refused_in_one_line():
    predictive = belief(3)
    for name in ("variational_information_gain", "predictive_variance", "a_optimality"):
        with pytest.raises(MissingField, match=f"^{name} needs .* SoftmaxProjections does not provide"):
            scorers.get(name)(predictive, 0)


def test_a_row_without_uncertainty_teaches_nothing():
    rows = np.array([[0.0, 0.0], [1.0, 0.5]])
    predictive = SoftmaxProjections.from_rows(
        rows, np.ones((2, 2)), np.eye(4).reshape(2, 2, 2, 2), contrasts=contrasts(3), outcomes=[1, 2, 3]
    )
    assert predictive.given(0, 2) is predictive
    assert scorers.information_gain(predictive)[0] == pytest.approx(0.0, abs=1e-6)
    with pytest.raises(ValueError, match=r"outcome must be one of \[1, 2, 3\], got 7"):
        predictive.given(1, 7)
    with pytest.raises(ValueError, match="one row for each of the 2 outcomes, got 3"):
        SoftmaxProjections(predictive._source, contrasts=contrasts(3), outcomes=["x", "y"])


def test_long_batches_do_not_recurse():
    predictive = belief(3, m=3)
    for _ in range(400):
        predictive = predictive.given(1, "a")
    assert predictive.probabilities[1, 0] > 0.9 and np.isfinite(predictive.covariance(0, 2)).all()


@pytest.mark.parametrize("c", [4, 5, 7, 10])
def test_the_stated_error_of_an_information_covers(c):
    rng = np.random.default_rng(c)
    root = rng.standard_normal((60, c, c)) * 1.5 / np.sqrt(c)
    mean, covariance = 1.5 * rng.standard_normal((60, c)), root @ root.transpose(0, 2, 1)

    def information(**options):
        probabilities, entropy = softmax_moments(mean, covariance, **options)
        return entr(probabilities).sum(axis=1) - entropy

    error = information_error(mean, covariance)
    apart = np.abs(information() - information(nodes=2**13))
    if c <= 4:
        assert not error.any()
    else:
        assert np.mean(apart <= 2.5 * error) > 0.9 and np.mean(error) < 0.02
