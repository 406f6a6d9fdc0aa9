"""Errors of plans: the plan scores best of what is tried, and a poor design gives way to a rule."""

import numpy as np

from adaptive.cli.kspace.plan_errors import EQUISPACED, PLAN, RULE, planned_lines
from adaptive.cli.kspace.values import Known
from adaptive.images import head_scan, padded
from designs import kspace

HEAD, OTHER = (padded(head_scan()[k].image, 128).reshape(16, 8, 16, 8).mean(axis=(1, 3)) for k in (12, 8))
SETTINGS = {"initial": 6, "axis": 0, "snr": 50.0, "phase": "central", "seed": 0}


def test_a_poor_design_gives_way_to_the_best_rule_and_that_is_said():
    known = Known([HEAD], "mine", True)
    poor = np.r_[5:11, 0, 1]
    found = planned_lines(known, poor, 6, SETTINGS, 1)
    assert not found.own and found.n_central == 6 and list(found.expected) == [PLAN, "as designed", EQUISPACED]
    assert found.expected[PLAN].error < found.expected["as designed"].error
    np.testing.assert_array_equal(found.lines[:6], kspace.central(16, 6))
    said = found.said("by chance")
    assert said.startswith("A design by chance was not ahead: the plan is the best rule's, ")
    assert str(found.expected[PLAN]) in said and "variants of it" in said
    again = planned_lines(known, found.lines, 6, SETTINGS, 2)  # the winner as the design that was made
    assert again.expected[PLAN].error == found.expected[PLAN].error


def test_a_plan_from_other_heads_is_tried_on_their_slices():
    found = planned_lines(Known([HEAD, OTHER], "two", False), np.r_[5:11, 4, 3], 6, SETTINGS, 1)
    assert found.scans == "4 simulated scans of slices of other heads" and len(found.lines) == 8
    assert set(found.expected) - {RULE, "as designed"} == {PLAN, EQUISPACED}
