"""Ask, tell, skip, run: what is promised about each."""

import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sklearn.linear_model import LogisticRegression

from adaptive.loop import MaxSteps, PoolExhausted, SequentialDesign


def positions(design):
    return design.history_["position"]


def test_ask_without_tell_is_idempotent(model, pool):
    design = SequentialDesign(model(), pool, batch_size=3)
    first = design.ask()
    again = design.ask()
    assert again.id == first.id and again.positions.tolist() == first.positions.tolist()
    assert design.ask(3).id == first.id
    with pytest.raises(ValueError, match="n must be 3 or left out while query 0 waits"):
        design.ask(2)
    assert np.array_equal(first.candidates, pool[first.positions])
    assert first.labels == first.positions.tolist()


def test_a_run_asks_what_the_estimator_selects(model, pool, answers, measure):
    design = SequentialDesign(model(), pool, measure).run(6)
    by_hand, asked = model(), []
    for _ in range(6):
        best = int(by_hand.select(pool, exclude=asked)[0])
        by_hand.partial_fit(pool[[best]], answers[[best]])
        asked.append(best)
    assert positions(design) == asked
    assert np.array_equal(design.estimator_.precision, by_hand.precision)


def test_the_estimator_given_is_never_changed(model, pool, measure):
    fitted = model().partial_fit(pool[:2], [1.0, 2.0])
    before = copy.deepcopy(fitted.__dict__)
    design = SequentialDesign(fitted, pool, measure).run(3)
    assert repr(fitted.__dict__) == repr(before)
    assert design.estimator_.n_fits == 4


def test_another_query_is_chosen_in_the_light_of_the_pending(model):
    # two directions, three copies each: the second question must not repeat the direction of the first
    pool = np.repeat([[2.0, 0.0], [0.0, 1.0]], 3, axis=0)
    design = SequentialDesign(model(), pool)
    first, second = design.ask(), design.ask(another=True)
    assert first.positions.tolist() == [0]
    assert second.positions.tolist() == [3]
    independent = SequentialDesign(model(), pool, joint=False)
    independent.ask()
    assert independent.ask(another=True).positions.tolist() == [1]


def test_answers_come_late_in_parts_and_out_of_order(model, pool, answers, same):
    design = SequentialDesign(model(), pool, batch_size=2)
    first, second = design.ask(), design.ask(another=True)
    assert [q.id for q in design.pending] == [0, 1]
    design.tell(second, answers[second.positions])
    assert design.ask().id == 0
    design.tell(first.positions[1], answers[first.positions[1]])  # a part, by position, a scalar
    assert design.ask().positions.tolist() == first.positions[:1].tolist()
    design.tell(design.ask(), answers[first.positions[:1]])
    assert design.pending == ()
    assert design.history_["step"] == [1, 1, 2, 3]
    assert positions(design) == [*second.positions, first.positions[1], first.positions[0]]
    with pytest.raises(ValueError, match="query 1 has been answered already"):
        design.tell(second, answers[second.positions])


def test_what_is_pending_conditions_in_any_order_of_answers(model, pool, answers):
    choices = []
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        design = SequentialDesign(model(), pool)
        queries = [design.ask(another=True) for _ in range(4)]
        for k in order:
            design.tell(queries[k], answers[queries[k].positions])
        choices.append(design.ask(another=True).positions.tolist())
    assert choices[0] == choices[1] == choices[2]


def test_skipped_candidates_are_set_aside_but_a_late_answer_counts(model, pool, answers):
    design = SequentialDesign(model(), pool, repeat=True)
    query = design.ask()
    design.skip(query)
    assert design.pending == ()
    following = design.ask()
    assert following.positions.tolist() != query.positions.tolist()
    late, by_position = design, copy.deepcopy(design)
    late.tell(query, [1.0])
    by_position.tell(query.positions, [1.0])
    for one in (late, by_position):
        assert one.iteration == 1 and query.positions[0] in one.excluded() and not one.unanswered[:-1]


def test_skip_of_a_part(model, pool):
    design = SequentialDesign(model(), pool, batch_size=3)
    query = design.ask()
    design.skip(query.positions[:1])
    assert design.ask().positions.tolist() == query.positions[1:].tolist()


