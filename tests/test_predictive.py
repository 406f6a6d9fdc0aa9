"""What a predictive states, derives and says of what-ifs: against dense algebra and enumeration."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm

from adaptive import scorers
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian, Laplace, Poisson, StudentT
from adaptive.predictive import (
    FIELDS,
    GaussianProjections,
    GaussianTarget,
    MissingField,
    Predictive,
    SoftmaxProjections,
    StatedPredictive,
    WeightedDraws,
)


def linear(m=6, n=3, likelihood=None, target=None, seed=0, **options):
    rng = np.random.default_rng(seed)
    rows, mean, root = rng.standard_normal((m, n)), rng.standard_normal(n), rng.standard_normal((n, n))
    predictive = GaussianProjections.from_rows(
        rows, mean, root=root, likelihood=likelihood or Gaussian(0.5), target=target, **options
    )
    return predictive, rows, mean, root @ root.T


def draws_table(k=5, m=4, c=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(c), size=(k, m))


# ---------------------------------------------------------------------------------------------- the base


def test_a_field_given_as_a_function_is_computed_once_and_only_when_needed():
    calls = []
    belief = Predictive(2, probabilities=lambda: calls.append(1) or np.full((2, 2), 0.5))
    assert belief.provides("outcome_entropy") and not calls
    np.testing.assert_allclose(belief.outcome_entropy, np.log(2))
    belief.probabilities, belief.outcomes, belief.outcome_entropy  # noqa: B018
    assert len(calls) == 1


def test_provides_is_true_of_exactly_what_can_be_asked():
    belief = StatedPredictive(mean=[0.0], variance=[1.0], likelihood=BernoulliLogit())
    for name in ("probabilities", "outcomes", "outcome_entropy", "expected_entropy", "expected_variance"):
        assert belief.provides(name)
        getattr(belief, name)
    functions = {"draws": (), "given": (0,), "covariance": (0, 0), "log_determinant": ()}
    for name in ("target", "features", *functions):
        assert not belief.provides(name)
        with pytest.raises(MissingField, match=f"^StatedPredictive does not provide the field '{name}'.$"):
            getattr(belief, name)(*functions[name]) if name in functions else getattr(belief, name)
    assert not belief.provides("nonsense") and not hasattr(belief, "nonsense")
    assert not StatedPredictive(mean=[0.0], variance=[1.0], likelihood=Gaussian(1.0)).provides("probabilities")


def test_what_is_provided_is_worked_out_once():
    asked = []

    class Counting(StatedPredictive):
        def _provides(self, name):
            asked.append(name)
            return super()._provides(name)

    belief = Counting(mean=[0.0], variance=[1.0], likelihood=BernoulliLogit())
    for _ in range(3):
        scorers.information_gain(belief)
        assert belief.provides("probabilities") and not belief.provides("draws")
    assert len(asked) == len(set(asked)) > 3


def test_fields_are_declared_and_say_their_shape():
    for name, text in FIELDS.items():
        assert inspect.getdoc(getattr(Predictive, name)) == text
        assert name in ("likelihood", "target", "target_entropy", "given") or "(" in text, name
    assert {"outcomes", "probabilities", "likelihood", "target", "covariance", "draws", "given"} <= set(FIELDS)


def test_a_missing_field_says_what_may_be_done():
    belief = Predictive(1)
    belief.remedy = "fit it first"
    with pytest.raises(MissingField, match=r"Predictive does not provide the field 'mean': fit it first\."):
        belief.mean  # noqa: B018


def test_what_is_stated_wins_over_what_is_derived():
    assert StatedPredictive(probabilities=[[0.5, 0.5]], outcome_entropy=[0.1]).outcome_entropy == [0.1]


def test_unknown_fields_wrong_lengths_and_no_length_are_refused():
    with pytest.raises(TypeError, match=r"unknown field 'probability'; known fields: outcomes, probabilities"):
        Predictive(1, probability=[0.5])
    with pytest.raises(ValueError, match=r"states variance of shape \(2,\) for 3 candidates"):
        Predictive(3, variance=[1.0, 2.0]).variance  # noqa: B018
    with pytest.raises(TypeError, match="needs n_candidates"):
        StatedPredictive(variance=lambda: np.ones(3))


def test_predictives_survive_pickle_and_deepcopy():
    belief, *_ = linear(likelihood=BernoulliLogit())
    other = pickle.loads(pickle.dumps(belief.given(1, 1)))
    np.testing.assert_array_equal(other.mean, belief.given(1, 1).mean)
    np.testing.assert_array_equal(copy.deepcopy(belief).probabilities, belief.probabilities)


@pytest.mark.parametrize("kind", ["projections", "softmax", "draws"])
def test_what_ifs_keep_what_was_asked_and_targets_know_nothing_of_it(kind):
    if kind == "projections":
        belief, *_ = linear(likelihood=BernoulliLogit(), target=np.eye(3), measured=np.ones((2, 3)))
    elif kind == "softmax":
        rows, target = np.random.default_rng(0).standard_normal((2, 6, 3))
        basis = np.array([[1.0], [-1.0]]) / np.sqrt(2)
        belief = SoftmaxProjections.from_rows(
            rows, np.zeros((1, 3)), np.eye(3)[None, :, None], contrasts=basis, outcomes=[-1, 1], target=target,
            measured=np.ones((2, 3)), features=rows,
        )  # fmt: skip
    else:
        weights, table = draws_table(c=2)
        target = WeightedDraws(weights, table, [-1, 1])
        belief = WeightedDraws(
            weights, table, [-1, 1], target=target, features=np.ones((4, 2)), measured=np.ones((2, 2))
        )
    after = belief.after_asking(2).given(1, 1)
    assert type(after) is type(belief) and after.asked == (2,) and after.given(0, -1).asked == (2,)
    np.testing.assert_array_equal(after.measured, belief.measured)
    np.testing.assert_array_equal(after.features, belief.features)
    assert after.target.asked == () and not after.target.provides("measured")


def test_given_follows_from_stated_draws():
    weights, table = draws_table()
    stated = Predictive(4, draws=lambda n=None: (weights, table), outcomes=["a", "b", "c"])
    direct = WeightedDraws(weights, table, ["a", "b", "c"])
    np.testing.assert_allclose(stated.probabilities, direct.probabilities)
    np.testing.assert_allclose(stated.expected_entropy, direct.expected_entropy)
    np.testing.assert_allclose(stated.given(1, "b").probabilities, direct.given(1, "b").probabilities)


def test_expected_target_entropy_follows_from_stated_what_ifs():
    draws = WeightedDraws(*draws_table(), [0, 1, 2])
    stated = Predictive(4, probabilities=draws.probabilities, target_entropy=draws.target_entropy, given=draws.given)
    np.testing.assert_allclose(stated.expected_target_entropy, draws.expected_target_entropy)


# ---------------------------------------------------------------------------------- Gaussian projections


def test_every_statement_of_a_linear_model_gives_the_same_belief():
    belief, rows, mean, covariance = linear()
    root = np.linalg.cholesky(covariance)
    target = rows[:2] * 0.5
    dense = GaussianProjections(
        rows @ mean, np.diag(rows @ covariance @ rows.T), lambda i, j: rows[i] @ covariance @ rows[j].T, Gaussian(0.5),
        target=GaussianTarget(
            target @ mean, np.diag(target @ covariance @ target.T),
            lambda i, j: target[i] @ covariance @ target[j].T, lambda i, j: rows[i] @ covariance @ target[j].T,
        ),
    )  # fmt: skip
    options = {"likelihood": Gaussian(0.5), "target": target}
    ways = [
        GaussianProjections.from_rows(rows, mean, root=root, **options),
        GaussianProjections.from_rows(rows, mean, covariance=covariance, **options),
        GaussianProjections.from_rows(sparse.csr_matrix(rows), mean, root=root, **options),
        GaussianProjections.from_rows(sparse.coo_matrix(rows), mean, covariance=covariance, **options),
    ]
    for way in ways:
        for a, b in ((dense, way), (dense.given(1, 0.3).given(4), way.given(1, 0.3).given(4))):
            np.testing.assert_allclose(b.mean, a.mean, atol=1e-12)
            np.testing.assert_allclose(b.variance, a.variance, atol=1e-12)
            np.testing.assert_allclose(b.covariance([0, 2], [1, 3, 5]), a.covariance([0, 2], [1, 3, 5]), atol=1e-12)
            np.testing.assert_allclose(b.target_covariance, a.target_covariance, atol=1e-12)
            np.testing.assert_allclose(b.target.mean, a.target.mean, atol=1e-12)
            np.testing.assert_allclose(b.target.variance, a.target.variance, atol=1e-12)
            np.testing.assert_allclose(b.target_variance, a.target_variance, atol=1e-12)
            np.testing.assert_allclose(b.explained_variance, a.explained_variance, atol=1e-10)


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix])
def test_a_diagonal_covariance_and_an_intercept_need_no_dense_copy(as_rows):
    rng = np.random.default_rng(1)
    rows, mean, diagonal = rng.standard_normal((5, 3)), rng.standard_normal(4), rng.uniform(0.5, 2, 4)
    with_ones = np.column_stack([rows, np.ones(5)])
    full = GaussianProjections.from_rows(with_ones, mean, covariance=np.diag(diagonal), likelihood=Gaussian(1.0))
    short = GaussianProjections.from_rows(
        as_rows(rows), mean, covariance=diagonal, likelihood=Gaussian(1.0), intercept=True
    )
    for field in ("mean", "variance", "target_covariance", "target_variance"):
        np.testing.assert_allclose(getattr(short, field), getattr(full, field), atol=1e-12)
    plain = GaussianProjections.from_rows(as_rows(with_ones), mean, covariance=diagonal, likelihood=Gaussian(1.0))
    np.testing.assert_allclose(plain.covariance([0], [1, 2]), full.covariance([0], [1, 2]), atol=1e-12)
    np.testing.assert_allclose(plain.target_covariance, full.target_covariance, atol=1e-12)


def test_given_is_gaussian_conditioning_also_of_a_batch_and_of_the_target():
    belief, rows, mean, covariance = linear(target=np.eye(3)[:2])
    after = belief.given(0, 1.5).given(4, -0.2).given(0, 0.7)
    X, y = rows[[0, 4, 0]], np.array([1.5, -0.2, 0.7])
    gain = covariance @ X.T @ np.linalg.inv(X @ covariance @ X.T + 0.5 * np.eye(3))
    new_mean, new_covariance = mean + gain @ (y - X @ mean), covariance - gain @ X @ covariance
    np.testing.assert_allclose(after.mean, rows @ new_mean, atol=1e-12)
    np.testing.assert_allclose(after.covariance(range(6), range(6)), rows @ new_covariance @ rows.T, atol=1e-12)
    np.testing.assert_allclose(after.target.mean, new_mean[:2], atol=1e-12)
    np.testing.assert_allclose(after.target_covariance, rows @ new_covariance[:, :2], atol=1e-12)
    unknown = belief.given(0).given(4).given(0)
    assert len(unknown.scenarios(0)) == 1  # the outcome does not matter to what is known
    np.testing.assert_allclose(unknown.variance, after.variance, atol=1e-12)
    np.testing.assert_allclose(unknown.mean, belief.mean)


@pytest.mark.parametrize("likelihood", [BernoulliLogit(), BernoulliProbit()], ids=lambda family: family.name)
def test_given_matches_the_moments_of_one_projection_exactly(likelihood):
    belief, *_ = linear(likelihood=likelihood)
    s = belief.mean[2] + np.sqrt(belief.variance[2]) * np.linspace(-10, 10, 20_001)
    for outcome in (-1, 1):
        weight = np.exp(likelihood.log_density(s, outcome)) * norm.pdf(s, belief.mean[2], np.sqrt(belief.variance[2]))
        weight /= weight.sum()
        after = belief.given(2, outcome)
        assert after.mean[2] == pytest.approx(weight @ s, abs=1e-9)
        assert after.variance[2] == pytest.approx(weight @ s**2 - (weight @ s) ** 2, abs=1e-8)


def test_a_candidate_without_uncertainty_teaches_nothing():
    belief = GaussianProjections.from_rows(
        np.array([[0.0], [1.0]]), np.ones(1), covariance=1.0, likelihood=BernoulliLogit()
    )
    assert belief.given(0, 1) is belief
    np.testing.assert_allclose(belief.expected_variance[0], 0.0)


def test_draws_have_the_moments_of_the_belief_and_are_the_same_in_every_chunk_and_in_the_target():
    likelihood = BernoulliProbit()
    belief, rows, mean, covariance = linear(likelihood=likelihood, target=np.eye(3), random_state=3)
    for some in (belief, belief.given(1, 1)):
        projections = some._source.draw(200_000, np.random.default_rng(0))[0]
        np.testing.assert_allclose(projections.mean(axis=0), some.mean, atol=0.03)
        dense = some.covariance(range(6), range(6))
        np.testing.assert_allclose(np.cov(projections.T), dense, atol=0.03 * dense.max())
    part = GaussianProjections.from_rows(
        rows[3:5], mean, root=belief._source._root, likelihood=likelihood, target=np.eye(3), random_state=3
    )
    np.testing.assert_allclose(part.draws(50)[1], belief.draws(50)[1][:, 3:5])
    np.testing.assert_allclose(part.target.draws(50)[1], belief.target.draws(50)[1])
    np.testing.assert_allclose(belief.draws(50_000)[1].mean(axis=0), belief.probabilities, atol=0.01)


def test_target_inputs_that_span_everything_are_everything():
    rng = np.random.default_rng(5)
    for likelihood in (Gaussian(0.5), BernoulliLogit()):
        narrow, *_ = linear(likelihood=likelihood, target=rng.standard_normal((7, 3)))
        wide, *_ = linear(likelihood=likelihood)
        np.testing.assert_allclose(narrow.explained_variance, wide.variance, rtol=1e-8)
        np.testing.assert_allclose(narrow.expected_entropy, wide.expected_entropy, atol=1e-7)


@pytest.mark.parametrize("likelihood", [BernoulliLogit(), BernoulliProbit(), Gaussian(0.7)], ids=lambda f: f.name)
def test_expected_entropy_speaks_about_the_target_and_integrates_out_the_rest(likelihood):
    target = np.array([[1.0, 0.5, 0.0]])
    belief, rows, mean, covariance = linear(likelihood=likelihood, target=target)
    a, b = covariance @ target[0], target[0] @ covariance @ target[0]
    for i, row in enumerate(rows):
        slope, residual = row @ a / b, row @ covariance @ row - (row @ a) ** 2 / b
        t = np.linspace(-9, 9, 801)
        weights = norm.pdf(t) / norm.pdf(t).sum()
        entropies = likelihood.outcome_entropy(row @ mean + slope * np.sqrt(b) * t, np.full(t.shape, residual))
        assert belief.expected_entropy[i] == pytest.approx(weights @ entropies, abs=1e-7)
    assert np.all(belief.outcome_entropy - belief.expected_entropy >= -1e-9)


def test_expected_target_entropy_is_the_mean_over_outcomes_of_given():
    for likelihood in (BernoulliLogit(), BernoulliProbit(), Gaussian(0.5)):
        belief, *_ = linear(likelihood=likelihood, target=np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0]]))
        for i in range(len(belief)):
            direct = sum(p * after.target_entropy for p, after in belief.scenarios(i))
            assert belief.expected_target_entropy[i] == pytest.approx(direct, abs=1e-9)


def test_expected_variance_is_the_mean_over_outcomes_of_given():
    for likelihood in (BernoulliLogit(), Gaussian(0.5), Poisson()):
        belief, *_ = linear(m=3, likelihood=likelihood)
        for i in range(3):
            direct = sum(p * after.variance[i] for p, after in belief.scenarios(i))
            assert belief.expected_variance[i] == pytest.approx(direct, rel=1e-9)


def test_a_continuous_outcome_has_64_scenarios():
    belief, *_ = linear(likelihood=Laplace(0.5))
    scenarios = belief.scenarios(2)
    assert len(scenarios) == 64 and sum(p for p, _ in scenarios) == pytest.approx(1.0)
    assert all(after.variance[2] < belief.variance[2] for _, after in scenarios)
    direct = sum(p * after.variance[2] for p, after in scenarios)
    assert belief.expected_variance[2] == pytest.approx(direct, rel=1e-9)


def test_noise_of_each_candidate_is_its_own():
    noise = np.array([0.1, 1.0, 10.0])
    belief = GaussianProjections.from_rows(np.eye(3), np.zeros(3), covariance=1.0, likelihood=Gaussian(noise))
    np.testing.assert_allclose(0.5 * belief.log_determinant()[0], 0.5 * np.log1p(1 / noise))
    np.testing.assert_allclose(belief.given(2).variance, [1.0, 1.0, 10 / 11])
    np.testing.assert_allclose(belief.given(0, 2.0).mean, [2 / 1.1, 0.0, 0.0])
    about = {"covariance": 1.0, "likelihood": Gaussian(noise), "target": np.eye(3)[:2]}
    with pytest.raises(ValueError, match="the likelihood has 3 parameters.*the 2 inputs of the target need their own"):
        GaussianProjections.from_rows(np.eye(3), np.zeros(3), **about).target  # noqa: B018
    own = GaussianProjections.from_rows(np.eye(3), np.zeros(3), target_likelihood=Gaussian(2.0), **about)
    np.testing.assert_allclose(own.given(0).target.likelihood.variance, 2.0)
    expected = [-0.25 * np.log1p(-1 / ((1 + n) * 3.0)) for n in noise[:2]]
    np.testing.assert_allclose(scorers.predictive_information_gain(own), [*expected, 0.0], atol=1e-12)


def test_sixty_thousand_sparse_features_with_a_diagonal_covariance_stay_sparse():
    n = 60_000
    rows = sparse.random(50, n, density=1e-3, random_state=0, format="csr")
    mean, diagonal = np.zeros(n + 1), np.full(n + 1, 0.5)
    belief = GaussianProjections.from_rows(
        rows, mean, covariance=diagonal, likelihood=BernoulliLogit(), target=rows[:3], intercept=True
    )
    np.testing.assert_allclose(belief.variance, 0.5 * (rows.multiply(rows).sum(axis=1).A1 + 1))
    after = belief.given(0, 1).given(1, 1)
    assert after.mean.shape == (50,) and after.mean[0] > belief.mean[0]
    assert belief.target_variance.shape == (3, 3)
    everything = GaussianProjections.from_rows(rows, mean[1:], covariance=0.5, likelihood=BernoulliLogit())
    assert np.all(np.isfinite(everything.outcome_entropy))
    with pytest.raises(ValueError, match="covariance of 60000 target components is not formed"):
        everything.target_variance  # noqa: B018


@pytest.mark.parametrize(
    "likelihood", [Poisson(), Laplace(0.5), StudentT(4.0, 0.5), Gaussian(0.5)], ids=lambda f: f.name
)
def test_a_target_may_be_one_of_the_candidates(likelihood):
    rows = 0.5 * np.random.default_rng(0).standard_normal((3, 2))
    belief = GaussianProjections.from_rows(rows, np.zeros(2), covariance=1.0, likelihood=likelihood, target=rows[:1])
    gain = belief.outcome_entropy - belief.expected_entropy
    everything = GaussianProjections.from_rows(rows, np.zeros(2), covariance=1.0, likelihood=likelihood)
    assert gain[0] == pytest.approx((everything.outcome_entropy - everything.expected_entropy)[0], abs=1e-6)
    assert np.all(gain >= -1e-6) and np.all(gain[1:] < (everything.outcome_entropy - everything.expected_entropy)[1:])


def test_wrong_shapes_are_refused_in_one_line():
    with pytest.raises(ValueError, match="rows must have 2 columns, got shape"):
        GaussianProjections.from_rows(np.ones((3, 4)), np.zeros(2), covariance=1.0, likelihood=Gaussian(1.0))
    with pytest.raises(ValueError, match="target must hold at least one input"):
        GaussianProjections.from_rows(
            np.ones((3, 2)), np.zeros(2), covariance=1.0, likelihood=Gaussian(1.0), target=np.ones((0, 2))
        )
    with pytest.raises(ValueError, match="exactly one of root and covariance"):
        GaussianProjections.from_rows(np.ones((3, 2)), np.zeros(2), likelihood=Gaussian(1.0))


# ---------------------------------------------------------------------------------------- weighted draws


def test_weighted_draws_are_enumeration():
    weights, table = draws_table()
    belief = WeightedDraws(weights, table, ["a", "b", "c"])
    joint = np.einsum("k,kc,kd->cd", weights, table[:, 0], table[:, 2])  # of candidates 0 and 2
    np.testing.assert_allclose(belief.probabilities[0], joint.sum(axis=1))
    np.testing.assert_allclose(belief.given(0, "b").probabilities[2], joint[1] / joint[1].sum())
    posterior = weights[:, None] * table[:, 0] / joint.sum(axis=1)
    expected = -(joint.sum(axis=1) * np.sum(posterior * np.log(posterior), axis=0)).sum()
    assert belief.expected_target_entropy[0] == pytest.approx(expected)


def test_draws_with_an_equal_target_value_are_mixed():
    weights, table = draws_table(k=6)
    target = np.array([0, 0, 1, 1, 2, 2])
    belief = WeightedDraws(weights, table, [0, 1, 2], target=target)
    shares = weights.reshape(3, 2).sum(axis=1)
    mixed = (weights[:, None, None] * table).reshape(3, 2, 4, 3).sum(axis=1) / shares[:, None, None]
    narrow = WeightedDraws(shares, mixed, [0, 1, 2])
    np.testing.assert_allclose(belief.expected_entropy, narrow.expected_entropy)
    np.testing.assert_allclose(belief.expected_target_entropy, narrow.expected_target_entropy)
    assert belief.target_entropy == pytest.approx(narrow.target_entropy)
    # the joint outcomes are those of the draws, not of the mixtures
    full = WeightedDraws(weights, table, [0, 1, 2])
    np.testing.assert_allclose(belief.given(0, 1).probabilities, full.given(0, 1).probabilities)


def test_the_target_of_draws_is_reweighted_too():
    weights, table = draws_table(m=6)
    target = WeightedDraws(weights, table[:, 4:], [0, 1, 2])
    belief = WeightedDraws(weights, table[:, :4], [0, 1, 2], target=target)
    together = WeightedDraws(weights, table, [0, 1, 2])
    np.testing.assert_allclose(belief.given(1, 2).target.probabilities, together.given(1, 2).probabilities[4:])


def test_bad_draws_are_refused_in_one_line():
    weights, table = draws_table()
    with pytest.raises(ValueError, match="k >= 2 draws"):
        WeightedDraws([1.0], table[:1], [0, 1, 2])
    with pytest.raises(ValueError, match=r"must have shape \(5 draws, m candidates, 2 outcomes\)"):
        WeightedDraws(weights, table, [0, 1])
    with pytest.raises(ValueError, match="add up to 1"):
        WeightedDraws(weights, table * 2, [0, 1, 2])
    with pytest.raises(ValueError, match="one row per draw"):
        WeightedDraws(weights, table, [0, 1, 2], target=[1, 2])
    with pytest.raises(ValueError, match="outcome must be one of"):
        WeightedDraws(weights, table, [0, 1, 2]).given(0, 7)
    sure = WeightedDraws([0.5, 0.5], np.tile([1.0, 0.0], (2, 1, 1)), [0, 1])
    with pytest.raises(ValueError, match="probability 0 under every draw"):
        sure.given(0, 1)
    assert len(sure.scenarios(0)) == 1


# --------------------------------------------------------------------------------------------- scenarios


def test_scenarios_average_to_what_is_believed_now():
    belief = WeightedDraws(*draws_table(), [0, 1, 2])
    both = [(p * q, after) for p, one in belief.scenarios(0) for q, after in one.scenarios(1)]
    assert len(both) == 9
    np.testing.assert_allclose(sum(p * after.probabilities for p, after in both), belief.probabilities, atol=1e-12)


def test_what_an_outcome_that_matters_would_teach_is_asked_of_an_outcome():
    with pytest.raises(ValueError, match=r"given\(1\) needs the outcome, on which .* WeightedDraws depends; scenarios"):
        WeightedDraws(*draws_table(), [0, 1, 2]).given(1)
    belief, *_ = linear(likelihood=BernoulliLogit())
    with pytest.raises(ValueError, match=r"given\(2\) needs the outcome"):
        belief.given(2)


def test_outcomes_may_be_tuples():
    belief = WeightedDraws(*draws_table(c=2), [("win", 3), ("loss", 4)])
    assert belief.given(0, ("win", 3)).weights.shape == (5,)
    assert len(belief.scenarios(0)) == 2
