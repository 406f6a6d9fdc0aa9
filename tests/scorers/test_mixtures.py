"""Scorers of a mixture of Gaussians against its definition: outcomes enumerated, integrated or drawn one by one."""

import numpy as np
import pytest
from scipy.stats import norm

from adaptive import scorers
from adaptive.potentials import BernoulliLogit, Gaussian, Poisson
from adaptive.predictive import FIELDS, GaussianProjections, Mixture
from tests.culprits import naming

WEIGHTS = np.array([0.5, 0.3, 0.2])
OPTIMALITIES = ("a_optimality", "d_optimality", "e_optimality")


def mixture(family, target=None, n=3, m=5):
    """Three beliefs of different means and covariances about the same rows."""
    rng = np.random.default_rng(3)
    size = 0.05 if family.name == "Poisson" else 1.0  # of counts there is a table
    rows, roots = rng.standard_normal((m, n)), size * rng.standard_normal((3, n, n))
    about = None if target is None else rng.standard_normal((target, n))
    parts = [
        GaussianProjections.from_rows(rows, size * rng.standard_normal(n), root=root, likelihood=family, target=about)
        for root in roots
    ]
    return Mixture(WEIGHTS, parts)


def moments(belief):
    """Mean and covariance of the target, by those of the components."""
    means = np.stack([part.target_mean for _, part in belief.components])
    weights = np.array([weight for weight, _ in belief.components])
    mean = weights @ means
    apart = means - mean
    within = sum(weight * part.target_variance for weight, part in belief.components)
    return mean, within + (apart.T * weights) @ apart


def expected(belief, i):
    """The mean covariance of the target after candidate i was answered, the outcomes each by `given`."""
    family = belief.predictives[0].likelihood
    if family.discrete:
        outcomes, chances = belief.outcomes, belief.probabilities[i]
    else:
        outcomes = np.linspace(-80.0, 80.0, 801)
        chances = sum(w * norm.pdf(outcomes, p.mean[i], np.sqrt(p.variance[i] + 0.5)) for w, p in belief.components)
    likely = chances > 1e-13
    chances = chances[likely] / chances[likely].sum()
    after = [moments(belief.given(i, y))[1] for y in outcomes[likely]]
    return np.einsum("k,kij->ij", chances, np.stack(after))


@pytest.mark.parametrize("target", [None, 2])
@pytest.mark.parametrize("family", [BernoulliLogit(), Gaussian(0.5), Poisson()], ids=lambda family: family.name)
def test_optimality_of_a_mixture_is_the_drop_of_its_mean_covariance(family, target):
    belief = mixture(family, target)
    before = moments(belief)[1]
    # of many counts, at most 64 stand for all
    close = {"rel": 1e-2} if family.name == "Poisson" else {"rel": 1e-6, "abs": 1e-7}
    for i in range(2):
        after = expected(belief, i)
        with naming(f"candidate {i}"):
            assert scorers.a_optimality(belief)[i] == pytest.approx(np.trace(before - after), **close)
            drop = np.linalg.eigvalsh(before)[-1] - np.linalg.eigvalsh(after)[-1]
            assert scorers.e_optimality(belief)[i] == pytest.approx(drop, **close)
            ratio = np.linalg.slogdet(before)[1] - np.linalg.slogdet(after)[1]
            assert scorers.d_optimality(belief)[i] == pytest.approx(0.5 * ratio, **close)


def test_the_target_of_a_mixture_has_the_moments_of_its_draws():
    belief, rng = mixture(BernoulliLogit(), target=2), np.random.default_rng(0)
    which = rng.choice(3, size=200_000, p=WEIGHTS)
    draws = np.empty((len(which), 7))
    for k, part in enumerate(belief.predictives):
        covariance = np.block(
            [[part.covariance(np.arange(5), np.arange(5)), part.target_covariance],
             [part.target_covariance.T, part.target_variance]]
        )  # fmt: skip
        at = np.flatnonzero(which == k)
        draws[at] = rng.multivariate_normal(np.concatenate([part.mean, part.target_mean]), covariance, len(at))
    covariance = np.cov(draws.T)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    np.testing.assert_allclose(belief.target_mean, draws[:, 5:].mean(axis=0), atol=0.03)
    np.testing.assert_allclose(belief.target_covariance / scale[:5, 5:], covariance[:5, 5:] / scale[:5, 5:], atol=0.02)
    np.testing.assert_allclose(belief.target_variance / scale[5:, 5:], covariance[5:, 5:] / scale[5:, 5:], atol=0.02)
    np.testing.assert_allclose(belief.target_deviation, np.sqrt(np.diag(belief.target_variance)))


