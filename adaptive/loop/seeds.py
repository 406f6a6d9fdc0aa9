"""All random choices of a design from one seed, whatever happened in between:

seed number k of a purpose  =  SeedSequence(seed of the design, spawn_key=(purpose, k))
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["Purpose", "seed_of", "sequence"]


class Purpose(IntEnum):
    """Purpose of a seed. Logs are repeated by these numbers: new purposes take new ones."""

    INITIAL = 0  # which candidates are asked first
    QUERY = 1  # what scorers and predictives draw for query k
    SUBSET = 2  # which candidates a stopping rule looks at
    INFORMATION_LEFT = 3  # what is drawn to see how much information is left after k answers
    STABLE_PREDICTIONS = 4  # what is drawn to compare predictions; the same after every answer
    STOPPING_REPORT = 5  # which candidates a report on stopping looks at
    EXPLORATION = 6  # which questions of query k are drawn, and what they are
    PREDICTIVE_CHECK = 7  # what is drawn to see how surprising answers are


def sequence(seed: int, purpose: int, number: int) -> np.random.SeedSequence:
    """Return the seed sequence of a purpose and a number, for a design of this seed."""
    return np.random.SeedSequence(seed, spawn_key=(purpose, number))


def seed_of(random_state: RandomState) -> int:
    """Return the seed of a design as one integer, which a log can hold; None draws one.

    Examples
    --------
    >>> seed_of(3)
    3
    """
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return checks.integer("random_state", random_state, minimum=0)
    if random_state is None:
        words = np.random.SeedSequence().generate_state(4)
    elif isinstance(random_state, np.random.SeedSequence):
        words = random_state.generate_state(4)
    else:
        words = checks.generator(random_state).integers(0, 2**32, size=4, dtype=np.uint32)
    return sum(int(word) << (32 * k) for k, word in enumerate(words))
