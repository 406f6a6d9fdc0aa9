"""Scripts on questionnaires: every step at a small size, and the helpers that judge."""

import numpy as np
import pytest

from experiments.questionnaires import (
    adaptive_tests,
    answer_tables,
    calibration_designs,
    dimension,
    evaluate,
    evaluate_batches,
    evaluate_grades,
    ordinal_figures,
    real_respondent,
)
from experiments.script import Script


@pytest.mark.parametrize(
    "script",
    [
        answer_tables,
        ordinal_figures,
        calibration_designs,
        adaptive_tests,
        real_respondent,
        dimension,
        evaluate,
        evaluate_batches,
        evaluate_grades,
    ],
)
def test_quick_modes(tmp_path, script):
    script.run(Script(script.__name__, tmp_path, quick=True))
    assert list(tmp_path.rglob("*.txt"))


def test_questions_to_a_level_are_between_whole_numbers():
    curve = np.array([0.8, 0.6, 0.5])
    assert adaptive_tests.questions_to(curve, 0.7) == pytest.approx(1.5)
    assert adaptive_tests.questions_to(curve, 0.9) == 1.0 and np.isnan(adaptive_tests.questions_to(curve, 0.1))


def test_bench():
    from experiments.benchmarks import questionnaires

    seconds, sweeps = questionnaires.sweeps(20, 5)
    assert seconds > 0 and sweeps >= 1 and questionnaires.replayed(questionnaires.problem(20, 10), 3) > 0