def test_initial_positions_come_first_in_order_in_batches(model, pool, measure):
    design = SequentialDesign(model(), pool, measure, initial=[7, 3, 11, 2, 5], batch_size=2)
    batches = []
    for query in design:
        batches.append(query.positions.tolist())
        if len(batches) == 4:
            break
    assert batches[:3] == [[7, 3], [11, 2], [5]]
    assert np.isnan(design.history_["score"][:5]).all() and np.isfinite(design.history_["score"][5:]).all()


def test_an_initial_number_is_drawn_by_the_seed(model, pool):
    mask = np.arange(len(pool)) % 2 == 0
    draws = [SequentialDesign(model(), pool, initial=5, mask=mask, random_state=s).ask(5).positions for s in (1, 1, 2)]
    assert draws[0].tolist() == draws[1].tolist() != draws[2].tolist()
    assert len(set(draws[0])) == 5 and mask[draws[0]].all()


def test_what_is_asked_is_not_left_and_what_may_not_be_asked_never_was(model, pool):
    mask = np.arange(len(pool)) % 2 == 0
    design = SequentialDesign(model(), pool, mask=mask)
    assert design.n_left == mask.sum()
    design.tell(design.ask(3), np.array([0, 1, 1]))
    design.ask(1)
    assert design.n_left == mask.sum() - 4


def test_repeat(model, pool, measure):
    assert len(set(positions(SequentialDesign(model(), pool, measure).run()))) == len(pool)
    design = SequentialDesign(model(), pool[:2], lambda query: np.zeros(1), repeat=True).run(5)
    assert len(positions(design)) == 5
    with pytest.raises(ValueError, match="run would never end"):
        design.run()


def test_an_exhausted_pool_ends_a_run_cleanly(model, pool, measure):
    mask = np.zeros(len(pool), dtype=bool)
    mask[[1, 2, 5]] = True
    design = SequentialDesign(model(), pool, measure, mask=mask, batch_size=2).run()
    assert sorted(positions(design)) == [1, 2, 5]
    with pytest.raises(PoolExhausted, match="no candidate is left to ask"):
        design.ask()
    with pytest.raises(ValueError, match="n must be at most 2, the number of candidates left to ask, got 4"):
        SequentialDesign(model(), pool[:2]).ask(4)


def test_costs_divide_scores_and_are_summed(model, pool, measure):
    cost = np.linspace(1, 5, len(pool))
    fixed = SequentialDesign(model(), pool, measure, cost=cost).run(4)
    called = SequentialDesign(
        model(), pool, measure, cost=lambda rows: cost[[pool.tolist().index(list(r)) for r in rows]]
    )
    called.run(4)
    assert positions(fixed) == positions(called)
    assert fixed.spent == called.spent == cost[positions(fixed)].sum()
    assert positions(fixed) != positions(SequentialDesign(model(), pool, measure).run(4))


def test_a_refused_answer_changes_nothing(model, pool, answers, same):
    events = []
    design = SequentialDesign(model(), pool, callbacks=[lambda d, event: events.append(event["event"])], batch_size=2)
    query = design.ask()
    for bad in ([np.nan, 1.0], [1.0], [1.0, 2.0, 3.0], ["a", "b"]):
        with pytest.raises(ValueError):
            design.tell(query, bad)
    assert design.iteration == 0 and design.estimator_.n_fits == 0 and positions(design) == []
    design.tell(query, answers[query.positions])
    untroubled = SequentialDesign(model(), pool, batch_size=2)
    untroubled.tell(untroubled.ask(), answers[query.positions])
    same(design, untroubled)
    assert events == ["ask", "reject", "reject", "tell"]


def test_an_estimator_that_breaks_half_way_is_rebuilt(model, pool, answers):
    class Breaks(model):
        def partial_fit(self, X, y):
            super().partial_fit(X, y)
            if np.any(np.asarray(y) == 13.0):
                raise RuntimeError("half done")

    design = SequentialDesign(Breaks(), pool)
    design.tell(design.ask(), [1.0])
    with pytest.raises(RuntimeError, match="half done"):
        design.tell(design.ask(), [13.0])
    query = design.ask()
    assert design.estimator_.n_fits == 1
    design.tell(query, [2.0])
    assert design.estimator_.n_fits == 2 and design.history_["outcome"] == [1.0, 2.0]


