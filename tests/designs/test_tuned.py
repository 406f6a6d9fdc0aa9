"""Designs tuned by simulated scans: they hold their centre, nothing that was tried is better, jobs change nothing."""

from dataclasses import dataclass

import numpy as np
import pytest

from adaptive import ImageReconstructor
from adaptive.images import head_scan, padded
from adaptive.operators import FourierLines
from designs import kspace
from designs.kspace.from_images.given import checked_images, entropy_of
from designs.kspace.from_images.halving import errors_of, halved, scores
from designs.kspace.from_images.portfolio import between, lines_to_try, points_to_try
from designs.kspace.from_images.simulated import MAX_ITER, SCALES, TOL
from designs.kspace.from_images.tuned import expected_error, trial_scans

HEAD, OTHER = (padded(head_scan()[k].image, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3)) for k in (12, 8))
OWN = np.r_[12:20, 0, 2, 4, 6]


@pytest.fixture(scope="module")
def tuned():
    return kspace.tuned_lines([HEAD, OTHER], 12, snr=50, n_scans=2, extra={"my own": OWN}, random_state=3)


def masks_of(found, n=32):
    return {name: np.isin(np.arange(n), lines) for name, lines in found.designs.items()}


def test_tuned_lines_hold_their_centre_and_go_outwards(tuned):
    assert len(tuned.lines) == 12 and f"{tuned.n_central} central" in tuned.rule
    np.testing.assert_array_equal(tuned.lines[: tuned.n_central], kspace.central(32, tuned.n_central))
    assert (np.diff(np.abs(tuned.lines[tuned.n_central :] - 16)) >= 0).all()
    for lines in tuned.designs.values():
        kspace.as_lines(32, lines, 4)
        assert len(lines) == 12


def test_the_winner_has_the_least_error_recomputed_from_the_stored_designs(tuned):
    """Those on all scans by their score; a design that went no further was behind the winner on those that it saw."""
    images = checked_images("images", [HEAD, OTHER])
    trials = trial_scans(images, 0, 50.0, 2, entropy_of(3))
    again = errors_of(trials, masks_of(tuned))
    for name, errors in tuned.errors.items():
        np.testing.assert_allclose(errors, again[name][: len(errors)], rtol=1e-12)
    assert scores({name: again[name] for name in tuned.scores}) == pytest.approx(tuned.scores)
    assert tuned.rule == min(tuned.scores, key=tuned.scores.get) and "my own" in tuned.scores
    of_winner = np.log(tuned.errors[tuned.rule])
    for errors in tuned.errors.values():
        k = len(errors)
        if k < 4:
            assert np.log(errors).mean() >= of_winner[:k].mean()
    for name, looked in tuned.looked.items():
        assert name in tuned.errors or looked >= tuned.looked[tuned.rule]


def test_jobs_change_nothing_and_lines_are_sorted_on_request(tuned):
    same = {"snr": 50, "n_scans": 2, "extra": {"my own": OWN}, "random_state": 3}
    again = kspace.tuned_lines([HEAD, OTHER], 12, **same, n_jobs=2, sort=True)
    np.testing.assert_array_equal(again.lines, np.sort(tuned.lines))
    assert (again.rule, again.looked, again.scores) == (tuned.rule, tuned.looked, tuned.scores)
    for name, errors in tuned.errors.items():
        np.testing.assert_array_equal(again.errors[name], errors)


def test_what_is_known_of_the_scans_is_used():
    """With a stated phase nothing is random but the noise; a stated centre is kept; axes are those of the image."""
    known = kspace.tuned_lines(HEAD * np.exp(0.5j), 10, phase="reference", prescan=True, n_central=6, n_scans=2)
    assert known.n_central == 6 and all("6 central" in name for name in known.designs)
    turned = kspace.tuned_lines(HEAD.T * np.exp(0.5j), 10, axis=1, phase="reference", prescan=True, n_central=6,
                                n_scans=2)  # fmt: skip
    assert len(turned.lines) == 10
    read = kspace.tuned_lines(HEAD, 10, n_central=6, n_scans=2)
    assert read.errors[read.rule][0] != known.errors[known.rule][0]


