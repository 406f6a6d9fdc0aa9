"""The scripts that break things on purpose: quick modes, and that they tell a fault from a refusal."""

from __future__ import annotations

import json
import time
import warnings

import numpy as np
import pytest

from adaptive import checks
from experiments.robustness import files
from experiments.robustness.common import Tried, added, apart, counted, one_table, tried
from experiments.robustness.mutations import mutated
from experiments.script import Script


def test_files_in_quick_mode(tmp_path):
    files.run(Script("experiments/robustness/files.py", tmp_path, quick=True))
    (judged,) = json.loads((tmp_path / "claims.json").read_text())
    assert judged["id"] == "ours-robust-files" and judged["verdict"] == "reproduced", judged
    assert (tmp_path / "tables/robust-files.csv").exists()


def twice_warned():
    for _ in range(2):
        warnings.warn("again", stacklevel=2)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: 1, "right"),
        (lambda: checks.positive("x", -1.0), "sentence"),
        (lambda: {}["x"], "traceback"),
        (lambda: np.zeros(2) + np.zeros(3), "traceback"),  # a ValueError that nobody meant
        (lambda: 2, "wrong"),
        (lambda: time.sleep(60), "hang"),
        (lambda: len(np.ones(2**25)) and 1, "bloat"),
    ],
)
def test_what_came_of_a_call(call, kind):
    found = tried(
        call, lambda value: "not one" if value != 1 else "", seconds=0.3 if kind == "hang" else 30.0, most=1e8
    )
    assert found.kind == kind, found


def test_warnings_of_one_kind_are_counted():
    assert tried(twice_warned).warned == 2


def test_a_process_that_dies_or_hangs_is_a_fault_of_its_number_alone():
    import os
    import signal

    def one(number):
        if number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 3:
            time.sleep(60)
        return Tried("right")

    found = apart(one, range(5), seconds=3.0)
    assert [tries.kind for tries in found] == ["right", "traceback", "right", "hang", "right"]
    table = one_table({"a": counted(found), "b": added([counted(found)] * 2)}, "what")
    assert table["tries"] == [5, 10, 15] and table["hang"] == [1, 2, 3]


def test_faults_are_drawn_by_their_seed():
    content = b"a,b\n" + b"1.5,yes\n" * 50
    drawn = [[mutated(content, np.random.default_rng(k), True) for k in range(40)] for _ in range(2)]
    assert drawn[0] == drawn[1] and len(set(drawn[0])) > 30
