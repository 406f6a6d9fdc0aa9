"""The prior scale of a linear classifier integrated over nodes: weights, mixtures, leave-one-out, what is refused."""

import functools
import pickle
import warnings

import numpy as np
import pytest
from scipy.special import expit

from adaptive import BayesianLogisticRegression, inference
from adaptive.estimators.linear.integrated_belief import CENTRE, DEVIATION, NODES, STEP
from adaptive.inference.mixture_posterior import MixturePosterior
from adaptive.predictive import Mixture
from adaptive.scorers import information_gain

RNG = np.random.default_rng(3)
X = RNG.standard_normal((120, 4))
Y = (RNG.random(120) < expit(X @ [1.5, -1.0, 0.0, 0.5])).astype(int)
PROBES = RNG.standard_normal((30, 4))


def integrated(**options):
    return BayesianLogisticRegression(**{"hyperparameters": "integrated", "classes": [0, 1], **options})


@functools.cache
def fitted(n=30):
    return integrated().fit(X[:n], Y[:n])


def at(scale, n=30, **options):
    return BayesianLogisticRegression(prior_scale=scale, classes=[0, 1], tol=1e-6, **options).fit(X[:n], Y[:n])


def test_weights_are_evidence_times_prior():
    model = fitted()
    belief = model.belief_
    typical = np.sqrt(np.mean(np.sum(X[:30] ** 2, axis=1)))
    u = CENTRE + STEP * np.array(belief.nodes)
    np.testing.assert_allclose([b.prior_scale for b in belief.beliefs], np.exp(u) / typical)
    logs = [at(np.exp(one) / typical).log_evidence_ - 0.5 * ((one - CENTRE) / DEVIATION) ** 2 for one in u]
    weights = np.exp(logs - np.max(logs))
    np.testing.assert_allclose(belief.weights, weights / weights.sum(), atol=2e-3)


def test_weights_are_those_of_evidences_by_quadrature():
    rows, codes = X[:8, :1], Y[:8]
    belief = integrated(fit_intercept=False, update="refit").fit(rows, codes).belief_
    w = np.linspace(-60.0, 60.0, 40_001)
    likelihood = np.prod(expit(np.where(codes == 1, 1, -1)[:, None] * rows * w), axis=0)
    logs = [
        np.log(np.sum(likelihood * np.exp(-0.5 * np.square(w / b.prior_scale))) / b.prior_scale)
        - 0.5 * np.square(STEP * k / DEVIATION)
        for k, b in zip(belief.nodes, belief.beliefs, strict=True)
    ]
    weights = np.exp(logs - np.max(logs))
    np.testing.assert_allclose(belief.weights, weights / weights.sum(), atol=0.01)


@pytest.mark.parametrize("label", [0, 1])
def test_a_what_if_is_every_node_refitted_and_weighed_anew(label):
    model = integrated(calibration=None).fit(X[:20], Y[:20])
    after = model.predictive(X[20:50]).given(4, label)
    belief = integrated(calibration=None).fit(X[[*range(20), 24]], [*Y[:20], label]).belief_
    kept = dict(zip(belief.nodes, belief.weights, strict=True))
    np.testing.assert_allclose(after.weights, [kept.get(k, 0.0) for k in model.belief_.nodes], atol=0.01)
    for k, part in zip(model.belief_.nodes, after.predictives, strict=True):
        if k in kept:
            refitted = belief.beliefs[belief.nodes.index(k)].predictive(X[20:50])
            np.testing.assert_allclose(part.probabilities, refitted.probabilities, atol=0.02)


def test_nine_nodes_are_enough_for_an_integral():
    """Against a grid five times as fine: evidence, probabilities, moments of the weights."""
    model = fitted()
    typical = np.sqrt(np.mean(np.sum(X[:30] ** 2, axis=1)))
    u = np.arange(CENTRE - 4.5, CENTRE + 4.5, STEP / 5)
    fine = [at(np.exp(one) / typical) for one in u]
    logs = np.array([one.log_evidence_ for one in fine]) - 0.5 * ((u - CENTRE) / DEVIATION) ** 2
    shares = np.exp(logs - logs.max())
    evidence = logs.max() + np.log(shares.sum() * STEP / 5 / (np.sqrt(2 * np.pi) * DEVIATION))
    assert model.log_evidence_ == pytest.approx(evidence, abs=0.01)
    shares /= shares.sum()
    p = sum(w * one.predict_proba(PROBES)[:, 1] for w, one in zip(shares, fine, strict=True))
    uncalibrated = integrated(calibration=None).fit(X[:30], Y[:30])
    np.testing.assert_allclose(uncalibrated.predict_proba(PROBES)[:, 1], p, atol=3e-3)
    np.testing.assert_allclose(uncalibrated.predictive(PROBES).probabilities[:, 1], p, atol=3e-3)
    coef = sum(w * one.coef_ for w, one in zip(shares, fine, strict=True))
    np.testing.assert_allclose(model.coef_, coef, atol=0.01)


