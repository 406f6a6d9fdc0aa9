"""``adaptive evaluate``: a new system asked by a command, a function, a file; killed, failing, hanging.

Sixty drawn systems of two families each and 24 items; what a new one answers stands in a table that a command looks up.
"""

from __future__ import annotations

import json
import os
import sys
import time

import numpy as np
import pytest

from adaptive import Questionnaire, SequentialDesign, cli
from adaptive.cli.evaluate.calibration import Way, calibrated, held_out
from adaptive.cli.evaluate.scale import Scale
from adaptive.tables import read_responses
from tests.cli.processes import assert_same_files, columns, interrupt_after, kill_after

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="commands of a POSIX shell")

N_ITEMS = 24
QUICK = ("--model", "two_parameter")


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """The folder of a table of earlier systems, of the answers of two new ones, and of a cache."""
    folder = tmp_path_factory.mktemp("evaluate")
    rng = np.random.default_rng(0)
    ability, difficulty = rng.standard_normal(62), np.linspace(-2, 2, N_ITEMS)
    ability[60:] = 0.3, -1.0
    chance = 1 / (1 + np.exp(-1.5 * (ability[:, None] - difficulty)))
    right = (rng.random(chance.shape) < chance).astype(int)
    items = [f"q{j}" for j in range(N_ITEMS)]
    rows = [",".join(["model", "family", *items])]
    rows += [",".join([f"m{k}", f"f{k // 2}", *map(str, row)]) for k, row in enumerate(right[:60])]
    (folder / "earlier.csv").write_text("\n".join(rows) + "\n")
    pairs = list(zip(items, right[60].tolist(), strict=True))
    (folder / "new.csv").write_text("item,score\n" + "".join(f"{item},{score}\n" for item, score in pairs))
    (folder / "lookup.sh").write_text(f"""#!/bin/sh
echo "$ADAPTIVE_ITEM" >> "$ASKED"
grep "^$ADAPTIVE_ITEM," {folder}/new.csv | cut -d, -f2
""")
    (folder / "lookup.sh").chmod(0o755)
    two = "".join(f"{name},q{j},{right[60 + k, j]}\n" for k, name in enumerate("ab") for j in range(N_ITEMS))
    (folder / "two.csv").write_text("system,item,score\n" + two)
    return folder


@pytest.fixture(autouse=True)
def cache(there, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(there / "cache"))
    monkeypatch.setenv("ASKED", str(tmp_path / "asked.txt"))


def run(there, out, *options):
    return cli.run(["evaluate", str(there / "earlier.csv"), *QUICK, "--out", str(out), *map(str, options)])


def known_of(there, most):
    return calibrated(read_responses(there / "earlier.csv"), "two_parameter", Way(most), 0)


def truth(there):
    return {item: int(score) for item, score in zip(*columns(there / "new.csv").values(), strict=True)}


def test_the_sequence_is_that_of_simulate_and_of_the_loop_to_the_bit(there, tmp_path):
    assert run(there, tmp_path / "run", "--answers", there / "new.csv", "--items", 12) == 0
    path, known, said = columns(tmp_path / "run" / "path.csv"), known_of(there, 12), truth(there)
    table = np.array([[said[item] for item in known.items]], dtype=float)
    whole = known.learnt.simulate(table, 12, target="total")
    assert path["item"] == whole.items[0].tolist()
    np.testing.assert_allclose(list(map(float, path["score"])), known.points(whole.mean[0]), rtol=1e-11)
    loop = SequentialDesign(
        known.respondent(), list(known.items), lambda query: [said[item] for item in query.labels], random_state=0
    ).run(12)
    assert path["item"] == loop.history_["label"]
    assert float(path["score"][-1]) == known.points(loop.estimator_.predict_total().mean)
    asked = columns(tmp_path / "run" / "asked.csv")
    assert list(map(float, asked["nats"])) == loop.history_["score"]


