"""Informations over prior widths from 1e-3 to 1e4 and rows of any scale, against brute force in what is believed."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import entr, expit, ndtr
from sklearn.gaussian_process.kernels import RBF

from adaptive import (
    BayesianLogisticRegression,
    GaussianProcessClassifier,
    ParticleEstimator,
    PoissonRegression,
    Questionnaire,
    SparseLinearRegression,
    scorers,
)  # fmt: skip
from tests.culprits import naming
from tests.potentials.test_information_of_counts import expected_entropy, outcome_entropy

WIDTHS = (1e-3, 0.1, 1.0, 30.0, 1e3, 1e4)
SCALES = (1e-100, 1e-8, 1e-3, 1.0, 1e3, 1e6, 1e30, 1e99)
BASE = np.random.default_rng(0).standard_normal((5, 3))
REFUSED = r"X must hold numbers of at most 1e\+100"
INFORMATIONS = ("information_gain", "predictive_information_gain", "consensus_divergence", "d_optimality")


def beliefs(make, scales=SCALES, fit=None):
    """What is believed about rows of any scale at any width, before any fit and after one, and a name for it."""
    for width in WIDTHS:
        for scale in scales:
            X = BASE * scale
            yield f"width {width}, rows of {scale}", make(width).predictive(X, target=X[:2])
            if fit is not None and width * scale <= 1e4:
                yield f"width {width}, rows of {scale}, fitted", make(width).fit(X, fit).predictive(X, target=X[:2])


def check_range(belief, names=INFORMATIONS):
    for name in names:
        with naming(name):
            values = scorers.get(name)(belief, 0)
            assert np.isfinite(values).all() and values.min() >= 0
            if name != "d_optimality" and belief.provides("likelihood") and belief.likelihood.outcomes is not None:
                assert np.all(values <= np.log(len(belief.outcomes)) + 1e-9)


def binary_information(link, mean, variance):
    """On a lattice of the projection that is fine where the link changes and where the Gaussian does."""
    sd = np.sqrt(variance)
    s = np.unique(np.concatenate([mean + sd * np.linspace(-9, 9, 20_001), np.linspace(-45, 45, 40_001)]))
    s = s[np.abs(s - mean) <= 9 * sd]
    weights = np.gradient(s) * np.exp(-0.5 * ((s - mean) / sd) ** 2)
    weights /= weights.sum()
    p = link(s)
    mixed = weights @ p
    return entr(mixed) + entr(1 - mixed) - weights @ (entr(p) + entr(link(-s)))


@pytest.mark.parametrize(("name", "link"), [("logit", expit), ("probit", ndtr)])
def test_two_classes(name, link):
    def make(width):
        return BayesianLogisticRegression(prior_scale=width, link=name, classes=[0, 1])

    for said, belief in beliefs(make, fit=np.array([0, 1, 1, 0, 1])):
        with naming(said):
            check_range(belief)
            gains = belief.outcome_entropy - belief.likelihood.expected_outcome_entropy(belief.mean, belief.variance)
            for i in (0, 3):
                mean, variance = float(belief.mean[i]), float(belief.variance[i])
                if variance > 1e-12:
                    assert gains[i] == pytest.approx(binary_information(link, mean, variance), abs=2e-4)


def test_three_classes():
    """By many draws of the latents of the widest and the narrowest."""

    def make(width):
        return BayesianLogisticRegression(prior_scale=width, classes=["a", "b", "c"])

    for said, belief in beliefs(make):
        with naming(said):
            check_range(belief, ("information_gain", "consensus_divergence"))
    for width in (1e-3, 0.1, 3.0, 1e4):
        belief = make(width).predictive(BASE[:2], random_state=0)
        weights, table = belief.draws(100_000)
        mixed = np.tensordot(weights, table, axes=1)
        with naming(f"width {width}"):
            expected = entr(mixed).sum(axis=1) - weights @ entr(table).sum(axis=2)
            np.testing.assert_allclose(scorers.information_gain(belief), expected, atol=0.01)


def test_counts():
    def make(width):
        return PoissonRegression(prior_scale=width)

    names = ("information_gain", "consensus_divergence", "d_optimality")
    for said, belief in beliefs(make, scales=(1e-3, 1.0), fit=np.array([0.0, 2.0, 1.0, 0.0, 5.0])):
        with naming(said):
            check_range(belief, names)
    for width in WIDTHS:
        belief = make(width).predictive(BASE[:1])
        mean, sd = float(belief.mean[0]), float(np.sqrt(belief.variance[0]))
        with naming(f"width {width}"):
            expected = outcome_entropy(mean, sd) - expected_entropy(mean, sd)
            assert scorers.information_gain(belief)[0] == pytest.approx(expected, abs=1e-3)


def test_numbers():
    def make(width):
        return SparseLinearRegression("gaussian", prior_scale=width, noise_variance=0.1)

    names = ("information_gain", "predictive_information_gain", "d_optimality")
    for said, belief in beliefs(make, fit=np.array([0.0, 2.0, 1.0, 0.0, 5.0])):
        with naming(said):
            check_range(belief, names)
            everything = make(1.0).predictive(BASE)
            np.testing.assert_allclose(
                scorers.information_gain(everything), 0.5 * np.log1p(everything.variance / 0.1), rtol=1e-9
            )


def test_processes():
    for said, belief in beliefs(lambda width: GaussianProcessClassifier(width**2 * RBF(1.0), classes=[0, 1])):
        with naming(said):
            check_range(belief)


def test_graded_items():
    """By summing over the trait's grid."""
    for slope in (1e-3, 0.1, 1.0, 30.0, 1e3):
        items = Questionnaire.from_parameters(
            np.full(4, slope), thresholds=np.sort(BASE[:4], axis=1), response_model="graded"
        )
        belief = items.respondent().predictive(list(range(4)))
        with naming(f"slope {slope}"):
            check_range(belief, ("information_gain", "consensus_divergence"))
            weights, table = belief.draws()
            mixed = np.tensordot(weights, table, axes=1)
            expected = entr(mixed).sum(axis=1) - weights @ entr(table).sum(axis=2)
            np.testing.assert_allclose(scorers.information_gain(belief), expected, atol=1e-9)


