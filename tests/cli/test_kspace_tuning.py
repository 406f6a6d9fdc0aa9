"""The design of ``adaptive kspace``: what teaches it, what beats it, what is expected of it."""

import numpy as np
import pytest

from adaptive.cli.errors import CommandError
from adaptive.cli.kspace.line_simulation import scanned
from adaptive.cli.kspace.plan_errors import planned
from adaptive.cli.kspace.trial_setup import simulated
from adaptive.cli.kspace.tuning import Designed, Expected, ahead, design_lines, usual_centre
from adaptive.cli.kspace.values import Known, Subject
from adaptive.images import Slice, head_scan, padded
from adaptive.operators import FourierLines
from designs import kspace
from designs.kspace import central

HEAD, OTHER = (padded(head_scan()[k].image, 128).reshape(16, 8, 16, 8).mean(axis=(1, 3)) for k in (12, 8))
SETTINGS = {"lines": 8, "initial": None, "axis": 0, "snr": 50.0, "phase": "known", "reference": None, "plane": None,
            "seed": 3}  # fmt: skip


def test_a_design_is_tuned_on_the_slice_that_trains_else_on_the_slice_itself():
    same, training = Slice(HEAD, "mine"), Slice(OTHER, "slice 8")
    found = design_lines(Subject(same, None, training, "", ""), SETTINGS, 1)
    tuned = kspace.tuned_lines(OTHER, 8, snr=50, prescan=True, random_state=3)
    assert found.rule == tuned.rule and found.source == "another slice (slice 8)"
    np.testing.assert_array_equal(found.lines, tuned.lines)
    assert found.expected["design"][1:] == pytest.approx(tuned.expected)
    assert list(found.expected) == ["design"] and usual_centre(16) == 4
    alone = design_lines(Subject(same, None, None, "alone", ""), SETTINGS | {"initial": 6}, 1)
    assert alone.source == "the slice itself (mine)" and alone.n_central == 6
    assert "phase known" in alone.said(SETTINGS) and str(alone.expected["design"]) in alone.said(SETTINGS)


def test_a_rough_reader_of_the_phase_designs_and_reads():
    """Designs, judged scans and plans read the bare angle; the phase is said."""
    same = Slice(HEAD, "mine")
    settings = SETTINGS | {"phase": "rough", "initial": 6}
    found = design_lines(Subject(same, None, None, "alone", ""), settings, 1)
    assert {trial.reader for trial in found.trials} == {"estimate"}
    assert "phase the bare angle of its own centre, one coil" in found.said(settings)
    acquired = scanned(same, axis=0, n_central=6, seed=0, snr=50.0, phase="rough")
    assert acquired.model().phase == "estimate"
    block = FourierLines((16, 16), central(16, 6), 0)
    np.testing.assert_allclose(acquired.phase, np.angle(block.adjoint(acquired.scan.samples(block))), atol=1e-9)
    plan = planned(Known([HEAD], "mine", True), found.lines, 6, settings, 1)
    assert plan.expected["design"].error > 0
    shots = simulated(same, trajectory="points", axis=0, initial=4, n=60, snr=50.0, phase="rough", seed=0)
    assert shots.phase == "estimate"


def test_an_image_whose_centre_is_elsewhere_is_refused_before_anything_is_tuned():
    ramp = HEAD * np.exp(0.5j * np.pi * np.arange(16))[:, None]
    with pytest.raises(CommandError, match="kspace is not centred"):
        design_lines(Subject(Slice(ramp, "ramp"), None, None, "", ""), SETTINGS, 1)


@pytest.mark.parametrize(
    ("gain", "reference", "rule"),
    [
        ([0.08, 0.09], [0.1, 0.1], "information_gain"),
        ([0.12, 0.13], [0.1, 0.11], "rule"),
        ([0.09, 0.09], [0.08, 0.08], "reference_lines"),
    ],
)
def test_lines_by_information_or_from_a_reference_are_taken_where_their_errors_are_less(gain, reference, rule):
    expected = {"design": Expected("rule", 0.1, 0.09, 0.11), "equispaced": Expected("equispaced", 0.2, 0.1, 0.3)}
    designed = Designed(np.arange(4), 2, "rule", "a slice", np.array([0.1, 0.1]), expected, [])
    others = {
        "information_gain": (np.arange(4) + 1, np.array(gain)),
        "reference_lines": (np.arange(4) + 2, np.array(reference)),
    }
    found = ahead(designed, others)
    assert found.rule == found.expected["design"].design == rule
    assert found.lines[0] == ["rule", *others].index(rule) and found.expected["equispaced"] == expected["equispaced"]
    assert found.expected.get("best rule") == (None if rule == "rule" else expected["design"])
