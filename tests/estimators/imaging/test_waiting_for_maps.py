"""coils="estimate" through the loop: what comes before the centre is kept, and explained once the maps are known."""

import numpy as np
import pytest

from adaptive import ImageReconstructor, SequentialDesign
from adaptive.images import head_scan, padded, simulate_coils, simulate_scan
from designs.kspace import central, lines

N = 32
SHAPE = (N, N)
HEAD = padded(head_scan()[12].image, 128).reshape(N, 4, N, 4).mean(axis=(1, 3))
SCAN = simulate_scan(HEAD, snr=100, coils=simulate_coils(SHAPE, 4, random_state=0), random_state=0)
POOL = lines(SHAPE)
FIRST = POOL.positions(central(N, 8))


def make(**options):
    return ImageReconstructor(SHAPE, coils="estimate", n_samples=2, **options)


def test_maps_are_read_from_the_initial_block_asked_one_line_at_a_time(tmp_path):
    design = SequentialDesign(make(), POOL, SCAN.measure, initial=FIRST, random_state=0, log=tmp_path / "log.jsonl")
    design.run(3)
    assert design.estimator_.coil_maps_ is None
    design.run(len(FIRST) - 3)
    whole = make().fit(POOL.take(FIRST), SCAN.measure(POOL.take(FIRST)))
    np.testing.assert_array_equal(design.estimator_.coil_maps_, whole.coil_maps_)
    design.run(4)
    assert len(design.history_["label"]) == 12
    assert np.linalg.norm(design.estimator_.image_ - HEAD) < 0.2 * np.linalg.norm(HEAD)


def test_a_design_that_stopped_before_the_maps_goes_on_as_if_it_had_not(tmp_path):
    logs = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    settings = {"initial": FIRST, "random_state": 0}
    whole = SequentialDesign(make(), POOL, SCAN.measure, log=logs[0], **settings).run(10)
    with SequentialDesign(make(), POOL, SCAN.measure, log=logs[1], **settings) as stopped:
        stopped.run(2)
    resumed = SequentialDesign.load(logs[1], make(), POOL, SCAN.measure).run(8)
    assert resumed.history_["label"] == whole.history_["label"]
    np.testing.assert_array_equal(resumed.estimator_.image_, whole.estimator_.image_)


def test_what_came_before_the_centre_counts_when_it_comes():
    early, rest = POOL.take([3, 16]), POOL.take(np.setdiff1d(FIRST, [16]))
    waiting = make().partial_fit(early, SCAN.measure(early))
    np.testing.assert_array_equal(waiting.select(POOL, 3), make().select(POOL, 3))  # the prior answers
    restored = make().restore(waiting.state())
    both = POOL.take([*early.lines, *rest.lines])
    at_once = make().fit(both, SCAN.measure(both))
    for model in (waiting, restored):
        model.partial_fit(rest, SCAN.measure(rest))
        np.testing.assert_array_equal(model.image_, at_once.image_)
        assert model.select(POOL) == at_once.select(POOL)


def test_a_design_without_initial_lines_finds_the_centre_by_itself():
    design = SequentialDesign(make(), POOL, SCAN.measure, random_state=0).run(8)
    assert design.estimator_.n_central_ >= 4


def test_before_the_maps_an_image_and_a_fit_are_refused_in_one_sentence():
    two = POOL.take([15, 16])
    waiting = make().partial_fit(two, SCAN.measure(two))
    for asked in (waiting.predict, lambda: waiting.image_std_, lambda: make().fit(two, SCAN.measure(two))):
        with pytest.raises(ValueError, match='^no centre: coils="estimate" .* 4 central lines .* have 2; ') as problem:
            asked()
        assert "\n" not in str(problem.value)
    with pytest.raises(ValueError, match=r"must have shape \(4, 1, 32\), those of 4 coils"):
        waiting.partial_fit(POOL.take([17]), [SCAN.measure(POOL.take([17]))[0][:2]])
    assert waiting.measured_.lines.tolist() == [15, 16]
