"""A log and answers from elsewhere are made to agree: corrected, volunteered, in any order, and only once."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.labelling import Answer, Imported, tell
from adaptive.labelling.reconciling import reconcile
from adaptive.labelling.standing import Standing
from tests.culprits import naming
from tests.loop.conftest import LinearGaussian

X = np.random.default_rng(0).normal(size=(12, 2))


def new_design(n=4, **options):
    model = BayesianLogisticRegression(classes=["no", "yes"], prior_scale=1.0, hyperparameters="mode", link="probit")
    design = SequentialDesign(model, X, initial=[3, 8, 5, 1], random_state=0, **options)
    design.ask(n)
    return design


def said(design):
    return {(one.position, one.who): one.outcome for one in Standing(design).said}


def n_events(design):
    return len(design.log.reload())


@pytest.mark.parametrize("annotator", [None, "Ann"])
@pytest.mark.parametrize("combine", ["each", "majority"])
def test_a_correction_is_taken_back_and_told_anew(combine, annotator):
    design, twin = new_design(), new_design()
    first = [Answer(3, "yes", annotator=annotator), Answer(8, "no", annotator=annotator)]
    tell(design, first, combine=combine)
    changed = [first[0]._replace(outcome="no"), first[1]]
    assert tell(design, changed, combine=combine) == Imported(known=1, corrected=[3], waiting=[5, 1])
    assert said(design) == {(3, annotator): "no", (8, annotator): "no"}
    tell(twin, changed, combine=combine)
    np.testing.assert_allclose(design.estimator_.predict_proba(X), twin.estimator_.predict_proba(X), atol=1e-4)
    events = n_events(design)
    assert tell(design, changed, combine=combine).known == 2 and n_events(design) == events


def test_with_repeat_a_persons_correction_is_no_second_answer():
    design = new_design(repeat=True)
    tell(design, [Answer(3, "yes", annotator="Ann"), Answer(3, "yes", annotator="Bob")])
    assert tell(design, [Answer(3, "no", annotator="Ann")]).corrected == [3]
    assert said(design) == {(3, "Ann"): "no", (3, "Bob"): "yes"}
    # without a name, by the question: a file row that is filled in anew
    tell(design, [Answer(8, "yes", query=0)])
    assert tell(design, [Answer(8, "no", query=0)]).corrected == [8] and said(design)[8, None] == "no"


def test_a_person_who_answers_twice_means_the_last():
    design = new_design(repeat=True)
    twice = [Answer(3, "yes", annotator="Ann"), Answer(3, "no", annotator="Ann")]
    assert tell(design, twice).learnt == 1 and said(design) == {(3, "Ann"): "no"}


def test_who_can_no_longer_tell_takes_the_answer_back():
    design = new_design()
    tell(design, [Answer(3, "yes", annotator="Ann")])
    imported = tell(design, [Answer(3, "?", annotator="Ann", skipped=True)])
    assert imported.corrected == imported.skipped == [3] and said(design) == {}
    assert 3 not in imported.waiting and design.iteration == 0


def test_what_nobody_asked_for_is_volunteered_where_no_query_is_named():
    design = new_design()
    imported = tell(design, [Answer(3, "yes"), Answer(10, "no", annotator="Ann"), Answer(11, "?", skipped=True)])
    assert imported == Imported(learnt=2, volunteered=[10], waiting=[8, 5, 1])
    assert said(design) == {(3, None): "yes", (10, "Ann"): "no"}
    assert [event["positions"] for event in design.log.reload() if event.get("volunteered")] == [[10]]
    assert tell(design, [Answer(10, "yes", annotator="Ann")]).corrected == [10]
    assert design.ask(1, another=True).id == 2  # the volunteered one is query 1


def test_an_answer_of_pages_may_be_anybodys():
    design = new_design()
    design.tell([3], "yes", worker=1)  # a session
    assert tell(design, [Answer(3, "yes", query=0, annotator="Anna")]).known == 1
    assert tell(design, [Answer(3, "no", query=0, annotator="Anna")]).corrected == [3]


def test_a_majority_across_files_hears_who_spoke_before():
    design = new_design()
    ann, bob, carl = (Answer(3, one, annotator=who) for one, who in (("yes", "Ann"), ("no", "Bob"), ("no", "Carl")))
    assert tell(design, [ann], combine="majority").learnt == 1
    assert tell(design, [bob], combine="majority") == Imported(tied=[3], waiting=[8, 5, 1])
    assert said(design) == {(3, "Ann"): "yes"}
    assert tell(design, [bob, carl], combine="majority").corrected == [3]
    assert said(design) == {(3, "Bob, Carl"): "no"}
    everybody = [ann, bob, carl._replace(outcome="yes")]
    assert tell(design, everybody, combine="majority").corrected == [3] and said(design) == {(3, "Ann, Carl"): "yes"}


def test_what_the_estimator_refuses_leaves_what_was_to_be_corrected():
    model = BayesianLogisticRegression(prior_scale=1.0, link="probit")
    design = SequentialDesign(model, X, initial=[3, 8, 5], random_state=0)
    design.ask(3)
    tell(design, [Answer(3, "yes"), Answer(8, "no"), Answer(5, "no")])
    before, known = said(design), design.estimator_.predict_proba(X)
    with pytest.raises(ValueError, match="Only binary"):
        tell(design, [Answer(3, "yes"), Answer(8, "maybe"), Answer(5, "no")])
    assert said(design) == before and not design.pending
    np.testing.assert_allclose(design.estimator_.predict_proba(X), known, atol=1e-4)


@pytest.mark.parametrize(
    ("seen", "now", "message"),
    [
        (Answer(3, "yes", annotator="Ann"), [Answer(3, "no", annotator="Bob")], "learnt as 'yes' from Ann and is now"),
        (None, [Answer(3, "no", annotator="Ann"), Answer(3, "no", annotator="Bob")], "position 3 has 2 answers"),
    ],
)
def test_two_people_in_the_place_of_one_are_refused(seen, now, message):
    design = new_design()
    if seen is not None:
        tell(design, [seen])
    events = n_events(design)
    with pytest.raises(ValueError, match=message):
        tell(design, [Answer(8, "no"), *now])
    assert n_events(design) == events


def test_labels_of_an_undeclared_design_follow_the_earlier_ones():
    design = SequentialDesign(BayesianLogisticRegression(prior_scale=1.0), X, initial=[3, 8, 5, 1])
    design.tell(design.ask(2), ["1", "0"])  # text
    tell(design, [Answer(3, "1"), Answer(5, "0")])
    assert design.history_["outcome"] == ["1", "0", "0"]
    words = SequentialDesign(BayesianLogisticRegression(prior_scale=1.0), X, initial=[3, 8])
    words.ask(2)
    with pytest.warns(UserWarning, match="the answers 'Yes' and 'yes' differ only in case"):
        tell(words, [Answer(3, "Yes"), Answer(8, "yes")])


ANSWERS = st.lists(
    st.tuples(*map(st.sampled_from, ([3, 8, 10], ["yes", "no"], ["Ann", "Bob", None]))).map(
        lambda one: Answer(one[0], one[1], annotator=one[2])
    ),
    max_size=6,
    unique_by=lambda one: (one.position, one.annotator),
)


@settings(max_examples=25, deadline=None)
@given(before=ANSWERS, now=ANSWERS, data=st.data())
def test_afterwards_the_log_is_what_was_said_in_any_order_and_nothing_is_done_twice(before, now, data):
    design, other = new_design(repeat=True), new_design(repeat=True)
    for one, order in ((design, now), (other, data.draw(st.permutations(now)))):
        reconcile(one, before)
        reconcile(one, order, complete=True)
        expected = Counter((answer.position, answer.outcome) for answer in now)
        assert Counter((s.position, s.outcome) for s in Standing(one).said) == expected
        events = n_events(one)
        assert reconcile(one, order, complete=True).known == len(now) and n_events(one) == events
    probabilities = [one.estimator_.predictive(X).probabilities for one in (design, other)]
    np.testing.assert_allclose(*probabilities, atol=1e-6)
    assert [q.positions.tolist() for q in design.pending] == [q.positions.tolist() for q in other.pending]


def walk(repeat, seed, steps=20):
    """Yield a design and what was said last, by row and person, after each of these steps."""
    drawn = random.Random(seed)
    design = SequentialDesign(LinearGaussian(), X, repeat=repeat, batch_size=3, random_state=seed)
    last = {}
    for _ in range(steps):
        if drawn.random() < 0.3 and (repeat or design.n_left):
            design.ask(another=True)
        given = {}
        for _ in range(drawn.randrange(1, 5)):
            position = drawn.randrange(len(X))
            own = [who for where, who in [*last, *given] if where == position]
            who = own[0] if own and not repeat else drawn.choice(["Ann", "Bob", "Carl"])
            given[position, who] = None if drawn.random() < 0.15 else float(drawn.randrange(5))
        tell(design, [
            Answer(position, str(value), annotator=who, skipped=value is None)
            for (position, who), value in given.items()
        ])  # fmt: skip
        last = {key: value for key, value in (last | given).items() if value is not None}
        yield design, last


@pytest.mark.parametrize("repeat", [False, True])
def test_after_any_files_the_design_knows_what_was_said_last_and_no_more(repeat):
    for seed in range(8):
        with naming(f"seed {seed}"):
            for design, last in walk(repeat, seed):
                assert said(design) == last and len(Standing(design).said) == len(last)
                numbers = [event["query"] for event in design.log.reload() if event["event"] == "ask"]
                assert len(numbers) == len(set(numbers))
            exact = LinearGaussian().partial_fit(X[[position for position, _ in last]], list(last.values()))
            np.testing.assert_allclose(design.estimator_.precision, exact.precision, rtol=1e-9)
            np.testing.assert_allclose(design.estimator_.shift, exact.shift, rtol=1e-9, atol=1e-9)