def test_designs_are_tried_under_the_reader_that_will_read_their_phase():
    given = checked_images("images", HEAD)
    trials = trial_scans(given, 0, 50.0, 2, 5, reader="estimate")
    found = kspace.tuned_lines(HEAD, 12, n_central=6, snr=50, n_scans=2, reader="estimate", random_state=0)
    smooth = kspace.tuned_lines(HEAD, 12, n_central=6, snr=50, n_scans=2, random_state=0)
    assert {trial.reader for trial in trials} == {"estimate"} and found.looked.keys() >= {smooth.rule}
    assert found.looked[found.rule] != smooth.looked[found.rule]  # one sided: a bare angle leaves more
    one = trial_scans(given, 0, 50.0, 2, entropy_of(0), reader="estimate")[0]
    mask = np.isin(np.arange(32), found.lines)
    scan, block = one.made(), FourierLines((32, 32), np.flatnonzero(mask))
    model = ImageReconstructor((32, 32), noise_variance=scan.noise_variance, prior_scales=SCALES, check=False,
                               imaginary_prior="pixel", max_iter=MAX_ITER, tol=TOL, phase="estimate")  # fmt: skip
    image = model.reconstruct([block], [scan.samples(block)])
    expected = np.linalg.norm(np.abs(image) - scan.image) / np.linalg.norm(scan.image)
    assert found.errors[found.rule][0] == pytest.approx(expected, rel=1e-4)  # samples in single precision


def test_equal_designs_are_tried_once_and_several_coils_bring_both_sides():
    one = lines_to_try(32, 12, None, False, 0)
    every = [np.sort(candidate.design).tobytes() for candidate in one.values()]
    assert len(set(every)) == len(every)
    assert {candidate.n_central for candidate in one.values()} == {4, 8}
    assert len([name for name in lines_to_try(32, 12, None, True, 0) if name.startswith("equispaced")]) == 2
    assert next(iter(lines_to_try(32, 32, None, False, 0).values())).design.shape == (32,)
    assert len(lines_to_try(32, 32, None, False, 0)) == 1  # all that there are
    repeated = kspace.tuned_lines(HEAD, 12, n_central=8, n_scans=2, extra=[kspace.equispaced(32, 12, 8)])
    assert "extra 1" not in repeated.designs and "equispaced, 8 central" in repeated.scores


def test_tuned_points_hold_their_centre_and_extra_ones_take_part():
    small = HEAD.reshape(16, 2, 16, 2).mean(axis=(1, 3))
    own = kspace.low_pass_encodes((16, 16), 70, 16)[::-1]
    found = kspace.tuned_points(small, 70, n_scans=2, extra=[own], prescan=True, sort=True)
    kspace.as_encodes((16, 16), found.lines, found.n_central)
    np.testing.assert_array_equal(found.lines, kspace.as_encodes((16, 16), found.lines))
    low = [name for name, one in found.designs.items() if set(map(tuple, one)) == set(map(tuple, own))]
    assert len(low) == 1 and low[0] in found.scores
    assert any(name.startswith("half_plane poisson") for name in found.designs)
    assert not any("half_plane" in name for name in points_to_try((8, 8), 40, None, False, 0))
    assert points_to_try((8, 8), 32, None, False, 0)


def test_halving_keeps_what_it_is_told_to_keep():
    trials = trial_scans(checked_images("images", HEAD), 0, 50.0, 2, 0)
    poor = np.isin(np.arange(32), np.r_[14:18, 24:32])
    masks = {name: np.isin(np.arange(32), one.design) for name, one in lines_to_try(32, 12, None, False, 0).items()}
    found = halved(trials, masks | {"poor": poor}, kept=["poor"])
    assert "poor" in found.scores and next(iter(found.scores)) != "poor"
    assert len(found.looked) == len(masks) + 1 > len(found.errors) > len(found.scores)
    few = halved(trials, masks, between=between(masks))
    assert set(masks) - set(few.looked) and next(iter(few.scores)) in found.errors
    assert set(few.looked) - set(between(masks)) == set(masks) - set(between(masks))


@dataclass(frozen=True)
class Stated:
    """A trial whose errors are known: those of a design on an image, and how much a scan differs."""

    image: int
    factor: float
    tol: float = 0.0

    def error(self, mask):
        return float([[0.10, 0.102, 0.1001, 0.09], [0.20, 0.205, 0.2001, 0.30]][self.image][mask[0]]) * self.factor


