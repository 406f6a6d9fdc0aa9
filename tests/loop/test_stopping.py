"""Each rule stops where its definition says, and tells how far it is."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from adaptive.loop import (
    InformationLeft,
    MaxCost,
    MaxSeconds,
    MaxSteps,
    SequentialDesign,
    StablePredictions,
    StoppingRule,
)
from adaptive.predictive import StatedPredictive


def test_steps_cost_seconds(model, pool, measure, monkeypatch):
    assert SequentialDesign(model(), pool, measure, stop=MaxSteps(4), initial=2).run().iteration == 4
    cost = np.linspace(1, 3, len(pool))
    design = SequentialDesign(model(), pool, measure, stop=MaxCost(6.0), cost=cost).run()
    assert design.spent >= 6.0 > design.spent - cost[design.history_["position"][-1]]
    assert SequentialDesign(model(), pool, measure, stop=MaxCost(3.0)).run().iteration == 3  # each costs 1
    with monkeypatch.context() as patched:
        patched.setattr("adaptive.loop.log.journal.time.monotonic", itertools.count().__next__)  # a second at each look
        assert 20 <= SequentialDesign(model(), pool, measure, stop=MaxSeconds(20), repeat=True).run().seconds < 40
    assert SequentialDesign(model(), pool, measure, stop=MaxSteps(0)).run().iteration == 0
    # a rule that holds already still leaves the initial questions
    assert SequentialDesign(model(), pool, measure, stop=MaxSteps(0), initial=3).run().iteration == 3


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 12), st.floats(0, 12), st.floats(0, 12))
def test_and_or(iteration, spent, seconds):
    design = SimpleNamespace(iteration=iteration, spent=spent, seconds=seconds)
    a, b, c = MaxSteps(10), MaxCost(8.0), MaxSeconds(6.0)
    done = iteration >= 10, spent >= 8.0, seconds >= 6.0
    assert (a & b)(design) == (done[0] and done[1])
    assert (a | b)(design) == (done[0] or done[1])
    assert (a | b & c)(design) == (done[0] or (done[1] and done[2]))
    assert (a & b).fraction_done(design) == min(a.fraction_done(design), b.fraction_done(design))
    assert (a | b).fraction_done(design) == max(a.fraction_done(design), b.fraction_done(design))
    for rule in (a, b, c, a & b, a | b & c):
        assert 0 <= rule.fraction_done(design) <= 1
        assert rule(design) == (rule.fraction_done(design) == 1)


def test_information_left_is_the_largest_expected_information(model, pool, measure):
    mask = np.arange(len(pool)) > 4
    design = SequentialDesign(model(), pool, measure, stop=InformationLeft(0.05), mask=mask).run()

    def left(design):
        free = np.flatnonzero(mask)
        free = free[~np.isin(free, design.excluded())]
        covariance = np.linalg.inv(design.estimator_.precision)
        variance = np.einsum("ij,jk,ik->i", pool[free], covariance, pool[free])
        return 0.5 * np.log1p(variance / 0.5).max()

    assert 0 < design.iteration < mask.sum()
    assert left(design) < 0.05
    assert design.stop.information_left(design) == pytest.approx(left(design), rel=1e-10)
    before = SequentialDesign(model(), pool, measure, stop=InformationLeft(0.05), mask=mask).run(design.iteration - 1)
    assert left(before) >= 0.05 and not before.finished
    assert before.stop.fraction_done(before) == pytest.approx(0.05 / left(before))
    # what is pending counts as known
    ahead = InformationLeft(0.05).information_left(before)
    before.ask()
    assert InformationLeft(0.05).information_left(before) < ahead


def test_information_left_on_a_subset(model, pool, measure):
    design = SequentialDesign(model(), pool, measure).run(3)
    everything = InformationLeft(0.1).information_left(design)
    some = [InformationLeft(0.1, n_candidates=k).information_left(design) for k in (3, 22, 1000)]
    assert 0 < some[0] <= everything and some[1] == some[2] == everything
    design.run()
    assert InformationLeft(0.1).information_left(design) == 0.0  # nothing is left to ask


def test_rules_wait_for_a_model_that_cannot_tell_candidates_apart(pool):
    rule = InformationLeft(0.5) | StablePredictions(0.1)
    ask_all = SequentialDesign(LogisticRegression(), pool, lambda query: np.zeros(len(query)), stop=rule).run()
    assert ask_all.iteration == len(pool)


def test_stable_predictions_of_a_number(model, pool, answers, measure):
    rule = StablePredictions(0.15, patience=3)
    design = SequentialDesign(model(), pool, measure, stop=rule).run()
    assert 3 < design.iteration < len(pool)
    assert rule.calm == 0  # the design has a copy

    def change(k):
        """RMS change of the mean by the k-th answer, in standard deviations after it."""
        before = SequentialDesign(model(), pool, measure).run(k - 1).estimator_.predictive(pool)
        after = SequentialDesign(model(), pool, measure).run(k).estimator_.predictive(pool)
        return np.sqrt(np.mean((after.mean - before.mean) ** 2 / after.variance))

    n = design.iteration
    assert max(change(k) for k in range(n - 2, n + 1)) <= 0.15 < change(n - 3)
    assert design.stop.fraction_done(design) == 1


def test_stable_predictions_of_a_class(pool):
    labels = np.where(pool[:, 0] > 0, "up", "down")
    design = SequentialDesign(
        LogisticRegression(C=0.1), pool, lambda q: labels[q.positions], scorer="uncertainty",
        stop=StablePredictions(0.05, patience=2, candidates=pool[:10]),
    ).run()  # fmt: skip
    assert 3 < design.iteration < len(pool)


def test_stable_predictions_over_a_callable_pool(model, pool):
    def axes(estimator):
        return np.eye(3) * (1 + estimator.n_fits)

    options = {"measure": lambda query: [1.0]}
    with pytest.raises(ValueError, match="StablePredictions needs candidates= with a callable pool"):
        SequentialDesign(model(), axes, stop=MaxSteps(2) | StablePredictions(), **options)
    rule = StablePredictions(0.3, 2, candidates=np.eye(3)) | MaxSteps(30)
    assert SequentialDesign(model(), axes, stop=rule, **options).run().iteration < 30


def test_any_callable_is_a_rule(model, pool, measure):
    assert SequentialDesign(model(), pool, measure, stop=lambda design: design.iteration == 3).run().iteration == 3
    with pytest.raises(ValueError, match="stop must be a stopping rule"):
        SequentialDesign(model(), pool, measure, stop=5)


def test_bad_rules():
    for make, message in [
        (lambda: MaxSteps(-1), "n must be at least 0"),
        (lambda: MaxCost(0), "c must be > 0"),
        (lambda: InformationLeft(float("nan")), "nats contains nan"),
        (lambda: StablePredictions(patience=0), "patience must be at least 1"),
        (lambda: MaxSteps(3) | 5, "only stopping rules combine"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()


def test_progress_asks_the_rule(model, pool, measure):
    seen = []
    design = SequentialDesign(model(), pool, measure, stop=MaxSteps(4) | MaxCost(100.0))
    design.run(progress=lambda fraction, design: seen.append((fraction, design.iteration)))
    assert seen == [(0.25, 1), (0.5, 2), (0.75, 3), (1.0, 4)]
    seen.clear()
    SequentialDesign(model(), pool, measure).run(2, progress=lambda fraction, design: seen.append(fraction))
    assert seen == [0.5, 1.0]


def test_progress_is_quiet_without_a_terminal(model, pool, measure, capsys):
    SequentialDesign(model(), pool, measure).run(3, progress=True)
    assert capsys.readouterr() == ("", "")


def test_progress_on_a_terminal(model, pool, measure, monkeypatch):
    import io

    from rich.console import Console

    from adaptive import showing

    screen = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda **k: Console(file=screen, force_terminal=True, width=80))
    SequentialDesign(model(), pool, measure).run(3, progress=True)
    assert screen.getvalue() == ""  # a short run stays quiet
    monkeypatch.setattr(showing, "_PATIENCE", 0.0)
    SequentialDesign(model(), pool, measure).run(3, progress=True)
    assert "3 answers" in screen.getvalue() and "100%" in screen.getvalue()


def test_a_rule_of_ones_own(model, pool, measure):
    class Enough(StoppingRule):
        def fraction_done(self, design):
            return min(1.0, design.iteration / 2)

    assert SequentialDesign(model(), pool, measure, stop=Enough() & MaxSteps(1)).run().iteration == 2


def test_a_rule_that_fails_loses_no_answer(model, pool, measure, tmp_path):
    class Fails(StoppingRule):
        def fraction_done(self, design):
            return 0.0

        def update(self, design):
            raise ValueError("this rule cannot")

    design = SequentialDesign(model(), pool, measure, stop=Fails(), log=tmp_path / "log")
    with pytest.raises(ValueError, match="this rule cannot"):
        design.run()
    design.close()
    with SequentialDesign.load(tmp_path / "log", model(), pool, measure) as again:
        assert again.iteration == 1


def test_a_wild_answer_begins_the_patience_anew():
    """Calm, wild, calm, calm: three calm ones, but only two in a row."""
    beliefs = iter([0.5, 0.505, 0.8, 0.801, 0.802])

    class Scripted:
        def predictive(self, candidates, **options):
            p = next(beliefs)
            return StatedPredictive(2, outcomes=[0, 1], probabilities=np.full((2, 2), [1 - p, p]))

    rule = StablePredictions(0.01, patience=3, candidates=[0, 1])
    design = SimpleNamespace(estimator_=Scripted(), seed=lambda *purpose: 0, chunk_size=None)
    counted = []
    for _ in range(5):
        rule.update(design)
        counted.append(rule.calm)
    assert counted == [0, 1, 0, 1, 2] and not rule(design)