def test_answers_for_what_was_never_asked(model, pool):
    design = SequentialDesign(model(), pool)
    query = design.ask()
    other = SequentialDesign(model(), pool, initial=[int(query.positions[0]) + 1]).ask()
    free = int(other.positions[0])
    for wrong in (other, [query.positions[0]] * 2, [query.positions[0], free]):
        with pytest.raises(ValueError, match="not those of one query that waits for answers"):
            design.tell(wrong, np.zeros(len(wrong)))
    for wrong in ([99], [-1], [free, free]):
        with pytest.raises(ValueError, match="positions must hold (positions from 0 to 24|every position once)"):
            design.tell(wrong, np.zeros(len(wrong)))
    with pytest.raises(ValueError, match="query must be a Query or positions .integers., got str"):
        design.tell("first", 1.0)
    assert design.ask().id == query.id


def test_frames_give_labels_and_columns(model, pool, answers):
    frame = pd.DataFrame(pool, index=[f"row {k}" for k in range(len(pool))])
    design = SequentialDesign(model(), frame, batch_size=2)
    query = design.ask()
    assert query.labels == [f"row {k}" for k in query.positions]
    assert isinstance(query.candidates, pd.DataFrame)
    design.tell(query, pd.Series(answers[query.positions]))
    table = design.to_frame()
    assert table.columns.tolist() == ["step", "position", "label", "outcome", "score", "seconds"]
    assert table["label"].tolist() == query.labels
    assert all(type(value) in (int, str, float) for column in design.history_.values() for value in column)


def test_sparse_lists_and_lazy_pools(model, pool, answers):
    class Dense(model):
        def predictive(self, candidates, **options):
            return super().predictive(as_array(candidates), **options)

        def partial_fit(self, X, y):
            return super().partial_fit(as_array(X), y)

    def as_array(rows):
        return rows.toarray() if sp.issparse(rows) else np.array([np.asarray(row, dtype=float) for row in rows])

    class Lazy:
        def __init__(self, rows):
            self.rows = rows

        def __len__(self):
            return len(self.rows)

        def __iter__(self):
            return iter(pool[self.rows])

        def take(self, where):
            return Lazy([self.rows[k] for k in where])

        def concatenate(self, pools):
            return Lazy([row for part in pools for row in part.rows])

        def labels(self, where):
            return [f"lazy {self.rows[k]}" for k in where]

    found = []
    for candidates in (pool, sp.csr_matrix(pool), pool.tolist(), Lazy(list(range(len(pool))))):
        design = SequentialDesign(Dense(), candidates)
        for _ in range(3):
            design.ask(another=True)
            query = design.ask()
            design.tell(query, answers[query.positions])
        found.append(positions(design))
    assert found[0] == found[1] == found[2] == found[3]
    assert design.history_["label"] == [f"lazy {p}" for p in positions(design)]


def test_outcomes_that_are_no_scalars(pool):
    class Collects:
        def __init__(self):
            self.seen = []

        def predictive(self, candidates, **options):
            raise AssertionError

        def partial_fit(self, X, y):
            self.seen.append(y)

    design = SequentialDesign(Collects(), pool, initial=list(range(6)), batch_size=2)
    block = np.arange(4).reshape(2, 2) * 1j
    for given in ([block, block + 1], [(1, 5), (-1, 7)], [1, None]):
        design.tell(design.ask(), given)
    assert [type(seen) for seen in design.estimator_.seen] == [list, list, list]
    assert np.array_equal(design.estimator_.seen[0][1], block + 1)
    assert design.estimator_.seen[1:] == [[(1, 5), (-1, 7)], [1, None]]
    assert design.to_frame()["outcome"].tolist()[2:] == [(1, 5), (-1, 7), 1, None]


def test_a_plain_classifier_is_wrapped(pool):
    labels = np.where(pool[:, 0] > 0, "up", "down")
    design = SequentialDesign(LogisticRegression(), pool, lambda q: labels[q.positions], scorer="uncertainty")
    design.run(10)
    assert np.mean(design.estimator_.predict(pool) == labels) > 0.7


def test_queries_are_seeded_by_their_number(model, pool, measure):
    runs = [SequentialDesign(model(), pool, measure, scorer="random", random_state=seed).run(8) for seed in (5, 5, 6)]
    assert positions(runs[0]) == positions(runs[1]) != positions(runs[2])
    # what happens in between does not matter: more asks of the open query, refused answers
    disturbed = SequentialDesign(model(), pool, measure, scorer="random", random_state=5)
    for _ in range(8):
        query = disturbed.ask()
        disturbed.ask()
        with pytest.raises(ValueError):
            disturbed.tell(query, [np.inf])
        disturbed.tell(query, measure(query))
    assert positions(disturbed) == positions(runs[0])
    for state in (None, np.random.default_rng(1), np.random.RandomState(1), np.random.SeedSequence(1)):
        SequentialDesign(model(), pool, scorer="random", random_state=state).ask()


