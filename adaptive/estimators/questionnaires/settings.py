"""Parameters of `Questionnaire`, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.belief import Settings
from adaptive.estimators.questionnaires.answers import MOST
from adaptive.estimators.questionnaires.base import MOST_TOGETHER, Loadings
from adaptive.estimators.questionnaires.curves import CURVES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.estimators.questionnaires.answers import Label
    from adaptive.estimators.questionnaires.base import Traits

__all__ = ["QuestionnaireSettings"]

MODELS_OF_MANY = ("two_parameter", "three_parameter", "four_parameter", "partial_credit", "continuous")


def _are_categories(given: Sequence[int]) -> bool:
    try:
        numbers = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return False
    whole = numbers.ndim == 1 and np.isfinite(numbers).all() and not (numbers % 1).any()
    return bool(whole and 2 <= len(numbers) <= MOST and (np.diff(numbers) > 0).all())


@dataclass(frozen=True, eq=False)
class QuestionnaireSettings(Settings):
    """Parameters of `Questionnaire`, under the same names."""

    response_model: str = "ordinal"
    item_traits: Traits = None
    n_traits: int | str = 1
    categories: Sequence[int] | None = None
    reverse: Sequence[Label] = ()
    styles: str = "both"
    response: str = "all"
    trait_noise: float | str = "evidence"
    threshold_noise: float | None = 0.2
    trait_scale: float | None = 1.0
    noise_per_item: bool = False
    max_iter: int | None = None
    tol: float | None = None

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        checks.choice("response_model", self.response_model, ("ordinal", *CURVES, "continuous"))
        checks.choice("styles", self.styles, ("both", "items", "people"))
        checks.choice("response", self.response, ("all", "adjacent"))
        if self.n_traits != "held_out":
            checks.integer("n_traits", self.n_traits, minimum=1)
        if self.many_traits:
            if self.response_model not in MODELS_OF_MANY:
                raise ValueError(
                    f"n_traits={self.n_traits!r} needs response_model to be one of {', '.join(MODELS_OF_MANY)}, got "
                    f"{self.response_model!r}."
                )
            if self.item_traits is not None:
                raise ValueError(f"item_traits names the traits, so that n_traits={self.n_traits!r} cannot be learnt.")
        if self.response_model == "continuous" and self.categories is None:
            raise ValueError(
                'response_model="continuous" needs categories: the marks between which answers lie, such as range(10).'
            )
        if self.max_iter is not None:
            checks.integer("max_iter", self.max_iter, minimum=1)
        if self.tol is not None:
            checks.positive("tol", self.tol, or_zero=True)
        if self.trait_noise != "evidence":
            checks.positive("trait_noise", self.trait_noise)
        for name in ("threshold_noise", "trait_scale"):
            if getattr(self, name) is not None:
                checks.positive(name, getattr(self, name))
        if self.categories is not None and not _are_categories(self.categories):
            raise ValueError(
                f"categories must be 2 to {MOST} whole numbers in increasing order, got {self.categories!r}."
            )

    @property
    def many_traits(self) -> bool:
        """True where no grid serves: traits are many, or their number is to be found, or answers are continuous."""
        if self.n_traits == "held_out" or self.response_model == "continuous":
            return True
        return int(self.n_traits) > MOST_TOGETHER

    @property
    def scale(self) -> tuple[int, ...]:
        """The categories before any answer."""
        return (0, 1) if self.categories is None else tuple(self.categories)

    def loadings(self, items: Sequence[Label]) -> Loadings:
        """Traits that each item measures."""
        return Loadings.of(self.item_traits, int(self.n_traits), items)

    def reversed(self, items: Sequence[Label]) -> np.ndarray:
        """(items,) whether a higher answer means less of the trait."""
        turned = set(self.reverse)
        return np.array([item in turned for item in items], dtype=bool)

    def check_items(self, items: Sequence[Label]) -> None:
        """Refuse reversed items that there are not."""
        unknown = [item for item in self.reverse if item not in set(items)]
        if unknown:
            raise ValueError(f"reverse names the item {unknown[0]!r}, which has no answers.")
