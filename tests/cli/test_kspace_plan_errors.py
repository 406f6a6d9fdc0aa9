"""Errors of plans: the plan scores best of what is tried, and a poor design gives way to a rule."""

import numpy as np

from adaptive.cli.kspace import plan_errors
from adaptive.cli.kspace.plan_errors import EQUISPACED, LOW_PASS, PLAN, RULE, planned, planned_shots
from adaptive.cli.kspace.values import Known
from adaptive.images import head_scan, padded
from designs import kspace
from designs.kspace.from_images import halving, portfolio

HEAD, OTHER = (padded(head_scan()[k].image, 128).reshape(16, 8, 16, 8).mean(axis=(1, 3)) for k in (12, 8))
SETTINGS = {"initial": 6, "axis": 0, "snr": 50.0, "phase": "central", "seed": 0}


def test_a_poor_design_gives_way_to_the_best_rule_and_that_is_said():
    known = Known([HEAD], "mine", True)
    poor = np.r_[5:11, 0, 1]
    found = planned(known, poor, 6, SETTINGS, 1)
    assert not found.own and found.n_central == 6 and list(found.expected) == [PLAN, "as designed", EQUISPACED]
    assert found.expected[PLAN].error < found.expected["as designed"].error
    np.testing.assert_array_equal(found.design[:6], kspace.central(16, 6))
    said = found.said("by chance")
    assert said.startswith("A design by chance was not ahead: the plan is the best rule's, ")
    assert str(found.expected[PLAN]) in said and "variants of it" in said
    again = planned(known, found.design, 6, SETTINGS, 2)  # the winner as the design that was made
    assert again.expected[PLAN].error == found.expected[PLAN].error


def test_a_plan_from_other_heads_is_tried_on_their_slices():
    found = planned(Known([HEAD, OTHER], "two", False), np.r_[5:11, 4, 3], 6, SETTINGS, 1)
    assert found.scans == "4 simulated scans of slices of other heads" and len(found.design) == 8
    assert set(found.expected) - {RULE, "as designed"} == {PLAN, EQUISPACED}


def test_points_are_tried_beside_discs_and_densities(monkeypatch):
    """A poor design gives way; the points around DC are beside it."""
    monkeypatch.setattr(portfolio, "DENSITIES", (2.0,))
    monkeypatch.setattr(halving, "LEFT", (2, 1, 1))
    monkeypatch.setattr(halving, "LAST", 1)
    poor = np.random.default_rng(0).permutation(np.argwhere(np.ones((16, 16), bool)))
    block = kspace.central_encodes((16, 16), 16)
    points = np.concatenate([block, poor[~(poor[:, None] == block).all(-1).any(1)][:44]])
    found = planned(Known([HEAD], "mine", True), points, 16, SETTINGS | {"initial": 4}, 1)
    assert not found.own and found.design.shape == points.shape and found.n_central == 16
    assert list(found.expected) == [PLAN, "as designed", LOW_PASS]
    assert found.expected[PLAN].error < found.expected["as designed"].error
    assert "low pass" in found.said("by chance")


def test_lines_are_exchanged_where_that_is_asked_and_confirmed():
    known, settings = Known([HEAD], "mine", True), SETTINGS | {"exchanges": 6}
    plain, tried = (planned(known, np.r_[5:11, 4, 11], 6, one, 1) for one in (SETTINGS, settings))
    assert plain.exchanged is None and "Exchanged" not in plain.said("so")
    changed = set(plain.design.tolist()) ^ set(tried.design.tolist())
    assert bool(changed) == bool(tried.exchanged) and len(tried.design) == 8
    words = "no line" if not tried.exchanged else f"{tried.exchanged} line"
    assert f"Exchanged for others, as fresh scans confirmed: {words}" in tried.said("so")
    if tried.exchanged:  # what is expected is by the scans that confirmed
        assert tried.expected[PLAN].error < 1.05 * plain.expected[PLAN].error
    else:
        assert tried.expected == plain.expected


def test_shots_are_tried_beside_equispaced_and_golden_angles(monkeypatch):
    """Bunched ones give way; golden ones are a rule, and tried once."""
    monkeypatch.setattr(plan_errors, "VARIANTS", 2)
    settings, known = SETTINGS | {"trajectory": "spokes"}, Known([HEAD], "mine", True)
    found = planned_shots(known, kspace.spokes((16, 16), np.linspace(0, 0.5, 7)), 2, settings, 1)
    assert not found.own and list(found.expected) == [PLAN, "as designed", "equispaced angles"]
    golden = kspace.golden_angles(7, np.pi)
    rules = {"equispaced angles": kspace.equispaced_angles(7, np.pi), "golden angles": golden}
    np.testing.assert_allclose(found.design.angles, rules[found.expected[PLAN].design])
    assert found.expected[PLAN].error < found.expected["as designed"].error
    assert "A design by chance was not ahead" in found.said("by chance")
    again = planned_shots(known, kspace.spokes((16, 16), golden), 0, settings, 1)
    assert again.expected[PLAN] == found.expected[PLAN]
    assert again.own == (again.expected[PLAN].design == "golden angles") and len(again.expected) == 3
