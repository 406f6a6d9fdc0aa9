"""Figures say what they show, draw the given numbers, and come out byte for byte the same."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive import plots


def curve(n=20, scorers=("random", "information_gain", "uncertainty")):
    columns = {name: [] for name in ("scorer", "n_labelled", "mean", "lower", "upper")}
    for number, scorer in enumerate(scorers):
        for k in range(1, n + 1):
            mean = 1 - 0.4 * np.exp(-k / (5 + number))
            for name, value in zip(columns, (scorer, k, mean, mean - 0.05, mean + 0.05), strict=True):
                columns[name].append(value)
    return columns


def test_learning_curve_draws_a_line_and_a_band_per_scorer_in_percent():
    _, ax = plots.figure()
    plots.learning_curve(curve(), ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["information gain", "uncertainty", "random"]
    assert len(ax.lines) == 3 and len(ax.collections) == 3
    np.testing.assert_allclose(ax.lines[2].get_ydata()[0], 100 * (1 - 0.4 * np.exp(-1 / 5)))
    assert "%" in ax.get_ylabel() and ax.get_xlabel() == "answers used"
    assert len({line.get_color() for line in ax.lines}) == 3 and len({line.get_marker() for line in ax.lines}) == 3


def test_learning_curve_sorts_its_rows_and_accepts_frames():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(curve(scorers=("random",))).sample(frac=1, random_state=0)
    _, ax = plots.figure()
    plots.learning_curve(table, ax=ax, percent=False)
    assert (np.diff(ax.lines[0].get_xdata()) == 1).all() and ax.lines[0].get_ydata().max() < 1


def test_calibration_is_on_the_diagonal_for_a_calibrated_forecaster():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=20_000)
    _, ax = plots.figure()
    plots.calibration(p, rng.uniform(size=p.size) < p, ax=ax, label="forecaster")
    plots.calibration(p**2, rng.uniform(size=p.size) < p, ax=ax, label="another")
    drawn = [container.lines[0].get_xydata() for container in ax.containers]
    assert np.abs(drawn[0][:, 0] - drawn[0][:, 1]).max() < 3 and np.abs(drawn[1][:, 0] - drawn[1][:, 1]).max() > 10
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["perfectly calibrated", "forecaster", "another"]


def test_differences_are_drawn_from_top_to_bottom():
    _, ax = plots.figure()
    plots.differences(["information_gain", "uncertainty"], [2.0, -1], [1.0, -2], [3.0, 0.5], xlabel="points", ax=ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["information gain", "uncertainty"]
    assert ax.get_yticks()[0] > ax.get_yticks()[1]


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_figure_gives_the_same_bytes(tmp_path, kind, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0") if kind == "pdf" else None
    for name in ("a", "b"):
        drawing, ax = plots.figure()
        plots.learning_curve(curve(), ax=ax)
        plots.save(drawing, tmp_path / f"{name}.{kind}")
    a, b = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("a", "b"))
    assert len(a) > 1000 and (a == b or kind == "svg")  # svg: Matplotlib salts its element names
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{kind}", f"b.{kind}"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ax: plots.learning_curve({"scorer": []}, ax=ax), "n_labelled, mean, lower, upper is missing"),
        (lambda ax: plots.learning_curve(curve() | {"mean": [1]}, ax=ax), "must have one length"),
        (lambda ax: plots.calibration([0.5, 1.5], [True, False], ax=ax), "between 0 and 1"),
        (lambda ax: plots.calibration([0.5], [True, False], ax=ax), r"happened must have shape \(1,\)"),
        (lambda ax: plots.differences(["a"], [np.nan], [0], [1], xlabel="x", ax=ax), "mean contains nan"),
    ],
)
def test_bad_columns_are_named(call, message):
    _, ax = plots.figure()
    with pytest.raises(ValueError, match=message):
        call(ax)
