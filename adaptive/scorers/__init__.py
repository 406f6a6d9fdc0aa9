"""Scorers: what a measurement is worth.  One function per file, ``(predictive, random_state) -> (m,)``, larger is
better.

This namespace is the registry: a new scorer is one file, one line below, one row in the parametrised test.
A scorer may carry two attributes: ``whole_pool = True`` if it must see all candidates at once (it is never called on a
chunk), ``ignores_outcomes = True`` if what will be answered elsewhere does not concern it (batches need no ``given``).
"""

from collections.abc import Callable
from typing import Any

from adaptive import checks
from adaptive.scorers.a_optimality import a_optimality
from adaptive.scorers.d_optimality import d_optimality
from adaptive.scorers.e_optimality import e_optimality
from adaptive.scorers.entropy import entropy
from adaptive.scorers.information_gain import information_gain
from adaptive.scorers.least_confident import least_confident
from adaptive.scorers.margin import margin
from adaptive.scorers.predictive_information_gain import predictive_information_gain
from adaptive.scorers.predictive_variance import predictive_variance
from adaptive.scorers.random import random
from adaptive.scorers.uncertainty import uncertainty
from adaptive.scorers.variational_information_gain import variational_information_gain

__all__ = [
    "a_optimality",
    "d_optimality",
    "e_optimality",
    "entropy",
    "information_gain",
    "least_confident",
    "margin",
    "predictive_information_gain",
    "predictive_variance",
    "random",
    "uncertainty",
    "variational_information_gain",
]


def get(scorer: Any) -> Callable[..., Any]:
    """Return the scorer of that name, or the callable itself.

    Parameters
    ----------
    scorer : str or callable

    Raises
    ------
    ValueError
        If the name is unknown; the message lists the known ones.

    Examples
    --------
    >>> get("entropy") is entropy
    True
    """
    if callable(scorer):
        return scorer
    return globals()[checks.choice("scorer", scorer, __all__)]
