"""Images from several coils, from trajectories, and volumes: what is learnt, kept, restored, counted and refused."""

import copy
import pickle

import numpy as np
import pytest

from adaptive import ImageReconstructor, SequentialDesign
from adaptive.estimators.imaging.centre import centre_size
from adaptive.estimators.imaging.conventions import memory_of
from adaptive.estimators.imaging.measurements import MeasuredBlocks
from adaptive.estimators.imaging.prior import image_prior
from adaptive.images import head_scan, padded, polynomial_phase
from adaptive.images.coils import simulate_coils
from adaptive.linalg import Perturbations, PrecisionOperator
from adaptive.operators import Coils, FourierLines, NonuniformFourier, Product, Repeated
from designs import kspace
from designs.kspace.trajectory import spirals, spokes
from experiments.benchmarks import kspace_rounds

N = 32
SHAPE = (N, N)
HEAD = padded(head_scan()[12].image, 128).reshape(N, 4, N, 4).mean(axis=(1, 3))
PHASE = polynomial_phase(SHAPE, largest=1.0, random_state=0)
IMAGE = HEAD * np.exp(1j * PHASE)
MAPS = simulate_coils(SHAPE, 4, random_state=0)
LINES = kspace.lines(SHAPE)
SCALES = {"prior_scales": {"wavelet": 0.1, "tv": 0.05}, "n_samples": 4}


def measured(blocks, maps=None, image=IMAGE, sd=0.01, seed=0, mix=None):
    rng = np.random.default_rng(seed)
    result = []
    for block in blocks:
        y = block.forward(image if maps is None else maps * image)
        noise = rng.standard_normal(y.shape) + 1j * rng.standard_normal(y.shape)
        result.append(y + sd * (noise if mix is None else np.tensordot(mix, noise, 1)))
    return result


def error(model):
    return np.linalg.norm(model.image_ - HEAD) / np.linalg.norm(HEAD)


# --------------------------------------------------------------------------------------------------------------- coils


def test_coils_see_more_than_one():
    design = LINES.take(np.unique(np.r_[10:22, 0:32:3]))
    alone = ImageReconstructor(SHAPE, **SCALES).fit(design, measured(design))
    together = ImageReconstructor(SHAPE, coils=MAPS, **SCALES).fit(design, measured(design, MAPS))
    assert error(together) < 0.85 * error(alone)
    assert together.noise_variance_ / 1e-4 == pytest.approx(1.0, abs=0.8)
    np.testing.assert_array_equal(together.coil_maps_, MAPS)


def test_maps_are_estimated_from_the_centre():
    design = LINES.take(np.unique(np.r_[8:24, 0:32:3]))
    given = ImageReconstructor(SHAPE, coils=MAPS, **SCALES).fit(design, measured(design, MAPS))
    model = ImageReconstructor(SHAPE, coils="estimate", **SCALES).fit(design, measured(design, MAPS))
    assert model.coil_maps_.shape == MAPS.shape and error(model) < 2 * error(given)
    maps, centre = model.coil_maps_, model.n_central_
    further = LINES.take([4])
    model.partial_fit(further, measured(further, MAPS))
    assert model.coil_maps_ is maps and model.n_central_ == centre  # a line more is not worth other maps
    scores = model.predictive(LINES.take([1, 2])).log_determinant()
    assert np.all(scores[0] > 0) and np.all(scores[1] < scores[0])


def test_correlated_noise_is_made_white():
    rng = np.random.default_rng(0)
    mix = np.eye(4) + 0.5 * (rng.standard_normal((4, 4)) + 1j * rng.standard_normal((4, 4)))
    mix[0] *= 5  # one coil is far noisier
    covariance = mix @ mix.conj().T
    design = LINES.take(np.unique(np.r_[8:24, 0:32:3]))
    y = measured(design, MAPS, mix=mix, sd=0.01)
    options = {"coils": MAPS, **SCALES}
    blind = ImageReconstructor(SHAPE, **options).fit(design, y)
    told = ImageReconstructor(SHAPE, coil_covariance=covariance, **options).fit(design, y)
    scaled = ImageReconstructor(SHAPE, coil_covariance=7 * covariance, **options).fit(design, y)
    assert error(told) < 0.9 * error(blind)
    np.testing.assert_allclose(told.image_, scaled.image_, rtol=1e-6)
    mean = 1e-4 * np.trace(covariance).real / 4
    assert told.noise_variance_ == pytest.approx(mean, rel=0.8)


