"""Traits and totals of people whose items are chosen at random or by information; comparisons of people's tastes."""

from __future__ import annotations

import itertools
import math
import time
import warnings
from typing import Any

import numpy as np
from scipy.special import expit

from adaptive import Questionnaire, datasets
from adaptive.estimators.questionnaires.total_band import TotalBand
from experiments.bands.shares import LEVELS, NOMINAL, central, gaussians, labels, result
from experiments.preferences.what_to_compare import Task

__all__ = ["compared", "totals", "traits"]

ITEMS, CALIBRATING, ASKED, BESIDE = 40, 500, 60, 100


def _drawn(data: str, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Answers (n, items) of people with one trait, or with two of which each item measures one; the traits."""
    slopes, difficulty = rng.lognormal(0.2, 0.4, ITEMS), rng.standard_normal(ITEMS)
    people = rng.standard_normal((n, 2))
    which = np.arange(ITEMS) % 2 if data == "two traits" else np.zeros(ITEMS, dtype=int)
    answers = rng.random((n, ITEMS)) < expit(slopes * (people[:, which] - difficulty))
    return answers.astype(float), people[:, 0]


def _people(data: str, unit: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """The calibrated items, answers of other people, their traits."""
    rng = np.random.default_rng([unit, 36])
    if data == "real":
        table = datasets.answers(("epi", "icar")[unit % 2]).dropna()
        answers = table.to_numpy()[rng.permutation(len(table))[: CALIBRATING + BESIDE + ASKED]]
        answers, known = answers - answers.min(), np.zeros(len(answers))
    else:
        answers, known = _drawn(data, rng, CALIBRATING + BESIDE + ASKED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        items = Questionnaire("two_parameter").fit(answers[:CALIBRATING])
    return items, answers[CALIBRATING:], known[CALIBRATING:]


def _asked(items: Any, answers: np.ndarray, design: str, n: int, seed: int) -> list[Any]:
    """Everybody after n questions."""
    if design == "random":
        rng = np.random.default_rng([seed, 37])
        chosen = np.stack([rng.permutation(answers.shape[1])[:n] for _ in answers])
    else:
        chosen = items.simulate(answers, n).items.astype(int)
    return [items.respondent().fit(own.tolist(), one[own]) for own, one in zip(chosen, answers, strict=True)]


def traits(data: str, design: str, n: int, unit: int) -> dict[str, np.ndarray]:
    """Drawn people only: no answer shows a trait."""
    items, answers, known = _people(data, unit)
    begun = time.process_time()
    people = _asked(items, answers[BESIDE:], design, n, unit)
    seconds = time.process_time() - begun
    mean, deviation = (np.array([float(getattr(one, what)[0]) for one in people]) for what in ("mean", "std"))
    sign = np.sign(np.corrcoef(mean, known[BESIDE:])[0, 1])
    return result(*gaussians(np.ones(1), mean[None], deviation[None] ** 2, sign * known[BESIDE:]), seconds)


def totals(data: str, band: str, design: str, n: int, unit: int) -> dict[str, np.ndarray]:
    """Totals of all items, by the model or with the band of 100 others; the simplest has one width by these others."""
    items, answers, _ = _people(data, unit)
    begun = time.process_time()
    said = [one.predict_total(level=0.9) for one in _asked(items, answers, design, n, unit)]
    seconds = time.process_time() - begun
    truth = answers.sum(axis=1)
    off = np.abs(truth - np.array([one.mean for one in said]))
    half = np.sort(off[:BESIDE])[math.ceil(0.9 * (BESIDE + 1)) - 1]
    simple = float(np.mean(off[BESIDE:] <= half)), float(2 * half)
    said, truth = said[BESIDE:], truth[BESIDE:]
    below = np.array([one.probabilities[one.values < total].sum() for one, total in zip(said, truth, strict=True)])
    p = np.array([one.probabilities[one.values == total].sum() for one, total in zip(said, truth, strict=True)])
    score = float(np.log(np.maximum(p, 1e-300)).mean())
    covered, ends = central(below, below + p), np.array([one.interval for one in said])
    if band == "people":
        begun = time.process_time()
        beside = _band(items, answers[:BESIDE], design, n, unit)
        seconds += time.process_time() - begun
        all_ends = [np.array([beside.interval(one.mean, one.std, one.values, n, q) for one in said]) for q in LEVELS]
        covered = np.array([np.mean((e[:, 0] <= truth) & (truth <= e[:, 1])) for e in all_ends])
        ends = all_ends[NOMINAL]
    return result(covered, float(np.mean(ends[:, 1] - ends[:, 0])), score, seconds, simple)


def _band(items: Any, answers: np.ndarray, design: str, n: int, seed: int) -> TotalBand:
    """What ``total_band`` returns; of random items the same by hand."""
    if design == "designed":
        return items.total_band(answers, n)
    said = [one.predict_total() for one in _asked(items, answers, design, n, seed)]
    off = np.abs(answers.sum(axis=1) - np.array([one.mean for one in said])) / np.array([one.std for one in said])
    return TotalBand(np.tile(off[:, None], (1, n)), np.arange(answers.shape[1]))


def compared(data: str, design: str, n: int, unit: int) -> dict[str, np.ndarray]:
    """Of sushi eaters who wins comparisons never asked; of drawn people differences of utilities."""
    task = Task("sushi" if data == "real" else "synthetic", 100 + unit, 8)
    pairs = [(int(a), int(b)) for a, b in itertools.combinations(task.items, 2)]
    p, won, moments = [], [], []
    begun = time.process_time()
    for person in range(len(task.utilities)):
        order = task.rng.permutation(len(pairs))
        test, left = [pairs[k] for k in order[:15]], [pairs[k] for k in order[15:]]
        view = task.model.user(f"new {person}")
        for step in range(n):
            k = int(view.select(left, random_state=step)[0]) if design == "designed" else 0
            pair = left.pop(k)
            view.partial_fit([pair], [task.answer(person, *pair)])
        p.append(view.predict_proba(test))
        won.append([task.answer(person, *pair) > 0 for pair in test])
        moments.append(_differences(view, task.utilities[person], test))
    seconds = time.process_time() - begun
    if data == "real":
        chances, codes = np.concatenate(p), np.concatenate(won).astype(int)
        covered, size = labels(chances, codes)
        return result(covered, size, float(np.log(chances[np.arange(len(codes)), codes]).mean()), seconds)
    mean, variance, truth = np.concatenate(moments, axis=1)
    return result(*gaussians(np.ones(1), mean[None], variance[None], truth), seconds)


def _differences(view: Any, utilities: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
    mean, covariance = view.utilities()
    order = np.argsort(view.items_)
    mean, covariance = mean[order], covariance[np.ix_(order, order)]
    a, b = np.array(pairs).T
    variance = covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b]
    return np.stack([mean[a] - mean[b], variance, utilities[a] - utilities[b]])