def test_callbacks_see_every_event_of_now(model, pool, measure):
    seen = []
    SequentialDesign(
        model(), pool, measure, callbacks=[lambda d, event: seen.append((event["event"], d.iteration))]
    ).run(2)
    assert seen == [("ask", 0), ("tell", 1), ("ask", 1), ("tell", 2)]


def test_iterating_without_measure(model, pool, answers):
    design = SequentialDesign(model(), pool, stop=MaxSteps(4))
    for query in design:
        design.tell(query, answers[query.positions])
    assert design.iteration == 4


@pytest.mark.parametrize(
    "options, message",
    [
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"measure": 3}, "measure must be a callable"),
        ({"scorer": "informaton_gain"}, "information_gain"),
        ({"mask": [1, 0]}, "mask must hold booleans"),
        ({"mask": [True, False]}, "mask must have shape"),
        ({"mask": np.zeros(25, dtype=bool)}, "mask allows no candidate"),
        ({"cost": [1.0, 2.0]}, "cost must have shape"),
        ({"cost": np.zeros(25)}, "cost must be > 0"),
        ({"initial": [0, 25]}, "initial must hold positions from 0 to 24, got 25"),
        ({"initial": [0, 0]}, "initial must hold every position once"),
        ({"initial": 26}, "initial must be at most 25"),
        ({"initial": [0.5]}, "initial must be positions"),
        ({"initial": [1], "mask": np.arange(25) > 3}, "position 1, which mask does not allow"),
        ({"candidates": np.zeros((0, 3))}, "candidates is empty"),
        ({"candidates": 3}, "candidates must be a pool"),
        ({"random_state": -1}, "random_state must be at least 0"),
        ({"estimator": object()}, "estimator must have predictive and partial_fit"),
    ],
)
def test_bad_arguments(model, pool, options, message):
    with pytest.raises(ValueError, match=message):
        SequentialDesign(**{"estimator": model(), "candidates": pool, **options})


def test_run_needs_a_measure(model, pool):
    with pytest.raises(ValueError, match="run needs measure"):
        SequentialDesign(model(), pool).run()


def test_many_labellers_at_once(model):
    pool = np.random.default_rng(2).normal(size=(60, 3))
    design = SequentialDesign(model(), pool)
    barrier = threading.Barrier(4)

    def label(_):
        barrier.wait()
        for _ in range(10):
            query = design.ask(another=True)
            design.tell(query, float(query.positions[0]))

    with ThreadPoolExecutor(4) as labellers:
        list(labellers.map(label, range(4)))
    history = design.history_
    assert design.iteration == 40 and len(set(history["position"])) == 40 and design.pending == ()
    assert history["outcome"] == [float(position) for position in history["position"]]


def test_fewer_initial_positions_than_asked_for(model, pool):
    design = SequentialDesign(model(), pool, initial=[4, 5])
    assert design.ask(3).positions.tolist() == [4, 5] == design.ask(3).positions.tolist()