@pytest.mark.parametrize("family", [BernoulliLogit(), Gaussian(0.5)], ids=lambda family: family.name)
def test_the_variance_that_a_projection_of_a_mixture_is_expected_to_have(family):
    """The target is the candidate itself, whose variance after each outcome is that of the mixture given it."""
    belief = mixture(family)
    for i in range(3):
        if family.discrete:
            after = sum(
                p * belief.given(i, y).variance[i] for y, p in zip([-1, 1], belief.probabilities[i], strict=True)
            )
        else:
            y = np.linspace(-80.0, 80.0, 801)
            chances = sum(w * norm.pdf(y, p.mean[i], np.sqrt(p.variance[i] + 0.5)) for w, p in belief.components)
            chances, y = chances[chances > 1e-13], y[chances > 1e-13]
            after = chances @ [belief.given(i, one).variance[i] for one in y] / chances.sum()
        assert belief.expected_variance[i] == pytest.approx(after, rel=1e-6)


def test_the_variational_gain_of_a_mixture_is_the_divergence_of_component_and_projection():
    """sum_y p(y) KL(Q(k, s | y) || Q(k, s)), with the divergences within a component as that component says them."""
    belief = mixture(BernoulliLogit())
    parts = [part for _, part in belief.components]
    by_chain = np.zeros(len(belief))
    for c in range(2):
        joint = np.stack([w * p.probabilities[:, c] for w, p in belief.components])
        after = joint / joint.sum(axis=0)
        by_chain += joint.sum(axis=0) * (after * np.log(after / WEIGHTS[:, None])).sum(axis=0)
    within = sum(w * scorers.variational_information_gain(p) for w, p in zip(WEIGHTS, parts, strict=True))
    np.testing.assert_allclose(scorers.variational_information_gain(belief), by_chain + within, rtol=1e-10)
    gaussian = mixture(Gaussian(0.5))
    np.testing.assert_allclose(
        scorers.variational_information_gain(gaussian), scorers.information_gain(gaussian), rtol=1e-6
    )


def test_a_mixture_of_equal_parts_scores_as_one():
    for family, target in ((BernoulliLogit(), None), (Gaussian(0.5), 2), (BernoulliLogit(), 2)):
        one = mixture(family, target).predictives[0]
        for name in (*OPTIMALITIES, "variational_information_gain", "information_gain"):
            with naming(f"{name} of {family.name}"):
                score = scorers.get(name)
                np.testing.assert_allclose(score(Mixture([0.7, 0.3], [one, one])), score(one), rtol=1e-6, atol=1e-9)


def test_what_a_class_provides_a_mixture_of_it_provides():
    """Apart from what a mixture has not: one family of its own, a Gaussian's determinants and entropies."""
    gone = {"likelihood", "log_determinant", "target_entropy", "expected_target_entropy", "fisher_information"}
    for family, target in ((BernoulliLogit(), None), (Gaussian(0.5), None), (BernoulliLogit(), 2), (Gaussian(0.5), 2)):
        belief = mixture(family, target)
        missing = {name for name in FIELDS if belief.predictives[0].provides(name) and not belief.provides(name)}
        assert missing <= gone, (family.name, missing)


def test_a_function_as_target_leaves_the_projection_itself():
    """1/2 log(v / E v') by the mixture's moments, where there is no list of components."""
    parts = [
        GaussianProjections(np.array([m, 0.0]), np.array([v, 1.0]), lambda i, j: None, BernoulliLogit())
        for m, v in ((0.5, 2.0), (-1.0, 0.3))
    ]
    belief = Mixture([0.4, 0.6], parts)
    expected = 0.5 * np.log(belief.variance / belief.expected_variance)
    np.testing.assert_allclose(scorers.d_optimality(belief), expected, rtol=1e-10)
