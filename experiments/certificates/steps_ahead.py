"""Two steps ahead against one, on eight small problems, paired, with its cost.

Beliefs are exact: a list of states and their weights, or a Gaussian.  Runs of both choices share the truth and the
uniform numbers that decide what comes back.  Losses at the end: the variance of what is wanted, its probability of
being wrong, the number of questions, or 1 / nats.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from adaptive import scorers
from adaptive.images import paired_interval
from adaptive.plots import PALETTE
from adaptive.predictive import WeightedDraws
from adaptive.selection.bounds.greedy import information
from experiments.any_model import two_steps as orientation
from experiments.certificates.problems import gaussian_problems, small_head
from experiments.script import Script, command, panels

AHEAD = {"one step": 1, "two steps": 2}


class States(NamedTuple):
    """A problem of k states: p(outcome | state) (k, m, c), what is wanted (k,), and how long a run is."""

    table: np.ndarray
    wanted: np.ndarray
    steps: int
    repeat: bool
    loss: str
    certain: float = 1.0  # a run stops when a value is believed with this probability


def fringe() -> States:
    """A frequency is wanted, its phase not known: 1 with probability (1 + .9 cos(frequency t + phase)) / 2."""
    states = np.array(list(itertools.product(np.linspace(1.0, 2.0, 12), np.linspace(0, 2 * np.pi, 8, endpoint=False))))
    t = np.linspace(0.0, 12.0, 13)
    p = 0.5 + 0.45 * np.cos(states[:, :1] * t + states[:, 1:])
    return States(np.stack([1 - p, p], axis=-1), states[:, 0], 8, True, "variance")


def aligned() -> States:
    """The sign of a sample whose orientation must be found before analysing tells anything."""
    table = orientation.probabilities(orientation.STATES, orientation.SETTINGS)
    return States(table, orientation.STATES[:, 1], 4, True, "wrong")


def parity() -> States:
    """Whether two of six hidden bits are equal, each seen right nine times in ten; the other four are of no use."""
    states = np.array(list(itertools.product((0, 1), repeat=6)))
    p = np.where(states == 1, 0.9, 0.1)
    decoy = np.abs(0.5 + 0.02 * (np.logical_xor(states[:, 0], states[:, 1]) - 0.5))[:, None]
    p = np.concatenate([p, decoy], axis=1)  # a measurement that tells a little by itself
    equal = np.logical_xor(states[:, 0], states[:, 1]).astype(int)
    return States(np.stack([1 - p, p], axis=-1), equal, 4, True, "wrong")


def items(certain: float = 1.0) -> States:
    """A short test of twelve items; what is wanted is the trait, or, where it stops when certain, the side of a cut."""
    rng = np.random.default_rng(0)
    trait = np.linspace(-3, 3, 41)
    slope, place = rng.uniform(0.8, 2.0, 12), rng.normal(0, 1, 12)
    p = 1 / (1 + np.exp(-slope * (trait[:, None] - place)))
    wanted = trait if certain == 1.0 else (trait > 0.3).astype(int)
    loss = "variance" if certain == 1.0 else "questions"
    return States(np.stack([1 - p, p], axis=-1), wanted, 5 if certain == 1.0 else 12, False, loss, certain)


LISTED: dict[str, Callable[[], States]] = {
    "a fringe, about its frequency": fringe,
    "a sign behind an orientation": aligned,
    "whether two bits are equal": parity,
    "a test of five items": items,
    "a test that stops when certain": lambda: items(0.9),
}


def of_states(name: str, n: int) -> dict[str, Any]:
    """Losses (n,) of both choices, and milliseconds a decision."""
    problem = LISTED[name]()
    found: dict[str, Any] = {}
    for choice, steps in AHEAD.items():
        losses, seconds, decisions = [], 0.0, 0
        for run in range(n):
            rng = np.random.default_rng([run, 7])
            loss, took, count = _played(problem, steps, rng)
            losses.append(loss)
            seconds, decisions = seconds + took, decisions + count
        found |= {choice: np.array(losses), f"milliseconds, {choice}": np.array(1e3 * seconds / decisions)}
    return found


def _played(problem: States, steps: int, rng: np.random.Generator) -> tuple[float, float, int]:
    k, m, c = problem.table.shape
    prior = np.exp(-0.5 * problem.wanted**2) if not problem.repeat and problem.loss == "variance" else np.ones(k)
    weights = prior / prior.sum()
    truth, levels = rng.choice(k, p=weights), rng.random(problem.steps)
    left, score = np.arange(m), scorers.look_ahead("information_gain", steps, repeat=problem.repeat)
    seconds, asked = 0.0, 0
    values = np.unique(problem.wanted)
    for level in levels:
        sure = max(weights[problem.wanted == value].sum() for value in values)
        if sure >= problem.certain and problem.certain < 1:
            break
        begun = time.process_time()
        belief = WeightedDraws(weights, problem.table[:, left], list(range(c)), target=problem.wanted)
        place = int(np.argmax(score(belief, 0).round(10)))
        seconds, asked = seconds + time.process_time() - begun, asked + 1
        i = int(left[place])
        y = int(min(np.searchsorted(np.cumsum(problem.table[truth, i]), level), c - 1))
        weights = weights * problem.table[:, i, y]
        weights /= weights.sum()
        if not problem.repeat:
            left = np.delete(left, place)
    if problem.loss == "questions":
        return float(asked), seconds, max(asked, 1)
    if problem.loss == "wrong":
        return float(weights[problem.wanted != problem.wanted[truth]].sum()), seconds, asked
    mean = weights @ problem.wanted
    return float(weights @ (problem.wanted - mean) ** 2), seconds, asked


def of_gaussians(name: str, n: int) -> dict[str, Any]:
    """Losses (n,) of both choices, 1 / nats, so that their ratio is that of the informations, and milliseconds."""
    _digits(), _lines()  # made once, before anything is timed
    losses: dict[str, list[float]] = {choice: [] for choice in AHEAD}
    taken = dict.fromkeys(AHEAD, 0.0)
    for run in range(n):
        for choice, steps in AHEAD.items():
            begun = time.process_time()
            nats, decisions = GAUSSIAN[name](np.random.default_rng([run, 9]), steps)
            taken[choice] += 1e3 * (time.process_time() - begun) / decisions / n
            losses[choice].append(1.0 / nats)
    found = {choice: np.array(values) for choice, values in losses.items()}
    return found | {f"milliseconds, {choice}": np.array(value) for choice, value in taken.items()}


def _chosen(rows: np.ndarray, steps: int, n: int) -> tuple[float, int]:
    """Nats of n rows, or blocks, chosen one after the other."""
    told, chosen = 0.0, []
    m, b, d = rows.shape
    free = np.ones(m, dtype=bool)
    for left in range(n, 0, -1):
        now = information(rows[chosen]) if chosen else 0.0
        gains = np.array([information(rows[[*chosen, i]]) - now if free[i] else -np.inf for i in range(m)])
        if steps == 2 and left > 1:
            for i in np.flatnonzero(free):
                after = [information(rows[[*chosen, i, j]]) for j in np.flatnonzero(free) if j != i]
                gains[i] = max(after) - now
        best = int(np.argmax(gains.round(10)))
        chosen.append(best)
        free[best] = False
        told = information(rows[chosen])
    return told, n


def some_rows(rng: np.random.Generator, steps: int) -> tuple[float, int]:
    """Six of thirty rows of digits that are there by chance."""
    rows = _digits()
    return _chosen(rows[rng.choice(len(rows), 30, replace=False)], steps, 6)


def some_lines(rng: np.random.Generator, steps: int) -> tuple[float, int]:
    """Three lines of a small head, of which two are missing by chance."""
    rows = _lines()
    return _chosen(rows[rng.choice(len(rows), len(rows) - 2, replace=False)], steps, 3)


def a_tour(rng: np.random.Generator, steps: int) -> tuple[float, int]:
    """Sensors at random places on a line: gain per way, of one place or of two, until the way is used up."""
    places, budget, at = np.sort(rng.uniform(0, 10, 14)), 8.0, 0.0
    value = rng.uniform(0.2, 1.5, 14)
    K = np.exp(-0.5 * (places[:, None] - places) ** 2) / 0.1 * np.outer(value, value)

    def nats(B: list[int]) -> float:
        return 0.5 * float(np.linalg.slogdet(np.eye(len(B)) + K[np.ix_(B, B)])[1]) if B else 0.0

    chosen: list[int] = []
    decisions = 0
    while True:
        now, rates = nats(chosen), {}
        for i in range(14):
            way = abs(places[i] - at) + 0.2
            if i in chosen or way > budget:
                continue
            rates[i] = (nats([*chosen, i]) - now) / way
            if steps == 2:
                for j in range(14):
                    further = way + abs(places[j] - places[i]) + 0.2
                    if j != i and j not in chosen and further <= budget:
                        rates[i] = max(rates[i], (nats([*chosen, i, j]) - now) / further)
        decisions += 1
        if not rates:
            return max(nats(chosen), 1e-9), decisions
        best = max(rates, key=lambda i: round(rates[i], 10))
        budget, at = budget - abs(places[best] - at) - 0.2, places[best]
        chosen.append(best)


_KEPT: dict[str, np.ndarray] = {}


def _digits() -> np.ndarray:
    if "digits" not in _KEPT:
        _KEPT["digits"] = next(iter(gaussian_problems())).rows
    return _KEPT["digits"]


def _lines() -> np.ndarray:
    if "lines" not in _KEPT:
        _KEPT["lines"] = small_head(16)
    return _KEPT["lines"]


GAUSSIAN = {"rows of digits": some_rows, "lines of a small head": some_lines, "sensors with travel": a_tour}


def run(script: Script) -> None:
    """All eight."""
    table: dict[str, list[Any]] = {
        name: [] for name in ("problem", "loss of one step", "of two", "one / two", "low", "high", "cost, one step's")
    }
    for name in (*LISTED, *GAUSSIAN):
        n = 3 if script.quick else 300 if name in LISTED else 40
        found = script.kept("steps-ahead", of_states if name in LISTED else of_gaussians, name, n)
        one, two = (found[choice] for choice in AHEAD)
        of = paired_interval(one, two, of="difference")
        mean = two.mean()
        cost = found["milliseconds, two steps"] / max(float(found["milliseconds, one step"]), 1e-9)
        row = (name, one.mean(), mean, one.mean() / mean, 1 + of.low / mean, 1 + of.high / mean, cost)
        for column, value in zip(table.values(), row, strict=True):
            column.append(value)
    shown = {name: [one if isinstance(one, str) else f"{one:.3g}" for one in column] for name, column in table.items()}
    script.table(
        shown, "ours-certificate-steps-ahead",
        "Losses at the end of simulated runs, their ratio with its paired 95% interval (above 1: two steps ahead are "
        "better), and what a decision costs. The model knows all but the state.",
    )  # fmt: skip
    figure, axes = panels(1, 1, 7.0, 3.8)
    y = np.arange(len(table["problem"]))
    ratio, low, high = (np.array(table[name], dtype=float) for name in ("one / two", "low", "high"))
    errors = np.maximum([ratio - low, high - ratio], 0)
    axes[0, 0].errorbar(ratio, y, xerr=errors, fmt="o", color=PALETTE[0], markersize=4)
    axes[0, 0].axvline(1.0, color="#888888", linewidth=0.8)
    axes[0, 0].set_yticks(y, table["problem"], fontsize="small")
    axes[0, 0].invert_yaxis()
    axes[0, 0].set(xscale="log", xlabel="loss of one step over that of two")
    script.figure(
        figure, "ours-certificate-steps-ahead",
        "Where two steps ahead pay: the loss of choosing one step ahead over that of two, paired 95% intervals.",
    )  # fmt: skip
    pays = [name for name, at in zip(table["problem"], table["low"], strict=True) if at > 1.0]
    script.judge(
        "ours-certificate-steps-ahead",
        len(pays) >= 4 and min(table["high"]) >= 1.0,
        claim="Two steps ahead are better than one on four of eight small problems or more, and worse on none.",
        target="intervals of one / two above 1 on four, none below 1",
        value={
            name: [round(float(x), 4) for x in (r, lo, hi, c)]
            for name, r, lo, hi, c in zip(
                *(table[k] for k in ("problem", "one / two", "low", "high", "cost, one step's")), strict=True
            )
        },
        reason=f"It pays on {len(pays)} problems: {', '.join(pays)}. For a design about everything unknown, or where "
        "single measurements nearly add up, one step is enough.",
        seed=0,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
