"""The estimators that must keep the contract, a file per family: every test of ``test_contract.py`` applies to each.

A new estimator is one entry of ``CASES`` in the file of its family, and one line in ``scored_by.txt``, in the order of
``CASES``, which the first run of its tests prints; a new family is a file, and its name below. Of counts keep outcomes
to about 30: joint batches go through tables of them.
"""

from __future__ import annotations

from pathlib import Path

from tests.contract.case import Case
from tests.contract.cases import (
    counts,
    game_trees,
    gaussian_process,
    imaging,
    linear,
    pairs,
    particles,
    preferences,
    questionnaires,
    sequences,
    topics,
    toys,
    views,
)

__all__ = ["CASES", "SCORED_BY", "Case"]

FAMILIES = [
    toys,
    views,
    linear,
    gaussian_process,
    counts,
    pairs,
    preferences,
    sequences,
    topics,
    game_trees,
    questionnaires,
    particles,
    imaging,
]
CASES: list[Case] = [case for family in FAMILIES for case in family.CASES]

#: The scorers that each estimator's predictive has the fields for: what one of them loses or gains is seen here.
SCORED_BY = {
    name: served.split()
    for name, served in (
        line.split(": ")
        for line in (Path(__file__).parents[1] / "scored_by.txt").read_text(encoding="utf-8").splitlines()
    )
}
