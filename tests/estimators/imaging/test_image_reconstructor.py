"""Images from lines: scores against exact determinants, learning step by step, scales by evidence, bad input."""

import copy
import functools
import pickle
import warnings

import numpy as np
import pytest
import pywt.data
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from adaptive import ImageReconstructor, SequentialDesign, inference
from adaptive.estimators.imaging.measurements import MeasuredBlocks
from adaptive.estimators.imaging.predictive import BlockPredictive
from adaptive.images import head_scan, simulate_scan
from adaptive.inference import LargePosterior, variational_bounds
from adaptive.linalg import PrecisionOperator, variances
from adaptive.operators import (
    Dense,
    Diagonal,
    FiniteDifference,
    FourierLines,
    FourierMask,
    Product,
    RealStacked,
    Wavelet,
)
from designs import kspace

SHAPE = (32, 32)


def crop(seed, n=32):
    """A crop of a photograph, reduced."""
    rng = np.random.default_rng(seed)
    name = ["camera", "ascent", "aero"][seed % 3]
    image = getattr(pywt.data, name)().astype(float)[:512, :512] / 255.0
    i, j = rng.integers(0, 512 - 8 * n + 1, 2)
    return image[i : i + 8 * n, j : j + 8 * n].reshape(n, 8, n, 8).mean(axis=(1, 3))


def scan_of(seed=0, n=32, snr=100, largest_phase=0.0):
    return simulate_scan(crop(seed, n), snr=snr, largest_phase=largest_phase, random_state=seed)


REAL = {"phase": None, "dtype": "float64", "design_dtype": "float64"}


def fitted(scan, lines, **options):
    pool = kspace.lines(scan.image.shape)
    first = pool.take(lines)
    return ImageReconstructor(scan.image.shape, **options).fit(first, scan.measure(first)), pool


# ------------------------------------------------------------------------------------------------------------- scores


def exact_scores(posterior, covariance, lines, noise, phase=None):
    """Joint log-determinants of lines under a dense covariance, by stacking real rows."""
    if covariance is None:
        covariance = np.linalg.inv(posterior.system.to_dense())
    shape = posterior.system.input_shape
    kind = "complex" if len(shape) == 3 else "real"
    values = []
    for line in lines:
        block = FourierLines(shape[-2:], [line])
        operator = RealStacked(block if phase is None else Product(block, phase), kind)
        d = operator.shape[0]
        rows = operator.adjoint(np.eye(d).reshape(d, *operator.output_shape)).reshape(d, -1)
        values.append(np.linalg.slogdet(np.eye(d) + rows @ covariance @ rows.T / noise)[1])
    return np.array(values)


def exact_loop(estimator, noise, steps=2):
    """The covariance after further outer steps with exact variances."""
    posterior = estimator.design_posterior_
    system, scale = posterior.system, float(estimator.design_prior_scales)
    right = (
        posterior.system.X.adjoint(estimator.measured_.samples().reshape(posterior.system.X.output_shape)).real.ravel()
        / noise
    )
    for _ in range(steps):
        z = variances.exact(system).estimate
        s = system.project(np.linalg.solve(system.to_dense(), right).reshape(1, *system.input_shape))[0]
        system = system.with_sites(1 / (scale * np.sqrt(z + s**2)))
    return np.linalg.inv(system.to_dense())


def test_the_best_line_is_among_the_exact_best_two():
    """In nine of ten models, by eight samples: photographs, three noise levels, against a loop with exact variances."""
    hits, correlations = 0, []
    for seed in range(10):
        noise, scale = [(1e-4, 1 / 8), (1e-5, 1 / 60), (1e-6, 1 / 300)][seed % 3]
        scan = scan_of(seed)
        first = np.unique(np.r_[13:19, np.random.default_rng(seed).integers(0, 13, 2)])
        model, pool = fitted(
            scan,
            first,
            design_noise_variance=noise,
            design_prior_scales=scale,
            prior_scales=0.1,
            n_samples=8,
            wavelet="db2",
            **REAL,
        )
        free = np.setdiff1d(np.arange(32), first)
        values, errors = model.predictive(pool.take(free)).log_determinant()
        assert np.all(errors > 0) and np.all(errors < 0.2 * values)
        exact = exact_scores(model.design_posterior_, exact_loop(model, noise), free, noise)
        hits += np.sum(exact > exact[values.argmax()] + 1e-9) < 2
        correlations.append(np.corrcoef(values, exact)[0, 1])
    assert hits >= 9, hits
    assert np.mean(correlations) > 0.97


