"""The scripts on certificates, stopping and looking ahead: their quick modes, and what they judge."""

import numpy as np
import pytest

from experiments.certificates import problems, steps_ahead
from tests.experiments.scripts import quick_entries

JUDGED = {
    "design_gaps": {
        "ours-certificate-gaps", "ours-certificate-gaps-estimates", "ours-certificate-exchanges",
        "ours-certificate-cost",
    },
    "leading_eigenvalues": {"ours-certificate-leading"},
    "guide_figure": {"ours-certificate-guide"},
    "steps_ahead": {"ours-certificate-steps-ahead"},
    "stop_at_most": {"ours-certificate-at-most"},
}  # fmt: skip


@pytest.mark.parametrize("name", JUDGED)
def test_a_script_runs_in_quick_mode(name, tmp_path):
    assert set(quick_entries(name, tmp_path)) == JUDGED[name]


def test_bounds_are_above_what_designs_tell_and_random_ones_below():
    rows = np.random.default_rng(0).standard_normal((40, 1, 5))
    found = problems.bounds(problems.Problem("some", rows, 3))
    assert found["random"] < found["greedy"] <= found["with exchanges"] + 1e-12
    for name in ("greedy guarantee", "prefixes", "eigenvalues", "D-optimal relaxation", "tangent", "folded relaxation"):
        assert found[name] >= found["with exchanges"] - 1e-9, name
    assert found["folded relaxation"] <= found["D-optimal relaxation"]


def test_a_bit_alone_tells_nothing_of_whether_two_are_equal():
    from adaptive import scorers
    from adaptive.predictive import WeightedDraws

    problem = steps_ahead.parity()
    belief = WeightedDraws(np.ones(64), problem.table, [0, 1], target=problem.wanted)
    one, two = (scorers.look_ahead("information_gain", k, repeat=True)(belief, 0) for k in (1, 2))
    assert one[0] == pytest.approx(0.0, abs=1e-12) and one.argmax() == 6 and two.argmax() in (0, 1)