def test_by_many_abilities_the_sequence_is_that_of_simulate_too(there, tmp_path):
    arguments = ["evaluate", str(there / "earlier.csv"), "--answers", str(there / "new.csv"), "--items", "12"]
    assert cli.run([*arguments, "--out", str(tmp_path / "run")]) == 0
    path, said = columns(tmp_path / "run" / "path.csv"), truth(there)
    known = calibrated(read_responses(there / "earlier.csv"), None, Way(12), 0)
    table = np.array([[said[item] for item in known.items]], dtype=float)
    whole = known.learnt.simulate(table, 12, target="total", prior="newcomer")
    assert path["item"] == whole.items[0].tolist()
    np.testing.assert_allclose(list(map(float, path["score"])), known.points(whole.mean[0]), rtol=1e-9)
    loop = SequentialDesign(
        known.respondent(), list(known.items), lambda query: [said[item] for item in query.labels], random_state=0
    ).run(12)
    assert path["item"] == loop.history_["label"]
    assert float(path["score"][-1]) == known.points(loop.estimator_.predict_total().mean)


def test_scores_between_0_and_1_are_taken_as_they_are(tmp_path):
    rng = np.random.default_rng(1)
    ability, items = rng.standard_normal(61), [f"q{j}" for j in range(12)]
    scores = 1 / (1 + np.exp(np.linspace(-1, 1, 12) - ability[:, None] + 0.5 * rng.standard_normal((61, 12))))
    rows = [f"m{k},{','.join(map(repr, row))}" for k, row in enumerate(scores[:60].tolist())]
    (tmp_path / "earlier.csv").write_text("\n".join([",".join(["model", *items]), *rows]) + "\n")
    told = "".join(f"{item},{score!r}\n" for item, score in zip(items, scores[60].tolist(), strict=True))
    (tmp_path / "new.csv").write_text("item,score\n" + told)
    arguments = ["evaluate", str(tmp_path / "earlier.csv"), "--answers", str(tmp_path / "new.csv"), "--items", "5"]
    assert cli.run([*arguments, "--out", str(tmp_path / "run")]) == 0
    known = calibrated(read_responses(tmp_path / "earlier.csv"), None, Way(5), 0)
    assert known.learnt.response_model == "continuous"
    order = [items.index(item) for item in known.items]
    whole = known.learnt.simulate(9 * scores[60:, order], 5, target="total", prior="newcomer")
    path, asked = columns(tmp_path / "run" / "path.csv"), columns(tmp_path / "run" / "asked.csv")
    assert path["item"] == whole.items[0].tolist()
    np.testing.assert_allclose(list(map(float, path["score"])), known.points(whole.mean[0]), rtol=1e-9)
    assert list(map(float, asked["score"])) == [scores[60, items.index(item)] for item in path["item"]]
    found = columns(tmp_path / "run" / "results.csv")
    assert abs(float(found["score"][0]) - 100 * scores[60].mean()) < 8
    assert cli.run([*arguments, "--out", str(tmp_path / "again")]) == 0  # the calibration from its cache
    assert_same_files(tmp_path / "run", tmp_path / "again", ["path.csv", "results.csv"])


