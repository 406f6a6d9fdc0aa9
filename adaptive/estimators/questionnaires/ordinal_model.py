"""The ordinal model: thresholds of people and of items add, and an answer says between which an opinion lies.

Settings of the model as the compiled loops want them, and loopy expectation propagation over a table of answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from adaptive.estimators.questionnaires.answers import Answers
from adaptive.inference.step_factors import step_factors

__all__ = ["OrdinalFit", "OrdinalModel", "fit_ordinal"]


@dataclass(frozen=True)
class OrdinalModel:
    """What is fixed of the model.

    Attributes
    ----------
    n_categories, n_traits : int
    styles : "both", "items" or "people"
        Whose thresholds are unknown; those of the others are zero.
    response : "all" or "adjacent"
        Which thresholds an answer speaks of.
    threshold_noise : float, beta
    trait_scale : float
        Prior standard deviation of a trait, in units of that of a threshold.
    """

    n_categories: int
    n_traits: int = 1
    styles: str = "both"
    response: str = "all"
    threshold_noise: float = 0.2
    trait_scale: float = 1.0

    @property
    def levels(self) -> int:
        """Thresholds."""
        return self.n_categories - 1

    @property
    def n_style(self) -> int:
        """Thresholds of a person."""
        return self.levels if self.styles != "items" else 0

    @property
    def learns_items(self) -> bool:
        """Whether items have thresholds."""
        return self.styles != "people"

    @cached_property
    def steps(self) -> tuple[np.ndarray, np.ndarray]:
        """Directions (R, L, L + 1) of each answer's steps on (h, y), and how many there are."""
        n, levels = self.n_categories, self.levels
        directions, counts = np.zeros((n, levels, levels + 1)), np.zeros(n, dtype=np.int64)
        for r in range(n):
            used = [k for k in range(levels) if self.response == "all" or k in (r - 1, r)]
            counts[r] = len(used)
            for row, k in enumerate(used):
                sign = 1.0 if k < r else -1.0
                directions[r, row, levels], directions[r, row, k] = sign, -sign
        return directions, counts

    @cached_property
    def ordered(self) -> tuple[np.ndarray, np.ndarray]:
        """Sites (precisions, shifts) of the ordering prior of one vector of thresholds."""
        from adaptive.inference.dense.step_kernel import propagate

        rows, m, V = self.order_directions(self.levels), np.zeros(self.levels), np.eye(self.levels)
        precisions, shifts = np.zeros(len(rows)), np.zeros(len(rows))
        propagate(m, V, rows, np.zeros(len(rows)), precisions, shifts, 200, 1e-12)
        return precisions, shifts

    def order_directions(self, d: int) -> np.ndarray:
        """(L - 1, d) differences of neighbouring thresholds, which stand first among d unknowns."""
        rows = np.zeros((max(self.levels - 1, 0), d))
        for k in range(len(rows)):
            rows[k, k], rows[k, k + 1] = -1.0, 1.0
        return rows

    def item_prior(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of an item's thresholds before any answer."""
        if not self.learns_items:
            return np.zeros(self.levels), np.zeros((self.levels, self.levels))
        m, V = np.zeros(self.levels), np.eye(self.levels)
        rows = self.order_directions(self.levels)
        return step_factors(m, V, rows)[1:] if len(rows) else (m, V)

    def person_prior(self, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Precision and shift of (style, traits) before order and answers; ``prior`` (traits, 2) in trait scales."""
        d = self.n_style + self.n_traits
        P, e = np.eye(d), np.zeros(d)
        for k in range(self.n_traits):
            at = self.n_style + k
            P[at, at] = 1.0 / (self.trait_scale * prior[k, 1]) ** 2
            e[at] = P[at, at] * self.trait_scale * prior[k, 0]
        return P, e


class OrdinalFit(NamedTuple):
    """People and items after loopy EP.

    Attributes
    ----------
    means, covariances : (people, d), (people, d, d) arrays, of (style, traits)
    item_means, item_covariances : (items, L), (items, L, L) arrays
    prequential : (answers,) array, log probability of each answer given all others, in the order of the answers
    trace : list of float, the largest change of each sweep
    skipped : int
    converged : bool
    """

    means: np.ndarray
    covariances: np.ndarray
    item_means: np.ndarray
    item_covariances: np.ndarray
    prequential: np.ndarray
    trace: list[float]
    skipped: int
    converged: bool


def fit_ordinal(
    model: OrdinalModel,
    answers: Answers,
    traits: np.ndarray,
    trait_noise: np.ndarray,
    *,
    items: tuple[np.ndarray, np.ndarray] | None = None,
    prior: np.ndarray | None = None,
    max_iter: int = 30,
    tol: float = 0.02,
    damping: float = 0.9,
    evidence: bool = False,
) -> OrdinalFit:
    """Loopy EP over all answers; with ``items`` (means, covariances) these stand still and people are learnt alone.

    A sweep updates every person against the items as they were before it, so that no order of people matters.

    Parameters
    ----------
    model : OrdinalModel
    answers : Answers
    traits : (items,) array of int
    trait_noise : (items,) array, tau
    items : pair of arrays, optional
    prior : (traits, 2) array, optional
    max_iter, tol
        Sweeps, and the largest change, in posterior standard deviations, at which they end.
    damping : float
        Share of a message that is renewed.
    evidence : bool
        Whether to compute the prequential evidence, R more inner runs per answer.
    """
    from adaptive.estimators.questionnaires import ordinal_kernel as kernel

    ordered, starts = answers.by_person()
    order = np.lexsort((answers.item, answers.person))
    levels, d, s = model.levels, model.n_style + model.n_traits, model.n_style + 1
    n_people, n_items = len(answers.people), len(answers.items)
    directions, counts = model.steps
    prior_P, prior_e = model.person_prior(np.tile([0.0, 1.0], (model.n_traits, 1)) if prior is None else prior)
    rows = model.order_directions(d) if model.n_style else np.zeros((0, d))
    order_p, order_e = (np.tile(site[: len(rows)], (n_people, 1)) for site in model.ordered)
    to_person = np.zeros((len(answers), kernel.packed_size(s)))
    learning = items is None and model.learns_items
    to_item = np.zeros((len(answers), kernel.packed_size(levels)) if learning else (len(answers), 0))
    base_P = np.tile(np.eye(levels), (n_items, 1, 1))
    item_rows = model.order_directions(levels)
    item_p, item_shift = (np.tile(site, (n_items, 1)) for site in model.ordered)
    if learning:
        item_P, item_e = _with_order(base_P, np.zeros((n_items, levels)), item_rows, item_p, item_shift)
    else:  # moments, of items that stand still
        still = items or tuple(np.tile(one, (n_items, *[1] * one.ndim)) for one in model.item_prior())
        item_e, item_P = (np.ascontiguousarray(one) for one in still)
    means, covariances = np.zeros((n_people, d)), np.zeros((n_people, d, d))
    tau2, beta2 = np.asarray(trait_noise, dtype=float) ** 2, model.threshold_noise**2
    columns = (starts, ordered.item.astype(np.int64), ordered.answer.astype(np.int64), traits.astype(np.int64))
    item_mean, trace, skipped, converged = np.zeros((n_items, levels)), [], 0, False
    last = (np.zeros((n_people, model.n_traits)), item_mean)
    for _ in range(max_iter):
        sum_P, sum_e, skipped = kernel.sweep(
            *columns, prior_P, prior_e, rows, order_p, order_e, item_P, item_e, to_person, to_item, tau2, beta2,
            directions, counts, model.n_style, damping, learning, means, covariances,
        )  # fmt: skip
        x = means[:, model.n_style :]
        spread = np.sqrt(np.einsum("uii->ui", covariances)[:, model.n_style :])
        change = np.max(np.abs(x - last[0]) / spread, initial=0.0)
        if learning:
            item_P, item_e = _with_order(base_P + sum_P, sum_e, item_rows, item_p, item_shift)
            for k in range(n_items):
                kernel.order(item_P[k], item_e[k], item_rows, item_p[k], item_shift[k])
            inverted = np.linalg.inv(item_P)
            item_mean = np.einsum("ilm,im->il", inverted, item_e)
            spread = np.sqrt(np.einsum("ill->il", inverted))
            change = max(change, np.max(np.abs(item_mean - last[1]) / spread, initial=0.0))
        last = (x.copy(), item_mean)
        trace.append(float(change))
        if change < tol:
            converged = True
            break
    logs = np.zeros(len(answers))
    if evidence:
        inner = np.empty(len(answers))
        kernel.prequential(
            *columns, means, covariances, item_P, item_e, to_person, to_item, tau2, beta2, directions, counts,
            model.n_style, learning, inner,
        )  # fmt: skip
        logs[order] = inner
    if learning:
        found = item_mean, np.linalg.inv(item_P)
    else:
        found = item_e, item_P
    return OrdinalFit(means, covariances, *found, logs, trace, int(skipped), converged)


def _with_order(P: np.ndarray, e: np.ndarray, rows: np.ndarray, p: np.ndarray, shift: np.ndarray) -> Any:
    """Precisions and shifts with the ordering sites of each."""
    return P + np.einsum("ik,ka,kb->iab", p, rows, rows), e + np.einsum("ik,ka->ia", shift, rows)
