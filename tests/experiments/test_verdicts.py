"""Every stored verdict is what one rule gives for the stored value; the rule does what its words say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import claims, judging, verdicts

ENTRIES = claims.load()


def test_every_stored_verdict_is_the_rules():
    differing = {}
    for entry in ENTRIES:
        if entry["verdict"] != "not run":
            by_rule = verdicts.verdict(entry["id"], entry["value"])
            if by_rule not in (None, entry["verdict"]):
                differing[entry["id"]] = (entry["verdict"], by_rule)
            assert entry["by"] == verdicts.basis(entry["id"], entry["value"]), entry["id"]
    assert not differing


def test_no_checks_are_left_of_claims_that_are_gone():
    assert set(verdicts.rules()) <= {entry["id"] for entry in ENTRIES}


def test_few_claims_are_read_by_a_person():
    read = [entry["id"] for entry in ENTRIES if isinstance(verdicts.rules().get(entry["id"]), dict)]
    assert len(read) < 0.05 * len(ENTRIES)


def test_every_target_has_its_day_and_what_it_replaced():
    for entry in ENTRIES:
        assert entry["since"] >= "2026-11-21"
        for old in entry["before"]:
            assert old["target"] != entry["target"] and old["since"] <= old["until"]


ENDS = st.tuples(st.floats(-2, 2), st.floats(0.01, 2))


@given(ENDS, st.floats(-2, 2))
def test_a_superiority_holds_if_the_whole_interval_does_and_fails_if_none_of_it_does(interval, bound):
    low, high = interval[0], interval[0] + interval[1]
    value = {"gain": [(low + high) / 2, low, high]}
    told = judging.judge({"at": ["gain"], "kind": "paired", "above": bound, "over": "heads"}, value)
    assert told == (True if low > bound else False if high < bound else None)


def test_one_run_can_refute_and_cannot_show():
    check = {"at": [], "kind": "one run", "most": 1.0}
    assert judging.judge(check, 0.5) is None and judging.judge(check, 1.5) is False


def test_a_record_gets_the_verdict_of_the_rule_whatever_the_script_says(tmp_path, monkeypatch):
    monkeypatch.setattr(verdicts, "rules", lambda: {"x": [{"at": [], "kind": "paired", "above": 0, "over": "5 heads"}]})
    told = {"claim": "c", "kind": "to judge", "target": "above 0", "script": "s.py", "results": tmp_path}
    assert claims.record("x", value=[0.1, -0.1, 0.3], verdict="reproduced", **told)["verdict"] == "could not be told"
    entry = claims.record("x", value=[0.2, 0.1, 0.3], verdict="reproduced", **told | {"target": "above -1"})
    assert entry["verdict"] == "reproduced" and entry["by"] == "95% interval over 5 heads"
    assert [old["target"] for old in entry["before"]] == ["above 0"]


@pytest.mark.parametrize("value", [{"other": 1.0}, "no number"])
def test_what_cannot_be_read_is_said(value):
    with pytest.raises(verdicts.Unreadable):
        judging.judge({"at": ["gain"], "kind": "exact", "above": 0}, value)


def test_a_ratio_to_nothing_cannot_be_read():
    check = {"at": ["ours"], "kind": "timed", "divide": ["theirs"], "most": 1.0}
    assert judging.judge(check, {"ours": 1.0, "theirs": 2.0})
    with pytest.raises(judging.Unreadable, match="ratio to 0"):
        judging.judge(check, {"ours": 1.0, "theirs": 0.0})