def test_a_command_a_function_and_a_file_lead_to_the_same_files(there, tmp_path, monkeypatch):
    (tmp_path / "mine_h41.py").write_text(
        f"from pathlib import Path\nlines = Path({str(there / 'new.csv')!r}).read_text().split()\n"
        "rows = dict(line.split(',') for line in lines)\n"
        "def answer(text, item):\n    return rows[item] == '1'\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    options = ("--items", 8, "--batch", 3)
    for name, how in {
        "command": ("--ask", there / "lookup.sh"), "function": ("--module", "mine_h41:answer"),
        "file": ("--answers", there / "new.csv"),
    }.items():  # fmt: skip
        assert run(there, tmp_path / name, *how, *options) == 0
    for other in ("function", "file"):
        assert_same_files(tmp_path / other, tmp_path / "command", ["asked.csv", "path.csv", "results.csv", "score.png"])
    asked = columns(tmp_path / "command" / "asked.csv")["item"]
    assert sorted((tmp_path / "asked.txt").read_text().split()) == sorted(asked)
    assert len(asked) == 8  # the last batch is as large as there is room


def test_a_killed_run_asks_nothing_twice_and_ends_as_if_it_never_was(there, tmp_path):
    slow = f"sleep 0.05; {there}/lookup.sh"
    given = (there / "earlier.csv", *QUICK, "--items", 12, "--batch", 2)
    assert cli.run(["evaluate", *map(str, given), "--ask", slow, "--out", str(tmp_path / "whole")]) == 0
    (tmp_path / "asked.txt").unlink()
    out = tmp_path / "killed"
    told = kill_after(3, out, "evaluate", *given, "--ask", slow, "--out", out)
    assert 3 <= told < 12
    kill_after(told + 3, out, "evaluate", "--resume", "--out", out)
    assert cli.run(["evaluate", "--resume", "--out", str(out)]) == 0
    assert_same_files(out, tmp_path / "whole", ["asked.csv", "path.csv", "results.csv", "items.csv"])
    asked = (tmp_path / "asked.txt").read_text().split()
    noted = [json.loads(line)["item"] for line in (out / "log" / "new.answers.jsonl").read_text().splitlines()]
    assert len(noted) == len(set(noted)) == 12  # no answer that was written was asked for again
    assert len(asked) - len(set(asked)) <= 4  # only what a kill found under way: two of a batch, two kills


def test_ctrl_c_ends_what_runs_and_says_how_to_go_on(there, tmp_path):
    late = f"{there}/lookup.sh; [ $(wc -l < $ASKED) -le 4 ] || (sleep 2; touch {tmp_path}/late)"
    given = (there / "earlier.csv", *QUICK, "--items", 8, "--batch", 2, "--ask", late, "--out", tmp_path / "run")
    code, _, said = interrupt_after(4, tmp_path / "run", "evaluate", *given)
    assert code == 130
    assert "stopped after " in said and " answers; continue with: adaptive evaluate --out" in said
    assert said.count("\n") == 1
    time.sleep(2.5)
    assert not (tmp_path / "late").exists()


def test_a_line_that_a_kill_cut_off_is_asked_again(there, tmp_path):
    options = ("--answers", there / "new.csv", "--items", 4)
    assert run(there, tmp_path / "run", *options) == 0
    transcript = tmp_path / "run" / "log" / "new.answers.jsonl"
    whole = transcript.read_bytes()
    transcript.write_bytes(whole + b'{"item": "q1", "sco')
    assert run(there, tmp_path / "run", *options, "--resume") == 0
    assert transcript.read_bytes() == whole


def test_an_item_that_cannot_be_answered_is_set_aside_and_the_rest_goes_on(there, tmp_path, capsys):
    first = known_of(there, 12).respondent().select(list(known_of(there, 12).items), 1)
    bad = f"q{first[0]}"
    fails = (
        f'[ "$ADAPTIVE_ITEM" = {bad} ] && exit 4; [ "$ADAPTIVE_ITEM" = q3 ] && echo what? && exit; {there}/lookup.sh'
    )
    # another item is answered in the same round, so that the first failure is no sign of a broken command
    assert run(there, tmp_path / "run", "--ask", fails, "--items", 20, "--batch", 2, "--timeout", 5) == 0
    aside = columns(tmp_path / "run" / "aside.csv")
    assert aside["item"][0] == bad and "code 4" in aside["why"][0]
    assert bad not in columns(tmp_path / "run" / "asked.csv")["item"]
    assert "not answered and set aside" in capsys.readouterr().out
    tried = [row for row in (tmp_path / "asked.txt").read_text().split() if row == bad]
    assert not tried  # it fails before it is looked up


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("exit 1", "the command ended with code 1"),
        ("sleep 30", "no answer within 0.2 seconds"),
        ("echo 42", "expected a score from 0 to 1, or right or wrong, got '42'"),
        ("true", "got ''"),
    ],
    ids=["fails", "hangs", "rubbish", "nothing"],
)
def test_a_command_that_never_answers_ends_the_run_in_a_sentence_and_it_goes_on(there, tmp_path, capsys, command, said):
    out = tmp_path / "run"
    options = ("--items", 3, "--attempts", 1, "--timeout", 0.2)
    assert run(there, out, "--ask", command, *options) == 1
    shown = capsys.readouterr().err
    assert said in shown and "--resume" in shown and shown.count("\n") == 1
    assert (
        cli.run(["evaluate", "--out", str(out), "--resume", "--ask", str(there / "lookup.sh"), "--timeout", "20"]) == 0
    )
    assert_no_difference(there, out, tmp_path)


def assert_no_difference(there, out, tmp_path):
    """Whatever went wrong first, the run is that of answers from a file."""
    assert run(there, tmp_path / "plain", "--answers", there / "new.csv", "--items", 3) == 0
    assert_same_files(out, tmp_path / "plain", ["asked.csv", "path.csv"])