@pytest.mark.parametrize("design_dtype", ["float64", "complex128"])
@pytest.mark.parametrize("largest_phase", [0.0, 1.5])
def test_scores_have_the_values_of_exact_determinants(design_dtype, largest_phase):
    scan = scan_of(1, 16, largest_phase=largest_phase)
    model, pool = fitted(
        scan, range(5, 11), design_noise_variance=1e-5, design_prior_scales=1 / 60, prior_scales=0.1, n_samples=64,
        wavelet="db2", design_dtype=design_dtype, phase="estimate" if largest_phase else None,
    )  # fmt: skip
    predictive = model.predictive(pool)
    values, errors = predictive.log_determinant()
    turn = None if model.phase_ is None else Diagonal(np.exp(1j * model.phase_))
    exact = exact_scores(model.design_posterior_, None, range(16), 1e-5, turn)
    free = [k for k in range(1, 16) if not 5 <= k < 11]  # but its own mirror, and what was measured
    assert np.all(np.abs(values - exact)[free] < 0.08 * exact[free] + 4 * errors[free])
    refined = predictive.refined([0, 3, 12])
    np.testing.assert_allclose(refined.log_determinant()[0], exact[[0, 3, 12]], rtol=1e-5)
    assert not predictive.provides("refined") and model.set_params(refine=True).predictive(pool).provides("refined")


def test_mirrored_lines_have_equal_scores_until_one_is_measured():
    scan = scan_of(2)
    model, pool = fitted(scan, range(12, 21), prior_scales=0.1, **REAL)
    values = model.predictive(pool).log_determinant()[0]
    np.testing.assert_allclose(values[1:12], values[31:20:-1], rtol=1e-9)
    model.partial_fit(pool.take([5]), scan.measure(pool.take([5])))
    after = model.predictive(pool).log_determinant()[0]
    bound = 2 * 32 * np.log(2.0)
    assert after[27] < 1.1 * bound and after[27] < 0.6 * values[27]  # a copy: at most (ln 2)/2 per real number


def test_masks_lists_pools_and_rows_agree():
    scan = scan_of(0, 16)
    model, pool = fitted(scan, range(5, 11), prior_scales=0.1, wavelet="db2", **REAL)
    of_pool = model.predictive(pool).log_determinant()[0]
    of_list = model.predictive(list(pool)).log_determinant()[0]
    of_masks = model.predictive([FourierMask((16, 16), block.mask) for block in pool]).log_determinant()[0]
    np.testing.assert_allclose(of_list, of_pool)
    np.testing.assert_allclose(of_masks, of_pool)
    rows = np.random.default_rng(0).standard_normal((4, 256))
    values = model.predictive(rows).log_determinant()[0]
    covariance = np.linalg.inv(model.design_posterior_.system.to_dense())
    exact = np.log1p(np.einsum("ij,jk,ik->i", rows, covariance, rows) / 1e-6)
    np.testing.assert_allclose(values, exact, rtol=0.1)

    class Dished(Dense):  # a block that knows nothing of grids
        def __init__(self, line):
            super().__init__(np.eye(2))
            self.line, self.input_shape, self.output_shape = line, (16, 16), line.output_shape
            self.dtype = line.dtype

        def _forward(self, u):
            return self.line._forward(u)

        def _adjoint(self, v):
            return self.line._adjoint(v)

    exact_line = model.predictive(pool).refined([2]).log_determinant()[0]
    np.testing.assert_allclose(model.predictive([Dished(pool[2])]).log_determinant()[0], exact_line, rtol=1e-6)