def test_samples_of_coils_belong_to_the_operator():
    blocks = [LINES[16], LINES[3], spirals(SHAPE, [0.3])[0]]
    samples = measured(blocks, MAPS, sd=0.0)
    known = MeasuredBlocks(SHAPE, n_coils=4, check=False).with_blocks(blocks, samples)
    operator = Product(Repeated(known.operator(), 4), Coils(MAPS))
    np.testing.assert_allclose(known.samples(), operator.forward(IMAGE).ravel(), atol=1e-6)
    assert known.n_coils == 4 and known.axis == 0 and known.with_block_assumed(LINES[9]).mask.sum() == 3 * N


# -------------------------------------------------------------------------------------------------------- trajectories


def test_spirals_become_an_image_and_one_more_costs_little():
    pool = spirals(SHAPE, np.arange(16) * np.pi / 8, revolutions=4)
    model = ImageReconstructor(SHAPE, **SCALES)
    model.fit(pool.take([0, 8]), measured(pool.take([0, 8])))
    few = error(model)
    design = SequentialDesign(
        model, pool, lambda query: measured(query.candidates), initial=[0, 8], random_state=0
    )  # fmt: skip
    design.run(6)
    chosen = list(design.history_["position"])
    assert error(design.estimator_) < 0.4 * few and len(set(chosen)) == len(chosen)
    assert 0.2 < design.estimator_.noise_variance_ / 1e-4 < 20  # few samples, full of signal
    before = design.estimator_.n_products_
    further = pool.take([next(k for k in range(16) if k not in chosen)])
    design.estimator_.partial_fit(further, measured(further))
    assert design.estimator_.n_products_ - before <= 150


def test_the_phase_is_read_from_trajectories_that_cover_the_centre():
    dense = spokes(SHAPE, np.arange(24) * np.pi / 24)
    known = MeasuredBlocks(SHAPE).with_blocks(dense, measured(dense))
    assert 8 <= centre_size(known) <= 32
    assert centre_size(MeasuredBlocks(SHAPE).with_blocks(dense.take([0]), measured(dense.take([0])))) < 4
    model = ImageReconstructor(SHAPE, **SCALES).fit(dense, measured(dense))
    inside = HEAD > 0.2
    turned = np.angle(np.exp(1j * (model.phase_ - PHASE)))[inside]
    assert np.sqrt(np.mean(turned**2)) < 0.25 and error(model) < 0.15
    centre = LINES.take(range(10, 22))
    mixed = ImageReconstructor(SHAPE, **SCALES).fit([*centre, dense[3]], measured([*centre, dense[3]]))
    assert mixed.n_central_ == 12 and mixed.phase_ is not None


def test_states_of_coils_and_trajectories_restore_to_the_bit(tmp_path):
    pool = spirals(SHAPE, np.arange(8) * np.pi / 4, revolutions=4)
    first = pool.take([0, 2, 4])
    options = {"coils": MAPS, "phase": PHASE, "noise_variance": 1e-4, **SCALES}
    model = ImageReconstructor(SHAPE, **options).fit(first, measured(first, MAPS))
    twins = [
        ImageReconstructor(SHAPE, **options).restore(pickle.loads(pickle.dumps(model.state()))),
        pickle.loads(pickle.dumps(model)),
    ]
    block = pool.take([5])
    after = copy.deepcopy(model).partial_fit(block, measured(block, MAPS))
    for twin in twins:
        for one in (model, twin):
            scores = one.predictive(pool).log_determinant()[0]
        np.testing.assert_array_equal(model.predictive(pool).log_determinant()[0], scores)
        twin.partial_fit(block, measured(block, MAPS))
        np.testing.assert_array_equal(after.design_posterior_.mean, twin.design_posterior_.mean)

    def design(log):
        make = ImageReconstructor(SHAPE, **options)
        return SequentialDesign(
            make, pool, lambda q: measured(q.candidates, MAPS), initial=[0, 2], random_state=0, log=log
        )  # fmt: skip

    run = design(tmp_path / "log").run(4)
    mean = run.estimator_.design_posterior_.mean
    run.save(tmp_path / "log")
    run.close()
    make = ImageReconstructor(SHAPE, **options)
    with SequentialDesign.load(tmp_path / "log", make, pool, measure=lambda q: measured(q.candidates, MAPS)) as again:
        np.testing.assert_array_equal(again.estimator_.design_posterior_.mean, mean)


