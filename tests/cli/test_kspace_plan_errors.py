"""Errors of plans: the plan scores best of what is tried, and a poor design gives way to a rule."""

import numpy as np
import pytest
from scipy import stats

from adaptive.cli.kspace import plan_errors
from adaptive.cli.kspace.paired import FRESH, ratio_of
from adaptive.cli.kspace.plan_errors import EQUISPACED, LEARNT, LOW_PASS, PLAN, RULE, Planned, planned, planned_shots
from adaptive.cli.kspace.plan_picture import draw
from adaptive.cli.kspace.tuning import Expected
from adaptive.cli.kspace.values import Known, one_side
from adaptive.images import head_scan, padded
from designs import kspace
from designs.kspace.from_images import halving, portfolio

HEAD, OTHER = (padded(head_scan()[k].image, 128).reshape(16, 8, 16, 8).mean(axis=(1, 3)) for k in (12, 8))
SETTINGS = {"initial": 6, "axis": 0, "snr": 50.0, "phase": "central", "seed": 0}


def test_a_poor_design_gives_way_to_the_best_rule_and_that_is_said():
    known = Known([HEAD], "mine", True)
    poor = np.r_[5:11, 0, 1]
    found = planned(known, poor, 6, SETTINGS, 1)
    assert not found.own and found.n_central == 6
    assert found.expected.keys() - {"variable density"} == {PLAN, LEARNT, EQUISPACED}
    assert found.expected[PLAN].error < found.expected[LEARNT].error and list(found.ratios) == list(found.expected)[1:]
    np.testing.assert_array_equal(found.design[:6], kspace.central(16, 6))
    said = " ".join(found.said("by chance"))
    assert said.startswith("A design chosen by chance, had more error in the scans that chose: the plan is the simple ")
    assert str(found.expected[PLAN]) in said and "variants of the reference" in said
    for name, one in found.ratios.items():
        assert f"{one.ratio:.2f} times that of {'the ' * (name == LEARNT)}{name} (95% interval {one.low:.2f}" in said
        assert one.ratio == pytest.approx(found.expected[PLAN].error / found.expected[name].error)
    again = planned(known, found.design, 6, SETTINGS, 2)  # the winner as the design that was made
    assert again.expected[PLAN].error == found.expected[PLAN].error


def test_a_plan_from_other_heads_is_tried_on_their_slices():
    found = planned(Known([HEAD, OTHER], "two", False), np.r_[5:11, 4, 3], 6, SETTINGS, 1)
    assert found.scans == "8 simulated scans of these slices" and len(found.design) == 8
    assert set(found.expected) - {RULE, LEARNT, "variable density"} == {PLAN, EQUISPACED}


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
    assert found.expected.keys() - {"variable density"} == {PLAN, LEARNT, LOW_PASS}
    assert found.expected[PLAN].error < found.expected[LEARNT].error
    assert "low pass" in found.said("by chance")[-1]


def test_lines_are_exchanged_where_that_is_asked_and_confirmed():
    known, settings = Known([HEAD], "mine", True), SETTINGS | {"exchanges": 6}
    plain, tried = (planned(known, np.r_[5:11, 4, 11], 6, one, 1) for one in (SETTINGS, settings))
    assert plain.exchanged is None and "Exchanged" not in " ".join(plain.said("so"))
    changed = set(plain.design.tolist()) ^ set(tried.design.tolist())
    assert bool(changed) == bool(tried.exchanged) and len(tried.design) == 8
    words = "no line" if not tried.exchanged else f"{tried.exchanged} line"
    assert f"Exchanged for others, as fresh scans confirmed: {words}" in " ".join(tried.said("so"))
    if tried.exchanged:  # what is expected is by scans that neither chose nor confirmed
        assert tried.expected[PLAN].error < 1.05 * plain.expected[PLAN].error
    else:
        assert tried.expected == plain.expected


def test_shots_are_tried_beside_equispaced_and_golden_angles(monkeypatch):
    """Bunched ones give way; golden ones are a rule, and tried once."""
    monkeypatch.setattr(plan_errors, "VARIANTS", 2)
    settings, known = SETTINGS | {"trajectory": "spokes"}, Known([HEAD], "mine", True)
    found = planned_shots(known, kspace.spokes((16, 16), np.linspace(0, 0.5, 7)), 2, settings, 1)
    assert not found.own and list(found.expected) == [PLAN, LEARNT, "equispaced angles"]
    golden = kspace.golden_angles(7, np.pi)
    rules = {"equispaced angles": kspace.equispaced_angles(7, np.pi), "golden angles": golden}
    np.testing.assert_allclose(found.design.angles, rules[found.expected[PLAN].design])
    assert found.expected[PLAN].error < found.expected[LEARNT].error
    assert found.said("by chance")[0].startswith("A design chosen by chance, had more error")
    again = planned_shots(known, kspace.spokes((16, 16), golden), 0, settings, 1)
    assert again.expected[PLAN] == found.expected[PLAN]
    assert again.own == (again.expected[PLAN].design == "golden angles") and len(again.expected) == 3


def test_lines_of_a_mirrored_image_are_mirrored_where_its_phase_decides_the_side(monkeypatch):
    """Before: rules of one side of k-space knew the negative one only, whatever the phase of the reference was."""
    monkeypatch.setattr(portfolio, "EXPONENTS", (2.0, 3.0, 6.0))
    head = padded(head_scan()[12].image, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3))
    along = np.linspace(-1, 1, 32)[:, None]
    image = head * np.exp(2j * (along + along**2))
    mirror = np.roll(image[::-1], 1, axis=0)  # pixel n // 2 stays
    learnt = np.r_[13:19, 12:6:-1]
    sides = []
    for one in (image, mirror):
        found = planned(Known([one], "mine", True), learnt, 6, SETTINGS | {"snr": 100.0}, 1)
        np.testing.assert_array_equal(np.sort(found.design[:6]), np.arange(13, 19))
        sides.append(set(np.sign(found.design[6:] - 16).tolist()))
        assert "phase, noise" not in found.scans  # which is the reference's own
    assert sides == [{1}, {-1}]