def test_a_line_that_is_its_own_mirror_counts_every_number_once():
    scan = scan_of(0, 16)
    model, pool = fitted(scan, range(6, 10), prior_scales=0.1, wavelet="db2", n_samples=256, **REAL)
    value = model.predictive(pool.take([0])).log_determinant()[0]
    exact = exact_scores(model.design_posterior_, None, [0], 1e-6)
    np.testing.assert_allclose(value, exact, rtol=0.05)


# ------------------------------------------------------------------------------------------------------ joint batches


def test_what_ifs_are_exact_determinants_given_a_line():
    scan = scan_of(0, 16)
    model, pool = fitted(scan, range(5, 11), prior_scales=0.1, wavelet="db2", n_samples=64, **REAL)
    model.design_posterior_.sample_tol = 1e-6
    belief = model.predictive(pool)
    after = belief.given(2)
    measured = belief.acquired.with_block_assumed(pool[2]).operator()
    covariance = np.linalg.inv(belief.posterior.system.with_measurements(measured).to_dense())
    exact = exact_scores(belief.posterior, covariance, [3, 13], 1e-6)
    np.testing.assert_allclose(after.refined([3, 13]).log_determinant()[0], exact, rtol=1e-6)
    np.testing.assert_allclose(after.log_determinant()[0][[3, 13]], exact, rtol=0.1)
    twice = after.given(2)  # measured again: the noise of the mean is halved
    assert twice.refined([2]).log_determinant()[0] < after.refined([2]).log_determinant()[0]
    both = belief.covariance([2, 3], [2, 3])
    assert both.shape == (64, 64)
    joint = np.linalg.slogdet(np.eye(64) + both / 1e-6)[1]
    one_by_one = belief.refined([2]).log_determinant()[0] + after.refined([3]).log_determinant()[0]
    assert joint == pytest.approx(one_by_one[0], rel=1e-6)


def test_a_joint_batch_has_no_mirrors_and_pending_lines_are_not_asked_again():
    scan = scan_of(2)
    model, pool = fitted(scan, range(12, 21), prior_scales=0.1, **REAL)
    free = ~np.isin(pool.lines, np.arange(12, 21))
    before = pickle.dumps(model)
    batch, scores = model.select(pool, 4, mask=free, return_scores=True)
    assert pickle.dumps(model) == before
    lines = pool.lines[batch]
    assert len(set(lines)) == 4 and not np.isin(kspace.mirror(32, lines), lines).any()
    top = model.select(pool, 4, mask=free, joint=False)
    assert np.isin(kspace.mirror(32, pool.lines[top]), pool.lines[top]).any()  # the first two are copies of each other
    beside = model.select(pool, mask=free, pending=pool.take(batch[:1]))
    np.testing.assert_array_equal(beside, batch[1:2])
    assert np.all(np.diff(scores) < 0)


# ------------------------------------------------------------------------------------------------------------ learning


def test_head_scan_line_by_line():
    """Sixteen central lines, then eight chosen ones: a better image than the next central ones give."""
    scan = simulate_scan(head_scan()[12].image, snr=200, random_state=0)
    pool = kspace.lines(scan.image.shape)
    first = kspace.central(128, 16)
    options = {"prior_scales": {"wavelet": 0.1, "tv": 0.05}, "random_state": 0}
    model = ImageReconstructor(scan.image.shape, **options).fit(pool.take(first), scan.measure(pool.take(first)))
    lines, before = list(first), np.linalg.norm(model.predict() - scan.image)
    for _ in range(8):
        chosen = model.select(pool, mask=~np.isin(pool.lines, lines))
        lines += pool.lines[chosen].tolist()
        products = model.n_products_
        model.partial_fit(pool.take(chosen), scan.measure(pool.take(chosen)))
        assert 0 < model.n_products_ - products <= 200 and model.n_iter_ == 1
    assert model.predict().shape == (128, 96) and model.image_.dtype == float
    error = np.linalg.norm(model.predict() - scan.image)
    low = pool.take(kspace.low_pass(128, 24, 16))
    assert error < before and error < np.linalg.norm(model.reconstruct(low, scan.measure(low)) - scan.image)
    assert not np.isin(kspace.mirror(128, lines[16:]), lines[16:]).any()