def test_perturbations_keep_their_numbers_when_coils_gain_lines_or_trajectories_samples():
    """Of the right-hand sides only the part of what is new changes."""

    def right(X):
        return Perturbations(3, 0).right_hand_sides(PrecisionOperator(X))

    def coil(lines):
        return Product(Repeated(FourierLines(SHAPE, lines), 4), Coils(MAPS))

    assert np.allclose(right(coil([3, 4, 9])) - right(coil([3, 4])), right(coil([9])))
    points = spirals(SHAPE, [0.0, 1.0], revolutions=2).samples
    both, one = (NonuniformFourier(SHAPE, p) for p in (np.concatenate(points), points[0]))
    difference = right(both) - right(one)
    assert np.linalg.norm(difference) < 0.9 * np.linalg.norm(right(both))
    n, draws = len(points[0]), Perturbations(400, 0)
    variance = np.mean(draws.right_hand_sides(PrecisionOperator(one)) ** 2)
    assert variance == pytest.approx(n / N**2, rel=0.1)  # the diagonal of Re X^H X


# ------------------------------------------------------------------------------------------------------------- volumes


def test_a_volume_line_by_line():
    volume = HEAD.reshape(16, 2, 16, 2).mean(axis=(1, 3)) * np.hanning(18)[1:-1, None, None]
    pool = kspace.phase_encodes(volume.shape)
    first = np.flatnonzero(np.all(np.abs(pool.encodes - 8) < 4, axis=1))
    model = ImageReconstructor(volume.shape, **SCALES).fit(pool.take(first), measured(pool.take(first), image=volume))
    assert model.n_central_ >= 6 and model.design_posterior_.samples.dtype == np.float32
    before = np.linalg.norm(model.predict() - volume)
    chosen = list(first)
    for _ in range(4):
        best = model.select(pool, 4, exclude=chosen, joint=False)
        products = model.n_products_
        model.partial_fit(pool.take(best), measured(pool.take(best), image=volume))
        assert model.n_products_ - products <= 150
        chosen += best.tolist()
    assert model.image_.shape == volume.shape and np.linalg.norm(model.image_ - volume) < before
    again = list(pool.take(chosen[:3]))
    with pytest.raises(ValueError, match="is measured twice"):
        model.partial_fit(again, measured(again, image=volume))
    with pytest.raises(ValueError, match="is measured twice"):
        model.partial_fit(pool.take(chosen[:1]), measured(pool.take(chosen[:1]), image=volume))


def test_memory_is_estimated():
    prior = image_prior((64, 64, 64), "tv+wavelet", "db4", None, "complex", "transform", 1.0)
    needed = memory_of((64, 64, 64), prior, ("complex64", "float32"), 8)
    assert 0.1e9 < needed < 2e9 and memory_of((64, 64, 64), prior, ("complex64", "float32"), 8, 8) > needed


# -------------------------------------------------------------------------------------------------------------- counts


@pytest.mark.parametrize("kind", kspace_rounds.KINDS)
def test_rounds_cost_what_they_may(kind):
    row = kspace_rounds.rounds(kind, 16 if kind == "volume" else 32, 2)
    assert row["most in a round"] <= kspace_rounds.MOST_PRODUCTS
    assert row["transforms per round"] == (3 if kind == "spirals" else 0)


# ----------------------------------------------------------------------------------------------------------- bad input