def test_the_posterior_is_the_mixture():
    posterior = fitted().posterior_
    assert isinstance(posterior, MixturePosterior)
    draws = posterior.sample(100_000, 0)
    np.testing.assert_allclose(draws.mean(axis=0), posterior.mean, atol=0.03)
    np.testing.assert_allclose(np.cov(draws.T), posterior.covariance(), atol=0.1)
    np.testing.assert_allclose(np.diag(posterior.covariance()), posterior.variances(), rtol=1e-10)
    rows = np.column_stack([PROBES, np.ones(30)])
    np.testing.assert_allclose(
        posterior.quantiles(rows, [0.05, 0.95]), np.quantile(draws @ rows.T, [0.05, 0.95], axis=0), atol=0.1
    )
    predictive = fitted().predictive(PROBES)
    assert isinstance(predictive, Mixture)
    np.testing.assert_allclose(predictive.mean, posterior.projection_moments(rows)[0], rtol=1e-10)
    np.testing.assert_allclose(predictive.variance, posterior.projection_moments(rows)[1], rtol=1e-10)


def test_what_is_learnt_answer_by_answer_is_what_is_learnt_at_once():
    one = integrated(calibration=None)
    for k in range(0, 90, 3):
        one.partial_fit(X[k : k + 3], Y[k : k + 3])
    assert len(one.belief_.nodes) < len(NODES)
    at_once = integrated(calibration=None).fit(X[:90], Y[:90])
    np.testing.assert_allclose(one.predict_proba(PROBES), at_once.predict_proba(PROBES), atol=3e-3)
    assert one.log_evidence_ == pytest.approx(at_once.log_evidence_, abs=0.02)


def test_inclusion_follows_every_kept_node():
    included = integrated(update="inclusion", calibration=None).fit(X[:60], Y[:60])
    for k in range(60, 80):
        included.partial_fit(X[[k]], Y[[k]])
    refitted = integrated(calibration=None).fit(X[:80], Y[:80])
    np.testing.assert_allclose(included.predict_proba(PROBES), refitted.predict_proba(PROBES), atol=0.02)
    pool = PROBES.copy()
    first = included.select(pool, 1, scorer="query_by_committee", return_scores=True)
    again = included.predictive(pool)
    np.testing.assert_allclose(first[1], np.max(-np.sum(_shares(again), axis=1)), rtol=1e-8)
    batch = included.select(pool, 3, scorer="information_gain", pending=pool[:2], mask=np.arange(30) > 4)
    assert len(set(batch)) == 3 and min(batch) > 4


def test_included_answers_of_several_classes_follow_refits():
    codes = np.argmax(X @ np.random.default_rng(3).standard_normal((X.shape[1], 3)), axis=1)
    included = integrated(classes=None, update="inclusion", block_size=5).fit(X[:40], codes[:40])
    for k in range(40, 44):
        included.partial_fit(X[[k]], codes[[k]])
    assert included.belief_.beliefs[0].n_included == 4
    refitted = integrated(classes=None).fit(X[:44], codes[:44])
    np.testing.assert_allclose(included.predict_proba(PROBES), refitted.predict_proba(PROBES), atol=0.06)
    assert included.belief_.weights.max() == pytest.approx(refitted.belief_.weights.max(), abs=0.1)
    again = integrated(classes=None, update="inclusion", block_size=5).restore(included.state())
    included.partial_fit(X[44:46], codes[44:46])  # more than the block takes: all are fitted again
    assert included.belief_.beliefs[0].n_included == 0
    again.partial_fit(X[44:46], codes[44:46])
    np.testing.assert_array_equal(again.predict_proba(PROBES), included.predict_proba(PROBES))


def _shares(predictive):
    from scipy.special import ndtr

    up = sum(w * ndtr(p.mean / np.sqrt(p.variance)) for w, p in predictive.components)
    return np.column_stack([up * np.log(up), (1 - up) * np.log(1 - up)])


def test_state_brings_it_back_to_the_last_bit():
    for options in ({}, {"update": "inclusion", "block_size": 50}):
        model = integrated(**options).fit(X[:30], Y[:30]).partial_fit(X[30:33], Y[30:33])
        again = integrated(**options).restore(pickle.loads(pickle.dumps(model.state())))
        np.testing.assert_array_equal(again.predict_proba(PROBES), model.predict_proba(PROBES))
        for one in (model, again):
            one.partial_fit(X[33:36], Y[33:36])
        np.testing.assert_array_equal(again.predict_proba(PROBES), model.predict_proba(PROBES))
        assert again.log_evidence_ == model.log_evidence_


