"""What is typed in a terminal is the answer that is recorded."""

import io
from types import SimpleNamespace

import numpy as np
import pytest

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.cli.asking import Question, ask_person
from adaptive.loop import MaxSteps


def asked(labels, *lines):
    """What a design has learnt after these lines, and what the person saw."""
    model = BayesianLogisticRegression(classes=sorted(labels))
    design = SequentialDesign(model, np.eye(9), stop=MaxSteps(1), random_state=0)
    shown = io.StringIO()
    question = Question("which?", [str(label) for label in labels], list(labels))
    source = io.StringIO("".join(f"{line}\n" for line in lines))
    ask_person(SimpleNamespace(progress=None), design, lambda label: question, source=source, shown=shown)
    return design.history_["outcome"], shown.getvalue()


@pytest.mark.parametrize(
    ("labels", "line", "answer"),
    [
        ([0, 1], "1", 1),
        ([0, 1], "0", 0),
        ([0, 1, 2, 3], "3", 3),
        ([1, 0], "1.0", 1),
        (["no", "yes"], "yes", "yes"),
        (["no", "yes"], " YES ", "yes"),
        (["no", "yes"], "y", "yes"),
        (["no", "yes"], "1", "no"),
        (["2", "1", "many"], "1", "1"),
        (["2", "1", "many"], "m", "many"),
        (["s", "m", "l"], "s", "s"),
        (["q", "r"], "Q", "q"),
        (["skip", "keep"], "skip", "skip"),
        (["None", "nan"], "nan", "nan"),
        (["2024-01-05", "2024-01-06"], "2024-01-06", "2024-01-06"),
    ],
)
def test_an_answers_own_text_always_wins(labels, line, answer):
    outcome, _ = asked(labels, line)
    assert outcome == [answer] and type(outcome[0]) is type(answer)


def test_a_menu_of_numbers_is_numbered_by_them():
    assert "\n  0\n  1\nyour answer, s to skip, q to stop: " in asked([0, 1], "1")[1]
    assert "\n  1  no\n  2  yes\n1-2 or the answer, s to skip, q to stop: " in asked(["no", "yes"], "1")[1]


def test_what_is_not_understood_is_asked_again_with_a_guess():
    outcome, shown = asked(["billing", "sales", "sandals"], "s", "sa", "biling", "4", "", "sal")
    assert outcome == ["sales"]
    assert "'sa' may mean 'sales' or 'sandals'" in shown and "did you mean 'billing'?" in shown
    assert "a number from 1 to 3, or the answer: '4' is none of them." in shown
    outcome, shown = asked(["s", "skip", "q"], "!skip", "!s", "quit?", "q")
    assert outcome == ["q"] and "!s to skip, quit to stop" in shown
