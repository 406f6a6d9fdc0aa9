"""Totals of small banks against all answers enumerated: their distribution, and what each question teaches about it."""

import itertools

import numpy as np
import pytest

from adaptive import Questionnaire
from adaptive.estimators.questionnaires.respondent import Respondent
from adaptive.loop import MaxSteps, SequentialDesign
from adaptive.selection import select

RNG = np.random.default_rng(0)
THRESHOLDS = np.sort(RNG.uniform(-2, 2, (4, 2)), axis=1)


def graded():
    return Questionnaire.from_parameters([0.8, 1.5, 2.0, 1.1], thresholds=THRESHOLDS, response_model="graded")


def unequal():
    """Reversed, of unequal numbers of answers, of categories that are no neighbours."""
    return Questionnaire.from_prior(["a", "b", "c"], (0, 2, 6), answers={"b": 2}, reverse=["b", "c"])


def of_two_answers():
    """One reversed, one that falls where the others rise, one that nearly everybody answers alike."""
    return Questionnaire.from_parameters(
        [1.2, 1.8, -0.9, 2.5], thresholds=[[-0.5], [0.8], [0.1], [-4.0]], response_model="two_parameter"
    )


def of_traits(lists):
    return Questionnaire.from_prior(range(4), (1, 2, 3), response_model="partial_credit", item_traits=lists)


BANKS = {
    "graded": graded, "two answers": of_two_answers, "unequal": unequal,
    "apart": lambda: of_traits([["x"], ["x"], ["y"], ["y"]]),
    "together": lambda: of_traits([["x"], ["x", "y"], ["x", "y"], ["x"]]),
}  # fmt: skip


def enumerated(person):
    """[(probability, total, {item: answer})] of all answers to come, over the whole grid."""
    bank, given = person.bank, dict(zip(person.items, person.person_.answers, strict=True))
    of_part, place = bank.part_of
    n = [
        int(part.table[k].any(axis=0).sum())
        for part, k in ((bank.parts[p], k) for p, k in zip(of_part, place, strict=True))
    ]
    points = [[bank.categories[n[i] - 1 - r if bank.reverse[i] else r] for r in range(n[i])] for i in range(len(bank))]
    found = []
    fixed = [[given[item]] if item in given else range(n[i]) for i, item in enumerate(bank.items)]
    for answers in itertools.product(*fixed):
        p = 1.0
        for k, w in enumerate(person.person_.weights):
            along = w.copy()
            for i, item in enumerate(bank.items):
                if of_part[i] == k and item not in given:
                    along = along * bank.parts[k].table[place[i], :, answers[i]]
            p *= along.sum()
        found.append((p, sum(points[i][r] for i, r in enumerate(answers)), dict(zip(bank.items, answers, strict=True))))
    return found


def entropy_of(rows, key):
    shares = {}
    for p, total, answers in rows:
        shares[key(total, answers)] = shares.get(key(total, answers), 0.0) + p
    p = np.array(list(shares.values()))
    return -np.sum(p[p > 0] * np.log(p[p > 0]))


@pytest.mark.parametrize("answered", [0, 1])
@pytest.mark.parametrize("name", BANKS)
def test_distribution_and_information_of_the_total(name, answered):
    person = BANKS[name]().respondent("total")
    items = list(person.bank.items)
    if answered:
        person.partial_fit(items[:1], [person.bank.categories[1]])
    rows, left = enumerated(person), items[answered:]
    total = person.predict_total()
    for value, p in zip(total.values, total.probabilities, strict=True):
        assert p == pytest.approx(sum(q for q, t, _ in rows if t == value), abs=1e-12)
    mean = sum(p * t for p, t, _ in rows)
    assert total.mean == pytest.approx(mean)
    assert total.std == pytest.approx(np.sqrt(sum(p * (t - mean) ** 2 for p, t, _ in rows)))
    belief = person.predictive(left)
    gain = [
        entropy_of(rows, lambda t, a: t) + entropy_of(rows, lambda t, a, i=item: a[i])
        - entropy_of(rows, lambda t, a, i=item: (t, a[i]))
        for item in left
    ]  # fmt: skip
    np.testing.assert_allclose(belief.outcome_entropy - belief.expected_entropy, gain, atol=1e-10)
    np.testing.assert_allclose(belief.target_entropy - belief.expected_target_entropy, gain, atol=1e-10)
    assert belief.target_deviation == pytest.approx([total.std])
    assert gain[int(select(person, left, scorer="information_gain")[0])] == pytest.approx(max(gain))


