"""Signs that items measure more than one trait, looked at on a sample of the people.

    residual_ui  =  y_ui - E[y_ui | x_u],      Q3_ij = correlation of the residuals of items i and j        (Yen, 1984)
    gain         =  mean over held-out answers of  log p(y_ui | others of u; two traits) - log p(... ; one trait)

Each half of the people judges what the other taught. Two components of the items' correlations, turned to be simple
(varimax), split the items; those of the larger group keep their trait, the others measure a second one, too, so that
the two may correlate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.questionnaires.base import log_prior
from adaptive.estimators.questionnaires.calibration import calibrate
from adaptive.estimators.questionnaires.curves import CURVES, Curve

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Answers, Label
    from adaptive.estimators.questionnaires.settings import QuestionnaireSettings
    from adaptive.types import State

__all__ = ["Dimension", "examined"]

PEOPLE, FOLDS = 800, 2  # people at most; each half judges what the other taught
LEAST_PEOPLE, LEAST_ITEMS = 200, 4  # below which nothing is told apart
MOST_ITEMS = 1000  # above which the items' correlations are not looked at: n_traits="held_out" is for so many
CERTAIN = 3.0  # standard errors of the gain
MATTERS = 0.1  # share of what the first trait gains: less is of no use, however certain
NODES, WIDTH = 15, 4.2  # of each axis: one trait and two by the same rule
ROUNDS, TOL = 25, 3e-2
OVERLAP = 20  # people who answered both items, below whom a correlation is not looked at
_NUMBERS = ("eigenvalue_ratio", "residual_correlation", "gain", "gain_std", "first_gain")
RICHER = {"rasch": "partial_credit", "ordinal": "graded"}  # that unequal slopes are not taken for a second trait


@dataclass(frozen=True)
class Dimension:
    """Signs of a second trait.

    Attributes
    ----------
    eigenvalue_ratio : float
        First to second eigenvalue of the correlations of the items.
    residual_correlation : float
        The largest correlation of two items' residuals (Yen's Q3), less the mean of all.
    pair : tuple of labels
        These items.
    gain, gain_std : float
        By how much two traits predict answers of held-out people better than one, nats per answer, and its standard
        error over people.
    first_gain : float
        The same of one trait over none.
    item_traits : dict of label to list of str
        The split that was tried, as `Questionnaire` takes it; of the ordinal model, whose items have one trait each,
        two traits apart.
    n_answers : int
        Answers there were when it was looked at.
    """

    eigenvalue_ratio: float
    residual_correlation: float
    pair: tuple[Label, Label]
    gain: float
    gain_std: float
    first_gain: float
    item_traits: dict[Label, list[str]]
    n_answers: int

    @property
    def several(self) -> bool:
        """True where two traits predict certainly better, and by as much as matters."""
        return self.gain > max(CERTAIN * self.gain_std, MATTERS * self.first_gain)

    def sentence(self) -> str:
        """The signs in words."""
        second = [str(item) for item, traits in self.item_traits.items() if "second" in traits]
        shown = ", ".join(second[:5]) + (f" and {len(second) - 5} more" if len(second) > 5 else "")
        first, other = self.pair
        return (
            f"the items measure more than one trait: a second one, of {shown}, predicts an answer of other people "
            f"better by {self.gain:.3f} nats (+- {2 * self.gain_std:.3f}); the first eigenvalue is "
            f"{self.eigenvalue_ratio:.1f} times the second, residuals of {first} and {other} correlate "
            f"{self.residual_correlation:.2f} above the mean."
        )

    @staticmethod
    def stored(known: Dimension | None) -> State | None:
        """Plain data; None where nothing was looked at."""
        if known is None:
            return None
        traits = list(known.item_traits.values())
        return {
            **{name: getattr(known, name) for name in _NUMBERS}, "pair": list(known.pair),
            "items": list(known.item_traits), "traits": traits, "n_answers": known.n_answers,
        }  # fmt: skip

    @classmethod
    def restored(cls, state: State | None) -> Dimension | None:
        """The signs that ``stored`` described."""
        if state is None:
            return None
        first, other = state["pair"]
        traits = [list(one) for one in state["traits"]]
        return cls(
            **{name: float(state[name]) for name in _NUMBERS}, pair=(first, other),
            item_traits=dict(zip(state["items"], traits, strict=True)), n_answers=int(state["n_answers"]),
        )  # fmt: skip


def examined(
    settings: QuestionnaireSettings, answers: Answers, earlier: Dimension | None = None, seed: int = 0
) -> Dimension | None:
    """Look for a second trait.

    Parameters
    ----------
    settings : QuestionnaireSettings
    answers : Answers
    earlier : Dimension, optional
        Kept until there are a quarter more answers.
    seed : int
        Of who trains and who judges.

    Returns
    -------
    Dimension or None
        None of several traits, of nominal items, of fewer than 4 items or more than 1,000, or of fewer than 200 people
        with two answers.
    """
    if (
        settings.response_model == "nominal"
        or len(settings.loadings(answers.items).traits) > 1
        or not LEAST_ITEMS <= len(answers.items) <= MOST_ITEMS
    ):
        return None
    if earlier is not None and len(answers) < 1.25 * earlier.n_answers:
        return earlier
    turned = answers.reversed_for(settings.reversed(answers.items))
    counts = np.bincount(turned.person, minlength=len(turned.people))
    people = np.flatnonzero(counts >= 2)
    if len(people) < LEAST_PEOPLE:
        return None
    people = np.random.default_rng(seed).permutation(people)[:PEOPLE]
    sample = turned.of_people(people)
    curve = CURVES[RICHER.get(settings.response_model, settings.response_model)]
    gains = np.zeros((2, len(sample)))
    for fold in range(FOLDS):
        held = np.arange(len(people)) % FOLDS == fold
        train, judge = sample.of_people(np.flatnonzero(~held)), sample.of_people(np.flatnonzero(held))
        gains[:, held[sample.person]] = _gain(curve, train, judge)
    first_gain, gain = (float(one) for one in gains.mean(axis=1))
    spread = np.bincount(sample.person, weights=gains[1] - gain)
    one, y = _Traits(1), _scores(sample)
    correlations = _correlations(y)
    q3 = _correlations(y - one.expected(curve, sample, one.fitted(curve, sample)))
    first, other = np.triu_indices(len(q3), 1)
    top = int(q3[first, other].argmax())
    eigenvalues = np.linalg.eigvalsh(correlations)[::-1]
    apart = ["second"] if settings.response_model == "ordinal" else ["trait", "second"]
    split = zip(answers.items, _second(correlations), strict=True)
    return Dimension(
        float(eigenvalues[0] / max(eigenvalues[1], 1e-12)), float(q3[first, other].max() - q3[first, other].mean()),
        (answers.items[int(first[top])], answers.items[int(other[top])]), gain,
        float(np.sqrt(np.sum(spread**2)) / len(sample)), first_gain,
        {item: list(apart) if there else ["trait"] for item, there in split},
        len(answers),
    )  # fmt: skip


def _gain(curve: Curve, train: Answers, judge: Answers) -> np.ndarray:
    """(2, n) by how much better one trait predicts each answer of other people than none, and two than one."""
    one, two = _Traits(1), _Traits(2)
    c = one.fitted(curve, train)
    second = _second(_correlations(_scores(train)))
    mask = np.column_stack([np.ones(len(second), dtype=bool), second])
    start = np.column_stack([np.where(second, 0.7, 1.0) * c[:, 0], np.where(second, 0.7, 0.0) * c[:, 0], c[:, 1:]])
    better = two.fitted(curve, train, mask, start)
    shares = np.ones((len(train.items), len(train.categories)))
    np.add.at(shares, (train.item, train.answer), 1.0)
    none = np.log(shares / shares.sum(axis=1, keepdims=True))[judge.item, judge.answer]
    alone = one.log_probabilities(curve, judge, c)
    return np.stack([alone - none, two.log_probabilities(curve, judge, better) - alone])


def _scores(answers: Answers) -> np.ndarray:
    """(people, items) places of the answers, NaN where not asked."""
    table = answers.table().astype(float)
    table[table < 0] = np.nan
    return table


def _correlations(values: np.ndarray) -> np.ndarray:
    """(items, items) correlations over the people who answered both; 0 where those are few."""
    seen = ~np.isnan(values)
    n = np.maximum(seen.sum(axis=0), 1)
    centred = np.where(seen, values - np.where(seen, values, 0.0).sum(axis=0) / n, 0.0)
    both = seen.T.astype(float) @ seen
    scale = np.sqrt(np.maximum((centred**2).T @ seen, 1e-12))
    found = np.where(both >= OVERLAP, centred.T @ centred / (scale * scale.T), 0.0)
    np.fill_diagonal(found, 1.0)
    return found


def _second(correlations: np.ndarray) -> np.ndarray:
    """(items,) the smaller of two groups: by which of two components, turned to be simple (varimax), an item has most.

    Each has two items at least.
    """
    values, vectors = np.linalg.eigh(correlations)
    u, v = (vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))).T[::-1]
    c, d = u**2 - v**2, 2 * u * v  # Kaiser (1958)
    n = len(u)
    angle = 0.25 * np.arctan2(2 * (c @ d - c.sum() * d.sum() / n), c @ c - d @ d - (c.sum() ** 2 - d.sum() ** 2) / n)
    more = np.abs(-np.sin(angle) * u + np.cos(angle) * v) - np.abs(np.cos(angle) * u + np.sin(angle) * v)
    more = more if np.sum(more > 0) <= n / 2 else -more
    second = more > 0
    second[np.argsort(-more, kind="stable")[:2]] = True
    return np.asarray(second)


class _Traits:
    """Rough fits of one trait, or of two, on grids of the same step."""

    def __init__(self, n: int) -> None:
        axis = np.linspace(-WIDTH, WIDTH, NODES)
        self.x = np.stack(np.meshgrid(*[axis] * n, indexing="ij"), axis=-1).reshape(-1, n)
        self.log_weights = log_prior(self.x)

    def fitted(
        self, curve: Curve, answers: Answers, mask: np.ndarray | None = None, start: np.ndarray | None = None
    ) -> np.ndarray:
        """Coordinates of the items (items, p); all measure the trait where there is no mask."""
        mask = np.ones((len(answers.items), 1), dtype=bool) if mask is None else mask
        return calibrate(curve, answers, mask, max_iter=ROUNDS, tol=TOL, start=start, x=self.x).coordinates

    def _people(self, curve: Curve, answers: Answers, c: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Curves (items, k, R), log p of each answer at the nodes (n, k), and weights (people, k)."""
        p = curve(c, self.x)[0]
        logs = np.log(np.maximum(p[answers.item, :, answers.answer], 1e-300))
        joint = np.tile(self.log_weights, (len(answers.people), 1))
        np.add.at(joint, answers.person, logs)
        w = np.exp(joint - joint.max(axis=1, keepdims=True))
        return p, logs, w / w.sum(axis=1, keepdims=True)

    def expected(self, curve: Curve, answers: Answers, c: np.ndarray) -> np.ndarray:
        """(people, items) E[y | x] at the posterior mean of x, as Yen has it."""
        _, _, w = self._people(curve, answers, c)
        p = curve(c, w @ self.x)[0]
        return np.asarray(np.moveaxis(p @ np.arange(p.shape[2]), 0, 1))

    def log_probabilities(self, curve: Curve, answers: Answers, c: np.ndarray) -> np.ndarray:
        """(n,) log probability of each answer given the person's others: 1 / p = sum_k w_k / p(y | x_k)."""
        _, logs, w = self._people(curve, answers, c)
        return np.asarray(-np.log(np.sum(w[answers.person] * np.exp(-logs), axis=1)))