def test_an_outage_in_the_middle_ends_the_run_and_loses_nothing(there, tmp_path, capsys):
    flaky = f"[ $(cat $ASKED 2>/dev/null | wc -l) -ge 4 ] && exit 7; {there}/lookup.sh"
    out = tmp_path / "run"
    assert run(there, out, "--ask", flaky, "--items", 10, "--attempts", 1) == 1
    assert "3 items in a row got no answer" in capsys.readouterr().err
    assert cli.run(["evaluate", "--out", str(out), "--resume", "--ask", str(there / "lookup.sh")]) == 0
    asked = columns(out / "asked.csv")["item"]
    assert len(asked) == 10
    assert len((tmp_path / "asked.txt").read_text().split()) == 10  # no answered item again


def test_a_file_is_filled_in_batch_by_batch(there, tmp_path, capsys):
    out, file, said = tmp_path / "run", tmp_path / "mine.csv", truth(there)
    assert run(there, out, "--answers", file, "--items", 5, "--batch", 2) == 0
    filled = ["item,score"]
    for _ in range(4):
        if "next:" not in capsys.readouterr().out:
            break
        filled += [f"{item},{said[item]}" for item in columns(out / "next.csv")["item"]]
        file.write_text("\n".join(filled) + "\n")
        assert cli.run(["evaluate", "--resume", "--out", str(out)]) == 0
    assert run(there, tmp_path / "at_once", "--answers", there / "new.csv", "--items", 5, "--batch", 2) == 0
    assert_same_files(out, tmp_path / "at_once", ["asked.csv", "path.csv", "results.csv"])


def test_several_systems_share_the_first_items(there, tmp_path):
    assert run(there, tmp_path / "run", "--answers", there / "two.csv", "--items", 10, "--common", 0.4) == 0
    asked = columns(tmp_path / "run" / "asked.csv")
    rows = {name: [i for s, i in zip(asked["system"], asked["item"], strict=True) if s == name] for name in "ab"}
    assert len(rows["a"]) == len(rows["b"]) == 10
    assert rows["a"][:4] == rows["b"][:4]
    assert rows["a"][4:] != rows["b"][4:]
    results = columns(tmp_path / "run" / "results.csv")
    assert results["system"] == ["a", "b"]
    table = read_responses(there / "two.csv")
    for k in range(2):
        assert float(results["low"][k]) <= 100 * table.scores[k].mean() <= float(results["high"][k])


def test_it_stops_at_the_error_and_the_calibration_is_cached(there, tmp_path, capsys):
    assert run(there, tmp_path / "run", "--answers", there / "new.csv", "--error", 6) == 0
    path = columns(tmp_path / "run" / "path.csv")
    errors = list(map(float, path["error"]))
    assert errors[-1] <= 6 < min(errors[:-1])
    assert "once for this table" in capsys.readouterr().out
    assert run(there, tmp_path / "again", "--answers", there / "new.csv", "--error", 6) == 0
    assert "learnt before" in capsys.readouterr().out
    assert_same_files(tmp_path / "again", tmp_path / "run", ["asked.csv", "path.csv", "results.csv"])


def test_earlier_runs_calibrate_too_and_a_system_is_no_judge_of_itself(there, tmp_path, capsys):
    assert run(there, tmp_path / "run", "--answers", there / "two.csv", "--items", 10) == 0
    capsys.readouterr()
    options = ("--answers", there / "earlier.csv", "--name", "m7", "--items", 4, "--learn-from", tmp_path / "run")
    assert run(there, tmp_path / "more", *options) == 0
    assert "m7 is in RESPONSES, too: it is left out there." in capsys.readouterr().out
    assert json.loads((tmp_path / "more" / "summary.json").read_text())["earlier systems"] == 61
    assert run(there, tmp_path / "none", *options[:-1], there) == 2
    assert "holds no asked.csv" in capsys.readouterr().err