class LoopMachine(RuleBasedStateMachine):
    """Ask, tell, skip in any order against a model of a few sets."""

    model_class = None

    def __init__(self):
        super().__init__()
        self.pool = np.random.default_rng(3).normal(size=(12, 2))
        self.design = SequentialDesign(self.model_class(), self.pool)
        self.waiting = {}  # id -> query
        self.aside = {}
        self.sizes = {}
        self.asked, self.told = [], []

    @rule(n=st.integers(1, 3), another=st.booleans())
    def ask(self, n, another):
        left = len(self.pool) - len(self.asked)
        oldest = min(self.waiting) if self.waiting and not another else None
        try:
            query = self.design.ask(n, another=another)
        except ValueError:
            assert n > left if oldest is None else n != self.sizes[oldest]
            return
        if oldest is not None:
            assert query.id == oldest and n == self.sizes[oldest]
        else:
            assert len(query) == n and not set(query.positions) & set(self.asked)
            self.waiting[query.id], self.sizes[query.id] = query, n
            self.asked += query.positions.tolist()

    @precondition(lambda self: self.waiting or self.aside)
    @rule(data=st.data(), late=st.booleans())
    def tell(self, data, late):
        queries = self.aside if (late and self.aside) or not self.waiting else self.waiting
        number = data.draw(st.sampled_from(sorted(queries)))
        query = queries.pop(number)
        self.design.tell(query, np.ones(len(query)))
        self.told += query.positions.tolist()

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def tell_a_part(self, data):
        number = data.draw(st.sampled_from(sorted(self.waiting)))
        query = next(query for query in self.design.pending if query.id == number)
        part = data.draw(st.lists(st.sampled_from(query.positions.tolist()), min_size=1, unique=True))
        self.design.tell(part, np.ones(len(part)))
        self.told += part
        rest = [query for query in self.design.pending if query.id == number]
        self.waiting.pop(number)
        if rest:
            self.waiting[number] = rest[0]
            assert set(rest[0].positions) == set(query.positions) - set(part)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def skip(self, data):
        number = data.draw(st.sampled_from(sorted(self.waiting)))
        self.design.skip(self.waiting[number])
        self.aside[number] = self.waiting.pop(number)

    @rule()
    def crash(self):
        self.design._journal._stale = True  # as an interrupt leaves it: the next call rebuilds from the log

    @invariant()
    def agrees(self):
        assert [query.id for query in self.design.pending] == sorted(self.waiting)
        assert self.design.history_["position"] == self.told
        assert self.design.excluded().tolist() == sorted(self.asked)


def test_any_order_of_calls(model):
    machine = type("Machine", (LoopMachine,), {"model_class": model}).TestCase
    machine.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
    machine("runTest").runTest()


def test_a_person_may_choose_what_is_asked(model, pool, answers, tmp_path, same):
    log = tmp_path / "run.log"
    with SequentialDesign(model(), pool, random_state=0, log=log) as design:
        first = design.ask()
        others = [position for position in (7, 4, 9) if position not in first.positions][:2]
        chosen = design.ask(positions=others)
        assert chosen.positions.tolist() == others and np.isnan(chosen.scores).all()
        assert [query.id for query in design.pending] == [first.id, chosen.id]
        design.tell(chosen, answers[others])
        design.tell(first, answers[first.positions])
        assert not set(others) & set(design.ask(5).positions.tolist())
    with SequentialDesign.load(log, model(), pool) as again:
        same(again, design)


def test_what_may_not_be_chosen_is_said(model, pool):
    mask = np.arange(len(pool)) != 3
    design = SequentialDesign(model(), pool, mask=mask)
    design.tell(design.ask(positions=[5]), 1.0)
    for options, message in [
        ({"positions": [5]}, r"position 5 was asked or set aside before \(repeat=True allows asking again\)"),
        ({"positions": [3]}, "positions holds position 3, which mask does not allow"),
        ({"positions": [25]}, "positions must hold positions from 0 to 24, got 25"),
        ({"positions": [1, 1]}, "positions must hold every position once"),
        ({"positions": []}, "positions must name at least one"),
        ({"positions": 4}, "positions must be positions"),
        ({"positions": [1], "n": 2}, "n must be left out"),
    ]:
        with pytest.raises(ValueError, match=message):
            design.ask(**options)
    assert not design.pending and design.history_["position"] == [5]


def test_answers_that_disagree_are_independent_answers(model, pool):
    design = SequentialDesign(model(), pool, repeat=True, initial=[5, 5])
    design.tell(design.ask(2), [1.0, 3.0])
    design.tell(design.ask(positions=[5]), 2.0)
    at_once = model().partial_fit(pool[[5] * 3], [1.0, 3.0, 2.0])
    np.testing.assert_allclose(design.estimator_.precision, at_once.precision, rtol=1e-12)
    np.testing.assert_allclose(design.estimator_.shift, at_once.shift, rtol=1e-12)
    assert design.history_["position"] == [5, 5, 5] and design.history_["outcome"] == [1.0, 3.0, 2.0]


def test_what_was_skipped_is_unanswered_but_not_pending(model, pool):
    design = SequentialDesign(model(), pool)
    query = design.ask(3)
    design.skip(query.positions[:1])
    design.tell(query.positions[1:2], 0.5)
    (pending,), (unanswered,) = design.pending, design.unanswered
    assert pending.positions.tolist() == query.positions[2:].tolist()
    assert unanswered.positions.tolist() == query.positions[[0, 2]].tolist()
    design.tell(9 if 9 not in query.positions else 10, 1.0)  # volunteered
    assert len(design.pending) == len(design.unanswered) == 1