def test_partial_fit_comes_near_fit():
    scan = scan_of(0)
    options = {"prior_scales": 0.1, "n_samples": 16, **REAL}
    cold, pool = fitted(scan, [2, 7, *range(12, 20)], **options)
    warm, _ = fitted(scan, range(12, 20), **options)
    for k in (7, 2, 7):
        block = pool.take([k])
        if k not in warm.measured_.lines:
            warm.partial_fit(block, scan.measure(block))
    np.testing.assert_array_equal(warm.measured_.lines, cold.measured_.lines)
    np.testing.assert_allclose(warm.image_, cold.image_)  # the mode does not depend on the way
    a, b = (m.predictive(pool).log_determinant()[0] for m in (warm, cold))
    free = ~np.isin(pool.lines, cold.measured_.lines)
    assert np.corrcoef(a[free], b[free])[0, 1] > 0.98
    u, v = warm.design_posterior_.mean, cold.design_posterior_.mean
    assert np.linalg.norm(u - v) < 0.02 * np.linalg.norm(v)


def test_the_loop_resumes_to_the_bit(tmp_path):
    scan = scan_of(0)
    pool = kspace.lines(SHAPE)
    make = functools.partial(ImageReconstructor, SHAPE, prior_scales=0.1, n_samples=4)

    def design(log):
        return SequentialDesign(
            make(), pool, scan.measure, initial=pool.positions(range(12, 20)), random_state=0, log=log,
            batch_size=1,
        )  # fmt: skip

    first = design(tmp_path / "log").run(11)
    positions, mean = list(first.history_["position"]), first.estimator_.design_posterior_.mean
    following = first.ask().positions
    first.save(tmp_path / "log")
    first.close()
    with SequentialDesign.load(tmp_path / "log", make(), pool, measure=scan.measure) as again:
        np.testing.assert_array_equal(again.estimator_.design_posterior_.mean, mean)
        assert list(again.history_["position"]) == positions
        assert again.ask().positions.tolist() == following.tolist()


def test_state_restores_to_the_bit_and_copies_are_equal():
    scan = scan_of(3, largest_phase=1.0)
    model, pool = fitted(scan, range(12, 20), n_samples=4)
    state = pickle.loads(pickle.dumps(model.state()))
    twins = [
        ImageReconstructor(SHAPE, n_samples=4).restore(state),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ]
    for twin in twins:
        for other in (twin, model):
            assert isinstance(other.predictive(pool), BlockPredictive)
        np.testing.assert_array_equal(
            twin.predictive(pool).log_determinant()[0], model.predictive(pool).log_determinant()[0]
        )
        block = pool.take([3])
        a = copy.deepcopy(model).partial_fit(block, scan.measure(block))
        b = twin.partial_fit(block, scan.measure(block))
        np.testing.assert_array_equal(a.design_posterior_.mean, b.design_posterior_.mean)
        np.testing.assert_array_equal(a.image_, b.image_)


def test_before_any_fit_the_prior_answers():
    model = ImageReconstructor(SHAPE)
    pool = kspace.lines(SHAPE)
    chosen = model.select(pool)[0]
    assert abs(chosen - 16) <= 1  # DC, or the line next to it, which is not half mirrored
    assert not hasattr(model, "measured_")
    with pytest.raises(NotFittedError):
        model.predict()
    assert clone(model).get_params() == model.get_params()


# ---------------------------------------------------------------------------------------------- noise, scales, pictures


