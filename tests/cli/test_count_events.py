"""``adaptive counts`` of events: dates in and out, units of a rate, and whether it has risen."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from adaptive.cli import run
from adaptive.cli.counts import events_words
from adaptive.cli.counts.events_axis import Axis, axis_of
from adaptive.cli.counts.events_change import Change, change, where_highest
from adaptive.estimators.counts.constant_rate import ConstantRate
from adaptive.tables import Cells


def axis(values, low, high, start=""):
    return Axis("t", np.asarray(values, dtype=float), start, low, high, True)


@pytest.mark.parametrize(("ratio", "scatter"), [(1.0, 1.0), (3.0, 1.0), (3.0, 2.0)])
def test_the_interval_of_the_ratio_covers_of_counts_that_are_drawn(ratio, scatter):
    rng, n = np.random.default_rng(0), 400
    means = np.array([15.0, 15.0 * ratio])
    rates = means if scatter == 1.0 else rng.gamma(means / (scatter - 1.0), scatter - 1.0, (n, 2))
    counts = rng.poisson(rates, (n, 2))
    found = [Change.of(1.0, *map(int, pair), scatter) for pair in counts]
    covered = sum(one.lower <= ratio <= one.upper for one in found)
    assert binom.ppf(1e-4, n, 0.9) <= covered <= binom.isf(1e-4, n, 0.9)
    wrong = sum(one.is_sure and ((one.probability_risen > 0.5) != (ratio > 1.0) or ratio == 1.0) for one in found)
    assert wrong <= binom.isf(1e-4, n, 0.05)
    if ratio > 1.0:
        assert np.mean([one.is_sure for one in found]) > 0.5


def test_a_fifth_has_as_many_whole_days_at_both_ends_and_overdispersion_widens_its_interval():
    week = axis(np.repeat(np.arange(7), 3), 0.0, 7.0)
    assert change(week, 0.0, 1.0)[:3] == (1.0, 3, 3)
    halves = axis(np.r_[np.linspace(0.1, 4.9, 20), np.linspace(5.1, 9.9, 60)], 0.0, 10.0)
    plain, spread = change(halves, 0.0, 0.1), change(halves, 2.0, 0.1)
    assert plain.fifth == 2.0 and plain.last_events > 2 * plain.first_events
    assert (
        spread.upper / spread.lower > plain.upper / plain.lower and spread.probability_risen < plain.probability_risen
    )
    assert Change.of(1.0, 0, 0).probability_risen == pytest.approx(0.5)


def test_where_a_rate_is_highest_has_an_interval():
    draws = np.random.default_rng(0).normal([0.0, 9.0, 9.0, 0.0], 1.0, (200, 4))
    assert where_highest(np.array([1.0, 2.0, 3.0, 4.0]), draws) == (2.0, 3.0)


@pytest.mark.parametrize(
    ("n_events", "days", "unit"),
    [(130, 731, "month"), (5, 731, "year"), (9, 20, "day"), (1, 3, "day"), (90, 1, "hour")],
)
def test_a_rate_is_given_in_the_least_unit_that_has_an_event(n_events, days, unit):
    assert axis([0.5], 0.0, days, "2023-01-01T01:00:00+00:00").unit(n_events)[1] == unit


def test_bins_of_whole_days_hold_as_many_days_each():
    days = axis(np.arange(0, 150, 3), 0.0, 150.0, "2023-01-01T00:00:00+00:00")
    assert days.whole and days.n_bins(0, 100) == 75 and days.n_bins(7, 100) == 7
    assert axis([0.0, 0.5], 0.0, 150.0).n_bins(0, 100) == 100
    assert not axis([0.0, 1.0], 0.0, 9.0, "2023-01-01T01:00:00+00:00").whole
    assert not axis([0.0, 1.5], 0.0, 9.0, "2023-01-01T00:00:00+00:00").whole


def cells_of(*dates):
    return Cells(Path("faults.csv"), pd.DataFrame({"when": dates}, index=range(2, 2 + len(dates))))


@pytest.mark.parametrize(
    ("first", "last", "window", "low", "high"),
    [
        ("2023-01-02T10:00", "2023-01-30T11:00", "2023-01-01:2023-02-01", "2023-01-01", "2023-02-01"),
        ("2023-01-02", "2023-01-30", "2023-01-01 12:00:2023-02-01T06:30", "2023-01-01 12:00", "2023-02-01 06:30"),
        ("02.01.2023 10:00", "30.01.2023 11:00", "1.1.2023:01.02.2023", "2023-01-01", "2023-02-01"),
        ("02.01.2023 10:00", "30.01.2023 11:00", "01.01.2023 06:30:2023-02-01", "2023-01-01 06:30", "2023-02-01"),
    ],
)
def test_a_window_is_typed_in_dates(first, last, window, low, high):
    found = axis_of(cells_of(first, last), "when", window)
    ends = [f"{one:%Y-%m-%d %H:%M}".removesuffix(" 00:00") for one in found.moments(np.array([found.low, found.high]))]
    assert ends == [low, high]


def test_the_last_day_of_whole_days_is_looked_at_to_its_end():
    dates = cells_of("2023-01-01", "2023-01-04")
    for window in (None, "2023-01-01:2023-01-04"):
        assert (axis_of(dates, "when", window).high, axis_of(dates, "when", window).span(0.0, 4.0, 1.0)) == (
            4.0, "2023-01-01 to 2023-01-05",
        )  # fmt: skip


@pytest.fixture(scope="module")
def faults(tmp_path_factory):
    """Few faults in the first year, many in the second, each with its time."""
    rng = np.random.default_rng(0)
    days = np.sort(np.concatenate([rng.uniform(0, 365, 25), rng.uniform(365, 731, 90)]))
    path = tmp_path_factory.mktemp("faults") / "faults.csv"
    when = pd.Timestamp("2023-01-01") + pd.to_timedelta(days, unit="D")
    path.write_text("when\n" + "".join(f"{one:%Y-%m-%dT%H:%M}\n" for one in when))
    return path


def test_dates_come_out_as_dates_with_a_rate_per_month_and_what_became_of_it(faults, tmp_path, capsys):
    asked = ["counts", str(faults), "--window", "2023-01-01:2025-01-01", "--bins", "24"]
    assert run([*asked, "--out", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert "were looked for from 2023-01-01 to 2025-01-01.\n115 events, counted in 24 bins, each 30.5 days wide" in said
    assert "events per month of 30.44 days" in said and "90% interval: 2024-" in said
    assert (
        "From the first fifth (2023-01-01 to 2023-05-27: " in said
        and " to the last (2024-08-07 to 2025-01-01: " in said
    )
    assert "It has risen: the probability is above 0.999." in said and "So it varies." in said
    assert "count again" not in said and not (tmp_path / "run" / "next.csv").exists()  # that time is over
    assert said.splitlines()[-1].startswith("Next, to see whether the answer is the same with half as many bins: ")
    assert "--bins 12" in said.splitlines()[-1]
    with (tmp_path / "run" / "rate.csv").open(newline="") as stream:
        table = list(csv.DictReader(stream))
    assert table[0]["when"] == "2023-01-16 05:30" and sum(float(row["count"]) for row in table) == 115
    mean = np.mean([float(row["rate"]) for row in table])
    assert mean == pytest.approx(115 / 24, rel=0.05)  # a month
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["rate_unit"] == "events per month" and summary["change"]["lower"] > 1
    assert "log_evidence" not in summary and "log_evidence" not in summary["constant_rate"]
    assert summary["constant_rate"]["rate"] == pytest.approx(mean, rel=0.05)


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("2023:2025", "holds dates, so --window must be like 2023-01-01:2025-01-01, got 2023:2025"),
        ("2025-01-01:2023-01-01", "must be a range START:END with START < END"),
        ("2023-06-01:2025-01-01", "is 2023-06-01 to 2025-01-01, but events go from 2023-01-"),
    ],
)
def test_a_window_that_is_none_is_one_line(window, message, faults, tmp_path, capsys):
    assert run(["counts", str(faults), "--window", window, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("factor", "changed", "says"),
    [
        (4.0, True, "54.6 times as probable under a rate that varies as under a constant one (2 events per day, 90% "),
        (4.0, True, "So it varies."),
        (99.0, True, "over 1,000 times"),
        (1.0, False, "That is no strong evidence, which begins at 20 times."),
        (-1.0, False, "The counts are 2.72 times as probable under a constant one"),
        (-9.0, False, "A constant rate will do."),
        (-9.0, True, "needs more events than the two fifths"),
        (np.nan, True, "was not compared"),
    ],
)
def test_a_bayes_factor_is_said_in_words(factor, changed, says):
    one = ConstantRate(rate=1.0, rate_std=0.1, gain=0.0, gain_std=1.0, log_bayes_factor=factor)
    assert says in events_words.constant_in_words(one, 2.0, "day", changed)
