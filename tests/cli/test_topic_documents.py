"""Topics of documents, and what metadata have to do with them: against regressions by hand, and without any effect."""

import csv

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats

from adaptive.cli import run
from adaptive.cli.topics.documents import Effects
from adaptive.cli.topics.shares import moments
from adaptive.estimators import MetadataTopicModel


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


def test_a_change_is_the_mean_of_the_last_three_tenths_less_that_of_the_first(shares):
    year = np.repeat(np.arange(1990, 1999), 10)
    found = columns(gathered(shares, {"year": year.astype(str)}, "year"), "year", "1995.6 to 1998 less 1990 to 1992.4")
    test = stats.ttest_ind(shares[year >= 1996], shares[year <= 1992], equal_var=False)
    interval = test.confidence_interval(0.9)
    effect = shares[year >= 1996].mean(axis=0) - shares[year <= 1992].mean(axis=0)
    np.testing.assert_allclose(found, np.column_stack([effect, interval.low, interval.high]), atol=2e-6)


def test_means_of_groups_within_periods_have_students_interval_and_none_of_one_document(shares):
    who = np.array(["anna"] * 45 + ["ben"] * 45)
    year = np.array((["1990"] * 30 + ["1991"] * 15) * 2)
    year[-1] = "1992"  # one text of Ben
    found = gathered(shares, {"who": who, "year": year}, "year").shares_within()
    assert list(zip(found["group"], found["time"], found["texts"], strict=True))[::3] == [
        ("anna", "1990", 30), ("anna", "1991", 15), ("ben", "1990", 30), ("ben", "1991", 14), ("ben", "1992", 1),
    ]  # fmt: skip
    own = shares[(who == "ben") & (year == "1991")]
    interval = stats.ttest_1samp(own, 0.0).confidence_interval(0.9)
    table = np.array([found[name] for name in ("share", "lower", "upper")], dtype=float)
    np.testing.assert_allclose(table[:, 9:12], [own.mean(axis=0), interval.low, interval.high], atol=2e-6)
    assert np.isnan(table[1:, 12:]).all() and np.isfinite(table[:, :12]).all()


def test_an_author_who_wrote_late_is_compared_with_others_of_the_time():
    """Topic 1 rises with the year in everybody's texts; Ben wrote most of the late ones."""
    rng = np.random.default_rng(0)
    year = np.arange(600) % 10
    who = np.where(rng.random(600) < 0.1 + 0.08 * year, "ben", "anna")
    first = np.clip(0.1 + 0.08 * year + 0.05 * rng.standard_normal(600), 0.0, 1.0)
    shares = np.stack([first, 1.0 - first], axis=1)
    effects = gathered(shares, {"who": who, "year": (1990 + year).astype(str)}, "year")
    assert columns(effects, "who", "ben")[0, 0] > 0.15  # because of when he wrote
    (effect, low, high), _ = columns(effects, "who", "ben, at equal times")
    inside = [(who == "ben") & (year == k) for k in range(10)]
    others = [(who != "ben") & (year == k) for k in range(10)]
    each = [first[a].mean() - first[b].mean() for a, b in zip(inside, others, strict=True)]
    assert effect == pytest.approx(np.mean(each), abs=2e-6) and low < 0 < high  # ten years of sixty texts
    variance = sum(first[a].var(ddof=1) / a.sum() for a in inside + others) / 100
    assert (high - low) / 2 == pytest.approx(1.645 * np.sqrt(variance), rel=0.05)
    told = "1996.3 to 1999 less 1990 to 1992.7"
    late, early = ((who == "ben") & part for part in (year >= 7, year <= 2))
    within, whole = columns(effects, "who", f"ben, {told}"), columns(effects, "year", told)
    assert within[0, 0] == pytest.approx(first[late].mean() - first[early].mean(), abs=2e-6)
    assert whole[0, 0] == pytest.approx(0.56, abs=0.03) and effects.changes == {
        ("who", f"anna, {told}"), ("who", f"ben, {told}"), ("year", told),
    }  # fmt: skip


def test_other_models_widen_intervals_by_their_mean_square_distance(shares):
    who, again = np.array(["a", "b"])[np.arange(90) % 2], np.stack([shares + 0.1 * k for k in range(1, 5)])
    alone, beside = Effects(None), Effects(None)
    alone.add(shares, {"who": who})
    beside.add(shares, {"who": who}, shares**2, again)
    plain, wide = alone.shares(), beside.shares()
    assert plain["share"] == wide["share"]
    between = 0.01 * np.mean([1, 4, 9, 16])
    own = shares[who == "a", 0].var(ddof=1) / 45
    free = (own + between) ** 2 / (own**2 / 44 + between**2 / 4)
    reach = stats.t.ppf(0.95, free) * np.sqrt(own + between)
    assert wide["upper"][0] == pytest.approx(min(shares[who == "a", 0].mean() + reach, 1.0), abs=2e-6)
    effect = columns(beside, "who", "a")  # all others are as far off in both groups
    np.testing.assert_allclose(effect[:, 0], columns(alone, "who", "a")[:, 0], atol=2e-6)


