"""The scripts on models that users bring: their quick modes, and what they judge."""

import numpy as np
import pytest

from experiments.any_model import two_sources, two_steps
from tests.experiments.scripts import quick_entries

JUDGED = {
    "first_point": {"ours-bridge-minutes"},
    "honest_loop": {"ours-any-model-calibration"},
    "instrument_settings": {"ours-any-model-instruments", "ours-any-model-instruments-utilities"},
    "laboratories": set(),  # the peers are asked in full mode only; that the page's code compiles is tried
    "laboratory_pages": set(),  # so do the scripts of the gallery
    "settings_to_a_deviation": {"ours-bridge-settings", "ours-bridge-settings-default", "ours-bridge-decision-time",
                                "ours-bridge-screening"},
    "second_peak": {
        f"ours-any-model-second-peak{which}" for which in ("", "-asked", "-random", "-spread", "-cost")
    },
    "simulated_loop": {"ours-any-model-calibration-simulator"},
    "two_sources": {"ours-any-model-two-sources", "ours-any-model-two-sources-random"},
    "two_steps": {"ours-any-model-two-steps"},
}  # fmt: skip


@pytest.mark.parametrize("name", JUDGED)
def test_a_script_runs_in_quick_mode(name, tmp_path):
    assert set(quick_entries(name, tmp_path)) == JUDGED[name]


def test_greedy_about_the_sign_never_aligns_and_two_steps_ahead_does():
    belief = two_steps.model().predictive(two_steps.SETTINGS, target=two_steps.sign)
    greedy = belief.outcome_entropy - belief.expected_entropy
    assert greedy.argmax() == two_steps.LOOK and greedy[two_steps.ALIGN] == pytest.approx(0.0, abs=1e-12)
    assert two_steps.two_steps(belief).argmax() == two_steps.ALIGN


def test_bounds_of_a_history_enclose_its_information():
    """In the mean over histories; a hundred times as many draws stand in for the exact one."""
    found = np.array([two_sources.random_run(k, 400)["bounds"] for k in range(16)])
    exact = np.array([two_sources.random_run(k, 20_000)["bounds"] for k in range(16)])
    assert found[:, 0].mean() < exact.mean() < found[:, 1].mean()
