"""Loopy expectation propagation over a table of answers, all items and people at once.

Answers leave open a common move of everybody's style and traits against that of the items' thresholds,

    p(r | b_u + s + b_i - s + c_t, x_ut + c_t) = p(r | b_u + b_i, x_ut),

so that sweeps, which go from people to items and back, follow it slowly: by the share of a belief that its prior makes
up. Each sweep therefore ends with a Newton step along it: where the priors, the only ones to speak of it, agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Answers
    from adaptive.estimators.questionnaires.ordinal.model import OrdinalModel

__all__ = ["OrdinalFit", "fit_ordinal"]

Naturals = tuple[np.ndarray, np.ndarray]  # precisions (n, k, k), shifts (n, k)


class OrdinalFit(NamedTuple):
    """People and items after loopy EP.

    Attributes
    ----------
    means, covariances : (people, d), (people, d, d) arrays, of (style, traits)
    item_means, item_covariances : (items, L), (items, L, L) arrays
    prequential : (answers,) array, log probability of each answer given all others, in the order of the answers
    others : (answers, R) array, log probabilities of every answer in the place of each, where asked for
    trace : list of float, the largest change of each sweep
    skipped : int
    converged : bool
    """

    means: np.ndarray
    covariances: np.ndarray
    item_means: np.ndarray
    item_covariances: np.ndarray
    prequential: np.ndarray
    others: np.ndarray
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
    others: bool = False,
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
    others : bool
        Whether to keep the probabilities of every answer that these runs find.
    """
    from adaptive.estimators.questionnaires.ordinal import kernel, messages

    order, starts = answers.by_person()
    columns = (starts, answers.item[order].astype(np.int32), answers.answer[order].astype(np.int8), np.asarray(traits))
    levels, d, s = model.levels, model.n_style + model.n_traits, model.n_style + 1
    n_people, n_items, n = len(answers.people), len(answers.items), len(answers)
    directions, counts = model.steps
    prior_P, prior_e = model.person_prior(np.tile([0.0, 1.0], (model.n_traits, 1)) if prior is None else prior)
    rows = model.order_directions(d) if model.n_style else np.zeros((0, d))
    order_p, order_e = (np.tile(site[: len(rows)], (n_people, 1)) for site in model.ordered)
    learning = items is None and model.learns_items
    to_person = np.zeros((n, messages.packed_size(s)))
    to_item = np.zeros((n, messages.packed_size(levels) if learning else 0))
    base = np.tile(np.eye(levels), (n_items, 1, 1)), np.zeros((n_items, levels))
    item_rows = model.order_directions(levels)
    item_p, item_shift = (np.tile(site, (n_items, 1)) for site in model.ordered)
    if learning:
        item_P, item_e = _with_order(base, item_rows, item_p, item_shift)
    else:  # moments, of items that stand still
        still = items or tuple(np.tile(one, (n_items, *[1] * one.ndim)) for one in model.item_prior())
        item_e, item_P = (np.ascontiguousarray(one) for one in still)
    means, covariances = np.zeros((n_people, d)), np.zeros((n_people, d, d))
    tau2, beta2 = np.asarray(trait_noise, dtype=float) ** 2, model.threshold_noise**2
    item_mean, item_cov, trace, skipped, converged = np.zeros((n_items, levels)), item_P, [], 0, False
    last = means[:, model.n_style :].copy(), item_mean
    for _ in range(max_iter):
        sum_P, sum_e, skipped = kernel.sweep(
            *columns, prior_P, prior_e, rows, order_p, order_e, item_P, item_e, to_person, to_item, tau2, beta2,
            directions, counts, model.n_style, damping, learning, means, covariances,
        )  # fmt: skip
        if learning:
            item_P, item_e = _with_order((base[0] + sum_P, sum_e), item_rows, item_p, item_shift)
            for k in range(n_items):
                kernel.order(item_P[k], item_e[k], item_rows, item_p[k], item_shift[k])
            item_cov = np.linalg.inv(item_P)
            item_cov = 0.5 * (item_cov + item_cov.swapaxes(1, 2))
            item_mean = np.einsum("ilm,im->il", item_cov, item_e)
        if learning and model.n_style:
            people = _summed((prior_P, prior_e), rows, order_p, order_e, means)
            move, moves = _common_move(people, _with_order(base, item_rows, item_p, item_shift), item_mean, traits)
            messages.carry_all(starts, columns[1], columns[3], model.n_style, move, moves, to_person, to_item)
            means += move
            item_mean = item_mean + moves
            item_e = np.einsum("ilm,im->il", item_P, item_mean)
        x = means[:, model.n_style :]
        trace.append(_change(x, last[0], covariances[:, model.n_style :, model.n_style :]))
        if learning:
            trace[-1] = max(trace[-1], _change(item_mean, last[1], item_cov))
        last = x.copy(), item_mean
        if trace[-1] < tol:
            converged = True
            break
    logs, every_log = np.zeros(n), np.zeros((n if others else 0, len(counts)))
    if evidence or others:
        kernel.prequential(
            *columns, means, covariances, item_P, item_e, to_person, to_item, tau2, beta2, directions, counts,
            model.n_style, learning, order, logs, every_log,
        )  # fmt: skip
    if not learning:
        item_mean, item_cov = item_e, item_P
    return OrdinalFit(means, covariances, item_mean, item_cov, logs, every_log, trace, int(skipped), converged)


def _change(mean: np.ndarray, before: np.ndarray, covariances: np.ndarray) -> float:
    """Largest change of a mean, in posterior standard deviations."""
    spread = np.sqrt(np.einsum("uii->ui", covariances))
    return float(np.max(np.abs(mean - before) / spread, initial=0.0))


def _with_order(naturals: Naturals, rows: np.ndarray, p: np.ndarray, shift: np.ndarray) -> Naturals:
    """Precisions and shifts with the ordering sites of each."""
    P, e = naturals
    return P + np.einsum("ik,ka,kb->iab", p, rows, rows), e + np.einsum("ik,ka->ia", shift, rows)


def _summed(prior: Naturals, rows: np.ndarray, p: np.ndarray, shift: np.ndarray, means: np.ndarray) -> Naturals:
    """Sums over people of their priors' precisions P, order included, and of the pulls e - P m."""
    P, e = prior
    n, total = len(means), means.sum(axis=0)
    pull = n * e + shift.sum(axis=0) @ rows - P @ total - np.einsum("uk,uk->k", p, means @ rows.T) @ rows
    return n * P + np.einsum("k,ka,kb->ab", p.sum(axis=0), rows, rows), pull


def _common_move(
    people: Naturals, items: Naturals, item_means: np.ndarray, traits: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The move (d,) of everybody and those (items, L) of the items, after which their priors' pulls cancel.

    Along a move z of everybody, item i moves by B_i z = 1 z_t(i) - z_style, and with priors (P, e), (Q, f)

        sum_u (e - P (m_u + z)) + sum_i B_i' (f - Q (m_i + B_i z)) = 0.
    """
    (P, pull), (Q, f) = people, items
    (n_items, levels), d = item_means.shape, len(pull)
    B = np.zeros((n_items, levels, d))
    B[:, :, :levels] = -np.eye(levels)
    B[np.arange(n_items), :, levels + traits] = 1.0
    pull = pull + np.einsum("ila,il->a", B, f - np.einsum("ilm,im->il", Q, item_means))
    move = np.linalg.solve(P + np.einsum("ila,ilm,imb->ab", B, Q, B), pull)
    return move, B @ move
