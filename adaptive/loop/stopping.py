"""When to stop. A rule is true of a design that is done, and tells how far along it is; rules combine:

MaxSteps(100) | InformationLeft(0.01) & MaxCost(20)        & before |, as everywhere in Python

(a | b) stops when either does, with the larger fraction; (a & b) when both do, with the smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks, selection
from adaptive import pool as pools
from adaptive.loop.seeds import Purpose

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.predictive import Predictive
    from adaptive.types import Pool

__all__ = [
    "BestMoveKnown",
    "InformationLeft",
    "MaxCost",
    "MaxSeconds",
    "MaxSteps",
    "StablePredictions",
    "StoppingRule",
    "TargetDeviation",
]


class StoppingRule:
    """Base of the rules: a subclass says how far a design is, and is done at 1.

    A rule that remembers something overrides ``update`` (called after every fitted answer, also when a log is replayed;
    it may look at ``design.estimator_``, ``iteration``, ``spent``, ``pool`` and ``seed``), and ``state`` and
    ``restore``, whose plain data goes into snapshots.

    Examples
    --------
    >>> class Answered(StoppingRule):
    ...     def fraction_done(self, design):
    ...         return design.iteration / 5
    >>> from types import SimpleNamespace
    >>> rule = Answered() | MaxSteps(3)
    >>> rule.fraction_done(SimpleNamespace(iteration=3))
    1.0
    """

    def fraction_done(self, design: SequentialDesign) -> float:
        """Return how far the design is, from 0 to 1."""
        raise TypeError(f"{type(self).__name__} must define fraction_done(design).")

    def __call__(self, design: SequentialDesign) -> bool:
        return self.fraction_done(design) >= 1.0

    def check(self, design: SequentialDesign) -> None:
        """Raise ValueError if the rule cannot serve this design; called when the design is made."""

    def update(self, design: SequentialDesign) -> None:
        """Take note of a fitted answer."""

    def state(self) -> Any:
        """Return what the rule remembers, as plain data; None if it never remembers anything."""
        return None

    def restore(self, state: Any) -> None:
        """Remember what ``state`` returned."""

    def __and__(self, other: StoppingRule) -> StoppingRule:
        return AllOf(self, other)

    def __or__(self, other: StoppingRule) -> StoppingRule:
        return AnyOf(self, other)


class _Combination(StoppingRule):
    def __init__(self, *rules: StoppingRule) -> None:
        for rule in rules:
            if not isinstance(rule, StoppingRule):
                raise ValueError(f"only stopping rules combine with & and |, got {type(rule).__name__}.")
        self.rules = rules

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.rules))})"

    def check(self, design: SequentialDesign) -> None:
        for rule in self.rules:
            rule.check(design)

    def update(self, design: SequentialDesign) -> None:
        for rule in self.rules:
            rule.update(design)

    def state(self) -> Any:
        states = [rule.state() for rule in self.rules]
        return None if all(state is None for state in states) else states

    def restore(self, state: Any) -> None:
        for rule, part in zip(self.rules, state, strict=True):
            if part is not None:
                rule.restore(part)


class AllOf(_Combination):
    """``a & b``: done when all are."""

    def fraction_done(self, design: SequentialDesign) -> float:
        return min(rule.fraction_done(design) for rule in self.rules)

    def __call__(self, design: SequentialDesign) -> bool:
        return all(rule(design) for rule in self.rules)


class AnyOf(_Combination):
    """``a | b``: done when one is."""

    def fraction_done(self, design: SequentialDesign) -> float:
        return max(rule.fraction_done(design) for rule in self.rules)

    def __call__(self, design: SequentialDesign) -> bool:
        return any(rule(design) for rule in self.rules)


class MaxSteps(StoppingRule):
    """Stop after ``n`` steps (answered queries; the initial ones count).

    Parameters
    ----------
    n : int
        How many.

    Raises
    ------
    ValueError
        If ``n`` is no integer, or negative.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> (MaxSteps(10) & MaxCost(4.0)).fraction_done(SimpleNamespace(iteration=5, spent=1.0))
    0.25
    """

    def __init__(self, n: int) -> None:
        self.n = checks.integer("n", n, minimum=0)

    def __repr__(self) -> str:
        return f"MaxSteps({self.n})"

    def fraction_done(self, design: SequentialDesign) -> float:
        return min(1.0, design.iteration / self.n) if self.n else 1.0


class MaxCost(StoppingRule):
    """Stop when the answers have cost ``c`` (1 each without costs); the last one may exceed it.

    Parameters
    ----------
    c : float
        In the units of the design's ``cost``.

    Raises
    ------
    ValueError
        If ``c`` is not positive.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> MaxCost(4.0).fraction_done(SimpleNamespace(spent=1.0))
    0.25
    """

    def __init__(self, c: float) -> None:
        self.c = float(checks.positive("c", c))

    def __repr__(self) -> str:
        return f"MaxCost({self.c:g})"

    def fraction_done(self, design: SequentialDesign) -> float:
        return min(1.0, design.spent / self.c)


class MaxSeconds(StoppingRule):
    """Stop when the design has been running for ``s`` seconds, pauses between save and load left out.

    Parameters
    ----------
    s : float
        Seconds.

    Raises
    ------
    ValueError
        If ``s`` is not positive.

    Examples
    --------
    >>> from adaptive import GaussianProcessRegressor, SequentialDesign
    >>> design = SequentialDesign(GaussianProcessRegressor(), [[0.0], [1.0]], stop=MaxSeconds(60.0) | MaxSteps(2))
    >>> design.ask().positions.shape
    (1,)
    """

    def __init__(self, s: float) -> None:
        self.s = float(checks.positive("s", s))

    def __repr__(self) -> str:
        return f"MaxSeconds({self.s:g})"

    def fraction_done(self, design: SequentialDesign) -> float:
        return min(1.0, design.seconds / self.s)


class InformationLeft(StoppingRule):
    """Stop when no allowed candidate is expected to bring ``nats`` of information about the target.

    Parameters
    ----------
    nats : float
        The bound on the largest expected information of a single measurement.
    n_candidates : int or None, default None
        Look at this many candidates, drawn at random anew at each step, instead of at all that are allowed: cheaper,
        and stopping too early by what the subset misses.

    Raises
    ------
    ValueError
        If ``nats`` is not positive, or ``n_candidates`` no integer of at least 1.

    Notes
    -----
    The fraction done is ``nats`` divided by the information left. Each step costs one more pass over the candidates.

    Examples
    --------
    >>> from adaptive import GaussianProcessRegressor, SequentialDesign
    >>> rule = InformationLeft(0.5) | MaxSteps(8)
    >>> pool = np.linspace(0.0, 1.0, 9)[:, None]
    >>> model = GaussianProcessRegressor(optimizer=None, alpha=0.1)
    >>> design = SequentialDesign(model, pool, lambda query: query.candidates[:, 0], stop=rule, random_state=0).run()
    >>> design.iteration < 8
    True
    """

    def __init__(self, nats: float, *, n_candidates: int | None = None) -> None:
        self.nats = float(checks.positive("nats", nats))
        self.n_candidates = None if n_candidates is None else checks.integer("n_candidates", n_candidates, minimum=1)
        self._seen: tuple[Any, float] | None = None

    def __repr__(self) -> str:
        return f"InformationLeft({self.nats:g})"

    def information_left(self, design: SequentialDesign) -> float:
        """Return the largest expected information of one more measurement, in nats; 0 if nothing is left to ask."""
        now = (design.iteration, *((query.id, len(query)) for query in design.pending))
        if self._seen is None or self._seen[0] != now:
            self._seen = now, self._largest(design)
        return self._seen[1]

    def _largest(self, design: SequentialDesign) -> float:
        pool, mask = design.pool, design.mask
        excluded: Sequence[int] | np.ndarray = design.excluded()
        left = pools.length(pool) - len(excluded)
        if mask is not None:
            left = int(np.count_nonzero(mask)) - int(np.count_nonzero(mask[excluded]))
        if left == 0:
            return 0.0
        if _undecided(design.estimator_.predictive(pools.take(pool, [0]))):
            return np.inf
        if self.n_candidates is not None and self.n_candidates < left:
            rng = np.random.default_rng(design.seed(Purpose.SUBSET, design.iteration))
            allowed = pools.length(pool) if mask is None else np.flatnonzero(mask)
            enough = self.n_candidates + len(excluded)  # whichever of them are excluded
            drawn = rng.choice(allowed, enough, replace=False)
            pool = pools.take(pool, np.sort(drawn[~np.isin(drawn, excluded)][: self.n_candidates]))
            mask, excluded = None, ()
        waiting = [query.candidates for query in design.pending] if design.joint else []
        _, scores = selection.select(
            design.estimator_,
            pool,
            1,
            scorer="information_gain",
            target=design.target,
            mask=mask,
            exclude=excluded,
            pending=pools.concatenate(waiting) if waiting else None,
            random_state=design.seed(Purpose.INFORMATION_LEFT, design.iteration),
            return_scores=True,
            chunk_size=design.chunk_size,
        )
        return float(scores[0])

    def fraction_done(self, design: SequentialDesign) -> float:
        left = self.information_left(design)
        # strictly below the bound is done; just at it is all but done
        return 1.0 if left < self.nats else min(self.nats / left, 1.0 - 1e-9)


class BestMoveKnown(StoppingRule):
    """Stop when one of the root's moves is the best with at least this probability, or every end was seen.

    Parameters
    ----------
    probability : float, default 0.95
        For estimators with ``best_move_proba``, such as :class:`~adaptive.GameTreeSearch`.

    Raises
    ------
    ValueError
        If ``probability`` is not between 0 and 1.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> BestMoveKnown(0.9) | MaxSteps(100)
    AnyOf(BestMoveKnown(0.9), MaxSteps(100))
    """

    def __init__(self, probability: float = 0.95) -> None:
        checks.share("probability", probability)
        self.probability = float(probability)

    def __repr__(self) -> str:
        return f"BestMoveKnown({self.probability:g})"

    def fraction_done(self, design: SequentialDesign) -> float:
        tree: Any = design.estimator_
        if not hasattr(tree, "best_move_proba"):
            raise ValueError(f"BestMoveKnown needs best_move_proba, which {type(tree).__name__} does not have.")
        if not hasattr(tree, "belief_"):
            return 0.0
        if not tree.boundary(1):
            return 1.0
        return min(1.0, float(tree.best_move_proba().max()) / self.probability)


class StablePredictions(StoppingRule):
    """Stop when predictions have hardly changed over the last ``patience`` answers.

    Parameters
    ----------
    threshold : float, default 0.01
        For discrete outcomes the mean total-variation distance between the predictive distributions before and after an
        answer; else the root-mean-square change of the predicted mean, in predictive standard deviations.
    patience : int, default 5
        For how many answers in a row the change must stay at or below the threshold.
    candidates : pool, optional
        Where to predict; by default ``n_candidates`` of the pool, drawn at random once. A callable pool needs it.
    n_candidates : int, default 1000

    Raises
    ------
    ValueError
        If ``patience`` or ``n_candidates`` is no integer of at least 1, or ``threshold`` is negative.

    References
    ----------
    After Bloodgood and Vijay-Shanker, "A method for stopping active learning based on stabilizing predictions", CoNLL
    2009, with probabilities in the place of labels.

    Examples
    --------
    >>> from adaptive import GaussianProcessRegressor, SequentialDesign
    >>> pool = np.linspace(0.0, 1.0, 9)[:, None]
    >>> model = GaussianProcessRegressor(optimizer=None, alpha=0.1)
    >>> rule = StablePredictions(0.3, patience=2)
    >>> design = SequentialDesign(model, pool, lambda query: query.candidates[:, 0], stop=rule, random_state=0).run()
    >>> 2 < design.iteration < 9
    True
    """

    def __init__(
        self, threshold: float = 0.01, patience: int = 5, *, candidates: Pool | None = None, n_candidates: int = 1000
    ) -> None:
        self.threshold = float(checks.positive("threshold", threshold, or_zero=True))
        self.patience = checks.integer("patience", patience, minimum=1)
        self.candidates = candidates
        self.n_candidates = checks.integer("n_candidates", n_candidates, minimum=1)
        self.calm = 0  # answers in a row that changed little
        self._last: tuple[np.ndarray, np.ndarray] | None = None  # (outcomes, probabilities), or (mean, variance)

    def __repr__(self) -> str:
        where = self.n_candidates if self.candidates is None else pools.fingerprint(self.candidates)[:8]
        return f"StablePredictions({self.threshold:g}, {self.patience}, at {where})"

    def check(self, design: SequentialDesign) -> None:
        if self.candidates is None and design.changing_pool:
            raise ValueError("StablePredictions needs candidates= with a callable pool, to compare predictions there.")

    def update(self, design: SequentialDesign) -> None:
        now = self._predict(design)
        calm = self._last is not None and now is not None and _change(self._last, now) <= self.threshold
        self.calm = self.calm + 1 if calm else 0
        self._last = now

    def _predict(self, design: SequentialDesign) -> tuple[np.ndarray, np.ndarray] | None:
        # one seed for all steps: predictives that draw are then compared draw by draw
        seed, where = design.seed(Purpose.STABLE_PREDICTIONS, 0), self._where(design)
        m = pools.length(where)
        size = m if design.chunk_size is None else design.chunk_size
        whole = size >= m
        parts = []
        for start in range(0, m, size):
            chunk = where if whole else pools.take(where, np.arange(start, min(start + size, m)))
            predictive = design.estimator_.predictive(chunk, random_state=seed)
            if _undecided(predictive):
                return None
            parts.append(_said(predictive))
        return parts[0] if whole else _put_together(parts)

    def _where(self, design: SequentialDesign) -> Pool:
        if self.candidates is not None:
            return self.candidates
        m = pools.length(design.pool)
        if m <= self.n_candidates:
            return design.pool
        rng = np.random.default_rng(design.seed(Purpose.SUBSET, 0))
        return pools.take(design.pool, np.sort(rng.choice(m, self.n_candidates, replace=False)))

    def fraction_done(self, design: SequentialDesign) -> float:
        return min(1.0, self.calm / self.patience)

    def state(self) -> Any:
        return {"calm": self.calm, "last": None if self._last is None else list(self._last)}

    def restore(self, state: Any) -> None:
        self.calm = state["calm"]
        self._last = None if state["last"] is None else (state["last"][0], state["last"][1])


class TargetDeviation(StoppingRule):
    """Stop when every component of the target is known to a standard deviation of ``limit``.

    The rule for instruments, whose target is one parameter or several, and for tests of people. A design without a
    target waits for every parameter. The belief must state ``target_deviation``.

    Parameters
    ----------
    limit : float
        In the units of the target.

    Raises
    ------
    ValueError
        If ``limit`` is not positive.

    Notes
    -----
    The fraction done is ``limit`` divided by the largest deviation.

    Examples
    --------
    >>> from adaptive import Questionnaire, SequentialDesign
    >>> answers = np.random.default_rng(0).integers(0, 2, (40, 6)).astype(float)
    >>> person = Questionnaire().fit(answers).respondent()
    >>> rule = TargetDeviation(0.01) | MaxSteps(3)
    >>> SequentialDesign(person, list(range(6)), lambda query: [1.0], stop=rule, random_state=0).run().iteration
    3
    """

    def __init__(self, limit: float) -> None:
        self.limit = float(checks.positive("limit", limit))

    def __repr__(self) -> str:
        return f"TargetDeviation({self.limit:g})"

    def fraction_done(self, design: SequentialDesign) -> float:
        seed = design.seed(Purpose.STABLE_PREDICTIONS, 0)
        one = pools.take(design.pool, [0])  # the target is the same, whatever the candidates
        predictive = design.estimator_.predictive(one, target=design.target, random_state=seed)
        if not predictive.provides("target_deviation"):
            raise ValueError(
                f"TargetDeviation needs target_deviation, which {type(predictive).__name__} does not provide."
            )
        largest = float(np.max(predictive.target_deviation))
        return 1.0 if largest <= self.limit else min(self.limit / largest, 1.0 - 1e-9)


def _undecided(predictive: Predictive) -> bool:
    """Return whether nothing was fitted yet that tells candidates apart (a classifier that has seen one class)."""
    return bool(getattr(predictive, "undecided", False))


def _said(predictive: Predictive) -> tuple[np.ndarray, np.ndarray]:
    """Return (outcomes, probabilities) where outcomes are discrete, else (mean, variance)."""
    if predictive.provides("probabilities"):
        return np.asarray(predictive.outcomes), np.asarray(predictive.probabilities, dtype=float)
    return np.asarray(predictive.mean, dtype=float), np.asarray(predictive.variance, dtype=float)


def _put_together(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return what was said of chunks as if it had been said of all: probabilities over the outcomes of the longest."""
    values = [second for _, second in parts]
    if values[0].ndim == 1:
        return np.concatenate([first for first, _ in parts]), np.concatenate(values)
    outcomes = max((first for first, _ in parts), key=len)
    width = len(outcomes)  # counts are cut off where each chunk has no more
    padded = [np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in values]
    return outcomes, np.concatenate(padded)


def _change(before: tuple[np.ndarray, np.ndarray], after: tuple[np.ndarray, np.ndarray]) -> float:
    """Return how much predictions have changed, as ``StablePredictions`` defines it."""
    if after[1].ndim == 2:
        outcomes = list(dict.fromkeys([*before[0].tolist(), *after[0].tolist()]))
        tables = []
        for values, probabilities in (before, after):
            table = np.zeros((len(probabilities), len(outcomes)))
            table[:, [outcomes.index(value) for value in values.tolist()]] = probabilities
            tables.append(table)
        return float(0.5 * np.abs(tables[1] - tables[0]).sum(axis=1).mean())
    return float(np.sqrt(np.mean((after[0] - before[0]) ** 2 / np.maximum(after[1], np.finfo(float).tiny))))
