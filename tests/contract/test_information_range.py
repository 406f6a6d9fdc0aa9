"""Informations over prior widths from 1e-3 to 1e4 and rows of any scale, against brute force in what is believed."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import entr, expit, logsumexp, ndtr
from sklearn.gaussian_process.kernels import RBF

from adaptive import (
    BayesianLogisticRegression,
    CoxProcess,
    GaussianProcessClassifier,
    ParticleEstimator,
    PoissonRegression,
    Questionnaire,
    SparseLinearRegression,
    scorers,
)  # fmt: skip
from adaptive.potentials.poisson_outcomes import poisson_entropy
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
    for name, link in (("logit", expit), ("probit", ndtr)):

        def make(width, name=name):
            return GaussianProcessClassifier(width**2 * RBF(1.0), link=name, optimizer=None, classes=[0, 1])

        for said, belief in beliefs(make, scales=(1e-3, 1.0, 1e3), fit=np.array([0, 1, 1, 0, 1])):
            with naming(f"{name}, {said}"):
                check_range(belief)
                gain = belief.outcome_entropy[3] - belief.likelihood.expected_outcome_entropy(
                    belief.mean[3:4], belief.variance[3:4]
                )
                exact = binary_information(link, float(belief.mean[3]), float(belief.variance[3]))
                assert gain == pytest.approx(exact, abs=2e-4)


def test_processes_about_other_rows():
    """I(y_*; y | x_*, x) by the lattice of two projections."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(201)
    weights = np.outer(weights, weights) / weights.sum() ** 2
    for width in (1e-3, 0.1, 1.0, 3.0):
        model = GaussianProcessClassifier(width**2 * RBF(1.0), optimizer=None, classes=[0, 1])
        belief = model.fit(BASE, np.array([0, 1, 1, 0, 1])).predictive(BASE[3:4] + 0.5, target=BASE[4:] + 0.3)
        both = model.predictive(np.vstack([BASE[3:4] + 0.5, BASE[4:] + 0.3]))
        (mean, other), covariance = both.mean, both.covariance([0, 1], [0, 1])
        root = np.linalg.cholesky(covariance + 1e-15 * np.eye(2))
        p, q = (
            expit(mean + root[0, 0] * nodes)[:, None],
            expit(other + root[1, 0] * nodes[:, None] + root[1, 1] * nodes[None]),
        )
        joint = np.array([[np.sum(weights * a * b) for b in (q, 1 - q)] for a in (p, 1 - p)])
        exact = entr(joint.sum(axis=0)).sum() + entr(joint.sum(axis=1)).sum() - entr(joint).sum()
        with naming(f"width {width}"):
            assert scorers.predictive_information_gain(belief)[0] == pytest.approx(exact, rel=0.02, abs=1e-9)


@pytest.mark.parametrize("rate", ["exp", "rectified", "softplus"])
def test_cox_processes(rate):
    """By sums over counts and the trapezoidal rule."""
    rate_of = {"exp": np.exp, "rectified": lambda s: np.maximum(s, 0.0), "softplus": lambda s: np.logaddexp(0.0, s)}
    for width in (1e-3, 0.1, 1.0):
        belief = CoxProcess(width**2 * RBF(1.0), rate=rate, optimizer=None).predictive(BASE[:, :1])
        mean, sd = float(belief.mean[0]), float(np.sqrt(belief.variance[0]))
        s = np.linspace(mean - 9 * sd, mean + 9 * sd, 2001)
        weights = np.exp(-0.5 * ((s - mean) / sd) ** 2)
        weights, rates = weights / weights.sum(), rate_of[rate](s)
        counts = np.arange(1000)
        p = np.array([weights @ stats.poisson.pmf(k, rates) for k in counts])
        with naming(f"width {width}"):
            exact = entr(p).sum() - weights @ poisson_entropy(rates)
            assert scorers.information_gain(belief)[0] == pytest.approx(exact, abs=1e-3)


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


def test_ordinal_items():
    """H(trait) - sum_r p(r) H(trait | r), each answer given in its turn."""
    rng = np.random.default_rng(0)
    people, items = np.repeat(np.arange(60), 4), np.tile(np.arange(4), 60)
    asked = list(zip(people.tolist(), items.tolist(), strict=True))
    scores = 1 + np.digitize(rng.standard_normal(60)[people] + 0.7 * rng.standard_normal(240), [-0.5, 0.5])
    for noise in (0.03, 1.0, 30.0):
        bank = Questionnaire("ordinal", trait_noise=noise, categories=(1, 2, 3)).fit(asked, scores)
        belief = bank.respondent().predictive(list(range(4)))
        with naming(f"noise {noise}"):
            check_range(belief, ("information_gain",))
            for i, gain in enumerate(scorers.information_gain(belief)):
                after = [np.log(belief.given(i, outcome).target_deviation) for outcome in (1, 2, 3)]
                exact = np.log(belief.target_deviation) - belief.probabilities[i] @ after
                assert gain == pytest.approx(exact, abs=1e-6)


def test_particles():
    """Of a curve whose noise is from 1e-3 to 1e4 of its range, by the density of the mixture of its particles."""
    X = np.array([[0.0], [0.5], [2.0]])
    for noise in WIDTHS:
        model = ParticleEstimator(
            model=lambda parameters, X: parameters @ X.T, prior={"slope": stats.norm(0.0, 1.0)}, noise=noise,
            n_particles=200, random_state=0,
        )  # fmt: skip
        belief = model.predictive(X)
        weights, table = belief.weights, belief.cloud.values
        with naming(f"noise {noise}"):
            values = scorers.information_gain(belief)
            assert np.isfinite(values).all() and values.min() >= 0
            assert values.max() <= np.log(200) + 1e-9  # particles can tell no more than which of them is right
            for value, x in zip(values, X[:, 0], strict=True):
                assert value == pytest.approx(mixture_information(weights, table[:, 0] * x, noise), abs=1e-3)


def mixture_information(weights, centres, noise):
    """H(y) - H(y | centre) of Gaussians of one noise, by the trapezoidal rule about every centre."""
    y = np.sort((centres[:, None] + noise * np.linspace(-9.0, 9.0, 121)).ravel())
    log_density = np.concatenate([
        logsumexp(-0.5 * ((part[:, None] - centres) / noise) ** 2, b=weights, axis=1) for part in np.array_split(y, 50)
    ])  # fmt: skip
    density = np.exp(log_density) / (noise * np.sqrt(2 * np.pi))
    return -np.trapezoid(density * log_density, y) - 0.5


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
