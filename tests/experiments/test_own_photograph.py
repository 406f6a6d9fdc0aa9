"""Somebody's own picture: what is written, that designed filters win, and what is said of pictures that do not do."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PIL import Image

from experiments.images import own_photograph


def test_the_quick_mode_writes_everything(tmp_path, capsys):
    assert own_photograph.main(["--quick", "--out", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "photograph.png", "errors.csv", "filters.npy", "image.npy", "image_std.npy",
    }  # fmt: skip
    filters = np.load(tmp_path / "filters.npy")
    assert filters.shape == (25, 256)
    np.testing.assert_allclose(np.linalg.norm(filters, axis=1), 1.0, rtol=1e-6)
    assert np.load(tmp_path / "image.npy").shape == np.load(tmp_path / "image_std.npy").shape == (16, 16)
    with (tmp_path / "errors.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    last = {row["design"]: float(row["error"]) for row in rows if row["measurements"] == "25"}
    assert set(last) == {own_photograph.DESIGNED, *own_photograph.BASELINES}
    assert last[own_photograph.DESIGNED] == min(last.values())
    assert "25 measurements of camera" in capsys.readouterr().out


def test_own_pictures_are_grey_squares_in_the_unit_interval(tmp_path):
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (70, 50, 3), dtype=np.uint8)).save(tmp_path / "mine.png")
    truth = own_photograph.picture(str(tmp_path / "mine.png"), 16)
    assert truth.shape == (16, 16) and 0 <= truth.min() < truth.max() <= 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--image", "nowhere.png"], "there is no image file nowhere.png"),
        (["--image", "SMALL", "--size", "64"], "tiny.png has 20 x 30 pixels, fewer than --size 64"),
    ],
)
def test_pictures_that_do_not_do(arguments, said, tmp_path, capsys):
    Image.fromarray(np.arange(600, dtype=np.uint8).reshape(20, 30)).save(tmp_path / "tiny.png")
    arguments = [str(tmp_path / "tiny.png") if one == "SMALL" else one for one in arguments]
    assert own_photograph.main([*arguments, "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_numbers_of_measurements_that_do_not_do(capsys):
    with pytest.raises(SystemExit):
        own_photograph.main(["--size", "16", "--measurements", "300"])
    assert "--measurements must be between 11 and the number of pixels, 256" in capsys.readouterr().err