def test_random_patterns_are_drawn_anew_for_every_scan_and_others_stay(monkeypatch):
    """Before: one draw for all scans, so that intervals of two seeds could exclude each other."""
    monkeypatch.setattr(portfolio, "EXPONENTS", (2.0,))
    monkeypatch.setattr(portfolio, "DENSITIES", (2.0,))
    monkeypatch.setattr(halving, "LEFT", (1, 1, 1))
    monkeypatch.setattr(halving, "LAST", 1)
    monkeypatch.setattr(plan_errors, "VARIANTS", 2)
    head = padded(head_scan()[12].image, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3))
    known, learnt = Known([head], "mine", True), np.r_[13:19, 12, 20, 10, 22]
    found, other = (planned(known, learnt, 6, SETTINGS | {"seed": seed}, 1) for seed in (0, 1))
    random = next(name for name, one in found.expected.items() if name != PLAN and "density" in one.design)
    drawn = [frozenset(one.tolist()) for one in found.patterns[random]]
    assert len(drawn) == FRESH and len(set(drawn)) > FRESH / 2
    others = (one for name, few in other.patterns.items() if name != PLAN for one in few)
    assert not set(drawn) & {frozenset(one.tolist()) for one in others}
    assert all(len(one) == 10 and {*range(13, 19)} <= one for one in drawn)
    assert {len(one) for name, one in found.patterns.items() if name != random} == {1}
    assert found.patterns.keys() == found.errors.keys() == found.expected.keys()
    for name, few in found.patterns.items():  # the first scan has the first draw
        assert found.judged[0].error(np.isin(np.arange(32), few[0])) == pytest.approx(found.errors[name][0])
    assert f"{random.removeprefix('best ')} had a new draw for every scan" in " ".join(found.said("so")).lower()
    figure = draw(known, kspace.LinePool((32, 32), found.design), 6, found, SETTINGS | {"trajectory": "lines"})
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[:3] == ["reference (true image)", "plan", "variable density"]
    ratios = found.errors[PLAN] / found.errors[random]
    k = int(np.argsort(ratios)[FRESH // 2])  # neither the best scan nor the worst
    assert titles[4:6] == [f"error {found.errors[PLAN][k]:.3f}", f"error {found.errors[random][k]:.3f}, draw {k}"]


@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ((1.0, 1.2, 1.5), "The plan ties with a simple rule (low pass); both have less error than variable density and "
                          "equispaced lines."),
        ((1.1, 1.2, 1.0), "The plan has less error than a simple rule (low pass) and variable density; it ties with "
                          "equispaced lines."),
        ((1.02, 1.04, 1.5), "The plan ties with a simple rule (low pass); it has less error than variable density and "
                            "equispaced lines."),
        ((0.9, 1.2, 1.5), "The plan has more error than a simple rule (low pass); it has less error than variable "
                          "density and equispaced lines."),
        ((1.0, 1.0, 1.0), "The plan ties with a simple rule (low pass), variable density and equispaced lines."),
    ],
)  # fmt: skip
def test_the_verdict_is_one_plain_sentence(factors, said):
    names = (PLAN, RULE, "variable density", EQUISPACED)
    errors = {name: by * np.linspace(0.1, 0.2, 8) for name, by in zip(names, (1.0, *factors), strict=True)}
    ratios = {name: ratio_of(errors[PLAN], one) for name, one in errors.items() if name != PLAN}
    expected = {name: Expected("low_pass, 8 central" if name == RULE else name, 0.1, 0.1, 0.1) for name in names}
    found = Planned(None, 8, True, expected, ratios, errors, {name: [0] for name in names}, None, "8 scans")
    assert found.verdict() == said and found.said("so")[0].startswith(said)


def test_a_ratio_of_errors_pairs_the_scans():
    """What scans share cancels; the interval is of the mean of the logarithms."""
    rng = np.random.default_rng(0)
    hard = np.exp(rng.normal(0, 1, 8))  # a scan is ten times as hard as another
    apart = rng.normal(np.log(0.9), 0.01, 8)
    found = ratio_of(hard * np.exp(apart), hard)
    limits = stats.ttest_1samp(apart, 0.0).confidence_interval(0.95)
    np.testing.assert_allclose(found, np.exp([apart.mean(), *limits]))
    assert found.high - found.low < 0.03 and found.verdict == -1
    assert ratio_of(hard, 0.9 * hard).verdict == 1 and ratio_of(hard, hard).verdict == 0
    assert ratio_of(0.98 * hard, hard).verdict == 0  # certain, and worth nothing


def test_a_plan_of_one_half_says_what_it_relies_on():
    """The outermost line of an even number, -n / 2, and the centre lie on neither side."""
    for frequencies in ([-4, 0, 1, 2], [1, 3], [-4, -3, -1, 0]):
        said = one_side(np.array(frequencies), 8, False)
        assert "All lines outside the centre lie on one side of it." in said and "either side would do" in said
    assert one_side(np.array([-3, 1, 2]), 8, False) == one_side(np.array([-4, 0]), 8, False) == ""
    assert "this side was the better one by the phase" in one_side(np.array([1]), 8, True)
