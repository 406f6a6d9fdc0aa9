"""A likelihood of -1 and +1 under the user's two labels: outcomes go out, and come in, as the labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from adaptive.potentials import BernoulliLogit, BernoulliProbit

if TYPE_CHECKING:
    from adaptive.potentials.likelihood import Likelihood
    from adaptive.types import ArrayLike, RandomState

__all__ = ["LINKS", "Labelled", "labelled", "one_against_rest"]

LINKS: dict[str, type[BernoulliLogit] | type[BernoulliProbit]] = {"logit": BernoulliLogit, "probit": BernoulliProbit}


def labelled(family: Likelihood, labels: np.ndarray | None) -> Likelihood:
    """Return a family of -1 and +1 under two labels; as it is where there are not two."""
    return family if labels is None or len(labels) != 2 else cast("Likelihood", Labelled(family, labels))


def one_against_rest(table: np.ndarray) -> np.ndarray:
    """Return probabilities (..., c) of classes, each against the rest, divided by their sum."""
    table = np.maximum(table, np.finfo(float).tiny)
    return table / table.sum(axis=-1, keepdims=True)


class Labelled:
    """A Bernoulli family whose outcomes are called by other names; everything else is the family's own.

    Parameters
    ----------
    family : BernoulliLogit or BernoulliProbit, without outcomes
    labels : (2,) array
        Names of -1 and +1.

    Examples
    --------
    >>> from adaptive.potentials import BernoulliLogit
    >>> family = Labelled(BernoulliLogit(), np.array(["ham", "spam"]))
    >>> family.outcomes.tolist(), family.observe("spam").y.tolist()
    (['ham', 'spam'], 1.0)
    """

    def __init__(self, family: Likelihood, labels: np.ndarray) -> None:
        self.family, self.outcomes = family, np.asarray(labels)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("family", "outcomes"):  # not there yet while unpickling
            raise AttributeError(name)
        return getattr(self.family, name)

    def observe(self, y: ArrayLike) -> Likelihood:
        """Return the potential of the label ``y``."""
        return self.family.observe(self._signs(y))

    def log_density(self, s: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Return ln p(label | s)."""
        return self.family.log_density(s, self._signs(y))

    def sample(self, s: ArrayLike, random_state: RandomState = None) -> np.ndarray:
        """Return labels drawn at the projections ``s``."""
        return self.outcomes[(self.family.sample(s, random_state=random_state) > 0).astype(int)]

    def outcome_probabilities(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the labels and their (m, 2) probabilities."""
        return self.outcomes, self.family.outcome_probabilities(mean, variance)[1]

    def _signs(self, y: ArrayLike) -> np.ndarray:
        y = np.asarray(y)
        if y.ndim == 0:
            for sign, label in zip((-1.0, 1.0), self.outcomes, strict=True):
                if y == label:
                    return np.array(sign)
        unknown = ~np.isin(y, self.outcomes)
        if unknown.any():
            raise ValueError(f"outcome must be one of {self.outcomes.tolist()}, got {y[unknown].flat[0]!r}.")
        return np.where(y == self.outcomes[1], 1.0, -1.0)
