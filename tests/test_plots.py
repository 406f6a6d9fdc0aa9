"""Figures say what they show, draw the given numbers, and come out byte for byte the same."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive import plots
from adaptive.images import simulate_coils
from designs import kspace


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


def test_the_order_of_lines_points_and_shots_is_drawn_with_what_was_given_apart():
    some = kspace.lines((16, 8)).take([8, 7, 9, 2, 13])
    _, ax = plots.figure()
    plots.sampling_order(some, 3, ax=ax)
    drawn = {line.get_marker(): line.get_xydata().tolist() for line in ax.lines if line.get_marker() in "o_"}
    assert drawn == {"_": [[1, 0], [2, -1], [3, 1]], "o": [[4, -6], [5, 5]]}
    _, ax = plots.figure()
    plots.sampling_order(kspace.phase_encodes((4, 6)).take([15, 0, 23]), 1, ax=ax)
    given, chosen = (one.get_array() for one in ax.images)
    assert np.argwhere(~given.mask).tolist() == [[2, 3]] and np.argwhere(~chosen.mask).tolist() == [[0, 0], [3, 5]]
    assert chosen.compressed().tolist() == [2, 3]
    left, right, bottom, top = ax.images[1].get_extent()
    assert (left, right, bottom, top) == (-3.5, 2.5, 1.5, -2.5)  # second axis to the right, first one down
    _, ax = plots.figure()
    plots.sampling_order(kspace.spokes((8, 8), [0.0, np.pi / 2]), ax=ax)
    assert np.ptp(ax.lines[0].get_xdata()) < 1e-9 and np.ptp(ax.lines[1].get_xdata()) > 6


def test_scores_leave_out_what_was_measured():
    pool = kspace.lines((6, 4))
    _, ax = plots.figure()
    plots.sampling_scores(pool, {"first": np.arange(6.0), "last": np.ones(6)}, measured={"first": [3]}, ax=ax)
    assert [line.get_xdata().tolist() for line in ax.lines] == [[-3, -2, -1, 0, 1, 2]] * 2
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [0, 1, 2, np.nan, 4, 5])
    points = kspace.phase_encodes((2, 3))
    _, ax = plots.figure()
    plots.sampling_scores(points.take([0, 5]), [1.0, 2.0], ax=ax)
    np.testing.assert_array_equal(
        np.ma.filled(ax.images[0].get_array(), np.nan), [[1, np.nan, np.nan], [np.nan, np.nan, 2]]
    )


def test_residuals_share_one_scale_and_name_their_errors():
    truth = np.zeros((4, 6))
    truth[1, 2] = 1.0
    drawing = plots.residuals(truth, {"low_pass": truth / 2, "exact": truth}, upright=np.rot90)
    titles = [ax.get_title() for ax in drawing.axes if ax.images and ax.get_title()]
    assert titles == ["true image", "low pass", "exact", "error 0.50", "error 0.00"]
    differences = [ax.images[0] for ax in drawing.axes if ax.get_title().startswith("error")]
    assert len({one.get_clim() for one in differences}) == 1
    np.testing.assert_array_equal(differences[0].get_array(), np.rot90(truth / 2))


def test_errors_are_drawn_by_design_and_by_what_was_measured():
    _, ax = plots.figure()
    plots.error_curves({"design": ["a", "a", "a"], "measured": [10, 20, 10], "error": [4.0, 1.0, 2.0]}, ax=ax)
    assert ax.lines[0].get_xydata().tolist() == [[10, 3], [20, 1]]
    _, ax = plots.figure()
    table = {"design": ["a", "b", "a", "b"], "slice": ["same", "same", "beside", "beside"], "error": [1.0, 2, 3, 4]}
    plots.design_errors(table, ax=ax)
    assert [line.get_xdata().tolist() for line in ax.lines] == [[1, 2], [3, 4]]
    assert ax.get_yticks().tolist() == [1, 0]  # from top to bottom


def test_coil_maps_have_a_magnitude_and_a_phase_each():
    drawing = plots.coil_maps(simulate_coils((8, 8), 3, random_state=0))
    assert [ax.get_title() for ax in drawing.axes[:3]] == ["coil 0", "coil 1", "coil 2"]
    assert [ax.images[0].get_clim()[0] for ax in drawing.axes[:6]] == [0, 0, 0, -np.pi, -np.pi, -np.pi]


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
        (lambda ax: plots.sampling_order([1, 2], ax=ax), "design must be a pool of lines, phase encodes or shots"),
        (lambda ax: plots.sampling_order(kspace.lines((4, 4)).take([]), ax=ax), "it is empty"),
        (lambda ax: plots.sampling_scores(kspace.lines((4, 4)), [1.0], ax=ax), r"scores must have shape \(4,\)"),
        (lambda ax: plots.residuals(np.eye(3), {"a": np.eye(4)}), r"image a must have shape \(3, 3\)"),
        (lambda ax: plots.coil_maps(np.eye(4)), "maps must be those of one slice"),
        (lambda ax: plots.design_errors({"design": []}, ax=ax), "slice, error is missing"),
        (lambda ax: plots.differences(["a"], [np.nan], [0], [1], xlabel="x", ax=ax), "mean contains nan"),
    ],
)
def test_bad_columns_are_named(call, message):
    _, ax = plots.figure()
    with pytest.raises(ValueError, match=message):
        call(ax)


def test_letters_of_the_sides_stand_on_the_true_image_only():
    drawing = plots.residuals(np.eye(4), {"half": np.eye(4) / 2}, sides="AR")
    assert [text.get_text() for text in drawing.axes[0].texts] == ["A", "P", "R", "L"]
    assert not drawing.axes[1].texts and not plots.residuals(np.eye(4), {"half": np.eye(4)}).axes[0].texts