def test_halving_gives_up_what_further_scans_of_the_same_images_cannot_bring_ahead():
    """Images differ for good, their scans little: one that is better on one image and much worse on another goes."""
    factors = np.exp(np.random.default_rng(0).normal(0, 1e-4, 8))
    trials = [Stated(k % 2, factor) for k, factor in enumerate(factors)]
    masks = {name: np.array([k]) for k, name in enumerate(("best", "behind", "alike", "uneven"))}
    found = halved(trials, masks, n_images=2)
    assert list(found.scores) == ["best"] and len(found.errors["best"]) == 8
    assert {len(found.errors[name]) for name in ("behind", "alike", "uneven")} == {4}
    assert len(halved(trials, masks, n_images=2, kept=["behind"]).errors["behind"]) == 8


@dataclass(frozen=True)
class Peculiar:
    """A trial on one of two images: the first likes designs of low numbers, the second, more strongly, one high one."""

    image: int
    tol: float = 0.0

    def error(self, mask):
        k = int(mask[0])
        return 0.1 + 0.002 * k if self.image == 0 else 0.2 - 0.08 * (k == 11)


def test_no_image_alone_decides_what_is_tried_on_the_others():
    """The first scan alone would have left out the design that is best on both images together."""
    masks = {f"design {k}": np.array([k]) for k in range(14)}
    found = halved([Peculiar(k % 2) for k in range(4)], masks, n_images=2)
    assert next(iter(found.scores)) == "design 11" and len(found.looked) == 14
    assert found.looked["design 0"] == pytest.approx(np.sqrt(0.1 * 0.2))
    alone = halved([Peculiar(0) for _ in range(4)], masks)
    assert "design 11" not in alone.errors and alone.looked["design 0"] == 0.1


def test_halving_keeps_the_best_of_several_centres():
    """Three on the first scans, two at last, however far behind they are: a rare phase may come."""
    trials = [Stated(0, 1.0)] * 6
    masks = {f"{name} {more}": np.array([k]) for k, name in enumerate(("a", "b", "c", "d")) for more in range(4)}
    found = halved(trials, masks, centres={name: "abcd".index(name[0]) for name in masks})
    assert {len(found.errors[name]) for name in found.errors} >= {6}
    assert {name[0] for name, errors in found.errors.items() if len(errors) >= 3} >= {
        "d",
        "a",
        "c",
    }  # in order of errors
    assert {name[0] for name in found.scores} == {"d", "a"}


def test_the_range_of_errors_holds_nine_of_ten_further_scans():
    rng = np.random.default_rng(0)
    draws = np.exp(rng.normal(-2, 0.1, (4000, 5)))
    held = [low <= one[4] <= high for one in draws for _, low, high in [expected_error(one[:4])]]
    assert np.mean(held) == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        ((HEAD, 3), {}, "n_lines must be at least 4, without which nothing is estimated, got 3"),
        ((HEAD, 8), {"n_central": 10}, "n_lines must be at least 10, the central ones, which it counts too, got 8"),
        ((HEAD, 33), {}, "n_lines must be at most 32, the number of lines that there are, got 33"),
        ((HEAD, 12.0), {}, "n_lines must be an integer"),
        ((np.where(HEAD > 0.5, np.nan, HEAD), 12), {}, r"images\[0\] contains nan"),
        (([HEAD, HEAD[:, :8]], 12), {}, r"images\[1\] has shape \(32, 8\), expected \(32, 32\)"),
        ((HEAD, 12), {"phase": "reference"}, r"images\[0\] has no phase"),
        ((HEAD, 12), {"axis": 2}, "axis must be one of"),
        ((HEAD, 12), {"snr": 0}, "snr must be > 0"),
        ((HEAD, 12), {"reader": "angle"}, "reader must be one of"),
        ((HEAD, 12), {"n_scans": 1}, "n_scans must be at least 2, got 1"),
        ((HEAD, 12), {"extra": [OWN[:8]]}, "extra, extra 1: it must hold 12 as the other designs, got 8"),
        ((HEAD, 12), {"extra": {"mine": np.arange(12)}}, r"extra, mine: lines must hold the central line 16 \(DC\)"),
        ((HEAD, 12), {"extra": {"mine": OWN}, "n_central": 9}, "extra, mine: lines must hold the central line"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, settings, message):
    with pytest.raises(ValueError, match=message) as caught:
        kspace.tuned_lines(*arguments, **settings)
    assert "\n" not in str(caught.value)
    if isinstance(arguments[0], np.ndarray) and arguments[1] < 12:
        with pytest.raises(ValueError, match=message.replace("n_lines", "n_points")):
            kspace.tuned_points(*arguments, **settings)