def test_noise_is_estimated():
    for snr in (30, 50, 100):
        scan = simulate_scan(head_scan()[12].image, snr=snr, random_state=snr)
        pool = kspace.lines(scan.image.shape).take(kspace.central(128, 48))
        estimate = MeasuredBlocks(scan.image.shape).with_blocks(pool, scan.measure(pool)).noise_variance()
        assert 0.9 < estimate / scan.noise_variance < 2.0


def test_scales_learnt_by_evidence_reconstruct_about_as_well_as_the_best():
    scan = scan_of(0, snr=100)
    model, _ = fitted(scan, [1, 3, 5, 8, 10, *range(12, 20)], **REAL)
    scales = model.prior_scales_
    assert set(scales) == {"wavelet", "tv"} and all(0.005 < s < 1 for s in scales.values())
    errors = {
        scale: np.linalg.norm(fitted(scan, model.measured_.lines, prior_scales=scale, **REAL)[0].image_ - scan.image)
        for scale in (0.02, 0.1, 0.5)
    }
    assert np.linalg.norm(model.image_ - scan.image) < 1.1 * min(errors.values())
    posterior = model.posterior_
    total = np.sqrt(posterior.variance_estimates + posterior.system.project(posterior.mean.reshape(1, 32, 32))[0] ** 2)
    parts = np.split(total, [posterior.group_lengths[0]])
    assert sum(part.sum() / scales[name] for part, name in zip(parts, ("wavelet", "tv"), strict=True)) == pytest.approx(
        1024, rel=0.1
    )


def test_image_std_covers_the_errors():
    scan = scan_of(0, snr=100)
    model, _ = fitted(scan, [1, 3, 5, 8, 10, *range(12, 20)], reconstruction="mean", **REAL)
    inside = np.abs(model.unknown_ - scan.image) < 1.645 * model.image_std_
    assert 0.75 < inside.mean() < 0.99
    exact = np.sqrt(np.diag(np.linalg.inv(model.posterior_.system.to_dense())))
    np.testing.assert_allclose(model.image_std_.ravel(), exact, rtol=0.5)
    assert np.median(np.abs(np.log(model.image_std_.ravel() / exact))) < 0.1


