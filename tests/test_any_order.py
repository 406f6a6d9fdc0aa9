"""What `conftest.py` promises of every run: no order, no chance and no absent data set decides what passes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = """
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive import datasets

drawn = []

@pytest.fixture
def absent():
    return datasets.coal()

def test_first():
    print("numbers:", random.random(), np.random.default_rng().random())

def test_second():
    pass

@given(st.floats(0, 1))
def test_hypothesis(x):
    drawn.append(x)

def test_what_was_drawn():
    print("numbers:", drawn)

def test_without_its_data():
    datasets.coal()

def test_without_the_data_of_a_fixture(absent):
    pass
"""


def run(folder, **variables):
    """The names of the tests of two equal modules in the order in which they ran, what they drew, the last line."""
    for name in ("test_one.py", "test_two.py"):
        (folder / name).write_text(TESTS)
    others = {name: value for name, value in os.environ.items() if not name.startswith(("ADAPTIVE_", "CI"))}
    command = f"{sys.executable} -m pytest -vs -p no:cacheprovider -p conftest --rootdir {folder} {folder}".split()
    environment = {**others, "ADAPTIVE_DATA": str(folder), "PYTHONPATH": str(ROOT), **variables}
    said = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    return re.findall(r"(test_\w+)\.py::(test_\w+)", said), re.findall("numbers: (.*)", said), said.splitlines()[-1]


def test_in_any_order_the_same_is_drawn_and_what_lacks_its_data_skips(tmp_path):
    names, drawn, last = run(tmp_path)
    assert len(names) == 12 and "8 passed, 4 skipped" in last
    shuffled, again, last = run(tmp_path, ADAPTIVE_ORDER="3", CI="true")
    assert sorted(shuffled) == sorted(names) and "8 passed, 4 skipped" in last
    assert names != shuffled != names[::-1]
    assert len({module for module, _ in shuffled[:6]}) == 1  # the tests of a module stay together
    assert set(again) - {"[]"} <= set(drawn)
    backwards, others, last = run(tmp_path, ADAPTIVE_ORDER="reversed", ADAPTIVE_DRAWS="1")
    assert backwards == names[::-1] and "8 passed, 4 skipped" in last
    assert not set(others) - {"[]"} & set(drawn)
