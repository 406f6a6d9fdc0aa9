"""Scales of one trait and of two: the signs by which they are told apart, and the split that is proposed."""

import warnings

import numpy as np
import pytest

from adaptive import Questionnaire
from adaptive.cli import run
from adaptive.estimators.questionnaires.dimension import _correlations, _second


def drawn(correlation, n=400, items=10, seed=0, answers=3):
    """Answers (people, items) whose second half measures a trait that correlates so with that of the first."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2)) @ [[1.0, correlation], [0.0, np.sqrt(1 - correlation**2)]]
    s = 1.8 * np.repeat(x, items // 2, axis=1) + rng.logistic(size=(n, items))
    ends = np.linspace(-1.2, 1.2, answers - 1) + 0.5 * rng.standard_normal((items, 1))
    return np.sum(s[..., None] > ends, axis=2).astype(float) + (answers > 2)


def said(model, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = model.fit(y)
    return fitted, [str(one.message) for one in caught if "more than one trait" in str(one.message)]


@pytest.mark.parametrize("model", ["graded", "partial_credit"])
def test_two_traits_are_said_once_and_the_split_predicts_better(model):
    y = drawn(0.4)
    fitted, sentences = said(Questionnaire(model), y)
    assert len(sentences) == 1 and "dimension_.item_traits" in sentences[0]
    split = fitted.dimension_.item_traits
    groups = {tuple(item for item in split if len(split[item]) == k) for k in (1, 2)}
    assert groups == {(0, 1, 2, 3, 4), (5, 6, 7, 8, 9)}
    two, none = said(Questionnaire(model, item_traits=split), y)
    assert two.prequential_evidence_ > fitted.prequential_evidence_ + 20 and not none and two.dimension_ is None


def test_the_proposal_for_the_ordinal_model_is_one_it_takes():
    y = drawn(0.2, n=200)
    fitted, sentences = said(Questionnaire(trait_noise=1.0, max_iter=5), y)
    assert len(sentences) == 1
    two = Questionnaire(item_traits=fitted.dimension_.item_traits, trait_noise=1.0, max_iter=5).fit(y)
    assert len(two.bank_.traits) == 2 and two.prequential_evidence_ > fitted.prequential_evidence_


@pytest.mark.parametrize(("model", "answers"), [("graded", 3), ("two_parameter", 2), ("rasch", 2)])
def test_one_trait_is_let_pass(model, answers):
    fitted, sentences = said(Questionnaire(model), drawn(1.0, answers=answers))
    assert not sentences and fitted.dimension_.gain < 3 * fitted.dimension_.gain_std
    assert fitted.dimension_.first_gain > 0 and fitted.dimension_.eigenvalue_ratio > 2


def test_items_that_are_turned_round_are_no_second_trait():
    y = drawn(1.0)
    y[:, 5:] = 4 - y[:, 5:]
    assert not said(Questionnaire("graded", reverse=[5, 6, 7, 8, 9]), y)[1]


def test_signs_do_not_change_with_the_order_of_items_and_stay_in_the_state():
    y = drawn(0.4)
    fitted = said(Questionnaire("graded"), y)[0]
    again = Questionnaire("graded").restore(fitted.state())
    assert again.dimension_ == fitted.dimension_
    other = said(Questionnaire("graded"), y[:, ::-1])[0].dimension_
    assert other.gain == pytest.approx(fitted.dimension_.gain, abs=1e-3)
    assert other.eigenvalue_ratio == pytest.approx(fitted.dimension_.eigenvalue_ratio)


def test_a_look_is_kept_until_a_quarter_more_answers():
    y = drawn(0.4)
    triples = [(u, i, y[u, i]) for u in range(400) for i in range(10)]
    model = said(Questionnaire("graded"), triples[:2500])[0]
    first = model.dimension_
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert model.partial_fit(triples[2500:2510]).dimension_ is first
    with pytest.warns(UserWarning, match="more than one trait"):
        model.partial_fit(triples[2510:])
    assert model.dimension_.n_answers == 4000


@pytest.mark.parametrize(("n", "items"), [(190, 10), (400, 3)])
def test_few_people_or_items_tell_nothing_apart(n, items):
    assert said(Questionnaire("two_parameter"), drawn(0.0, n=n, answers=2)[:, :items])[0].dimension_ is None


def test_correlations_are_over_the_people_who_answered_both():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((60, 3))
    values[:30, 1] = np.nan
    values[:45, 2] = np.nan
    found = _correlations(values)
    both = values[30:, :2] - [values[:, 0].mean(), values[30:, 1].mean()]
    expected = both[:, 0] @ both[:, 1] / np.sqrt(np.sum(both[:, 0] ** 2) * np.sum(both[:, 1] ** 2))
    assert found[0, 1] == pytest.approx(expected) and found[0, 2] == 0.0 and found[2, 2] == 1.0


def test_groups_have_two_items_at_least():
    correlations = np.full((5, 5), 0.6)
    correlations[4, :4] = correlations[:4, 4] = 0.0
    np.fill_diagonal(correlations, 1.0)
    second = _second(correlations)
    assert second[4] and second.sum() == 2


def test_calibrate_says_so_in_one_line_and_proposes_the_split(tmp_path, capsys):
    y = drawn(0.2, answers=2).astype(int)
    names = [f"q{k}" for k in range(10)]
    (tmp_path / "answers.csv").write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in y)]) + "\n")
    command = ["calibrate", str(tmp_path / "answers.csv"), "--out", str(tmp_path / "bank")]
    assert run(command) == 0
    shown = capsys.readouterr()
    assert shown.out.count("more than one trait") == 1 and "more than one trait" not in shown.err
    header, *rows = (tmp_path / "bank" / "items.csv").read_text().splitlines()
    assert header.endswith("traits") and {row.split(",")[-1] for row in rows} == {"trait", "trait second"}
