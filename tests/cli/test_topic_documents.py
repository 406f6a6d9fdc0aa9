"""Topics of documents, and what metadata have to do with them: against regressions by hand, and without any effect."""

import csv

import numpy as np
import pytest
from scipy import stats

from adaptive.cli import run
from adaptive.cli.topics.documents import Effects


def rows(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def columns(effects, column, group):
    """(K, 3) effects with their intervals."""
    found = effects.columns()
    kept = [k for k in range(len(found["topic"])) if (found["column"][k], found["group"][k]) == (column, group)]
    return np.array([[found[name][k] for name in ("effect", "lower", "upper")] for k in kept])


@pytest.fixture(scope="module")
def shares():
    rng = np.random.default_rng(0)
    return rng.dirichlet([1.0, 2.0, 3.0], 90)


def gathered(shares, metadata, time=None, size=20):
    effects = Effects(time)
    for begin in range(0, len(shares), size):
        part = slice(begin, begin + size)
        effects.add(shares[part], {name: one[part] for name, one in metadata.items()})
    return effects


def test_an_effect_is_a_difference_of_means_with_welchs_interval(shares):
    who = np.array(["anna", "ben", "clara"])[np.arange(90) % 3]
    found = columns(gathered(shares, {"who": who}), "who", "ben")
    own, others = shares[who == "ben"], shares[who != "ben"]
    test = stats.ttest_ind(own, others, equal_var=False)
    interval = test.confidence_interval(0.9)
    wanted = np.column_stack([own.mean(axis=0) - others.mean(axis=0), interval.low, interval.high])
    np.testing.assert_allclose(found, wanted, atol=2e-6)


def test_a_trend_is_the_change_along_a_line_by_least_squares(shares):
    year = np.repeat(np.arange(1990, 1999), 10)
    found = columns(gathered(shares, {"year": year.astype(str)}, "year"), "year", "1990 to 1998")
    for k, (effect, low, high) in enumerate(found):
        line = stats.linregress(year, shares[:, k])
        reach = stats.t.ppf(0.95, 88) * line.stderr * 8
        change = 8 * line.slope
        np.testing.assert_allclose([effect, low, high], [change, change - reach, change + reach], atol=2e-6)


def test_where_groups_have_nothing_to_do_with_topics_nine_in_ten_intervals_hold_zero():
    rng = np.random.default_rng(0)
    held = []
    for _ in range(300):
        shares = rng.dirichlet([0.5, 1.0, 2.0], 40)
        found = columns(gathered(shares, {"who": rng.permutation(np.repeat(["a", "b"], 20))}), "who", "a")
        held.append((found[:, 1] <= 0) & (found[:, 2] >= 0))
    assert 0.87 < np.mean(held) < 0.93


def test_a_group_of_one_document_has_no_effect_and_one_period_no_trend(shares):
    who = np.array(["a"] + ["b"] * 89)
    effects = gathered(shares, {"who": who, "year": np.full(90, "1990")}, "year")
    assert effects.columns()["topic"] == []


def test_the_command_writes_topics_of_each_document_and_effects_of_metadata(tmp_path, capsys):
    rng = np.random.default_rng(0)
    words = [[f"{theme}{letter}word" for letter in "abcdefghijklmnopqrstuvwx"] for theme in "pq"]
    path, out = tmp_path / "texts.csv", tmp_path / "run"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "author", "year"])
        for k in range(120):
            chance = 0.8 if k % 2 else 0.3  # of the first theme, by the author, and less from year to year
            first = rng.random(12) < chance - 0.3 * (k / 120)
            text = "" if k > 116 else " ".join(words[int(not one)][int(rng.integers(24))] for one in first)
            writer.writerow([text, f"author {k % 2}", 1900 + k // 10])
    asked = ["topics", str(path), "--metadata", "author", "--time", "year", "--topics", "2"]
    assert run([*asked, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    documents = rows(out / "documents.csv")
    assert [int(row["line"]) for row in documents] == list(range(2, 119))  # those that were read
    found = np.array([[float(row["topic 1"]), float(row["topic 2"])] for row in documents])
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-5)
    assert [int(row["topic"]) for row in documents] == (found.argmax(axis=1) + 1).tolist()
    effects = rows(out / "effects.csv")
    authors = [row for row in effects if row["group"] == "author 1"]
    assert len(authors) == 2 and all(float(row["lower"]) * float(row["upper"]) > 0 for row in authors)  # off zero
    assert abs(float(authors[0]["effect"])) > 0.2
    assert any(row["column"] == "year" and " to " in row["group"] for row in effects)
    assert "author author 1: the share of the topic '" in said and "(90% interval " in said
    assert said.splitlines()[-1].startswith("Next, once you have read a document of read_next.csv")