def test_a_system_beyond_all_others_and_one_that_answers_oddly_are_said(there, tmp_path, capsys):
    everything = tmp_path / "everything.csv"
    everything.write_text("item,score\n" + "".join(f"q{j},1\n" for j in range(N_ITEMS)))
    assert run(there, tmp_path / "best", "--answers", everything, "--items", N_ITEMS) == 0
    assert "lies above all" in capsys.readouterr().out
    arguments = ["evaluate", str(there / "earlier.csv"), "--answers", str(everything), "--items", "12"]
    assert cli.run([*arguments, "--out", str(tmp_path / "abilities")]) == 0
    better = float(columns(tmp_path / "abilities" / "results.csv")["better"][0])
    assert better > 0.5 and f"with probability {better:.2f} new answers more of all" in capsys.readouterr().out
    backwards = tmp_path / "backwards.csv"
    backwards.write_text("item,score\n" + "".join(f"q{j},{int(j >= N_ITEMS / 2)}\n" for j in range(N_ITEMS)))
    assert run(there, tmp_path / "odd", "--answers", backwards, "--items", N_ITEMS) == 0
    assert "answers oddly" in capsys.readouterr().out
    results = columns(tmp_path / "odd" / "results.csv")
    assert float(results["fit"][0]) < -3
    assert float(results["score"][0]) == pytest.approx(50)  # all was asked


def test_items_much_easier_for_one_family_are_listed(tmp_path):
    rng = np.random.default_rng(1)
    ability, difficulty = rng.standard_normal(200), np.linspace(-1, 1, 12)
    right = rng.random((200, 12)) < 1 / (1 + np.exp(-1.5 * (ability[:, None] - difficulty)))
    right[:20, 11] = True  # leaked to the first family
    rows = ["system,family," + ",".join(f"q{j}" for j in range(12))]
    rows += [f"s{k},f{k // 20}," + ",".join(str(int(one)) for one in row) for k, row in enumerate(right)]
    (tmp_path / "table.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "new.csv").write_text("item,score\n" + "".join(f"q{j},{j % 2}\n" for j in range(12)))
    arguments = [
        "evaluate",
        str(tmp_path / "table.csv"),
        *QUICK,
        "--answers",
        str(tmp_path / "new.csv"),
        "--items",
        "3",
    ]
    assert cli.run([*arguments, "--out", str(tmp_path / "run")]) == 0
    found = columns(tmp_path / "run" / "contaminated.csv")
    assert list(zip(found["family"], found["item"], strict=True)) == [("f0", "q11")]


def test_benchmarks_gaps_and_graded_scores(there, tmp_path, capsys):
    """A long table with gaps and scores in thirds, of two benchmarks."""
    rng = np.random.default_rng(2)
    ability, difficulty = rng.standard_normal(80), np.linspace(-1.5, 1.5, 16)
    rows = ["system,item,score,benchmark"]
    for k, a in enumerate(ability):
        for j, b in enumerate(difficulty):
            if rng.random() < 0.85 or k == 79:
                level = rng.binomial(3, 1 / (1 + np.exp(-1.5 * (a - b))))
                rows.append(f"s{k},q{j},{level / 3:.6f},{'math' if j % 2 else 'law'}")
    (tmp_path / "long.csv").write_text("\n".join(rows) + "\n")
    out = tmp_path / "run"
    arguments = ["evaluate", str(tmp_path / "long.csv"), "--answers", str(tmp_path / "long.csv"), "--name", "s79"]
    assert cli.run([*arguments, "--items", "6", "--out", str(out)]) == 0
    summary = json.loads((out / "summary.json").read_text())
    (system,) = summary["systems"]
    assert summary["model"].startswith("partial_credit model of ")
    assert set(system["benchmarks"]) == {"math", "law"}
    parts = [part["score"] for part in system["benchmarks"].values()]
    assert np.mean(parts) == pytest.approx(system["score"], abs=1e-6)
    table = read_responses(tmp_path / "long.csv")
    whole = 100 * table.scores[table.systems.index("s79")].mean()
    assert system["low"] - 5 <= whole <= system["high"] + 5


def test_nobody_held_out_shares_a_family_or_a_copy_with_those_who_teach(there):
    table = read_responses(there / "earlier.csv")
    copy = table.rows([*range(60), 4]).units()
    assert copy[60] == copy[4]
    teach, judge = held_out(table, 0)
    assert not set(np.array(table.families)[teach]) & set(np.array(table.families)[judge])
    assert set(teach) | set(judge) <= set(range(60)) and len(judge) >= 10
    few_teach, few_judge = held_out(table.rows(range(20)), 0)
    assert len(few_teach) == len(few_judge) == 20


def test_scales_are_the_coarsest_that_hold_the_scores():
    levels = [Scale.of(np.array(one)).levels for one in ([0, 1], [1.0], [0, 0.5, 1], [0, 1 / 3], [0.1234, 0.9])]
    assert levels == [2, 2, 3, 4, 10]
    assert Scale(10).code(0.5) in (4, 5) and Scale(10, True).code(0.55) == pytest.approx(4.95)
    fine = np.array([0.1234, 0.9])
    assert Scale.of(fine).between and not Scale.of(fine, rounded=True).between


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "say how items are asked: --ask COMMAND, --module FUNCTION or --answers FILE."),
        (("--ask", "true", "--module", "a:b"), "items are asked in one way only"),
        (("--ask", "true", "--items", 0), "--items must be at least 1"),
        (("--ask", "true", "--error", -1), "--error must be greater than 0"),
        (("--ask", "true", "--common", 2), "--common must be a share"),
        (("--ask", "true", "--model", "ordinal"), "--model must be one of"),
        (("--ask", "true", "--name", "a", "--name", "a"), "--name a is there twice"),
        (("--ask", "true", "--column", "who=model"), "--column must be KIND=NAME"),
        (("--ask", "true", "--column", "item=nothing"), "has no column 'nothing'"),
        (("--module", "no.such:thing"), "cannot be imported"),
        (("--answers", "OTHER"), "names none of the items"),
    ],
    ids=lambda one: "" if isinstance(one, str) else "_".join(map(str, one)) or "nothing",
)
def test_what_is_wrong_is_one_sentence(there, tmp_path, capsys, options, said):
    (tmp_path / "other.csv").write_text("item,score\nx1,1\n")
    options = [str(tmp_path / "other.csv") if one == "OTHER" else one for one in options]
    assert run(there, tmp_path / "run", *options) == 2
    shown = capsys.readouterr().err
    assert said in shown and shown.count("\n") == 1
    assert not (tmp_path / "run" / "settings.json").exists()