@pytest.mark.parametrize(
    "options",
    [{"link": "probit"}, {"prior": "laplace"}, {"prior": "student_t"}, {"inference": "variational_bounds"},
     {"inference": "laplace_approximation"}],
    ids=str,
)  # fmt: skip
def test_other_links_priors_and_engines_are_mixed_alike(options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = integrated(**options).fit(X[:40], Y[:40])
    belief = model.belief_
    assert belief.weights.sum() == pytest.approx(1.0) and len(belief.nodes) > 1
    tables = [b.probabilities(PROBES, belief.gamma) for b in belief.beliefs]
    np.testing.assert_allclose(model.predict_proba(PROBES), np.tensordot(belief.weights, tables, axes=1))
    assert np.mean(model.predict(X[40:]) == Y[40:]) > 0.7


def test_one_factor_on_the_scores_covariances_calibrates_a_softmax():
    """By definition: ln gamma maximises what is said of rows left out, under N(0, 1); nobody is asked otherwise."""
    sectors = np.digitize(np.arctan2(X[:, 1], X[:, 0]), [-1.0, 1.2])
    plain, factored = (
        BayesianLogisticRegression(calibration=how).fit(X[:40], sectors[:40]) for how in (None, "leave_one_out")
    )
    belief, gamma = factored.belief_, factored.belief_.gamma
    assert plain.belief_.gamma == 1.0 and gamma < 0.9

    def said(log_factor):
        left_out = [part.left_out_at(np.exp(log_factor)).log_score for part in belief.beliefs]
        return np.sum(np.log(belief.weights @ np.exp(left_out))) - 0.5 * log_factor**2

    assert said(np.log(gamma)) == max(said(one) for one in np.linspace(-5.0, 1.0, 25))
    tables = [part.probabilities(PROBES, gamma) for part in belief.beliefs]
    np.testing.assert_allclose(factored.predict_proba(PROBES), np.tensordot(belief.weights, tables, axes=1))
    np.testing.assert_array_equal(factored.predictive(PROBES).probabilities, plain.predictive(PROBES).probabilities)


def test_a_softmax_is_weighed_by_laplaces_evidence():
    sectors = np.digitize(np.arctan2(X[:, 1], X[:, 0]), [-1.0, 1.2])
    model = BayesianLogisticRegression(hyperparameters="integrated", classes=[0, 1, 2]).fit(X[:40], sectors[:40])
    belief = model.belief_
    logs = []
    for k, part in zip(belief.nodes, belief.beliefs, strict=True):
        alone = BayesianLogisticRegression(
            prior_scale=part.prior_scale, classes=[0, 1, 2], inference="laplace_approximation", tol=1e-8
        ).fit(X[:40], sectors[:40])
        logs.append(alone.log_evidence_ - 0.5 * (STEP * k / DEVIATION) ** 2)
    weights = np.exp(logs - np.max(logs))
    np.testing.assert_allclose(belief.weights, weights / weights.sum(), atol=1e-3)
    np.testing.assert_allclose(model.predict_proba(PROBES).sum(axis=1), 1.0)
    assert isinstance(model.predictive(PROBES), Mixture) and len(model.select(PROBES, 2)) == 2
    mixture = model.predictive(PROBES)
    exact = Mixture(belief.weights, [part.predictive(PROBES) for part in belief.beliefs])
    assert [part.share for part in mixture.predictives] == belief.weights.tolist()
    np.testing.assert_allclose(information_gain(mixture), information_gain(exact), atol=1e-6)
    again = BayesianLogisticRegression(hyperparameters="integrated", classes=[0, 1, 2]).restore(model.state())
    np.testing.assert_array_equal(again.predict_proba(PROBES), model.predict_proba(PROBES))


def test_leave_one_out_is_what_refits_without_the_row_say():
    n = 25
    by_refit = np.empty((2, n))
    for j in range(n):
        rest = np.delete(np.arange(n), j)
        alone = BayesianLogisticRegression(prior_scale=1.5, classes=[0, 1]).fit(X[rest], Y[rest])
        mixed = integrated(calibration=None).fit(X[rest], Y[rest])
        by_refit[:, j] = [m.predict_proba(X[[j]])[0, Y[j]] for m in (alone, mixed)]
    alone = BayesianLogisticRegression(prior_scale=1.5, classes=[0, 1]).fit(X[:n], Y[:n]).leave_one_out_
    mixed = fitted(n).leave_one_out_
    np.testing.assert_allclose(np.exp(alone.log_score), by_refit[0], atol=0.02)
    np.testing.assert_allclose(np.exp(mixed.log_score), by_refit[1], atol=0.03)
    np.testing.assert_allclose(mixed.probabilities[np.arange(n), Y[:n]], np.exp(mixed.log_score))
    np.testing.assert_allclose(mixed.probabilities.sum(axis=1), 1.0)


def test_a_factor_of_one_changes_nothing_and_who_is_asked_does_not_depend_on_it():
    plain, factored = integrated(calibration=None).fit(X[:30], Y[:30]), fitted()
    assert plain.belief_.gamma == 1.0 and np.exp(-5) <= factored.belief_.gamma <= np.exp(1)
    part = plain.belief_.beliefs[0]
    np.testing.assert_array_equal(part.probabilities(PROBES, 1.0), part.probabilities(PROBES))
    np.testing.assert_array_equal(plain.predictive(PROBES).probabilities, factored.predictive(PROBES).probabilities)
    np.testing.assert_array_equal(plain.select(PROBES, 4), factored.select(PROBES, 4))


@pytest.mark.parametrize("options", [{}, {"prior": "laplace"}, {"inference": "laplace_approximation"}])
def test_a_weight_is_so_many_equal_answers_at_every_node(options):
    counts = np.arange(30) % 4
    weighted = integrated(tol=1e-8, **options).fit(X[:30], Y[:30], sample_weight=counts)
    repeated = integrated(tol=1e-8, **options).fit(np.repeat(X[:30], counts, axis=0), np.repeat(Y[:30], counts))
    assert weighted.belief_.nodes == repeated.belief_.nodes
    np.testing.assert_allclose(weighted.belief_.weights, repeated.belief_.weights, atol=1e-6)
    np.testing.assert_allclose(weighted.predict_proba(PROBES), repeated.predict_proba(PROBES), atol=1e-6)
    assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, abs=1e-6)
    if weighted.leave_one_out_ is not None:
        apart = np.repeat(weighted.leave_one_out_.log_score, counts[counts > 0])
        np.testing.assert_allclose(apart, repeated.leave_one_out_.log_score, atol=1e-6)