def test_particles():
    """Of a curve whose noise is from 1e-3 to 1e4 of its range, by the densities of its particles."""
    for noise in WIDTHS:
        model = ParticleEstimator(
            model=lambda parameters, X: parameters @ X.T, prior={"slope": stats.norm(0.0, 1.0)}, noise=noise,
            n_particles=200, random_state=0,
        )  # fmt: skip
        belief = model.predictive(np.array([[0.0], [0.5], [2.0]]))
        with naming(f"noise {noise}"):
            values = scorers.information_gain(belief)
            assert np.isfinite(values).all() and values.min() >= 0
            assert values.max() <= np.log(200) + 1e-9  # particles can tell no more than which of them is right
            exact = 0.5 * np.log1p(np.array([0.0, 0.5, 2.0]) ** 2 / noise**2)
            assert np.all(np.abs(values - np.minimum(exact, np.log(200))) < 0.6)


@pytest.mark.parametrize("size", [1e101, 1e155, 1e300])
def test_rows_that_cannot_be_squared_are_refused_in_one_sentence(size):
    makers = (
        lambda: BayesianLogisticRegression(classes=[0, 1]), lambda: BayesianLogisticRegression(classes=["a", "b", "c"]),
        lambda: PoissonRegression(), lambda: SparseLinearRegression(),
    )  # fmt: skip
    y = [np.array([0, 1, 1, 0, 1]), np.array(list("abcab")), np.arange(5.0), np.arange(5.0)]
    for make, outcomes in zip(makers, y, strict=True):
        with (
            naming(type(make()).__name__),
            pytest.raises(ValueError, match=REFUSED) as said,
        ):
            make().fit(BASE * size, outcomes)
        assert "\n" not in str(said.value)
        taught = make().fit(BASE, outcomes)
        with naming(type(make()).__name__), pytest.raises(ValueError, match=REFUSED):
            taught.select(BASE * size)