def test_a_table_without_two_systems_is_refused(tmp_path, capsys):
    (tmp_path / "one.csv").write_text("model,q1,q2\na,1,0\n")
    arguments = ["evaluate", str(tmp_path / "one.csv"), "--ask", "true", "--out", str(tmp_path / "run")]
    assert cli.run(arguments) == 2
    assert "two systems and two items at least, got 1 and 2" in capsys.readouterr().err
    assert not os.path.exists(tmp_path / "run" / "settings.json")


def test_the_band_is_that_of_the_questionnaire(there):
    known = known_of(there, 8)
    table = known.scale.codes(known.judges.scores)
    assert isinstance(known.learnt, Questionnaire)
    np.testing.assert_allclose(known.band.off, known.learnt.total_band(table, 8, target="total").off, atol=1e-9)


@pytest.mark.parametrize(
    ("way", "usual"), [(Way(20), True), (Way(20, common=0.02), True), (Way(20, common=0.1), False), (Way(20, 2), False)]
)
def test_a_way_is_the_usual_one_where_each_item_is_chosen(way, usual):
    assert way.usual is usual


def test_the_band_is_of_judges_asked_in_the_same_batches(there):
    table = read_responses(there / "earlier.csv")
    known = calibrated(table, "two_parameter", Way(7, batch=3, common=0.3), 5)
    items = list(known.items)
    same = known.respondent().select(items, 2, random_state=5).tolist()
    judge, asked = known.scale.codes(known.judges.scores)[1], []
    person = known.respondent()
    for round_, n in enumerate((2, 3, 2)):  # what is the same for all comes first, in a query of its own
        left = [j for j in range(len(items)) if j not in asked]
        seed = int(np.random.SeedSequence(5, spawn_key=(1, round_)).generate_state(1)[0])
        at = same if not asked else [left[k] for k in person.select([items[j] for j in left], n, random_state=seed)]
        person.partial_fit([items[j] for j in at], judge[at].astype(int))
        asked += at
    assert known.asked[1].tolist() == asked
    assert (known.mean[1, -1], known.std[1, -1]) == pytest.approx(person.predict_total()[:2], abs=1e-12)
    usual = calibrated(table, "two_parameter", Way(7), 5)
    assert usual.judges.systems == known.judges.systems and (usual.asked != known.asked).any()
