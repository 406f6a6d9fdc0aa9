"""Records of a stored node and of a roll-out, one each, in arrays that grow.

A node's children stand side by side and behind it; node 0 is the root.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

__all__ = ["NODE", "POLICIES", "ROLLOUT", "Move", "Path", "Rules"]

Move: TypeAlias = Any  # as a game names it; hashable
Path: TypeAlias = tuple[Move, ...]  # from the root to a node

NODE = np.dtype(
    [
        ("site_p", "f8"),  # of its own roll-outs, as a message to its score: exp(e g - p g^2 / 2)
        ("site_e", "f8"),
        ("up_p", "f8"),  # of all roll-outs at it and below
        ("up_e", "f8"),
        ("slope", "f8"),  # its optimal value given its score:  v = slope g + offset + noise
        ("offset", "f8"),
        ("residual", "f8"),  # variance of that noise
        ("weight", "f8"),  # probability that it decides its parent's value, at the chain's moments
        ("value", "f8"),  # the optimal value, where it is known
        ("total", "f8"),  # sum of the results of roll-outs at it and below
        ("visits", "i4"),  # how many these are
        ("parent", "i4"),
        ("first", "i4"),  # its first child
        ("count", "i4"),  # children; 0: not expanded
        ("left", "i4"),  # moves left, as far as known
        ("rollout", "i4"),  # the last of its own roll-outs, -1: none
        ("depth", "i4"),
        ("mover", "i1"),  # 0: the maximising player moves, 1: the minimising one
        ("sign", "i1"),  # of its optimal value where that is proved, else 0
        ("closed", "i1"),  # every end below was seen
        ("ended", "i1"),  # it is an end
        ("inner", "i1"),  # a child was visited
    ],
    align=True,
)

ROLLOUT = np.dtype(
    [
        ("p", "f8"),  # the site it contributes
        ("e", "f8"),
        ("result", "f8"),
        ("length", "i4"),
        ("node", "i4"),
        ("before", "i4"),  # the roll-out of the same node before it, -1: none
        ("counts", "i4"),  # 0: given up, for a node below was rolled out
    ],
    align=True,
)

POLICIES = ("optimistic", "tesauro", "thompson", "uniform", "uct", "information")


class Rules(NamedTuple):
    """The numbers that compiled passes need."""

    root_mean: float
    root_variance: float
    step: float  # variance of a step of the score
    drift: tuple[float, float]  # mean of a step by the maximising and by the minimising player
    values: bool  # results are numbers, not signs
    coherent: bool
    policy: int
    deviations: float
