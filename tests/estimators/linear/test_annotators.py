"""Labels of people who may be wrong: the same as summing over true labels, whoever lies, whatever they are called."""

import copy
import itertools
import warnings

import numpy as np
import pytest
from scipy.special import digamma, expit

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.estimators.linear.annotators.annotated_predictive import AnnotatedDraws
from adaptive.estimators.linear.annotators.rates import Rates, _nodes
from designs.pool import Annotated

PEOPLE = ["Ann", "Bob", "Cid"]
SCALE = 2.0


def model(**options):
    return BayesianLogisticRegression(
        **{"annotators": True, "prior_scale": SCALE, "fit_intercept": False, "tol": 1e-8, "classes": [0, 1], **options}
    )


def six_rows(seed, skills=(0.9, 0.75, 0.55)):
    """Six rows of one number, and what three people say of each (6, 3)."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(6)
    truth = rng.random(6) < expit(SCALE * rng.standard_normal() * x)
    return x, np.where(rng.random((6, 3)) < skills, truth[:, None], ~truth[:, None]).astype(int)


def summed(x, said, rates_of, scale=SCALE):
    """P(z_i = 1 | all), mean rates (3, 2, 2) by the sum over all 2^6 true labels; the weight is on a fine grid."""
    weight = np.linspace(-8.0, 8.0, 2001) * scale
    prior = np.exp(-0.5 * np.square(weight / scale))
    prior /= prior.sum()
    one = expit(np.outer(weight, x))
    total, truth, rates = 0.0, np.zeros(len(x)), np.zeros((3, 2, 2))
    for z in itertools.product([0, 1], repeat=len(x)):
        z = np.array(z)
        counts = np.zeros((3, 2, 2))
        for a in range(3):
            np.add.at(counts[a], (z, said[:, a]), 1.0)
        likelihood, mean = rates_of(counts)
        p = float(prior @ np.prod(np.where(z, one, 1.0 - one), axis=1)) * likelihood
        total, truth, rates = total + p, truth + p * z, rates + p * mean
    return truth / total, rates / total


def by_expected_logs(x, said):
    """P(z_i = 1 | all) where a row's site has exp E log rates, the answer's own part included; s is on a grid."""
    weight = np.linspace(-8.0, 8.0, 2001) * SCALE
    prior = -0.5 * np.square(weight / SCALE)
    one, alpha = expit(np.outer(weight, x)), _nodes(2)[0]
    counts, truth = np.zeros((3, 2, 2)), np.full(len(x), 0.5)
    for _ in range(200):
        logs = np.empty((3, 2, 2))
        for a in range(3):
            after = alpha + counts[a]
            weights = np.exp(Rates(["a"], counts[[a]], {})._weighted[0][0])
            logs[a] = np.einsum("g,gzy->zy", weights, digamma(after) - digamma(after.sum(axis=2, keepdims=True)))
        site = np.exp(sum(logs[a][:, said[:, a]] for a in range(3)))  # (z, rows)
        mixed = one * site[1] + (1.0 - one) * site[0]
        posterior = prior + np.log(mixed).sum(axis=1)
        posterior = np.exp(posterior - posterior.max())
        truth = 0.5 * truth + 0.5 * (posterior / posterior.sum()) @ (one * site[1] / mixed)
        counts = np.zeros((3, 2, 2))
        for a in range(3):
            np.add.at(counts[a].T, said[:, a], np.stack([1.0 - truth, truth], axis=1))
    return truth


def fitted(x, said, **options):
    pool = Annotated(x[:, None], PEOPLE)
    return model(**options).fit(pool, said[pool.rows, pool.who])


@pytest.mark.parametrize(("scale", "error"), [(0.5, 1e-3), (SCALE, 0.02)])  # expectation propagation's own
def test_known_rates_are_summed_over_the_true_labels(scale, error):
    skills = dict(zip(PEOPLE, (0.9, 0.75, 0.55), strict=True))
    table = np.array([[[s, 1 - s], [1 - s, s]] for s in skills.values()])
    for seed in range(4):
        x, said = six_rows(seed)
        truth, _ = summed(x, said, lambda counts: (float(np.prod(table**counts)), table), scale)
        found = fitted(x, said, annotators=skills, prior_scale=scale).truth_[1][:, 1]
        np.testing.assert_allclose(found, truth, atol=error)


def test_learnt_rates_come_near_the_sum_over_true_labels_and_rates():
    def likelihood(counts):
        rates = Rates(PEOPLE, counts, {})
        return np.exp(rates.log_evidence), rates.mean

    far, of_rates, variational = [], [], []
    for seed in range(8):
        x, said = six_rows(seed)
        truth, rates = summed(x, said, likelihood)
        found = fitted(x, said)
        far.append(abs(found.truth_[1][:, 1] - truth).max())
        of_rates.append(max(abs(found.annotators_[p].rates - rates[k]).max() for k, p in enumerate(PEOPLE)))
        variational.append(abs(by_expected_logs(x, said) - truth).max())
    assert np.median(far) < 0.06 and max(far) < 0.12
    assert np.median(variational) > 0.12  # the form of variational Bayes is surer than it should be
    assert np.median(of_rates) < 0.02 and max(of_rates) < 0.05


RNG = np.random.default_rng(3)
X = RNG.standard_normal((120, 3))
TRUE = (X @ [1.5, -1.0, 0.5] + 0.3 * RNG.standard_normal(120) > 0).astype(int)


def answered(skills, n, seed=0, names=None):
    """A pool, and n random answers of it by people of these skills."""
    rng = np.random.default_rng(seed)
    names = [f"p{k}" for k in range(len(skills))] if names is None else names
    pool = Annotated(X, names)
    said = np.where(rng.random((len(X), len(skills))) < skills, TRUE[:, None], 1 - TRUE[:, None])
    part = pool.take(rng.choice(len(pool), n, replace=False))
    return pool, part, said[part.rows, part.who]


def test_people_who_are_never_wrong_are_nobody():
    rows = np.arange(40)
    part = Annotated(X, ["Ann"]).take(rows)
    options = {"tol": 1e-10, "fit_intercept": True}
    found = model(annotators={"Ann": 1.0}, **options).fit(part, TRUE[:40])
    plain = model(annotators=False, **options).fit(X[:40], TRUE[:40])
    np.testing.assert_allclose(found.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(found.truth_[1][rows, TRUE[:40]], 1.0, atol=1e-6)
    assert found.log_evidence_ == pytest.approx(plain.log_evidence_, abs=1e-6)


def test_a_liar_is_turned_round_and_used():
    pool, part, said = answered([0.9, 0.85, 0.1], 200)
    found = model(fit_intercept=True, tol=1e-4).fit(part, said)
    skills = found.annotators_
    assert skills["p2"].mean < 0.3 and skills["p2"].high < 0.5 < skills["p0"].low
    assert found.score(X, TRUE) > 0.93
    best = found.predictive(pool.of([0, 0], ["p0", "p2"]))
    assert best.outcome_entropy[1] - best.expected_entropy[1] > 0  # what a liar says is worth hearing


def test_of_few_labels_the_prior_decides():
    _, part, said = answered([0.9, 0.9, 0.9], 60)
    few = np.flatnonzero(np.array(part.annotators) == "p2")[3:]
    kept = np.setdiff1d(np.arange(60), few)
    skill = model(fit_intercept=True, tol=1e-4).fit(part.take(kept), said[kept]).annotators_["p2"]
    assert skill.labels == 3 and abs(skill.mean - 0.82) < 0.12 and skill.high - skill.low > 0.3
    for right in (0, 2, 4):  # of four labels: whatever they say, the person stays nearer to a stranger than to them
        counts = np.diag([right / 2, right / 2]) + (4 - right) / 2 * (1 - np.eye(2))
        few = Rates(["p"], counts[None], {}).skill(0)
        assert abs(few.mean - 0.82) < abs(few.mean - right / 4) and few.high - few.low > 0.25


def test_names_of_classes_and_the_order_of_people_change_nothing():
    pool, part, said = answered([0.9, 0.7, 0.6], 90)
    plain = model(fit_intercept=True, tol=1e-6).fit(part, said)
    named = model(fit_intercept=True, tol=1e-6, classes=["b", "a"]).fit(part, np.array(["b", "a"])[said])
    np.testing.assert_allclose(named.predict_proba(X)[:, ::-1], plain.predict_proba(X), atol=2e-4)
    turned = Annotated(X, pool.people[::-1])
    other = model(fit_intercept=True, tol=1e-6).fit(turned.of(part.rows, part.annotators), said)
    np.testing.assert_array_equal(other.predict_proba(X), plain.predict_proba(X))
    row, person = pool[plain.select(pool, random_state=0)[0]]
    assert turned[other.select(turned, random_state=0)[0]] == (row, person)


def test_answers_one_by_one_are_those_at_once():
    _, part, said = answered([0.9, 0.7, 0.6], 60)
    at_once = model(prior_scale=None, fit_intercept=True, tol=1e-4).fit(part, said)
    one_by_one = model(prior_scale=None, fit_intercept=True, tol=1e-4)
    for j in range(60):
        one_by_one.partial_fit(part.take([j]), said[j : j + 1])
    np.testing.assert_allclose(one_by_one.predict_proba(X), at_once.predict_proba(X), atol=0.01)
    assert one_by_one.log_evidence_ == pytest.approx(at_once.log_evidence_, abs=0.1)


def test_three_classes_and_who_confuses_which():
    rng = np.random.default_rng(0)
    true = np.argmax(X @ rng.standard_normal((3, 3)), axis=1)
    pool = Annotated(X, ["good", "blind"])
    said = np.stack([true, np.where(true == 2, 1, true)], axis=1)  # blind cannot tell 2 from 1
    part = pool.take(rng.choice(len(pool), 160, replace=False))
    found = model(classes=[0, 1, 2], fit_intercept=True, tol=1e-4).fit(part, said[part.rows, part.who])
    rates = found.annotators_["blind"].rates
    assert rates[2, 1] > 0.8 and rates[0, 0] > 0.8 and found.annotators_["good"].mean > 0.9
    assert found.score(X, true) > 0.8
    assert np.allclose(found.predictive(pool).probabilities.sum(axis=1), 1.0)


def test_information_by_the_table_is_that_by_draws():
    pool, part, said = answered([0.9, 0.7, 0.3], 90)
    predictive = model(fit_intercept=True, tol=1e-4).fit(part, said).predictive(pool, random_state=1)
    weights, table = predictive.draws()
    np.testing.assert_allclose(predictive.probabilities, np.tensordot(weights, table, axes=1), atol=0.05)
    left = np.einsum("k,kmc->m", weights, -table * np.log(np.maximum(table, 1e-300)))
    np.testing.assert_allclose(predictive.expected_entropy, left, atol=0.06)


def test_two_answers_about_a_row_are_dependent_though_the_draw_is_known():
    truth = np.array([[[0.5, 0.5]], [[0.5, 0.5]]])
    rates = Rates(["Ann", "Bob"], np.zeros((2, 2, 2)), {"Ann": 0.9, "Bob": 0.9})
    both = AnnotatedDraws([0.5, 0.5], truth, rates, np.array([0, 0]), np.array([0, 1]), ["no", "yes"])
    np.testing.assert_allclose(both.given(0, "yes").probabilities[1], [0.18, 0.82])
    np.testing.assert_allclose(both.given(0, "yes").given(1, "no").probabilities, [[0.5, 0.5]] * 2)


def test_a_worker_is_asked_about_what_is_his():
    pool, part, said = answered([0.9, 0.7], 40, names=["Ann", "Bob"])
    design = SequentialDesign(model(prior_scale=None), pool, initial=4, random_state=0)
    asked = [design.ask(worker=name) for name in ("Ann", "Bob", "Ann") if design.ask(worker=name)]
    for query in asked:
        (person,) = query.candidates.annotators
        assert person == query.candidates.annotators[0] and query.labels[0][1] == person
    assert [query.candidates.annotators[0] for query in asked] == ["Ann", "Bob", "Ann"]
    with pytest.raises(ValueError, match="annotators are 'Ann', 'Bob', got 'Eve'"):
        design.ask(worker="Eve", another=True)


def test_what_rests_on_the_prior_alone_is_said():
    _, part, said = answered([0.9], 30)
    with pytest.warns(UserWarning, match="from one person"):
        alone = model(fit_intercept=True, tol=1e-4).fit(part, said)
    assert [*alone.doubts_] == ["one_person"] and not hasattr(model(), "doubts_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model(annotators={"p0": 0.9}, fit_intercept=True, tol=1e-4).fit(part, said)
    _, part, said = answered([0.9, 0.05, 0.1, 0.05], 200)
    with pytest.warns(UserWarning, match="3 of 4 people with 5 labels or more"):
        model(annotators={"p0": 0.95}, fit_intercept=True, tol=1e-4).fit(part, said)


def test_a_design_says_it_once_and_not_before_anything_can_be_said():
    pool = Annotated(X, ["Ann", "Bob"])
    design = SequentialDesign(model(fit_intercept=True, tol=1e-3), pool, random_state=0)

    def warned(n):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(n):
                query = design.ask(worker="Ann")
                design.tell(query, [int(X[query.candidates.rows[0], 0] > 0)])
        return [str(one.message) for one in caught]

    assert warned(5) == []  # four labels or fewer: the prior decides, of anybody
    (said,) = warned(4)
    assert "All labels are from one person" in said
    copied = copy.deepcopy(design).ask(worker="Bob")
    assert copied.labels[0][1] == "Bob" and warned(2) == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"annotators": "yes"}, "annotators must be True, False or known skills by person"),
        ({"annotators": {"Ann": 1.5}}, r"annotators\['Ann'\] must be a probability in \[0, 1\], got 1.5"),
        ({"inference": "laplace_approximation"}, 'annotators goes with inference="expectation_propagation"'),
        ({"multi_class": "one_vs_rest"}, 'annotators goes with multi_class="softmax"'),
    ],
)
def test_bad_settings_are_one_sentence(options, sentence):
    part = Annotated(X, ["Ann"]).take([0, 1])
    with pytest.raises(ValueError, match=sentence):
        model(**options).fit(part, [0, 1])


def test_plain_rows_are_refused_with_the_cure():
    with pytest.raises(ValueError, match=r"pairs of a row and a person, a designs.pool.Annotated\(X, annotators\)"):
        model().fit(X[:4], TRUE[:4])
    with pytest.raises(ValueError, match="sample_weight cannot be used with annotators"):
        model().fit(Annotated(X, ["Ann"]).take([0, 1]), [0, 1], sample_weight=[1.0, 2.0])
