"""``adaptive photograph``: what is written, that designed filters win, resuming, and what is said of bad pictures."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from adaptive.cli import run
from adaptive.cli.photograph.command import picture
from adaptive.cli.photograph.comparison import BASELINES, DESIGNED
from tests.cli.processes import columns

WRITTEN = {"beside.json", "photograph.svg", "errors.csv", "filters.npy", "image.npy", "image_std.npy"}
QUICK = ("photograph", "--size", "16", "--measurements", "25", "--format", "svg")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("photograph") / "run"
    assert run([*QUICK, "--out", str(out)]) == 0
    return out


def test_everything_is_written_and_designed_filters_win(finished):
    assert {path.name for path in finished.iterdir()} == WRITTEN | {"settings.json", "log", ".lock"}
    filters = np.load(finished / "filters.npy")
    assert filters.shape == (25, 256)
    np.testing.assert_allclose(np.linalg.norm(filters, axis=1), 1.0, rtol=1e-6)
    assert np.load(finished / "image.npy").shape == np.load(finished / "image_std.npy").shape == (16, 16)
    errors = columns(finished / "errors.csv")
    last = {
        name: float(error)
        for name, n, error in zip(errors["design"], errors["measurements"], errors["error"], strict=True)
        if n == "25"
    }
    assert set(last) == {DESIGNED, *BASELINES} and last[DESIGNED] == min(last.values())


def test_a_run_goes_on_from_its_log_to_the_same(finished, tmp_path, capsys):
    """The log is cut behind the second answer, as a kill leaves it."""
    out = tmp_path / "run"
    (out / "log").mkdir(parents=True)
    (out / "settings.json").write_bytes((finished / "settings.json").read_bytes())
    lines = (finished / "log/filters.jsonl").read_bytes().splitlines(keepends=True)
    second = [number for number, line in enumerate(lines) if b'"event":"tell"' in line][1]
    (out / "log/filters.jsonl").write_bytes(b"".join(lines[: second + 1]))
    assert run(["photograph", "--out", str(out), "--resume", "--format", "svg"]) == 0
    assert "the picture being known here" in capsys.readouterr().out
    for name in WRITTEN:
        assert (out / name).read_bytes() == (finished / name).read_bytes(), name


def test_own_pictures_are_grey_squares_in_the_unit_interval(tmp_path):
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (70, 50, 3), dtype=np.uint8)).save(tmp_path / "mine.png")
    truth = picture(tmp_path / "mine.png", 16)
    assert truth.shape == (16, 16) and 0 <= truth.min() < truth.max() <= 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.png"], "there is no file or folder"),
        (["SMALL", "--size", "64"], "tiny.png has 20 x 30 pixels, fewer than --size 64"),
        (["FLAT", "--size", "16"], "of one grey"),
        (["--size", "17"], "--size must be one of 16, 32 and 64, got 17"),
        (["--size", "16", "--measurements", "300"], "--measurements must be between 11 and the number of pixels, 256"),
        (["--format", "gif"], "--format must be one of png, pdf, svg, got gif"),
    ],
)
def test_what_does_not_do_is_said_in_one_line(arguments, said, tmp_path, capsys):
    Image.fromarray(np.arange(600, dtype=np.uint8).reshape(20, 30)).save(tmp_path / "tiny.png")
    Image.fromarray(np.full((32, 32), 99, dtype=np.uint8)).save(tmp_path / "flat.png")
    known = {"SMALL": str(tmp_path / "tiny.png"), "FLAT": str(tmp_path / "flat.png")}
    assert run(["photograph", *(known.get(one, one) for one in arguments), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and not (tmp_path / "out").exists()