def test_a_what_if_is_what_is_believed_after_the_answer():
    person = graded().respondent("total")
    before = person.predictive([0, 1, 2, 3]).given(1, 3)
    after = person.partial_fit([1], [3]).predictive([0, 1, 2, 3])
    for field in ("probabilities", "expected_entropy", "target_deviation"):
        np.testing.assert_array_equal(getattr(before, field), getattr(after, field))
    assert before.target_entropy == pytest.approx(after.target_entropy)


def test_a_batch_is_scored_by_what_its_answers_teach_together():
    person = graded().respondent("total")
    chosen, scores = select(person, [0, 1, 2, 3], 2, scorer="information_gain", joint=True, return_scores=True)
    rows = enumerated(person)
    joint = entropy_of(rows, lambda t, a: t) + entropy_of(rows, lambda t, a: tuple(a[i] for i in chosen.tolist()))
    joint -= entropy_of(rows, lambda t, a: (t, *(a[i] for i in chosen.tolist())))
    assert scores.sum() == pytest.approx(joint, abs=1e-9)


def test_items_that_do_not_count_teach_by_the_trait_alone():
    person = graded().respondent("total", counted=[0, 1])
    belief = person.predictive([0, 2])
    gain = belief.outcome_entropy - belief.expected_entropy
    assert (gain > 0).all() and person.predict_total().values.tolist() == [2, 3, 4, 5, 6]
    person.partial_fit([0, 1], [1, 3])
    known = person.predictive([2, 3])
    assert person.predict_total()[:2] == (4.0, 0.0)
    np.testing.assert_allclose(known.outcome_entropy, known.expected_entropy, atol=1e-12)  # there is nothing left


def test_the_interval_holds_its_level_of_answers_drawn_from_the_model():
    bank, rng = graded(), np.random.default_rng(0)
    part, inside = bank.bank_.parts[0], []
    for x in rng.choice(len(part.x), size=400, p=bank.respondent().person_.weights[0]):
        y = [int(rng.choice(3, p=part.table[i, x])) + 1 for i in range(4)]
        low, high = bank.respondent().fit([2], [y[2]]).predict_total(level=0.8).interval
        inside.append(low <= sum(y) <= high)
    assert np.mean(inside) > 0.8 - 3 * 0.02


def test_a_scale_of_two_wordings_is_asked_from_both():
    """Ten items of either wording, which correlate .45: the five that teach most about the first are all of one."""
    half = [*[["x"]] * 4, *[["x", "y"]] * 4]
    bank = Questionnaire.from_prior(range(8), (1, 2, 3), item_traits=half)
    person, asked = bank.respondent("total"), []
    for _ in range(4):
        left = [item for item in range(8) if item not in asked]
        asked.append(left[int(select(person, left, scorer="information_gain")[0])])
        person.partial_fit(asked[-1:], [2])
    assert len([item for item in asked if item < 4]) in (1, 2, 3)


def test_simulations_predict_the_total_as_the_loop_does():
    bank, table = graded(), np.array([[1.0, 2, 3, 2], [3.0, 3, np.nan, 2]])
    found = bank.simulate(table, 3, target="total", random_state=0)
    assert found.mean.shape == (2, 3) and found.std[0, -1] < found.std[0, 0]
    design = SequentialDesign(
        bank.respondent("total"), [0, 1, 2, 3], lambda query: table[0, list(query.candidates)],
        scorer="information_gain", stop=MaxSteps(3), random_state=0,
    ).run()  # fmt: skip
    assert design.history_["label"] == found.items[0].tolist()
    assert design.estimator_.predict_total()[:2] == (found.mean[0, -1], found.std[0, -1])
    stopped = bank.simulate(table, 4, target="total", stop=0.9, random_state=0)
    assert stopped.items[0, -1] is None and stopped.std[0, -1] <= 0.9


def test_what_has_no_total_is_refused():
    ordinal = Questionnaire(trait_noise=1.0, categories=(1, 2, 3)).fit(RNG.integers(1, 4, (12, 5)).astype(float))
    with pytest.raises(ValueError, match='does not predict totals; take response_model="graded"'):
        ordinal.respondent("total")
    with pytest.raises(ValueError, match="item 9 is not known"):
        graded().respondent(counted=[9])
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        graded().respondent().predict_total(level=1.0)


def test_a_trait_called_total_comes_first():
    bank = Questionnaire.from_prior(range(3), (0, 1), item_traits=["total"] * 3)
    assert not Respondent(bank.bank_, "total").about_total
