"""Scores of coil data, volumes and trajectories against exact determinants; what they cost; batches and costs."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from adaptive import ImageReconstructor
from adaptive.estimators.imaging.predictive import BlockPredictive
from adaptive.estimators.imaging.scores.chain_rule import chained_log_determinant
from adaptive.estimators.imaging.sensitivity import on_unknown
from adaptive.images import head_scan, padded
from adaptive.inference import LargePosterior
from adaptive.inference.posterior import DIAGNOSTICS
from adaptive.linalg import Perturbations
from adaptive.operators import FourierLines, FourierMask, NonuniformFourier, RealStacked
from designs import kspace
from designs.kspace.trajectory import TrajectoryPool, spirals, spokes
from experiments.benchmarks import rank_d_corrections

N = 16
SHAPE = (N, N)
HEAD = padded(head_scan()[12].image, 128).reshape(N, 8, N, 8).mean(axis=(1, 3))
Y, X = np.mgrid[-1 : 1 : N * 1j, -1 : 1 : N * 1j]
PHASE = 0.8 * Y + 0.5 * X**2
NOISE = 1e-2
OPTIONS = {"prior_scales": 0.1, "wavelet": "haar", "noise_variance": NOISE**2, "dtype": "float32"}


def coil_maps(n_coils):
    angles = 2 * np.pi * np.arange(n_coils) / n_coils
    maps = [np.exp(-((Y - 1.2 * np.sin(a)) ** 2 + (X - 1.2 * np.cos(a)) ** 2) / 1.2 + 1j * a) for a in angles]
    return np.array(maps) / np.sqrt(np.sum(np.abs(maps) ** 2, axis=0))


def measured(blocks, image, maps=None, seed=0):
    rng = np.random.default_rng(seed)
    clean = [block.forward(image if maps is None else maps * image) for block in blocks]
    return [y + NOISE * (rng.standard_normal(y.shape) + 1j * rng.standard_normal(y.shape)) for y in clean]


def fitted(first, maps=None, phase=PHASE, **options):
    image = HEAD if phase is None else HEAD * np.exp(1j * phase)
    model = ImageReconstructor(SHAPE, coils=maps, phase=phase, **{**OPTIONS, **options})
    return model.fit(first, measured(first, image, maps))


def exact(predictive, positions):
    """Joint log-determinants under the dense covariance."""
    covariance = np.linalg.inv(predictive.posterior.system.to_dense())
    values = []
    for i in positions:
        operator = on_unknown(predictive._block(i), predictive.sensitivity, predictive._complex)
        rows = (operator if operator.dtype.kind != "c" else RealStacked(operator)).to_dense()
        system = np.eye(len(rows)) + rows @ covariance @ rows.T / predictive.noise_variance
        values.append(np.linalg.slogdet(system)[1])
    return np.array(values)


LINES = kspace.lines(SHAPE)
FREE = np.array([1, 2, 3, 4, 12, 13, 14, 15])


@pytest.mark.parametrize(("n_coils", "design_dtype"), [(4, "float32"), (8, "float32"), (4, "complex64")])
def test_lines_of_coils_have_the_values_of_exact_determinants(n_coils, design_dtype):
    first = LINES.take(range(5, 12))
    model = fitted(first, coil_maps(n_coils), design_dtype=design_dtype, n_samples=16)
    predictive = model.predictive(LINES.take(FREE))
    values, errors = predictive.log_determinant()
    truth = exact(predictive, range(len(FREE)))
    assert np.all(np.abs(values - truth) < 0.15 * truth + 4 * errors) and np.all(errors < 0.1 * values)
    assert abs(np.median(values / truth) - 1) < 0.08
    assert truth[values.argmax()] > 0.95 * truth.max()
    np.testing.assert_allclose(predictive.refined([0, 5]).log_determinant()[0], truth[[0, 5]], rtol=1e-4)
    masks = [FourierMask(SHAPE, LINES[k].mask) for k in FREE]
    for other in (list(LINES.take(FREE)), masks):
        np.testing.assert_allclose(model.predictive(other).log_determinant()[0], values, rtol=1e-6)


def test_one_coil_that_sees_all_alike_is_no_coil():
    first = LINES.take(range(5, 12))
    one = fitted(first, np.ones((1, *SHAPE)), phase=None, n_samples=16)
    none = fitted(first, phase=None, n_samples=16)
    np.testing.assert_allclose(one.image_, none.image_, atol=2e-3)
    pool = LINES.take(FREE)
    a, b = one.predictive(pool).log_determinant()[0], none.predictive(pool).log_determinant()[0]
    np.testing.assert_allclose(a, b, rtol=0.15)
    own = one.predictive(LINES.take([0])).log_determinant()[0]  # its own mirror: every number once
    np.testing.assert_allclose(own, exact(one.predictive(LINES.take([0])), [0]), rtol=0.2)


@pytest.mark.parametrize("kind", ["spiral", "spoke"])
@pytest.mark.parametrize(("phase", "design_dtype"), [(None, "float32"), (PHASE, "float32"), (PHASE, "complex64")])
def test_trajectories_have_the_values_of_exact_determinants(kind, phase, design_dtype):
    angles = np.arange(24) * (2 if kind == "spiral" else 1) * np.pi / 24
    pool = spirals(SHAPE, angles, revolutions=2) if kind == "spiral" else spokes(SHAPE, angles)
    model = fitted(pool.take([0, 8, 16]), phase=phase, design_dtype=design_dtype, n_samples=16)
    rest = np.setdiff1d(np.arange(24), [0, 8, 16])
    predictive = model.predictive(pool.take(rest))
    values, errors = predictive.log_determinant()
    truth = exact(predictive, range(len(rest)))
    assert np.all(np.abs(values - truth) < 0.2 * truth + 4 * errors)
    assert abs(np.median(values / truth) - 1) < 0.15
    assert spearmanr(values, truth)[0] > 0.8 and truth[values.argmax()] > 0.93 * truth.max()
    assert predictive.n_transforms == 3  # for all candidates together
    unequal = [NonuniformFourier(SHAPE, one[: len(one) - k % 2]) for k, one in enumerate(pool.samples[rest])]
    as_list = model.predictive(unequal).log_determinant()[0]
    np.testing.assert_allclose(as_list[::2], values[::2], rtol=1e-4)


def test_a_trajectory_is_worth_what_its_mirror_image_is_until_one_is_measured():
    """Of a real image: angles a and a + pi of a spiral that begins at DC hold conjugate samples."""
    pool = spirals(SHAPE, [0.3, 0.3 + np.pi, 1.1, 1.1 + np.pi], revolutions=2)
    model = fitted(LINES.take(range(6, 11)), phase=None)
    values = model.predictive(pool).log_determinant()[0]
    np.testing.assert_allclose(values[[0, 2]], values[[1, 3]], rtol=1e-3)
    model.partial_fit(pool.take([0]), measured(pool.take([0]), HEAD))
    after = model.predictive(pool).log_determinant()[0]
    samples = len(pool.samples[0])
    assert after[1] < 1.2 * 2 * samples * np.log(2.0) and after[1] < 0.6 * values[1]  # (ln 2)/2 per real number


def test_gains_of_a_batch_add_up():
    """Chosen jointly: each given the earlier ones; together what the joint determinant says."""
    pool = spirals(SHAPE, np.arange(12) * np.pi / 6, revolutions=2)
    model = fitted(pool.take([0, 6]), n_samples=16, refine=True)
    rest = pool.take([1, 2, 3, 4, 5, 7, 8])
    model.design_posterior_.sample_tol = 1e-6
    batch, gains = model.select(rest, 2, return_scores=True)
    predictive = model.predictive(rest)
    both = NonuniformFourier(SHAPE, np.concatenate([rest.samples[k] for k in batch]))
    assert gains.sum() == pytest.approx(0.5 * exact(model.predictive([both]), [0])[0], rel=1e-3)
    first, second = batch
    alone = predictive.refined([first]).log_determinant()[0]
    after = predictive.given(int(first)).refined([second]).log_determinant()[0]
    assert 0.5 * (alone + after)[0] == pytest.approx(gains.sum(), rel=1e-4)


def test_costs_of_shots_and_joint_batches():
    pool = TrajectoryPool(SHAPE, [*spirals(SHAPE, [0.5, 2.0], revolutions=2).samples, spokes(SHAPE, [1.0]).samples[0]])
    model = fitted(spokes(SHAPE, np.arange(6) * np.pi / 6))
    dear = model.select(pool)
    assert dear[0] in (0, 1)
    assert model.select(pool, cost=[50.0, 50.0, 1.0])[0] == 2
    four = model.select(spirals(SHAPE, np.arange(16) * np.pi / 8, revolutions=2), 4)
    assert len(set(four.tolist())) == 4


def test_a_single_trajectory_is_scored_cheaply():
    """What a search over angles asks: nothing is solved, three transforms."""
    pool = spirals(SHAPE, np.arange(8) * np.pi / 4, revolutions=2)
    model = fitted(pool.take([0, 4]))
    whole = model.predictive(pool).log_determinant()[0]
    before = model.design_posterior_.system.n_products
    one = model.predictive(pool.take([3]))
    np.testing.assert_allclose(one.log_determinant()[0], whole[3], rtol=1e-4)
    assert model.design_posterior_.system.n_products == before and one.n_transforms == 3
    assert one._seen is model.predictive(pool.take([5]))._seen  # what only the posterior decides is kept


def test_chains_of_independent_and_of_equal_channels():
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((200, 2, 3, 40)) + 1j * rng.standard_normal((200, 2, 3, 40))
    variance, error = np.full((2, 3, 40), 2.0), np.full((2, 3, 40), 0.1)
    values, errors = chained_log_determinant(draws, variance, error, 0.5)
    np.testing.assert_allclose(values, 2 * 3 * 40 * np.log(3.0), rtol=0.02)
    assert np.all((errors > 0) & (errors < values))
    equal = np.repeat(draws[:, :, :1], 3, axis=2)
    np.testing.assert_allclose(
        chained_log_determinant(equal, variance, error, 0.5)[0], 2 * 40 * np.log(1 + 3 * 2.0), rtol=0.02
    )
    missing = variance * np.array([1.0, 0.0, 0.0])[:, None]
    np.testing.assert_allclose(
        chained_log_determinant(draws, missing, 0 * error, 0.5)[0], 2 * 40 * np.log(3.0), rtol=0.02
    )


@pytest.mark.parametrize(("nodes", "memory", "window"), [(12, 2, 5), (12, 2, 6), (4, 2, 9), (9, 0, 3), (1, 2, 9)])
def test_a_chain_is_the_determinant_of_each_node_given_those_before(nodes, memory, window):
    """Pooled correlations of a node and those before it, as matrices: windows end at the ends of the chain."""
    rng = np.random.default_rng(0)
    draws = np.cumsum(rng.standard_normal((5, 2, 3, nodes)) + 1j * rng.standard_normal((5, 2, 3, nodes)), axis=-1)
    draws[:, 1, 2, nodes // 2] = 0
    variance = rng.uniform(0.5, 2, (2, 3, nodes))
    variance[0, 1] = 0
    values, _ = chained_log_determinant(draws, variance, 0 * variance, 0.35, memory, window)
    size = min(window, nodes)
    for block in range(2):
        scale = np.sqrt(np.mean(np.abs(draws[:, block]) ** 2, axis=0))
        x, total = draws[:, block] / np.where(scale > 0, scale, 1), 0.0
        lags = range(min(memory, nodes - 1) + 1)
        for j in range(nodes):
            places = np.clip(np.arange(j - size // 2, j - size // 2 + size), 0, nodes - 1)
            seen = [np.concatenate([x[..., k - lag] * (k >= lag) for lag in lags], axis=1) for k in places]
            pooled = np.mean([one.T @ one.conj() for one in seen], axis=0) / len(draws)
            power = np.diagonal(pooled).real
            spread = np.concatenate([variance[block, :, j - lag] * (j >= lag) for lag in lags])
            root = np.sqrt(spread / 0.7 / np.where(power > 0, power, 1))
            matrix = np.eye(len(root)) + root[:, None] * pooled * root
            total += np.linalg.slogdet(matrix)[1] - np.linalg.slogdet(matrix[3:, 3:])[1]
        np.testing.assert_allclose(values[block], 2 * total, rtol=1e-9)


def test_encodes_of_a_volume_are_scored_without_operators():
    volume = np.zeros((8, 8, 8))
    volume[2:6, 2:7, 2:6] = np.random.default_rng(0).random((4, 5, 4)) + 0.5
    pool = kspace.phase_encodes((8, 8, 8), readout=1)
    central = np.flatnonzero(np.all(np.abs(pool.encodes - 4) <= 2, axis=1))
    first = pool.take(central)
    options = {**OPTIONS, "prior": "tv", "n_samples": 16}
    model = ImageReconstructor((8, 8, 8), phase=None, **options).fit(first, measured(first, volume))
    free = np.setdiff1d(np.arange(64), central)
    rest = pool.take(free)
    values, errors = model.predictive(rest).log_determinant()
    truth = exact(model.predictive(rest), range(len(free)))
    assert np.all(np.abs(values - truth) < 0.1 * truth + 4 * errors)
    np.testing.assert_allclose(model.predictive(list(rest)).log_determinant()[0], values, rtol=1e-6)
    mirrors = {tuple(e): v for e, v in zip(rest.encodes.tolist(), values, strict=True)}
    for (a, b), value in mirrors.items():
        assert mirrors.get(((8 - a) % 8, (8 - b) % 8), value) == pytest.approx(value, rel=1e-5)
    plane = FourierLines((8, 8, 8), [1], 0)
    assert model.predictive([plane]).log_determinant()[0][0] == pytest.approx(
        exact(model.predictive([plane]), [0])[0], rel=0.25
    )


def test_samples_corrected_by_the_rank_of_a_line_are_those_solved_again():
    row = rank_d_corrections.measure(N, 1e-5, 2 * N)
    assert row["rank"] == 2 * N and row["difference"] < 1e-3
    row = rank_d_corrections.measure(2 * N)
    assert row["from the circulant"] < row["solved again"] < row["correction"]


def redrawn(posterior, seed, n_samples=8):
    """The same posterior with other samples."""
    numbers = Perturbations(n_samples, np.random.default_rng(seed), posterior.samples.dtype)
    known = {name: getattr(posterior, name) for name in (*DIAGNOSTICS, "mean", "sites", "group_lengths")}
    return LargePosterior(posterior.system, perturbations=numbers, **known)


@pytest.mark.parametrize("n_samples", [4, 8])
def test_limits_of_sampled_variances_cover_as_often_as_they_say(n_samples):
    model = fitted(LINES.take(range(5, 12)), design_noise_variance=None, design_prior_scales=None)
    posterior = model.design_posterior_
    truth, inside, plain = np.diag(np.linalg.inv(posterior.system.to_dense())), [], []
    for seed in range(200):
        other = redrawn(posterior, seed, n_samples)
        low, high = other.variance_interval()
        value, error = other.variances(return_error=True)
        inside.append(np.mean((low < truth) & (truth < high)))
        plain.append(np.mean(np.abs(value - truth) < 1.96 * error))
    assert 0.93 < np.mean(inside) < 0.97
    assert np.mean(plain) < 0.85  # what symmetric limits of eight samples are worth
    wide, wider = (np.subtract(*other.variance_interval(level=level)[::-1]) for level in (0.5, 0.99))
    assert np.all(wide <= wider) and np.mean(wide < wider) > 0.99  # of a variance found to be zero they are alike


@pytest.mark.parametrize(
    "options",
    [
        {"design_noise_variance": None, "design_prior_scales": None},
        {"design_noise_variance": 1e-6, "design_prior_scales": 1 / 300},
        {"design_dtype": "complex64", "imaginary_prior": "pixel"},
    ],
    ids=["as the reconstruction", "stiff", "complex"],
)
@pytest.mark.parametrize("n_samples", [4, 8])
def test_scores_of_lines_are_within_their_stated_errors(options, n_samples):
    model = fitted(LINES.take(range(5, 12)), **options)
    predictive = model.predictive(LINES.take(FREE))
    truth, within = exact(predictive, range(len(FREE))), []
    for seed in range(200 if n_samples == 4 else 40):  # the default, and others in short
        other = BlockPredictive(
            redrawn(model.design_posterior_, seed, n_samples), predictive.candidates, predictive.acquired,
            predictive.noise_variance, sensitivity=predictive.sensitivity,
        )  # fmt: skip
        values, errors = other.log_determinant()
        within.append(np.abs(values - truth) < 1.96 * errors)
        assert np.all(errors < 0.3 * values)
    assert np.mean(within) >= 0.93
