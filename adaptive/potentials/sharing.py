"""Members of `Potential` where several groups are seen as one, and where T becomes T^w.

`GroupedPotential` and `Weighted` are made from this one list: a new member of `Potential` needs a line in it.

    of groups    rows       the arguments are split among the groups, the answers joined
                 column     one entry per row
                 all, any   whether all groups are so, or one is
                 common     what all groups say, None where they differ
    of T^w       same       that of T
                 times      w times that of T, part by part
    of both      own        the class writes it itself
                 default    `Potential` derives it from the others, or refuses
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MEMBERS", "Member"]


class Member(NamedTuple):
    """Form that a member takes for groups, and for T^w."""

    groups: str
    weighted: str


MEMBERS = {
    # parameters and rows
    "size": Member("own", "own"),
    "shape": Member("default", "default"),
    "name": Member("default", "own"),
    "parameters": Member("default", "own"),
    "weights": Member("own", "own"),
    "expand": Member("own", "own"),
    # what it is
    "log_concave": Member("all", "same"),
    "super_gaussian": Member("all", "same"),
    "smooth": Member("all", "same"),
    "discrete": Member("all", "same"),
    "singular": Member("any", "same"),
    "kinks": Member("own", "same"),
    "support": Member("own", "same"),
    "location": Member("column", "same"),
    "gaussian_moments": Member("own", "own"),
    # the factor
    "log_density": Member("own", "own"),
    "derivatives": Member("own", "own"),
    "third_derivative": Member("rows", "times"),
    "log_ratio": Member("rows", "times"),
    # Gaussian expectations
    "expectation": Member("rows", "times"),
    "expectation_derivatives": Member("rows", "times"),
    "tilted_moments": Member("own", "own"),
    "tilted_modes": Member("default", "default"),
    # the Gaussian bound
    "bound": Member("common", "same"),
    "tilt": Member("column", "own"),
    "tight_width": Member("rows", "own"),
    "best_width": Member("rows", "default"),
    "height": Member("rows", "own"),
    "height_derivatives": Member("rows", "own"),
    "concave_height_slope": Member("rows", "default"),
    "convex_height": Member("rows", "default"),
    "inner": Member("rows", "own"),
    "inner_minimum": Member("rows", "default"),
    # the likelihood family: several together are none, and T^w does not add up to one over the outcomes
    "outcomes": Member("default", "default"),
    "observe": Member("default", "default"),
    "sample": Member("default", "default"),
    "outcome_probabilities": Member("default", "default"),
    "outcome_entropy": Member("default", "default"),
    "expected_outcome_entropy": Member("default", "default"),
}