def test_posterior_moments_are_those_of_a_long_chain():
    """Means and mean squares of documents' shares by importance weights, against random-walk Metropolis."""
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(30, 0.2), 3)
    who = np.array(["a", "b"])[np.arange(80) % 2]
    truth = np.where((who == "a")[:, None], rng.dirichlet([4, 1, 1], 80), rng.dirichlet([1, 1, 4], 80))
    counts = np.array([rng.multinomial(12, share @ words) for share in truth])
    metadata = pd.DataFrame({"who": who})
    model = MetadataTopicModel(3, random_state=0).fit(counts, metadata)
    first, second = moments(model, sp.csr_array(counts[:4].astype(float)), metadata[:4])
    mean, variance = model.belief_.forecast(metadata[:4])

    def density(scores):
        share = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        likelihood = (counts[:4] * np.log(share @ model.belief_.word_probabilities.T)).sum(axis=-1)
        return likelihood - 0.5 * ((scores - mean) ** 2 / variance).sum(axis=-1)

    at = np.tile(mean, (200, 1, 1))  # chains
    value, kept = density(at), []
    for step in range(1500):
        new = at + 0.8 * np.sqrt(variance) * rng.standard_normal(at.shape)
        proposed = density(new)
        taken = np.log(rng.random(value.shape)) < proposed - value
        at, value = np.where(taken[..., None], new, at), np.where(taken, proposed, value)
        if step >= 300 and step % 10 == 0:
            kept.append(np.exp(at) / np.exp(at).sum(axis=-1, keepdims=True))
    chain = np.concatenate(kept)
    np.testing.assert_allclose(first, chain.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(second, (chain**2).mean(axis=0), atol=0.02)


def test_where_groups_have_nothing_to_do_with_topics_nine_in_ten_intervals_hold_zero():
    rng = np.random.default_rng(0)
    held = []
    for _ in range(300):
        shares = rng.dirichlet([0.5, 1.0, 2.0], 40)
        found = columns(gathered(shares, {"who": rng.permutation(np.repeat(["a", "b"], 20))}), "who", "a")
        held.append((found[:, 1] <= 0) & (found[:, 2] >= 0))
    assert 0.87 < np.mean(held) < 0.93


def test_a_group_of_one_document_has_no_effect_and_one_period_no_change(shares):
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
    asked = ["topics", str(path), "--metadata", "author", "--time", "year"]
    assert run([*asked, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "2 topics.\nOf 2, 3 and 4 topics these are the fewest that foretell texts left out as well as any" in said
    documents = rows(out / "documents.csv")
    assert [int(row["line"]) for row in documents] == list(range(2, 119))  # those that were read
    found = np.array([[float(row["topic 1"]), float(row["topic 2"])] for row in documents])
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-5)
    assert [int(row["topic"]) for row in documents] == (found.argmax(axis=1) + 1).tolist()
    for k in "12":
        assert all(float(row[f"lower {k}"]) < float(row[f"topic {k}"]) < float(row[f"upper {k}"]) for row in documents)
    groups = rows(out / "groups.csv")  # one story: means of documents.csv, and their differences
    own = np.array([row["author"] == "author 1" for row in documents])
    share = [float(row["share"]) for row in groups if row["group"] == "author 1"]
    np.testing.assert_allclose(share, found[own].mean(axis=0), atol=2e-6)
    effects = rows(out / "effects.csv")
    authors = [row for row in effects if row["group"] == "author 1"]
    effect = [float(row["effect"]) for row in authors]
    np.testing.assert_allclose(effect, found[own].mean(axis=0) - found[~own].mean(axis=0), atol=2e-6)
    assert len(authors) == 2 and all(float(row["lower"]) * float(row["upper"]) > 0 for row in authors)  # off zero
    years = [row["group"] for row in groups if row["column"] == "year"]
    assert years[::2][:2] == ["1900 to 1901.1", "1901.1 to 1902.2"] and years == sorted(years)
    late = np.array([float(row["year"]) > 1907.5 for row in documents])
    early = np.array([float(row["year"]) < 1903.3 for row in documents])
    change = [float(row["effect"]) for row in effects if row["column"] == "year"]
    np.testing.assert_allclose(change, found[late].mean(axis=0) - found[early].mean(axis=0), atol=2e-6)
    within = rows(out / "groups_over_time.csv")  # authors within years: the same means by both columns
    first = [row for row in within if row["group"] == "author 1" and row["time"] == "1901.1 to 1902.2"]
    both = own & np.array([row["year"] == "1902" for row in documents])
    assert [int(row["texts"]) for row in first] == [both.sum()] * 2
    np.testing.assert_allclose([float(row["share"]) for row in first], found[both].mean(axis=0), atol=2e-6)
    assert all(float(row["lower"]) < float(row["share"]) < float(row["upper"]) for row in first)
    assert len(within) == 2 * 10 * 2 and (out / "over_time-author.png").is_file()
    topics = rows(out / "topics.csv")
    np.testing.assert_allclose([float(row["share"]) for row in topics], found.mean(axis=0), atol=2e-6)
    assert "author author " in said and ": the share of topic " in said and "(90% interval " in said
    assert said.splitlines()[-1].startswith("Next, once you have read a document of read_next.csv")