def test_complex_images_need_the_prior_on_the_imaginary_part():
    """The default puts it there; without it, half-plane designs fail, as they do with a weak prior on its pixels."""
    scan = scan_of(0, snr=100, largest_phase=1.0)
    lines = np.unique(np.r_[0:20:2, 13:20])  # the centre is 16: every other line of one side, all in the middle
    errors = {}
    for imaginary, scales in [
        ("transform", {"wavelet": 0.1, "tv": 0.05}),
        ("pixel", {"wavelet": 0.1, "tv": 0.05, "imaginary": 0.005}),
        ("none", {"wavelet": 0.1, "tv": 0.05}),
    ]:
        model, _ = fitted(scan, lines, imaginary_prior=imaginary, prior_scales=scales, dtype="complex128")
        errors[imaginary] = np.linalg.norm(model.predict() - scan.image)
        assert np.iscomplexobj(model.unknown_) and not np.iscomplexobj(model.predict())
    assert errors["transform"] < 0.9 * errors["none"] and errors["pixel"] < 0.95 * errors["none"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_map_is_the_least_of_its_penalties_and_its_magnitudes_are_reported():
    """Misfit, Laplace penalties on wavelets, on differences, on the imaginary part: no way on from it is downhill."""
    scan = scan_of(0, 16, snr=50, largest_phase=1.0)
    scales = {"wavelet": 0.1, "tv": 0.05, "imaginary": 0.02}
    lines = np.unique(np.r_[0:10:2, 6:10])
    model, pool = fitted(
        scan, lines, imaginary_prior="pixel", prior_scales=scales, dtype="complex128", reconstruction="map",
        noise_variance=1e-4, wavelet="db2", phase=None, max_iter=60, tol=1e-4,
    )  # fmt: skip
    first, groups = pool.take(lines), [(Wavelet((16, 16), "db2"), "wavelet"), (FiniteDifference((16, 16)), "tv")]
    y = scan.measure(first)

    def objective(u):
        misfits = [np.sum(np.abs(b.forward(u) - one) ** 2) for b, one in zip(first, y, strict=True)]
        penalties = [np.abs(b.forward(u.real)).sum() / scales[name] for b, name in groups]
        return sum(misfits) / (2 * 1e-4) + sum(penalties) + np.abs(u.imag).sum() / scales["imaginary"]

    u = model.unknown_
    np.testing.assert_array_equal(model.predict(), np.abs(u))
    rng, least = np.random.default_rng(0), objective(u)
    ways = [*(rng.normal(size=(8, 16, 16)) + 1j * rng.normal(size=(8, 16, 16))), u, u.real, 1j * u.imag, scan.image - u]
    for way in ways:
        for step in (1e-3, 1e-2, 0.1):
            for sign in (-1, 1):
                assert objective(u + sign * step * way) > least - 1e-4 * least


def test_map_and_mean_and_single_precision_agree_roughly():
    scan = scan_of(1, snr=100)
    images = {
        (how, dtype): fitted(scan, range(8, 24), reconstruction=how, dtype=dtype, phase=None, prior_scales=0.05)[
            0
        ].image_
        for how, dtype in [("map", "float64"), ("map", "float32"), ("mean", "float64"), ("map", "complex64")]
    }
    norm = np.linalg.norm(scan.image)
    reference = images["map", "float64"]
    assert np.linalg.norm(images["map", "float32"] - reference) < 1e-3 * norm
    assert np.linalg.norm(images["mean", "float64"] - reference) < 0.1 * norm
    assert np.linalg.norm(images["map", "complex64"] - reference) < 0.1 * norm


@pytest.mark.parametrize(
    "engine",
    [
        variational_bounds,
        functools.partial(variational_bounds, variances="lanczos", n_steps=100),
        functools.partial(variational_bounds, variances="sampled", n_samples=4, logdet_bound=1),
    ],
)
def test_other_inference(engine):
    scan = scan_of(0, 16)

    def quiet(model, **settings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return engine(model, **{**settings, "max_iter": max(settings["max_iter"], 1)})

    model, pool = fitted(scan, range(5, 11), inference=quiet, prior_scales=0.1, wavelet="db2", phase=None)
    assert isinstance(model.design_posterior_, LargePosterior)
    model.partial_fit(pool.take([3]), scan.measure(pool.take([3])))
    assert np.isfinite(model.predictive(pool).log_determinant()[0]).all()
    with pytest.raises(ValueError, match="inference must be one of 'variational_bounds'"):
        fitted(scan, range(5, 11), inference="laplace_approximation")
    assert inference.LargePosterior is LargePosterior and PrecisionOperator is not None


def test_rows_and_operators_that_are_not_on_the_grid():
    image = crop(0, 16)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((128, 256)) / 16
    y = rows @ image.ravel() + 0.01 * rng.standard_normal(128)
    options = {"prior_scales": 0.1, "wavelet": "db2", "dtype": "float64", "noise_variance": 1e-4}
    model = ImageReconstructor((16, 16), **options).fit(rows[:100], y[:100])
    assert np.linalg.norm(model.image_ - image) < 0.25 * np.linalg.norm(image)
    chosen = model.select(rows[100:])
    model.partial_fit(rows[100:][chosen], y[100:][chosen])
    with pytest.raises(
        ValueError, match="noise_variance must be given: it can be read only from blocks on the Cartesian grid"
    ):
        ImageReconstructor((16, 16)).fit(rows, y)
    with pytest.raises(ValueError, match="one column per pixel of the image of shape"):
        ImageReconstructor((8, 8), **options).fit(rows, y)


# ---------------------------------------------------------------------------------------------------------- bad input


def test_bad_input_is_refused_in_one_sentence_and_changes_nothing():
    scan = scan_of(0)
    model, pool = fitted(scan, range(12, 20), prior_scales=0.1, n_samples=2)
    good = pool.take([3])
    samples = scan.measure(good)
    holed = [samples[0].copy()]
    holed[0][0, 5] = np.nan
    before = pickle.dumps(model)
    for X, y, message in [
        (good, holed, r"contains \(?nan.* at position \(0, 5\)"),
        (pool.take([3, 3]), samples * 2, "is measured twice"),
        (pool.take([12]), scan.measure(pool.take([12])), "is measured twice"),
        (good, [], "y must hold the samples of each of the 1 blocks, got 0"),
        (good, [samples[0][:, :7]], "must have shape"),
        (kspace.lines((16, 16)).take([3]), samples, r"measures images of shape \(16, 16\); expected \(32, 32\)"),
        ([1, 2], samples * 2, "every entry of X must be an operator block, got int"),
        ([], [], "X holds no block"),
        (3, samples, "X must be rows, an operator, or operator blocks"),
    ]:
        with pytest.raises(ValueError, match=message) as problem:
            model.partial_fit(X, y)
        assert "\n" not in str(problem.value)
        assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="no central lines"):
        fitted(scan, range(4))
    for change, message in [
        (lambda k: 32 * k, "not scaled as expected"),
        (lambda k: np.fft.ifftshift(k), "kspace"),
        (lambda k: k.T[:, :12], "must have shape"),
    ]:
        whole = pool.take(range(32))
        changed = change(scan.kspace)
        with pytest.raises(ValueError, match=message):
            ImageReconstructor(SHAPE).fit(whole, [row[None] for row in changed])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": (8, 8, 8, 8)}, "shape must be the two sides of an image or the three of a volume"),
        ({"shape": (3, 32)}, r"an image of shape \(3, 32\) has no depth for the wavelet prior .* Pad the image"),
        ({"prior": "smooth"}, "prior must be one of 'tv', 'wavelet', 'tv\\+wavelet'"),
        ({"prior_scales": {"tv": 0.1}}, "prior_scales must hold a scale for 'wavelet'"),
        ({"prior_scales": -1.0}, "prior_scales must be > 0"),
        ({"design_prior_scales": {"tv": 0.1, "wave": 0.1}}, "Did you mean 'wavelet'"),
        ({"noise_variance": 0.0}, "noise_variance must be > 0"),
        ({"dtype": "int32"}, "dtype must be one of"),
        ({"design_dtype": "flaot32"}, "design_dtype must be one of .* Did you mean 'float32'"),
        ({"phase": "guess"}, "phase must be one of 'smooth', 'estimate'"),
        ({"phase": np.zeros((3, 3))}, "phase must have shape"),
        ({"reconstruction": "mode"}, "reconstruction must be one of 'map', 'mean'"),
        ({"n_samples": 1}, "n_samples must be at least 2"),
        ({"shape": (2**17, 2**17), "prior": "tv", "n_samples": 64}, "GB of memory"),
    ],
)
def test_bad_parameters_are_named(options, message):
    options = {"shape": SHAPE, **options}
    pool = kspace.lines(SHAPE).take([16])
    with pytest.raises(ValueError, match=message) as problem:
        ImageReconstructor(**options).fit(pool, [np.ones((1, 32), complex)])
    assert "\n" not in str(problem.value)


def test_targets_are_refused():
    with pytest.raises(ValueError, match="target must be None"):
        ImageReconstructor(SHAPE).predictive(kspace.lines(SHAPE), target=[1])
    with pytest.raises(ValueError, match="candidates must be a pool of operator blocks"):
        ImageReconstructor(SHAPE, dtype=np.complex64).predictive(FourierLines(SHAPE, [3]))
    with pytest.raises(ValueError, match="candidates are lines of images of shape"):
        ImageReconstructor(SHAPE).predictive(kspace.lines((16, 16)))
    with pytest.raises(ValueError, match="give design_prior_scales or prior_scales"):
        ImageReconstructor(SHAPE, design_prior_scales=None).predictive(kspace.lines(SHAPE))