def test_a_given_scale_leaves_nothing_to_integrate():
    given = integrated(prior_scale=0.7).fit(X[:30], Y[:30])
    np.testing.assert_array_equal(
        given.predict_proba(PROBES),
        BayesianLogisticRegression(prior_scale=0.7, classes=[0, 1]).fit(X[:30], Y[:30]).predict_proba(PROBES),
    )


@pytest.mark.filterwarnings("ignore:y holds one class")
def test_one_class_only_and_rows_of_zeros():
    alone = BayesianLogisticRegression(hyperparameters="integrated").fit(X[:4], np.ones(4))
    np.testing.assert_array_equal(alone.predict_proba(PROBES), np.ones((30, 1)))
    assert len(alone.select(PROBES)) == 1
    assert alone.leave_one_out_ is None
    nothing = integrated().fit(np.zeros((6, 4)), Y[:6])
    assert np.isfinite(nothing.predict_proba(PROBES)).all() and nothing.leave_one_out_.log_score.shape == (6,)


def test_where_the_inference_has_no_evidence_its_slopes_weigh_the_nodes():
    def silent(model, **settings):
        posterior = inference.variational_bounds(model, **settings)
        posterior.log_evidence = np.nan
        return posterior

    silently, telling = (
        integrated(inference=engine, tol=1e-7).fit(X[:30], Y[:30]) for engine in (silent, "variational_bounds")
    )
    shares = [dict(zip(m.belief_.nodes, m.belief_.weights, strict=True)) for m in (silently, telling)]
    for k in NODES:
        assert shares[0].get(k, 0.0) == pytest.approx(shares[1].get(k, 0.0), abs=0.01)
    assert np.isnan(silently.log_evidence_) and np.isfinite(telling.log_evidence_)


def test_an_inference_that_fails_is_refused_in_one_sentence():
    def point(model, *, random_state, warm_start, **settings):
        return inference.map_estimate(model, **settings)

    with pytest.raises(ValueError, match='hyperparameters="integrated" weighs .* by their log evidence'):
        integrated(inference=point).fit(X[:9], Y[:9])

    def failing(model, **settings):
        raise ValueError("nothing works today.")

    with pytest.raises(ValueError, match="nothing works today"):
        integrated(inference=failing).fit(X[:9], Y[:9])
    with pytest.raises(ValueError, match="inference must return a Posterior, got NoneType"):
        integrated(inference=lambda model, **settings: None).fit(X[:9], Y[:9])
    with pytest.raises(ValueError, match="hyperparameters must be"):
        integrated(hyperparameters="maximised").fit(X[:9], Y[:9])
