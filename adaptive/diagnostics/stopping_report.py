"""Is it time to stop? What one more answer is expected to bring, and how much the last ones did.

information_left    max over what may still be asked of I(outcome; unknowns), nats
change              mean total-variation distance of the predictive distributions to those of the row before
expected_accuracy   mean over the pool of the probability of the most probable label: what the model believes
expected_gain       what the best next answer is expected to add to it
most_next           at most what the next 20 answers together can tell, nats, as `AtMost` estimates it
most_change         at most by how much they can move expected_accuracy: the mean over the pool of
                    min(sqrt(I / 2), 1 - largest probability), I the least of most_next and what is not known of the row

Accuracies are what the model believes, which `calibration` checks against what happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks, scorers
from adaptive import pool as pools
from adaptive.diagnostics.replayed import checkpoints
from adaptive.loop.seeds import Purpose
from adaptive.predictive import MissingField
from adaptive.selection import most_to_learn

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.predictive import Predictive
    from adaptive.types import Estimator, Pool

__all__ = ["in_words", "when_to_stop"]

COLUMNS = (
    "n_labelled",
    "information_left",
    "change",
    "expected_accuracy",
    "expected_gain",
    "most_next",
    "most_change",
)
NEXT = 20  # answers that are bounded together
N_PREFIXES = 4  # by which they are
LITTLE = 0.01  # of accuracy: what the next answers can move it by, where it may be time to stop


def when_to_stop(
    design: SequentialDesign, *, every: int = 10, n_candidates: int = 1000, n_targets: int = 200
) -> dict[str, list[Any]]:
    """Return what the next answer was expected to bring, along the run.

    Parameters
    ----------
    design : SequentialDesign over a fixed pool, with discrete outcomes
    every : int, default 10
        A row after each ``every``-th step, and after the last.
    n_candidates : int, default 1000
        Of a larger pool so many rows are looked at, drawn once (the same for every row of the table): what may be asked
        among them, and where predictions are compared.
    n_targets : int, default 200
        How many of these the expected accuracy of the next answer is about.

    Returns
    -------
    dict of lists
        The columns of this module's first lines and n_labelled, one entry per moment; nan where the estimator cannot
        say (no posterior, nothing left to ask, no row before).

    Raises
    ------
    ValueError
        If ``every`` or ``n_candidates`` is no integer of at least 1.

    See Also
    --------
    adaptive.loop.InformationLeft, adaptive.loop.AtMost, adaptive.loop.StablePredictions : rules that stop a run by
        three of these numbers.
    adaptive.diagnostics.in_words : the last row as sentences.

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression, SequentialDesign
    >>> from adaptive.datasets import digits_pair
    >>> X, y = digits_pair(3, 5)
    >>> model = BayesianLogisticRegression(classes=[3, 5])
    >>> design = SequentialDesign(model, X[:60], lambda query: y[query.positions], random_state=0).run(10)
    >>> table = when_to_stop(design, every=5, n_candidates=20, n_targets=10)
    >>> table["n_labelled"], table["information_left"][0] > 0
    ([5, 10], True)
    """
    every = checks.integer("every", every, minimum=1)
    sample = _sample(design, checks.integer("n_candidates", n_candidates, minimum=1))
    target = sample[np.linspace(0, len(sample) - 1, min(n_targets, len(sample))).astype(int)]
    rows, targets = pools.take(design.pool, sample), pools.take(design.pool, target)
    asked = design.history_["position"]
    table: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    last: np.ndarray | None = None
    for step in checkpoints(design, every):
        open_rows = np.flatnonzero(~np.isin(sample, [] if design.repeat else asked[: step.n_labelled]))
        predictive = step.estimator.predictive(rows, target=None)
        if predictive.undecided or not predictive.provides("probabilities"):
            continue
        now = np.asarray(predictive.probabilities, dtype=float)
        if hasattr(rows, "annotators"):  # what is predicted are true labels, not what somebody says
            believer: Any = step.estimator
            now = believer.predict_proba(pools.take(rows.table, np.unique(rows.rows)))
        left = _best("information_gain", step.estimator, rows, open_rows, None)
        gain = _best("expected_error_reduction", step.estimator, rows, open_rows, targets)
        moved = np.nan if last is None or last.shape != now.shape else 0.5 * np.abs(now - last).sum(axis=1).mean()
        most = _most_next(step.estimator, rows, open_rows, step.last)
        accuracy = now.max(axis=1)
        values = (
            step.n_labelled, left, float(moved), float(accuracy.mean()), gain, most, _most_change(predictive, most, now)
        )  # fmt: skip
        for column, value in zip(table.values(), values, strict=True):
            column.append(value)
        last = now
    return table


def in_words(table: dict[str, list[Any]], judged: dict[str, list[Any]] | None = None) -> str:
    """Return the last row of ``when_to_stop`` as sentences, beside its first.

    Parameters
    ----------
    table : dict of lists
        As `when_to_stop` returns it.
    judged : dict of lists, optional
        As `calibration` returns it of the same run: what became of the model's word on answers before they were given.

    Examples
    --------
    >>> print(in_words({"n_labelled": [10, 20], "information_left": [0.3, 0.1], "change": [np.nan, 0.02],
    ...                 "expected_accuracy": [0.8, 0.91], "expected_gain": [0.01, 0.002],
    ...                 "most_next": [5.0, 1.2], "most_change": [0.2, 0.05]}))
    After 20 answers the best question left is expected to teach 0.1 nats (after 10: 0.3).
    The next 20 answers together can teach an estimated 1.2 nats at most (after 10: 5).
    The last 10 answers moved predicted probabilities by 2.0 points on average.
    The model believes that it is right on 91.0% of the pool, and expects 0.20 points more of the next answer.
    The next 20 answers can move that by an estimated 5.0 points at most: further answers can still pay.
    """
    if not table["n_labelled"]:
        return "Nothing can be said yet: no class probabilities were predicted."
    n, left, change, accuracy, gain, most, most_change = (table[name][-1] for name in COLUMNS)
    lines = []
    if not np.isnan(left):
        then = (
            f" (after {table['n_labelled'][0]}: {table['information_left'][0]:.2g})"
            if n > table["n_labelled"][0]
            else ""
        )
        lines.append(f"After {n} answers the best question left is expected to teach {left:.2g} nats{then}.")
    if not np.isnan(most):
        then = f" (after {table['n_labelled'][0]}: {table['most_next'][0]:.2g})" if n > table["n_labelled"][0] else ""
        lines.append(f"The next {NEXT} answers together can teach an estimated {most:.2g} nats at most{then}.")
    if not np.isnan(change):
        since = n - table["n_labelled"][-2]
        last = "last answer" if since == 1 else f"last {since} answers"
        lines.append(f"The {last} moved predicted probabilities by {100 * change:.1f} points on average.")
    more = "" if np.isnan(gain) else f", and expects {100 * gain:.2f} points more of the next answer"
    lines.append(f"The model believes that it is right on {100 * accuracy:.1f}% of the pool{more}.")
    if not np.isnan(most_change):
        pays = "further answers can still pay" if most_change >= LITTLE else "it may be time to stop"
        lines.append(
            f"The next {NEXT} answers can move that by an estimated {100 * most_change:.1f} points at most: {pays}."
        )
    if judged is not None and judged["n_labelled"]:
        said, right, n_events = (judged[name][-1] for name in ("expected_accuracy", "accuracy", "n_events"))
        lines.append(
            f"Of the {n_events} answers it expected to be right on {100 * said:.0f}% before they came, and was right "
            f"on {100 * right:.0f}% (answers that are asked for are the hard ones)."
        )
    return "\n".join(lines)


def _sample(design: SequentialDesign, most: int) -> np.ndarray:
    if design.changing_pool:
        raise ValueError("diagnostics replay answers by position, but the design's pool is a callable.")
    allowed = np.arange(pools.length(design.pool)) if design.mask is None else np.flatnonzero(design.mask)
    if len(allowed) <= most:
        return allowed
    rng = np.random.default_rng(design.seed(Purpose.STOPPING_REPORT, 0))
    return np.sort(rng.choice(allowed, most, replace=False))


def _most_next(estimator: Estimator, rows: Pool, open_rows: np.ndarray, closely: bool) -> float:
    """Return at most what the next answers together can tell; nan where the estimator has no information gain."""
    if open_rows.size == 0:
        return np.nan
    try:
        return most_to_learn(
            estimator, pools.take(rows, open_rows), NEXT, n_prefixes=N_PREFIXES if closely else 0, random_state=0
        )[0]
    except MissingField:
        return np.nan


def _most_change(predictive: Predictive, most: float, now: np.ndarray) -> float:
    """Return at most by how much so many nats can move the mean of the largest probabilities (Pinsker)."""
    if np.isnan(most) or len(now) != len(predictive):
        return np.nan
    told = np.minimum(most, scorers.information_gain(predictive))
    return float(np.minimum(np.sqrt(0.5 * told), 1.0 - now.max(axis=1)).mean())


def _best(scorer: str, estimator: Estimator, rows: Pool, open_rows: np.ndarray, target: Pool | None) -> float:
    """Return the highest score among what may be asked; nan where the estimator has no such score."""
    if open_rows.size == 0:
        return np.nan
    try:
        predictive = estimator.predictive(pools.take(rows, open_rows), target=target)
        return float(np.max(scorers.get(scorer)(predictive, 0)))
    except MissingField:
        return np.nan
