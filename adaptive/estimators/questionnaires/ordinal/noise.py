"""Noise and the scale of traits, by prequential evidence: the log probability of each answer given all others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.questionnaires.ordinal.fit import fit_ordinal
from adaptive.estimators.questionnaires.ordinal.model import OrdinalModel

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Answers
    from adaptive.estimators.questionnaires.settings import QuestionnaireSettings
    from adaptive.types import ArrayLike

__all__ = ["UNLEARNT", "chosen_noise", "fixed"]

TRAIT_NOISES = (0.5, 1.0, 2.0, 3.0, 4.0)
THRESHOLD_NOISES = (0.05, 0.2, 0.5, 1.0)
TRAIT_SCALES = (0.5, 1.0, 2.0)
FEW = 200  # people among whom noises are compared
UNLEARNT = 1.0  # trait noise before any answer


def fixed(settings: QuestionnaireSettings, n_categories: int, n_traits: int) -> OrdinalModel:
    """The model before any answer: what evidence is to choose at its defaults."""
    return OrdinalModel(
        n_categories, n_traits, settings.styles, settings.response,
        settings.threshold_noise or 0.2, settings.trait_scale or 1.0,
    )  # fmt: skip


def chosen_noise(
    settings: QuestionnaireSettings, answers: Answers, traits: np.ndarray, n_traits: int
) -> tuple[OrdinalModel, np.ndarray]:
    """The model and each item's trait noise: as given, else by prequential evidence, one after the other."""
    model = fixed(settings, len(answers.categories), n_traits)
    n_items = len(answers.items)
    if not len(answers):
        return model, np.full(n_items, UNLEARNT if settings.trait_noise == "evidence" else settings.trait_noise)
    few = _few(answers)

    def evidence(one: OrdinalModel, noise: ArrayLike) -> np.ndarray:
        tau = np.broadcast_to(np.asarray(noise, dtype=float), (n_items,))
        return fit_ordinal(one, few, traits, tau, max_iter=6, tol=0.0, evidence=True).prequential

    tau: Any = UNLEARNT if settings.trait_noise == "evidence" else float(settings.trait_noise)
    tables = {}
    if settings.trait_noise == "evidence":
        tables = {noise: evidence(model, noise) for noise in TRAIT_NOISES}
        tau = max(TRAIT_NOISES, key=lambda noise: tables[noise].sum())
    if settings.threshold_noise is None:
        models = [replace(model, threshold_noise=beta) for beta in THRESHOLD_NOISES]
        model = max(models, key=lambda one: evidence(one, tau).sum())
    if settings.trait_scale is None:
        models = [replace(model, trait_scale=scale) for scale in TRAIT_SCALES]
        model = max(models, key=lambda one: evidence(one, tau).sum())
    noise = np.full(n_items, tau)
    if settings.noise_per_item and tables:
        sums = np.array([np.bincount(few.item, weights=tables[one], minlength=n_items) for one in TRAIT_NOISES])
        noise = np.asarray(TRAIT_NOISES)[sums.argmax(axis=0)]
    return model, noise


def _few(answers: Answers) -> Answers:
    """The answers of some people, evenly spread over them by their number of answers: no order of people matters."""
    n = len(answers.people)
    if n <= FEW:
        return answers
    table = answers.table()
    order = np.lexsort(table.T[::-1])  # by what was answered
    chosen = np.sort(order[np.linspace(0, n - 1, FEW).astype(int)])
    number = np.full(n, -1)
    number[chosen] = np.arange(FEW)
    kept = number[answers.person] >= 0
    return replace(
        answers, people=tuple(answers.people[k] for k in chosen), person=number[answers.person[kept]],
        item=answers.item[kept], answer=answers.answer[kept],
    )  # fmt: skip
