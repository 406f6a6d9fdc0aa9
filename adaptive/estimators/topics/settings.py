"""Parameters of `MetadataTopicModel`, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.belief import Settings
from adaptive.estimators.topics.inference.document import BRIDGE, MOMENTS, NEWTON

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["TopicSettings"]

STEPS = {"newton": NEWTON, "laplace_bridge": BRIDGE, "moment_bridge": MOMENTS}


@dataclass(frozen=True, eq=False)
class TopicSettings(Settings):
    """As of `MetadataTopicModel`."""

    n_topics: int
    word_prior: float | None
    topic_prior: float
    document_variance: float | str | None
    weight_variance: float | None
    document_step: str
    regression: str
    learning: str
    word_decay: float
    decay_every: int
    weight_forgetting: float
    max_iter: int
    tol: float
    n_init: int
    random_state: RandomState

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        checks.integer("n_topics", self.n_topics, minimum=2)
        for name in ("word_prior", "topic_prior", "document_variance", "weight_variance"):
            value = getattr(self, name)
            if name == "document_variance" and isinstance(value, str):
                checks.choice("document_variance", value, ("completion",))
            elif value is not None or name == "topic_prior":
                checks.positive(name, value)
        checks.choice("document_step", self.document_step, STEPS)
        checks.choice("regression", self.regression, ("factorized", "dense"))
        checks.choice("learning", self.learning, ("batch", "single_pass"))
        if self.document_variance == "completion" and self.learning == "single_pass":
            raise ValueError("document_variance='completion' is chosen in batch; give a number, or None.")
        for name in ("word_decay", "weight_forgetting"):
            if not 0 < float(checks.positive(name, getattr(self, name))) <= 1:
                raise ValueError(f"{name} must be in (0, 1], got {getattr(self, name)}.")
        checks.integer("decay_every", self.decay_every, minimum=1)
        checks.integer("max_iter", self.max_iter, minimum=1)
        checks.positive("tol", self.tol, or_zero=True)
        checks.integer("n_init", self.n_init, minimum=1)

    @property
    def step(self) -> int:
        """The number of the document's step."""
        return STEPS[self.document_step]

    def seed(self) -> int:
        """One number to draw from, fixed where ``random_state`` is."""
        given = self.random_state
        if isinstance(given, (int, np.integer)):
            return int(given)
        return int(checks.generator(given).integers(2**62))

    def prior_variance(self, typical: int) -> float:
        """Prior variance of a weight: ``typical`` features forecast ``topic_prior`` for every topic (section 5.3)."""
        if self.weight_variance is not None:
            return float(self.weight_variance)
        return (1.0 - 1.0 / self.n_topics) / self.topic_prior / typical