CENTRE = LINES.take(range(12, 20))
SPIRAL = spirals(SHAPE, [0.0], revolutions=2)


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({"coils": MAPS[:, :16]}, CENTRE, None, r"coils must be maps of shape \(number of coils, 32, 32\)"),
        ({"coils": MAPS[0]}, CENTRE, None, "coils must be maps of shape"),
        ({"coils": 0 * MAPS}, CENTRE, None, "coils must not be zero everywhere"),
        ({"coils": np.nan * MAPS}, CENTRE, None, "coils contains .*nan"),
        ({"coils": "guess"}, CENTRE, None, "coils must be one of 'estimate'"),
        ({"coils": MAPS}, CENTRE, measured(CENTRE, MAPS[:3]), r"must have shape \(4, 1, 32\), those of 4 coils"),
        ({"coils": MAPS}, CENTRE, measured(CENTRE), "those of 4 coils, got"),
        ({"coils": "estimate"}, CENTRE, measured(CENTRE), r"must have shape \(number of coils, 1, 32\)"),
        ({"coils": "estimate"}, CENTRE.take([4]), measured(CENTRE.take([4]), MAPS), "no centre: coils="),
        ({"coil_covariance": np.eye(4)}, CENTRE, None, "coil_covariance needs coils"),
        ({"coils": MAPS, "coil_covariance": np.eye(3)}, CENTRE, None, r"coil_covariance must have shape \(4, 4\)"),
        ({"coils": MAPS, "coil_covariance": -np.eye(4)}, CENTRE, None, "coil_covariance must be positive definite"),
        ({"coils": MAPS, "coil_covariance": np.triu(np.ones((4, 4)))}, CENTRE, None, "must be Hermitian"),
        ({}, [NonuniformFourier(SHAPE, SPIRAL.samples[0][50:])], [np.ones(len(SPIRAL.samples[0]) - 50)], "no centre: "),
        ({}, SPIRAL, [np.ones(3)], "must have shape"),
        ({"shape": (2**11, 2**11, 2**11)}, CENTRE, None, "a volume of shape .* GB of memory"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options, X, y, message):
    options = {"shape": SHAPE, **SCALES, **options}
    y = measured(X, MAPS) if y is None else y
    with pytest.raises(ValueError, match=message) as problem:
        ImageReconstructor(**options).fit(X, y)
    assert "\n" not in str(problem.value)


def test_kspace_of_coils_and_volumes_is_checked():
    with pytest.raises(ValueError, match="not centred along axes 0 and 1"):
        shifted = [np.fft.ifftshift(y, 2) for y in measured(LINES, MAPS)]
        order = np.fft.ifftshift(np.arange(N))
        ImageReconstructor(SHAPE, coils=MAPS, **SCALES).fit(LINES, [shifted[k] for k in order])
    with pytest.raises(ValueError, match="not scaled as expected"):
        ImageReconstructor(SHAPE, coils=MAPS, **SCALES).fit(LINES, [N * y for y in measured(LINES, MAPS)])


@pytest.mark.parametrize("dtype", [np.complex64, complex])
def test_samples_keep_their_precision_and_lie_where_they_were_measured(dtype):
    shape, rng = (8, 6), np.random.default_rng(0)
    kspace = (rng.standard_normal((2, *shape)) + 1j * rng.standard_normal((2, *shape))).astype(dtype)
    first, further = FourierLines(shape, [5, 4]), FourierLines(shape, [1])
    known = MeasuredBlocks(shape, check=False, n_coils=2)
    for block in (first, further):
        known = known.with_blocks([block], [kspace[:, block.lines]])
    assert known.kspace.dtype == dtype and known.restored(known.state()).kspace.dtype == dtype
    np.testing.assert_array_equal(known.kspace, np.where(known.mask, kspace, 0))
    np.testing.assert_array_equal(known.restored(known.state()).samples(), known.samples())
    np.testing.assert_array_equal(known.of_lines([4, 5]).samples(), kspace[:, [4, 5]].ravel())
    assumed = known.with_block_assumed(FourierLines(shape, [7]))
    np.testing.assert_array_equal(assumed.kspace, known.kspace)
    mixed = known.with_blocks([FourierLines(shape, [0])], [kspace[:, [0]].astype(complex)])
    assert mixed.kspace.dtype == complex
